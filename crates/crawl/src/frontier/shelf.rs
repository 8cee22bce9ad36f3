//! What lies of each partition on disk only: Mercator's front queue, cut by partition.
//!
//! A new URL whose host is in memory goes straight to its host. One whose host is not goes to the
//! arrivals of its partition: a list that a checkpoint writes as one row. Hosts that are not in memory
//! are not known one by one; a shelf only says from when on a look at its partition is worth it. So
//! memory does not grow with the hosts, and opening reads one row.
//!
//! - SHELF-1: a partition that is whole has no host, and nothing that waits, on disk only: who is not in
//!   memory was never heard of. A crawl of few hosts has no others.
//! - SHELF-2: a partition with work that may be asked for on disk only has a turn, which is not later
//!   than that of any of its hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use larm_core::Millis;
use larm_core::partition::PARTITIONS;
use serde::{Deserialize, Serialize};

use super::pack;
use super::state::Gathered;
use super::store::{Row, Store};
use crate::error::Result;

/// What lies of one partition on disk only.
#[derive(Debug, Default)]
pub struct Shelf {
    /// Whether there are hosts that are not in memory (SHELF-1).
    is_open: bool,
    /// When a look is worth it (SHELF-2).
    turn: Option<Millis>,
    /// Arrivals since the last checkpoint.
    fresh: Vec<u8>,
    /// Those of the checkpoint that is being written: the last of `rows`.
    saving: Option<Row>,
    /// Rows of arrivals, and their bytes.
    rows: Range<u32>,
    row_bytes: u64,
    /// Rows whose arrivals were taken, to be removed by the next checkpoint.
    taken: Range<u32>,
}

/// A shelf as the checkpoint holds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ShelfRow {
    /// Whether there were hosts that were not in memory.
    pub is_open: bool,
    turn: Option<Millis>,
    rows: Range<u32>,
    row_bytes: u64,
}

impl Shelf {
    fn bytes(&self) -> u64 {
        self.row_bytes + self.fresh.len() as u64
    }

    fn has_arrivals(&self) -> bool {
        !self.fresh.is_empty() || !self.rows.is_empty()
    }
}

/// The shelves of all partitions.
#[derive(Debug)]
pub struct Shelves {
    shelves: Vec<Shelf>,
    by_turn: BTreeSet<(Millis, u16)>,
    /// Partitions with more arrivals than they may have.
    overfull: BTreeSet<u16>,
    bytes_max: u64,
}

impl Shelves {
    /// Nothing on disk. `bytes_max` is how much may arrive for a partition before it is sorted out.
    pub fn new(bytes_max: u64) -> Self {
        let shelves = (0..PARTITIONS).map(|_| Shelf::default()).collect();
        Self { shelves, by_turn: BTreeSet::new(), overfull: BTreeSet::new(), bytes_max }
    }

    /// Takes a checkpoint's word for them.
    pub fn restore(&mut self, rows: Vec<(u16, ShelfRow)>) {
        for (partition, ShelfRow { turn, rows, row_bytes, .. }) in rows {
            let shelf = self.shelf_mut(partition);
            let taken = rows.start..rows.start;
            *shelf = Shelf { is_open: true, rows, row_bytes, taken, ..Shelf::default() };
            self.set_turn(partition, turn);
        }
    }

    fn shelf(&self, partition: u16) -> &Shelf {
        &self.shelves[usize::from(partition % PARTITIONS)]
    }

    fn shelf_mut(&mut self, partition: u16) -> &mut Shelf {
        &mut self.shelves[usize::from(partition % PARTITIONS)]
    }

    /// Whether all hosts of a partition that were ever heard of are in memory.
    pub fn is_whole(&self, partition: u16) -> bool {
        !self.shelf(partition).is_open
    }

    /// A host of this partition is on disk only from now on; its turn comes at `turn`, if ever.
    pub fn open(&mut self, partition: u16, turn: Option<Millis>) {
        self.shelf_mut(partition).is_open = true;
        self.look_by(partition, turn);
    }

    /// Everything of this partition is in memory.
    pub fn close(&mut self, partition: u16) {
        debug_assert!(!self.shelf(partition).has_arrivals(), "SHELF-1: nothing is left behind");
        self.shelf_mut(partition).is_open = false;
        self.set_turn(partition, None);
    }

