//! Making it durable: group commits to the log, checkpoints to the store.

use std::sync::{Arc, Mutex, PoisonError};

use larm_core::workbench::HostKey;

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::Positions;
use crate::frontier::log::{Log, LogPosition};
use crate::frontier::sieve::RunName;
use crate::frontier::store::{BlockKey, Checkpoint, Meta};

/// A batch on its way to the log, to be written without holding the frontier, and before the next.
#[must_use = "what is sealed is in no other batch"]
pub struct Sealed {
    log: Arc<Mutex<Log>>,
    entries: Vec<Vec<u8>>,
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
        self.entries.iter().try_for_each(|entry| log.append(entry).map(|_| ()))
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

    /// Writes the state to the store, and only then cuts the log and the seen set behind it.
    pub(super) fn write_checkpoint(&mut self) -> Result<()> {
        assert!(!self.pending.holds_settlements(), "FRONT-3: what is settled is sealed first");
        if let Some(sealed) = self.seal_pending(self.positions.clone())? {
            sealed.sync()?;
        }
        let position = self.log().sync()?;
        let runs = self.sieve.checkpoint()?;
        self.write_state(position, runs)?;
        self.state.checkpointed();
        self.sieve.forget_superseded()?;
        self.log().cut_before(position)
    }

    fn write_state(&mut self, position: LogPosition, runs: Vec<RunName>) -> Result<()> {
        let store = self.store.clone();
        let mut batch = store.batch();
        self.write_hosts(&mut batch);
        let mut pages: Vec<_> = self.state.pages.iter().collect();
        pages.sort_unstable_by_key(|(fingerprint, (partition, _))| (*partition, **fingerprint));
        for (fingerprint, (partition, row)) in pages {
            batch.put_page(*partition, *fingerprint, row);
        }
        self.state.digests.iter().for_each(|(digest, first)| batch.put_original(digest, first));
        self.state.robots.values().for_each(|row| batch.put_robots(row));
        batch.commit(&Meta {
            position,
            runs,
            positions: self.positions.clone(),
            next_seq: self.state.next_seq,
            totals: self.state.totals.clone(),
            settings: self.state.settings.clone().into_iter().collect(),
        })
    }

    fn write_hosts(&mut self, batch: &mut Checkpoint<'_>) {
        let changed = self.state.hosts.iter().filter(|(_, host)| host.changed);
        let mut changed: Vec<HostKey> = changed.map(|(key, _)| *key).collect();
        changed.sort_unstable();
        let run = self.state.run_started;
        for key in changed {
            let Some(host) = self.state.hosts.get_mut(&key) else { continue };
            let partition = host.partition;
            let at = |origin, block| BlockKey { partition, host: key, origin, block };
            let removed = host.checkpoint(&self.limits, |origin, block, items| {
                batch.put_block(at(origin, block), items);
            });
            removed.into_iter().for_each(|(o, block)| batch.remove_block(at(o, block)));
            batch.put_host(partition, key, &host.to_row(run));
            host.changed = false;
        }
    }
}
