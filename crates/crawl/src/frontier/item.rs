//! One URL that waits, and what it is fetched for.

use std::sync::Arc;

use larm_core::via::Via;
use serde::{Deserialize, Serialize};

/// A URL in the frontier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Canonical text.
    pub url: Box<str>,
    /// Hops from a seed.
    pub depth: u32,
    /// How it was found.
    pub via: Via,
    /// The page it was found on first. Items of one page share it.
    pub parent: Option<Arc<str>>,
    /// Redirects in a row that led here.
    pub redirects: u8,
    /// Tries that failed so far.
    pub tries: u8,
    /// What it is fetched for.
    pub errand: Errand,
    /// Its place in the order of its host.
    pub place: Place,
}

impl Item {
    /// Whether nobody spoke of it: a sitemap looked for where sitemaps usually are. If it is not there,
    /// nothing is missing.
    pub fn is_guess(&self) -> bool {
        self.errand == Errand::Sitemap && self.via == Via::Robots && self.parent.is_none()
    }
}

/// What a URL is fetched for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Errand {
    /// To be kept, and followed.
    Page,
    /// A list of pages.
    Sitemap,
    /// The robots.txt of `origin`, which redirected here after `hops` redirects.
    Robots {
        /// Whose rules these will be.
        origin: Box<str>,
        /// Redirects so far.
        hops: u8,
    },
    /// The tdmrep.json of its origin.
    Reservations,
    /// To see what its host answers to a path that cannot be there.
    Probe,
}

impl Errand {
    /// Whether it counts for `--max-pages` and the budgets.
    pub fn counts(&self) -> bool {
        matches!(self, Self::Page)
    }

    /// Whether it is the crawl's own question to a host, and what is answered no page of anybody's.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Robots { .. } | Self::Reservations | Self::Probe)
    }

    /// Whether the seen set hears of it. robots.txt errands are the crawl's own, and may be needed more
    /// than once; what they lead to may be a page as well.
    pub fn is_sieved(&self) -> bool {
        !matches!(self, Self::Robots { .. })
    }
}

/// The last front queue of pages by their depth.
const DEEPEST: u8 = 250;
/// The front queue of pages that come after all others of their host: pages like them bring nothing new,
/// or what links to them is spam.
pub const SLOW: u8 = 251;
/// The front queue of pages that wait: pages like them have brought nothing for so long that they are
/// cut off.
pub const HELD: u8 = 252;

/// Order within a host: front queue first, then first come first served.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Place {
    /// The front queue: 0 for robots.txt, 1 for sitemaps and questions, from 2 on the pages by their
    /// depth, then those that are `SLOW` and those that are `HELD`.
    pub priority: u8,
    /// Number of the offer, over the whole crawl.
    pub seq: u64,
}

impl Place {
    /// Before this place there are robots.txt errands alone.
    pub const BEHIND_ERRANDS: Self = Self { priority: 1, seq: 0 };
    /// From this place on, there are pages.
    pub const PAGES_FROM: Self = Self { priority: 2, seq: 0 };
    /// From this place on, pages wait that are cut off.
    pub const HELD_FROM: Self = Self { priority: HELD, seq: 0 };
    /// Behind whatever waits.
    pub const END: Self = Self { priority: u8::MAX, seq: u64::MAX };

    /// The front queue of an item under breadth-first order.
    pub fn breadth_first(errand: &Errand, depth: u32) -> u8 {
        match errand {
            Errand::Robots { .. } => 0,
            Errand::Sitemap | Errand::Reservations | Errand::Probe => 1,
            Errand::Page => u8::try_from(depth.saturating_add(2)).unwrap_or(DEEPEST).min(DEEPEST),
        }
    }
}
