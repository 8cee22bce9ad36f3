//! The crawl's state in memory: a fold over the log's records on top of the last checkpoint.
//!
//! `apply` is the only way to change it, in a running crawl and in recovery alike, so what recovery
//! restores is what was there. Nothing here knows a clock or the bench.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use larm_core::digest::BodyDigest;
use larm_core::partition::{PARTITIONS, partition};
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_core::workbench::{End, Health, HostKey, Pace};
use larm_core::{FailureClass, Limits, Millis};

use super::host::{Host, HostRow, host_key};
use super::item::{Item, Place};
use super::record::{Fate, Learnt, Record, Settled};
use super::row::{PageRow, RobotsRow, Totals};
use super::store::{BlockKey, Store};
use crate::error::Result;
use crate::store::SameAs;

/// What was counted against a page or block for the checkpoint's budget, roughly.
const ROW_BYTES: u64 = 256;

/// Everything that is known, in memory as far as it has to be.
pub struct State {
    store: Arc<Store>,
    limits: Arc<Limits>,
    /// The gap rules in force.
    pub pace: Pace,
    /// Start of this run: hosts read from disk wait one full gap from then on.
    pub run_started: Millis,
    /// Hosts in memory.
    pub hosts: HashMap<HostKey, Host>,
    /// Pages settled since the last checkpoint.
    pub pages: HashMap<Fingerprint, (u16, PageRow)>,
    /// Bodies first seen since the last checkpoint.
    pub digests: HashMap<BodyDigest, SameAs>,
    /// robots.txt files since the last checkpoint.
    pub robots: HashMap<Box<str>, RobotsRow>,
    /// Counts.
    pub totals: Totals,
    /// Next number of an offer.
    pub next_seq: u64,
    /// Settings changed while running.
    pub settings: BTreeMap<String, String>,
    /// URLs waiting, all hosts.
    pub waiting: u64,
    /// Hosts whose readiness may have changed since this was last emptied.
    pub touched: HashSet<HostKey>,
    changes: u64,
    change_bytes: u64,
}

impl State {
    /// The state of a crawl that has not begun.
    pub fn new(store: Arc<Store>, limits: Arc<Limits>, pace: Pace) -> Self {
        Self {
            store,
            limits,
            pace,
            run_started: Millis(0),
            hosts: HashMap::new(),
            pages: HashMap::new(),
            digests: HashMap::new(),
            robots: HashMap::new(),
            totals: Totals::default(),
            next_seq: 0,
            settings: BTreeMap::new(),
            waiting: 0,
            touched: HashSet::new(),
            changes: 0,
            change_bytes: 0,
        }
    }

    /// Applies one record.
    pub fn apply(&mut self, record: &Record) -> Result<()> {
        match record {
            Record::Offered(items) => items.iter().try_for_each(|item| self.enqueue(item.clone())),
            Record::Settled(settled) => self.settle(settled),
            Record::NameFailed { host, class, at } => self.name_failed(host, *class, *at),
            Record::Changed { key, value, .. } => {
                self.settings.insert(key.clone(), value.clone());
                Ok(())
            }
            Record::Worked(ms) => {
                self.totals.active_ms += ms;
                Ok(())
            }
            Record::Started(at) => {
                self.totals.started.get_or_insert(*at);
                Ok(())
            }
        }
    }

    /// Whether so much has changed that a checkpoint is due.
    pub fn wants_checkpoint(&self) -> bool {
        self.changes >= self.limits.checkpoint_changes_max
            || self.change_bytes >= self.limits.checkpoint_bytes_max
    }

    /// Whether anything has changed since the last checkpoint.
    pub fn has_changes(&self) -> bool {
        self.changes > 0
    }

    /// Forgets what the checkpoint that was just written holds.
    pub fn checkpointed(&mut self) {
        self.pages.clear();
        self.digests.clear();
        self.robots.clear();
        self.changes = 0;
        self.change_bytes = 0;
    }

    /// A settled page.
    pub fn page(&self, url: &CrawlUrl) -> Result<Option<PageRow>> {
        let fingerprint = url.fingerprint();
        if let Some((_, row)) = self.pages.get(&fingerprint) {
            return Ok(Some(row.clone()));
        }
        self.store.page(partition(url.site(), PARTITIONS), fingerprint)
    }

    /// The first page that had this body.
    pub fn original(&self, digest: &BodyDigest) -> Result<Option<SameAs>> {
        match self.digests.get(digest) {
            Some(original) => Ok(Some(original.clone())),
            None => self.store.original(digest),
        }
    }

    /// The robots.txt of an origin.
    pub fn robots(&self, origin: &str) -> Result<Option<RobotsRow>> {
        match self.robots.get(origin) {
            Some(row) => Ok(Some(row.clone())),
            None => self.store.robots(origin),
        }
    }

    /// The host of this name, from memory or disk, or a new one.
    pub fn host_of(&mut self, url: &CrawlUrl) -> Result<&mut Host> {
        self.host_named(url.host(), partition(url.site(), PARTITIONS))
    }

