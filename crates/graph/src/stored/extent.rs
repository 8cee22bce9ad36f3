//! `graph/graph.json`: how far into the link log the graph goes, and how large it is.
//!
//! A graph is fresh if the log ends where the graph says. It is behind if the log has grown since. It is
//! of another log if the last block that it covers is no longer there as it was: after a crash the log
//! may have been cut back and have grown differently.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::log;
use crate::{Error, Result};

/// Version of the files in `graph/`.
const FORMAT: u32 = 1;

/// What a stored graph covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Version of the files.
    format: u32,
    /// Bytes of the link log that it covers.
    pub log_bytes: u64,
    /// First byte of the last block of them.
    pub last_block: u64,
    /// The header of that block, in hexadecimal.
    pub last_block_header: String,
    /// Visits in them, and links of those.
    pub visits: u64,
    /// Links of those visits, whatever they lead to.
    pub links: u64,
    /// Nodes of the graph.
    pub nodes: u32,
    /// Those of them that are pages.
    pub pages: u32,
    /// Arcs of the graph.
    pub arcs: u64,
}

/// How a stored graph stands to the link log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// It covers all of it.
    Fresh,
    /// The log has grown by so many bytes.
    Behind(u64),
    /// It is of another log, or of another version.
    Other,
    /// There is none.
    Missing,
}

impl Extent {
    /// What a graph covers that was made from the log up to here.
    pub(super) fn new(dir: &Path, log_bytes: u64, last_block: u64) -> Result<Self> {
        let last_block_header = header_at(&log::path_in(dir), last_block)?.unwrap_or_default();
        Ok(Self {
            format: FORMAT,
            log_bytes,
            last_block,
            last_block_header,
            visits: 0,
            links: 0,
            nodes: 0,
            pages: 0,
            arcs: 0,
        })
    }

    /// Reads it from the directory of a graph; `None` if there is no graph of this version.
    pub(super) fn read(graph: &Path) -> Result<Option<Self>> {
        let path = graph.join("graph.json");
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        // What another version wrote is as good as nothing: the graph is made anew.
        let extent: Option<Self> = serde_json::from_slice(&text).ok();
        Ok(extent.filter(|extent| extent.format == FORMAT))
    }

    /// Writes it; the last thing that is done to a graph.
    pub(super) fn write(&self, graph: &Path) -> Result<()> {
        let path = graph.join("graph.json");
        let text = serde_json::to_vec_pretty(self).expect("numbers and texts");
        fs::write(&path, text).map_err(Error::io(&path))
    }

    /// How the graph of a crawl directory stands to its link log.
    pub fn freshness(dir: &Path) -> Result<Freshness> {
        let graph = super::path_in(dir);
        let Some(extent) = Self::read(&graph)? else {
            let exists = graph.join("graph.json").exists();
            return Ok(if exists { Freshness::Other } else { Freshness::Missing });
        };
        let path = log::path_in(dir);
        let bytes = fs::metadata(&path).map_or(0, |log| log.len());
        let header = header_at(&path, extent.last_block)?.unwrap_or_default();
        Ok(match bytes.checked_sub(extent.log_bytes) {
            None => Freshness::Other,
            Some(_) if header != extent.last_block_header => Freshness::Other,
            Some(0) => Freshness::Fresh,
            Some(more) => Freshness::Behind(more),
        })
    }
}

/// The header of the block that begins there; `None` if the log is not that long.
fn header_at(path: &Path, begin: u64) -> Result<Option<String>> {
    let Ok(mut file) = File::open(path) else { return Ok(None) };
    let mut header = [0; log::HEADER_BYTES];
    file.seek(SeekFrom::Start(begin)).map_err(Error::io(path))?;
    match file.read_exact(&mut header) {
        Ok(()) => Ok(Some(header.iter().map(|byte| format!("{byte:02x}")).collect())),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(Error::io(path)(error)),
    }
}
