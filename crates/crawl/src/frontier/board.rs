//! What waits, by worth: who comes next at an origin, as the ranker last said.
//!
//! The frontier keeps what waits in the order of places, which never changes by itself, and which is all
//! that the log and the disk know. The board stands beside it, in memory alone: it says at which place the
//! best URL of an origin is, so that this one is taken out of turn. So a million URLs change their order
//! without anything being moved or written.
//!
//! The ranker puts URLs here and says what they are worth; the frontier asks, and takes away what it takes
//! from its queues. News of what waits come a moment late: a place may turn out to be empty, and whoever
//! finds that takes it off the board. Nothing depends on the board but the order.
//!
//! - BOARD-1: it knows at most `order_pages_max` URLs, those that are worth least forgotten first.
//! - BOARD-2: whoever holds it holds it shortly: working out the order of all URLs anew happens elsewhere, and is
//!   put in the place of the old one.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use larm_core::Limits;
use larm_core::order::{Met, Roster};
use larm_core::url::Fingerprint;
use larm_core::workbench::HostKey;
use serde::{Deserialize, Serialize};

use super::item::{Place, SLOW};

/// URLs whose places are copied with one hold of the board.
const COPY: usize = 1 << 14;
/// URLs whose worth changes with one hold of the board.
const UPDATES: usize = 1_024;
/// URLs before one that are counted for who asks.
const AHEAD_MAX: usize = 10_000;
/// Bits of a place's number.
const SEQ_BITS: u32 = 56;

/// An origin of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OriginKey(u64);

impl OriginKey {
    /// The key of an origin. Lanes of files share their origin, so the host is part of it.
    pub fn of(host: HostKey, origin: &str) -> Self {
        Self(xxhash_rust::xxh3::xxh3_64_with_seed(origin.as_bytes(), host.0))
    }
}

/// A URL that waits, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    /// Which URL.
    pub url: Fingerprint,
    /// Of which origin.
    pub origin: OriginKey,
    /// At which place.
    pub place: Place,
    /// Hops from a seed.
    pub depth: u32,
    /// Its text, for orders that judge by it.
    pub text: Option<Box<str>>,
}

impl Waits {
    /// Whether an order has a say in when it comes: errands come before all, and what is not worth its turn
    /// behind all.
    pub fn is_ordered(place: Place) -> bool {
        place >= Place::PAGES_FROM && place.priority < SLOW
    }
}

/// How a URL stands on the board: the less the better. The bits of a worth rise with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u32);

impl Rank {
    /// Before all that has a worth.
    pub const FIRST: Self = Self(0);
    /// Behind all that has one.
    pub const LAST: Self = Self(u32::MAX);

    fn of(worth: f32) -> Self {
        Self(!worth.max(f32::MIN_POSITIVE).to_bits())
    }

    fn worth(self) -> f32 {
        f32::from_bits(!self.0)
    }
}

/// The best of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Best {
    /// How good.
    pub rank: Rank,
    /// The ranker's number of it.
    pub number: u32,
    /// Where it waits.
    pub place: Place,
}

/// Where a URL waits, if it does: eight bytes for its origin, eight for its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spot {
    origin: OriginKey,
    place: u64,
}

impl Spot {
    const NONE: Self = Self { origin: OriginKey(0), place: u64::MAX };

    fn new(origin: OriginKey, place: Place) -> Self {
        debug_assert!(place.seq >> SEQ_BITS == 0, "BOARD: so many URLs are never offered");
        Self { origin, place: u64::from(place.priority) << SEQ_BITS | place.seq }
    }

    fn place(self) -> Place {
        Place { priority: (self.place >> SEQ_BITS) as u8, seq: self.place & ((1 << SEQ_BITS) - 1) }
    }
}

type Entry = (OriginKey, Rank, u32);

/// How a URL stands that waits for its turn, for who asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The order, as people write it.
    pub by: String,
    /// What it is worth, where an average page is worth about 1.
    pub worth: f32,
    /// How many of its origin come before it, as far as they were counted.
    pub ahead: u64,
}

