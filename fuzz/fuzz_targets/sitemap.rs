//! Any bytes asked for as a sitemap give a list within the limits.
#![no_main]

use larm_core::Limits;
use larm_core::parse::{Input, parse_sitemap};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let url = url::Url::parse("http://h/sitemap.xml").expect("a URL");
    let limits = Limits::default();
    let page = parse_sitemap(&Input { url: &url, content_type: None, body, text: true }, &limits);
    assert!(page.link_count() as u64 <= limits.sitemap_urls_max);
});
