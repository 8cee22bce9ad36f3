//! All that waits (steps 4, 5 and 12): the seam, and what goes through it.
//!
//! Mercator's two stages on disk: front queues by priority, one back queue per origin behind them, and
//! a bench of hosts by the time at which they may be asked again.
//!
//! - FRONT-1: `offer` inserts if absent, in one step; there is no "seen?" to race with.
//! - FRONT-2: only the frontier makes a [`Lease`], and `settle` takes it by value.
//! - FRONT-3: the state is a fold over the log. What `seal` and its sync made durable survives any
//!   crash; what came after is done again.
//! - FRONT-4: a robots.txt errand that is settled, however that is, frees the origin that waits for it.
//! - FRONT-5: after opening, no host is leased before one full gap has passed.

mod aliases;
mod batch;
mod board;
mod changes;
mod disk;
mod encode;
mod host;
mod item;
mod keyed;
mod lease;
pub mod log;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod model_tests;
pub mod near;
mod numbered;
mod originals;
mod pack;
mod piles;
mod queue;
mod record;
mod row;
mod shared;
mod shelf;
pub mod sieve;
mod sites;
mod state;
mod status;
mod store;

use std::net::IpAddr;

use larm_core::alias::{self, Alias, Sighting};
use larm_core::digest::BodyDigest;
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_core::via::Via;
use larm_core::workbench::{End, HostKey, Pace};
use larm_core::worth::{Finding, Harvest};
use larm_core::{Failure, Millis};

pub use aliases::SharedAliases;
pub use board::{Board, BoardView, OriginKey, Ranked, Waits};
pub use disk::{Checkpoint, DiskFrontier, Opened, Sealed, Written};
pub use host::host_key;
pub use item::{Errand, Item, Place};
pub use keyed::KeyMap;
pub use lease::{Lease, Turn};
pub use originals::Originals;
pub use record::{Fate, Learnt, is_counted};
pub use row::{
    CANONICAL, DROPPED, Likeness, NEAR_DUPLICATE, NO_SITEMAP, PageRow, RobotsRow, RobotsRules,
    SIGNALS, SOFT_404, Totals,
};
pub use shared::SharedFrontier;
pub use status::{Budget, FrontierStatus, HostList, HostStatus, HostsAsked, Standing, Until};

use self::near::PageKey;
use crate::error::Result;
use crate::store::{Position, SameAs, WarcRef};

/// A URL in scope, to be put into the frontier if it is not there yet.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The URL.
    pub url: CrawlUrl,
    /// Hops from a seed.
    pub depth: u32,
    /// How it was found.
    pub via: Via,
    /// Where it was found.
    pub parent: Option<std::sync::Arc<str>>,
    /// Redirects in a row that led here.
    pub redirects: u8,
    /// What it is for.
    pub errand: Errand,
}

/// What became of an offer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offered {
    /// URLs that were not known.
    pub new: u64,
    /// URLs that were.
    pub seen: u64,
    /// New URLs for which their host has no room.
    pub full: u64,
}

/// The end of a lease: what the frontier has to know of it.
#[derive(Debug)]
pub struct Settlement {
    /// When the response ended.
    pub at: Millis,
    /// What it means for the pace.
    pub end: End,
    /// What becomes of the URL.
    pub fate: Fate,
    /// URLs found, in scope.
    pub offers: Vec<Candidate>,
    /// A robots.txt that was learnt.
    pub robots: Option<Learnt>,
    /// How many links were found.
    pub links: u32,
    /// How many of them each filter rejected.
    pub rejected: Vec<(String, u32)>,
    /// Another address of the host, where it is to be asked from now on.
    pub moved: Option<IpAddr>,
    /// What the page says of names that may be aliases.
    pub sightings: Vec<Sighted>,
    /// What the page brought, if that says anything of pages like it.
    pub harvest: Option<Harvest>,
    /// What is found on it comes after everything else of its host.
    pub is_spam: bool,
}

/// What a page says of two names, and which of them has to stay.
#[derive(Debug, Clone)]
pub struct Sighted {
    /// What it says.
    pub sighting: Sighting,
    /// The origin that is asked even if it is found to be the mirror of the other: somebody named it.
    pub stays: Option<Box<str>>,
}

/// Where a page would be under another name, if a guess is right.
#[derive(Debug, Clone)]
pub struct Twin {
    /// The guess.
    pub alias: Alias,
    /// Where.
    pub url: CrawlUrl,
    /// Whether it may be asked for to find out.
    pub may_ask: bool,
    /// Whether somebody waits for the two to be compared.
    pub is_awaited: bool,
}

