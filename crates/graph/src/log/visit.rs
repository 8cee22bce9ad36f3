//! What the link log keeps of a visit.

use larm_core::via::Via;
use larm_core::{Millis, Outcome};

/// A visit, without its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisitHead<'a> {
    /// What was asked for, canonical.
    pub url: &'a str,
    /// When.
    pub at: Millis,
    /// What became of it.
    pub ended: Ended,
    /// How the URL was found.
    pub via: Via,
    /// Hops from a seed.
    pub depth: u32,
}

/// A visit as it is read back; its links are numbers of its chapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// What was asked for, canonical.
    pub url: String,
    /// When.
    pub at: Millis,
    /// What became of it.
    pub ended: Ended,
    /// How the URL was found.
    pub via: Via,
    /// Hops from a seed.
    pub depth: u32,
    /// Its links, in the order of the page.
    pub links: Vec<u32>,
    /// Where it stands in the log.
    pub place: Place,
}

impl Default for Visit {
    fn default() -> Self {
        Self {
            url: String::new(),
            at: Millis(0),
            ended: Ended::Failed,
            via: Via::Seed,
            depth: 0,
            links: Vec::new(),
            place: Place::default(),
        }
    }
}

/// Where a visit stands in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    /// First byte of its chapter.
    pub chapter: u64,
    /// How many visits of the chapter stand before it.
    pub index: u32,
}

/// What became of a URL, in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ended {
    /// A final answer of this status.
    Fetched(u16),
    /// A redirect of this status.
    Redirected(u16),
    /// robots.txt says no.
    Denied,
    /// A filter or a budget says no.
    Rejected,
    /// Given up.
    Failed,
    /// Its host was given up.
    HostUnreachable,
}

impl Ended {
    /// Whether something is there: a page, or a redirect to one.
    pub fn is_page(self) -> bool {
        matches!(self, Self::Fetched(200..300) | Self::Redirected(_))
    }

    /// The word that logs and counters use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fetched(_) => "fetched",
            Self::Redirected(_) => "redirected",
            Self::Denied => "denied",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::HostUnreachable => "host-unreachable",
        }
    }

    /// Status of the answer, if there was one.
    pub fn status(self) -> Option<u16> {
        match self {
            Self::Fetched(status) | Self::Redirected(status) => Some(status),
            _ => None,
        }
    }

    /// As files hold it: a number, and the status or 0.
    pub fn to_code(self) -> (u8, u16) {
        let code = match self {
            Self::Fetched(_) => 0,
            Self::Redirected(_) => 1,
            Self::Denied => 2,
            Self::Rejected => 3,
            Self::Failed => 4,
            Self::HostUnreachable => 5,
        };
        (code, self.status().unwrap_or(0))
    }

    /// What [`Ended::to_code`] gave.
    pub fn from_code(code: u8, status: u16) -> Option<Self> {
        Some(match code {
            0 => Self::Fetched(status),
            1 => Self::Redirected(status),
            2 => Self::Denied,
            3 => Self::Rejected,
            4 => Self::Failed,
            5 => Self::HostUnreachable,
            _ => return None,
        })
    }
}

impl From<&Outcome> for Ended {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Fetched { status } => Self::Fetched(*status),
            Outcome::Redirected { status, .. } => Self::Redirected(*status),
            Outcome::Denied { .. } => Self::Denied,
            Outcome::Rejected { .. } => Self::Rejected,
            Outcome::Failed { .. } => Self::Failed,
            Outcome::HostUnreachable { .. } => Self::HostUnreachable,
        }
    }
}
