//! The crawl's state in memory: a fold over the log's records on top of the last checkpoint.
//!
//! - STATE-1: `apply` is the only way to change what the log speaks of, in a running crawl and in
//!   recovery alike, so what recovery restores is what was there.
//! - STATE-2: the maxima of the day decide nothing here: who makes a record has asked for room before
//!   (`refusal`).
//! - STATE-3: pages, bodies and robots.txt files are held from one checkpoint to the next, which
//!   `checkpoint_changes_max` and `checkpoint_bytes_max` bound; so are hosts beyond `hosts_memory_max`.
//! - STATE-4: a host in memory knows all that waits for it. Where what waits lies, with its host or among
//!   the arrivals of its shelf, is not the log's business.
//!
//! Nothing here knows a clock or the bench.

mod arrive;
mod gather;
mod learn;
mod order;
mod settle;
mod worth;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use larm_core::digest::BodyDigest;
use larm_core::partition::{PARTITIONS, partition};
use larm_core::url::file::is_lane;
use larm_core::url::{CrawlUrl, Fingerprint, site_of_host};
use larm_core::workbench::{End, Health, HostKey, Pace};
use larm_core::{FailureClass, Limits, Millis};

use super::aliases::AliasBook;
use super::changes::Changes;
use super::host::{HOST_BYTES, Host, HostRow, Origin, host_key};
use super::item::Place;
use super::keyed::KeyMap;
use super::near::{self, PageKey};
use super::originals::Originals;
use super::pack::{Packed, Packs};
use super::piles::{Piles, Saved};
use super::record::Record;
use super::row::{DROPPED, PageRow, RobotsRow, Totals};
use super::shelf::{ShelfId, Shelves};
use super::sites::{LastSite, Sites};
use super::store::{BlockKey, Row, Store};
use crate::error::Result;
use crate::store::SameAs;

pub use arrive::BroughtIn;
pub use gather::Gathered;
pub use order::{Following, waits};

/// What is counted for a row beside its bytes against the checkpoint's budget, roughly: its place in a map, the
/// head of its bytes, and what the allocator rounds up.
const ROW_BYTES: u64 = 120;
/// The same for a URL that waits.
const ITEM_BYTES: u64 = 40;

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
    /// Next number of an offer when this run started.
    run_seq: u64,
    /// Whether there was a run before this one.
    resumed: bool,
    /// Hosts in memory.
    pub hosts: KeyMap<HostKey, Host>,
    /// What is on disk only.
    pub shelves: Shelves,
    /// The budgets of the sites of hosts in memory.
    pub sites: Sites,
    /// Pages settled since the last checkpoint, each with its partition.
    pages: Changes<KeyMap<Fingerprint, (u16, Row)>>,
    /// Bodies, those first seen since the last checkpoint among them.
    originals: Arc<Originals>,
    /// robots.txt files since the last checkpoint.
    robots: Changes<HashMap<Box<str>, Row>>,
    /// Which pages have nearly the same words.
    near: Arc<near::Index>,
    /// Names that are aliases, or may be.
    pub aliases: AliasBook,
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
    /// In which order pages are taken, where that is not the order of their places.
    pub order: Following,
    recovering: bool,
    changes: u64,
    change_bytes: u64,
}

