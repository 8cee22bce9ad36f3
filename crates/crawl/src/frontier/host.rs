//! One host of the frontier: its politeness, its address, and its origins with their queues.
//!
//! A host is what is paced; an origin (scheme, host and port) is what has a robots.txt and a health of
//! its own. A dead port or a broken certificate must not take the host's working pages along, so
//! failures are counted per origin, while the gap is kept per host.
//!
//! - HOST-1: an origin's index never changes, and there are at most `host_origins_max` of them, those
//!   aside that arrived while the host was not in memory and were not looked at yet.
//! - HOST-2: whoever changes what a row would say sets `changed`, so that the next checkpoint writes it.

use std::borrow::Cow;
use std::net::IpAddr;

use larm_core::url::CrawlUrl;
use larm_core::workbench::{HostKey, HostPace, Pace, WaitRule};
use larm_core::worth::{HostWorth, Purse};
use larm_core::{FailureClass, Limits, Millis};
use serde::{Deserialize, Serialize};

use super::Located;
use super::item::{Item, Place};
use super::pack::{self, Packed};
use super::queue::{BlockId, Queue, QueueRow, Taken};
use super::shelf::ShelfId;
use super::sites::{LastSite, SiteKey};

/// What a host takes in memory beside its queues, roughly.
pub const HOST_BYTES: u64 = 1_000;

/// The key of a host name.
pub fn host_key(name: &str) -> HostKey {
    HostKey(xxhash_rust::xxh3::xxh3_64(name.as_bytes()))
}

/// Scheme, host and port, with what waits there.
#[derive(Debug)]
pub struct Origin {
    /// `https://example.com`.
    pub text: Box<str>,
    /// Failures and back-off of this origin. Its gap is not used: that is the host's.
    pub health: HostPace,
    /// What waits.
    pub queue: Queue,
    /// Its robots.txt is being looked for elsewhere; until then only that errand may run.
    pub parked: bool,
    /// Why it was given up.
    pub given_up: Option<FailureClass>,
    /// The gap that its robots.txt asks for.
    crawl_delay_ms: Option<u64>,
}

/// Where a host is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPlace {
    /// Its addresses, the one in use first.
    addresses: Vec<IpAddr>,
    /// Until when that is good.
    pub until: Millis,
    /// That is so for this port alone.
    port: Option<u16>,
}

impl HostPlace {
    /// The address where it is asked.
    pub fn address(&self) -> IpAddr {
        *self.addresses.first().expect("HOST: a place has an address")
    }

    /// Its other addresses.
    pub fn others(&self) -> &[IpAddr] {
        self.addresses.get(1..).unwrap_or_default()
    }
}

/// What a host may be asked for: whatever stands before a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appetite {
    /// That place.
    pub before: Place,
}

impl Appetite {
    /// Its pages are enough; others may still need a robots.txt that lies there.
    pub const ERRANDS: Self = Self { before: Place::BEHIND_ERRANDS };
    /// All that waits.
    pub const ALL: Self = Self { before: Place::END };
}

impl Origin {
    fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            health: HostPace::default(),
            queue: Queue::default(),
            parked: false,
            given_up: None,
            crawl_delay_ms: None,
        }
    }

    /// Before which place something may be taken.
    fn end(&self, appetite: Appetite) -> Place {
        if self.parked { Place::BEHIND_ERRANDS } else { appetite.before }
    }

    /// When this origin's next item may be fetched, and by which rule it waits until then.
    fn ready_at(&self, appetite: Appetite) -> Option<(Millis, WaitRule)> {
        if self.given_up.is_some() {
            return None;
        }
        let at = self.queue.ready_before(self.end(appetite));
        let health = &self.health;
        // The gap is the host's business, and may have been changed since.
        let recovers = if health.rule.is_gap() { Millis(0) } else { health.not_before };
        let by_item = (at?, WaitRule::Retry);
        Some(if by_item.0 > recovers { by_item } else { (recovers, health.rule) })
    }

    /// The place of what this origin would have fetched next.
    fn peek(&self, now: Millis, appetite: Appetite) -> Option<Place> {
        self.queue.peek_before(now, self.end(appetite))
    }
}

/// What a URL that was taken into a queue meant for its host.
#[derive(Debug, Clone, Copy)]
pub struct Pushed {
    /// Where it stands.
    pub place: Place,
    /// Whether something of its origin could be asked for at once without it, as far as the queue goes.
    pub had_work: bool,
    /// Whether it was found on a site that had not been heard of here.
    pub new_domain: bool,
}

