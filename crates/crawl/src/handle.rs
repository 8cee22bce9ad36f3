//! A running crawl as others see it: ask how it stands, pause it, change it, stop it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use larm_core::gain::Tally;
use larm_core::scope::{FilterSpec, Filters, ScopeInput, Subject, Verdict};
use larm_core::url::CrawlUrl;
use larm_core::via::Via;
use larm_core::{Limits, Millis};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::change::Change;
use crate::changes::Changes;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::explain::{Explanation, explain};
use crate::frontier::{Frontier, FrontierStatus, HostList, HostStatus, HostsAsked, SharedFrontier};
use crate::memory::resident;
use crate::network::Network;
use crate::places::Standing;
use crate::readings::Readings;
use crate::reasons::Reasons;
use crate::rules::SharedRules;
use crate::share::Share;
use crate::store::runs::{RunLog, RunTotals};

/// What a crawl is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Fetching, or waiting for a host's turn.
    Running,
    /// Paused by somebody.
    Paused,
    /// Waiting for room on the disk.
    DiskLow,
    /// Waiting for our own network.
    Offline,
    /// Ending: what is in flight is finished.
    Stopping,
}

/// A crawl at one moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Status {
    /// When this was.
    pub at: Millis,
    /// What it is doing.
    pub phase: Phase,
    /// Since when our own network is down, if it is.
    pub offline_since: Option<Millis>,
    /// Why, where that is known: a proxy that cannot be used.
    #[serde(default)]
    pub offline_reason: Option<String>,
    /// Fetches under way.
    pub in_flight: u64,
    /// Fetches that there may be at a time.
    pub places: u64,
    /// Why so many, in a few words.
    pub places_reason: String,
    /// Connections that our own machine refused in this run, for want of files.
    pub refused: u64,
    /// Pages answered per second, over the last seconds.
    pub pages_per_second: f64,
    /// Bytes per second, over the last seconds.
    pub bytes_per_second: f64,
    /// Bytes of memory that the process has, where the system tells.
    #[serde(default)]
    pub memory: Option<u64>,
    /// Time until nothing waits or a limit is reached, if it goes on like this.
    #[serde(default)]
    pub seconds_left: Option<u64>,
    /// How many of the last pages were good, where the crawl ends if they are too few.
    #[serde(default)]
    pub gain: Option<Tally>,
    /// The frontier.
    #[serde(flatten)]
    pub frontier: FrontierStatus,
}

/// The part of a status that is not the frontier's.
#[derive(Deserialize)]
struct Own {
    at: Millis,
    phase: Phase,
    offline_since: Option<Millis>,
    offline_reason: Option<String>,
    in_flight: u64,
    places: u64,
    places_reason: String,
    refused: u64,
    pages_per_second: f64,
    bytes_per_second: f64,
    #[serde(default)]
    memory: Option<u64>,
    #[serde(default)]
    seconds_left: Option<u64>,
    #[serde(default)]
    gain: Option<Tally>,
}

impl Status {
    /// Reads what a running crawl answered, in two parts: serde cannot read maps with numbers as keys, such as
    /// the statuses, through a flattened field.
    pub fn read(answer: &Value) -> serde_json::Result<Self> {
        let own = Own::deserialize(answer)?;
        Ok(Self {
            at: own.at,
            phase: own.phase,
            offline_since: own.offline_since,
            offline_reason: own.offline_reason,
            in_flight: own.in_flight,
            places: own.places,
            places_reason: own.places_reason,
            refused: own.refused,
            pages_per_second: own.pages_per_second,
            bytes_per_second: own.bytes_per_second,
            memory: own.memory,
            seconds_left: own.seconds_left,
            gain: own.gain,
            frontier: FrontierStatus::deserialize(answer)?,
        })
    }
}

