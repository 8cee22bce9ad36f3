//! What became of a URL, and what that means for the next try.
//!
//! A bad web is data: every way in which a server, a name or a network can fail has a class here,
//! each class has one row in the retry table, and nothing else in larm decides about retries.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// The end of one lease, as it is stored, logged and counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// A final answer of the server, of any status that is not a redirect.
    Fetched {
        /// HTTP status.
        status: u16,
    },
    /// A redirect; its target went through scope as a link.
    Redirected {
        /// HTTP status.
        status: u16,
        /// The target as resolved, canonical where that is possible.
        to: String,
    },
    /// robots.txt says no.
    Denied {
        /// The line that decided, or why there was no such line.
        rule: String,
    },
    /// A filter or a budget that applies at fetch time says no.
    Rejected {
        /// Name of the filter.
        filter: String,
        /// What it found.
        detail: String,
    },
    /// Given up after the last try.
    Failed {
        /// How it failed.
        class: FailureClass,
        /// The same in words.
        detail: String,
    },
    /// The host as a whole was given up; this URL was not asked for.
    HostUnreachable {
        /// What the host failed with.
        class: FailureClass,
    },
}

impl Outcome {
    /// One stable word for logs and counters.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Fetched { .. } => "fetched",
            Self::Redirected { .. } => "redirected",
            Self::Denied { .. } => "denied",
            Self::Rejected { .. } => "rejected",
            Self::Failed { .. } => "failed",
            Self::HostUnreachable { .. } => "host-unreachable",
        }
    }

    /// Whether a server was asked for this URL and answered.
    pub fn answered(&self) -> bool {
        matches!(self, Self::Fetched { .. } | Self::Redirected { .. })
    }

    /// Status of the answer, if there was one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Fetched { status } | Self::Redirected { status, .. } => Some(*status),
            _ => None,
        }
    }
}

/// A try that did not give a usable answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The kind, which decides what happens next.
    pub class: FailureClass,
    /// The same in words, for people.
    pub detail: String,
    /// Another address of the host, which took the connection instead.
    pub elsewhere: Option<IpAddr>,
}

impl Failure {
    /// A failure of `class`, described by `detail`.
    pub fn new(class: FailureClass, detail: impl Into<String>) -> Self {
        Self { class, detail: detail.into(), elsewhere: None }
    }

    /// No failure of anybody: another address of the host was faster, and nothing was sent.
    pub fn elsewhere(address: IpAddr) -> Self {
        let detail = format!("connected to {address} instead");
        Self { elsewhere: Some(address), ..Self::new(FailureClass::Elsewhere, detail) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class.word(), self.detail)
    }
}

/// The kinds of failure. Closed: a new kind needs a row in [`FailureClass::retry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FailureClass {
    /// The name has no address: that is what name servers say.
    Dns,
    /// The address is private, loopback or otherwise not for us, and no seed named it.
    ForbiddenAddress,
    /// Connection refused.
    Refused,
    /// No route to the host or network.
    Unroutable,
    /// No connection in time.
    ConnectTimeout,
    /// The proxy in between cannot be used.
    Proxy,
    /// The TLS handshake or certificate failed.
    Tls,
    /// Connected, asked, and no headers in time.
    FirstByteTimeout,
    /// The connection broke before the headers were complete.
    Reset,
    /// The answer is not HTTP, or breaks it, or its headers are beyond the limits.
    Protocol,
    /// The body broke off before it was complete.
    BodyBroken,
    /// 429.
    TooManyRequests,
    /// 503.
    Unavailable,
    /// 500, 502, 504 and other 5xx.
    ServerError,
    /// robots.txt cannot be had, which means: no access for now (RFC 9309 section 2.3.1.4).
    RobotsUnreachable,
    /// The crawl-delay is longer than we wait.
    CrawlDelayTooLong,
    /// The host wants a login, and it failed.
    Login,
    /// Our own machine has no file left for a connection: says nothing of URL or host.
    NoFiles,
    /// A page that asks for a browser, or for a person, stands before the one that was asked for.
    BotWall,
    /// No name server answered, or none could tell whether the name has an address.
    NameServers,
    /// Our own network is down: says nothing of URL or host.
    Offline,
    /// Another address of the host took the connection; the URL waits for its turn there.
    Elsewhere,
    /// A file of this machine that cannot be read, or must not be.
    Unreadable,
}

/// Whom a failure is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// This URL alone; the host's other URLs go on.
    Url,
    /// The host: nothing of it is asked until its next chance.
    Host,
    /// The host, and there is no other chance.
    HostForGood,
    /// This URL, and there is no other try.
    UrlForGood,
    /// Nobody out there: the URL waits as before.
    Nobody,
}

/// One row of the retry table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryRule {
    /// Who has to wait.
    pub blame: Blame,
    /// Wait before the second try.
    pub first_delay_ms: u64,
    /// Each further wait is this many times the last.
    pub growth: u64,
}

impl FailureClass {
    /// All classes, in the order of the table in the manual.
    pub const ALL: [Self; 23] = [
        Self::Dns,
        Self::ForbiddenAddress,
        Self::Refused,
        Self::Unroutable,
        Self::ConnectTimeout,
        Self::Proxy,
        Self::Tls,
        Self::FirstByteTimeout,
        Self::Reset,
        Self::Protocol,
        Self::BodyBroken,
        Self::TooManyRequests,
        Self::Unavailable,
        Self::ServerError,
        Self::RobotsUnreachable,
        Self::CrawlDelayTooLong,
        Self::Login,
        Self::NoFiles,
        Self::BotWall,
        Self::NameServers,
        Self::Offline,
        Self::Elsewhere,
        Self::Unreadable,
    ];