impl Settlement {
    /// The end of a lease for which nothing was sent.
    pub fn unused(at: Millis, fate: Fate) -> Self {
        Self {
            at,
            end: End::Unused,
            fate,
            offers: Vec::new(),
            robots: None,
            links: 0,
            rejected: Vec::new(),
            moved: None,
            sightings: Vec::new(),
            harvest: None,
            is_spam: false,
        }
    }
}

/// How much may be fetched, over all runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budgets {
    /// Pages answered, in all.
    pub pages_max: Option<u64>,
    /// Pages answered per host, whatever they are worth.
    pub host_pages_max: Option<u64>,
    /// Pages of a host before it has shown that it is worth more.
    pub host_base: Option<u64>,
    /// Pages of a site before it has shown that it is worth more.
    pub site_base: Option<u64>,
    /// Pages with nothing new that cut a shape of URLs off.
    pub cut_at: Option<u32>,
}

impl Budgets {
    /// Whether any of them depends on what pages are worth.
    pub fn learn(&self) -> bool {
        self.host_base.is_some() || self.site_base.is_some() || self.cut_at.is_some()
    }
}

/// A host whose address has to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nameless {
    /// The host.
    pub host: HostKey,
    /// Its name.
    pub name: Box<str>,
    /// The port that is to be asked next.
    pub port: u16,
}

/// Where a host is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Its addresses, at least one; the first is the one to be asked.
    pub addresses: Vec<IpAddr>,
    /// For how long that is good.
    pub ttl_ms: u64,
    /// That is so for this port alone.
    pub port: Option<u16>,
    /// The name that its name is an alias of.
    pub alias: Option<Box<str>>,
}

impl Located {
    /// At one address.
    pub fn at(address: IpAddr, ttl_ms: u64) -> Self {
        Self { addresses: vec![address], ttl_ms, port: None, alias: None }
    }
}

/// Names of sinks and how far they had come.
pub type Positions = Vec<(String, Position)>;

/// All that waits. One owner at a time; every call is short.
pub trait Frontier: Send {
    /// Puts URLs from outside the crawl into the frontier, those that are new. Who offers many of them
    /// asks whether a checkpoint is due.
    fn offer(&mut self, candidates: Vec<Candidate>) -> Result<Offered>;

    /// The next URL that may be fetched now.
    fn lease(&mut self, now: Millis) -> Result<Option<Lease>>;

    /// The request of a lease went out: its address waits from here on. Says whether other hosts of that
    /// address have a time to wait for now.
    fn sent(&mut self, host: HostKey, at: Millis) -> bool;

    /// Ends a lease.
    fn settle(&mut self, lease: Lease, settlement: Settlement) -> Result<Offered>;

    /// A lease for a page that an archive holds already, out of turn: no host is asked, and none waits. If
    /// the page is settled here, it stays as it is.
    fn adopt(&mut self, candidate: Candidate) -> Lease;

    /// The answer of a settled page lies there in the archive from now on; or it is no longer kept.
    fn relocate(&mut self, url: &CrawlUrl, warc: Option<WarcRef>) -> Result<()>;

    /// Takes note of URLs that will be adopted, so that no link to them is taken for news.
    fn foresee(&mut self, urls: &[Fingerprint]) -> Result<()>;

    /// The time at which [`Frontier::lease`] or [`Frontier::nameless`] may have something.
    fn next_due(&self, now: Millis) -> Option<Millis>;

    /// A host whose address is needed now. It stays out until [`Frontier::named`] is called.
    fn nameless(&mut self, now: Millis) -> Option<Nameless>;

    /// The answer to [`Frontier::nameless`]. A failure that is nobody's leads to another question soon.
    fn named(&mut self, host: HostKey, answer: Result<Located, Failure>, now: Millis)
    -> Result<()>;

    /// Whether nothing is left that could be done: nothing due, leased or being looked up.
    fn is_done(&self) -> bool;

    /// Notes a setting that was changed while the crawl runs.
    fn changed(&mut self, key: &str, value: &str, now: Millis) -> Result<()>;

    /// Changes the gaps.
    fn set_pace(&mut self, pace: Pace);

    /// Sets the gaps of hosts that have one of their own, in milliseconds.
    fn set_host_delays(&mut self, delays: &[(String, u64)]);

