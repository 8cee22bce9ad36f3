//! Whether it is our own network that is down: a state machine over who is heard of and who is not.
//!
//! A host that does not answer is usually to blame itself. When several hosts in a row are silent and nobody
//! else is heard of, or our own machine says that there is no way out, it is not. Then nothing is held
//! against anybody, the crawl pauses, and one URL now and then is tried until somebody answers.
//!
//! ```text
//!            silence                       quiet, and enough hosts or no way out
//! online ───────────────▶ in doubt ───────────────────────────────────────────────▶ offline
//!    ▲                       │ somebody answers, or time is up                          │
//!    └───────────────────────┴──────────────── somebody answers ◀───────────────────────┘
//! ```
//!
//! A failure that comes in doubt waits for the decision; see [`Outage::decide`].
//!
//! - OUTAGE-1: while somebody answers at least once in `outage_quiet_ms_min`, the network is never down.
//! - OUTAGE-2: fewer than `outage_hosts_min` silent hosts are no outage, unless our own machine says so.
//! - OUTAGE-3: whatever is in doubt is decided within `outage_doubt_ms_max`.
//! - OUTAGE-4: a host that alone stays silent when others are heard of again is blamed at its next
//!   failure: it cannot take the network down with it twice.
//!
//! No clock and no randomness: the same evidence at the same times gives the same decisions.

use crate::{FailureClass, Limits, Millis};

/// What the end of a try says about our own network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Somebody out there said something: an answer, a refusal, a broken certificate.
    Life,
    /// Nothing was heard of the host.
    Silence,
    /// Our own machine has no way out.
    NoWayOut,
    /// A server that fell silent in mid-sentence does not tell. It shares the lot of those in doubt.
    Unclear,
}

impl Evidence {
    /// What a failure says. Nothing, if the network had no part in it.
    pub fn of(class: FailureClass) -> Option<Self> {
        use FailureClass as Class;
        Some(match class {
            // The proxy is the way out, and it is our own.
            Class::Offline | Class::Proxy => Self::NoWayOut,
            Class::ConnectTimeout | Class::Unroutable | Class::NameServers => Self::Silence,
            Class::FirstByteTimeout | Class::Reset | Class::BodyBroken => Self::Unclear,
            Class::Dns
            | Class::Refused
            | Class::Tls
            | Class::Protocol
            | Class::TooManyRequests
            | Class::Unavailable
            | Class::ServerError
            | Class::RobotsUnreachable
            | Class::BotWall
            | Class::Elsewhere => Self::Life,
            Class::ForbiddenAddress
            | Class::CrawlDelayTooLong
            | Class::Login
            | Class::NoFiles
            | Class::Unreadable => return None,
        })
    }
}

/// Whose failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The host's.
    Blame,
    /// Nobody's out there: the network was down.
    Spare,
    /// Not known yet; to be asked again at this time, or when something was noted.
    Open(Millis),
}

/// A failure that waits for its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doubt {
    epoch: u64,
    since: Millis,
}

/// The network as far as it is known.
#[derive(Debug, Clone)]
pub struct Outage {
    limits: Limits,
    state: State,
    /// How often doubt or outage ended so far: what is in doubt belongs to one of these.
    epoch: u64,
    /// The last of them that was an outage.
    last_outage: Option<u64>,
    last_life: Option<Millis>,
    /// Hosts that began the last outage and were not heard of since (OUTAGE-4).
    suspects: Vec<u64>,
}

#[derive(Debug, Clone)]
enum State {
    Online,
    Doubt(Silent),
    Offline { since: Millis, silent: Silent, probes: Probes },
}

/// Who was silent since somebody was heard of; at most `outage_hosts_min` of them are kept.
#[derive(Debug, Clone)]
struct Silent {
    since: Millis,
    hosts: Vec<u64>,
    no_way_out: bool,
}

/// When to try whether the network is back.
#[derive(Debug, Clone)]
struct Probes {
    next: Millis,
    wait_ms: u64,
    /// The host that is being tried, and since when.
    under_way: Option<(u64, Millis)>,
}

impl Outage {
    /// Takes the network to be there.
    pub fn new(limits: &Limits) -> Self {
        Self {
            limits: limits.clone(),
            state: State::Online,
            epoch: 0,
            last_outage: None,
            last_life: None,
            suspects: Vec::new(),
        }
    }

    /// Takes note of how a try ended at `host`. A failure may have to wait for what comes of it.
    pub fn note(&mut self, host: u64, evidence: Evidence, now: Millis) -> Option<Doubt> {
        match evidence {
            Evidence::Life => {
                self.heard_of(host, now);
                None
            }
            Evidence::Unclear if matches!(self.state, State::Online) => None,
            _ if self.is_blamed_at_once(host) => None,
            _ => {
                self.silent(host, evidence, now);
                self.look(now);
                Some(Doubt { epoch: self.epoch, since: now })
            }
        }
    }

