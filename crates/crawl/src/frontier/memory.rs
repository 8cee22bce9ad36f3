//! The frontier in memory: the model that the one on disk is held against.
//!
//! No files, no queues, no bench, no cache: vectors and whole scans, so that it is plainly right. It
//! keeps the gap of hosts, as that is what the frontier adds to; gaps of addresses and the rate of the
//! crawl are the bench's, which has a model of its own.

mod host;
mod learn;
mod worth;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use larm_core::alias;
use larm_core::digest::BodyDigest;
use larm_core::url::file::is_lane;
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_core::workbench::{End, Health, HostKey, Pace};
use larm_core::worth::{Finding, Purse};
use larm_core::{Failure, Limits, Millis};

use self::host::MemoryHost;
use super::disk::{Checkpoint, Sealed, Written};
use super::host::host_key;
use super::item::{Errand, HELD, Item, Place, SLOW};
use super::lease::{Lease, Turn};
use super::near::PageKey;
use super::record::{Fate, Learnt, is_counted};
use super::row::{PageRow, RobotsRow, Totals};
use super::sites::SiteKey;
use super::status::{FrontierStatus, HostList, HostStatus, HostsAsked};
use super::{
    Budgets, Candidate, Frontier, Located, Nameless, Offered, Positions, Settlement, Twin,
};
use crate::error::Result;
use crate::store::{SameAs, WarcRef};

/// All that waits, in memory. A clone is what a crash goes back to.
#[derive(Debug, Clone)]
pub struct MemoryFrontier {
    limits: Arc<Limits>,
    pace: Pace,
    budgets: Budgets,
    hosts: BTreeMap<String, MemoryHost>,
    seen: HashSet<String>,
    pages: HashMap<String, PageRow>,
    originals: HashMap<BodyDigest, SameAs>,
    robots: HashMap<String, RobotsRow>,
    totals: Totals,
    sites: BTreeMap<SiteKey, Purse>,
    next_seq: u64,
    /// What is to be refused, where that is not for the model to say.
    pub refused: Option<HashSet<String>>,
    /// All that was refused so far.
    turned_away: HashSet<String>,
    /// Whether the last lease was for a page that is not first by its place.
    pub was_out_of_turn: bool,
    /// When this run began, if there was one before.
    resumed_at: Option<Millis>,
}

impl MemoryFrontier {
    /// An empty frontier, to be started.
    pub fn new(limits: &Arc<Limits>, pace: Pace) -> Self {
        Self {
            limits: limits.clone(),
            pace,
            budgets: Budgets::default(),
            hosts: BTreeMap::new(),
            seen: HashSet::new(),
            pages: HashMap::new(),
            originals: HashMap::new(),
            robots: HashMap::new(),
            totals: Totals::default(),
            sites: BTreeMap::new(),
            next_seq: 0,
            refused: None,
            turned_away: HashSet::new(),
            was_out_of_turn: false,
            resumed_at: None,
        }
    }

    /// After a crash, what was refused may be new again.
    pub fn forget_refused(&mut self, is_known: impl Fn(&CrawlUrl) -> bool) {
        for text in &self.turned_away {
            let url = CrawlUrl::from_canonical(text).expect("it was one");
            if !is_known(&url) {
                self.seen.remove(text);
            }
        }
    }

    /// Drops URLs for which their host turned out to have no room.
    pub fn shed(&mut self, urls: &[String]) {
        for text in urls {
            let url = CrawlUrl::from_canonical(text).expect("it was one");
            let host = self.hosts.get_mut(url.host()).expect("it has a host");
            let at = host.origins.iter().position(|origin| origin.text == url.origin());
            let at = at.expect("it has an origin");
            let limit = if at as u64 >= self.limits.host_origins_max {
                "host-origins"
            } else {
                assert!(host.waiting() > self.limits.host_urls_max, "{text} has room");
                "host-full"
            };
            let items = &mut host.origins[at].items;
            let i = items.iter().position(|(_, item)| &*item.url == text).expect("it waits");
            let (_, item) = items.remove(i);
            self.totals.known -= u64::from(item.errand.counts());
            self.reject(limit, 1);
        }
    }

    /// A run begins. Of the one before, leases and look-ups are gone, and all hosts wait a gap, those that
    /// are met from now on, too.
    pub fn start(&mut self, pace: Pace, now: Millis) {
        self.resumed_at = self.totals.started.map(|_| now);
        self.totals.started.get_or_insert(now);
        self.pace = pace;
        self.budgets = Budgets::default();
        for host in self.hosts.values_mut() {
            host.address = None;
            host.resolving = false;
            if let Some((origin, after, item)) = host.leased.take() {
                host.origin(&origin).items.push((after, item));
            }
            host.pace.after_restart(now, &pace);
        }
    }

