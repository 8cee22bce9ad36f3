//! A response that was archived: as it came over the wire → as a reader wants it, or as if it had just
//! come.

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderName, HeaderValue};
use larm_core::{Fact, Limits, Millis, Protocol, Truncated};

use super::decode::{Decoded, decode};
use super::frame::{Framing, extent};
use super::{Fetched, Reservation};

/// How every gzip stream begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What an archive knows of a response.
#[derive(Debug, Default)]
pub struct ArchivedResponse {
    /// The request, where it was kept.
    pub request: Vec<u8>,
    /// Status line and header fields; empty for what no protocol brought.
    pub head: Vec<u8>,
    /// What followed the head, as it was sent.
    pub payload: Vec<u8>,
    /// The type of what no protocol brought.
    pub content_type: Option<String>,
    /// How it came.
    pub protocol: Protocol,
    /// When it was asked for.
    pub at: Millis,
    /// What connecting, the first byte and the whole answer took.
    pub times_ms: [Option<u64>; 3],
    /// Why it is not whole, if it is not.
    pub truncated: Option<Truncated>,
    /// What else was noted.
    pub facts: Vec<Fact>,
}

/// The response as the fetcher would have given it; nothing if its head is no head.
pub fn archived_response(archived: ArchivedResponse) -> Option<Fetched> {
    let headers = match &archived.content_type {
        Some(kind) if archived.head.is_empty() => typed(kind),
        _ => headers(&archived.head),
    };
    let status = if archived.head.is_empty() { 200 } else { status(&archived.head)? };
    let head_bytes = archived.head.len();
    let raw = Bytes::from([archived.head, archived.payload].concat());
    let [connect_ms, first_byte_ms, total_ms] = archived.times_ms;
    let (payload, headers) = as_kept(&raw.slice(head_bytes..), headers);
    Some(Fetched {
        status,
        payload,
        headers,
        request: archived.request,
        raw,
        head_bytes,
        protocol: archived.protocol,
        peer: None,
        started: archived.at,
        connect_ms,
        first_byte: archived.at.after(first_byte_ms.unwrap_or_default()),
        ended: archived.at.after(total_ms.unwrap_or_default()),
        truncated: archived.truncated,
        facts: archived.facts,
        ask_again: false,
        notes: Vec::new(),
        reservation: Reservation::default(),
    })
}

/// The body without its chunks. Some crawlers keep a body without the framing or the encoding that its
/// head speaks of: then it is as it is, and the head is wrong about it.
fn as_kept(bytes: &Bytes, mut headers: HeaderMap) -> (Bytes, HeaderMap) {
    let framed = extent(bytes, Framing::of(None, &headers)).payload;
    let payload = if framed.is_empty() { bytes.clone() } else { framed };
    let says_gzip = headers.get(CONTENT_ENCODING).is_some_and(|value| value == "gzip");
    if says_gzip && !payload.starts_with(&GZIP) {
        headers.remove(CONTENT_ENCODING);
    }
    (payload, headers)
}

/// The number in a status line.
fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|&byte| byte == b'\n').next()?;
    let line = line.strip_prefix(b"HTTP/").and_then(|line| std::str::from_utf8(line).ok())?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn typed(kind: &str) -> HeaderMap {
    let value = HeaderValue::from_str(kind).ok();
    value.into_iter().map(|value| (http::header::CONTENT_TYPE, value)).collect()
}

/// Takes chunk framing and content encodings off an archived payload, within the limits. Never fails,
/// as [`Fetched::decoded`](super::Fetched::decoded) does not. `head` is the response's status line and
/// fields.
pub fn archived_body(head: &[u8], payload: &[u8], limits: &Limits) -> Decoded<'static> {
    let headers = headers(head);
    let (payload, headers) = as_kept(&Bytes::copy_from_slice(payload), headers);
    let decoded = decode(&payload, &headers, limits);
    Decoded { bytes: decoded.bytes.into_owned().into(), note: decoded.note }
}

/// The fields of a head; a line that is none is passed over.
fn headers(head: &[u8]) -> HeaderMap {
    let lines = head.split(|&byte| byte == b'\n').skip(1);
    let fields = lines.filter_map(|line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let (name, value) = line.split_at(colon);
        let name = HeaderName::from_bytes(name.trim_ascii()).ok()?;
        Some((name, HeaderValue::from_bytes(value[1..].trim_ascii()).ok()?))
    });
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(name, value);
    }
    headers
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn body(head: &str, payload: &[u8]) -> Vec<u8> {
        archived_body(head.as_bytes(), payload, &Limits::default()).bytes.into_owned()
    }

    #[test]
    fn framing_and_encodings_come_off() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"hello world").unwrap();
        let gzip = gzip.finish().unwrap();
        let chunked = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
        let both = [format!("{:x}\r\n", gzip.len()).as_bytes(), &gzip, b"\r\n0\r\n\r\n"].concat();
        let rows: [(&str, &[u8]); 4] = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", b"hello world"),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", chunked),
            ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", &gzip),
            ("HTTP/1.1 200\nContent-Encoding:gzip\nTransfer-Encoding:chunked\n\n", &both),
        ];
        for (head, payload) in rows {
            assert_eq!(body(head, payload), b"hello world", "{head}");
        }
    }

    #[test]
    fn a_head_that_is_none_leaves_the_payload_alone() {
        for head in ["", "\n", "no colon\nat all", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"] {
            assert_eq!(body(head, b"x"), b"x", "{head:?}");
        }
    }
}