/// One host.
#[derive(Debug)]
pub struct Host {
    /// Its name, or its address as text.
    pub name: Box<str>,
    /// The key of its name.
    pub key: HostKey,
    /// The partition of its site.
    pub partition: u16,
    /// The gap, and failures of the name itself.
    pub pace: HostPace,
    /// Where it is, as long as that is known.
    pub place: Option<HostPlace>,
    /// Where it was last, for who asks.
    pub last_address: Option<IpAddr>,
    /// The name that its name is an alias of.
    pub alias: Option<Box<str>>,
    /// The origin for whose port it is looked up next, if that matters.
    pub wanted: Option<u32>,
    /// It is not looked up before this time: the last try failed by nobody's fault.
    pub look_up_after: Millis,
    /// Where it stands among the hosts without an address, if it does.
    pub nameless_at: Option<Millis>,
    /// Its origins; their index never changes.
    pub origins: Vec<Origin>,
    /// The item being fetched, and the index of its origin.
    pub leased: Option<(u32, Taken)>,
    /// The site that it shares a budget with.
    pub site: SiteKey,
    /// Its own budget: pages answered, and what they were worth.
    pub purse: Purse,
    /// What is known of its pages by the shape of their URLs, once there is one.
    pub worth: Option<Box<HostWorth>>,
    /// URLs that are held and were put there before this number are looked at once more.
    pub review: u64,
    /// How many pages with nothing new cut a shape off when URLs were held last.
    pub held_at: u32,
    /// All that arrived for it before this number is in its queues.
    pub arrived: u64,
    /// What came with its shelf's arrivals, and has not been held against the maxima yet.
    pub unchecked: Vec<Place>,
    /// Changed since the last checkpoint.
    pub changed: bool,
}

impl Host {
    /// A host that was never heard of.
    pub fn new(name: &str, partition: u16) -> Self {
        Self {
            name: name.into(),
            key: host_key(name),
            partition,
            pace: HostPace::default(),
            place: None,
            last_address: None,
            alias: None,
            wanted: None,
            look_up_after: Millis(0),
            nameless_at: None,
            origins: Vec::new(),
            leased: None,
            site: SiteKey::of_host(name),
            purse: Purse::default(),
            worth: None,
            review: 0,
            held_at: 0,
            arrived: 0,
            unchecked: Vec::new(),
            changed: true,
        }
    }

    /// Takes note of where it is.
    pub fn locate(&mut self, located: Located, now: Millis) {
        let Located { addresses, ttl_ms, port, alias } = located;
        if addresses.is_empty() {
            return;
        }
        let place = HostPlace { addresses, until: now.after(ttl_ms), port };
        let address = Some(place.address());
        self.changed |= self.last_address != address || self.alias != alias;
        (self.last_address, self.alias, self.place) = (address, alias, Some(place));
    }

    /// Another of its addresses is the one to be asked from now on. Nothing, if it has moved away since.
    pub fn move_to(&mut self, address: IpAddr) {
        let Some(place) = &mut self.place else { return };
        if let Some(i) = place.addresses.iter().position(|known| *known == address) {
            place.addresses[..=i].rotate_right(1);
            self.last_address = Some(address);
            self.changed = true;
        }
    }

    /// Whether where it is holds for an origin, too: the user may have set addresses by port.
    pub fn is_placed_for(&self, index: u32) -> bool {
        let Some(port) = self.place.as_ref().and_then(|place| place.port) else { return true };
        self.port_of(index) == Some(port)
    }

    /// The port of an origin.
    pub fn port_of(&self, index: u32) -> Option<u16> {
        let origin = self.origins.get(index as usize)?;
        Some(CrawlUrl::from_canonical(&format!("{}/", origin.text))?.port())
    }

    /// Where it lies when it is not in memory.
    pub fn shelf(&self) -> ShelfId {
        ShelfId::of(self.partition, self.key)
    }

    /// Takes a packed URL into the queue of its origin.
    pub fn push(&mut self, seq: u64, packed: &Packed<'_>, last: &mut LastSite) -> Pushed {
        let place = Place { priority: packed.priority, seq };
        let index = self.origin_index(packed.origin());
        let queue = &mut self.origin(index).queue;
        let had_work = queue.ready_before(Place::HELD_FROM) == Some(Millis(0));
        queue.push(place, packed.bytes);
        let domains = self.purse.domains;
        if let Some(site) = packed.found_on_site(last).filter(|site| *site != self.site) {
            self.purse.domains.add(site.0);
        }
        Pushed { place, had_work, new_domain: domains != self.purse.domains }
    }