    /// All that waits, what is being fetched included.
    pub fn waiting_urls(&self) -> Vec<String> {
        let items = |host: &MemoryHost| {
            let queued = host.origins.iter().flat_map(|origin| &origin.items);
            let queued: Vec<String> = queued.map(|(_, item)| item.url.to_string()).collect();
            let leased = host.leased.iter().map(|(_, _, item)| item.url.to_string());
            queued.into_iter().chain(leased).collect::<Vec<_>>()
        };
        let mut urls: Vec<String> = self.hosts.values().flat_map(items).collect();
        urls.sort_unstable();
        urls
    }

    /// Hosts that could be leased now.
    pub fn ready_hosts(&self, now: Millis) -> Vec<String> {
        let hosts = self.hosts.iter().filter(|(name, host)| self.may_lease(name, host, now));
        hosts.map(|(name, _)| name.clone()).collect()
    }

    /// The lease that this host would get now.
    pub fn lease_host(&mut self, name: &str, now: Millis) -> Option<Lease> {
        let host = self.hosts.get(name)?;
        if !self.may_lease(name, host, now) {
            return None;
        }
        let (origin, place, turn) = match host.given_up() {
            Some((i, class)) => {
                let (_, place) = host.origins[i].next(Millis(u64::MAX), Place::END)?;
                (i, place, Turn::GivenUp(class))
            }
            None => {
                let (i, place) = host.next(now, self.end(name, host))?;
                (i, place, Turn::Ask(host.address?))
            }
        };
        self.lease_at(name, origin, place, turn)
    }

    fn lease_at(&mut self, name: &str, origin: usize, place: Place, turn: Turn) -> Option<Lease> {
        let host = self.hosts.get_mut(name)?;
        let (after, item) = host.origins[origin].take(place);
        host.leased = Some((host.origins[origin].text.clone(), after, item.clone()));
        let url = CrawlUrl::from_canonical(&item.url).expect("it was one");
        Some(Lease { host: host_key(name), url, item, turn, others: Vec::new() })
    }

    /// The lease of this host at a place, if that may come next: pages may be taken by worth, but errands come
    /// first, and so does what is tried again.
    pub fn lease_place(&mut self, name: &str, place: Place, now: Millis) -> Option<Lease> {
        let host = self.hosts.get(name)?;
        let usual = host.next(now, self.end(name, host));
        let is_page = usual.is_some_and(|(_, first)| first >= Place::PAGES_FROM);
        let is_again = usual.is_some_and(|(i, first)| host.origins[i].is_deferred(first));
        let in_order = host.given_up().is_none() && is_page && !is_again;
        self.was_out_of_turn = in_order && usual.is_some_and(|(_, first)| first != place);
        if !self.was_out_of_turn {
            return self.lease_host(name, now);
        }
        if !self.may_lease(name, host, now) {
            return None;
        }
        let origin = host.in_order(place, now, self.end(name, host))?;
        let turn = Turn::Ask(host.address?);
        self.lease_at(name, origin, place, turn)
    }

    /// Takes note that somebody looks up this host's name. Whether there is a reason to.
    pub fn look_up(&mut self, name: &str, now: Millis) -> bool {
        let end = self.hosts.get(name).map(|host| self.end(name, host));
        let Some(host) = self.hosts.get_mut(name) else { return false };
        let reason = host.leased.is_none()
            && !host.resolving
            && (host.pace.rule.is_gap() || host.pace.not_before <= now)
            && end.is_some_and(|end| host.next(now, end).is_some());
        host.address = None;
        host.resolving = true;
        reason
    }

    fn may_lease(&self, name: &str, host: &MemoryHost, now: Millis) -> bool {
        let may_ask = !self.is_spent()
            && !host.resolving
            && host.address.is_some()
            && host.pace.due(&self.pace).0 <= now
            && host.next(now, self.end(name, host)).is_some();
        host.leased.is_none() && (host.given_up().is_some() || may_ask)
    }

    fn is_spent(&self) -> bool {
        let leased = self.hosts.values().filter_map(|host| host.leased.as_ref());
        let leased = leased.filter(|(_, _, item)| item.errand.counts()).count() as u64;
        self.budgets.pages_max.is_some_and(|max| self.totals.answered + leased >= max)
    }

