//! The robots cache (step 6): the only maker of a [`Permit`].
//!
//! robots.txt is asked for right before each fetch, from a cache that holds it for a day at most. When it
//! is not there, the lease is spent on fetching it, paced like any other request, and the URL goes back
//! to its place. Redirects of a robots.txt are errands of the host that they lead to.
//!
//! - ROBOTS-1: a [`Permit`] is made here only, from a lease, after the rules of its origin said yes.
//! - ROBOTS-2: what cannot be reached forbids everything (RFC 9309 section 2.3.1.4); what is absent
//!   (4xx) forbids nothing (section 2.3.1.3). 429 counts as not reached: it asks for patience.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use larm_core::robots::Robots;
use larm_core::url::{self, CrawlUrl, UrlRules};
use larm_core::{Failure, FailureClass, Limits, Millis, Truncated};

use crate::fetch::{Fetched, retry_after_ms};
use crate::frontier::{Errand, Learnt, Lease, RobotsRow, RobotsRules};

/// Leave to send one request: made from a lease, after robots.txt was asked.
///
/// `fetch` takes nothing else, so a request that is not paced and not checked does not compile.
#[derive(Debug)]
pub struct Permit {
    lease: Lease,
    address: std::net::IpAddr,
    url: CrawlUrl,
    form: Option<String>,
}

impl Permit {
    /// What may be fetched: the lease's own URL, or the robots.txt that speaks for it.
    pub fn url(&self) -> &CrawlUrl {
        &self.url
    }

    /// The address to connect to, and no other.
    pub fn address(&self) -> std::net::IpAddr {
        self.address
    }

    /// What is sent along, as a form is: by a login alone.
    pub fn form(&self) -> Option<&str> {
        self.form.as_deref()
    }

    /// Whether what is fetched is for the crawl itself: rules or a list of pages, of whatever type.
    pub fn is_errand(&self) -> bool {
        !matches!(self.lease.errand(), Errand::Page) || self.url != *self.lease.url()
    }

    /// The same turn, spent on a step of the host's login.
    pub fn for_login(self, url: CrawlUrl, form: Option<String>) -> Self {
        assert_eq!(url.host(), self.url.host(), "ROBOTS-1: a turn is for one host");
        Self { url, form, ..self }
    }

    /// The lease this permit was made from.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Gives the lease back, to be settled.
    pub fn into_lease(self) -> Lease {
        self.lease
    }

    /// A permit for tests of what comes after it.
    #[cfg(test)]
    pub(crate) fn for_test(url: CrawlUrl, address: std::net::IpAddr) -> Self {
        Self { lease: Lease::for_test(url.clone(), address), address, url, form: None }
    }
}

/// What robots.txt says to a lease.
#[derive(Debug)]
pub enum Answer {
    /// Go ahead.
    Yes(Permit),
    /// No, because of this line.
    No(Lease, String),
    /// Not known: fetch this robots.txt first.
    Ask(Permit),
}

/// What a fetched robots.txt comes to.
#[derive(Debug)]
pub enum Reading {
    /// Rules for its origin.
    Rules(RobotsRules),
    /// To be found there.
    Elsewhere(CrawlUrl),
    /// Cannot be had now.
    Unreachable(Failure, Option<u64>),
}

/// The rules of the origins met so far, parsed.
pub struct RobotsCache {
    agent: String,
    obey: bool,
    limits: Arc<Limits>,
    parsed: Mutex<Parsed>,
}

#[derive(Default)]
struct Parsed {
    rules: HashMap<Box<str>, Arc<Entry>>,
    oldest_first: VecDeque<Box<str>>,
    bytes: u64,
}

impl Parsed {
    fn insert(&mut self, origin: Box<str>, entry: Arc<Entry>) {
        self.bytes += entry.bytes();
        match self.rules.insert(origin.clone(), entry) {
            Some(older) => self.bytes -= older.bytes(),
            None => self.oldest_first.push_back(origin),
        }
    }

    /// Forgets the oldest until both limits hold. A hostile file may take several times its size.
    fn shrink(&mut self, limits: &Limits) {
        while self.rules.len() as u64 > limits.robots_cached_max
            || self.bytes > limits.robots_cached_bytes_max
        {
            let Some(oldest) = self.oldest_first.pop_front() else { return };
            self.bytes -= self.rules.remove(&oldest).map_or(0, |entry| entry.bytes());
        }
    }
}

struct Entry {
    robots: Robots,
    at: Millis,
}

impl Entry {
    fn bytes(&self) -> u64 {
        self.robots.heap_bytes() as u64
    }
}

impl RobotsCache {
    /// A cache for the product token `agent`. With `obey` off, every answer is yes.
    pub fn new(agent: &str, obey: bool, limits: Arc<Limits>) -> Self {
        Self { agent: agent.to_owned(), obey, limits, parsed: Mutex::default() }
    }

    /// Turns a lease into a permit, if the rules of its origin allow that. `stored` looks up rules
    /// that are not in memory.
    pub fn answer<E>(
        &self,
        lease: Lease,
        address: std::net::IpAddr,
        now: Millis,
        stored: impl FnOnce(&str) -> Result<Option<RobotsRow>, E>,
    ) -> Result<Answer, E> {
        // Files have no robots.txt, and nobody who could be asked too often.
        let own_rules_apply =
            !matches!(lease.errand(), Errand::Robots { .. }) && !lease.url().is_file();
        if !self.obey || !own_rules_apply {
            return Ok(Answer::Yes(permit(lease, address)));
        }
        let Some(entry) = self.entry(lease.url().origin(), now, stored)? else {
            return Ok(Answer::Ask(permit_for_robots(lease, address)));
        };
        let verdict = entry.robots.judge(&self.agent, lease.url().path_and_query());
        if verdict.allowed {
            return Ok(Answer::Yes(permit(lease, address)));
        }
        let line = verdict.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let rule = verdict.rule.map(|rule| rule.into_owned()).unwrap_or_default();
        Ok(Answer::No(lease, format!("{rule}{line}")))
    }

