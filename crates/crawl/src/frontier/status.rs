//! What the frontier can tell about itself: the answer to "why is nothing happening".

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
    /// Hosts with something waiting, except those on disk of which nothing may be asked now.
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
    /// What it is doing.
    #[serde(flatten)]
    pub standing: Standing,
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
    /// May be asked now.
    Ready,
    /// Waits until a time.
    Waiting {
        /// Until when.
        until: Millis,
        /// Milliseconds from now.
        ms: u64,
        /// Which rule set that time, in words.
        rule: String,
    },
    /// Its name is being looked up.
    Resolving,
    /// Its robots.txt is being fetched from elsewhere.
    AwaitingRobots,
    /// Its budget is used up.
    OverBudget,
    /// Given up.
    GivenUp {
        /// Because of this.
        class: FailureClass,
    },
    /// Nothing waits.
    Idle,
}
