//! Where a response begins and ends within the bytes that came (step 7 of the line).
//!
//! Pure. The HTTP library judges whether a response is sound; this file only finds, in the bytes of
//! the tape, the final header block, the end of the body and the body without its chunk framing
//! (RFC 9112 sections 4, 6.3 and 7.1). The payload is always cut out of the archived bytes, so the
//! two cannot disagree.

use std::ops::Range;

use bytes::Bytes;
use http::HeaderMap;

/// How the end of a body is known (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// So many bytes; 0 for statuses that have no body.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// Until the connection closes.
    Close,
}

impl Framing {
    /// `length` is what the HTTP library announces for the body, if it knows.
    pub fn of(length: Option<u64>, headers: &HeaderMap) -> Self {
        match length {
            Some(length) => Self::Length(length),
            None if is_chunked(headers) => Self::Chunked,
            None => Self::Close,
        }
    }
}

/// Whether `chunked` is the last transfer coding.
fn is_chunked(headers: &HeaderMap) -> bool {
    let last = headers.get_all(http::header::TRANSFER_ENCODING).iter().next_back();
    last.and_then(|value| value.to_str().ok())
        .and_then(|value| value.rsplit(',').next())
        .is_some_and(|coding| coding.trim().eq_ignore_ascii_case("chunked"))
}

/// The header block of the final response: after interim ones (1xx) and stray empty lines, up to and
/// with its own empty line.
pub(super) fn final_head(bytes: &[u8]) -> Option<Range<usize>> {
    let mut start = 0;
    loop {
        start += bytes[start..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let end = start + head_len(&bytes[start..])?;
        if !is_interim(&bytes[start..end]) {
            return Some(start..end);
        }
        start = end;
    }
}

/// Bytes up to and with the first empty line. Bare line feeds count (RFC 9112 section 2.2).
fn head_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += line_len(&bytes[at..])?;
        match &bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
}

/// Bytes of the first line, its line feed included.
fn line_len(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte == b'\n').map(|at| at + 1)
}

/// 100 to 199, save 101, which ends HTTP on the connection and is therefore final.
fn is_interim(head: &[u8]) -> bool {
    let code = head.split(|&byte| byte == b' ').filter(|part| !part.is_empty()).nth(1);
    code.is_some_and(|code| code.len() >= 3 && code[0] == b'1' && &code[..3] != b"101")
}

/// The body found in the bytes after a header block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Bytes that belong to the body, framing included.
    pub end: usize,
    /// Whether the framing says that this is all of it. Never true for [`Framing::Close`].
    pub complete: bool,
    /// The body without framing; shares memory with the input wherever it lies in one piece.
    pub payload: Bytes,
}

/// Finds the body in `bytes`, which start right after the header block.
pub(super) fn extent(bytes: &Bytes, framing: Framing) -> Extent {
    match framing {
        Framing::Length(length) => {
            let wanted = usize::try_from(length).unwrap_or(usize::MAX);
            let end = wanted.min(bytes.len());
            Extent { end, complete: end == wanted, payload: bytes.slice(..end) }
        }
        Framing::Close => Extent { end: bytes.len(), complete: false, payload: bytes.clone() },
        Framing::Chunked => unchunk(bytes),
    }
}

/// Walks the chunks. Whatever breaks off, the part of the payload before it is kept.
fn unchunk(bytes: &Bytes) -> Extent {
    let mut payload = Payload { bytes, first: 0..0, joined: Vec::new() };
    let mut at = 0;
    let end = loop {
        let Some((size, data_at)) = chunk_size(bytes, at) else {
            break None;
        };
        if size == 0 {
            break trailers_end(bytes, data_at);
        }
        let data_end = data_at.saturating_add(size);
        payload.add(data_at..data_end.min(bytes.len()));
        match line_end(bytes, data_end) {
            Some(next) => at = next,
            None => break None,
        }
    };
    let payload = payload.finish();
    Extent { end: end.unwrap_or(bytes.len()), complete: end.is_some(), payload }
}

