//! Tasks, budgets, shutdown: keeps the line full and knows nothing of a URL's content.
//!
//! One loop: carry out commands, lease as long as something is due and there is a place, then wait for
//! whatever comes first: a settlement, the next due time, a command, a timer's tick. The crawl
//! ends when nothing waits and nothing is in flight, when a limit is reached, or when it is asked to.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use larm_core::url::Fingerprint;
use larm_core::workbench::Pace;
use larm_core::{Limits, Millis};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until, timeout};

use crate::ends::{Ends, Progress};
use crate::error::{Error, Result};
use crate::frontier::{Frontier, Lease, Nameless, Turn as LeaseTurn};
use crate::handle::{Command, Idle, Phase, Shared};
use crate::housekeeping::Housekeeper;
use crate::jar::Jar;
use crate::line::{Line, Named};
use crate::obey::HostWishes;
use crate::pipeline;
use crate::places::{PULSE, Places};
use crate::workers::Workers;

/// Statistics, disk space, block file: this often.
const HOUSEKEEPING: Duration = Duration::from_secs(5);

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

/// The engine of one run.
pub struct Engine {
    pub(crate) line: Arc<Line>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) housekeeper: Housekeeper,
    pub(crate) jar: Option<Jar>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) ends: Ends,
    pub(crate) pace: Pace,
    pub(crate) hosts: HostWishes,
    /// The settings make no pause: these are our own servers.
    pub(crate) is_own_server: bool,
    pub(crate) places: Places,
    /// Threads that fetches run on, beside its own.
    pub(crate) more_threads: usize,
    /// Since when our network is known to be down.
    pub(crate) offline: Option<Millis>,
    pub(crate) idle: Idle,
    pub(crate) started: Millis,
}

/// What is under way, and where.
struct Tasks {
    fetches: Workers,
    names: JoinSet<Result<Named>>,
}

impl Tasks {
    fn fetch(&mut self, line: &Arc<Line>, lease: Lease) {
        let (line, host) = (line.clone(), Fingerprint::of(lease.url().host()));
        let work = || async move { pipeline::process(&line, lease).await };
        self.fetches.spawn(host, work);
    }

    fn look_up(&mut self, line: &Arc<Line>, nameless: Nameless) {
        let line = line.clone();
        self.names.spawn(async move { line.look_up(nameless).await });
    }
}

/// What the loop does next.
enum Turn {
    End(Ending),
    /// Wait for whatever comes first, until then at the latest.
    Wait(Instant),
}

/// What comes by itself, again and again.
struct Timers {
    house: Interval,
    pulse: Interval,
}

impl Timers {
    fn new() -> Self {
        let every = |period| {
            let mut timer = interval(period);
            timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
            timer
        };
        Self { house: every(HOUSEKEEPING), pulse: every(PULSE) }
    }
}

impl Engine {
    /// Runs until there is nothing left to do, or no more to be done.
    pub async fn run(mut self) -> Result<Ending> {
        let fetches = Workers::start(self.more_threads, self.limits.fetches_max);
        let fetches = fetches.map_err(|error| Error::Stopped(format!("no threads: {error}")))?;
        let mut tasks = Tasks { fetches, names: JoinSet::new() };
        let mut timers = Timers::new();
        let ending = loop {
            match self.turn(&mut tasks)? {
                Turn::End(ending) => break ending,
                Turn::Wait(until) => self.wait(&mut tasks, &mut timers, until).await?,
            }
        };
        self.shared.stopping.store(true, Ordering::Relaxed);
        self.drain(tasks).await?;
        Ok(ending)
    }

