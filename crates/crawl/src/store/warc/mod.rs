//! The archive: WARC 1.1, one gzip member per record.
//!
//! `record` makes records, `writer` puts them into files, `reader` gets them out again. The bytes that
//! went over the wire are kept as they were: see `docs/adr/0002-warc-bytes.md`.

mod name;
pub mod reader;
pub(super) mod record;
mod writer;

pub use name::FileName;
pub use reader::{Record, WarcReader};
pub use writer::WarcSink;

#[cfg(test)]
mod outside_tests;
#[cfg(test)]
mod tests;
