//! Any bytes in an archive give records or a fault, never a panic or endless memory.
#![no_main]

use larm_core::Limits;
use larm_crawl::store::WarcReader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("a written file");
    let limits = Limits { warc_header_bytes_max: 65_536, ..Limits::default() };
    let Ok(reader) = WarcReader::open(file.path(), &limits) else { return };
    for record in reader.take(1_000) {
        let Ok(record) = record else { return };
        let _ = record.check_digests();
    }
});
