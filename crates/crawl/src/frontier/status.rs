//! What the frontier can tell about itself: the answer to "why is nothing happening".

use std::net::IpAddr;

use larm_core::workbench::WaitRule;
use larm_core::worth::Finding;
use larm_core::{FailureClass, Millis};
use serde::{Deserialize, Serialize};

use super::row::Totals;

/// The frontier at one moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FrontierStatus {
    /// Counts of the whole crawl.
    pub totals: Totals,
    /// URLs waiting.
    pub waiting: u64,
    /// URLs being fetched.
    pub leased: u64,
    /// Hosts with something waiting, except those on disk of which nothing may be asked now. The lanes of
    /// files are no hosts.
    pub hosts_waiting: u64,
    /// Some of them, those that are due first.
    pub hosts: Vec<HostStatus>,
}

/// One host at one moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HostStatus {
    /// Its name.
    pub host: String,
    /// URLs waiting.
    pub waiting: u64,
    /// Pages answered.
    pub answered: u64,
    /// Failures in a row, of its name or of the origin that fails most.
    pub failures: u32,
    /// Where it is, or was last.
    pub address: Option<IpAddr>,
    /// The name that its name is an alias of.
    pub alias: Option<String>,
    /// What went wrong last, in words, where it failed and was not heard of since. The frontier itself
    /// does not know.
    #[serde(default)]
    pub trouble: Option<String>,
    /// The gap between two requests to it, in milliseconds, as it is now.
    #[serde(default)]
    pub gap_ms: u64,
    /// Which rule sets it, in words.
    #[serde(default)]
    pub gap_rule: String,
    /// The gap that was set for it alone.
    #[serde(default)]
    pub delay_ms: Option<u64>,
    /// What it is doing.
    #[serde(flatten)]
    pub standing: Standing,
    /// How much of it may be fetched, if there are budgets.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// Shapes of its URLs whose pages bring nothing new, the worst first.
    #[serde(default)]
    pub patterns: Vec<Finding>,
}

/// How much of a host, and of its site, may be fetched: what was, and what its worth allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Pages with something new.
    pub fruitful: u64,
    /// Pages that the host may have.
    pub allowed: Option<u64>,
    /// Pages of its site.
    pub site_pages: u64,
    /// Pages that the site may have.
    pub site_allowed: Option<u64>,
    /// Other sites that link to the site, roughly.
    pub domains: u64,
}

/// Which hosts are to be told of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostsAsked {
    /// How many of them in detail.
    #[serde(rename = "hosts")]
    pub most: usize,
    /// Only those whose name has this in it; empty for all.
    #[serde(default)]
    pub containing: String,
}

impl HostsAsked {
    /// The first so many.
    pub fn first(most: usize) -> Self {
        Self { most, containing: String::new() }
    }
}

/// Hosts in the order in which something happens to them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HostList {
    /// How many there are, of those that were asked for.
    pub total: u64,
    /// The first of them.
    pub hosts: Vec<HostStatus>,
}

/// What a host is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Standing {
    /// A request is under way.
    Fetching {
        /// For this URL.
        url: String,
    },
    /// Its name is being looked up.
    Resolving,
    /// May be asked now.
    Ready,
    /// May be asked, but its address is busy with another host.
    SharesAddress {
        /// That host, or one of them.
        with: String,
    },
    /// Waits its gap, or what else is usual.
    Waiting(Until),
    /// Failed, or asked for a break, and gets time to recover.
    BackingOff(Until),
    /// Its robots.txt cannot be had, so nothing else may be asked for.
    RobotsUnreachable(Until),
    /// Failed many times in a row, and is left alone for a while.
    Excluded(Until),
    /// Its robots.txt is being fetched from elsewhere.
    AwaitingRobots,
    /// Somebody paused it.
    Paused,
    /// Its budget is used up.
    OverBudget,
    /// What waits is like pages that bring nothing new.
    Held,
    /// Given up.
    GivenUp {
        /// Because of this.
        class: FailureClass,
    },
    /// Nothing waits.
    Idle,
}

/// A wait, and who is to thank for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Until {
    /// Until when.
    pub until: Millis,
    /// Milliseconds from now.
    pub ms: u64,
    /// Which rule set that time, in words.
    pub rule: String,
}

impl Standing {
    /// A host that waits until a time, by a rule; at `now` that may be over.
    pub fn waiting(until: Millis, rule: WaitRule, now: Millis) -> Self {
        let ms = until.since(now);
        if ms == 0 {
            return Self::Ready;
        }
        let wait = Until { until, ms, rule: rule.to_string() };
        match rule {
            WaitRule::BackOff(FailureClass::RobotsUnreachable) => Self::RobotsUnreachable(wait),
            WaitRule::BackOff(_) | WaitRule::RetryAfter => Self::BackingOff(wait),
            WaitRule::Excluded(_) => Self::Excluded(wait),
            WaitRule::Paused => Self::Paused,
            WaitRule::None
            | WaitRule::Delay
            | WaitRule::CrawlDelay
            | WaitRule::SlowResponses
            | WaitRule::AfterRestart
            | WaitRule::AddressGap
            | WaitRule::Retry => Self::Waiting(wait),
        }
    }

    /// What it waits for, if that is a time.
    pub fn until(&self) -> Option<&Until> {
        match self {
            Self::Waiting(wait)
            | Self::BackingOff(wait)
            | Self::RobotsUnreachable(wait)
            | Self::Excluded(wait) => Some(wait),
            _ => None,
        }
    }

    /// In a word or two.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Fetching { .. } => "fetching",
            Self::Resolving => "resolving",
            Self::Ready => "ready",
            Self::SharesAddress { .. } => "address busy",
            Self::Waiting(_) => "waiting",
            Self::BackingOff(_) => "backing off",
            Self::RobotsUnreachable(_) => "robots unreachable",
            Self::Excluded(_) => "excluded",
            Self::AwaitingRobots => "awaits robots",
            Self::Paused => "paused",
            Self::OverBudget => "over budget",
            Self::Held => "nothing new",
            Self::GivenUp { .. } => "given up",
            Self::Idle => "done",
        }
    }
}
