//! What the log holds: the crawl's state is a fold over these, and nothing else.
//!
//! A record says everything that the change depends on, limits of the day included: what had no room
//! is counted here and not queued, so that recovery under other limits gives the same.

use larm_core::alias::{Alias, Ruling, Sighting};
use larm_core::workbench::End;
use larm_core::worth::Harvest;
use larm_core::{FailureClass, Millis};
use serde::{Deserialize, Serialize};

use super::item::{Item, Place};
use super::pack::Packs;
use super::row::{PageRow, RobotsRow};
use crate::store::WarcRef;

/// One change of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// URLs from outside the crawl: seeds.
    Offered {
        /// Those that were new.
        items: Packs,
        /// How many had no room, by the limit that said so.
        refused: Vec<(String, u32)>,
    },
    /// A lease ended.
    Settled(Box<Settled>),
    /// URLs that were accepted while their host was not in memory, and for which it has no room.
    Shed {
        /// The host.
        host: Box<str>,
        /// Which of its URLs.
        places: Vec<Place>,
        /// The limit that said so.
        limit: String,
    },
    /// URLs whose turn had come, and that are not worth it now: they get another place.
    Moved(Moved),
    /// A host's name could not be resolved.
    NameFailed {
        /// The host.
        host: Box<str>,
        /// How.
        class: FailureClass,
        /// When.
        at: Millis,
    },
    /// A setting was changed while the crawl ran.
    Changed {
        /// Name of the setting.
        key: String,
        /// Its new value.
        value: String,
        /// When.
        at: Millis,
    },
    /// Time spent crawling since the last such record, in milliseconds.
    Worked(u64),
    /// A run began.
    Started(Millis),
    /// A page that an archive holds already, and that never waited here.
    Adopted(Box<Adopted>),
    /// The answer of a settled page lies elsewhere in the archive from now on.
    Relocated {
        /// Which page.
        url: Box<str>,
        /// Where; nowhere, if it is no longer kept.
        warc: Option<WarcRef>,
    },
}

/// A page from an archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adopted {
    /// Name of its host.
    pub host: Box<str>,
    /// What is kept of it.
    pub row: PageRow,
    /// URLs found, those that were new.
    pub offers: Packs,
    /// Links found, and how many of them each filter or limit rejected.
    pub links: u32,
    /// See `links`.
    pub rejected: Vec<(String, u32)>,
}

/// URLs that get another place, behind those that are there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// Name of the host.
    pub host: Box<str>,
    /// Which of its origins.
    pub origin: Box<str>,
    /// Which items.
    pub places: Vec<Place>,
    /// The front queue that they go to.
    pub to: u8,
    /// How many pages with nothing new cut a shape of URLs off, on that day.
    pub cut_at: u32,
}

/// The end of one lease.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// Name of the host.
    pub host: Box<str>,
    /// Which of its origins.
    pub origin: Box<str>,
    /// Which item.
    pub place: Place,
    /// When the response ended.
    pub at: Millis,
    /// What it means for the pace.
    pub end: End,
    /// What it means for the item.
    pub fate: Fate,
    /// URLs found, those that were new.
    pub offers: Packs,
    /// What the page brought, if that says anything of pages like it.
    pub harvest: Option<Harvest>,
    /// A robots.txt that was learnt.
    pub robots: Option<Learnt>,
    /// Links found, and how many of them each filter or limit rejected.
    pub links: u32,
    /// See `links`.
    pub rejected: Vec<(String, u32)>,
    /// What it says of names that may be aliases.
    pub aliases: Vec<AliasNews>,
}

/// Something about names that may be aliases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AliasNews {
    /// What a page says of a guess.
    Seen(Sighting),
    /// The guess became a rule.
    Ruled(Alias, Ruling),
}

/// Whether the budgets count a page that is settled so: somebody was asked for it and answered, even where
/// nothing of the answer is kept.
pub fn is_counted(item: &Item, row: &PageRow, end: &End) -> bool {
    let answered = row.outcome.answered() || matches!(end, End::Answered { .. });
    item.errand.counts() && answered
}

/// What becomes of the item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Fate {
    /// It is settled for good.
    Done(Box<PageRow>),
    /// It was an errand for the crawl itself: a robots.txt.
    Errand,
    /// It failed, and is tried again at this time at the earliest.
    Again(Millis),
    /// It takes its place again: the lease was used for something else, or for nothing.
    Back,
}

/// What was learnt of an origin's robots.txt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Learnt {
    /// Its rules, and the crawl-delay for us in them.
    Rules {
        /// To be stored.
        row: RobotsRow,
        /// In milliseconds.
        crawl_delay_ms: Option<u64>,
    },
    /// It redirects; the target is among the offers, and the origin waits for that.
    Elsewhere {
        /// Whose robots.txt.
        origin: Box<str>,
    },
    /// It cannot be had.
    Unreachable {
        /// Whose robots.txt.
        origin: Box<str>,
        /// What the server asked for.
        retry_after_ms: Option<u64>,
    },
    /// No robots.txt, but what an origin's tdmrep.json came to, under its URL.
    Reservations(RobotsRow),
    /// No robots.txt, but what a host answered to a path that cannot be there, under a key of its own.
    Probed(RobotsRow),
}
