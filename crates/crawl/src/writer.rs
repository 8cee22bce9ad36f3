//! The writer: one task that owns the sinks, settles leases, and commits in groups (steps 11 and 12).
//!
//! For each job: the sinks write, then the frontier settles. At most `commit_ms_max` after the first
//! job that is not yet durable, a commit begins: what the sinks were given is handed to the operating
//! system, and what was settled is sealed. A thread then syncs the sinks, and only then writes the
//! seal to the log and syncs it, while the writer goes on: hosts do not wait for the disk. In this order a
//! crash at any instant leaves a log that speaks only of what the archive holds, and recovery cuts the
//! archive back to it.
//!
//! One commit at a time, and one checkpoint, which is gathered right behind a commit and written by
//! a thread, too. Only the writer settles, so nothing is settled between the two. When the next
//! checkpoint is due before one is written, settling waits for it: memory is bounded by two. It also waits while
//! a sink is too far behind. Whatever takes longer than to append bytes is done on a thread, and awaited.
//!
//! An error of disk or log ends the writer, and with it the crawl: nothing is settled that is not kept.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use larm_core::{Limits, Lookup, Millis};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::fetch::Reservation;
use crate::frontier::{Fate, Lease, Sealed, Settlement, Written};
use crate::handle::Shared;
use crate::order::unread::Mark;
use crate::order::{News, NewsDesk, Told};
use crate::readings;
use crate::store::{Chain, Encoded, FlushedChain, Visit};

/// Jobs that are settled at a time, with one hold of the frontier.
const BATCH_JOBS: usize = 64;

/// What the writer is asked to do.
pub enum Work {
    /// Write what came of a lease, and settle it.
    Settle(Box<Job>),
    /// Write what name servers said. There is no lease yet: after a crash they are asked again.
    Keep(Box<Lookup>),
}

impl Work {
    /// To settle a lease.
    pub fn settle(job: Job) -> Self {
        Self::Settle(Box::new(job))
    }
}

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
    /// Where the page leads, if the order of pages depends on that.
    pub told: Option<Told>,
    /// Dropped when the page was read, if the order of pages depends on that.
    pub unread: Option<Mark>,
}

/// The task's own state.
pub struct Writer {
    chain: Chain,
    /// The lock on the directory, kept by whoever may still write.
    directory: Option<Arc<Directory>>,
    shared: Arc<Shared>,
    inbox: mpsc::Receiver<Work>,
    /// Who hears of what was settled.
    news: NewsDesk,
    limits: Arc<Limits>,
    /// The commit under way.
    commit: Option<JoinHandle<Result<()>>>,
    /// The checkpoint under way.
    checkpoint: Option<JoinHandle<Result<Written>>>,
    /// When the next commit is to begin, if there is something to commit.
    commit_at: Option<Millis>,
    /// Up to here the time of work is noted.
    worked_until: Millis,
}

impl Writer {
    /// A writer for these sinks, which settles what comes from `inbox`, and wakes the engine after that.
    pub fn new(
        chain: Chain,
        shared: Arc<Shared>,
        inbox: mpsc::Receiver<Work>,
        limits: Arc<Limits>,
    ) -> Self {
        let worked_until = shared.clock.now();
        Self {
            chain,
            directory: None,
            shared,
            inbox,
            news: NewsDesk::default(),
            limits,
            commit: None,
            checkpoint: None,
            commit_at: None,
            worked_until,
        }
    }

    /// Tells somebody of what is settled from now on.
    pub fn telling(self, news: NewsDesk) -> Self {
        Self { news, ..self }
    }

    /// Makes the start of this run and its seeds durable, before anything is asked for. So a run that
    /// is killed in its first moments is known to the next one, which gives the hosts a full gap.
    pub fn begin(&mut self) -> Result<()> {
        self.worked_until = self.shared.clock.now();
        self.commit_now()
    }