    fn host_named(&mut self, name: &str, partition: u16) -> Result<&mut Host> {
        let key = host_key(name);
        if !self.hosts.contains_key(&key) {
            let host = match self.store.host(partition, key)? {
                Some(row) => self.revive(row),
                None => {
                    self.totals.hosts += 1;
                    Host::new(name, partition)
                }
            };
            self.hosts.insert(key, host);
        }
        Ok(self.hosts.get_mut(&key).expect("STATE: the host was just put there"))
    }

    /// A host read from disk. When it was last asked is not known for certain, so it waits a full gap.
    pub fn revive(&self, row: HostRow) -> Host {
        let mut host = Host::from_row(row);
        if host.pace.last_end.is_none_or(|end| end < self.run_started) {
            host.pace.after_restart(self.run_started, &self.pace);
        }
        host
    }

    /// Whether the host of `url` has room for one more.
    pub fn has_room(&mut self, url: &CrawlUrl) -> Result<Option<&'static str>> {
        let (urls_max, limits) = (self.limits.host_urls_max, self.limits.clone());
        let host = self.host_of(url)?;
        if host.waiting() >= urls_max {
            return Ok(Some("host-full"));
        }
        Ok(host.origin_index(url.origin(), &limits).is_none().then_some("host-origins"))
    }

    /// Loads what must be in memory before the host's next item can be chosen.
    pub fn load_due_blocks(&mut self, key: HostKey) -> Result<()> {
        let Some(host) = self.hosts.get_mut(&key) else { return Ok(()) };
        let partition = host.partition;
        for (i, origin) in host.origins.iter_mut().enumerate() {
            let index = u16::try_from(i).unwrap_or(u16::MAX);
            while let Some(block) = origin.queue.block_due() {
                let items =
                    self.store.block(BlockKey { partition, host: key, origin: index, block })?;
                origin.queue.load(block, items);
            }
        }
        Ok(())
    }

    fn enqueue(&mut self, mut item: Item) -> Result<()> {
        let url = CrawlUrl::from_canonical(&item.url).expect("STATE: items hold canonical URLs");
        item.place.seq = self.next_seq;
        self.next_seq += 1;
        self.totals.known += u64::from(item.errand.counts());
        self.waiting += 1;
        self.changed(item.url.len() as u64 + ROW_BYTES);
        let limits = self.limits.clone();
        let host = self.host_of(&url)?;
        let Some(index) = host.origin_index(url.origin(), &limits) else { return Ok(()) };
        host.origin(index).queue.push(item);
        self.touched.insert(host_key(url.host()));
        Ok(())
    }

    fn settle(&mut self, settled: &Settled) -> Result<()> {
        self.changed(ROW_BYTES);
        self.totals.links += u64::from(settled.links);
        for (filter, count) in &settled.rejected {
            *self.totals.rejected.entry(filter.clone()).or_default() += u64::from(*count);
        }
        let item = self.take_leased(settled)?;
        self.end_lease(settled)?;
        if let Some(item) = item {
            self.decide(settled, item)?;
        }
        if let Some(learnt) = &settled.robots {
            self.learn(learnt, settled.at)?;
        }
        settled.offers.iter().try_for_each(|item| self.enqueue(item.clone()))
    }

    /// The item of a lease: held by its host while the crawl runs, still in its queue in recovery.
    fn take_leased(&mut self, settled: &Settled) -> Result<Option<Item>> {
        let partition = self.partition_of_origin(&settled.origin);
        let limits = self.limits.clone();
        let host = self.host_named(&settled.host, partition)?;
        host.changed = true;
        if let Some((_, item)) = host.leased.take_if(|(_, item)| item.place == settled.place) {
            return Ok(Some(item));
        }
        let Some(index) = host.origin_index(&settled.origin, &limits) else { return Ok(None) };
        if let Some(item) = host.origin(index).queue.take(settled.place) {
            return Ok(Some(item));
        }
        self.take_from_blocks(host_key(&settled.host), index, settled.place)
    }

    fn take_from_blocks(
        &mut self,
        key: HostKey,
        origin: u16,
        place: Place,
    ) -> Result<Option<Item>> {
        let Some(host) = self.hosts.get_mut(&key) else { return Ok(None) };
        let partition = host.partition;
        let queue = &mut host.origin(origin).queue;
        for block in queue.blocks_before(place) {
            let items = self.store.block(BlockKey { partition, host: key, origin, block })?;
            queue.load(block, items);
            if let Some(item) = queue.take(place) {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    /// The gap is the host's; a failure is held against the origin.
    fn end_lease(&mut self, settled: &Settled) -> Result<()> {
        let (pace, limits) = (self.pace, self.limits.clone());
        let partition = self.partition_of_origin(&settled.origin);
        let host = self.host_named(&settled.host, partition)?;
        let key = host_key(&settled.host);
        let gap = match &settled.end {
            End::Failed { .. } => End::Answered { response_ms: host.pace.response_ms },
            other => *other,
        };
        host.pace.end(gap, settled.at, &pace, &limits);
        if let Some(index) = host.origin_index(&settled.origin, &limits) {
            let origin = host.origin(index);
            if let Health::GivenUp(class) =
                origin.health.end(settled.end, settled.at, &pace, &limits)
            {
                origin.given_up = Some(class);
            }
        }
        self.touched.insert(key);
        Ok(())
    }

    fn decide(&mut self, settled: &Settled, mut item: Item) -> Result<()> {
        let limits = self.limits.clone();
        let partition = self.partition_of_origin(&settled.origin);
        match &settled.fate {
            Fate::Done(row) => {
                self.waiting -= 1;
                self.keep(row, partition);
                let answered = u64::from(item.errand.counts() && row.outcome.answered());
                self.totals.answered += answered;
                self.host_named(&settled.host, partition)?.answered += answered;
            }
            Fate::Errand => self.waiting -= 1,
            Fate::Again(at) => {
                self.totals.retries += 1;
                item.tries = item.tries.saturating_add(1);
                let host = self.host_named(&settled.host, partition)?;
                if let Some(index) = host.origin_index(&settled.origin, &limits) {
                    host.origin(index).queue.defer(item, *at, &limits);
                }
            }
            Fate::Back => {
                let host = self.host_named(&settled.host, partition)?;
                if let Some(index) = host.origin_index(&settled.origin, &limits) {
                    host.origin(index).queue.push(item);
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, row: &PageRow, partition: u16) {
        self.totals.count(row);
        let url = CrawlUrl::from_canonical(&row.url).expect("STATE: rows hold canonical URLs");
        if let (Some(digest), Some(payload_digest), None) =
            (&row.digest, row.payload_digest, &row.same_as)
        {
            let original = SameAs { url: row.url.to_string(), at: row.at, payload_digest };
            self.digests.entry(*digest).or_insert(original);
        }
        self.changed(row.url.len() as u64 + ROW_BYTES);
        self.pages.insert(url.fingerprint(), (partition, row.clone()));
    }

    fn learn(&mut self, learnt: &Learnt, at: Millis) -> Result<()> {
        match learnt {
            Learnt::Rules { row, crawl_delay_ms } => {
                self.totals.robots += 1;
                self.change_bytes += row.rules.len() as u64 + ROW_BYTES;
                self.robots.insert(row.origin.clone(), row.clone());
                self.rules_known(&row.origin, *crawl_delay_ms)
            }
            Learnt::Elsewhere { origin } => self.with_origin(origin, |origin| origin.parked = true),
            Learnt::Unreachable { origin, retry_after_ms } => {
                self.robots_unreachable(origin, at, *retry_after_ms)
            }
        }
    }

    fn rules_known(&mut self, origin: &str, crawl_delay_ms: Option<u64>) -> Result<()> {
        let delay_max = self.limits.crawl_delay_ms_max;
        self.with_origin(origin, |origin| {
            origin.parked = false;
            if crawl_delay_ms.is_some_and(|delay| delay > delay_max) {
                origin.given_up = Some(FailureClass::CrawlDelayTooLong);
            }
        })?;
        let Some(url) = CrawlUrl::from_canonical(&format!("{origin}/")) else { return Ok(()) };
        self.host_of(&url)?.pace.crawl_delay_ms = crawl_delay_ms;
        Ok(())
    }

    fn robots_unreachable(
        &mut self,
        origin: &str,
        at: Millis,
        retry_after_ms: Option<u64>,
    ) -> Result<()> {
        let (pace, limits) = (self.pace, self.limits.clone());
        self.with_origin(origin, |origin| {
            origin.parked = false;
            let end = End::Failed { class: FailureClass::RobotsUnreachable, retry_after_ms };
            if let Health::GivenUp(class) = origin.health.end(end, at, &pace, &limits) {
                origin.given_up = Some(class);
            }
        })
    }

    fn with_origin(
        &mut self,
        origin: &str,
        change: impl FnOnce(&mut super::host::Origin),
    ) -> Result<()> {
        let Some(url) = CrawlUrl::from_canonical(&format!("{origin}/")) else { return Ok(()) };
        let limits = self.limits.clone();
        let host = self.host_of(&url)?;
        if let Some(index) = host.origin_index(origin, &limits) {
            change(host.origin(index));
        }
        self.touched.insert(host_key(url.host()));
        Ok(())
    }

    fn name_failed(&mut self, name: &str, class: FailureClass, at: Millis) -> Result<()> {
        self.changed(ROW_BYTES);
        let (pace, limits) = (self.pace, self.limits.clone());
        let key = host_key(name);
        let Some(host) = self.hosts.get_mut(&key) else { return Ok(()) };
        host.changed = true;
        let end = End::Failed { class, retry_after_ms: None };
        if let Health::GivenUp(class) = host.pace.end(end, at, &pace, &limits) {
            host.give_up(class);
        }
        self.touched.insert(key);
        Ok(())
    }

    fn partition_of_origin(&self, origin: &str) -> u16 {
        let url = CrawlUrl::from_canonical(&format!("{origin}/"));
        url.map(|url| partition(url.site(), PARTITIONS)).unwrap_or_default()
    }

    fn changed(&mut self, bytes: u64) {
        self.changes += 1;
        self.change_bytes += bytes;
    }
}
