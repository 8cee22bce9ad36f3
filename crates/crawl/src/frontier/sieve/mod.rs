//! The sieve: exactly which urls were ever offered, as 64-bit fingerprints (step 4).
//!
//! New fingerprints gather in memory; a checkpoint writes them as a sorted run, and runs of like
//! size are merged, so that each fingerprint is rewritten at most about once for each quadrupling
//! of the set. In front of the runs stand a table of recently offered fingerprints, since most
//! links of a page were on the page before, and a small filter per run; and what memory the filters do
//! not need holds the keys of runs. All of these only save reads: the answer is always exact.
//!
//! - SIEVE-1: [`Sieve::insert`] says `true` exactly once per fingerprint. There is no "new?" beside
//!   it that a decision could be built on; that something was seen, [`Recent`] may tell.
//! - SIEVE-2: runs share no fingerprint, and never change once written.
//! - SIEVE-3: the runs that a checkpoint returned stay on disk until the next one has been made
//!   durable by the caller, who says so with [`Sieve::forget_superseded`].
//!
//! What was inserted after the last checkpoint is gone after a crash; the log has it, and replaying
//! the log inserts it again. The caller checkpoints before memory grows (`checkpoint_changes_max`).

mod filter;
mod merge;
mod recent;
mod run;
mod save;
#[cfg(test)]
mod tests;

pub use recent::Recent;
pub use run::RunName;
pub use save::{Saved, Saving};

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use larm_core::Limits;

use self::merge::Merge;
use self::run::{Room, Run, RunWriter, Wanted};
use crate::disk::{Disk, RealDisk};
use crate::frontier::keyed::KeySet;
use crate::{Error, Result};

/// Runs of one tier that are merged into one of the next.
const TIER_RUNS: usize = 4;
/// Keys at which the second tier begins.
const TIER_KEYS: u64 = 1 << 16;
/// Keys that one checkpoint may merge when little is new: some 20 ms of work.
const MERGE_KEYS: u64 = 1 << 20;
/// Times its new keys that a checkpoint may merge: more than there are tiers, so merging keeps up.
const MERGE_FACTOR: u64 = 10;

/// An exact set of fingerprints that only grows.
#[derive(Debug)]
pub struct Sieve {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    memory_bytes_max: u64,
    recent: Arc<Recent>,
    /// In no run yet.
    newest: KeySet<u64>,
    /// In a run that is being written.
    saving: Arc<KeySet<u64>>,
    /// Largest first: most fingerprints that were seen are found in the first.
    runs: Vec<Run>,
    merges: Vec<Merge>,
    next_name: RunName,
    failed: bool,
}

impl Sieve {
    /// Opens exactly these runs, as the last durable checkpoint named them; none is an empty sieve.
    ///
    /// Reads and checks every byte of them. Run files in `dir` with other names are left over from
    /// a crash and are deleted.
    pub fn open(dir: &Path, runs: &[RunName], limits: &Limits) -> Result<Self> {
        Self::open_on(Arc::new(RealDisk), dir, runs, limits)
    }