    /// The retry table. Refused connections and names that are not there, which somebody has said in so many
    /// words, get their three chances within 30 seconds, other host failures within the hour of
    /// `host_chances_ms_max`.
    pub fn retry(self) -> RetryRule {
        let (blame, first_delay_ms, growth) = match self {
            Self::Dns => (Blame::Host, 2_000, 3),
            Self::ForbiddenAddress => (Blame::HostForGood, 0, 1),
            Self::Refused => (Blame::Host, 2_000, 3),
            Self::Unroutable => (Blame::Host, 5_000, 5),
            Self::ConnectTimeout => (Blame::Host, 30_000, 5),
            Self::Proxy => (Blame::Host, 5_000, 5),
            Self::Tls => (Blame::Host, 5_000, 3),
            Self::FirstByteTimeout => (Blame::Url, 10_000, 3),
            Self::Reset => (Blame::Url, 5_000, 3),
            Self::Protocol => (Blame::Url, 5_000, 3),
            Self::BodyBroken => (Blame::Url, 5_000, 3),
            Self::TooManyRequests => (Blame::Host, 30_000, 3),
            Self::Unavailable => (Blame::Host, 15_000, 3),
            Self::ServerError => (Blame::Url, 5_000, 3),
            Self::RobotsUnreachable => (Blame::Host, 15_000, 3),
            Self::CrawlDelayTooLong => (Blame::HostForGood, 0, 1),
            Self::NameServers => (Blame::Host, 5_000, 5),
            Self::Login => (Blame::HostForGood, 0, 1),
            Self::NoFiles | Self::Offline | Self::Elsewhere => (Blame::Nobody, 0, 1),
            Self::BotWall => (Blame::Host, 60_000, 5),
            Self::Unreadable => (Blame::UrlForGood, 0, 1),
        };
        RetryRule { blame, first_delay_ms, growth }
    }

    /// Whether the host could not be talked to at all, as opposed to one that answered something.
    /// Its robots.txt counts as the host: without it there is nothing to ask for.
    pub fn is_connection_level(self) -> bool {
        match self {
            Self::Dns
            | Self::NameServers
            | Self::ForbiddenAddress
            | Self::Refused
            | Self::Unroutable
            | Self::ConnectTimeout
            | Self::Proxy
            | Self::Tls
            | Self::Login
            | Self::RobotsUnreachable => true,
            Self::FirstByteTimeout
            | Self::Reset
            | Self::Protocol
            | Self::BodyBroken
            | Self::TooManyRequests
            | Self::Unavailable
            | Self::ServerError
            | Self::CrawlDelayTooLong
            | Self::NoFiles
            | Self::BotWall
            | Self::Offline
            | Self::Elsewhere
            | Self::Unreadable => false,
        }
    }

    /// The wait before try number `failures + 1`, after `failures` failures in a row.
    pub fn delay_ms(self, failures: u32, ceiling_ms: u64) -> u64 {
        let rule = self.retry();
        let factor = rule.growth.saturating_pow(failures.saturating_sub(1));
        rule.first_delay_ms.saturating_mul(factor).min(ceiling_ms)
    }

    /// One stable word for logs, counters and configuration.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::ForbiddenAddress => "forbidden-address",
            Self::Refused => "refused",
            Self::Unroutable => "unroutable",
            Self::ConnectTimeout => "connect-timeout",
            Self::Proxy => "proxy",
            Self::Tls => "tls",
            Self::FirstByteTimeout => "first-byte-timeout",
            Self::Reset => "reset",
            Self::Protocol => "protocol",
            Self::BodyBroken => "body-broken",
            Self::TooManyRequests => "too-many-requests",
            Self::Unavailable => "unavailable",
            Self::ServerError => "server-error",
            Self::RobotsUnreachable => "robots-unreachable",
            Self::CrawlDelayTooLong => "crawl-delay-too-long",
            Self::Login => "login",
            Self::NoFiles => "no-files",
            Self::BotWall => "bot-wall",
            Self::NameServers => "name-servers",
            Self::Offline => "offline",
            Self::Elsewhere => "elsewhere",
            Self::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_told_no_at_once_has_used_up_its_chances_within_thirty_seconds() {
        for class in [FailureClass::Refused, FailureClass::Dns] {
            let total: u64 = (1..=3).map(|n| class.delay_ms(n, u64::MAX)).sum();
            assert!(total <= 30_000, "{class}: {total}");
        }
    }

    #[test]
    fn every_host_failure_uses_up_its_chances_within_the_hour() {
        for class in FailureClass::ALL {
            let total: u64 = (1..=3).map(|n| class.delay_ms(n, u64::MAX)).sum();
            assert!(total <= 3_600_000, "{class}: {total}");
        }
    }

    #[test]
    fn waits_never_shrink_and_never_overflow() {
        for class in FailureClass::ALL {
            let mut last = 0;
            for failures in 1..200 {
                let delay = class.delay_ms(failures, 3_600_000);
                assert!(delay >= last && delay <= 3_600_000);
                last = delay;
            }
        }
    }

    #[test]
    fn words_are_unique() {
        let mut words: Vec<_> = FailureClass::ALL.iter().map(|class| class.word()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), FailureClass::ALL.len());
    }
}