    /// Sets the hosts that are paused: they are asked for nothing, and keep the crawl from ending.
    fn set_paused(&mut self, hosts: &[String]);

    /// Changes the budgets.
    fn set_budgets(&mut self, budgets: Budgets) -> Result<()>;

    /// Takes what waits in the order of a board from now on.
    fn follow(&mut self, _: std::sync::Arc<Board>) {}

    /// What began to wait, or waits elsewhere, since this was last asked: news for the board. To be asked
    /// after each settlement.
    fn take_waits(&mut self) -> Vec<Waits> {
        Vec::new()
    }

    /// Tells of at most `most` URLs that wait in the order of a board, in memory and on disk.
    fn each_waiting(&self, _most: u64, _tell: &mut dyn FnMut(&Waits)) -> Result<()> {
        Ok(())
    }

    /// Tells the texts of at most `most` URLs that wait, hosts in memory first.
    fn each_waiting_url(&self, _most: u64, _tell: &mut dyn FnMut(&str)) -> Result<()> {
        Ok(())
    }

    /// How a waiting URL stands in the order of a board.
    fn ranked(&self, _url: &CrawlUrl) -> Option<Ranked> {
        None
    }

    /// A settled URL.
    fn page(&self, url: &CrawlUrl) -> Result<Option<PageRow>>;

    /// A settled URL by its key.
    fn page_at(&self, key: PageKey) -> Result<Option<PageRow>>;

    /// Where a page would be under other names, as far as there are guesses to be followed up.
    fn twins(&self, url: &CrawlUrl) -> Vec<Twin>;

    /// The names that were found to be aliases.
    fn alias_rules(&self) -> std::sync::Arc<alias::Rules>;

    /// Whether a URL was ever accepted.
    fn knows(&self, url: &CrawlUrl) -> Result<bool>;

    /// The first page that had this body.
    fn original(&self, digest: &BodyDigest) -> Result<Option<SameAs>>;

    /// The robots.txt of an origin, or what was answered to another question of the crawl's own.
    fn robots(&self, origin: &str) -> Result<Option<RobotsRow>>;

    /// What is thought of URLs like this one, if they are not simply good.
    fn finding(&self, url: &CrawlUrl) -> Option<Finding>;

    /// Whether this URL is known to be worth a fetch, by pages like it or by its host as a whole. Nothing is known of
    /// a host that nobody is at.
    fn is_sure(&self, url: &CrawlUrl) -> bool;

    /// Counts of the whole crawl.
    fn totals(&self) -> &Totals;

    /// URLs waiting, those being fetched included.
    fn waiting(&self) -> u64;

    /// Notes that the crawl worked for `ms` milliseconds more.
    fn worked(&mut self, ms: u64) -> Result<()>;

    /// Puts everything settled so far into the log's buffer, to be synced without holding the
    /// frontier. `positions` is how far the sinks are synced, which covers everything settled so far.
    fn seal(&mut self, positions: Positions) -> Result<Option<Sealed>>;

    /// Whether something was changed that is not in the log yet.
    fn is_unsealed(&self) -> bool;

    /// Whether a checkpoint is due.
    fn wants_checkpoint(&self, now: Millis) -> bool;

    /// Takes everything that a checkpoint has to write, to be written without holding the frontier.
    /// Everything settled must be sealed before, with the positions of sinks that hold it. There is one
    /// at a time: it has to be ended before the next begins.
    fn begin_checkpoint(&mut self, now: Millis) -> Result<Option<Checkpoint>>;

    /// Takes note that a checkpoint is written, and lets go of memory.
    fn end_checkpoint(&mut self, written: Written, now: Millis) -> Result<()>;

    /// A checkpoint from beginning to end, for who need not care how long that takes.
    fn checkpoint(&mut self, now: Millis) -> Result<()> {
        match self.begin_checkpoint(now)? {
            Some(checkpoint) => self.end_checkpoint(checkpoint.write()?, now),
            None => Ok(()),
        }
    }

    /// Counts and waits, with at most `hosts_max` hosts in detail.
    fn status(&self, now: Millis, hosts_max: usize) -> FrontierStatus;

    /// Hosts in memory, those first to whom something happens first.
    fn host_list(&self, now: Millis, asked: &HostsAsked) -> HostList;

    /// What one host is waiting for.
    fn host_status(&self, name: &str, now: Millis) -> Option<HostStatus>;
}
