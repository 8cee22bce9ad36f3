//! The writer: one thread that owns the sinks, settles leases, and commits in groups (steps 11 and 12).
//!
//! For each job: the sinks write, then the frontier settles. At most `commit_ms_max` after the first
//! job that is not yet durable: the sinks sync, then the log. In this order a crash at any instant leaves
//! a log that speaks only of what the archive holds, and recovery cuts the archive back to it. Only
//! this thread settles, so nothing is settled between the sync and the checkpoint that may follow it.
//!
//! A checkpoint is written on a thread of its own, one at a time, while settling goes on. When the next is
//! due before it is written, settling waits for it: so memory is bounded by two.
//!
//! An error of disk or log ends the writer, and with it the crawl: nothing is settled that is not kept.

use std::sync::Arc;
use std::time::Duration;

use larm_core::{Limits, Millis};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::fetch::Reservation;
use crate::frontier::{Fate, Lease, Sealed, Settlement, SharedFrontier, Written};
use crate::store::{Chain, Encoded, Visit};

/// One lease to settle, and what is to be written first.
pub struct Job {
    /// The lease.
    pub lease: Lease,
    /// How it ended.
    pub settlement: Settlement,
    /// What the sinks write, encoded.
    pub kept: Option<(Vec<Encoded>, Visit)>,
    /// A large body's place in memory, held until its bytes are written.
    pub place: Option<Reservation>,
}

/// The thread's own state.
pub struct Writer {
    /// The sinks.
    pub chain: Chain,
    /// All that waits.
    pub frontier: SharedFrontier,
    /// Jobs from the line.
    pub inbox: mpsc::Receiver<Job>,
    /// Wakes the engine after each settlement.
    pub wake: Arc<Notify>,
    /// The maxima.
    pub limits: Arc<Limits>,
    /// Time.
    pub clock: Clock,
}

impl Writer {
    /// Makes the start of this run and its seeds durable, before anything is asked for. So a run that
    /// is killed in its first moments is known to the next one, which gives the hosts a full gap.
    pub fn begin(&mut self) -> Result<()> {
        self.commit(0)
    }

    /// Works until all senders are gone, then commits and closes the sinks.
    pub async fn run(mut self) -> Result<()> {
        let mut checkpoint = None;
        let worked = self.work(&mut checkpoint).await;
        // Whatever happened, nothing is written any more when this returns.
        let written = match checkpoint {
            Some(checkpoint) => self.end_checkpoint(checkpoint).await,
            None => Ok(()),
        };
        let worked_from = worked?;
        written?;
        self.close(worked_from)
    }

    /// Settles and commits until all senders are gone, and says when it last committed.
    async fn work(&mut self, checkpoint: &mut Option<Checkpointing>) -> Result<Millis> {
        let mut worked_from = self.clock.now();
        let mut commit_at: Option<Millis> = None;
        loop {
            match self.next_job(commit_at).await {
                Next::Job(job) => {
                    self.settle(*job)?;
                    let due = self.clock.now().after(self.limits.commit_ms_max);
                    commit_at = commit_at.or(Some(due));
                }
                // Nothing is settled for a while, but a setting was changed, or the frontier waits for
                // just a checkpoint.
                Next::Nothing if commit_at.is_none() && self.wants_commit() => {
                    commit_at = Some(self.clock.now());
                }
                Next::Nothing => {}
                Next::End => return Ok(worked_from),
            }
            if let Some(written) = checkpoint.take_if(|writing| writing.is_finished()) {
                self.end_checkpoint(written).await?;
            }
            let now = self.clock.now();
            if commit_at.is_some_and(|at| at <= now) {
                self.commit(now.since(worked_from))?;
                (worked_from, commit_at) = (now, None);
                self.begin_checkpoint(checkpoint).await?;
            }
        }
    }

    async fn next_job(&mut self, commit_at: Option<Millis>) -> Next {
        let ms = commit_at.map_or(self.limits.commit_ms_max, |at| at.since(self.clock.now()));
        match timeout(Duration::from_millis(ms), self.inbox.recv()).await {
            Ok(Some(job)) => Next::Job(Box::new(job)),
            Ok(None) => Next::End,
            Err(_) => Next::Nothing,
        }
    }

    fn wants_commit(&self) -> bool {
        let frontier = self.frontier.look();
        frontier.is_unsealed() || frontier.wants_checkpoint(self.clock.now())
    }

    fn settle(&mut self, job: Job) -> Result<()> {
        let Job { lease, mut settlement, kept, place } = job;
        if let Some((encoded, visit)) = kept {
            let kept = self.chain.write_all(&visit, encoded)?;
            if let Fate::Done(row) = &mut settlement.fate {
                row.warc = kept.warc;
            }
        }
        drop(place);
        let mut frontier = self.frontier.hold()?;
        frontier.settle(lease, settlement)?;
        drop(frontier);
        self.wake.notify_one();
        Ok(())
    }

    fn commit(&mut self, worked_ms: u64) -> Result<()> {
        let positions = self.chain.sync_all()?;
        let mut frontier = self.frontier.hold()?;
        frontier.worked(worked_ms)?;
        let sealed = frontier.seal(positions)?;
        drop(frontier);
        sealed.map_or(Ok(()), Sealed::sync)
    }

    /// Begins a checkpoint if one is due. The frontier is held while it is gathered, and not while it is
    /// written: leasing and settling go on.
    async fn begin_checkpoint(&mut self, checkpoint: &mut Option<Checkpointing>) -> Result<()> {
        let now = self.clock.now();
        if !self.frontier.hold()?.wants_checkpoint(now) {
            return Ok(());
        }
        if let Some(earlier) = checkpoint.take() {
            return self.end_checkpoint(earlier).await;
        }
        if let Some(gathered) = self.frontier.hold()?.begin_checkpoint(now)? {
            *checkpoint = Some(tokio::task::spawn_blocking(|| gathered.write()));
        }
        Ok(())
    }

    async fn end_checkpoint(&mut self, checkpoint: Checkpointing) -> Result<()> {
        let panicked = |_| Error::Stopped("larm has a bug: a checkpoint panicked".to_owned());
        let written = checkpoint.await.map_err(panicked)??;
        self.frontier.hold()?.end_checkpoint(written, self.clock.now())?;
        // It may have made room for hosts that wait on disk.
        self.wake.notify_one();
        Ok(())
    }

    fn close(mut self, worked_from: Millis) -> Result<()> {
        let now = self.clock.now();
        self.commit(now.since(worked_from))?;
        let positions = self.chain.finish()?;
        let mut frontier = self.frontier.hold()?;
        if let Some(sealed) = frontier.seal(positions)? {
            sealed.sync()?;
        }
        frontier.checkpoint(now)
    }
}

/// A checkpoint that is being written.
type Checkpointing = JoinHandle<Result<Written>>;

enum Next {
    Job(Box<Job>),
    Nothing,
    End,
}
