//! A checkpoint of the piles that is written while the frontier goes on: what arrived as a pile, and
//! merges a bounded step further.
//!
//! Owns all that it changes, so that nobody has to wait for it. Until it comes back, the lists that it
//! writes are found in memory, and piles that it joins stay in use.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::List;
use super::merge::Merge;
use super::pile::{Pile, PileName, PileWriter};
use crate::Result;
use crate::disk::Disk;
use crate::frontier::shelf::ShelfId;

/// Piles of one tier that are joined into one of the next.
const TIER_PILES: usize = 16;
/// Bytes at which the second tier begins, divided by [`TIER_PILES`].
const TIER_BYTES: u64 = 1024 * 1024;
/// Bytes that one checkpoint may copy when little is new.
const MERGE_BYTES: u64 = 8 * 1024 * 1024;
/// Times its new bytes that a checkpoint may copy: more than there are tiers, so merging keeps up.
const MERGE_FACTOR: u64 = 5;

/// What a checkpoint has to write.
#[derive(Debug)]
pub struct Saving {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    pub(super) piles: Vec<Arc<Pile>>,
    pub(super) lists: Vec<(ShelfId, List)>,
    /// The next number of an offer.
    pub(super) end: u64,
    /// What was taken from each shelf.
    pub(super) taken_to: Arc<[u64]>,
    pub(super) merges: Vec<Merge>,
    pub(super) next_name: PileName,
    pub(super) has_unused: bool,
}

/// What a checkpoint has written, all of it durable.
#[derive(Debug)]
pub struct Saved {
    pub(super) piles: Vec<Arc<Pile>>,
    pub(super) merges: Vec<Merge>,
    pub(super) next_name: PileName,
    pub(super) has_unused: bool,
}

impl Saved {
    /// The piles that hold all arrivals from now on, once the caller's state says so.
    pub fn names(&self) -> Vec<PileName> {
        self.piles.iter().map(|pile| pile.name()).collect()
    }
}

impl Saving {
    /// Writes and syncs all of it.
    pub fn write(mut self) -> Result<Saved> {
        if self.has_unused {
            self.remove_unused()?;
        }
        let new_bytes = self.lists.iter().map(|(_, list)| list.len() as u64).sum::<u64>();
        let first_new = self.next_name;
        self.write_newest()?;
        self.begin_merges()?;
        self.advance_merges(MERGE_BYTES.max(MERGE_FACTOR * new_bytes))?;
        self.forget_taken();
        if self.next_name != first_new {
            self.disk.sync_dir(&self.dir)?;
        }
        let Self { piles, merges, next_name, has_unused, .. } = self;
        Ok(Saved { piles, merges, next_name, has_unused })
    }

    /// Removes every file that is neither a pile of the last checkpoint, which is durable, nor being
    /// written (PILE-2).
    fn remove_unused(&mut self) -> Result<()> {
        for name in PileName::all_in(&*self.disk, &self.dir)? {
            let is_pile = self.piles.iter().any(|pile| pile.name() == name);
            let in_use = |merge: &Merge| merge.name() == name || merge.reads(name);
            if !is_pile && !self.merges.iter().any(in_use) {
                self.disk.remove(&name.path(&self.dir))?;
            }
        }
        self.has_unused = false;
        Ok(())
    }

    fn write_newest(&mut self) -> Result<()> {
        if self.lists.is_empty() {
            return Ok(());
        }
        let mut writer = self.begin_pile(self.end)?;
        self.lists.iter().try_for_each(|(shelf, list)| writer.push(*shelf, list))?;
        self.piles.push(Arc::new(writer.finish()?));
        Ok(())
    }

    fn begin_pile(&mut self, end: u64) -> Result<PileWriter> {
        let name = self.next_name;
        self.next_name = name.next();
        let file = self.disk.create(&name.path(&self.dir))?;
        Ok(PileWriter::begin(name, file, end))
    }

    fn begin_merges(&mut self) -> Result<()> {
        let mut tiers: BTreeMap<u32, Vec<Arc<Pile>>> = BTreeMap::new();
        for pile in &self.piles {
            if !self.merges.iter().any(|merge| merge.reads(pile.name())) {
                let tier = tier(pile.live_bytes(&self.taken_to));
                tiers.entry(tier).or_default().push(pile.clone());
            }
        }
        for inputs in tiers.into_values().filter(|piles| piles.len() >= TIER_PILES) {
            let end = inputs.iter().map(|pile| pile.end()).max().unwrap_or_default();
            let output = self.begin_pile(end)?;
            self.merges.push(Merge::begin(inputs, self.taken_to.clone(), output));
        }
        Ok(())
    }

    fn advance_merges(&mut self, mut bytes: u64) -> Result<()> {
        // Smallest first: a large merge must not let small piles gather.
        self.merges.sort_by_key(Merge::bytes);
        for mut merge in std::mem::take(&mut self.merges) {
            bytes = bytes.saturating_sub(merge.advance(bytes)?);
            if !merge.is_done() {
                self.merges.push(merge);
                continue;
            }
            self.piles.retain(|pile| !merge.reads(pile.name()));
            self.piles.push(Arc::new(merge.finish()?));
            self.has_unused = true;
        }
        Ok(())
    }

    /// Leaves piles out from which everything was taken.
    fn forget_taken(&mut self) {
        let before = self.piles.len();
        self.piles.retain(|pile| pile.live_bytes(&self.taken_to) > 0);
        self.has_unused |= self.piles.len() < before;
    }
}

/// The size class of a pile: a merge of [`TIER_PILES`] of one tier, the lowest aside, is in a higher one.
fn tier(bytes: u64) -> u32 {
    (bytes / TIER_BYTES).checked_ilog(TIER_PILES as u64).unwrap_or_default()
}
