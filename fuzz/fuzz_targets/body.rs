//! Any bytes under any content encodings give a body within the limits.
#![no_main]

use larm_crawl::fetch::fuzzing::body;
use libfuzzer_sys::fuzz_target;

const ENCODINGS: [&str; 8] =
    ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip", "deflate, zstd, br", "x-unknown"];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, payload)) = bytes.split_first() else { return };
    body(ENCODINGS[usize::from(*first) % ENCODINGS.len()], payload);
});