    /// What it may be asked for, as far as it depends on the worth of its pages, where `cut_at` pages with
    /// nothing new cut a shape of URLs off. Held URLs are looked at again when that number has grown.
    pub fn worthwhile(&self, cut_at: Option<u32>) -> Appetite {
        match cut_at {
            Some(cut_at) if cut_at <= self.held_at || self.held_at == 0 => {
                Appetite { before: Place { seq: self.review, ..Place::HELD_FROM } }
            }
            _ => Appetite::ALL,
        }
    }

    /// Puts an item at its place in the queue of an origin.
    pub fn put(&mut self, index: u32, item: &Item) {
        let mut bytes = Vec::new();
        pack::pack(item.into(), self.partition, self.key, &mut bytes);
        self.origin(index).queue.push(item.place, &bytes);
    }

    /// What it takes in memory, roughly.
    pub fn memory_bytes(&self) -> u64 {
        let queues = self.origins.iter().map(|origin| origin.queue.memory_bytes() + HOST_BYTES / 2);
        let worth = self.worth.as_ref().map_or(0, |worth| worth.bytes());
        HOST_BYTES + worth + queues.sum::<u64>()
    }

    /// Whether there is room for an origin, or it is there already.
    pub fn has_room_for(&self, origin: &str, limits: &Limits) -> bool {
        (self.origins.len() as u64) < limits.host_origins_max || self.find(origin).is_some()
    }

    /// The index of an origin, which is added if it is not there. Who offers URLs asks for room first.
    pub fn origin_index(&mut self, text: &str) -> u32 {
        let index = self.find(text).unwrap_or_else(|| {
            // Most hosts have one: room for four would be most of what they take.
            self.origins.reserve_exact(1);
            self.origins.push(Origin::new(text));
            self.changed = true;
            self.origins.len() - 1
        });
        u32::try_from(index).expect("HOST-1: there are fewer ports than that")
    }

    fn find(&self, origin: &str) -> Option<usize> {
        self.origins.iter().position(|known| &*known.text == origin)
    }

    /// The origin of an index that this host gave out.
    pub fn origin(&mut self, index: u32) -> &mut Origin {
        self.changed = true;
        self.origins.get_mut(index as usize).expect("HOST-1: an origin's index never changes")
    }

    /// How many URLs wait, the one being fetched included.
    pub fn waiting(&self) -> u64 {
        let queued: u64 = self.origins.iter().map(|origin| origin.queue.len()).sum();
        queued + u64::from(self.leased.is_some())
    }

    /// When the host may be asked again, over all its origins, and which rule sets that time.
    pub fn ready_at(&self, pace: &Pace, appetite: Appetite) -> Option<(Millis, WaitRule)> {
        let by_origin = self.origin_ready_at(appetite)?;
        let by_host = self.pace.due(pace);
        Some(if by_origin.0 > by_host.0 { by_origin } else { by_host })
    }

    /// The same, as far as its origins decide it.
    pub fn origin_ready_at(&self, appetite: Appetite) -> Option<(Millis, WaitRule)> {
        let ready = self.origins.iter().filter_map(|origin| origin.ready_at(appetite));
        ready.min_by_key(|(at, _)| *at)
    }

    /// Of the origins that may be asked now, the one whose next item comes first, and its place.
    pub fn next_origin(&self, now: Millis, appetite: Appetite) -> Option<(u32, Place)> {
        let ready = self.origins.iter().enumerate().filter_map(|(i, origin)| {
            origin.ready_at(appetite).filter(|(at, _)| *at <= now)?;
            Some((origin.peek(now, appetite)?, i))
        });
        ready.min().and_then(|(place, i)| Some((u32::try_from(i).ok()?, place)))
    }

    /// The origins whose pages may be asked for now.
    pub fn open_origins(
        &self,
        now: Millis,
        appetite: Appetite,
    ) -> impl Iterator<Item = (u32, &Origin)> {
        let is_open = move |origin: &Origin| {
            !origin.parked && origin.ready_at(appetite).is_some_and(|(at, _)| at <= now)
        };
        (0..).zip(&self.origins).filter(move |(_, origin)| is_open(origin))
    }

    /// Whether the next of an origin is an errand of the crawl's own, which come before all pages.
    pub fn has_errands(&self) -> bool {
        self.origins.iter().any(|origin| {
            origin.given_up.is_none()
                && origin.queue.ready_before(Place::PAGES_FROM) == Some(Millis(0))
        })
    }

    /// The gap that an origin's robots.txt asks for. The host keeps the longest of them.
    pub fn set_crawl_delay(&mut self, index: u32, crawl_delay_ms: Option<u64>) {
        self.origin(index).crawl_delay_ms = crawl_delay_ms;
        let delays = self.origins.iter().filter_map(|origin| origin.crawl_delay_ms);
        self.pace.crawl_delay_ms = delays.max();
    }

