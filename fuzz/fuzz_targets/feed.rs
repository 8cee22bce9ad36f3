//! Any bytes under any type that a feed may have give a list within the limits, and text.
#![no_main]

use larm_core::Limits;
use larm_core::parse::{Input, parse};
use libfuzzer_sys::fuzz_target;

const TYPES: [&str; 4] =
    ["application/rss+xml", "application/feed+json", "text/html", "application/octet-stream"];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, body)) = bytes.split_first() else { return };
    let url = url::Url::parse("http://h/feeds/feed.xml").expect("a URL");
    let content_type = Some(TYPES[usize::from(*first) % TYPES.len()]);
    let limits = Limits::default();
    let page = parse(&Input { url: &url, content_type, body, text: true }, &limits);
    assert!(page.link_count() as u64 <= limits.sitemap_urls_max);
    assert!(page.text.len() as u64 <= limits.page_text_bytes_max);
    for at in 0..page.link_count() {
        page.hint(at);
    }
});