    /// [`Sieve::open`] on a given disk.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        dir: &Path,
        runs: &[RunName],
        limits: &Limits,
    ) -> Result<Self> {
        disk.create_dir(dir)?;
        let last = RunName::all_in(&*disk, dir)?.into_iter().chain(runs.iter().copied()).max();
        let mut sieve = Self {
            memory_bytes_max: limits.sieve_filter_bytes_max,
            recent: Arc::default(),
            newest: KeySet::default(),
            saving: Arc::default(),
            runs: Vec::new(),
            merges: Vec::new(),
            next_name: last.map_or(RunName(0), RunName::next),
            failed: false,
            dir: dir.to_path_buf(),
            disk,
        };
        for &name in runs {
            let file = sieve.disk.open(&name.path(dir))?;
            sieve.add(Run::open(name, file, sieve.room())?);
        }
        sieve.remove_unused()?;
        Ok(sieve)
    }

    /// Inserts each fingerprint; `true` where it was absent (in a batch: where it stands first).
    ///
    /// All or nothing: after an error nothing was inserted.
    pub fn insert(&mut self, fingerprints: &[u64]) -> Result<Vec<bool>> {
        let mut wanted = self.not_in_memory(fingerprints);
        for run in &self.runs {
            run.drop_known(&mut wanted)?;
        }
        let mut was_absent = vec![false; fingerprints.len()];
        for wanted in wanted {
            was_absent[wanted.place] = true;
            self.newest.insert(wanted.key);
        }
        fingerprints.iter().for_each(|&key| self.recent.remember(key));
        Ok(was_absent)
    }

    /// Whether a fingerprint was inserted. For reports: to decide by it would be a race.
    pub fn contains(&self, fingerprint: u64) -> Result<bool> {
        let mut wanted = self.not_in_memory(&[fingerprint]);
        for run in &self.runs {
            run.drop_known(&mut wanted)?;
        }
        Ok(wanted.is_empty())
    }

    /// What was inserted a moment ago, for those who do not hold the sieve.
    pub fn recent(&self) -> Arc<Recent> {
        self.recent.clone()
    }

    /// How many fingerprints were inserted.
    pub fn len(&self) -> u64 {
        (self.newest.len() + self.saving.len()) as u64
            + self.runs.iter().map(Run::count).sum::<u64>()
    }

    /// Whether nothing was inserted yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes what a checkpoint has to write: what is new, and merges to be carried further. It is
    /// written without the sieve, which goes on meanwhile, and brought back with
    /// [`Sieve::end_checkpoint`].
    ///
    /// A merge works for as many checkpoints as it takes, and its inputs count until it is done. If a
    /// checkpoint does not come back, there is no other: a failed sync is not tried again.
    pub fn begin_checkpoint(&mut self) -> Result<Saving> {
        self.check_usable()?;
        self.failed = true; // until it comes back
        self.begin_merges()?;
        let name = self.next_name;
        self.next_name = name.next();
        self.saving = Arc::new(std::mem::take(&mut self.newest));
        Ok(Saving {
            disk: self.disk.clone(),
            dir: self.dir.clone(),
            keys: self.saving.clone(),
            name,
            room: self.room(),
            merges: std::mem::take(&mut self.merges),
            merge_keys: MERGE_KEYS.max(MERGE_FACTOR * self.saving.len() as u64),
            names: self.names(),
        })
    }

    /// Takes the runs that a checkpoint has written into use.
    pub fn end_checkpoint(&mut self, saved: Saved) {
        self.failed = false;
        self.saving = Arc::default();
        self.merges = saved.merges;
        for (run, inputs) in saved.merged {
            self.runs.retain(|run| !inputs.contains(&run.name()));
            self.add(run);
        }
        saved.newest.into_iter().for_each(|run| self.add(run));
    }

    /// A checkpoint from beginning to end; returns the runs that now make up the set, all of them
    /// durable.
    pub fn checkpoint(&mut self) -> Result<Vec<RunName>> {
        let saved = self.begin_checkpoint()?.write()?;
        let names = saved.names();
        self.end_checkpoint(saved);
        Ok(names)
    }

    /// Deletes the run files that the last checkpoint made superfluous.
    ///
    /// To be called only once the names that it returned are durable in the caller's state.
    pub fn forget_superseded(&mut self) -> Result<()> {
        self.check_usable()?;
        self.remove_unused()
    }

    fn check_usable(&self) -> Result<()> {
        if self.failed {
            let what = format!("{}: the sieve is closed since a write failed", self.dir.display());
            return Err(Error::Stopped(what));
        }
        Ok(())
    }

    fn names(&self) -> Vec<RunName> {
        self.runs.iter().map(Run::name).collect()
    }

    /// The fingerprints that only the runs can tell of: sorted, each once, with its first place.
    fn not_in_memory(&self, fingerprints: &[u64]) -> Vec<Wanted> {
        // All are looked for before anything is made of it: so the processor need not wait for one place
        // of the table before it asks for the next.
        let recent: Vec<bool> = fingerprints.iter().map(|key| self.recent.holds(*key)).collect();
        let places = fingerprints.iter().zip(recent).enumerate();
        let known = |key: &u64| self.newest.contains(key) || self.saving.contains(key);
        let unknown = places.filter(|(_, (key, is_recent))| !is_recent && !known(key));
        let mut wanted: Vec<_> = unknown.map(|(place, (&key, _))| Wanted { key, place }).collect();
        wanted.sort_unstable();
        wanted.dedup_by_key(|wanted| wanted.key);
        wanted
    }

    fn begin_run(&mut self, count: u64) -> Result<RunWriter> {
        let name = self.next_name;
        self.next_name = name.next();
        let file = self.disk.create(&name.path(&self.dir))?;
        Ok(RunWriter::begin(name, file, count, self.room()))
    }

    /// What one more run may take: while the largest are merged, there are two of its size. Keys get no
    /// more than is free, so that none are gathered where filters need all there is.
    fn room(&self) -> Room {
        let half = self.memory_bytes_max / 2;
        let free = self.memory_bytes_max.saturating_sub(self.memory_bytes());
        Room { filter: half, all: half.min(free) }
    }

    /// What the filters and keys of all runs take.
    fn memory_bytes(&self) -> u64 {
        self.runs.iter().map(Run::memory_bytes).sum()
    }

    fn add(&mut self, run: Run) {
        let place = self.runs.partition_point(|other| other.count() > run.count());
        self.runs.insert(place, run);
        self.fit_memory();
    }

    /// Lets go of keys, those of the largest run first, and then halves the largest filter until all of
    /// them together are within their maximum.
    fn fit_memory(&mut self) {
        while self.memory_bytes() > self.memory_bytes_max {
            if let Some(largest) = self.runs.iter_mut().find(|run| run.is_in_memory()) {
                largest.drop_keys();
                continue;
            }
            let largest = self.runs.iter_mut().max_by_key(|run| run.filter().bytes());
            largest.expect("filters with bytes belong to runs").halve_filter();
        }
    }

    fn begin_merges(&mut self) -> Result<()> {
        let mut tiers: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, run) in self.runs.iter().enumerate() {
            if !self.merges.iter().any(|merge| merge.reads(run.name())) {
                tiers.entry(tier(run.count())).or_default().push(place);
            }
        }
        for places in tiers.into_values().filter(|places| places.len() >= TIER_RUNS) {
            let count = places.iter().map(|&place| self.runs[place].count()).sum();
            let writer = self.begin_run(count)?;
            let inputs = places.iter().map(|&place| &self.runs[place]);
            let merge = Merge::begin(inputs, writer)?;
            self.merges.push(merge);
        }
        Ok(())
    }

    /// Deletes every run file that is neither in the set nor being written.
    fn remove_unused(&mut self) -> Result<()> {
        let written = self.merges.iter().map(Merge::name);
        let used: HashSet<RunName> = self.names().into_iter().chain(written).collect();
        for name in RunName::all_in(&*self.disk, &self.dir)? {
            if !used.contains(&name) {
                self.disk.remove(&name.path(&self.dir))?;
            }
        }
        Ok(())
    }
}

/// The size class of a run: a merge of [`TIER_RUNS`] of one tier, the lowest aside, is in a higher
/// one.
fn tier(count: u64) -> u32 {
    (count / TIER_KEYS).checked_ilog(TIER_RUNS as u64).map_or(0, |tier| tier + 1)
}