    /// Gives out work, and sees what comes next. The frontier is taken once for all of it: at
    /// thousands of settlements per second the writer and the line want it, too.
    fn turn(&mut self, tasks: &mut Tasks) -> Result<Turn> {
        let shared = self.shared.clone();
        let now = shared.clock.now();
        let phase = shared.phase();
        shared.idle_ms.fetch_add(self.idle.note(phase, now), Ordering::Relaxed);
        self.watch_network(tasks, now)?;
        let mut frontier = shared.frontier.hold()?;
        shared.network.know_hosts(frontier.totals().hosts);
        self.places.cap(shared.share.places());
        let broke_until = shared.share.broke_until(frontier.totals().bytes, now);
        match phase {
            Phase::Running if broke_until > now => {}
            Phase::Running => self.fill(&mut **frontier, tasks, now)?,
            Phase::Offline => self.probe(&mut **frontier, tasks, now)?,
            Phase::Paused | Phase::DiskLow | Phase::Stopping => {}
        }
        shared.in_flight.store(tasks.fetches.len() as u64, Ordering::Relaxed);
        if let Some(ending) = self.ending(&**frontier, tasks, now) {
            return Ok(Turn::End(ending));
        }
        let mut due = self.next_due(&**frontier, phase, now).map(|due| due.max(broke_until));
        drop(frontier);
        let is_full = self.is_full(tasks);
        let waits = if is_full || self.is_behind(tasks) { due.take() } else { None };
        self.places.looked(waits.filter(|_| is_full), shared.clock.now());
        Ok(Turn::Wait(self.look_again_at(due, now)))
    }

    /// Leases and look-ups, as long as something is due and there is room.
    fn fill(&mut self, frontier: &mut dyn Frontier, tasks: &mut Tasks, now: Millis) -> Result<()> {
        while (tasks.names.len() as u64) < self.limits.dns_lookups_max {
            let Some(nameless) = frontier.nameless(now) else { break };
            tasks.look_up(&self.line, nameless);
        }
        while !self.is_full(tasks) && !self.is_behind(tasks) {
            let Some(lease) = frontier.lease(now)? else { break };
            tasks.fetch(&self.line, lease);
        }
        Ok(())
    }

    fn is_full(&mut self, tasks: &Tasks) -> bool {
        tasks.fetches.len() as u64 >= self.places.now(&self.line.meter)
    }

    /// Whether more pages wait to be read, for the order of all others, than are on their way.
    fn is_behind(&self, tasks: &Tasks) -> bool {
        self.line.unread.pages() > tasks.fetches.len()
    }

    /// Our network is down: one URL, or one name, is tried now and then.
    fn probe(&self, frontier: &mut dyn Frontier, tasks: &mut Tasks, now: Millis) -> Result<()> {
        let network = &self.shared.network;
        if network.next_probe().is_none_or(|next| next > now) {
            return Ok(());
        }
        while let Some(lease) = frontier.lease(now)? {
            let (asks, host) = (matches!(lease.turn(), LeaseTurn::Ask(_)), lease.host());
            tasks.fetch(&self.line, lease);
            if asks {
                network.probe(host, now);
                return Ok(());
            }
        }
        if let Some(nameless) = frontier.nameless(now) {
            network.probe(nameless.host, now);
            tasks.look_up(&self.line, nameless);
        }
        Ok(())
    }

    /// Says when our network goes and comes back, and gives up on it in the end.
    fn watch_network(&mut self, tasks: &Tasks, now: Millis) -> Result<()> {
        let network = &self.shared.network;
        if tasks.fetches.is_empty() && tasks.names.is_empty() {
            network.idle();
        }
        match (self.offline, network.offline_since()) {
            (None, Some(since)) => {
                let why = network.offline_reason();
                let why = why.as_deref().unwrap_or("this machine seems to be offline");
                tracing::warn!(%since, "{why}: waiting for the network");
            }
            (Some(since), None) => tracing::info!(%since, "the network is back; going on"),
            _ => {}
        }
        self.offline = network.offline_since();
        match network.gone_since(now) {
            None => Ok(()),
            Some(since) => {
                let why = network.offline_reason();
                let why =
                    why.unwrap_or_else(|| format!("this machine has been offline since {since}"));
                Err(Error::Stopped(format!("{why}; everything is kept, and `larm resume` goes on")))
            }
        }
    }

    /// When there may be something to do.
    fn next_due(&self, frontier: &dyn Frontier, phase: Phase, now: Millis) -> Option<Millis> {
        match phase {
            Phase::Running => frontier.next_due(now),
            Phase::Offline => {
                let probe = self.shared.network.next_probe();
                probe.zip(frontier.next_due(now)).map(|(probe, due)| probe.max(due))
            }
            Phase::Paused | Phase::DiskLow | Phase::Stopping => None,
        }
    }

