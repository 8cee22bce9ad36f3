//! How long a host is left alone: the gap after an answer, and the waits after failures.
//!
//! Everything that politeness has to remember of one host is in [`HostPace`], which outlives its time
//! on the bench and is written to disk with the frontier. The waits themselves are computed in two
//! places only: [`HostPace::gap_ms`] when the host answers, the table in the header of
//! [`workbench`](super) when it does not. There is no randomness here and no clock: the same ends at
//! the same times give the same waits.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Blame, FailureClass, Limits, Millis};

/// How fast the crawl as a whole may go. May be changed while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Gap per host: from the end of a response to the next request.
    pub delay_ms: u64,
    /// Gap per address: from one request sent to the next one sent.
    pub address_gap_ms: u64,
    /// Connections per address at a time; at least 1.
    pub address_connections_max: u32,
    /// The gap is at least this many times the smoothed response time; 0 turns that off.
    pub response_factor: u64,
    /// Longest gap that slow responses alone can lead to.
    pub adaptive_max_ms: u64,
    /// Requests per second of the whole crawl, evenly spaced.
    pub rate: Option<u32>,
}

impl Default for Pace {
    /// A second per host, and at most a fifth of a slow host's time.
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            delay_ms: 1_000,
            address_gap_ms: 250,
            address_connections_max: u32::try_from(limits.address_connections_max).unwrap_or(1),
            response_factor: 4,
            adaptive_max_ms: limits.gap_adaptive_ms_max,
            rate: None,
        }
    }
}

/// A host's politeness memory: kept by the frontier, lent to the bench while the host is on it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HostPace {
    /// No request before this time, by the pace in force when it was set; see [`HostPace::due`].
    pub not_before: Millis,
    /// Which rule set `not_before`.
    pub rule: WaitRule,
    /// When its last request ended, as far as is known: the gap runs from here.
    pub last_end: Option<Millis>,
    /// Gap set for this host by the user, in place of the crawl's.
    pub delay_ms: Option<u64>,
    /// Gap that the host's robots.txt asks for.
    pub crawl_delay_ms: Option<u64>,
    /// Smoothed response time; 0 before the first answer.
    pub response_ms: u64,
    /// Failures in a row, of any class.
    pub failures: u32,
    /// Chances used since the last answer.
    pub chances: u32,
    /// The first of the failures in a row.
    pub failing_since: Option<Millis>,
}

/// Which rule makes a host wait: the answer to "why is nothing happening".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum WaitRule {
    /// None: the host was not asked yet.
    #[default]
    None,
    /// The delay between two requests, of the crawl or of this host.
    Delay,
    /// The crawl-delay of its robots.txt.
    CrawlDelay,
    /// The host answers slowly.
    SlowResponses,
    /// The host named a time.
    RetryAfter,
    /// The host failed, and gets time to recover.
    BackOff(FailureClass),
    /// The host failed too often in a row.
    Excluded(FailureClass),
    /// The crawl was started again; when the host was last asked is not known for certain.
    AfterRestart,
    /// A page of it failed, and is tried again later.
    Retry,
    /// Somebody paused this host.
    Paused,
    /// The gap between two requests to one address, whichever hosts are there.
    AddressGap,
}

impl WaitRule {
    /// Whether the wait is the usual gap, as opposed to one that a failure or a person asked for.
    pub fn is_gap(self) -> bool {
        matches!(self, Self::Delay | Self::CrawlDelay | Self::SlowResponses)
    }
}

impl fmt::Display for WaitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("nothing"),
            Self::Delay => f.write_str("the delay between two requests"),
            Self::CrawlDelay => f.write_str("the crawl-delay of its robots.txt"),
            Self::SlowResponses => f.write_str("a longer gap, as the server answers slowly"),
            Self::RetryAfter => f.write_str("the server asked for a break (Retry-After)"),
            Self::BackOff(class) => write!(f, "time to recover after a failure ({class})"),
            Self::Excluded(class) => write!(f, "left alone after many failures ({class})"),
            Self::AfterRestart => f.write_str("one full gap after the crawl's restart"),
            Self::Retry => f.write_str("a page that failed is tried again later"),
            Self::Paused => f.write_str("somebody paused this host"),
            Self::AddressGap => f.write_str("the gap between two requests to its address"),
        }
    }
}

/// How a lease ended, as far as politeness goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// The host answered, with whatever status.
    Answered {
        /// Time that it took, from request to end of body.
        response_ms: u64,
    },
    /// It did not, or it answered that it cannot.
    Failed {
        /// How it failed.
        class: FailureClass,
        /// The wait that it asked for.
        retry_after_ms: Option<u64>,
    },
    /// Nothing was sent: the time stays as it was.
    Unused,
    /// It failed while our own network was down: the host waits its usual gap, behind those who were not
    /// asked, and nothing is held against it.
    Spared,
}

/// Whether a host is worth another try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// It is, once `not_before` has come.
    Goes,
    /// Its chances are used up; its urls settle as host unreachable.
    GivenUp(FailureClass),
}

impl HostPace {
    /// Takes note of how a request ended at `at`: sets `not_before` and says whether to go on.
    /// `not_before` never moves to an earlier time.
    pub fn end(&mut self, end: End, at: Millis, pace: &Pace, limits: &Limits) -> Health {
        match end {
            End::Unused => Health::Goes,
            End::Spared => {
                self.wait_gap(at, pace);
                Health::Goes
            }
            End::Answered { response_ms } => {
                self.answered(response_ms);
                self.wait_gap(at, pace);
                Health::Goes
            }
            End::Failed { class, retry_after_ms } => {
                self.wait_gap(at, pace);
                self.failed(class, at);
                self.wait_for_failure(class, retry_after_ms, at, limits)
            }
        }
    }

