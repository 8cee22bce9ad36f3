//! The index of near-duplicates (step 10): which earlier page has nearly the same words.
//!
//! Two simhashes that differ in at most three of 64 bits agree in at least one of four blocks of 16 bits.
//! So there are four tables, each sorted by another block (Manku, Jain and Das Sarma 2007), and whoever
//! looks for one reads the four buckets with its blocks. The newest simhashes are in memory; a checkpoint
//! writes them as a list, or, when they are too many, as a run, and runs are merged so that there are few.
//!
//! - NEAR-1: every page that was inserted is found by every simhash near to its own, but for those in
//!   buckets with more than `CROWD_MAX` entries, which are cut.
//! - NEAR-2: runs never change once written.
//! - NEAR-3: the files that a checkpoint returned stay on disk until the next one has been made durable by
//!   the caller, who says so with [`Near::end_checkpoint`].
//!
//! What was inserted after the last checkpoint is gone after a crash; the log has it, and replaying the
//! log inserts it again. Who looks does not hold the frontier: the disk may be slow. Two pages that are
//! read at the same moment would miss each other, so each leaves a claim here until it is settled.

mod merge;
mod run;
mod save;
#[cfg(test)]
mod tests;
mod young;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use larm_core::Limits;
use larm_core::near::Simhash;
use larm_core::url::Fingerprint;

use self::merge::Merge;
use self::run::{Run, RunName, RunWriter};
use self::save::{ListName, Newest, read_list};
use self::young::Young;
use crate::disk::Disk;
use crate::{Error, Result};

pub use save::{Names, Saved, Saving};

/// Tables, one for each block.
const TABLES: usize = 4;
/// Values of a block.
const BLOCKS: usize = 1 << 16;
/// Entries of one bucket that are kept, and looked at: a look-up reads no more than this.
const CROWD_MAX: usize = 1 << 13;
/// A run is merged with all that are smaller when they have a third of its entries together.
const MERGE_RATIO: u64 = 3;

/// Where the row of a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageKey {
    /// Partition of its site.
    pub partition: u16,
    /// Of its URL.
    pub fingerprint: Fingerprint,
}

/// A simhash, and the page that had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The 64 bits.
    pub simhash: u64,
    /// Whose they are.
    pub page: PageKey,
}

/// A page that was read, and is not settled yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its words.
    pub simhash: Simhash,
    /// Its URL.
    pub url: Box<str>,
    /// The URL that it names as its canonical one.
    pub canonical: Option<Box<str>>,
}

/// What is near, the nearest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Settled pages.
    pub pages: Vec<Entry>,
    /// A page that is not settled yet; whoever finds one leaves no claim.
    pub claimed: Option<Claim>,
}

/// The index as whoever reads pages sees it.
#[derive(Debug, Default)]
pub struct Index(RwLock<Inner>);

#[derive(Debug, Default)]
struct Inner {
    young: Young,
    /// In a run that is being written.
    saving: Arc<Young>,
    runs: Vec<Arc<Run>>,
    /// At most as many as there are fetches in flight.
    claims: Vec<Claim>,
}

impl Index {
    /// All pages that are near to one that was just read, itself aside. If there are none, it leaves its
    /// claim, in the same step.
    pub fn find_or_claim(&self, page: PageKey, claim: Claim) -> Result<Found> {
        let mut found = self.find(claim.simhash)?;
        let mut inner = self.write();
        inner.young.find(claim.simhash, &mut found);
        found.retain(|entry| entry.page != page);
        found.sort_by_key(|entry| Simhash(entry.simhash).distance(claim.simhash));
        if !found.is_empty() {
            return Ok(Found { pages: found, claimed: None });
        }
        let near = |other: &&Claim| other.simhash.is_near(claim.simhash) && other.url != claim.url;
        let claimed = inner.claims.iter().find(near).cloned();
        if claimed.is_none() {
            inner.claims.push(claim);
        }
        Ok(Found { pages: Vec::new(), claimed })
    }

    /// All that are near, each once, in no order that means anything.
    pub fn find(&self, simhash: Simhash) -> Result<Vec<Entry>> {
        let mut found = Vec::new();
        let runs = {
            let inner = self.read();
            inner.young.find(simhash, &mut found);
            inner.saving.find(simhash, &mut found);
            inner.runs.clone()
        };
        runs.iter().try_for_each(|run| run.find(simhash, &mut found))?;
        found.sort_unstable_by_key(|entry| (entry.page, entry.simhash));
        found.dedup();
        Ok(found)
    }

    /// A page is settled that is like no other: from here on, others may be like it.
    pub fn insert(&self, entry: Entry) {
        self.write().young.insert(entry);
    }

