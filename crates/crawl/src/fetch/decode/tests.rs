use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::*;

fn encoded(encoding: &str, bytes: &[u8]) -> Vec<u8> {
    let level = Compression::default();
    match encoding {
        "gzip" | "x-gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "zlib" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "raw deflate" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut out = Vec::new();
            let parameters = brotli::enc::BrotliEncoderParams { quality: 4, ..Default::default() };
            brotli::BrotliCompress(&mut &*bytes, &mut out, &parameters).unwrap();
            out
        }
        "zstd" => zstd::encode_all(bytes, 3).unwrap(),
        other => panic!("{other}"),
    }
}

fn headers(values: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append("content-encoding", value.parse().unwrap());
    }
    headers
}

fn decode_as<'a>(payload: &'a [u8], values: &[&str]) -> Decoded<'a> {
    decode(payload, &headers(values), &Limits::default())
}

/// Text that does not compress to nothing.
fn text(lines: usize) -> Vec<u8> {
    (0..lines).flat_map(|n| format!("line {n} of {}\n", n * 7919 % 1009).into_bytes()).collect()
}

const PAIRS: &[(&str, &str)] = &[
    ("gzip", "gzip"),
    ("gzip", "x-gzip"),
    ("gzip", "GZip"),
    ("zlib", "deflate"),
    ("raw deflate", "deflate"),
    ("br", "br"),
    ("zstd", "zstd"),
];

#[test]
fn every_encoding_comes_off() {
    let plain = text(5_000);
    for (made, named) in PAIRS {
        let payload = encoded(made, &plain);
        let decoded = decode_as(&payload, &[named]);
        assert_eq!(decoded, Decoded { bytes: Cow::Owned(plain.clone()), note: None }, "{made}");
    }
}

#[test]
fn no_encoding_is_not_copied() {
    for values in [&[][..], &["identity"], &[""], &["none, identity"]] {
        let decoded = decode_as(b"plain", values);
        assert!(matches!(decoded.bytes, Cow::Borrowed(b"plain")), "{values:?}");
        assert_eq!(decoded.note, None);
    }
}

#[test]
fn an_empty_body_has_nothing_to_decode() {
    let decoded = decode_as(b"", &["gzip"]);
    assert_eq!(decoded, Decoded { bytes: Cow::Borrowed(b""), note: None });
}

#[test]
fn encodings_come_off_in_reverse_order() {
    let plain = text(100);
    let payload = encoded("zstd", &encoded("br", &encoded("gzip", &plain)));
    for values in [&["gzip, br, zstd"][..], &["gzip", "br, zstd"]] {
        let decoded = decode_as(&payload, values);
        assert_eq!(decoded, Decoded { bytes: Cow::Owned(plain.clone()), note: None });
    }
    let decoded = decode_as(&payload, &["gzip, gzip, br, zstd"]);
    assert_eq!(&*decoded.bytes, &*payload, "four are one too many");
    assert!(decoded.note.is_some());
}

#[test]
fn gzip_members_in_a_row_are_one_body() {
    let payload = [encoded("gzip", b"one "), encoded("gzip", b"two")].concat();
    assert_eq!(&*decode_as(&payload, &["gzip"]).bytes, b"one two");
}

#[test]
fn a_stream_that_is_cut_gives_what_came() {
    let plain = text(20_000);
    for (made, named) in PAIRS {
        let payload = encoded(made, &plain);
        let decoded = decode_as(&payload[..payload.len() / 2], &[named]);
        assert!(decoded.note.is_some(), "{made}");
        assert!(plain.starts_with(&decoded.bytes), "{made}");
        assert!(decoded.bytes.len() > plain.len() / 4, "{made}: {}", decoded.bytes.len());
    }
}