/// All of it, as the ranker and the frontier share it.
#[derive(Debug)]
pub struct Board {
    inner: Mutex<Inner>,
    by: String,
    /// Whether the ranker wants to know the texts of URLs.
    pub needs_urls: bool,
}

#[derive(Debug)]
struct Inner {
    roster: Roster,
    /// By number.
    spots: Vec<Spot>,
    /// By number.
    ranks: Vec<Rank>,
    /// Those that wait, the best of each origin first; of equals, who was met first.
    order: BTreeSet<Entry>,
    /// Those that were taken away since the order began to be worked out anew.
    taken: Option<Vec<(OriginKey, u32)>>,
}

impl Board {
    /// An empty board, for an order of this name.
    pub fn new(limits: &Limits, by: String, needs_urls: bool) -> Self {
        let inner = Inner {
            roster: Roster::new(limits.order_pages_max),
            spots: Vec::new(),
            ranks: Vec::new(),
            order: BTreeSet::new(),
            taken: None,
        };
        Self { inner: Mutex::new(inner), by, needs_urls }
    }

    /// How a URL stands; nothing, if it does not wait for its turn here.
    pub fn ranked(&self, url: Fingerprint) -> Option<Ranked> {
        let (worth, ahead) = self.hold().standing(url)?;
        Some(Ranked { by: self.by.clone(), worth, ahead })
    }

