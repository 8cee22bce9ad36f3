//! What is happening now: two live lines on a terminal, a plain line every ten seconds elsewhere.

use std::collections::VecDeque;
use std::time::Duration;

use indicatif::ProgressBar;
use larm_core::Millis;
use larm_core::url::file::is_lane;
use larm_crawl::frontier::{HostStatus, Standing};
use larm_crawl::{Phase, Status};

use crate::console::Console;
use crate::{human, worth};

/// How many hosts are looked at for what happens now.
pub const HOSTS_MAX: usize = 16;
/// The rate is that of the last seconds.
const RATE_WINDOW_MS: u64 = 8_000;

const LIVE_TICK: Duration = Duration::from_millis(250);
const PLAIN_TICK: Duration = Duration::from_secs(10);

/// Shows how a crawl goes on.
pub struct Progress {
    console: Console,
    lines: Option<(ProgressBar, ProgressBar)>,
    silent: bool,
    started: Option<Millis>,
    meter: Meter,
}

impl Progress {
    /// Shows it there; not at all if `silent`.
    pub fn new(console: &Console, silent: bool) -> Self {
        let lines = console.live_line().zip(console.live_line());
        Self { console: console.clone(), lines, silent, started: None, meter: Meter::default() }
    }

    /// How often to call [`Progress::show`].
    pub fn tick(&self) -> Duration {
        if self.lines.is_some() { LIVE_TICK } else { PLAIN_TICK }
    }

    /// Shows a status.
    pub fn show(&mut self, status: &Status) {
        let started = *self.started.get_or_insert(status.at);
        let rate = self.meter.rate(status.at, status.frontier.totals.answered);
        let elapsed = status.at.since(started);
        let counts = counts(status, rate, elapsed);
        match &self.lines {
            Some((first, second)) => {
                first.set_message(self.console.paint.bold(&counts));
                second.set_message(self.console.paint.dim(&now(status)));
            }
            None if self.silent || elapsed == 0 => {}
            None => self.console.say(format!("{counts} · {}", now(status))),
        }
    }

    /// Takes the live lines away.
    pub fn finish(&self) {
        if let Some((first, second)) = &self.lines {
            first.finish_and_clear();
            second.finish_and_clear();
        }
    }
}

/// Pages per second over the last seconds.
#[derive(Default)]
struct Meter {
    marks: VecDeque<(Millis, u64)>,
}

impl Meter {
    fn rate(&mut self, now: Millis, pages: u64) -> f64 {
        while self.marks.len() > 1
            && self.marks.front().is_some_and(|(at, _)| now.since(*at) > RATE_WINDOW_MS)
        {
            self.marks.pop_front();
        }
        self.marks.push_back((now, pages));
        let (then, before) = *self.marks.front().expect("one was just added");
        let ms = now.since(then);
        if ms == 0 { 0.0 } else { pages.saturating_sub(before) as f64 * 1_000.0 / ms as f64 }
    }
}

fn counts(status: &Status, rate: f64, elapsed_ms: u64) -> String {
    let frontier = &status.frontier;
    let totals = &frontier.totals;
    let failed: u64 = totals.failed.values().sum();
    let mut parts = vec![
        format!("{} done", human::count(totals.settled())),
        format!("{} waiting", human::count(frontier.waiting.saturating_sub(status.in_flight))),
        format!("{} in flight", status.in_flight),
        format!("{rate:.1} pages/s"),
        human::bytes(totals.bytes),
    ];
    if failed > 0 {
        parts.push(format!("{} failed", human::count(failed)));
    }
    if let Some(gain) = status.gain.filter(|gain| gain.pages > 0) {
        parts.push(format!("{} good", human::percent(gain.share())));
    }
    parts.push(human::clock(elapsed_ms));
    parts.join(" · ")
}