    /// An origin that was given up and still has URLs to settle.
    pub fn given_up_origin(&self) -> Option<(u32, FailureClass)> {
        let found = self.origins.iter().enumerate().find_map(|(i, origin)| {
            origin.given_up.filter(|_| !origin.queue.is_empty()).map(|class| (i, class))
        });
        found.and_then(|(i, class)| Some((u32::try_from(i).ok()?, class)))
    }

    /// Gives up all origins: the host itself cannot be reached.
    pub fn give_up(&mut self, class: FailureClass) {
        self.changed = true;
        for origin in &mut self.origins {
            origin.given_up.get_or_insert(class);
        }
    }

    /// Gives each block of its queues that a checkpoint has to write to `write`, with the index of its
    /// origin, and returns those that it has to remove.
    pub fn checkpoint(
        &mut self,
        limits: &Limits,
        mut write: impl FnMut(u32, BlockId, &[u8]),
    ) -> Vec<(u32, BlockId)> {
        let mut removed = Vec::new();
        for (i, origin) in (0..).zip(&mut self.origins) {
            let mut write = |block, list: &[u8]| write(i, block, list);
            let blocks = origin.queue.checkpoint(limits, &mut write);
            removed.extend(blocks.into_iter().map(|block| (i, block)));
        }
        removed
    }

    /// This host as its row on disk, written by the run that began at `run` when `arrived` was the next
    /// number of an offer, right behind [`Host::checkpoint`].
    pub fn to_row(&self, run: Millis, arrived: u64) -> HostRow<'_> {
        let origins = self.origins.iter().map(|origin| OriginRow {
            text: Cow::Borrowed(&*origin.text),
            health: Cow::Borrowed(&origin.health),
            queue: origin.queue.to_row(),
            parked: origin.parked,
            given_up: origin.given_up,
            crawl_delay_ms: origin.crawl_delay_ms,
        });
        HostRow {
            run,
            name: Cow::Borrowed(&*self.name),
            partition: self.partition,
            pace: Cow::Borrowed(&self.pace),
            origins: origins.collect(),
            leased: Cow::Borrowed(&self.leased),
            purse: self.purse,
            worth: Cow::Borrowed(&self.worth),
            review: self.review,
            held_at: self.held_at,
            arrived,
            last_address: self.last_address,
            alias: self.alias.as_deref().map(Cow::Borrowed),
        }
    }

    /// The host that a row describes. What was being fetched waits again.
    pub fn from_row(row: HostRow<'_>) -> Self {
        let origins = row.origins.into_iter().map(|origin| Origin {
            text: origin.text.into(),
            health: origin.health.into_owned(),
            queue: Queue::from_row(origin.queue),
            parked: origin.parked,
            given_up: origin.given_up,
            crawl_delay_ms: origin.crawl_delay_ms,
        });
        let mut host = Self {
            key: host_key(&row.name),
            site: SiteKey::of_host(&row.name),
            name: row.name.into(),
            partition: row.partition,
            pace: row.pace.into_owned(),
            place: None,
            last_address: row.last_address,
            alias: row.alias.map(Into::into),
            wanted: None,
            look_up_after: Millis(0),
            nameless_at: None,
            origins: origins.collect(),
            leased: None,
            purse: row.purse,
            worth: row.worth.into_owned(),
            review: row.review,
            held_at: row.held_at,
            arrived: row.arrived,
            unchecked: Vec::new(),
            changed: false,
        };
        if let Some((index, taken)) = row.leased.into_owned()
            && let Some(item) = host.origin(index).queue.put_back(taken)
        {
            host.put(index, &item);
        }
        host
    }
}

/// A host as it lies in the store: lent to be written, owned when it was read.
#[derive(Debug, Serialize, Deserialize)]
pub struct HostRow<'a> {
    /// Start of the run that wrote it.
    pub run: Millis,
    name: Cow<'a, str>,
    partition: u16,
    pace: Cow<'a, HostPace>,
    origins: Vec<OriginRow<'a>>,
    leased: Cow<'a, Option<(u32, Taken)>>,
    purse: Purse,
    worth: Cow<'a, Option<Box<HostWorth>>>,
    review: u64,
    held_at: u32,
    arrived: u64,
    last_address: Option<IpAddr>,
    alias: Option<Cow<'a, str>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct OriginRow<'a> {
    text: Cow<'a, str>,
    health: Cow<'a, HostPace>,
    queue: QueueRow,
    parked: bool,
    given_up: Option<FailureClass>,
    crawl_delay_ms: Option<u64>,
}