    /// The usual gap after a response, and which rule makes it that long: the longest of delay,
    /// crawl-delay, and response time × factor. With a delay of 0 slowness does not count.
    pub fn gap_ms(&self, pace: &Pace) -> (u64, WaitRule) {
        let delay = self.delay_ms.unwrap_or(pace.delay_ms);
        let crawl_delay = self.crawl_delay_ms.unwrap_or(0);
        let slowness = self.response_ms.saturating_mul(pace.response_factor);
        let slow = if delay == 0 { 0 } else { slowness.min(pace.adaptive_max_ms) };
        if delay >= crawl_delay && delay >= slow {
            (delay, WaitRule::Delay)
        } else if crawl_delay >= slow {
            (crawl_delay, WaitRule::CrawlDelay)
        } else {
            (slow, WaitRule::SlowResponses)
        }
    }

    /// How far apart two requests to it are at least, and by which rule: its own gap, or that of its address.
    pub fn spacing_ms(&self, pace: &Pace) -> (u64, WaitRule) {
        let (gap, rule) = self.gap_ms(pace);
        match pace.address_gap_ms > gap {
            true => (pace.address_gap_ms, WaitRule::AddressGap),
            false => (gap, rule),
        }
    }

    /// From when on it may be asked under `pace`, and by which rule: after its gap as it is now, which
    /// may have changed since the last end, or after a longer wait that was due to something else.
    pub fn due(&self, pace: &Pace) -> (Millis, WaitRule) {
        let (gap, rule) = self.gap_ms(pace);
        match self.last_end.map(|end| end.after(gap)) {
            Some(until) if self.rule.is_gap() || until > self.not_before => (until, rule),
            _ => (self.not_before, self.rule),
        }
    }

    /// One full gap from `now`, that of its address included: what was in flight when the crawl
    /// stopped may have ended a moment ago.
    pub fn after_restart(&mut self, now: Millis, pace: &Pace) {
        let gap = self.gap_ms(pace).0.max(pace.address_gap_ms);
        self.last_end = Some(now);
        self.wait_until(now.after(gap), WaitRule::AfterRestart);
    }

    /// Waits the usual gap from `at`.
    pub(super) fn wait_gap(&mut self, at: Millis, pace: &Pace) {
        let (gap, rule) = self.gap_ms(pace);
        self.last_end = Some(at);
        self.wait_until(at.after(gap), rule);
    }

    fn answered(&mut self, response_ms: u64) {
        self.response_ms = smoothed(self.response_ms, response_ms);
        self.failures = 0;
        self.chances = 0;
        self.failing_since = None;
    }

    fn failed(&mut self, class: FailureClass, at: Millis) {
        debug_assert!(self.failures > 0 || self.failing_since.is_none(), "{class} at {at}");
        self.failures = self.failures.saturating_add(1);
        self.failing_since.get_or_insert(at);
    }

    fn wait_for_failure(
        &mut self,
        class: FailureClass,
        retry_after_ms: Option<u64>,
        at: Millis,
        limits: &Limits,
    ) -> Health {
        let blame = class.retry().blame;
        let excluded = u64::from(self.failures) >= limits.host_failures_max;
        if blame == Blame::HostForGood || self.failing_too_long(at, limits) {
            return Health::GivenUp(class);
        }
        if blame == Blame::Host && (!class.is_connection_level() || retry_after_ms.is_some()) {
            self.break_for(class, retry_after_ms, at, limits);
        }
        if excluded || class.is_connection_level() {
            return self.use_chance(class, excluded, at, limits);
        }
        Health::Goes
    }

    fn failing_too_long(&self, at: Millis, limits: &Limits) -> bool {
        // One page that fails before and after a long break is not a host that fails.
        let often = u64::from(self.failures) > limits.host_chances_max;
        let too_long = |since| at.since(since) > limits.host_chances_ms_max;
        often && self.failing_since.is_some_and(too_long)
    }

    /// 429 and 503: the server's own time if it named one (RFC 9110 section 10.2.3), else ours.
    fn break_for(
        &mut self,
        class: FailureClass,
        retry_after_ms: Option<u64>,
        at: Millis,
        limits: &Limits,
    ) {
        let (wait, rule) = match retry_after_ms {
            Some(asked) => (asked.min(limits.retry_after_ms_max), WaitRule::RetryAfter),
            None => {
                let wait = class.delay_ms(self.failures, limits.host_back_off_ms_max);
                (wait, WaitRule::BackOff(class))
            }
        };
        self.wait_until(at.after(wait), rule);
    }

    fn use_chance(
        &mut self,
        class: FailureClass,
        excluded: bool,
        at: Millis,
        limits: &Limits,
    ) -> Health {
        if u64::from(self.chances) >= limits.host_chances_max {
            return Health::GivenUp(class);
        }
        self.chances += 1;
        let wait = class.delay_ms(self.chances, limits.host_chances_ms_max);
        let rule = if excluded { WaitRule::Excluded(class) } else { WaitRule::BackOff(class) };
        self.wait_until(at.after(wait), rule);
        Health::Goes
    }

    /// The later time wins, and its rule with it. Where both a gap and a failure ask for a wait, the
    /// rule is that of the failure: a shorter gap must not make it shorter later on.
    fn wait_until(&mut self, until: Millis, rule: WaitRule) {
        if until >= self.not_before || self.rule.is_gap() {
            self.rule = rule;
        }
        self.not_before = self.not_before.max(until);
    }
}

/// A quarter of the newest, three quarters of what was: one slow page does not make a slow host.
fn smoothed(before: u64, newest: u64) -> u64 {
    if before == 0 {
        return newest;
    }
    before.saturating_mul(3).saturating_add(newest).div_ceil(4)
}

#[cfg(test)]
mod tests;
