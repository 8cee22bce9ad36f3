//! The frontier of one machine: log, state, store, seen set and bench, put together.
//!
//! Order of a commit: sinks synced, then the batch of records with the sinks' positions synced to the
//! log. Order of a checkpoint: log synced, runs and piles synced, then one batch into the store
//! with the log position it contains, and only then are the log and superseded files cut.
//!
//! - DISK-1: a host with work in memory is in one place: on the bench, among those without an address,
//!   being looked up, leased, or nowhere because nothing of it may be asked now.
//! - DISK-2: the shelf of a host with work that is not in memory has its turn, unless nothing of the
//!   host may be asked; then whatever changes that brings it back into memory.
//!
//! What is held in memory: at most `hosts_memory_max` hosts, with their URLs at most
//! `hosts_memory_bytes_max`, and what two checkpoints may gather: one is written while the next gathers.

mod adopt;
mod checkpoint;
mod open;
mod pages;
mod park;
mod rank;
mod recall;
mod seat;
mod shed;
mod sift;
mod tell;
mod weigh;

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use larm_core::alias;
use larm_core::digest::BodyDigest;
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_core::workbench::{HostKey, Pace, Workbench};
use larm_core::worth::{Finding, Verdict};
use larm_core::{Blame, Failure, Limits, Millis};

use super::aliases::SharedAliases;
use super::batch::Pending;
use super::board::{Board, Ranked, Waits};
use super::host::host_key;
use super::lease::{Lease, Turn};
use super::log::Log;
use super::near::{self, Near, PageKey};
use super::originals::Originals;
use super::record::{Record, Settled};
use super::row::{PageRow, RobotsRow, Totals};
use super::sieve::{Recent, Sieve};
use super::state::State;
use super::status::{FrontierStatus, HostList, HostStatus, HostsAsked};
use super::store::Store;
use super::{
    Budgets, Candidate, Frontier, Located, Nameless, Offered, Positions, Settlement, Twin,
};
use crate::error::Result;
use crate::store::{SameAs, WarcRef};

pub use checkpoint::{Checkpoint, Sealed, Written};
pub use open::Opened;

/// A look-up that failed by nobody's fault is tried again after this time.
const LOOK_UP_AGAIN_MS: u64 = 1_000;

/// The frontier on disk.
pub struct DiskFrontier {
    limits: Arc<Limits>,
    log: Arc<Mutex<Log>>,
    store: Arc<Store>,
    sieve: Sieve,
    near: Near,
    state: State,
    bench: Workbench,
    budgets: Budgets,
    /// Hosts that somebody paused.
    paused: HashSet<HostKey>,
    /// Records that are applied and not yet in the log.
    pending: Pending,
    /// Sinks' positions of the last batch.
    positions: Positions,
    /// Hosts in memory without an address, by the time at which they may be looked up.
    nameless: BTreeSet<(Millis, HostKey)>,
    /// Hosts being looked up: at most `dns_lookups_max`, by the engine's count.
    resolving: HashSet<HostKey>,
    /// Hosts in memory with URLs of given-up origins to settle.
    draining: BTreeSet<HostKey>,
    /// What hosts and their URLs take in memory, as of the last checkpoint and those who came since.
    held_bytes: u64,
    /// Whether a host may be on disk with work of which nothing may be asked.
    unlisted: bool,
    /// Whether a checkpoint is being written.
    checkpointing: bool,
    /// Leases under way, and how many of them are for pages.
    leases: u64,
    leased_pages: u64,
    /// Turns given out, where pages have an order of their own.
    turns: u64,
    /// The latest time that anybody named.
    now: Millis,
    checkpoint_at: Millis,
    /// URLs that were refused, and shed, since somebody asked.
    #[cfg(test)]
    pub(super) refused: Vec<String>,
    #[cfg(test)]
    pub(super) shed: Vec<String>,
    /// URLs that got another place, since somebody asked.
    #[cfg(test)]
    pub(super) moved: Vec<super::record::Moved>,
}

impl DiskFrontier {
    /// What was offered a moment ago, for those who do not hold the frontier.
    pub fn recent(&self) -> Arc<Recent> {
        self.sieve.recent()
    }

    /// The index of near-duplicates, for those who do not hold the frontier.
    pub fn near(&self) -> Arc<near::Index> {
        self.near.index()
    }

    /// The names that were found to be aliases, for those who do not hold the frontier.
    pub fn aliases(&self) -> SharedAliases {
        self.state.aliases.shared()
    }

    /// Which bodies are known, for those who do not hold the frontier.
    pub fn originals(&self) -> Arc<Originals> {
        self.state.originals()
    }

    fn record(&mut self, record: Record) -> Result<()> {
        self.pending.push(&record);
        self.state.apply(record)
    }

    fn see(&mut self, now: Millis) -> Millis {
        self.now = self.now.max(now);
        self.now
    }

    /// Whether all pages that may be fetched are fetched or on their way.
    fn is_spent(&self) -> bool {
        let answered = self.state.totals.answered + self.leased_pages;
        self.budgets.pages_max.is_some_and(|max| answered >= max)
    }

    fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Frontier for DiskFrontier {
    fn offer(&mut self, candidates: Vec<Candidate>) -> Result<Offered> {
        let sifted = self.sift(&candidates, false)?;
        let offered = sifted.offered;
        if offered.new + offered.full > 0 {
            self.record(Record::Offered { items: sifted.items, refused: sifted.refused })?;
        }
        self.sort_out()?;
        self.seat_touched();
        Ok(offered)
    }

    fn lease(&mut self, now: Millis) -> Result<Option<Lease>> {
        let now = self.see(now);
        if self.can_unpark(now) {
            self.unpark(now)?;
        }
        if let Some(lease) = self.lease_given_up()? {
            return Ok(Some(lease));
        }
        if self.is_spent() { Ok(None) } else { self.lease_turn(now) }
    }

    fn sent(&mut self, host: HostKey, at: Millis) -> bool {
        self.bench.sent(host, at)
    }

    fn adopt(&mut self, candidate: Candidate) -> Lease {
        self.lease_archived(candidate)
    }

    fn relocate(&mut self, url: &CrawlUrl, warc: Option<WarcRef>) -> Result<()> {
        self.put_elsewhere(url, warc)
    }

    fn foresee(&mut self, urls: &[Fingerprint]) -> Result<()> {
        let fingerprints: Vec<u64> = urls.iter().map(|url| url.0).collect();
        self.sieve.insert(&fingerprints).map(drop)
    }

    fn settle(&mut self, lease: Lease, settlement: Settlement) -> Result<Offered> {
        if lease.turn == Turn::Archived {
            return self.settle_archived(&lease, settlement);
        }
        self.see(settlement.at);
        let sifted = self.sift(&settlement.offers, settlement.is_spam)?;
        let offered = sifted.offered;
        let robots = sift::learnt(&lease, &settlement.fate, settlement.robots, &sifted);
        if let Turn::Ask(_) = lease.turn {
            self.bench.settle(lease.host, settlement.at, settlement.end, &self.limits);
        }
        if let Some((host, address)) = self.state.hosts.get_mut(&lease.host).zip(settlement.moved) {
            host.move_to(address);
        }
        self.leases -= 1;
        self.leased_pages -= u64::from(lease.item.errand.counts());
        let mut rejected = settlement.rejected;
        rejected.extend(sifted.refused);
        let aliases = self.state.aliases.weigh(&settlement.sightings, &self.limits);
        self.record(Record::Settled(Box::new(Settled {
            host: lease.url.host().into(),
            origin: lease.url.origin().into(),
            place: lease.item.place,
            at: settlement.at,
            end: settlement.end,
            fate: settlement.fate,
            offers: sifted.items,
            harvest: settlement.harvest,
            robots,
            links: settlement.links,
            rejected,
            aliases,
        })))?;
        self.sort_out()?;
        self.seat_touched();
        Ok(offered)
    }

    fn next_due(&self, now: Millis) -> Option<Millis> {
        if !self.draining.is_empty() || self.can_unpark(now) {
            return Some(now);
        }
        let parked = self.state.shelves.first().map(|(turn, _)| turn);
        let parked = parked.filter(|turn| *turn > now && self.has_room());
        // With all look-ups in use, the end of one is what brings the next.
        let may_look_up = (self.resolving.len() as u64) < self.limits.dns_lookups_max;
        let nameless = self.nameless.first().filter(|_| may_look_up).map(|(at, _)| *at);
        let lease = if self.is_spent() { None } else { self.bench.next_due(now) };
        [lease, nameless, parked].into_iter().flatten().min()
    }

    fn nameless(&mut self, now: Millis) -> Option<Nameless> {
        self.see(now);
        while let Some(&(at, key)) = self.nameless.first().filter(|(at, _)| *at <= now) {
            self.nameless.remove(&(at, key));
            if let Some(nameless) = self.look_up(key) {
                return Some(nameless);
            }
        }
        None
    }

    fn named(&mut self, key: HostKey, answer: Result<Located, Failure>, now: Millis) -> Result<()> {
        self.see(now);
        self.resolving.remove(&key);
        let Some(host) = self.state.hosts.get_mut(&key) else { return Ok(()) };
        match answer {
            Ok(located) => host.locate(located, now),
            Err(failure) if failure.class.retry().blame == Blame::Nobody => {
                host.look_up_after = now.after(LOOK_UP_AGAIN_MS);
            }
            Err(failure) => {
                let host = host.name.clone();
                self.record(Record::NameFailed { host, class: failure.class, at: now })?;
            }
        }
        self.state.touched.insert(key);
        self.check_arrivals()?;
        self.seat_touched();
        Ok(())
    }

    fn is_done(&self) -> bool {
        let busy = self.leases > 0 || !self.resolving.is_empty() || !self.draining.is_empty();
        let work_left = !self.bench.is_empty()
            || !self.nameless.is_empty()
            || self.state.shelves.first().is_some();
        let over = |max| self.state.totals.answered >= max;
        !busy && (!work_left || self.budgets.pages_max.is_some_and(over))
    }

    fn changed(&mut self, key: &str, value: &str, now: Millis) -> Result<()> {
        self.record(Record::Changed { key: key.to_owned(), value: value.to_owned(), at: now })
    }

    fn set_pace(&mut self, pace: Pace) {
        self.state.pace = pace;
        self.bench.set_pace(pace);
    }

    fn set_host_delays(&mut self, delays: &[(String, u64)]) {
        self.state.set_host_delays(delays);
        self.seat_touched();
    }

    fn set_paused(&mut self, hosts: &[String]) {
        self.paused = hosts.iter().map(|name| host_key(name)).collect();
        // Some of those that may go on are on disk, with no turn before the end of days.
        self.state.shelves.look_at_all();
        self.seat_all();
    }

    fn set_budgets(&mut self, budgets: Budgets) -> Result<()> {
        let before = std::mem::replace(&mut self.budgets, budgets);
        let pages_max = before.pages_max;
        if before != (Budgets { pages_max, ..budgets }) {
            if std::mem::take(&mut self.unlisted) {
                self.state.shelves.look_at_all();
            }
            self.seat_all();
        }
        Ok(())
    }

    fn follow(&mut self, board: Arc<Board>) {
        self.state.order.follow(board);
    }

    fn take_waits(&mut self) -> Vec<Waits> {
        self.state.order.take_waits()
    }

    fn each_waiting(&self, most: u64, tell: &mut dyn FnMut(&Waits)) -> Result<()> {
        self.tell_waiting(most, tell)
    }

    fn each_waiting_url(&self, most: u64, tell: &mut dyn FnMut(&str)) -> Result<()> {
        self.tell_waiting_urls(most, tell)
    }

    fn ranked(&self, url: &CrawlUrl) -> Option<Ranked> {
        self.state.order.board()?.ranked(url.fingerprint())
    }

    fn page(&self, url: &CrawlUrl) -> Result<Option<PageRow>> {
        self.state.page(url)
    }

    fn page_at(&self, key: PageKey) -> Result<Option<PageRow>> {
        self.state.page_at(key)
    }

    fn twins(&self, url: &CrawlUrl) -> Vec<Twin> {
        self.state.aliases.twins(url)
    }

    fn alias_rules(&self) -> Arc<alias::Rules> {
        self.state.aliases.rules()
    }

    fn knows(&self, url: &CrawlUrl) -> Result<bool> {
        self.sieve.contains(url.fingerprint().0)
    }

    fn original(&self, digest: &BodyDigest) -> Result<Option<SameAs>> {
        self.state.original(digest)
    }

    fn robots(&self, origin: &str) -> Result<Option<RobotsRow>> {
        self.state.robots(origin)
    }

    fn finding(&self, url: &CrawlUrl) -> Option<Finding> {
        self.find(url)
    }

    fn is_sure(&self, url: &CrawlUrl) -> bool {
        let Some(host) = self.state.hosts.get(&crate::frontier::host_key(url.host())) else {
            return false;
        };
        let worth = host.worth.as_ref();
        worth.is_some_and(|worth| worth.is_sure(url.path_and_query()))
            || host.purse.is_rich()
                && self.find(url).is_none_or(|finding| finding.verdict != Verdict::Cut)
    }

    fn totals(&self) -> &Totals {
        &self.state.totals
    }

    fn waiting(&self) -> u64 {
        self.state.waiting
    }

    fn worked(&mut self, ms: u64) -> Result<()> {
        self.record(Record::Worked(ms))
    }

    fn seal(&mut self, positions: Positions) -> Result<Option<Sealed>> {
        self.seal_pending(positions)
    }

    fn is_unsealed(&self) -> bool {
        !self.pending.is_empty()
    }

    fn wants_checkpoint(&self, now: Millis) -> bool {
        let in_time = self.state.has_changes() && now >= self.checkpoint_at;
        in_time || self.state.wants_checkpoint() || self.is_cramped(now)
    }

    fn begin_checkpoint(&mut self, now: Millis) -> Result<Option<Checkpoint>> {
        self.see(now);
        self.checkpoint_at = now.after(self.limits.checkpoint_ms_max);
        self.gather_checkpoint().map(Some)
    }

    fn end_checkpoint(&mut self, written: Written, now: Millis) -> Result<()> {
        let now = self.see(now);
        self.finish_checkpoint(written)?;
        self.release_memory(now);
        Ok(())
    }

    fn status(&self, now: Millis, hosts_max: usize) -> FrontierStatus {
        self.tell(now, hosts_max)
    }

    fn host_list(&self, now: Millis, asked: &HostsAsked) -> HostList {
        self.list_hosts(self.state.hosts.values().collect(), now, asked)
    }

    fn host_status(&self, name: &str, now: Millis) -> Option<HostStatus> {
        self.tell_of(name, now)
    }
}