/// The size of the chunk whose size line starts at `at`, and where its data begins.
fn chunk_size(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let line = bytes.get(at..)?;
    let len = line_len(line)?;
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let digits = std::str::from_utf8(&line[..digits]).ok()?;
    Some((usize::from_str_radix(digits, 16).ok()?, at + len))
}

/// Past the line end that closes a chunk's data.
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at..)? {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    }
}

/// Past the trailer section, which may be empty (RFC 9112 section 7.1.2).
fn trailers_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        if let Some(end) = line_end(bytes, at) {
            return Some(end);
        }
        at += line_len(bytes.get(at..)?)?;
    }
}

/// Puts a payload together. Most chunked bodies are one chunk: those are not copied.
struct Payload<'a> {
    bytes: &'a Bytes,
    first: Range<usize>,
    joined: Vec<u8>,
}

impl Payload<'_> {
    fn add(&mut self, piece: Range<usize>) {
        if self.first.is_empty() {
            self.first = piece;
            return;
        }
        if self.joined.is_empty() {
            self.joined.reserve_exact(self.bytes.len() - self.first.start);
            self.joined.extend_from_slice(&self.bytes[self.first.clone()]);
        }
        self.joined.extend_from_slice(&self.bytes[piece]);
    }

    fn finish(self) -> Bytes {
        if self.joined.is_empty() { self.bytes.slice(self.first) } else { self.joined.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_final_header_block_is_found_behind_interim_ones() {
        const OK: &str = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n";
        #[rustfmt::skip]
        let rows: &[(&str, String, Option<&str>)] = &[
            ("plain", format!("{OK}body"), Some(OK)),
            (
                "bare line feeds",
                "HTTP/1.0 200\nA: b\n\nbody".into(),
                Some("HTTP/1.0 200\nA: b\n\n"),
            ),
            ("100", format!("HTTP/1.1 100 Continue\r\n\r\n{OK}"), Some(OK)),
            (
                "103 and 102",
                format!("HTTP/1.1 103 X\r\nLink: a\r\n\r\nHTTP/1.1 102\r\n\r\n{OK}"),
                Some(OK),
            ),
            ("101 is final", "HTTP/1.1 101 X\r\n\r\nrest".into(), Some("HTTP/1.1 101 X\r\n\r\n")),
            ("leading empty lines", format!("\r\n\n{OK}"), Some(OK)),
            ("no fields", "HTTP/1.1 404\r\n\r\n".into(), Some("HTTP/1.1 404\r\n\r\n")),
            ("unfinished", "HTTP/1.1 200 OK\r\nA: b\r\n".into(), None),
            ("only interim", "HTTP/1.1 100 X\r\n\r\n".into(), None),
            ("nothing", String::new(), None),
        ];
        for (name, bytes, expected) in rows {
            let head = final_head(bytes.as_bytes()).map(|range| &bytes[range]);
            assert_eq!(head, *expected, "{name}");
        }
    }

    #[test]
    fn a_body_ends_where_its_framing_says() {
        #[rustfmt::skip]
        let rows: &[(&str, Framing, &str, usize, bool, &str)] = &[
            ("length", Framing::Length(3), "abc", 3, true, "abc"),
            ("length, more came", Framing::Length(3), "abcHTTP", 3, true, "abc"),
            ("length, less came", Framing::Length(9), "abc", 3, false, "abc"),
            ("no body", Framing::Length(0), "", 0, true, ""),
            ("until close", Framing::Close, "abc", 3, false, "abc"),
            ("one chunk", Framing::Chunked, "3\r\nabc\r\n0\r\n\r\n", 13, true, "abc"),
            ("two chunks", Framing::Chunked, "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", 18, true, "abc"),
            ("empty", Framing::Chunked, "0\r\n\r\n", 5, true, ""),
            ("extension", Framing::Chunked, "3;a=\"b\"\r\nabc\r\n0\r\n\r\n", 19, true, "abc"),
            ("trailers", Framing::Chunked, "0\r\nA: b\r\nC: d\r\n\r\nx", 17, true, ""),
            ("junk behind", Framing::Chunked, "0\r\n\r\njunk", 5, true, ""),
            (
                "hex in both cases",
                Framing::Chunked,
                "A\r\n0123456789\r\na\r\n0123",
                22,
                false,
                "01234567890123",
            ),
            ("cut in data", Framing::Chunked, "5\r\nabc", 6, false, "abc"),
            ("cut in a size", Framing::Chunked, "3\r\nabc\r\n1", 9, false, "abc"),
            ("cut before the end", Framing::Chunked, "3\r\nabc\r\n0\r\n", 11, false, "abc"),
            ("not hexadecimal", Framing::Chunked, "3\r\nabc\r\nzz\r\n", 12, false, "abc"),
            ("size beyond all memory", Framing::Chunked, "ffffffffffffffff\r\nab", 20, false, "ab"),
            ("size beyond all numbers", Framing::Chunked, "fffffffffffffffff\r\nab", 21, false, ""),
        ];
        for (name, framing, bytes, end, complete, payload) in rows {
            let found = extent(&Bytes::copy_from_slice(bytes.as_bytes()), *framing);
            let expected = Extent {
                end: *end,
                complete: *complete,
                payload: Bytes::from(payload.to_string()),
            };
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn chunked_counts_only_as_the_last_coding() {
        let rows: &[(&[&str], bool)] = &[
            (&["chunked"], true),
            (&["gzip, Chunked"], true),
            (&["gzip", "chunked"], true),
            (&["chunked, gzip"], false),
            (&["identity"], false),
            (&[], false),
        ];
        for (values, expected) in rows {
            let mut headers = HeaderMap::new();
            for value in *values {
                headers.append("transfer-encoding", value.parse().unwrap());
            }
            assert_eq!(is_chunked(&headers), *expected, "{values:?}");
        }
    }

    #[test]
    fn a_body_in_one_piece_is_not_copied() {
        let bytes = Bytes::from_static(b"3\r\nabc\r\n0\r\n\r\n");
        let found = extent(&bytes, Framing::Chunked);
        assert_eq!(found.payload.as_ptr(), bytes[3..].as_ptr());
    }

    fn chunked(chunks: &[Vec<u8>]) -> Vec<u8> {
        let mut wire = Vec::new();
        for chunk in chunks {
            wire.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            wire.extend(chunk);
            wire.extend(b"\r\n");
        }
        [wire, b"0\r\n\r\n".to_vec()].concat()
    }

    proptest::proptest! {
        #[test]
        fn chunks_come_apart_again_wherever_they_are_cut(
            chunks: Vec<[u8; 5]>,
            cut: proptest::sample::Index,
        ) {
            let chunks: Vec<Vec<u8>> = chunks.iter().map(|chunk| chunk.to_vec()).collect();
            let (wire, plain) = (Bytes::from(chunked(&chunks)), chunks.concat());
            let whole = extent(&wire, Framing::Chunked);
            let expected = Extent { end: wire.len(), complete: true, payload: plain.clone().into() };
            assert_eq!(whole, expected);
            let part = extent(&wire.slice(..cut.index(wire.len())), Framing::Chunked);
            assert!(!part.complete && plain.starts_with(&part.payload));
        }

        #[test]
        fn any_bytes_have_an_extent(bytes: Vec<u8>, length: u64) {
            let bytes = Bytes::from(bytes);
            for framing in [Framing::Length(length), Framing::Chunked, Framing::Close] {
                let found = extent(&bytes, framing);
                assert!(found.end <= bytes.len() && found.payload.len() <= found.end);
            }
            let head = final_head(&bytes);
            assert!(head.is_none_or(|head| head.start < head.end && head.end <= bytes.len()));
        }
    }
}