    /// A page is settled: its claim is over.
    pub fn release(&self, url: &str) {
        self.write().claims.retain(|claim| &*claim.url != url);
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The index as the frontier keeps it.
#[derive(Debug)]
pub struct Near {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    memory_max: usize,
    index: Arc<Index>,
    merge: Option<Merge>,
    /// The last list, and how many entries it has; those in memory only become more.
    list: Option<ListName>,
    listed: usize,
    next_number: u64,
    failed: bool,
}

impl Near {
    /// Opens exactly these files, as the last durable checkpoint named them; none is an empty index.
    /// Others in `dir` are left over from a crash and are deleted.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        dir: &Path,
        names: &Names,
        limits: &Limits,
    ) -> Result<Self> {
        disk.create_dir(dir)?;
        let mut inner = Inner::default();
        for name in &names.runs {
            inner.runs.push(Arc::new(Run::open(*name, disk.open(&name.path(dir))?)?));
        }
        if let Some(list) = names.list {
            inner.young = read_list(&*disk.open(&list.path(dir))?)?;
        }
        let lists = ListName::all_in(&*disk, dir)?.into_iter().max();
        let runs = RunName::all_in(&*disk, dir)?.into_iter().max();
        let (after_list, after_run) = (lists.map(ListName::next), runs.map(RunName::next));
        let near = Self {
            next_number: after_list
                .map_or(0, |name| name.0)
                .max(after_run.map_or(0, |name| name.0)),
            memory_max: usize::try_from(limits.near_memory_max).unwrap_or(usize::MAX),
            merge: None,
            list: names.list,
            listed: inner.young.len(),
            index: Arc::new(Index(RwLock::new(inner))),
            failed: false,
            dir: dir.to_path_buf(),
            disk,
        };
        near.remove_unused(names)?;
        Ok(near)
    }

    /// The index, for those who do not hold the frontier.
    pub fn index(&self) -> Arc<Index> {
        self.index.clone()
    }

    /// Takes what a checkpoint has to write. It is written without the index, which goes on meanwhile, and
    /// brought back with [`Near::end_checkpoint`]; if it does not come back, there is no other.
    pub fn begin_checkpoint(&mut self) -> Result<Saving> {
        if self.failed {
            let what = format!("{}: the index is closed since a write failed", self.dir.display());
            return Err(Error::Stopped(what));
        }
        self.failed = true; // until it comes back
        self.begin_merge()?;
        let mut inner = self.index.write();
        let newest = if inner.young.len() >= self.memory_max {
            inner.saving = Arc::new(std::mem::take(&mut inner.young));
            Newest::Run(inner.saving.clone())
        } else if inner.young.len() == self.listed {
            Newest::Nothing(self.list)
        } else {
            Newest::List(inner.young.entries().to_vec())
        };
        self.listed = inner.young.len();
        let runs = inner.runs.iter().map(|run| run.name()).collect();
        drop(inner);
        let (disk, dir, merge) = (self.disk.clone(), self.dir.clone(), self.merge.take());
        let number = self.take_number();
        Ok(Saving { disk, dir, newest, number, merge, runs })
    }

    /// Takes the files that a checkpoint has written into use, and deletes those that it made
    /// superfluous. To be called only once their names are durable in the caller's state.
    pub fn end_checkpoint(&mut self, saved: Saved) -> Result<()> {
        self.failed = false;
        self.merge = saved.merge;
        self.list = saved.names.list;
        let mut inner = self.index.write();
        inner.saving = Arc::default();
        inner.runs.extend(saved.newest.map(Arc::new));
        if let Some((run, inputs)) = saved.merged {
            inner.runs.retain(|run| !inputs.contains(&run.name()));
            inner.runs.push(Arc::new(run));
        }
        drop(inner);
        self.remove_unused(&saved.names)
    }

    /// Begins to merge the smallest runs, if they have become many.
    fn begin_merge(&mut self) -> Result<()> {
        if self.merge.is_some() {
            return Ok(());
        }
        let mut runs = self.index.read().runs.clone();
        runs.sort_by_key(|run| run.count());
        let (mut taken, mut entries) = (0, 0);
        for run in &runs {
            if taken > 0 && run.count() > MERGE_RATIO * entries {
                break;
            }
            (taken, entries) = (taken + 1, entries + run.count());
        }
        if taken > 1 {
            runs.truncate(taken);
            let name = RunName(self.take_number());
            let output = RunWriter::begin(name, self.disk.create(&name.path(&self.dir))?);
            self.merge = Some(Merge::begin(runs, output));
        }
        Ok(())
    }

    fn take_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number - 1
    }

    /// Deletes every file that is neither named nor being written.
    fn remove_unused(&self, names: &Names) -> Result<()> {
        let merging = self.merge.iter().map(Merge::name);
        let runs: HashSet<RunName> = names.runs.iter().copied().chain(merging).collect();
        for name in RunName::all_in(&*self.disk, &self.dir)? {
            if !runs.contains(&name) {
                self.disk.remove(&name.path(&self.dir))?;
            }
        }
        for name in ListName::all_in(&*self.disk, &self.dir)? {
            if names.list != Some(name) {
                self.disk.remove(&name.path(&self.dir))?;
            }
        }
        Ok(())
    }
}

/// The value of a block of a simhash.
fn block_of(simhash: u64, table: usize) -> usize {
    (simhash >> (48 - 16 * table) & 0xffff) as usize
}
