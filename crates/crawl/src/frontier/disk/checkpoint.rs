//! Making it durable: group commits to the log, checkpoints to the store.

use std::sync::{Arc, Mutex, PoisonError};

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::batch::Entries;
use crate::frontier::log::Log;
use crate::frontier::state::Gathered;
use crate::frontier::store::{Meta, Store};
use crate::frontier::{Positions, near, piles, sieve};

/// A batch on its way to the log, to be written without holding the frontier, and before the next.
#[must_use = "what is sealed is in no other batch"]
pub struct Sealed {
    log: Arc<Mutex<Log>>,
    entries: Entries,
}

impl Sealed {
    /// Writes the batch and makes it durable. A failure here is final: the log refuses everything after
    /// it. Until then nothing of it is on disk, so that the sinks can be synced before.
    pub fn sync(self) -> Result<()> {
        self.write()?;
        self.log.lock().unwrap_or_else(PoisonError::into_inner).sync().map(|_| ())
    }

    /// Writes the batch: from here on a crash may keep it or not.
    pub(crate) fn write(&self) -> Result<()> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        self.entries.iter().try_for_each(|pieces| log.append_pieces(&pieces).map(|_| ()))
    }
}

impl DiskFrontier {
    pub(super) fn seal_pending(&mut self, positions: Positions) -> Result<Option<Sealed>> {
        self.note_positions(positions);
        if self.pending.is_empty() {
            return Ok(None);
        }
        let entries = self.pending.seal(&self.positions, &self.limits);
        Ok(Some(Sealed { log: self.log.clone(), entries }))
    }

    /// A sink that is not part of this run keeps its place: it may be back in the next.
    fn note_positions(&mut self, positions: Positions) {
        for (name, position) in positions {
            match self.positions.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = position,
                None => self.positions.push((name, position)),
            }
        }
    }

    /// Writes what is pending and has nothing to do with the sinks.
    fn log_pending(&mut self) -> Result<()> {
        self.seal_pending(self.positions.clone())?.map_or(Ok(()), |sealed| sealed.write())
    }

    /// Takes everything that a checkpoint has to write. Until that is written, whoever asks for any of it
    /// finds it in memory.
    pub(super) fn gather_checkpoint(&mut self) -> Result<Checkpoint> {
        assert!(!self.pending.holds_settlements(), "FRONT-3: what is settled is sealed first");
        assert!(!self.checkpointing, "one checkpoint at a time");
        self.checkpointing = true;
        self.log_pending()?;
        let gathered = self.state.gather();
        let meta = Meta {
            position: self.log().end(),
            runs: Vec::new(),
            piles: Vec::new(),
            near: near::Names::default(),
            aliases: self.state.aliases.to_meta(),
            positions: self.positions.clone(),
            next_seq: self.state.next_seq,
            waiting: self.state.waiting,
            shelves: self.state.shelves.to_rows(&self.state.shelves_in_memory()),
            totals: self.state.totals.clone(),
            settings: self.state.settings.clone().into_iter().collect(),
        };
        let arrivals = self.state.shelves.gather(self.state.next_seq);
        let seen = self.sieve.begin_checkpoint()?;
        let near = self.near.begin_checkpoint()?;
        let (log, store) = (self.log.clone(), self.store.clone());
        Ok(Checkpoint { log, store, seen, near, arrivals, gathered, meta })
    }

    /// The checkpoint is durable: forgets what it holds, and cuts the seen set behind it.
    pub(super) fn finish_checkpoint(&mut self, written: Written) -> Result<()> {
        self.checkpointing = false;
        self.state.checkpointed(written.arrivals);
        self.near.end_checkpoint(written.near)?;
        let superseded = written.seen.supersedes();
        self.sieve.end_checkpoint(written.seen);
        if superseded { self.sieve.forget_superseded() } else { Ok(()) }
    }
}

/// A checkpoint, to be written without holding the frontier.
pub struct Checkpoint {
    log: Arc<Mutex<Log>>,
    store: Arc<Store>,
    seen: sieve::Saving,
    near: near::Saving,
    arrivals: piles::Saving,
    gathered: Gathered,
    meta: Meta,
}

impl Checkpoint {
    /// Makes it durable: the log, the runs of the seen set and of the index of near-duplicates, the piles
    /// of arrivals, then the store in one batch; and only then cuts the log. A failure here is final: the frontier takes no other checkpoint.
    pub fn write(mut self) -> Result<Written> {
        let log = || self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log().sync()?;
        let seen = self.seen.write()?;
        self.meta.runs = seen.names();
        let near = self.near.write()?;
        self.meta.near = near.names();
        let arrivals = self.arrivals.write()?;
        self.meta.piles = arrivals.names();
        self.gathered.into_batch(&self.store).commit(&self.meta)?;
        log().cut_before(self.meta.position)?;
        Ok(Written { seen, near, arrivals })
    }
}

/// A checkpoint that is durable, for the frontier to take note of.
pub struct Written {
    seen: sieve::Saved,
    near: near::Saved,
    arrivals: piles::Saved,
}
