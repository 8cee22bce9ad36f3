//! The seam of step 11: where a visit is written.
//!
//! A sink has two halves. The encoder is shared by all workers and does the work that costs (compress,
//! serialise) without touching a file. The sink itself belongs to the one writer, which calls it in the
//! order in which visits settle.
//!
//! The life of a sink: `recover` once, before anything else; then `write` and `flush` as often as need
//! be; `finish` at the end. Syncing what was flushed is left to whoever flushed, so that writing can go
//! on meanwhile. A sink knows nothing of frontier and fetch, and does not judge what is worth keeping.
//! After an error it is not used again: what is on disk is known only up to the last position whose
//! files were synced.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use larm_core::Lookup;
use serde::{Deserialize, Serialize};

use super::visit::Visit;
use crate::{Error, Result};

/// The half of a sink that any worker may call: pure, in parallel, no I/O.
pub type Encoder = Arc<dyn Fn(&Visit) -> Encoded + Send + Sync>;

/// Waits until a sink has caught up.
pub type Lag = Box<dyn FnOnce() + Send>;

/// A place where visits are written, owned by the one writer.
pub trait Sink: Send {
    /// One stable word: it names the sink's position in the log.
    fn name(&self) -> &str;

    /// The half that workers share.
    fn encoder(&self) -> Encoder;

    /// Whether it reads the text of pages. Where nobody does, pages are read for their links alone.
    fn reads_text(&self) -> bool {
        true
    }

    /// Takes a visit and what the encoder made of it. `kept` tells where earlier sinks of the chain put
    /// the visit, and is added to.
    fn write(&mut self, visit: &Visit, encoded: Encoded, kept: &mut Kept) -> Result<()>;

    /// Takes what name servers said about a host. Of no concern to most sinks.
    fn write_lookup(&mut self, _lookup: &Lookup) -> Result<()> {
        Ok(())
    }

    /// Hands everything written so far to the operating system, and returns where that ends: the
    /// position to cut back to after a crash, once the files that come with it are synced.
    fn flush(&mut self) -> Result<Flushed>;

    /// If it is too far behind to be given more: how to wait until it is not. Asked after a flush, and
    /// waited for on a thread while nothing is written. The other methods run among the fetches, and must not wait
    /// for more than a local disk.
    fn lag(&self) -> Option<Lag> {
        None
    }

    /// Cuts back to `position` and removes what came after; `None`: nothing was ever committed.
    fn recover(&mut self, position: Option<Position>) -> Result<()>;

    /// The crawl ends or pauses for good: syncs, closes, puts in order. Nothing is written after. All sinks of a chain do so at
    /// the same time, each on a thread that is none of the runtime's, and while the last checkpoint is written.
    fn finish(&mut self) -> Result<()>;
}

/// Everything that a sink was given, on its way to the disk.
#[derive(Debug, Default)]
pub struct Flushed {
    /// Where it ends.
    pub position: Position,
    /// What has to be synced, in this order, before the position holds.
    pub unsynced: Vec<Unsynced>,
}

impl From<Position> for Flushed {
    /// Of a sink that has nothing to sync, or has done so itself.
    fn from(position: Position) -> Self {
        Self { position, unsynced: Vec::new() }
    }
}

/// A file with bytes that a power failure would take away.
#[derive(Debug)]
pub struct Unsynced {
    file: Arc<File>,
    path: PathBuf,
}

impl Unsynced {
    /// Notes that a file has to be synced.
    pub fn new(file: Arc<File>, path: PathBuf) -> Self {
        Self { file, path }
    }

    /// Brings the file's bytes to the disk. A failure is final: what is there is not known any more.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(Error::io(&self.path))
    }
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

/// Where the sinks of a chain put a visit, and what they found out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// Its response in the archive.
    pub warc: Option<WarcRef>,
    /// Which of its links were not met lately, with the same text and verdict, in order; `None` if nobody knows.
    pub new_links: Option<Vec<u32>>,
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
