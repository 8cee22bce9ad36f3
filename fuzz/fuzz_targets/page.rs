//! Any bytes under any content type give a page within the limits, and Markdown.
#![no_main]

use larm_core::Limits;
use larm_core::parse::{Input, markdown, parse};
use libfuzzer_sys::fuzz_target;

const TYPES: [Option<&str>; 8] = [
    None,
    Some("text/html"),
    Some("text/html; charset=shift_jis"),
    Some("application/xhtml+xml"),
    Some("text/css"),
    Some("application/xml"),
    Some("text/plain"),
    Some("application/octet-stream"),
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, body)) = bytes.split_first() else { return };
    let url = url::Url::parse("http://h/a/b?c").expect("a URL");
    let content_type = TYPES[usize::from(*first) % TYPES.len()];
    let input = Input { url: &url, content_type, body, text: true };
    let limits = Limits::default();
    let page = parse(&input, &limits);
    assert!(page.link_count() as u64 <= limits.page_links_max);
    assert!(page.text.len() as u64 <= limits.page_text_bytes_max);
    markdown(&input, &limits);
});