    fn reject(&mut self, filter: &str, count: u32) {
        *self.totals.rejected.entry(filter.to_owned()).or_default() += u64::from(count);
    }

    /// The limit that keeps a URL out.
    fn refusal(&self, url: &CrawlUrl, ahead: u64) -> Option<&'static str> {
        if self.refused.as_ref().is_some_and(|refused| !refused.contains(url.as_str())) {
            return None;
        }
        let host = self.hosts.get(url.host())?;
        if host.waiting() + ahead >= self.limits.host_urls_max {
            return Some("host-full");
        }
        let known = host.origins.iter().any(|origin| origin.text == url.origin());
        let full = host.origins.len() as u64 >= self.limits.host_origins_max;
        (full && !known).then_some("host-origins")
    }

    fn sift(&mut self, candidates: Vec<Candidate>) -> (Vec<Candidate>, Offered, bool) {
        let mut offered = Offered::default();
        let mut accepted: Vec<Candidate> = Vec::new();
        let mut errand_refused = false;
        for candidate in candidates {
            let is_robots = matches!(candidate.errand, Errand::Robots { .. });
            if !is_robots && !self.seen.insert(candidate.url.to_string()) {
                offered.seen += 1;
                continue;
            }
            let same_host = |other: &&Candidate| other.url.host() == candidate.url.host();
            let ahead = accepted.iter().filter(same_host).count() as u64;
            if let Some(limit) = self.refusal(&candidate.url, ahead) {
                offered.full += 1;
                errand_refused |= is_robots;
                self.turned_away.insert(candidate.url.to_string());
                self.reject(limit, 1);
            } else {
                offered.new += 1;
                accepted.push(candidate);
            }
        }
        (accepted, offered, errand_refused)
    }

    fn enqueue(&mut self, candidate: Candidate, from_spam: bool) {
        let by_depth = Place::breadth_first(&candidate.errand, candidate.depth);
        let priority = if from_spam && candidate.errand.counts() { SLOW } else { by_depth };
        let own = SiteKey::of_host(candidate.url.host());
        let parent = candidate.parent.as_deref().and_then(CrawlUrl::from_canonical);
        let stranger = parent.map(|parent| SiteKey::of_host(parent.host()));
        let stranger = stranger.filter(|site| *site != own);
        let item = Item {
            url: candidate.url.as_str().into(),
            depth: candidate.depth,
            via: candidate.via,
            parent: candidate.parent,
            redirects: candidate.redirects,
            tries: 0,
            errand: candidate.errand,
            place: Place { priority, seq: self.next_seq },
        };
        self.next_seq += 1;
        self.totals.known += u64::from(item.errand.counts());
        if !self.hosts.contains_key(candidate.url.host()) {
            self.totals.hosts += u64::from(!candidate.url.is_file());
        }
        let host = self.hosts.entry(candidate.url.host().to_owned()).or_insert_with(|| {
            let mut host = MemoryHost::default();
            if let Some(began) = self.resumed_at {
                host.pace.after_restart(began, &self.pace);
            }
            host
        });
        host.origin(candidate.url.origin()).items.push((None, item));
        if let Some(stranger) = stranger {
            host.purse.domains.add(stranger.0);
            self.sites.entry(own).or_default().domains.add(stranger.0);
        }
    }

    fn leave_queue(&mut self, item: &Item) {
        self.totals.held -= u64::from(item.place.priority == HELD);
    }

    fn decide(&mut self, name: &str, origin: &str, (fate, end): (Fate, End), mut item: Item) {
        if matches!(fate, Fate::Errand | Fate::Done(_)) {
            self.leave_queue(&item);
        }
        let deferred_max = self.limits.host_urls_memory_max;
        let host = self.hosts.get_mut(name).expect("it was leased");
        match fate {
            Fate::Errand => {}
            Fate::Back => host.origin(origin).items.push((None, item)),
            Fate::Again(at) => {
                self.totals.retries += 1;
                item.tries += 1;
                let items = &mut host.origin(origin).items;
                let deferred = items.iter().filter(|(after, _)| after.is_some()).count() as u64;
                items.push((Some(at).filter(|_| deferred < deferred_max), item));
            }
            Fate::Done(row) => {
                let answered = u64::from(is_counted(&item, &row, &end));
                let is_first = answered > 0 && host.purse.pages == 0 && !is_lane(name);
                self.totals.hosts_answered += u64::from(is_first);
                host.purse.pages += answered;
                self.sites.entry(SiteKey::of_host(name)).or_default().pages += answered;
                self.totals.answered += answered;
                self.totals.count(&row);
                if let (Some(digest), Some(payload_digest), None) =
                    (row.digest, row.payload_digest, &row.same_as)
                {
                    let first = SameAs { url: row.url.to_string(), at: row.at, payload_digest };
                    self.originals.entry(digest).or_insert(first);
                }
                self.pages.insert(row.url.to_string(), *row);
            }
        }
    }
}