/// What the engine and its handles share.
pub(crate) struct Shared {
    pub frontier: SharedFrontier,
    pub rules: SharedRules,
    pub wake: Arc<Notify>,
    pub clock: Clock,
    pub network: Arc<Network>,
    pub readings: Option<Arc<Readings>>,
    pub reasons: Reasons,
    pub paused: AtomicBool,
    pub disk_low: AtomicBool,
    pub stopping: AtomicBool,
    pub in_flight: AtomicU64,
    /// Time spent idle since the time of work was noted last.
    pub idle_ms: AtomicU64,
    pub meter: Mutex<Meter>,
    /// As estimated last.
    pub seconds_left: Mutex<Option<u64>>,
    pub places: Mutex<Standing>,
    pub share: Share,
    /// Settings that were changed while it ran, in this run and those before.
    pub changes: Mutex<Changes>,
    /// This run in the list of runs, once it has begun.
    pub run: OnceLock<RunLog>,
}

/// Time in which a crawl does nothing on purpose: paused, offline, or waiting for room on the disk.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Idle {
    since: Option<Millis>,
}

impl Idle {
    /// Takes note of the phase at `now`. Gives the time that was spent idle since this was asked last.
    pub fn note(&mut self, phase: Phase, now: Millis) -> u64 {
        let is_idle = matches!(phase, Phase::Paused | Phase::DiskLow | Phase::Offline);
        let since = std::mem::replace(&mut self.since, is_idle.then_some(now));
        since.map_or(0, |since| now.since(since))
    }
}

/// How fast a crawl is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Rates {
    pub pages_per_second: f64,
    pub bytes_per_second: f64,
}

/// Measures how fast a crawl is: since the last moment at which some pages less were there. One that asks its only host
/// every ten seconds is not idle in between.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Time, pages and bytes; the last moments, in order.
    moments: VecDeque<(Millis, u64, u64)>,
    pub rates: Rates,
}

impl Meter {
    /// Pages that are enough to tell a rate by.
    const PAGES_MIN: u64 = 20;
    /// What was longer ago says nothing of now.
    const WINDOW_MS_MAX: u64 = 2 * 60_000;

    /// Takes note of the counts at `now`.
    pub fn note(&mut self, now: Millis, pages: u64, bytes: u64) {
        let is_old = |then: &(Millis, u64, u64)| now.since(then.0) > Self::WINDOW_MS_MAX;
        while self.moments.len() > 1 && self.moments.front().is_some_and(is_old) {
            self.moments.pop_front();
        }
        let is_enough =
            |then: &&(Millis, u64, u64)| pages.saturating_sub(then.1) >= Self::PAGES_MIN;
        let since = self.moments.iter().rev().find(is_enough).or(self.moments.front());
        if let Some(&(then, pages_then, bytes_then)) = since.filter(|then| then.0 < now) {
            let per_second = |count: u64| count as f64 * 1_000.0 / now.since(then) as f64;
            self.rates = Rates {
                pages_per_second: per_second(pages.saturating_sub(pages_then)),
                bytes_per_second: per_second(bytes.saturating_sub(bytes_then)),
            };
        }
        self.moments.push_back((now, pages, bytes));
    }
}

/// What a rule would remove of what waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulePreview {
    /// URLs that wait.
    pub waiting: u64,
    /// How many of them it would remove; estimated, if not all were looked at.
    pub matching: u64,
    /// Whether not all were looked at.
    pub sampled: bool,
    /// Some of them.
    pub examples: Vec<String>,
}

impl RulePreview {
    /// Examples that are told.
    const EXAMPLES_MAX: usize = 20;

    /// What a rule would remove of what waits in a frontier. At most `urls_max` URLs are looked at.
    pub fn of(frontier: &dyn Frontier, rule: &FilterSpec, urls_max: u64) -> Result<Self> {
        let filters = filters_of(rule)?;
        let (urls, waiting) = some_waiting(frontier, urls_max)?;
        Ok(Self::counted(&urls, &filters, waiting))
    }

    fn counted(urls: &[Box<str>], filters: &Filters, waiting: u64) -> Self {
        let is_out = |text: &&str| {
            let Some(url) = CrawlUrl::from_canonical(text) else { return false };
            let subject =
                Subject { url: &url, depth: 1, via: Via::Anchor, from: None, redirects: 0 };
            matches!(filters.judge(&subject), Verdict::Reject(_))
        };
        let out: Vec<&str> = urls.iter().map(|url| &**url).filter(is_out).collect();
        let (found, looked) = (out.len() as u64, (urls.len() as u64).max(1));
        let sampled = waiting > looked;
        let scaled = u128::from(found) * u128::from(waiting) / u128::from(looked);
        let matching = if sampled { u64::try_from(scaled).unwrap_or(u64::MAX) } else { found };
        let examples = out.iter().take(Self::EXAMPLES_MAX).map(|url| (*url).to_owned()).collect();
        Self { waiting, matching, sampled, examples }
    }
}