    /// Somebody of this partition has something to do at `turn`.
    pub fn look_by(&mut self, partition: u16, turn: Option<Millis>) {
        let earliest = [turn, self.shelf(partition).turn].into_iter().flatten().min();
        self.set_turn(partition, earliest);
    }

    /// Has every partition looked at that has hosts on disk: who may be asked has changed.
    pub fn look_at_all(&mut self) {
        for partition in 0..PARTITIONS {
            if !self.is_whole(partition) {
                self.look_by(partition, Some(Millis(0)));
            }
        }
    }

    /// Sets the turn of a partition, after a look.
    pub fn set_turn(&mut self, partition: u16, turn: Option<Millis>) {
        let before = std::mem::replace(&mut self.shelf_mut(partition).turn, turn);
        before.map(|turn| self.by_turn.remove(&(turn, partition)));
        turn.map(|turn| self.by_turn.insert((turn, partition)));
    }

    /// The partition whose turn comes first.
    pub fn first(&self) -> Option<(Millis, u16)> {
        self.by_turn.first().copied()
    }

    /// Puts a URL of a host that is not in memory among the arrivals.
    pub fn arrive(&mut self, partition: u16, seq: u64, packed: &[u8]) {
        let bytes_max = self.bytes_max;
        let shelf = self.shelf_mut(partition);
        debug_assert!(shelf.is_open, "SHELF-1: nothing arrives for a partition that is whole");
        pack::put_entry(&mut shelf.fresh, seq, packed);
        if shelf.bytes() > bytes_max {
            self.overfull.insert(partition);
        }
        if self.shelf(partition).turn != Some(Millis(0)) {
            self.set_turn(partition, Some(Millis(0)));
        }
    }

    /// A partition whose arrivals have to be sorted out.
    pub fn pop_overfull(&mut self) -> Option<u16> {
        self.overfull.pop_first()
    }

    /// The arrivals of a partition, in the order in which they came.
    pub fn arrivals(&self, partition: u16, store: &Store) -> Result<Vec<Row>> {
        let shelf = self.shelf(partition);
        if !shelf.has_arrivals() {
            return Ok(Vec::new());
        }
        let stored = shelf.rows.start..shelf.rows.end - u32::from(shelf.saving.is_some());
        let mut lists = store.arrivals(partition, stored)?;
        lists.extend(shelf.saving.clone());
        lists.push(shelf.fresh.as_slice().into());
        Ok(lists)
    }

    /// The hosts have taken all arrivals of this partition.
    pub fn taken(&mut self, partition: u16) {
        self.overfull.remove(&partition);
        let shelf = self.shelf_mut(partition);
        shelf.fresh = Vec::new();
        shelf.saving = None;
        shelf.row_bytes = 0;
        shelf.taken = shelf.taken.start..shelf.rows.end;
        shelf.rows.start = shelf.rows.end;
    }

    /// Adds what arrived, and what was taken, to what a checkpoint has to write.
    pub fn gather(&mut self, gathered: &mut Gathered) {
        for (partition, shelf) in (0..).zip(&mut self.shelves) {
            let taken = shelf.taken.clone().map(|number| (partition, number));
            gathered.taken_arrivals.extend(taken);
            if !shelf.fresh.is_empty() {
                let list = Row::from(std::mem::take(&mut shelf.fresh));
                gathered.arrivals.push((partition, shelf.rows.end, list.clone()));
                shelf.rows.end += 1;
                shelf.row_bytes += list.len() as u64;
                shelf.saving = Some(list);
            }
            shelf.taken = shelf.rows.start..shelf.rows.start;
        }
    }

    /// The checkpoint is written.
    pub fn checkpointed(&mut self) {
        self.shelves.iter_mut().for_each(|shelf| shelf.saving = None);
    }

    /// All shelves as the checkpoint holds them: as if nobody were in memory. `in_memory` has each
    /// partition of which there is somebody, and whether anything waits for them.
    pub fn to_rows(&self, in_memory: &BTreeMap<u16, bool>) -> Vec<(u16, ShelfRow)> {
        let mut rows = Vec::new();
        for (partition, shelf) in (0..).zip(&self.shelves) {
            let waits = in_memory.get(&partition);
            if !shelf.is_open && waits.is_none() {
                continue;
            }
            let turn = if waits == Some(&true) { Some(Millis(0)) } else { shelf.turn };
            let Shelf { is_open, row_bytes, .. } = *shelf;
            rows.push((partition, ShelfRow { is_open, turn, rows: shelf.rows.clone(), row_bytes }));
        }
        rows
    }
}