impl Frontier for MemoryFrontier {
    fn offer(&mut self, candidates: Vec<Candidate>) -> Result<Offered> {
        let (accepted, offered, _) = self.sift(candidates);
        accepted.into_iter().for_each(|candidate| self.enqueue(candidate, false));
        Ok(offered)
    }

    fn adopt(&mut self, _: Candidate) -> Lease {
        panic!("nobody adopts here: what that does is tested by rebuilding")
    }

    fn relocate(&mut self, _: &CrawlUrl, _: Option<WarcRef>) -> Result<()> {
        panic!("nobody moves an archive here: what that does is tested by compacting")
    }

    fn foresee(&mut self, _: &[Fingerprint]) -> Result<()> {
        panic!("nobody adopts here: what that does is tested by rebuilding")
    }

    fn lease(&mut self, now: Millis) -> Result<Option<Lease>> {
        let first = self.ready_hosts(now).into_iter().next();
        Ok(first.and_then(|name| self.lease_host(&name, now)))
    }

    fn sent(&mut self, _: HostKey, _: Millis) -> bool {
        false
    }

    fn settle(&mut self, lease: Lease, settlement: Settlement) -> Result<Offered> {
        let (pace, limits) = (self.pace, self.limits.clone());
        let (accepted, offered, errand_refused) = self.sift(settlement.offers);
        let name = lease.url().host().to_owned();
        let host = self.hosts.get_mut(&name).expect("it was leased");
        let (origin, _, item) = host.leased.take().expect("it was leased");
        let gap = match settlement.end {
            End::Failed { .. } => End::Answered { response_ms: host.pace.response_ms },
            end => end,
        };
        host.pace.end(gap, settlement.at, &pace, &limits);
        let at_origin = host.origin(&origin);
        let elsewhere = matches!(settlement.robots, Some(Learnt::Elsewhere { .. }));
        let says_nothing_yet = elsewhere && !errand_refused;
        if !says_nothing_yet
            && let Health::GivenUp(class) =
                at_origin.health.end(settlement.end, settlement.at, &pace, &limits)
        {
            at_origin.given_up = Some(class);
        }
        let waited_for = match (&settlement.robots, &item.errand, &settlement.fate) {
            (Some(Learnt::Elsewhere { origin }), ..) if errand_refused => Some(origin.clone()),
            (None, Errand::Robots { origin, .. }, Fate::Done(_) | Fate::Errand) => {
                Some(origin.clone())
            }
            _ => None,
        };
        self.totals.links += u64::from(settlement.links);
        settlement.rejected.iter().for_each(|(filter, count)| self.reject(filter, *count));
        let (harvest, url) = (settlement.harvest, item.url.clone());
        let is_done = matches!(settlement.fate, Fate::Done(_)) && item.errand.counts();
        self.decide(&name, &origin, (settlement.fate, settlement.end), item);
        if let Some(harvest) = harvest.filter(|_| is_done) {
            self.note_harvest(&name, &url, &harvest, &accepted);
        }
        let lost = waited_for.map(|origin| Learnt::Unreachable { origin, retry_after_ms: None });
        if let Some(learnt) = lost.or(settlement.robots) {
            self.learn(learnt, settlement.at);
        }
        let is_spam = settlement.is_spam;
        accepted.into_iter().for_each(|candidate| self.enqueue(candidate, is_spam));
        Ok(offered)
    }

    fn next_due(&self, now: Millis) -> Option<Millis> {
        (!self.ready_hosts(now).is_empty()).then_some(now)
    }

    fn nameless(&mut self, now: Millis) -> Option<Nameless> {
        let names: Vec<String> = self.hosts.keys().cloned().collect();
        let name = names.into_iter().find(|name| {
            let unknown = self.hosts[name].address.is_none() && !self.hosts[name].resolving;
            unknown && self.clone().look_up(name, now)
        })?;
        self.look_up(&name, now);
        Some(Nameless { host: host_key(&name), name: name.into(), port: 80 })
    }