fn filters_of(rule: &FilterSpec) -> Result<Filters> {
    let input = ScopeInput { limits: Limits::default(), ..ScopeInput::default() };
    let filters = Filters::build(std::slice::from_ref(rule), &input);
    filters.map_err(|error| Error::Plan(error.to_string()))
}

/// Some of the URLs that wait, and how many there are.
fn some_waiting(frontier: &dyn Frontier, urls_max: u64) -> Result<(Vec<Box<str>>, u64)> {
    let mut urls: Vec<Box<str>> = Vec::new();
    frontier.each_waiting_url(urls_max, &mut |url| urls.push(url.into()))?;
    Ok((urls, frontier.waiting()))
}

/// A request to the engine that is answered.
pub(crate) type Command = (Vec<Change>, oneshot::Sender<Result<(), String>>);

/// A running crawl, to be asked and steered from anywhere. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    pub(crate) shared: Arc<Shared>,
    pub(crate) commands: mpsc::Sender<Command>,
}

impl Handle {
    /// How it stands, with at most `hosts_max` hosts in detail.
    pub fn status(&self, hosts_max: usize) -> Status {
        let shared = &self.shared;
        let now = shared.clock.now();
        let mut frontier = shared.frontier.look().status(now, hosts_max);
        frontier.hosts = frontier.hosts.into_iter().map(|host| shared.reasons.tell(host)).collect();
        let rates = shared.meter.lock().unwrap_or_else(PoisonError::into_inner).rates;
        let standing = shared.places();
        Status {
            at: now,
            phase: shared.phase(),
            offline_since: shared.network.offline_since(),
            offline_reason: shared.network.offline_reason(),
            in_flight: shared.in_flight.load(Ordering::Relaxed),
            places: standing.places,
            places_reason: standing.reason.to_string(),
            refused: standing.refused,
            pages_per_second: rates.pages_per_second,
            bytes_per_second: rates.bytes_per_second,
            memory: resident(),
            seconds_left: *shared.seconds_left.lock().unwrap_or_else(PoisonError::into_inner),
            gain: shared.gain(),
            frontier,
        }
    }

    /// What each host in memory is doing, and the one of just that name, wherever it is.
    pub fn hosts(&self, asked: &HostsAsked) -> HostList {
        let shared = &self.shared;
        let mut list = shared.frontier.look().host_list(shared.clock.now(), asked);
        let is_shown = list.hosts.iter().any(|host| host.host == asked.containing);
        if !asked.containing.is_empty() && !is_shown {
            list.hosts.extend(self.host(&asked.containing));
            list.total = list.total.max(list.hosts.len() as u64);
        }
        shared.reasons.tell_all(list)
    }

    /// What one host is waiting for.
    pub fn host(&self, name: &str) -> Option<HostStatus> {
        let host = self.shared.frontier.look().host_status(name, self.shared.clock.now())?;
        Some(self.shared.reasons.tell(host))
    }

    /// What became of a URL, or why it is not fetched.
    pub fn explain(&self, url: &CrawlUrl) -> Result<Explanation> {
        let frontier = self.shared.frontier.look();
        let found = explain(&**frontier, &self.shared.rules.read(), url, self.shared.clock.now())?;
        Ok(found.with_words(&self.shared.reasons))
    }

