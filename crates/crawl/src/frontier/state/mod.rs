//! The crawl's state in memory: a fold over the log's records on top of the last checkpoint.
//!
//! - STATE-1: `apply` is the only way to change what the log speaks of, in a running crawl and in
//!   recovery alike, so what recovery restores is what was there.
//! - STATE-2: the maxima of the day decide nothing here: who makes a record has asked for room before
//!   (`refusal`).
//! - STATE-3: pages, bodies and robots.txt files are held from one checkpoint to the next, which
//!   `checkpoint_changes_max` and `checkpoint_bytes_max` bound; so are hosts beyond `hosts_memory_max`.
//!
//! Nothing here knows a clock or the bench.

mod learn;
mod settle;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use larm_core::digest::BodyDigest;
use larm_core::partition::{PARTITIONS, partition};
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_core::workbench::{End, Health, HostKey, Pace};
use larm_core::{FailureClass, Limits, Millis};

use super::host::{Host, HostRow, host_key};
use super::item::Item;
use super::record::Record;
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
    /// Gaps of hosts that have one of their own.
    host_delays: HashMap<String, u64>,
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
    /// Settings changed while running, by hand.
    pub settings: BTreeMap<String, String>,
    /// URLs waiting, all hosts.
    pub waiting: u64,
    /// Hosts that came from disk, or whose readiness may have changed, since this was last emptied:
    /// after each record, so at most its hosts.
    pub touched: BTreeSet<HostKey>,
    recovering: bool,
    changes: u64,
    change_bytes: u64,
}

impl State {
    /// The state of a crawl that has not begun, to be recovered for the run that begins now.
    pub fn new(store: Arc<Store>, limits: Arc<Limits>, pace: Pace, run_started: Millis) -> Self {
        Self {
            store,
            limits,
            pace,
            host_delays: HashMap::new(),
            run_started,
            hosts: HashMap::new(),
            pages: HashMap::new(),
            digests: HashMap::new(),
            robots: HashMap::new(),
            totals: Totals::default(),
            next_seq: 0,
            settings: BTreeMap::new(),
            waiting: 0,
            touched: BTreeSet::new(),
            recovering: true,
            changes: 0,
            change_bytes: 0,
        }
    }

    /// Applies one record.
    pub fn apply(&mut self, record: Record) -> Result<()> {
        match record {
            Record::Offered { items, refused } => {
                self.count_rejected(&refused);
                items.into_iter().try_for_each(|item| self.enqueue(item))
            }
            Record::Settled(settled) => self.settle(*settled),
            Record::NameFailed { host, class, at } => self.name_failed(&host, class, at),
            Record::Changed { key, value, .. } => {
                self.settings.insert(key, value);
                Ok(())
            }
            Record::Worked(ms) => {
                self.totals.active_ms += ms;
                Ok(())
            }
            Record::Started(at) => {
                self.totals.started.get_or_insert(at);
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
    fn host(&mut self, name: &str) -> Result<&mut Host> {
        let key = host_key(name);
        if !self.hosts.contains_key(&key) {
            let partition = partition_of(name);
            let host = match self.store.host(partition, key)? {
                Some(row) => self.revive(row),
                None => {
                    self.totals.hosts += 1;
                    let mut host = Host::new(name, partition);
                    host.pace.delay_ms = self.host_delays.get(name).copied();
                    host
                }
            };
            self.hosts.insert(key, host);
            self.touched.insert(key);
        }
        Ok(self.hosts.get_mut(&key).expect("STATE: the host was just put there"))
    }

    /// Sets the gaps of hosts that have one of their own.
    pub fn set_host_delays(&mut self, delays: &[(String, u64)]) {
        self.host_delays = delays.iter().cloned().collect();
        for (key, host) in &mut self.hosts {
            host.pace.delay_ms = self.host_delays.get(&*host.name).copied();
            self.touched.insert(*key);
        }
    }

    /// A host as it lies on disk, for reports.
    pub fn stored_host(&self, name: &str) -> Result<Option<Host>> {
        let row = self.store.host(partition_of(name), host_key(name))?;
        Ok(row.map(|row| self.revive(row)))
    }

    /// Takes a host that has work from disk into memory.
    pub fn bring_back(&mut self, partition: u16, key: HostKey) -> Result<()> {
        if let Some(row) = self.store.host(partition, key)? {
            let host = self.revive(row);
            self.hosts.insert(key, host);
            self.touched.insert(key);
        }
        Ok(())
    }

    /// A host read from disk. If an earlier run wrote it, when it was last asked is not known for
    /// certain, so it waits a full gap; in recovery not yet, as the log may have more to say of it.
    pub fn revive(&self, row: HostRow) -> Host {
        let earlier_run = row.run != self.run_started;
        let mut host = Host::from_row(row);
        if earlier_run && !self.recovering {
            host.pace.after_restart(self.run_started, &self.pace);
        }
        host
    }

    /// All of the log is applied. All hosts in memory wait a full gap, those that only the log knew
    /// too.
    pub fn recovered(&mut self) {
        self.recovering = false;
        for host in self.hosts.values_mut() {
            host.pace.after_restart(self.run_started, &self.pace);
        }
    }

    /// Which limit keeps a URL out, if one does; `ahead` more for its host are on their way already.
    pub fn refusal(&mut self, url: &CrawlUrl, ahead: u64) -> Result<Option<&'static str>> {
        let limits = self.limits.clone();
        let host = self.host(url.host())?;
        if &*host.name != url.host() {
            // Two names of one key: whoever is second must not get the other's address.
            return Ok(Some("host-key"));
        }
        if host.waiting().saturating_add(ahead) >= limits.host_urls_max {
            return Ok(Some("host-full"));
        }
        Ok((!host.has_room_for(url.origin(), &limits)).then_some("host-origins"))
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
        let host = self.host(url.host())?;
        let index = host.origin_index(url.origin());
        host.origin(index).queue.push(item);
        self.touched.insert(host_key(url.host()));
        Ok(())
    }

    fn name_failed(&mut self, name: &str, class: FailureClass, at: Millis) -> Result<()> {
        self.changed(ROW_BYTES);
        let (pace, limits) = (self.pace, self.limits.clone());
        let host = self.host(name)?;
        host.changed = true;
        let end = End::Failed { class, retry_after_ms: None };
        if let Health::GivenUp(class) = host.pace.end(end, at, &pace, &limits) {
            host.give_up(class);
        }
        self.touched.insert(host_key(name));
        Ok(())
    }

    fn count_rejected(&mut self, rejected: &[(String, u32)]) {
        for (filter, count) in rejected {
            *self.totals.rejected.entry(filter.clone()).or_default() += u64::from(*count);
        }
    }

    fn changed(&mut self, bytes: u64) {
        self.changes += 1;
        self.change_bytes += bytes;
    }
}

/// The partition of a host's site.
fn partition_of(host: &str) -> u16 {
    let url = CrawlUrl::from_canonical(&format!("http://{host}/"));
    url.map(|url| partition(url.site(), PARTITIONS)).unwrap_or_default()
}
