//! Any bytes give the forms of a page, bounded.
#![no_main]

use larm_core::Limits;
use larm_core::parse::{Input, forms};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let url = url::Url::parse("http://h/login").expect("a URL");
    let input = Input { url: &url, content_type: Some("text/html"), body, text: false };
    let found = forms(&input, &Limits::default());
    assert!(found.len() <= 50 && found.iter().all(|form| form.inputs.len() <= 200));
});
