//! The writer: one thread that owns the sinks, settles leases, and commits in groups (steps 11 and 12).
//!
//! For each job: the sinks write, then the frontier settles. At most `commit_ms_max` after the first
//! job that is not yet durable, a commit begins: what the sinks were given is handed to the operating
//! system, and what was settled is sealed. Another thread then syncs the sinks, and only then writes the
//! seal to the log and syncs it, while this one goes on: hosts do not wait for the disk. In this order a
//! crash at any instant leaves a log that speaks only of what the archive holds, and recovery cuts the
//! archive back to it.
//!
//! One commit at a time, and none during a checkpoint. Only this thread settles, so nothing is settled
//! between a commit and the checkpoint that follows it.
//!
//! An error of disk or log ends the writer, and with it the crawl: nothing is settled that is not kept.

use std::sync::Arc;
use std::time::Duration;

use larm_core::{Limits, Millis};
use tokio::sync::{Notify, mpsc};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::fetch::Reservation;
use crate::frontier::{Fate, Lease, Sealed, Settlement, SharedFrontier};
use crate::store::{Chain, Encoded, FlushedChain, Visit};

/// Jobs that are settled at a time, with one hold of the frontier.
const BATCH_JOBS: usize = 64;

/// One lease to settle, and what is to be written first.
pub struct Job {
    /// The lease.
    pub lease: Lease,
    /// How it ended.
    pub settlement: Settlement,
    /// What the sinks write, encoded.
    pub kept: Option<(Vec<Encoded>, Visit)>,
    /// The body's place in memory, held until its bytes are written.
    pub place: Reservation,
}

/// The thread's own state.
pub struct Writer {
    chain: Chain,
    frontier: SharedFrontier,
    inbox: mpsc::Receiver<Job>,
    wake: Arc<Notify>,
    limits: Arc<Limits>,
    clock: Clock,
    /// The commit under way.
    commit: Option<JoinHandle<Result<()>>>,
    /// When the next one is to begin, if there is something to commit.
    commit_at: Option<Millis>,
    /// Up to here the time of work is noted.
    worked_until: Millis,
}

impl Writer {
    /// A writer for these sinks, which settles in `frontier` what comes from `inbox`, and wakes the
    /// engine after that.
    pub fn new(
        chain: Chain,
        frontier: SharedFrontier,
        inbox: mpsc::Receiver<Job>,
        wake: Arc<Notify>,
        limits: Arc<Limits>,
        clock: Clock,
    ) -> Self {
        let worked_until = clock.now();
        let (commit, commit_at) = (None, None);
        Self { chain, frontier, inbox, wake, limits, clock, commit, commit_at, worked_until }
    }

    /// Makes the start of this run and its seeds durable, before anything is asked for. So a run that
    /// is killed in its first moments is known to the next one, which gives the hosts a full gap.
    pub fn begin(&mut self) -> Result<()> {
        self.worked_until = self.clock.now();
        self.commit_now()
    }

    /// Works until all senders are gone, then commits and closes the sinks.
    pub async fn run(mut self) -> Result<()> {
        let mut jobs = Vec::with_capacity(BATCH_JOBS);
        while self.receive(&mut jobs).await {
            self.settle(&mut jobs)?;
            self.look_after_commit().await?;
        }
        self.close().await
    }

    /// Takes what has come, or waits for it until there is something else to do. False at the end.
    async fn receive(&mut self, jobs: &mut Vec<Job>) -> bool {
        let ms = match self.commit_at {
            // The next one waits for the one under way; its end is looked for as often as one begins.
            Some(at) if self.commit.is_none() => at.since(self.clock.now()),
            _ => self.limits.commit_ms_max,
        };
        let received = self.inbox.recv_many(jobs, BATCH_JOBS);
        timeout(Duration::from_millis(ms), received).await != Ok(0)
    }

    fn settle(&mut self, jobs: &mut Vec<Job>) -> Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let written = jobs.drain(..).map(|job| write(&mut self.chain, job));
        let written: Vec<(Lease, Settlement)> = written.collect::<Result<_>>()?;
        let mut frontier = self.frontier.hold()?;
        for (lease, settlement) in written {
            frontier.settle(lease, settlement)?;
        }
        drop(frontier);
        self.wake.notify_one();
        let due = self.clock.now().after(self.limits.commit_ms_max);
        self.commit_at.get_or_insert(due);
        Ok(())
    }

    /// Ends the commit under way if it is done, and begins the next if it is due.
    async fn look_after_commit(&mut self) -> Result<()> {
        let now = self.clock.now();
        let (unsealed, wants_checkpoint) = {
            let frontier = self.frontier.look();
            (frontier.is_unsealed(), frontier.wants_checkpoint(now))
        };
        // A slow disk holds up the crawl only when there is a checkpoint's worth of work behind it.
        let under_way = self.commit.as_ref().is_some_and(|commit| !commit.is_finished());
        if under_way && !wants_checkpoint {
            return Ok(());
        }
        self.finish_commit().await?;
        if wants_checkpoint {
            return self.checkpoint(now);
        }
        // Nothing was settled for a while, but a setting may have been changed.
        let idle = self.commit_at.is_none() && unsealed;
        if idle || self.commit_at.is_some_and(|at| at <= now) {
            let commit = self.begin_commit()?;
            self.commit = Some(spawn_blocking(|| commit.sync()));
        }
        Ok(())
    }

    async fn finish_commit(&mut self) -> Result<()> {
        let Some(commit) = self.commit.take() else { return Ok(()) };
        commit.await.unwrap_or_else(|_| Err(Error::Stopped("a commit panicked".to_owned())))
    }

    /// Everything settled so far, ready to be made durable.
    fn begin_commit(&mut self) -> Result<Commit> {
        let now = self.clock.now();
        let worked_ms = now.since(std::mem::replace(&mut self.worked_until, now));
        self.commit_at = None;
        let flushed = self.chain.flush_all()?;
        let mut frontier = self.frontier.hold()?;
        frontier.worked(worked_ms)?;
        let sealed = frontier.seal(flushed.positions.clone())?;
        Ok(Commit { flushed, sealed })
    }

    fn commit_now(&mut self) -> Result<()> {
        self.begin_commit()?.sync()
    }

    fn checkpoint(&mut self, now: Millis) -> Result<()> {
        self.commit_now()?;
        self.frontier.hold()?.checkpoint(now)?;
        // It may have made room for hosts that wait on disk.
        self.wake.notify_one();
        Ok(())
    }

    async fn close(mut self) -> Result<()> {
        self.finish_commit().await?;
        self.commit_now()?;
        let positions = self.chain.finish()?;
        let mut frontier = self.frontier.hold()?;
        if let Some(sealed) = frontier.seal(positions)? {
            sealed.sync()?;
        }
        frontier.checkpoint(self.clock.now())
    }
}

/// The sinks write, so that the lease may be settled.
fn write(chain: &mut Chain, job: Job) -> Result<(Lease, Settlement)> {
    let Job { lease, mut settlement, kept, place } = job;
    if let Some((encoded, visit)) = kept {
        let kept = chain.write_all(&visit, encoded)?;
        if let Fate::Done(row) = &mut settlement.fate {
            row.warc = kept.warc;
        }
    }
    drop(place);
    Ok((lease, settlement))
}

/// What is to be made durable together.
struct Commit {
    flushed: FlushedChain,
    sealed: Option<Sealed>,
}

impl Commit {
    /// The sinks first, then the log that speaks of them.
    fn sync(self) -> Result<()> {
        self.flushed.sync()?;
        self.sealed.map_or(Ok(()), Sealed::sync)
    }
}
