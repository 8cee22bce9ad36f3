//! A checkpoint of the sieve that is written while the sieve goes on: what is new as a run, and merges a
//! bounded step further.
//!
//! Owns all that it changes, so that nobody has to wait for it. Until it comes back, the keys that it
//! writes are found in memory, and runs that it merges stay in use.

use std::path::PathBuf;
use std::sync::Arc;

use super::merge::Merge;
use super::run::{Room, Run, RunName, RunWriter};
use crate::Result;
use crate::disk::Disk;
use crate::frontier::keyed::KeySet;

/// What a checkpoint has to write.
#[derive(Debug)]
pub struct Saving {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    pub(super) keys: Arc<KeySet<u64>>,
    /// The run of `keys`, without a file yet.
    pub(super) name: RunName,
    pub(super) room: Room,
    pub(super) merges: Vec<Merge>,
    pub(super) merge_keys: u64,
    /// The runs that make up the set as it is.
    pub(super) names: Vec<RunName>,
}

/// What a checkpoint has written, all of it durable.
#[derive(Debug)]
pub struct Saved {
    pub(super) newest: Option<Run>,
    /// Merges that are done, each as the run that it became and those that it replaces.
    pub(super) merged: Vec<(Run, Vec<RunName>)>,
    /// Merges that are not done yet.
    pub(super) merges: Vec<Merge>,
    names: Vec<RunName>,
}

impl Saved {
    /// Whether there are runs that are not needed any more.
    pub fn supersedes(&self) -> bool {
        !self.merged.is_empty()
    }

    /// The runs that make up the set from now on, once the caller's state says so.
    pub fn names(&self) -> Vec<RunName> {
        self.names.clone()
    }
}

impl Saving {
    /// Writes and syncs all of it.
    pub fn write(mut self) -> Result<Saved> {
        let newest = self.write_newest()?;
        let (mut merged, mut merges) = (Vec::new(), Vec::new());
        // Smallest first: a large merge must not let small runs pile up.
        self.merges.sort_by_key(Merge::count);
        for mut merge in self.merges {
            self.merge_keys -= merge.advance(self.merge_keys)?;
            if merge.is_done() {
                merged.push(merge.finish()?);
            } else {
                merges.push(merge);
            }
        }
        self.disk.sync_dir(&self.dir)?;
        let mut names = self.names;
        names.retain(|name| !merged.iter().any(|(_, inputs)| inputs.contains(name)));
        names.extend(newest.iter().chain(merged.iter().map(|(run, _)| run)).map(Run::name));
        Ok(Saved { newest, merged, merges, names })
    }

    fn write_newest(&self) -> Result<Option<Run>> {
        if self.keys.is_empty() {
            return Ok(None);
        }
        let mut keys: Vec<u64> = self.keys.iter().copied().collect();
        keys.sort_unstable();
        let file = self.disk.create(&self.name.path(&self.dir))?;
        let mut writer = RunWriter::begin(self.name, file, keys.len() as u64, self.room);
        keys.iter().try_for_each(|&key| writer.push(key))?;
        writer.finish().map(Some)
    }
}
