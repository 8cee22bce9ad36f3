//! The robots cache (step 6): the only maker of a [`Permit`].
//!
//! robots.txt is asked for right before each fetch, from a cache that holds it for a day at most. When it
//! is not there, the lease is spent on fetching it, paced like any other request, and the URL goes back
//! to its place. Redirects of a robots.txt are errands of the host that they lead to. What the file says
//! of the use of pages goes along with the permit, and so does a tdmrep.json, which is asked for once.
//!
//! - ROBOTS-1: a [`Permit`] is made here only, from a lease, after the rules of its origin said yes.
//! - ROBOTS-2: what cannot be reached forbids everything (RFC 9309 section 2.3.1.4); what is absent
//!   (4xx) forbids nothing (section 2.3.1.3). 429 counts as not reached: it asks for patience.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use larm_core::robots::Robots;
use larm_core::signals::{Signals, TdmRep};
use larm_core::url::{self, CrawlUrl, UrlRules};
use larm_core::{Failure, FailureClass, Limits, Millis, Truncated};

use crate::fetch::{Fetched, retry_after_ms};
use crate::frontier::{Errand, Learnt, Lease, RobotsRow, RobotsRules};
use crate::plan::SignalPlan;

/// Leave to send one request: made from a lease, after robots.txt was asked.
///
/// `fetch` takes nothing else, so a request that is not paced and not checked does not compile.
#[derive(Debug)]
pub struct Permit {
    lease: Lease,
    address: std::net::IpAddr,
    url: CrawlUrl,
    signals: Signals,
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

    /// The host's other addresses: they may be connected to, but not asked under this permit.
    pub fn others(&self) -> &[std::net::IpAddr] {
        self.lease.others()
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

    /// Gives the lease back, and what the owner said beforehand of the use of its page.
    pub fn into_parts(self) -> (Lease, Signals) {
        (self.lease, self.signals)
    }

    /// Gives the lease back, to be settled.
    pub fn into_lease(self) -> Lease {
        self.lease
    }

    /// A permit for tests of what comes after it.
    #[cfg(test)]
    pub(crate) fn for_test(url: CrawlUrl, address: std::net::IpAddr) -> Self {
        let lease = Lease::for_test(url.clone(), address);
        Self { lease, address, url, signals: Signals::default(), form: None }
    }

    /// The same for a host with more addresses.
    #[cfg(test)]
    pub(crate) fn with_others(self, others: Vec<std::net::IpAddr>) -> Self {
        Self { lease: self.lease.with_others(others), ..self }
    }
}

/// What robots.txt says to a lease.
#[derive(Debug)]
pub enum Answer {
    /// Go ahead.
    Yes(Permit),
    /// No, because of this line.
    No(Lease, String),
    /// It may be asked for, but its owner reserves a use that is to be respected, by these words.
    Reserved(Lease, String),
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

/// Where an origin's reservations are.
const TDMREP_PATH: &str = "/.well-known/tdmrep.json";

/// The rules of the origins met so far, parsed.
pub struct RobotsCache {
    agent: String,
    obey: bool,
    plan: SignalPlan,
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

/// One file of an origin: a robots.txt, or a tdmrep.json, under its own key.
struct Entry {
    robots: Robots,
    tdmrep: TdmRep,
    at: Millis,
}

impl Entry {
    fn bytes(&self) -> u64 {
        (self.robots.heap_bytes() + self.tdmrep.heap_bytes()) as u64
    }
}

impl RobotsCache {
    /// A cache for the product token `agent`. With `obey` off, every answer is yes.
    pub fn new(agent: &str, obey: bool, plan: SignalPlan, limits: Arc<Limits>) -> Self {
        Self { agent: agent.to_owned(), obey, plan, limits, parsed: Mutex::default() }
    }

    /// Turns a lease into a permit, if the rules of its origin allow that. `stored` looks up rules
    /// that are not in memory.
    pub fn answer<E>(
        &self,
        lease: Lease,
        address: std::net::IpAddr,
        now: Millis,
        stored: impl Fn(&str) -> Result<Option<RobotsRow>, E>,
    ) -> Result<Answer, E> {
        // Files have no robots.txt, and nobody who could be asked too often.
        let own_rules_apply =
            !matches!(lease.errand(), Errand::Robots { .. }) && !lease.url().is_file();
        if !self.obey || !own_rules_apply {
            return Ok(Answer::Yes(permit(lease, address, Signals::default())));
        }
        let Some(entry) = self.entry(lease.url().origin(), now, &stored)? else {
            return Ok(Answer::Ask(permit_for_robots(lease, address)));
        };
        let verdict = entry.robots.judge(&self.agent, lease.url().path_and_query());
        if verdict.allowed {
            let signals = self.signals(&entry, lease.url(), &stored)?;
            return Ok(match signals.reserved(self.plan.respect) {
                Some((of, words)) if lease.errand().counts() => {
                    Answer::Reserved(lease, format!("{of} is reserved by {words}"))
                }
                _ => Answer::Yes(permit(lease, address, signals)),
            });
        }
        let line = verdict.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let rule = verdict.rule.map(|rule| rule.into_owned()).unwrap_or_default();
        Ok(Answer::No(lease, format!("{rule}{line}")))
    }