/// What is being fetched, or else what is waited for.
fn now(status: &Status) -> String {
    match status.phase {
        Phase::Paused => return "paused; `larm resume` goes on".to_owned(),
        Phase::DiskLow => return "the disk is nearly full: waiting for room".to_owned(),
        Phase::Offline => return offline(status),
        Phase::Stopping => return "stopping: finishing what is in flight".to_owned(),
        Phase::Running => {}
    }
    let hosts = &status.frontier.hosts;
    let fetching = hosts.iter().filter_map(|host| match &host.standing {
        Standing::Fetching { url } => Some(url.as_str()),
        _ => None,
    });
    let fetching: Vec<&str> = fetching.take(3).collect();
    if !fetching.is_empty() {
        return format!("fetching {}", fetching.join("  "));
    }
    hosts.iter().find_map(waiting_for).unwrap_or_else(|| "nothing waits".to_owned())
}

/// That our own network is down, and since when.
pub fn offline(status: &Status) -> String {
    let ms = status.offline_since.map_or(0, |since| status.at.since(since));
    let why = status.offline_reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!("offline for {}{why}: trying whether the network is back", human::time(ms))
}

/// What a host is waited for, in words.
pub fn waiting_for(host: &HostStatus) -> Option<String> {
    let name = &host.host;
    let is_fetching = matches!(host.standing, Standing::Fetching { .. });
    // The lanes of files are no hosts to anybody.
    if is_lane(name) && !is_fetching {
        return None;
    }
    Some(match &host.standing {
        Standing::Waiting(wait) => {
            format!("waiting for {name}: {} more ({})", human::time(wait.ms), wait.rule)
        }
        Standing::BackingOff(wait)
        | Standing::RobotsUnreachable(wait)
        | Standing::Excluded(wait) => {
            let (word, why) = (host.standing.word(), why(&wait.rule, host));
            format!("{name}: {word}, {} more ({why})", human::time(wait.ms))
        }
        Standing::SharesAddress { with } => format!("{name} waits for {with}, at the same address"),
        Standing::Resolving => format!("looking up {name}"),
        Standing::AwaitingRobots => format!("waiting for the robots.txt of {name}"),
        Standing::Paused => format!("{name} is paused"),
        Standing::OverBudget => format!("{name} has had its share ({})", worth::BUDGETS),
        Standing::Held => format!("{name}: what waits is like pages that bring nothing new"),
        Standing::GivenUp { class } => format!("{name} was given up ({})", why(&class, host)),
        Standing::Ready => format!("{name} is next"),
        Standing::Fetching { url } => format!("fetching {url}"),
        Standing::Idle => return None,
    })
}

/// What set a time, or an end, and what went wrong before.
fn why(rule: &dyn std::fmt::Display, host: &HostStatus) -> String {
    let trouble = host.trouble.as_ref().map(|words| format!(": {words}"));
    format!("{rule}{}", trouble.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use larm_crawl::frontier::Until;

    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let mut meter = Meter::default();
        assert_eq!(meter.rate(Millis(1_000), 0), 0.0);
        assert_eq!(meter.rate(Millis(2_000), 10), 10.0);
        for second in 3..60 {
            meter.rate(Millis(second * 1_000), 10);
        }
        assert_eq!(meter.rate(Millis(60_000), 10), 0.0, "nothing came lately");
    }

    #[test]
    fn a_waiting_host_says_how_long_and_by_which_rule() {
        let wait = Until { until: Millis(1_800), ms: 800, rule: "the delay".to_owned() };
        let host = HostStatus {
            host: "h".to_owned(),
            waiting: 1,
            answered: 0,
            failures: 0,
            address: None,
            alias: None,
            trouble: None,
            budget: None,
            patterns: Vec::new(),
            gap_ms: 1_000,
            gap_rule: String::new(),
            delay_ms: None,
            standing: Standing::Waiting(wait.clone()),
        };
        assert_eq!(waiting_for(&host).unwrap(), "waiting for h: 0.8 s more (the delay)");
        let trouble = Some("the certificate has expired".to_owned());
        let failed = HostStatus { trouble, standing: Standing::BackingOff(wait), ..host };
        let expected = "h: backing off, 0.8 s more (the delay: the certificate has expired)";
        assert_eq!(waiting_for(&failed).unwrap(), expected);
    }
}
