//! Hosts of a crawl, as they are shown: what each is doing, what it waits for, and by which rule.
//!
//! A crawl that runs tells of the hosts that it has in memory; of one that does not, the program reads them from its
//! files.

use larm_crawl::frontier::{HostStatus, Standing};
use serde::Serialize;
use utoipa::ToSchema;

/// A host.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Host {
    /// Its name.
    pub host: String,
    /// Where it stands.
    pub state: HostState,
    /// What it waits for, as a sentence.
    pub words: String,
    /// Until when, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// Which rule set that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// URLs that wait.
    pub queued: u64,
    /// Pages answered.
    pub fetched: u64,
    /// Failures in a row.
    pub failed: u32,
    /// The gap between two requests to it, as it is now.
    pub delay_ms: u64,
    /// Which rule sets it.
    pub delay_rule: String,
    /// The gap that was set for it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_delay_ms: Option<u64>,
    /// Whether somebody paused it.
    pub paused: bool,
    /// Requests under way.
    pub in_flight: u64,
    /// Where it is, or was last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// Where a host stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostState {
    /// May be asked now.
    Ready,
    /// A request is under way.
    Busy,
    /// Waits for a time.
    Waiting,
    /// Failed, or asked for a break.
    BackingOff,
    /// Its robots.txt cannot be had.
    RobotsUnreachable,
    /// Failed too often.
    Excluded,
    /// Somebody paused it.
    Paused,
    /// Nothing is left to ask.
    Done,
}

impl HostState {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::Waiting => "waiting",
            Self::BackingOff => "backing-off",
            Self::RobotsUnreachable => "robots-unreachable",
            Self::Excluded => "excluded",
            Self::Paused => "paused",
            Self::Done => "done",
        }
    }
}

/// A host as it is shown.
pub fn view(host: HostStatus) -> Host {
    let (state, words) = stand(&host);
    let words = match &host.trouble {
        Some(trouble) => format!("{words} Last trouble: {trouble}."),
        None => words,
    };
    let until = host.standing.until();
    Host {
        state,
        words,
        until: until.map(|until| until.until.0),
        rule: until.map(|until| until.rule.clone()),
        queued: host.waiting,
        fetched: host.answered,
        failed: host.failures,
        delay_ms: host.gap_ms,
        delay_rule: host.gap_rule,
        own_delay_ms: host.delay_ms,
        paused: state == HostState::Paused,
        in_flight: u64::from(state == HostState::Busy),
        address: host.address.map(|address| address.to_string()),
        host: host.host,
    }
}

fn stand(host: &HostStatus) -> (HostState, String) {
    use HostState::{BackingOff, Busy, Done, Excluded, Paused, Ready, RobotsUnreachable, Waiting};
    let plain = |state, words: &str| (state, words.to_owned());
    match &host.standing {
        Standing::Fetching { url } => (Busy, format!("It is being asked for {url}.")),
        Standing::Resolving => plain(Busy, "Its name is being looked up."),
        Standing::Ready => plain(Ready, "It is next in line."),
        Standing::SharesAddress { with } => {
            (Waiting, format!("It waits for {with}, which is at the same address."))
        }
        Standing::Waiting(wait) => (Waiting, format!("It waits: {}.", wait.rule)),
        Standing::BackingOff(wait) => (BackingOff, format!("It is left alone: {}.", wait.rule)),
        Standing::RobotsUnreachable(_) => plain(
            RobotsUnreachable,
            "Its robots.txt cannot be had, so nothing else may be asked for.",
        ),
        Standing::Excluded(wait) => (Excluded, format!("It failed many times: {}.", wait.rule)),
        Standing::AwaitingRobots => {
            plain(Waiting, "Its robots.txt lies elsewhere and is being fetched.")
        }
        Standing::Paused => plain(Paused, "Somebody paused it."),
        Standing::OverBudget => plain(Done, "It has had its share of the budget."),
        Standing::Held => plain(Done, "What waits is like pages that brought nothing new."),
        Standing::GivenUp { class } => {
            (Excluded, format!("It was given up, as it failed too often ({class})."))
        }
        Standing::Idle => plain(Done, "Nothing is left to ask."),
    }
}
