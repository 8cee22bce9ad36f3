//! What is wrong with an answer that is no HTTP, in words for a person (step 7 of the line).
//!
//! Pure. The HTTP library has already judged that the answer cannot be read; it says so in its own
//! words. This file looks at the bytes once more and only explains: it decides nothing.

use larm_core::Limits;

use super::frame;

/// What a frame of HTTP/2 begins with: length, type SETTINGS, no flags that matter, stream 0.
const SETTINGS_TYPE: u8 = 4;

/// What keeps these bytes from being an HTTP/1 response within the limits.
pub(super) fn explain(answer: &[u8], limits: &Limits) -> String {
    let words = strange_head(answer).map(str::to_owned).or_else(|| too_much(answer, limits));
    words.unwrap_or_else(|| "its header block is malformed".to_owned())
}

fn strange_head(answer: &[u8]) -> Option<&'static str> {
    let answer = answer.trim_ascii_start();
    let (line, fields) = first_line(answer);
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let version = words.next().unwrap_or_default();
    let status = words.next().unwrap_or_default();
    if !version.starts_with(b"HTTP/") {
        return Some(strange_start(answer));
    }
    if !matches!(version, b"HTTP/1.1" | b"HTTP/1.0") {
        return Some("it claims a version of HTTP that was not asked for");
    }
    if status.len() != 3 || !status.iter().all(u8::is_ascii_digit) {
        return Some("its status is not a number of three digits");
    }
    strange_length(fields)
}

/// Which limit the header block is beyond, if that is what is wrong with it.
fn too_much(answer: &[u8], limits: &Limits) -> Option<String> {
    let head = frame::final_head(answer).map_or(answer, |head| &answer[head]);
    let lines = head.iter().filter(|byte| **byte == b'\n').count() as u64;
    if lines > limits.header_fields_max {
        return Some(format!("it has more than {} header fields", limits.header_fields_max));
    }
    let too_long = answer.len() as u64 >= limits.header_bytes_max;
    too_long.then(|| format!("its header block is longer than {} bytes", limits.header_bytes_max))
}

/// The first line without its end, and what follows.
fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (line, rest) = bytes.split_at(end);
    (line.trim_ascii_end(), rest.get(1..).unwrap_or_default())
}

fn strange_start(answer: &[u8]) -> &'static str {
    match answer {
        [_, _, _, SETTINGS_TYPE, _, 0, 0, 0, 0, ..] => "it speaks HTTP/2, which was not asked for",
        [b'<', ..] => "a page came without status line and header fields",
        [0x16 | 0x15, 3, ..] => "it speaks TLS, and the URL says http",
        _ => "it does not begin with a status line",
    }
}

/// What is wrong with the length that the fields of a header block announce.
fn strange_length(mut fields: &[u8]) -> Option<&'static str> {
    let mut known: Option<&[u8]> = None;
    loop {
        let (line, rest) = first_line(fields);
        if line.is_empty() {
            return None;
        }
        fields = rest;
        let Some(value) = content_length(line) else { continue };
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return Some("its Content-Length is not a number");
        }
        if known.is_some_and(|other| other != value) {
            return Some("it has two Content-Length fields that contradict each other");
        }
        if value.len() > 19 {
            return Some("its Content-Length is beyond all measure");
        }
        known = Some(value);
    }
}

/// The value of a header line that is a `Content-Length`.
fn content_length(line: &[u8]) -> Option<&[u8]> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = line.split_at(colon);
    name.trim_ascii().eq_ignore_ascii_case(b"content-length").then(|| value[1..].trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_blunder_has_its_words() {
        let rows: &[(&[u8], &str)] = &[
            (b"", "does not begin with a status line"),
            (b"\x80\x81\x82", "does not begin with a status line"),
            (b"220 mail.test ready\r\n", "does not begin with a status line"),
            (b"<html><p>1991", "without status line"),
            (b"\x00\x00\x06\x04\x00\x00\x00\x00\x00", "HTTP/2"),
            (b"\x15\x03\x01\x00\x02\x02\x46", "TLS"),
            (b"HTTP/9.9 200 OK\r\n", "version"),
            (b"HTTP/2 200\r\n", "version"),
            (b"HTTP/1.1 fine\r\n", "status"),
            (b"HTTP/1.1\r\n", "status"),
            (b"\r\nHTTP/1.1 20\r\n", "status"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "not a number"),
            (b"HTTP/1.1 200 OK\r\nA: b\r\ncontent-length : \r\n\r\n", "not a number"),
            (b"HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 6\n\n", "contradict"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "measure"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", "malformed"),
            (b"HTTP/1.1 200 OK\r\n\r\nContent-Length: x\r\n", "malformed"),
        ];
        for (answer, words) in rows {
            let told = explain(answer, &Limits::default());
            assert!(told.contains(words), "{:?}: {told}", String::from_utf8_lossy(answer));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_explained(bytes: Vec<u8>) {
            let explain = |bytes: &[u8]| explain(bytes, &Limits::default());
            assert!(!explain(&bytes).is_empty());
            assert!(!explain(&[b"HTTP/1.1 200 OK\r\n", &bytes[..]].concat()).is_empty());
        }
    }
}
