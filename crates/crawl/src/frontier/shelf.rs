//! What lies on disk only: Mercator's front queue, cut into shelves.
//!
//! A shelf is for the hosts of one partition whose keys begin alike. A new URL whose host is in memory goes
//! straight to its host. One whose host is not goes to the arrivals of its shelf: a list that a checkpoint
//! puts on a pile. Hosts that are not in memory are not known one by one; a shelf only says from when on a
//! look at it is worth it. So memory does not grow with the hosts, and opening reads one row.
//!
//! - SHELF-1: a shelf that is whole has no host, and nothing that waits, on disk only: who is not in memory
//!   was never heard of. A crawl of few hosts has no others.
//! - SHELF-2: a shelf with work that may be asked for on disk only has a turn, which is not later than that
//!   of any of its hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use larm_core::Millis;
use larm_core::partition::PARTITIONS;
use larm_core::workbench::HostKey;
use serde::{Deserialize, Serialize};

use super::pack;
use super::piles::{List, Piles, Saved, Saving};
use crate::error::Result;

/// Bits of a host's key that choose one of its partition's shelves: so many that in a crawl of a million
/// hosts the arrivals of a shelf can be taken without holding the frontier for long.
const SLICE_BITS: u32 = 3;
/// How many shelves there are.
pub const SHELVES: u16 = PARTITIONS << SLICE_BITS;

/// Number of a shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ShelfId(pub u16);

impl ShelfId {
    /// The shelf of a host.
    pub fn of(partition: u16, host: HostKey) -> Self {
        let slice = (host.0 >> (u64::BITS - SLICE_BITS)) as u16;
        Self((partition % PARTITIONS) << SLICE_BITS | slice)
    }

    /// The partition that it is a part of.
    pub fn partition(self) -> u16 {
        self.0 >> SLICE_BITS
    }

    /// The keys of its hosts.
    pub fn hosts(self) -> RangeInclusive<HostKey> {
        let shift = u64::BITS - SLICE_BITS;
        let first = u64::from(self.0 % (1 << SLICE_BITS)) << shift;
        HostKey(first)..=HostKey(first | ((1 << shift) - 1))
    }

    /// Its place among all shelves.
    pub fn index(self) -> usize {
        usize::from(self.0 % SHELVES)
    }

    /// The shelves of a partition.
    pub fn all_of(partition: u16) -> impl Iterator<Item = Self> {
        let first = (partition % PARTITIONS) << SLICE_BITS;
        (first..first + (1 << SLICE_BITS)).map(Self)
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SHELVES).map(Self)
    }
}

/// What lies on one shelf.
#[derive(Debug, Default)]
struct Shelf {
    /// Whether there are hosts that are not in memory (SHELF-1).
    is_open: bool,
    /// When a look is worth it (SHELF-2).
    turn: Option<Millis>,
    /// Arrivals since the last checkpoint.
    fresh: Vec<u8>,
    /// Those of the checkpoint that is being written.
    saving: Option<List>,
    /// All that arrived before this number of an offer was taken.
    taken_to: u64,
    /// Bytes of what arrived since.
    bytes: u64,
}

/// A shelf as the checkpoint holds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ShelfRow {
    /// Whether there were hosts that were not in memory.
    pub is_open: bool,
    turn: Option<Millis>,
    taken_to: u64,
}

/// All shelves.
#[derive(Debug)]
pub struct Shelves {
    shelves: Vec<Shelf>,
    piles: Piles,
    by_turn: BTreeSet<(Millis, ShelfId)>,
    /// Shelves with more arrivals than they may have.
    overfull: BTreeSet<ShelfId>,
    bytes_max: u64,
}

impl Shelves {
    /// Empty ones. `bytes_max` is how much may arrive for a shelf before it is sorted out.
    pub fn new(piles: Piles, bytes_max: u64) -> Self {
        let shelves = ShelfId::all().map(|_| Shelf::default()).collect();
        Self { shelves, piles, by_turn: BTreeSet::new(), overfull: BTreeSet::new(), bytes_max }
    }

    /// Takes a checkpoint's word for them.
    pub fn restore(&mut self, rows: Vec<(ShelfId, ShelfRow)>) {
        for (id, ShelfRow { turn, taken_to, .. }) in rows {
            let bytes = self.piles.bytes(id, taken_to);
            *self.shelf_mut(id) = Shelf { is_open: true, taken_to, bytes, ..Shelf::default() };
            self.set_turn(id, turn);
        }
    }

    fn shelf(&self, id: ShelfId) -> &Shelf {
        &self.shelves[id.index()]
    }

    fn shelf_mut(&mut self, id: ShelfId) -> &mut Shelf {
        &mut self.shelves[id.index()]
    }

    /// Whether all hosts of a shelf that were ever heard of are in memory.
    pub fn is_whole(&self, id: ShelfId) -> bool {
        !self.shelf(id).is_open
    }