    /// Stops leasing until [`Handle::resume`]. What is in flight is finished.
    pub fn pause(&self) {
        self.shared.paused.store(true, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }

    /// Goes on after a pause.
    pub fn resume(&self) {
        self.shared.paused.store(false, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }

    /// Ends the crawl: what is in flight is finished or given back, and the state is saved.
    pub fn stop(&self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }

    /// The settings that were changed while it ran, in this run and those before, and hold: a list of key and value.
    pub fn changes(&self) -> Value {
        let changes = self.shared.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let told = |change: &Change| json!({"key": change.key(), "value": change.value()});
        changes.all().iter().map(told).collect()
    }

    /// Gives it a share of what several crawls may have together, in fetches at a time and bytes per second. It is no
    /// setting: it is not logged, and ends with this run.
    pub fn share(&self, places: Option<u64>, bytes_per_second: Option<u64>) {
        self.shared.share.set(places.map(|places| places.max(1)), bytes_per_second);
        self.shared.wake.notify_one();
    }

    /// How many waiting URLs a rule would remove. At most `urls_max` of them are looked at.
    pub fn preview(&self, rule: &FilterSpec, urls_max: u64) -> Result<RulePreview> {
        let filters = filters_of(rule)?;
        // The crawl goes on while they are looked at.
        let (urls, waiting) = some_waiting(&**self.shared.frontier.look(), urls_max)?;
        Ok(RulePreview::counted(&urls, &filters, waiting))
    }

    /// Changes a setting while the crawl runs. It is kept, and holds after a restart too.
    pub async fn change(&self, change: Change) -> Result<()> {
        self.change_all(vec![change]).await
    }

    /// The same for several: all of them, or none if one cannot be.
    pub async fn change_all(&self, changes: Vec<Change>) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        let ended = |_| Error::Stopped("the crawl has ended".to_owned());
        self.commands.send((changes, reply)).await.map_err(|_| ended(()))?;
        answer.await.map_err(|_| ended(()))?.map_err(Error::Plan)
    }
}

impl Shared {
    /// How many of the last pages were good, if that matters.
    pub fn gain(&self) -> Option<Tally> {
        self.readings.as_ref().and_then(|readings| readings.tally())
    }

    /// What the crawl has come to, for the list of its runs.
    pub fn run_totals(&self) -> RunTotals {
        let frontier = self.frontier.look();
        let totals = frontier.totals();
        let failed = totals.failed.values().sum();
        RunTotals { pages: totals.answered, bytes: totals.bytes, failed }
    }

    pub fn places(&self) -> Standing {
        *self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn phase(&self) -> Phase {
        if self.stopping.load(Ordering::Relaxed) {
            Phase::Stopping
        } else if self.paused.load(Ordering::Relaxed) {
            Phase::Paused
        } else if self.disk_low.load(Ordering::Relaxed) {
            Phase::DiskLow
        } else if self.network.offline_since().is_some() {
            Phase::Offline
        } else {
            Phase::Running
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_crawl_has_a_rate_between_its_pages_too() {
        let mut slow = Meter::default();
        for second in (5..300).step_by(5) {
            slow.note(Millis(second * 1_000), second / 8, second / 8 * 500);
            if second > 60 {
                let rate = slow.rates.pages_per_second;
                assert!((0.105..0.145).contains(&rate), "{rate} after {second} s");
            }
        }
        let mut fast = Meter::default();
        for second in [5, 10, 15] {
            fast.note(Millis(second * 1_000), second * 100, 0);
        }
        fast.note(Millis(20_000), 1_500 + 50, 0);
        assert_eq!(fast.rates.pages_per_second, 10.0, "what was faster before is forgotten");
        for second in [30, 60, 200] {
            fast.note(Millis(second * 1_000), 1_550, 0);
        }
        assert_eq!(fast.rates.pages_per_second, 0.0, "nothing comes any more");
    }

    #[test]
    fn a_pause_is_no_work() {
        let mut idle = Idle::default();
        let rows = [
            (Phase::Running, 0, 0),
            (Phase::Paused, 1_000, 0),
            (Phase::Paused, 5_000, 4_000),
            (Phase::Running, 6_000, 1_000),
            (Phase::Running, 9_000, 0),
            (Phase::Offline, 10_000, 0),
            (Phase::Stopping, 12_000, 2_000),
            (Phase::Stopping, 13_000, 0),
        ];
        for (phase, now, expected) in rows {
            assert_eq!(idle.note(phase, Millis(now)), expected, "{phase:?} at {now}");
        }
    }
}
