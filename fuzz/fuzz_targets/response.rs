//! Any bytes are a response: a head is found or not, and its body is cut out within them.
#![no_main]

use larm_crawl::fetch::fuzzing::response;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Option<u64>, bool, &[u8])| {
    let (length, is_chunked, bytes) = input;
    response(bytes, length, is_chunked);
});