    /// Works until all senders are gone, then commits and closes the sinks. The directory stays locked for as long as
    /// anything may be written to it, whatever becomes of this task.
    pub async fn run(mut self, directory: Directory) -> Result<()> {
        self.directory = Some(Arc::new(directory));
        let worked = self.work().await;
        // Whatever happened, nothing is written any more when this returns.
        let commit = self.finish_commit().await;
        let checkpoint = self.finish_checkpoint().await;
        worked.and(commit).and(checkpoint)?;
        spawn_blocking(|| self.close()).await.unwrap_or_else(|_| Err(panicked("closing")))
    }

    async fn work(&mut self) -> Result<()> {
        let mut jobs = Vec::with_capacity(BATCH_JOBS);
        while self.receive(&mut jobs).await {
            let news = self.settle(&mut jobs)?;
            self.news.hand_over(news).await?;
            self.look_after_disk().await?;
        }
        Ok(())
    }

    /// Takes what has come, or waits for it until there is something else to do. False at the end.
    async fn receive(&mut self, jobs: &mut Vec<Work>) -> bool {
        let ms = match self.commit_at {
            // The next one waits for the one under way; its end is looked for as often as one begins.
            Some(at) if self.commit.is_none() => at.since(self.shared.clock.now()),
            _ => self.limits.commit_ms_max,
        };
        let received = self.inbox.recv_many(jobs, BATCH_JOBS);
        timeout(Duration::from_millis(ms), received).await != Ok(0)
    }

    fn settle(&mut self, jobs: &mut Vec<Work>) -> Result<News> {
        let mut news = News::default();
        if jobs.is_empty() {
            return Ok(news);
        }
        let written = jobs.drain(..).filter_map(|work| write(&mut self.chain, work).transpose());
        let written: Vec<Kept> = written.collect::<Result<_>>()?;
        let mut frontier = self.shared.frontier.hold()?;
        for Kept { lease, settlement, told, unread } in written {
            let (page, is_new) = (lease.url().fingerprint(), readings::news(&lease, &settlement));
            frontier.settle(lease, settlement)?;
            if let Some(readings) = &self.shared.readings {
                readings.settled(page, is_new);
            }
            let is_new = is_new == Some(true);
            news.told.extend(told.map(|told| Told { is_new, ..told }));
            news.unread.extend(unread);
        }
        news.waits = frontier.take_waits();
        drop(frontier);
        self.shared.wake.notify_one();
        let due = self.shared.clock.now().after(self.limits.commit_ms_max);
        self.commit_at.get_or_insert(due);
        Ok(news)
    }

    /// Ends what is done, and begins what is due: a checkpoint, or a commit. A slow disk holds up the
    /// crawl only when there is a checkpoint's worth of work behind what it is busy with.
    async fn look_after_disk(&mut self) -> Result<()> {
        let now = self.shared.clock.now();
        let (unsealed, wants_checkpoint) = {
            let frontier = self.shared.frontier.look();
            (frontier.is_unsealed(), frontier.wants_checkpoint(now))
        };
        if wants_checkpoint || is_done(&self.checkpoint) {
            self.finish_checkpoint().await?;
        }
        if wants_checkpoint {
            return self.begin_checkpoint(now).await;
        }
        // Nothing was settled for a while, but a setting may have been changed.
        let idle = self.commit_at.is_none() && unsealed;
        let due = idle || self.commit_at.is_some_and(|at| at <= now);
        if due && (self.commit.is_none() || is_done(&self.commit)) {
            self.finish_commit().await?;
            self.begin_commit()?;
            self.let_sinks_catch_up().await?;
        }
        Ok(())
    }

    /// Begins to make everything settled so far durable.
    fn begin_commit(&mut self) -> Result<()> {
        let commit = self.gather_commit()?;
        self.commit = Some(self.on_a_thread(|| commit.sync()));
        Ok(())
    }

    async fn let_sinks_catch_up(&mut self) -> Result<()> {
        for lag in self.chain.lags() {
            let caught_up = self.on_a_thread(|| {
                lag();
                Ok(())
            });
            caught_up.await.unwrap_or_else(|_| Err(panicked("a sink")))?;
        }
        Ok(())
    }

