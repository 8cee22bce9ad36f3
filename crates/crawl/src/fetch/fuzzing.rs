//! What fuzzers reach of the fetcher: its readers of bytes from outside, which nobody else needs by name.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use larm_core::url::CrawlUrl;
use larm_core::{Limits, Millis};

use super::auth::Challenge;
use super::frame::{Framing, extent, final_head};
use super::request::{blot_cookies, redacted};
use super::{Cidr, Cookies, Proxy, ResolveRule, decode, retry_after_ms};

/// A response as it may come over the wire: its head is found, its body cut out of it.
pub fn response(bytes: &[u8], length: Option<u64>, is_chunked: bool) {
    let Some(head) = final_head(bytes) else { return };
    let mut headers = HeaderMap::new();
    if is_chunked {
        headers.insert(http::header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    let body = Bytes::copy_from_slice(&bytes[head.end..]);
    let found = extent(&body, Framing::of(length, &headers));
    assert!(found.end <= body.len() && found.payload.len() <= body.len());
    let mut blotted = bytes[head.clone()].to_vec();
    blot_cookies(&mut blotted);
    assert_eq!(blotted.len(), head.len());
    redacted(bytes, &[http::header::COOKIE], false);
}

/// A body under any list of encodings.
pub fn body(encodings: &str, payload: &[u8]) {
    let mut headers = HeaderMap::new();
    let Ok(value) = HeaderValue::try_from(encodings) else { return };
    headers.insert(http::header::CONTENT_ENCODING, value);
    let limits = Limits { body_decoded_bytes_max: 1 << 20, ..Limits::default() };
    let decoded = decode::decode(payload, &headers, &limits);
    assert!(decoded.bytes.len() as u64 <= limits.body_decoded_bytes_max.max(payload.len() as u64));
}

/// The value of a header field.
pub fn field(name: &str, text: &str) {
    let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(text)) else {
        return;
    };
    let headers: HeaderMap = [(name, value)].into_iter().collect();
    if let Some(mut challenge) = Challenge::of(&headers) {
        challenge.answer("user", "password", ("GET", "/"), 1);
    }
    let url = CrawlUrl::from_canonical("https://www.example.org/a/b").expect("a URL");
    let cookies = Cookies::new(&Limits { site_cookies_max: 3, ..Limits::default() });
    cookies.hear(&url, &headers);
    cookies.header(&url);
    cookies.load(text);
    cookies.unsaved();
    retry_after_ms(text, Millis(1_800_000_000_000));
    let _ = (text.parse::<ResolveRule>(), text.parse::<Cidr>(), text.parse::<Proxy>());
}
