//! Making it durable: group commits to the log, checkpoints to the store.

use std::sync::{Arc, Mutex, PoisonError};

use larm_core::workbench::HostKey;

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::Positions;
use crate::frontier::log::{Log, LogPosition};
use crate::frontier::sieve::RunName;
use crate::frontier::store::{BlockKey, Checkpoint, Meta};

/// A batch that is in the log's buffer, to be synced without holding the frontier.
pub struct Sealed(Arc<Mutex<Log>>);

impl Sealed {
    /// Makes the batch durable. A failure here is final: the log refuses everything after it.
    pub fn sync(self) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).sync().map(|_| ())
    }
}

impl DiskFrontier {
    pub(super) fn seal_pending(&mut self, positions: Positions) -> Result<Option<Sealed>> {
        self.positions = positions;
        if self.pending.is_empty() {
            return Ok(None);
        }
        let entries = self.pending.seal(&self.positions, &self.limits);
        let mut log = self.log();
        entries.iter().try_for_each(|entry| log.append(entry).map(|_| ()))?;
        drop(log);
        Ok(Some(Sealed(self.log.clone())))
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
            for (origin, changes) in host.checkpoint(&self.limits) {
                let at = |block| BlockKey { partition, host: key, origin, block };
                changes.write.iter().for_each(|(block, items)| batch.put_block(at(*block), items));
                changes.remove.iter().for_each(|block| batch.remove_block(at(*block)));
            }
            batch.put_host(partition, key, &host.to_row(run));
            host.changed = false;
        }
    }
}
