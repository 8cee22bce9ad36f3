//! A checkpoint of the index that is written while the index goes on: what is in memory as a list, or as
//! a run if it is too much, and a merge a bounded step further.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::merge::Merge;
use super::run::{Run, RunName, RunWriter, damaged};
use super::young::Young;
use super::{Entry, PageKey};
use crate::Result;
use crate::disk::{Disk, DiskFile};
use crate::frontier::numbered::numbered_files;

/// Bytes of buckets that one checkpoint merges, and as much again for each byte that is new: some
/// 50 ms of work.
const MERGE_BYTES: u64 = 16 << 20;

numbered_files! {
    /// The name of a list of the newest simhashes.
    ListName, "list"
}

/// The files that make up the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// The newest simhashes.
    pub(super) list: Option<ListName>,
    /// All others.
    pub(super) runs: Vec<RunName>,
}

impl Names {
    /// How many files there are.
    pub fn len(&self) -> usize {
        self.runs.len() + usize::from(self.list.is_some())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What of the memory is to be written.
#[derive(Debug)]
pub(super) enum Newest {
    /// It is in the last list.
    Nothing(Option<ListName>),
    /// It stays in memory, too.
    List(Vec<Entry>),
    /// It goes to disk.
    Run(Arc<Young>),
}

/// What a checkpoint has to write.
#[derive(Debug)]
pub struct Saving {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    pub(super) newest: Newest,
    /// The number of what is written, which has no file yet.
    pub(super) number: u64,
    pub(super) merge: Option<Merge>,
    /// The runs that make up the index as it is.
    pub(super) runs: Vec<RunName>,
}

/// What a checkpoint has written, all of it durable.
#[derive(Debug)]
pub struct Saved {
    pub(super) newest: Option<Run>,
    /// A merge that is done: the run that it became, and those that it replaces.
    pub(super) merged: Option<(Run, Vec<RunName>)>,
    /// One that is not.
    pub(super) merge: Option<Merge>,
    pub(super) names: Names,
}

impl Saved {
    /// The files that make up the index from now on, once the caller's state says so.
    pub fn names(&self) -> Names {
        self.names.clone()
    }
}

impl Saving {
    /// Writes and syncs all of it.
    pub fn write(mut self) -> Result<Saved> {
        let mut names = Names { list: None, runs: std::mem::take(&mut self.runs) };
        let mut newest = None;
        match &self.newest {
            Newest::Nothing(list) => names.list = *list,
            Newest::List(entries) => {
                let name = ListName(self.number);
                write_list(self.disk.create(&name.path(&self.dir))?, entries)?;
                names.list = Some(name);
            }
            Newest::Run(young) => {
                let name = RunName(self.number);
                let mut writer = RunWriter::begin(name, self.disk.create(&name.path(&self.dir))?);
                writer.push_all(young.entries())?;
                newest = Some(writer.finish()?);
                names.runs.push(name);
            }
        }
        let (merged, merge) = self.advance_merge()?;
        if let Some((run, inputs)) = &merged {
            names.runs.retain(|name| !inputs.contains(name));
            names.runs.push(run.name());
        }
        self.disk.sync_dir(&self.dir)?;
        Ok(Saved { newest, merged, merge, names })
    }

    #[expect(clippy::type_complexity, reason = "one of the two, or neither")]
    fn advance_merge(&mut self) -> Result<(Option<(Run, Vec<RunName>)>, Option<Merge>)> {
        let Some(mut merge) = self.merge.take() else { return Ok((None, None)) };
        if merge.advance(MERGE_BYTES)? {
            return Ok((Some(merge.finish()?), None));
        }
        Ok((None, Some(merge)))
    }
}

/// A list: how many entries, the entries, a checksum.
fn write_list(mut file: Box<dyn DiskFile>, entries: &[Entry]) -> Result<()> {
    let mut bytes = Vec::with_capacity(12 + entries.len() * Entry::BYTES);
    bytes.extend_from_slice(&(entries.len() as u64).to_le_bytes());
    for entry in entries {
        bytes.extend_from_slice(&entry.simhash.to_be_bytes());
        bytes.extend_from_slice(&entry.page.to_bytes());
    }
    let checksum = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    file.append(&bytes)?;
    file.sync()
}

/// The entries of a list.
pub(super) fn read_list(file: &dyn DiskFile) -> Result<Young> {
    let broken = || damaged(file, 0, "not a list of simhashes");
    let mut bytes = vec![0; usize::try_from(file.size()).map_err(|_| broken())?];
    file.read_at(0, &mut bytes)?;
    let (content, checksum) = bytes.split_last_chunk().ok_or_else(broken)?;
    let (count, entries) = content.split_first_chunk().ok_or_else(broken)?;
    let whole = u64::from_le_bytes(*count) == (entries.len() / Entry::BYTES) as u64
        && entries.len().is_multiple_of(Entry::BYTES);
    if !whole || crc32c::crc32c(content) != u32::from_le_bytes(*checksum) {
        return Err(broken());
    }
    entries.chunks_exact(Entry::BYTES).map(|bytes| entry_in(bytes).ok_or_else(broken)).collect()
}

impl Entry {
    /// Bytes of an entry in a list.
    const BYTES: usize = 8 + PageKey::BYTES;
}

fn entry_in(bytes: &[u8]) -> Option<Entry> {
    let (simhash, page) = bytes.split_first_chunk()?;
    Some(Entry { simhash: u64::from_be_bytes(*simhash), page: PageKey::from_bytes(page)? })
}
