//! The seam of step 11: where a visit is written.
//!
//! A sink has two halves. The encoder is shared by all workers and does the work that costs (compress,
//! serialise) without touching a file. The sink itself belongs to the one writer, which calls it in the
//! order in which visits settle.
//!
//! The life of a sink: `recover` once, before anything else; then `write` and `sync` as often as need
//! be; `finish` at the end. A sink knows nothing of frontier and fetch, and does not judge what is
//! worth keeping. After an error it is not used again: what is on disk is known only up to the last
//! position that `sync` returned.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::visit::Visit;
use crate::Result;

/// The half of a sink that any worker may call: pure, in parallel, no I/O.
pub type Encoder = Arc<dyn Fn(&Visit) -> Encoded + Send + Sync>;

/// A place where visits are written, owned by the one writer.
pub trait Sink: Send {
    /// One stable word: it names the sink's position in the log.
    fn name(&self) -> &str;

    /// The half that workers share.
    fn encoder(&self) -> Encoder;

    /// Takes a visit and what the encoder made of it. `kept` tells where earlier sinks of the chain put
    /// the visit, and is added to.
    fn write(&mut self, visit: &Visit, encoded: Encoded, kept: &mut Kept) -> Result<()>;

    /// Brings everything written so far to the disk, and returns where that ends: the position to cut
    /// back to after a crash. A failed sync is final.
    fn sync(&mut self) -> Result<Position>;

    /// Cuts back to `position` and removes what came after; `None`: nothing was ever committed.
    fn recover(&mut self, position: Option<Position>) -> Result<()>;

    /// The crawl ends or pauses for good: syncs, closes, puts in order. Nothing is written after.
    fn finish(&mut self) -> Result<()>;
}

/// What an encoder made of a visit. What it means is between encoder and sink.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Encoded {
    /// What is to be written; empty if nothing is.
    pub bytes: Vec<u8>,
    /// Lengths of the parts within `bytes`, where that matters.
    pub parts: Vec<u64>,
}

impl From<Vec<u8>> for Encoded {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, parts: Vec::new() }
    }
}

/// Where the sinks of a chain put a visit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// Its response in the archive.
    pub warc: Option<WarcRef>,
}

/// A record in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarcRef {
    /// Number of the file, as in its name.
    pub file: u32,
    /// Name of the file.
    pub name: Arc<str>,
    /// First byte of the record's gzip member.
    pub offset: u64,
    /// Length of that member.
    pub bytes: u64,
}

/// How much of a sink is on disk: all files before `file`, and `offset` bytes of it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Position {
    /// Number of the file.
    pub file: u32,
    /// Bytes of it.
    pub offset: u64,
}