    /// To look at it for a moment.
    pub fn look(&self) -> BoardView<'_> {
        BoardView(self.hold())
    }

    /// A URL waits no longer, or not for its turn.
    pub fn leave(&self, url: Fingerprint) {
        let mut inner = self.hold();
        if let Some(number) = inner.roster.number(url.0) {
            inner.take_away(number);
        }
    }

    /// The same by number, for a place that turned out to be empty.
    pub fn clear(&self, best: Best) {
        let mut inner = self.hold();
        if inner.spot(best.number).place() == best.place {
            inner.take_away(best.number);
        }
    }

    /// The number of a URL, and whether it is new: then `found` is called with it, before anybody
    /// can ask for it.
    pub fn meet(&self, url: Fingerprint, found: impl FnOnce(u32)) -> u32 {
        self.hold().meet(url, found)
    }

    /// The number of a URL, if it has one.
    pub fn number(&self, url: Fingerprint) -> Option<u32> {
        self.hold().roster.number(url.0)
    }

    /// All that wait, with their numbers.
    pub fn waiting(&self) -> Vec<(u32, Fingerprint)> {
        let numbers = self.hold().spots.len();
        let mut waiting = Vec::new();
        for begin in (0..numbers).step_by(COPY) {
            let inner = self.hold();
            let waits = |at: &usize| inner.spots[*at] != Spot::NONE;
            let some = (begin..numbers.min(begin + COPY)).filter(waits);
            waiting.extend(some.filter_map(|at| {
                Some((at as u32, Fingerprint(inner.roster.fingerprint(at as u32)?)))
            }));
        }
        waiting
    }

    /// Puts a URL where it waits.
    pub fn put(&self, number: u32, waits: &Waits, worth: f32) {
        let mut inner = self.hold();
        inner.take_away(number);
        inner.spots[number as usize] = Spot::new(waits.origin, waits.place);
        inner.ranks[number as usize] = Rank::of(worth);
        inner.order.insert((waits.origin, Rank::of(worth), number));
    }

    /// Takes note of what URLs are worth by now.
    pub fn update(&self, numbers: &[u32], worth: impl Fn(u32) -> f32) {
        for some in numbers.chunks(UPDATES) {
            let mut inner = self.hold();
            some.iter().for_each(|number| inner.set_rank(*number, Rank::of(worth(*number))));
        }
    }

    /// Takes note of what all URLs are worth by now. Only the ranker, which alone puts URLs here, may call
    /// it.
    pub fn update_all(&self, worth: impl Fn(u32) -> f32) {
        let waiting = self.begin_update();
        let numbers = self.hold().ranks.len();
        let mut ranks: Vec<Rank> = (0..numbers as u32).map(|n| Rank::of(worth(n))).collect();
        let entries = waiting.into_iter();
        let entries = entries.map(|(origin, number)| (origin, ranks[number as usize], number));
        let mut entries: Vec<Entry> = entries.collect();
        entries.sort_unstable();
        let mut order = BTreeSet::from_iter(entries);
        let mut inner = self.hold();
        std::mem::swap(&mut inner.ranks, &mut ranks);
        std::mem::swap(&mut inner.order, &mut order);
        inner.end_update();
        // What is old goes when nobody waits for it any more.
        drop(inner);
    }

    /// Everybody who waits.
    fn begin_update(&self) -> Vec<(OriginKey, u32)> {
        let mut inner = self.hold();
        inner.taken = Some(Vec::new());
        let numbers = inner.spots.len();
        drop(inner);
        let mut waiting = Vec::with_capacity(numbers);
        for begin in (0..numbers).step_by(COPY) {
            let inner = self.hold();
            let some = (begin..numbers.min(begin + COPY)).map(|at| (inner.spots[at], at as u32));
            let some = some.filter(|(spot, _)| *spot != Spot::NONE);
            waiting.extend(some.map(|(spot, number)| (spot.origin, number)));
        }
        waiting
    }

    /// The board is whole after every call, whoever panicked elsewhere.
    fn hold(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn spot(&self, number: u32) -> Spot {
        self.spots.get(number as usize).copied().unwrap_or(Spot::NONE)
    }

    fn meet(&mut self, url: Fingerprint, found: impl FnOnce(u32)) -> u32 {
        let ranks = &self.ranks;
        let met = self.roster.meet(url.0, |number| ranks[number as usize].worth());
        match met {
            Met::Known(_) => return met.number(),
            Met::New(_) => {
                self.spots.push(Spot::NONE);
                self.ranks.push(Rank::LAST);
            }
            Met::InsteadOf(number, _) => self.take_away(number),
        }
        found(met.number());
        met.number()
    }

    fn take_away(&mut self, number: u32) {
        let spot = self.spot(number);
        if spot == Spot::NONE {
            return;
        }
        self.spots[number as usize] = Spot::NONE;
        let was = self.order.remove(&(spot.origin, self.ranks[number as usize], number));
        debug_assert!(was, "BOARD: who has a spot stands in the order");
        if let Some(taken) = &mut self.taken {
            taken.push((spot.origin, number));
        }
    }

    fn set_rank(&mut self, number: u32, rank: Rank) {
        let Some(known) = self.ranks.get_mut(number as usize) else { return };
        let before = std::mem::replace(known, rank);
        let spot = self.spot(number);
        if before != rank && spot != Spot::NONE {
            self.order.remove(&(spot.origin, before, number));
            self.order.insert((spot.origin, rank, number));
        }
    }

    fn standing(&self, url: Fingerprint) -> Option<(f32, u64)> {
        let number = self.roster.number(url.0)?;
        let (spot, rank) = (self.spot(number), *self.ranks.get(number as usize)?);
        let ahead = self.order.range((spot.origin, Rank::FIRST, 0)..(spot.origin, rank, number));
        (spot != Spot::NONE).then(|| (rank.worth(), ahead.take(AHEAD_MAX).count() as u64))
    }

    fn end_update(&mut self) {
        for (origin, number) in self.taken.take().unwrap_or_default() {
            let rank = self.ranks[number as usize];
            self.order.remove(&(origin, rank, number));
        }
    }
}

/// A look at the board. Short, as the ranker waits for its end.
pub struct BoardView<'a>(MutexGuard<'a, Inner>);

impl BoardView<'_> {
    /// The best URL of an origin.
    pub fn best(&self, origin: OriginKey) -> Option<Best> {
        let from = (origin, Rank::FIRST, 0);
        let &(at, rank, number) = self.0.order.range(from..).next()?;
        (at == origin).then(|| Best { rank, number, place: self.0.spot(number).place() })
    }
}

#[cfg(test)]
mod tests;
