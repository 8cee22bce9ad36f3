//! The link log, `links/links.log`: every visit of a crawl and its links, in the order of the crawl.
//!
//! Pages of one site share most of their links. So the log is made of chapters: within one, each
//! different link is written out once, and a visit names its links by number, mostly by "the next one".
//! A chapter is a few blocks, one per commit or more; a block has its length and checksum, so that a log
//! that is cut at any byte is a log of whole visits. `docs/formats.md` describes every byte.
//!
//! Reading needs one chapter in memory, whose size is bounded by whoever wrote it, and checked.

mod reader;
mod visit;
mod writer;

pub use reader::{Chapter, LogReader};
pub use visit::{Ended, Place, Visit, VisitHead};
pub use writer::LogWriter;

use std::path::{Path, PathBuf};

/// Bytes of the header of a block.
pub(crate) const HEADER_BYTES: usize = 16;
/// Bits of a link's first byte: how it was found, and which texts follow.
const VIA: u8 = 0x0f;
const HAS_TEXT: u8 = 0x10;
const HAS_REL: u8 = 0x20;
const HAS_VERDICT: u8 = 0x40;

/// Where the link log of a crawl directory is.
pub fn path_in(dir: &Path) -> PathBuf {
    dir.join("links").join("links.log")
}

#[cfg(test)]
mod tests;
