//! Opening the frontier: the last checkpoint, and on top of it what the log holds beyond.
//!
//! A crawl of few hosts takes all of them into memory. One of many reads a single row, and leaves its
//! hosts on disk until their turn comes or the log speaks of them.
//!
//! Also where every host learns that the crawl was away: when it was last asked is not known for
//! certain, so it waits one full gap.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use larm_core::url::Fingerprint;
use larm_core::workbench::{Pace, Workbench};
use larm_core::{Limits, Millis};

use super::DiskFrontier;
use crate::disk::{Disk, RealDisk};
use crate::error::Result;
use crate::frontier::batch::{Assembler, Batch, Pending};
use crate::frontier::log::{Log, LogPosition};
use crate::frontier::near::Near;
use crate::frontier::pack::Packs;
use crate::frontier::piles::Piles;
use crate::frontier::record::Record;
use crate::frontier::shelf::ShelfId;
use crate::frontier::sieve::Sieve;
use crate::frontier::state::State;
use crate::frontier::store::{Meta, Store};
use crate::frontier::{Budgets, Positions};

/// A frontier, and what recovery found.
pub struct Opened {
    /// The frontier.
    pub frontier: DiskFrontier,
    /// How far the sinks are to be cut back.
    pub positions: Positions,
    /// Settings changed in earlier runs.
    pub settings: Vec<(String, String)>,
    /// Whether there was a crawl before.
    pub resumed: bool,
    /// Records replayed from the log.
    pub replayed: u64,
}

impl DiskFrontier {
    /// Opens the frontier in `dir`, or begins a new one, and replays what the last checkpoint lacks.
    pub fn open(dir: &Path, limits: &Arc<Limits>, pace: Pace, now: Millis) -> Result<Opened> {
        Self::open_on(Arc::new(RealDisk), dir, limits, pace, now)
    }

    /// [`DiskFrontier::open`] with log and seen set on a given disk. The store is always on the real
    /// one: it brings its own files.
    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        dir: &Path,
        limits: &Arc<Limits>,
        pace: Pace,
        now: Millis,
    ) -> Result<Opened> {
        let store = Arc::new(Store::open(&dir.join("store"))?);
        let meta = store.meta()?;
        let (log, _tail) = Log::open_on(disk.clone(), &dir.join("log"), limits)?;
        let runs = meta.as_ref().map(|meta| meta.runs.clone()).unwrap_or_default();
        let piles = meta.as_ref().map(|meta| meta.piles.clone()).unwrap_or_default();
        let piles = Piles::open(disk.clone(), &dir.join("arrivals"), &piles)?;
        let names = meta.as_ref().map(|meta| meta.near.clone()).unwrap_or_default();
        let near = Near::open_on(disk.clone(), &dir.join("near"), &names, limits)?;
        let frontier = Self {
            sieve: Sieve::open_on(disk, &dir.join("seen"), &runs, limits)?,
            state: State::new((store.clone(), piles, near.index()), limits.clone(), pace, now),
            near,
            limits: limits.clone(),
            log: Arc::new(Mutex::new(log)),
            store,
            bench: Workbench::new(pace),
            budgets: Budgets::default(),
            paused: HashSet::new(),
            pending: Pending::default(),
            positions: Vec::new(),
            nameless: BTreeSet::new(),
            resolving: HashSet::new(),
            draining: BTreeSet::new(),
            held_bytes: 0,
            unlisted: false,
            checkpointing: false,
            leases: 0,
            leased_pages: 0,
            turns: 0,
            now,
            checkpoint_at: now.after(limits.checkpoint_ms_max),
            #[cfg(test)]
            refused: Vec::new(),
            #[cfg(test)]
            shed: Vec::new(),
            #[cfg(test)]
            moved: Vec::new(),
        };
        frontier.recover(meta)
    }

    fn recover(mut self, meta: Option<Meta>) -> Result<Opened> {
        let from = match meta {
            Some(meta) => self.restore(meta)?,
            None => LogPosition(0),
        };
        let replayed = self.replay(from)?;
        self.state.recovered();
        self.check_arrivals()?;
        self.seat_all();
        let resumed = self.state.totals.started.is_some();
        self.record(Record::Started(self.now))?;
        Ok(Opened {
            positions: self.positions.clone(),
            settings: self.state.settings.clone().into_iter().collect(),
            resumed,
            replayed,
            frontier: self,
        })
    }

    /// Takes the last checkpoint's word for the state, and says where the log goes on.
    fn restore(&mut self, meta: Meta) -> Result<LogPosition> {
        self.state.totals = meta.totals;
        self.state.next_seq = meta.next_seq;
        self.state.settings = meta.settings.into_iter().collect();
        self.positions = meta.positions;
        self.state.waiting = meta.waiting;
        self.state.aliases.restore(meta.aliases);
        let shelves: Vec<ShelfId> = meta.shelves.iter().map(|(shelf, _)| *shelf).collect();
        let all_fitted = meta.shelves.iter().all(|(_, shelf)| !shelf.is_open);
        self.state.shelves.restore(meta.shelves);
        if all_fitted && self.state.totals.hosts <= self.limits.hosts_memory_max {
            shelves.into_iter().try_for_each(|shelf| self.bring_in_all(shelf))?;
        } else {
            self.unlisted = true;
        }
        Ok(meta.position)
    }

    fn replay(&mut self, from: LogPosition) -> Result<u64> {
        let log = self.log.clone();
        let log = log.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut assembler = Assembler::default();
        let mut records = 0;
        for entry in log.replay(from)? {
            let (_, entry) = entry?;
            if let Some(batch) = assembler.add(&entry)? {
                records += batch.records.len() as u64;
                self.replay_batch(batch)?;
            }
        }
        Ok(records)
    }

    fn replay_batch(&mut self, batch: Batch) -> Result<()> {
        for record in batch.records {
            self.remember(&record)?;
            self.state.apply(record)?;
        }
        // All hosts are seated anew in the end: nobody has to hear of a change.
        self.state.sites.take_changes();
        self.positions = batch.positions;
        Ok(())
    }

    /// Puts the URLs of a replayed record into the seen set.
    fn remember(&mut self, record: &Record) -> Result<()> {
        let none = Packs::default();
        let items = match record {
            Record::Offered { items, .. } => items,
            Record::Settled(settled) => &settled.offers,
            Record::Adopted(adopted) => {
                self.sieve.insert(&[Fingerprint::of(&adopted.row.url).0])?;
                &adopted.offers
            }
            _ => &none,
        };
        let sieved = items.iter().filter(|packed| packed.is_sieved());
        let fingerprints: Vec<u64> = sieved.map(|packed| Fingerprint::of(packed.url).0).collect();
        self.sieve.insert(&fingerprints).map(|_| ())
    }
}