    /// Whether, and why, this is the end.
    fn ending(&self, frontier: &dyn Frontier, tasks: &Tasks, now: Millis) -> Option<Ending> {
        if self.shared.stopping.load(Ordering::Relaxed) {
            return Some(Ending::Stopped);
        }
        let totals = frontier.totals();
        if self.ends.time_ms_max.is_some_and(|max| now.since(self.started) >= max) {
            return Some(Ending::Limit("max-time"));
        }
        if self.ends.bytes_max.is_some_and(|max| totals.bytes >= max) {
            return Some(Ending::Limit("max-size"));
        }
        if !tasks.fetches.is_empty() || !tasks.names.is_empty() || !frontier.is_done() {
            let is_low = self.shared.readings.as_ref().is_some_and(|readings| readings.is_low());
            return is_low.then_some(Ending::Limit("stop-below"));
        }
        let budgets = self.ends.budgets;
        // What is held waits for whoever allows more, not for us.
        if frontier.waiting() == totals.held {
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

    async fn wait(&mut self, tasks: &mut Tasks, timers: &mut Timers, until: Instant) -> Result<()> {
        tokio::select! {
            Some(done) = tasks.fetches.join_next() => self.fetched(done)?,
            Some(named) = tasks.names.join_next() => self.named(named)?,
            Some(command) = self.commands.recv() => self.obey(command),
            () = self.shared.wake.notified() => {}
            () = sleep_until(until) => {}
            _ = timers.house.tick() => self.keep_house()?,
            _ = timers.pulse.tick() => self.pulse(),
        }
        // What has ended is taken note of before anything is leased: the next one is to find its place free.
        while let Some(done) = tasks.fetches.try_join_next() {
            self.fetched(done)?;
        }
        Ok(())
    }

    /// When to look again at the latest, if something is due then.
    fn look_again_at(&self, due: Option<Millis>, now: Millis) -> Instant {
        let far = now.after(u64::try_from(HOUSEKEEPING.as_millis()).unwrap_or(u64::MAX));
        let end = self.ends.time_ms_max.map(|max| self.started.after(max));
        let at = [due, end].into_iter().flatten().min().unwrap_or(far);
        Instant::from_std(self.shared.clock.instant_of(at.min(far)))
    }

    /// One fetch is over.
    fn fetched(&mut self, done: Result<()>) -> Result<()> {
        self.places.ended();
        done
    }

    /// Thinks over how many fetches there may be.
    fn pulse(&mut self) {
        let refused = self.places.pulse(&self.line.meter, self.shared.clock.now());
        let standing = self.places.standing();
        if refused > 0 {
            tracing::warn!(
                refused,
                places = standing.places,
                "this machine allows no more open files; their URLs wait, and fewer are fetched at a time"
            );
        }
        *self.shared.places.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    fn named(&mut self, named: Result<Result<Named>, tokio::task::JoinError>) -> Result<()> {
        let (host, answer) = named.map_err(|error| {
            Error::Stopped(format!("larm has a bug: a look-up panicked ({error})"))
        })??;
        let now = self.shared.clock.now();
        let mut frontier = self.shared.frontier.hold()?;
        frontier.named(host, answer, now)
    }

    fn keep_house(&mut self) -> Result<()> {
        let room = self.housekeeper.tick(&self.shared)?;
        self.look_ahead();
        self.jar.as_ref().map_or(Ok(()), Jar::save)?;
        self.shared.reasons.save()?;
        self.shared.disk_low.store(!room, Ordering::Relaxed);
        Ok(())
    }

    /// Estimates how long it will take.
    fn look_ahead(&self) {
        let frontier = self.shared.frontier.look();
        let so_far = Progress::of(&**frontier, self.started, self.shared.clock.now());
        drop(frontier);
        let rates = self.shared.meter.lock().unwrap_or_else(PoisonError::into_inner).rates;
        let left = self.ends.seconds_left(so_far, rates);
        *self.shared.seconds_left.lock().unwrap_or_else(PoisonError::into_inner) = left;
    }

    /// Lets what is in flight finish, for a while; what is not done by then is given back: its lease is
    /// dropped unsettled, and the frontier keeps the URL as waiting.
    async fn drain(&mut self, mut tasks: Tasks) -> Result<()> {
        tasks.names.abort_all();
        let all = async {
            while let Some(done) = tasks.fetches.join_next().await {
                done?;
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
