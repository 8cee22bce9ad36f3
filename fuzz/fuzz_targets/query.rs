//! Any text is a query within the limits.
#![no_main]

use larm_core::Limits;
use larm_search::query::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { query_bytes_max: 256, query_words_max: 8, ..Limits::default() };
    let query = parse(&String::from_utf8_lossy(bytes), &limits);
    let asked = query.clauses.len() + query.filters.len();
    assert!(asked as u64 <= limits.query_words_max);
});
