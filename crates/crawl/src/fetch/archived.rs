//! The body of a response that was archived: as it came over the wire → as a reader wants it.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use larm_core::Limits;

use super::decode::{Decoded, decode};
use super::frame::{Framing, extent};

/// Takes chunk framing and content encodings off an archived payload, within the limits. Never fails,
/// as [`Fetched::decoded`](super::Fetched::decoded) does not. `head` is the response's status line and
/// fields.
pub fn archived_body(head: &[u8], payload: &[u8], limits: &Limits) -> Decoded<'static> {
    let headers = headers(head);
    let payload = extent(&Bytes::copy_from_slice(payload), Framing::of(None, &headers)).payload;
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
