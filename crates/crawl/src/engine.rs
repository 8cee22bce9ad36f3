//! Tasks, budgets, shutdown: keeps the line full and knows nothing of a URL's content.
//!
//! One loop: carry out commands, lease as long as something is due and there is room, then wait for
//! whatever comes first: a settlement, the next due time, a command, the housekeeping tick. The crawl
//! ends when nothing waits and nothing is in flight, when a limit is reached, or when it is asked to.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use larm_core::workbench::{HostKey, Pace};
use larm_core::{Failure, Limits, Millis};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use crate::change::Change;
use crate::error::{Error, Result};
use crate::fetch::{Resolve, admit};
use crate::frontier::{Budgets, Nameless};
use crate::handle::{Command, Phase, Shared};
use crate::housekeeping::Housekeeper;
use crate::line::Line;
use crate::pipeline;

/// Statistics, disk space, block file: this often.
const HOUSEKEEPING: Duration = Duration::from_secs(5);
/// An address is looked up again after this time at the earliest and at the latest.
const ADDRESS_MS: (u64, u64) = (60_000, 24 * 3_600_000);

/// Why a crawl ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Nothing was left to do.
    Finished,
    /// A limit that was set: its name.
    Limit(&'static str),
    /// Somebody asked for it.
    Stopped,
}

/// Limits that end a crawl.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ends {
    /// This run's time.
    pub time_ms_max: Option<u64>,
    /// Bytes over all runs.
    pub bytes_max: Option<u64>,
    /// Pages, over all runs.
    pub budgets: Budgets,
}

/// The engine of one run.
pub struct Engine {
    pub(crate) line: Arc<Line>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) housekeeper: Housekeeper,
    pub(crate) limits: Arc<Limits>,
    pub(crate) ends: Ends,
    pub(crate) pace: Pace,
    pub(crate) fetches_max: u64,
    pub(crate) started: Millis,
}

type Named = (HostKey, Result<(IpAddr, u64), Failure>);

/// What is under way.
#[derive(Default)]
struct Tasks {
    fetches: JoinSet<Result<()>>,
    names: JoinSet<Named>,
}

impl Engine {
    /// Runs until there is nothing left to do, or no more to be done.
    pub async fn run(mut self) -> Result<Ending> {
        let mut tasks = Tasks::default();
        let mut tick = interval(HOUSEKEEPING);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let ending = loop {
            self.fill(&mut tasks)?;
            if let Some(ending) = self.ending(&tasks) {
                break ending;
            }
            self.wait(&mut tasks, &mut tick).await?;
        };
        self.shared.stopping.store(true, Ordering::Relaxed);
        self.drain(tasks).await?;
        Ok(ending)
    }