#[test]
fn a_stream_that_is_damaged_gives_its_beginning() {
    let plain = text(20_000);
    for (made, named) in PAIRS {
        let mut payload = encoded(made, &plain);
        let middle = payload.len() / 2;
        payload[middle..].fill(0xff);
        let decoded = decode_as(&payload, &[named]);
        assert!(decoded.note.is_some(), "{made}");
        assert!(decoded.bytes.len() > 4_096, "{made}: {}", decoded.bytes.len());
        assert!(decoded.bytes.starts_with(&plain[..4_096]), "{made}");
    }
}

#[test]
fn bytes_that_are_not_encoded_as_announced_are_left_as_they_are() {
    for named in ["gzip", "zstd", "deflate", "compress"] {
        let decoded = decode_as(b"<html>plain</html>", &[named]);
        assert_eq!(&*decoded.bytes, b"<html>plain</html>", "{named}");
        assert!(decoded.note.is_some(), "{named}");
    }
}

#[test]
fn bombs_stop_at_the_ratio() {
    let plain = vec![0; 2 << 20];
    for (made, named) in PAIRS {
        let payload = encoded(made, &plain);
        let limits = Limits { body_ratio_max: 2, ..Limits::default() };
        let decoded = decode(&payload, &headers(&[named]), &limits);
        assert_eq!(decoded.bytes.len(), 1 << 20, "{made}: the first MiB is free");
        assert_eq!(decoded.note, End::Full.note(), "{made}");
    }
}

#[test]
fn bombs_stop_at_the_size() {
    let plain = text(20_000);
    for (made, named) in PAIRS {
        let payload = encoded(made, &plain);
        let limits = Limits { body_decoded_bytes_max: 10_000, ..Limits::default() };
        let decoded = decode(&payload, &headers(&[named]), &limits);
        assert_eq!(&*decoded.bytes, &plain[..10_000], "{made}");
        assert_eq!(decoded.note, End::Full.note(), "{made}");
    }
}

#[test]
fn a_body_of_exactly_the_limit_is_whole() {
    let plain = text(1_000);
    let limits = Limits { body_decoded_bytes_max: plain.len() as u64, ..Limits::default() };
    for (made, named) in PAIRS {
        let payload = encoded(made, &plain);
        let decoded = decode(&payload, &headers(&[named]), &limits);
        assert_eq!(decoded, Decoded { bytes: Cow::Owned(plain.clone()), note: None }, "{made}");
    }
}

#[test]
fn bombs_inside_bombs_stop_as_early() {
    let inner = encoded("gzip", &vec![0; 16 << 20]);
    let payload = encoded("gzip", &inner);
    let decoded = decode_as(&payload, &["gzip, gzip"]);
    assert!(decoded.bytes.len() <= (1 << 20).max(payload.len() * 100), "{}", decoded.bytes.len());
    assert_eq!(decoded.note, End::Full.note());
}

#[test]
fn layers_that_are_cut_still_come_off() {
    let plain = text(20_000);
    let payload = encoded("br", &encoded("gzip", &plain));
    let decoded = decode_as(&payload[..payload.len() / 2], &["gzip, br"]);
    assert!(plain.starts_with(&decoded.bytes) && !decoded.bytes.is_empty());
    assert_eq!(decoded.note, End::Broken.note());
}

#[test]
fn gzip_members_behind_each_other_are_one_body() {
    let one = text(100);
    let mut payload = encoded("gzip", &one);
    payload.extend(encoded("gzip", &one));
    assert_eq!(*decode_as(&payload, &["gzip"]).bytes, one.repeat(2));
}

#[test]
fn a_gzip_body_whose_length_lies_is_read_all_the_same() {
    let plain = text(100);
    let whole = encoded("gzip", &plain);
    for lie in [0, 7, plain.len() as u32 + 1, u32::MAX] {
        let mut payload = whole.clone();
        let end = payload.len();
        payload[end - 4..].copy_from_slice(&lie.to_le_bytes());
        assert_eq!(*decode_as(&payload, &["gzip"]).bytes, plain, "{lie}");
    }
}