    /// What becomes of a failure in doubt.
    pub fn decide(&mut self, doubt: Doubt, now: Millis) -> Decision {
        self.look(now);
        if doubt.epoch != self.epoch {
            let was_outage = self.last_outage == Some(doubt.epoch);
            return if was_outage { Decision::Spare } else { Decision::Blame };
        }
        let over = doubt.since.after(self.limits.outage_doubt_ms_max);
        match &self.state {
            State::Offline { .. } => Decision::Spare,
            State::Doubt(_) if now < over => {
                let quiet = Some(self.quiet_at(now)).filter(|quiet| *quiet > now);
                Decision::Open(quiet.map_or(over, |quiet| quiet.min(over)))
            }
            State::Doubt(_) | State::Online => Decision::Blame,
        }
    }

    /// Since when the network is down.
    pub fn offline_since(&self) -> Option<Millis> {
        match &self.state {
            State::Offline { since, .. } => Some(*since),
            _ => None,
        }
    }

    /// When to try whether the network is back; none while it is there.
    pub fn next_probe(&self) -> Option<Millis> {
        let State::Offline { probes, .. } = &self.state else { return None };
        let busy_until = |(_, since): (u64, Millis)| since.after(self.limits.outage_probe_ms_max);
        Some(probes.under_way.map_or(probes.next, |probe| probes.next.max(busy_until(probe))))
    }

    /// A host is being tried to see whether the network is back.
    pub fn probe(&mut self, host: u64, now: Millis) {
        if let State::Offline { probes, .. } = &mut self.state {
            probes.under_way = Some((host, now));
            probes.next = now.after(probes.wait_ms);
            probes.wait_ms = (probes.wait_ms * 2).min(self.limits.outage_probe_ms_max);
        }
    }

    /// Nothing is under way: whatever was tried is over, even if it came to nothing.
    pub fn idle(&mut self) {
        if let State::Offline { probes, .. } = &mut self.state {
            probes.under_way = None;
        }
    }

    /// Whether anybody was ever heard of.
    pub fn has_heard(&self) -> bool {
        self.last_life.is_some()
    }

    /// For how long an outage is waited out. Where nobody was ever heard of, there may be no network at all.
    pub fn patience_ms(&self) -> u64 {
        match self.last_life {
            Some(_) => self.limits.outage_ms_max,
            None => self.limits.outage_start_ms_max,
        }
    }

    /// OUTAGE-4.
    fn is_blamed_at_once(&self, host: u64) -> bool {
        !matches!(self.state, State::Offline { .. }) && self.suspects.contains(&host)
    }

    fn heard_of(&mut self, host: u64, now: Millis) {
        self.last_life = self.last_life.max(Some(now));
        if !self.suspects.is_empty() {
            self.suspects.retain(|suspect| *suspect != host);
        }
        match std::mem::replace(&mut self.state, State::Online) {
            State::Online => {}
            State::Doubt(_) => self.epoch += 1,
            State::Offline { silent, .. } => {
                self.last_outage = Some(self.epoch);
                self.epoch += 1;
                self.suspects = silent.hosts;
                self.suspects.retain(|suspect| *suspect != host);
            }
        }
    }

    fn silent(&mut self, host: u64, evidence: Evidence, now: Millis) {
        let hosts_max = usize::try_from(self.limits.outage_hosts_min).unwrap_or(usize::MAX);
        match &mut self.state {
            State::Online => {
                let no_way_out = evidence == Evidence::NoWayOut;
                let silent = Silent { since: now, hosts: vec![host], no_way_out };
                self.state = State::Doubt(silent);
            }
            State::Doubt(silent) => {
                silent.no_way_out |= evidence == Evidence::NoWayOut;
                let counts = evidence != Evidence::Unclear && silent.hosts.len() < hosts_max;
                if counts && !silent.hosts.contains(&host) {
                    silent.hosts.push(host);
                }
            }
            State::Offline { probes, .. } => {
                probes.under_way.take_if(|(probed, _)| *probed == host);
            }
        }
    }

    /// Ends a doubt whose time has come, one way or the other (OUTAGE-1, -2, -3).
    fn look(&mut self, now: Millis) {
        let State::Doubt(silent) = &self.state else { return };
        let enough = silent.hosts.len() as u64 >= self.limits.outage_hosts_min;
        if (enough || silent.no_way_out) && self.quiet_at(now) <= now {
            let wait_ms = self.limits.outage_probe_ms_min;
            let probes = Probes { next: now.after(wait_ms), wait_ms, under_way: None };
            self.state = State::Offline { since: silent.since, silent: silent.clone(), probes };
        } else if now >= silent.since.after(self.limits.outage_doubt_ms_max) {
            self.epoch += 1;
            self.state = State::Online;
        }
    }

    /// From when on it has been quiet for long enough.
    fn quiet_at(&self, now: Millis) -> Millis {
        let since = match &self.state {
            State::Doubt(silent) => self.last_life.unwrap_or(silent.since),
            _ => now,
        };
        since.after(self.limits.outage_quiet_ms_min)
    }
}

#[cfg(test)]
mod tests;