impl State {
    /// The state of a crawl that has not begun, to be recovered for the run that begins now.
    pub fn new(
        (store, piles, near): (Arc<Store>, Piles, Arc<near::Index>),
        limits: Arc<Limits>,
        pace: Pace,
        run_started: Millis,
    ) -> Self {
        Self {
            originals: Arc::new(Originals::new(store.clone())),
            store,
            shelves: Shelves::new(piles, limits.arrivals_bytes_max),
            limits,
            pace,
            host_delays: HashMap::new(),
            run_started,
            run_seq: 0,
            resumed: false,
            hosts: KeyMap::default(),
            sites: Sites::default(),
            pages: Changes::default(),
            robots: Changes::default(),
            near,
            aliases: AliasBook::default(),
            totals: Totals::default(),
            next_seq: 0,
            settings: BTreeMap::new(),
            waiting: 0,
            touched: BTreeSet::new(),
            order: Following::default(),
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
                self.enqueue_all(&items)
            }
            Record::Settled(settled) => self.settle(*settled),
            Record::Adopted(adopted) => self.adopt(*adopted),
            Record::Relocated { url, warc } => self.relocate(&url, warc),
            Record::Shed { host, places, limit } => self.shed(&host, &places, &limit),
            Record::Moved(moved) => self.move_back(moved),
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
    pub fn checkpointed(&mut self, arrivals: Saved) {
        self.pages.forget_saved();
        self.originals.forget_saved();
        self.robots.forget_saved();
        self.shelves.checkpointed(arrivals);
        for host in self.hosts.values_mut() {
            host.origins.iter_mut().for_each(|o| o.queue.unload_beyond(&self.limits));
        }
    }

    /// Each shelf of which somebody is in memory, and whether anything waits for them.
    pub fn shelves_in_memory(&self) -> BTreeMap<ShelfId, bool> {
        let mut shelves = BTreeMap::new();
        for host in self.hosts.values() {
            *shelves.entry(host.shelf()).or_default() |= host.waiting() > 0;
        }
        shelves
    }

    /// A settled page.
    pub fn page(&self, url: &CrawlUrl) -> Result<Option<PageRow>> {
        let partition = partition(url.site(), PARTITIONS);
        self.page_at(PageKey { partition, fingerprint: url.fingerprint() })
    }

    /// A settled page by its key.
    pub fn page_at(&self, key: PageKey) -> Result<Option<PageRow>> {
        match self.pages.get(&key.fingerprint) {
            Some((_, row)) => self.store.decode(row).map(Some),
            None => self.store.page(key.partition, key.fingerprint),
        }
    }

    /// Whether a page was settled, or changed, since the last checkpoint.
    pub fn has_changed(&self, url: &str) -> bool {
        self.pages.get(&Fingerprint::of(url)).is_some()
    }

    /// Pages that were settled or changed since the last checkpoint.
    pub fn changed_pages(&self) -> impl Iterator<Item = Result<PageRow>> {
        self.pages.values().map(|(_, row)| self.store.decode(row))
    }

    /// The first page that had this body, and has it still.
    pub fn original(&self, digest: &BodyDigest) -> Result<Option<SameAs>> {
        let first: Option<SameAs> = match self.originals.young(digest) {
            Some(row) => Some(self.store.decode(&row)?),
            None => self.store.original(digest)?,
        };
        let url = first.as_ref().and_then(|first| CrawlUrl::from_canonical(&first.url));
        let page = url.map(|url| self.page(&url)).transpose()?.flatten();
        Ok(first.filter(|_| !page.is_some_and(|page| page.has_fact(DROPPED))))
    }

    /// Which bodies are known, for those who do not hold the frontier.
    pub fn originals(&self) -> Arc<Originals> {
        self.originals.clone()
    }

    /// The robots.txt of an origin.
    pub fn robots(&self, origin: &str) -> Result<Option<RobotsRow>> {
        match self.robots.get(origin) {
            Some(row) => self.store.decode(row).map(Some),
            None => self.store.robots(origin),
        }
    }

    /// The host of this name, from memory or disk, or a new one.
    pub fn host(&mut self, name: &str) -> Result<&mut Host> {
        let key = host_key(name);
        if !self.hosts.contains_key(&key) {
            let host = self.fetch_host(name)?;
            self.take_host(host)?;
            self.touched.insert(key);
        }
        Ok(self.hosts.get_mut(&key).expect("STATE: the host was just put there"))
    }

    /// A host that nothing is known of. An earlier run may have met and asked it in its last instant, of which
    /// a crash has left no trace.
    fn new_host(&mut self, name: &str, partition: u16) -> Host {
        self.totals.hosts += u64::from(!is_lane(name));
        let mut host = Host::new(name, partition);
        host.pace.delay_ms = self.host_delays.get(name).copied();
        if self.resumed {
            host.pace.after_restart(self.run_started, &self.pace);
        }
        host
    }

    /// Sets the gaps of hosts that have one of their own.
    pub fn set_host_delays(&mut self, delays: &[(String, u64)]) {
        self.host_delays = delays.iter().cloned().collect();
        for (key, host) in &mut self.hosts {
            host.pace.delay_ms = self.host_delays.get(&*host.name).copied();
            self.touched.insert(*key);
        }
    }

    /// A host read from disk. If an earlier run wrote it, when it was last asked is not known for
    /// certain, so it waits a full gap; in recovery not yet, as the log may have more to say of it.
    pub fn revive(&self, row: HostRow<'_>) -> Host {
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
        self.resumed = self.totals.started.is_some();
        self.run_seq = self.next_seq;
        for host in self.hosts.values_mut() {
            host.pace.after_restart(self.run_started, &self.pace);
        }
    }

    /// The partition of a URL for which there is room, or the limit that keeps it out; `ahead` more for
    /// its host are on their way already. Of a host that is not in memory that is seen when it takes what
    /// arrived.
    pub fn room(&self, url: &CrawlUrl, key: HostKey, ahead: u64) -> Result<u16, &'static str> {
        let Some(host) = self.hosts.get(&key) else {
            let has_room = ahead < self.limits.host_urls_max;
            return has_room.then(|| partition(url.site(), PARTITIONS)).ok_or("host-full");
        };
        if &*host.name != url.host() {
            // Two names of one key: whoever is second must not get the other's address.
            return Err("host-key");
        }
        if host.waiting().saturating_add(ahead) >= self.limits.host_urls_max {
            return Err("host-full");
        }
        let has_room = host.has_room_for(url.origin(), &self.limits);
        has_room.then_some(host.partition).ok_or("host-origins")
    }