    /// What the files of an origin say of the use of a page, before it is asked for.
    fn signals<E>(
        &self,
        entry: &Entry,
        url: &CrawlUrl,
        stored: impl Fn(&str) -> Result<Option<RobotsRow>, E>,
    ) -> Result<Signals, E> {
        let mut signals = Signals::default();
        for line in entry.robots.signals(&self.agent, url.path_and_query()) {
            signals.read_line(&line, &self.limits);
        }
        if !self.plan.asks_for_tdmrep() {
            return Ok(signals);
        }
        if let Some(file) = self.known(tdmrep_url(url.origin()).as_str(), stored)?
            && let Some(rule) = file.tdmrep.rule_for(url.path_and_query())
        {
            signals.read_rule(rule, &self.limits);
        }
        Ok(signals)
    }

    /// What the answer to a request for a tdmrep.json comes to. One that cannot be had reserves nothing.
    pub fn learn_reservations(&self, url: &CrawlUrl, fetched: &Fetched, now: Millis) -> Learnt {
        let rules = match fetched.status {
            200 => RobotsRules::Text(fetched.decoded(&self.limits).bytes.into_owned()),
            status => RobotsRules::Absent { why: format!("answered {status}").into() },
        };
        let too_long = rules.len() as u64 > self.limits.tdmrep_bytes_max;
        let absent = || RobotsRules::Absent { why: "too long".into() };
        let rules = if too_long { absent() } else { rules };
        let row = RobotsRow { origin: url.as_str().into(), at: now, rules };
        self.remember(&row);
        Learnt::Reservations(row)
    }

    /// The tdmrep.json to ask an origin for, if it is to be asked.
    pub fn reservations_of(&self, origin: &str) -> Option<CrawlUrl> {
        self.plan.asks_for_tdmrep().then(|| tdmrep_url(origin))
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
        stored: impl Fn(&str) -> Result<Option<RobotsRow>, E>,
    ) -> Result<Option<Arc<Entry>>, E> {
        let fresh = |entry: &Arc<Entry>| now.since(entry.at) < self.limits.robots_age_ms_max;
        Ok(self.known(origin, stored)?.filter(fresh))
    }

    /// What was learnt under a key, of whatever age.
    fn known<E>(
        &self,
        key: &str,
        stored: impl Fn(&str) -> Result<Option<RobotsRow>, E>,
    ) -> Result<Option<Arc<Entry>>, E> {
        let known = self.lock().rules.get(key).cloned();
        Ok(match known {
            Some(entry) => Some(entry),
            None => stored(key)?.map(|row| self.remember(&row)),
        })
    }

    fn remember(&self, row: &RobotsRow) -> Arc<Entry> {
        let is_tdmrep = row.origin.ends_with(TDMREP_PATH);
        let (robots, tdmrep) = match &row.rules {
            RobotsRules::Text(bytes) if is_tdmrep => {
                (Robots::allow_all(), TdmRep::parse(bytes, &self.limits))
            }
            RobotsRules::Text(bytes) => (Robots::parse(bytes, &self.limits), TdmRep::default()),
            RobotsRules::Absent { .. } => (Robots::allow_all(), TdmRep::default()),
        };
        let entry = Arc::new(Entry { robots, tdmrep, at: row.at });
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

fn tdmrep_url(origin: &str) -> CrawlUrl {
    CrawlUrl::from_canonical(&format!("{origin}{TDMREP_PATH}"))
        .expect("ROBOTS: an origin with a path is a URL")
}

fn permit(lease: Lease, address: std::net::IpAddr, signals: Signals) -> Permit {
    Permit { url: lease.url().clone(), address, lease, signals, form: None }
}

fn permit_for_robots(lease: Lease, address: std::net::IpAddr) -> Permit {
    let url = robots_url(lease.url());
    Permit { url, address, lease, signals: Signals::default(), form: None }
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
