//! Any text in a header field, and in the settings that name hosts and networks.
#![no_main]

use larm_core::parse::Mime;
use larm_crawl::fetch::fuzzing::field;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 3] = ["www-authenticate", "set-cookie", "retry-after"];

fuzz_target!(|input: (u8, &str)| {
    let (which, text) = input;
    field(NAMES[usize::from(which) % NAMES.len()], text);
    Mime::parse(text);
});