    /// Leases and look-ups, as long as something is due and there is room.
    fn fill(&mut self, tasks: &mut Tasks) -> Result<()> {
        self.shared.in_flight.store(tasks.fetches.len() as u64, Ordering::Relaxed);
        if self.shared.phase() != Phase::Running {
            return Ok(());
        }
        let now = self.shared.clock.now();
        let shared = self.shared.clone();
        let mut frontier = shared.frontier.hold()?;
        while (tasks.names.len() as u64) < self.limits.dns_lookups_max {
            let Some(nameless) = frontier.nameless(now) else { break };
            tasks.names.spawn(look_up(self.resolver.clone(), self.line.clone(), nameless));
        }
        while (tasks.fetches.len() as u64) < self.fetches_max {
            let Some(lease) = frontier.lease(now)? else { break };
            let line = self.line.clone();
            tasks.fetches.spawn(async move { pipeline::process(&line, lease).await });
        }
        self.shared.in_flight.store(tasks.fetches.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Whether, and why, this is the end.
    fn ending(&self, tasks: &Tasks) -> Option<Ending> {
        if self.shared.stopping.load(Ordering::Relaxed) {
            return Some(Ending::Stopped);
        }
        let frontier = self.shared.frontier.look();
        let totals = frontier.totals();
        let time_is_up = self
            .ends
            .time_ms_max
            .is_some_and(|max| self.shared.clock.now().since(self.started) >= max);
        if time_is_up {
            return Some(Ending::Limit("max-time"));
        }
        if self.ends.bytes_max.is_some_and(|max| totals.bytes >= max) {
            return Some(Ending::Limit("max-size"));
        }
        if !tasks.fetches.is_empty() || !tasks.names.is_empty() || !frontier.is_done() {
            return None;
        }
        let budgets = self.ends.budgets;
        if frontier.waiting() == 0 {
            return Some(Ending::Finished);
        }
        if budgets.pages_max.is_some_and(|max| totals.answered >= max) {
            return Some(Ending::Limit("max-pages"));
        }
        Some(if budgets.host_pages_max.is_some() {
            Ending::Limit("per-host")
        } else {
            Ending::Finished
        })
    }

    async fn wait(&mut self, tasks: &mut Tasks, tick: &mut tokio::time::Interval) -> Result<()> {
        let due = self.next_due(tasks);
        tokio::select! {
            Some(done) = tasks.fetches.join_next() => self.fetched(done),
            Some(named) = tasks.names.join_next() => self.named(named),
            Some(command) = self.commands.recv() => {
                self.obey(command);
                Ok(())
            }
            () = self.shared.wake.notified() => Ok(()),
            () = sleep_until(due) => Ok(()),
            _ = tick.tick() => self.keep_house(),
        }
    }

    /// When to look again at the latest.
    fn next_due(&self, tasks: &Tasks) -> Instant {
        let now = self.shared.clock.now();
        let far = now.after(u64::try_from(HOUSEKEEPING.as_millis()).unwrap_or(u64::MAX));
        let idle =
            self.shared.phase() != Phase::Running || tasks.fetches.len() as u64 >= self.fetches_max;
        let frontier = self.shared.frontier.look();
        let due = if idle { None } else { frontier.next_due(now) };
        let end = self.ends.time_ms_max.map(|max| self.started.after(max));
        let at = [due, end].into_iter().flatten().min().unwrap_or(far);
        Instant::from_std(self.shared.clock.instant_of(at.min(far)))
    }

    fn fetched(&mut self, done: Result<Result<()>, tokio::task::JoinError>) -> Result<()> {
        done.map_err(|error| Error::Stopped(format!("larm has a bug: a fetch panicked ({error})")))?
    }

    fn named(&mut self, named: Result<Named, tokio::task::JoinError>) -> Result<()> {
        let (host, answer) = named.map_err(|error| {
            Error::Stopped(format!("larm has a bug: a look-up panicked ({error})"))
        })?;
        let now = self.shared.clock.now();
        let mut frontier = self.shared.frontier.hold()?;
        frontier.named(host, answer, now)
    }

    fn keep_house(&mut self) -> Result<()> {
        let room = self.housekeeper.tick(&self.shared)?;
        self.shared.disk_low.store(!room, Ordering::Relaxed);
        Ok(())
    }

    fn obey(&mut self, (change, reply): Command) {
        let answer = self.change(&change).map_err(|error| error.to_string());
        if answer.is_ok() {
            tracing::info!(key = change.log_key(), value = change.log_value(), "setting changed");
        }
        // Whoever asked may have gone; the change stands.
        let _ = reply.send(answer);
    }

    /// Carries out a change and writes it to the log.
    pub(crate) fn change(&mut self, change: &Change) -> Result<()> {
        self.apply(change)?;
        let now = self.shared.clock.now();
        let mut frontier = self.shared.frontier.hold()?;
        frontier.changed(&change.log_key(), &change.log_value(), now)
    }

    /// Carries out a change.
    pub(crate) fn apply(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::Delay(0) if self.pace.delay_ms > 0 => {
                let why = "a delay of 0 is for your own servers: stop the crawl, and start it so";
                return Err(Error::Plan(why.to_owned()));
            }
            Change::Delay(ms) => self.pace = paced(self.pace, *ms),
            Change::Rate(rate) => self.pace.rate = *rate,
            Change::Concurrency(n) => self.fetches_max = (*n).min(self.limits.fetches_max),
            Change::MaxPages(n) => self.ends.budgets.pages_max = Some(*n),
            Change::Exclude(pattern) => self.line.rules.exclude(pattern)?,
            Change::Block(host) => self.line.rules.block(host)?,
            Change::Seed(url) => {
                if let Some(url) = larm_core::url::CrawlUrl::from_canonical(url) {
                    self.line.rules.adopt_seed(&url);
                }
            }
        }
        let mut frontier = self.shared.frontier.hold()?;
        frontier.set_pace(self.pace);
        frontier.set_budgets(self.ends.budgets)
    }

    /// Lets what is in flight finish, for a while; what is not done by then is given back: its lease is
    /// dropped unsettled, and the frontier keeps the URL as waiting.
    async fn drain(&mut self, mut tasks: Tasks) -> Result<()> {
        tasks.names.abort_all();
        let all = async {
            while let Some(done) = tasks.fetches.join_next().await {
                done.map_err(|error| Error::Stopped(format!("a fetch panicked ({error})")))??;
            }
            Ok(())
        };
        let patience = Duration::from_millis(self.limits.shutdown_ms_max);
        match timeout(patience, all).await {
            Ok(result) => result,
            Err(_) => {
                tasks.fetches.shutdown().await;
                Ok(())
            }
        }
    }
}

/// The gaps for another delay: 0 is for one's own servers and drops the address's gap too; any other
/// keeps it, or brings it back.
fn paced(pace: Pace, delay_ms: u64) -> Pace {
    let address_gap_ms = match (delay_ms, pace.address_gap_ms) {
        (0, _) => 0,
        (_, 0) => Pace::default().address_gap_ms,
        (_, gap) => gap,
    };
    Pace { delay_ms, address_gap_ms, ..pace }
}

async fn look_up(resolver: Arc<dyn Resolve>, line: Arc<Line>, nameless: Nameless) -> Named {
    let resolved = resolver.resolve(&nameless.name, nameless.port).await;
    let answer = resolved.and_then(|resolved| {
        let ttl_ms = resolved.ttl_ms.clamp(ADDRESS_MS.0, ADDRESS_MS.1);
        // An address that the guard refuses is kept all the same: another port of the host may be
        // allowed there, and each URL is judged right before its fetch.
        let chosen = admit(&line.guard, &nameless.name, nameless.port, &resolved)
            .or_else(|refused| resolved.addresses.first().copied().ok_or(refused))?;
        Ok((chosen, ttl_ms))
    });
    (nameless.host, answer)
}