    fn named(&mut self, key: HostKey, answer: Result<Located, Failure>, now: Millis) -> Result<()> {
        let (pace, limits) = (self.pace, self.limits.clone());
        let (_, host) =
            self.hosts.iter_mut().find(|(name, _)| host_key(name) == key).expect("it was asked");
        host.resolving = false;
        match answer {
            Ok(located) => host.address = located.addresses.first().copied(),
            Err(Failure { class, .. }) => {
                let end = End::Failed { class, retry_after_ms: None };
                if let Health::GivenUp(class) = host.pace.end(end, now, &pace, &limits) {
                    host.origins.iter_mut().for_each(|o| _ = o.given_up.get_or_insert(class));
                }
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let mut hosts = self.hosts.iter();
        let busy = |host: &MemoryHost| {
            host.leased.is_some() || host.resolving || host.given_up().is_some()
        };
        let spent = self.budgets.pages_max.is_some_and(|max| self.totals.answered >= max);
        !hosts.any(|(name, host)| busy(host) || !spent && host.has_work(self.end(name, host)))
    }

    fn changed(&mut self, _: &str, _: &str, _: Millis) -> Result<()> {
        Ok(())
    }

    fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    /// The model knows one gap for all: those of single hosts are tried against a real web.
    fn set_host_delays(&mut self, _: &[(String, u64)]) {}

    fn set_paused(&mut self, _: &[String]) {}

    fn set_budgets(&mut self, budgets: Budgets) -> Result<()> {
        self.budgets = budgets;
        Ok(())
    }

    fn page(&self, url: &CrawlUrl) -> Result<Option<PageRow>> {
        Ok(self.pages.get(url.as_str()).cloned())
    }

    fn page_at(&self, key: PageKey) -> Result<Option<PageRow>> {
        let is_it = |url: &&String| Fingerprint::of(url) == key.fingerprint;
        Ok(self.pages.keys().find(is_it).and_then(|url| self.pages.get(url)).cloned())
    }

    fn twins(&self, _: &CrawlUrl) -> Vec<Twin> {
        Vec::new()
    }

    fn alias_rules(&self) -> Arc<alias::Rules> {
        Arc::default()
    }

    fn knows(&self, url: &CrawlUrl) -> Result<bool> {
        Ok(self.seen.contains(url.as_str()))
    }

    fn original(&self, digest: &BodyDigest) -> Result<Option<SameAs>> {
        Ok(self.originals.get(digest).cloned())
    }

    fn robots(&self, origin: &str) -> Result<Option<RobotsRow>> {
        Ok(self.robots.get(origin).cloned())
    }

    fn finding(&self, _: &CrawlUrl) -> Option<Finding> {
        None
    }

    fn is_sure(&self, url: &CrawlUrl) -> bool {
        let host = self.hosts.get(url.host());
        host.is_some_and(|host| host.purse.is_rich() || host.worth.is_sure(url.path_and_query()))
    }

    fn totals(&self) -> &Totals {
        &self.totals
    }

    fn waiting(&self) -> u64 {
        self.hosts.values().map(MemoryHost::waiting).sum()
    }

    fn worked(&mut self, ms: u64) -> Result<()> {
        self.totals.active_ms += ms;
        Ok(())
    }

    fn seal(&mut self, _: Positions) -> Result<Option<Sealed>> {
        Ok(None)
    }

    fn is_unsealed(&self) -> bool {
        false
    }

    fn wants_checkpoint(&self, _: Millis) -> bool {
        false
    }

    fn begin_checkpoint(&mut self, _: Millis) -> Result<Option<Checkpoint>> {
        Ok(None)
    }

    fn end_checkpoint(&mut self, _: Written, _: Millis) -> Result<()> {
        Ok(())
    }

    fn status(&self, _: Millis, _: usize) -> FrontierStatus {
        FrontierStatus {
            totals: self.totals.clone(),
            waiting: self.waiting(),
            leased: self.hosts.values().filter(|host| host.leased.is_some()).count() as u64,
            hosts_waiting: self.hosts.values().filter(|host| host.waiting() > 0).count() as u64,
            hosts: Vec::new(),
        }
    }

    fn host_list(&self, _: Millis, _: &HostsAsked) -> HostList {
        HostList { total: self.hosts.len() as u64, hosts: Vec::new() }
    }

    fn host_status(&self, _: &str, _: Millis) -> Option<HostStatus> {
        None
    }
}