    /// A host of this shelf is on disk only from now on; its turn comes at `turn`, if ever.
    pub fn open(&mut self, id: ShelfId, turn: Option<Millis>) {
        self.shelf_mut(id).is_open = true;
        self.look_by(id, turn);
    }

    /// Everything of this shelf is in memory.
    pub fn close(&mut self, id: ShelfId) {
        debug_assert_eq!(self.shelf(id).bytes, 0, "SHELF-1: nothing is left behind");
        self.shelf_mut(id).is_open = false;
        self.set_turn(id, None);
    }

    /// Somebody of this shelf has something to do at `turn`.
    pub fn look_by(&mut self, id: ShelfId, turn: Option<Millis>) {
        let earliest = [turn, self.shelf(id).turn].into_iter().flatten().min();
        self.set_turn(id, earliest);
    }

    /// Has every shelf looked at that has hosts on disk: who may be asked has changed.
    pub fn look_at_all(&mut self) {
        for id in ShelfId::all() {
            if !self.is_whole(id) {
                self.look_by(id, Some(Millis(0)));
            }
        }
    }

    /// Sets the turn of a shelf, after a look.
    pub fn set_turn(&mut self, id: ShelfId, turn: Option<Millis>) {
        let before = std::mem::replace(&mut self.shelf_mut(id).turn, turn);
        before.map(|turn| self.by_turn.remove(&(turn, id)));
        turn.map(|turn| self.by_turn.insert((turn, id)));
    }

    /// The shelf whose turn comes first.
    pub fn first(&self) -> Option<(Millis, ShelfId)> {
        self.by_turn.first().copied()
    }

    /// Puts a URL of a host that is not in memory among the arrivals.
    pub fn arrive(&mut self, id: ShelfId, seq: u64, packed: &[u8]) {
        let bytes_max = self.bytes_max;
        let shelf = self.shelf_mut(id);
        debug_assert!(shelf.is_open, "SHELF-1: nothing arrives for a shelf that is whole");
        let before = shelf.fresh.len();
        pack::put_entry(&mut shelf.fresh, seq, packed);
        shelf.bytes += (shelf.fresh.len() - before) as u64;
        if shelf.bytes > bytes_max {
            self.overfull.insert(id);
        }
        if self.shelf(id).turn != Some(Millis(0)) {
            self.set_turn(id, Some(Millis(0)));
        }
    }

    /// A shelf whose arrivals have to be sorted out.
    pub fn pop_overfull(&mut self) -> Option<ShelfId> {
        self.overfull.pop_first()
    }

    /// The arrivals of a shelf.
    pub fn arrivals(&self, id: ShelfId) -> Result<Vec<List>> {
        let shelf = self.shelf(id);
        if shelf.bytes == 0 {
            return Ok(Vec::new());
        }
        let mut lists = self.piles.lists(id, shelf.taken_to)?;
        lists.extend(shelf.saving.clone());
        lists.push(Arc::new(shelf.fresh.clone()));
        Ok(lists)
    }

    /// The hosts have taken all arrivals of this shelf; the next offer has the number `next_seq`.
    pub fn taken(&mut self, id: ShelfId, next_seq: u64) {
        self.overfull.remove(&id);
        let shelf = self.shelf_mut(id);
        shelf.fresh = Vec::new();
        shelf.saving = None;
        shelf.bytes = 0;
        shelf.taken_to = next_seq;
    }

    /// Takes what arrived, all of it before the offer `next_seq`, for a checkpoint to write.
    pub fn gather(&mut self, next_seq: u64) -> Saving {
        let mut lists = Vec::new();
        for (id, shelf) in ShelfId::all().zip(&mut self.shelves) {
            if !shelf.fresh.is_empty() {
                let list = Arc::new(std::mem::take(&mut shelf.fresh));
                shelf.saving = Some(list.clone());
                lists.push((id, list));
            }
        }
        let taken_to = self.shelves.iter().map(|shelf| shelf.taken_to).collect();
        self.piles.begin_checkpoint(lists, next_seq, taken_to)
    }

    /// The checkpoint is written.
    pub fn checkpointed(&mut self, saved: Saved) {
        self.piles.end_checkpoint(saved);
        self.shelves.iter_mut().for_each(|shelf| shelf.saving = None);
    }

    /// All shelves as the checkpoint holds them: as if nobody were in memory. `in_memory` has each
    /// shelf of which there is somebody, and whether anything waits for them.
    pub fn to_rows(&self, in_memory: &BTreeMap<ShelfId, bool>) -> Vec<(ShelfId, ShelfRow)> {
        let mut rows = Vec::new();
        for (id, shelf) in ShelfId::all().zip(&self.shelves) {
            let waits = in_memory.get(&id);
            let Shelf { is_open, taken_to, .. } = *shelf;
            if is_open || taken_to > 0 || waits.is_some() {
                let turn = if waits == Some(&true) { Some(Millis(0)) } else { shelf.turn };
                rows.push((id, ShelfRow { is_open, turn, taken_to }));
            }
        }
        rows
    }
}