    /// Loads what must be in memory before the host's next item can be chosen.
    pub fn load_due_blocks(&mut self, key: HostKey) -> Result<()> {
        let Some(host) = self.hosts.get_mut(&key) else { return Ok(()) };
        let partition = host.partition;
        for (origin, at) in (0..).zip(&mut host.origins) {
            while let Some(block) = at.queue.block_due() {
                load(&self.store, at, BlockKey { partition, host: key, origin, block })?;
            }
        }
        Ok(())
    }

    fn enqueue_all(&mut self, items: &Packs) -> Result<()> {
        let mut last = LastSite::default();
        items.iter().try_for_each(|packed| self.enqueue(&packed, &mut last))
    }

    fn enqueue(&mut self, packed: &Packed<'_>, last: &mut LastSite) -> Result<()> {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.totals.known += u64::from(packed.counts());
        self.waiting += 1;
        self.changed(packed.bytes.len() as u64 + ITEM_BYTES);
        self.order.hear_of(seq, packed);
        let key = packed.host;
        let shelf = ShelfId::of(packed.partition, key);
        if !self.hosts.contains_key(&key) && self.shelves.is_whole(shelf) {
            self.meet_host(packed)?;
        }
        match self.hosts.get_mut(&key).filter(|host| *host.name == *packed.host_name()) {
            // One more for who has something to do changes nothing about when that is; but see errands. A link from
            // another site may raise a budget that was used up.
            Some(host) => {
                let pushed = host.push(seq, packed, last);
                if pushed.new_domain {
                    self.sites.hear(host.site, host.purse.domains);
                }
                if pushed.new_domain || !(pushed.had_work && packed.is_sieved()) {
                    self.touched.insert(key);
                }
            }
            None => self.shelves.arrive(shelf, seq, packed.bytes),
        }
        Ok(())
    }

    /// A host of which nobody has heard: it is taken into memory, while there is room.
    fn meet_host(&mut self, packed: &Packed<'_>) -> Result<()> {
        if self.hosts.len() as u64 >= self.limits.hosts_memory_max {
            self.shelves.open(ShelfId::of(packed.partition, packed.host), None);
            return Ok(());
        }
        let host = self.new_host(packed.host_name(), packed.partition);
        self.change_bytes += HOST_BYTES;
        self.take_host(host)
    }

    /// Drops what a host has no room for.
    fn shed(&mut self, name: &str, places: &[Place], limit: &str) -> Result<()> {
        let host = self.host(name)?;
        host.changed = true;
        let (mut dropped, mut counted, mut gone) = (0, 0, Vec::new());
        for place in places {
            let found = host.origins.iter_mut().find_map(|origin| origin.queue.take(*place));
            let found = found.inspect(|taken| {
                counted += u64::from(taken.item.errand.counts());
                gone.push(taken.item.clone());
            });
            debug_assert!(found.is_some(), "STATE-4: what is shed was waiting: {place:?}");
            dropped += u32::from(found.is_some());
        }
        host.unchecked.retain(|place| !places.contains(place));
        gone.iter().for_each(|item| self.order.left(item));
        self.waiting -= u64::from(dropped);
        self.totals.known -= counted;
        self.count_rejected(&[(limit.to_owned(), dropped)]);
        self.touched.insert(host_key(name));
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

/// Takes a block of an origin's queue into memory.
fn load(store: &Store, origin: &mut Origin, key: BlockKey) -> Result<()> {
    let list = store.block(key)?;
    let broken = || store.broken(&format!("a block of waiting URLs cannot be read ({key:?})"));
    origin.queue.load(key.block, &list).ok_or_else(broken)
}

/// The partition of a host's site.
fn partition_of_name(host: &str) -> u16 {
    partition(site_of_host(host), PARTITIONS)
}