    fn on_a_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> JoinHandle<Result<T>> {
        let lock = self.directory.clone();
        spawn_blocking(move || {
            let done = work();
            drop(lock);
            done
        })
    }

    async fn finish_commit(&mut self) -> Result<()> {
        let Some(commit) = self.commit.take() else { return Ok(()) };
        commit.await.unwrap_or_else(|_| Err(panicked("a commit")))
    }

    async fn begin_checkpoint(&mut self, now: Millis) -> Result<()> {
        self.finish_commit().await?;
        self.begin_commit()?;
        self.finish_commit().await?;
        let checkpoint = self.shared.frontier.hold()?.begin_checkpoint(now)?;
        self.checkpoint = checkpoint.map(|checkpoint| self.on_a_thread(|| checkpoint.write()));
        Ok(())
    }

    async fn finish_checkpoint(&mut self) -> Result<()> {
        let Some(checkpoint) = self.checkpoint.take() else { return Ok(()) };
        let written = checkpoint.await.unwrap_or_else(|_| Err(panicked("a checkpoint")))?;
        self.shared.frontier.hold()?.end_checkpoint(written, self.shared.clock.now())?;
        // It may have made room for hosts that wait on disk.
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Everything settled so far, ready to be made durable.
    fn gather_commit(&mut self) -> Result<Commit> {
        let now = self.shared.clock.now();
        let passed_ms = now.since(std::mem::replace(&mut self.worked_until, now));
        let idle_ms = self.shared.idle_ms.swap(0, Ordering::Relaxed);
        let worked_ms = passed_ms.saturating_sub(idle_ms);
        self.commit_at = None;
        let flushed = self.chain.flush_all()?;
        let mut frontier = self.shared.frontier.hold()?;
        frontier.worked(worked_ms)?;
        let sealed = frontier.seal(flushed.positions.clone())?;
        Ok(Commit { flushed, sealed })
    }

    fn commit_now(&mut self) -> Result<()> {
        self.gather_commit()?.sync()
    }

    /// What sinks put in order at their end is in the log already, so the last checkpoint does not wait for it.
    fn close(mut self) -> Result<()> {
        self.commit_now()?;
        let Self { chain, shared, .. } = self;
        let (finished, written) = thread::scope(|scope| {
            let thread = thread::Builder::new().name("larm-checkpoint".to_owned());
            let written = thread.spawn_scoped(scope, || last_checkpoint(&shared));
            let finished = chain.finish();
            let written = match written {
                Ok(thread) => thread.join().unwrap_or_else(|_| Err(panicked("a checkpoint"))),
                Err(_) => last_checkpoint(&shared),
            };
            (finished, written)
        });
        if let (Err(_), Err(error)) = (&finished, &written) {
            tracing::error!("and the last checkpoint: {error}");
        }
        finished.map(drop).and(written)
    }
}

fn last_checkpoint(shared: &Shared) -> Result<()> {
    shared.frontier.hold()?.checkpoint(shared.clock.now())
}

fn is_done<T>(task: &Option<JoinHandle<T>>) -> bool {
    task.as_ref().is_some_and(JoinHandle::is_finished)
}

fn panicked(what: &str) -> Error {
    Error::Stopped(format!("larm has a bug: {what} panicked"))
}

/// The sinks write, so that the lease may be settled, where there is one.
fn write(chain: &mut Chain, work: Work) -> Result<Option<Kept>> {
    let job = match work {
        Work::Settle(job) => *job,
        Work::Keep(lookup) => return chain.write_lookup(&lookup).map(|()| None),
    };
    let Job { lease, mut settlement, kept, place, told, unread } = job;
    if let Some((encoded, visit)) = kept {
        let kept = chain.write_all(&visit, encoded)?;
        if let Fate::Done(row) = &mut settlement.fate {
            row.warc = kept.warc;
        }
    }
    drop(place);
    Ok(Some(Kept { lease, settlement, told, unread }))
}

/// What is written, and to be settled.
struct Kept {
    lease: Lease,
    settlement: Settlement,
    told: Option<Told>,
    unread: Option<Mark>,
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