    /// What the answer to a request for a robots.txt comes to.
    pub fn read(
        &self,
        asked: &CrawlUrl,
        hops: u8,
        answer: &Result<Fetched, Failure>,
        now: Millis,
    ) -> Reading {
        let fetched = match answer {
            Ok(fetched) => fetched,
            Err(failure) => return unreachable(failure),
        };
        match fetched.status {
            200..=299 if broke_off(fetched) => {
                let detail = "robots.txt broke off before its end";
                Reading::Unreachable(Failure::new(FailureClass::RobotsUnreachable, detail), None)
            }
            200..=299 => {
                let body = fetched.decoded(&self.limits).bytes;
                // One byte more than is read: the parser then knows that the last line was cut.
                let kept = usize::try_from(self.limits.robots_bytes_max + 1).unwrap_or(usize::MAX);
                let kept = body.get(..kept).unwrap_or(&body).to_vec();
                Reading::Rules(RobotsRules::Text(kept))
            }
            300..=399 => self.redirected(asked, hops, fetched),
            429 | 500.. => {
                let wait = fetched.header("retry-after").and_then(|text| retry_after_ms(text, now));
                let detail = format!("robots.txt answered {}", fetched.status);
                Reading::Unreachable(Failure::new(FailureClass::RobotsUnreachable, detail), wait)
            }
            status => absent(format!("robots.txt answered {status}")),
        }
    }

    /// Puts what was read into the cache and into the form in which it is stored.
    pub fn learn(&self, origin: &str, rules: RobotsRules, now: Millis) -> (Learnt, Vec<String>) {
        let row = RobotsRow { origin: origin.into(), at: now, rules };
        let entry = self.remember(&row);
        let sitemaps = entry.robots.sitemaps().map(str::to_owned).collect();
        let crawl_delay_ms = entry.robots.crawl_delay_ms(&self.agent);
        (Learnt::Rules { row, crawl_delay_ms }, sitemaps)
    }

    fn entry<E>(
        &self,
        origin: &str,
        now: Millis,
        stored: impl FnOnce(&str) -> Result<Option<RobotsRow>, E>,
    ) -> Result<Option<Arc<Entry>>, E> {
        let known = self.lock().rules.get(origin).cloned();
        let known = match known {
            Some(entry) => Some(entry),
            None => stored(origin)?.map(|row| self.remember(&row)),
        };
        let fresh = |entry: &Arc<Entry>| now.since(entry.at) < self.limits.robots_age_ms_max;
        Ok(known.filter(fresh))
    }

    fn remember(&self, row: &RobotsRow) -> Arc<Entry> {
        let robots = match &row.rules {
            RobotsRules::Text(bytes) => Robots::parse(bytes, &self.limits),
            RobotsRules::Absent { .. } => Robots::allow_all(),
        };
        let entry = Arc::new(Entry { robots, at: row.at });
        let mut parsed = self.lock();
        parsed.insert(row.origin.clone(), entry.clone());
        parsed.shrink(&self.limits);
        entry
    }

    fn redirected(&self, asked: &CrawlUrl, hops: u8, fetched: &Fetched) -> Reading {
        if u64::from(hops) >= self.limits.robots_redirects_max {
            return absent(format!("more than {hops} redirects"));
        }
        let target = fetched
            .header("location")
            .and_then(|text| url::resolve(text, Some(&asked.to_url()), None).ok())
            .and_then(|target| url::canonicalise(target, &UrlRules::default()).ok())
            // No filter is asked about an errand, and no server may lead us to our own files.
            .filter(|target| !target.is_file());
        match target {
            Some(target) => Reading::Elsewhere(target),
            None => absent("redirected to no usable URL".to_owned()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Parsed> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The URL of the robots.txt that speaks for `url`.
pub fn robots_url(url: &CrawlUrl) -> CrawlUrl {
    CrawlUrl::from_canonical(&format!("{}/robots.txt", url.origin()))
        .expect("ROBOTS: an origin with a path is a URL")
}

fn permit(lease: Lease, address: std::net::IpAddr) -> Permit {
    Permit { url: lease.url().clone(), address, lease, form: None }
}

fn permit_for_robots(lease: Lease, address: std::net::IpAddr) -> Permit {
    Permit { url: robots_url(lease.url()), address, lease, form: None }
}

/// Rules that end in the middle may lack the one that matters.
fn broke_off(fetched: &Fetched) -> bool {
    matches!(fetched.truncated, Some(Truncated::Disconnect | Truncated::Time))
}

fn absent(why: String) -> Reading {
    Reading::Rules(RobotsRules::Absent { why: why.into() })
}

/// Connection failures keep their class, and so their own table of waits.
fn unreachable(failure: &Failure) -> Reading {
    let class = match failure.class {
        class if class.is_connection_level() => class,
        _ => FailureClass::RobotsUnreachable,
    };
    Reading::Unreachable(Failure::new(class, format!("robots.txt: {}", failure.detail)), None)
}
