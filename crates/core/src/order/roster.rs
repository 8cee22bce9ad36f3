//! Numbers for the pages of a crawl, by fingerprint, never more than so many.
//!
//! A score keeps some bytes for each number, and a crawl finds more pages than there is memory. So when
//! all numbers are given out, a page that is found takes the number of one that is worth little, and
//! with it what was counted for it: the way of the sketch "Space-Saving" (Metwally, Agrawal, El Abbadi).
//! What a page is worth is then too high by at most what the forgotten page was worth, and pages that are
//! worth much are never forgotten. A page without a number is worth as little as any.
//!
//! Which page is worth least is not known exactly: a hand goes round, and of the next few pages the one
//! that is worth least is taken.

use std::collections::HashMap;

/// How many pages are looked at to find one that is worth little.
const LOOKS: usize = 16;

/// Which page has which number.
#[derive(Debug, Clone)]
pub struct Roster {
    numbers: HashMap<u64, u32>,
    fingerprints: Vec<u64>,
    pages_max: usize,
    hand: usize,
}

/// A page's number, and how it came by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// It had this number.
    Known(u32),
    /// It has it from now on.
    New(u32),
    /// The same, and the page with this fingerprint has it no longer.
    InsteadOf(u32, u64),
}

impl Met {
    /// The number.
    pub fn number(self) -> u32 {
        match self {
            Self::Known(number) | Self::New(number) | Self::InsteadOf(number, _) => number,
        }
    }
}

impl Roster {
    /// Numbers for so many pages at most (`order_pages_max`).
    pub fn new(pages_max: u64) -> Self {
        let pages_max = usize::try_from(pages_max.clamp(1, u64::from(u32::MAX) - 1));
        let pages_max = pages_max.expect("32 bits are an address at least");
        Self { numbers: HashMap::new(), fingerprints: Vec::new(), pages_max, hand: 0 }
    }

    /// The number of a page, which it is given if it has none. `worth` says what the page of a number is
    /// worth. Whoever is told of a new one tells [`found`](super::Score::found).
    pub fn meet(&mut self, fingerprint: u64, worth: impl Fn(u32) -> f32) -> Met {
        if let Some(&number) = self.numbers.get(&fingerprint) {
            return Met::Known(number);
        }
        if self.fingerprints.len() < self.pages_max {
            let number = self.fingerprints.len() as u32;
            self.fingerprints.push(fingerprint);
            self.numbers.insert(fingerprint, number);
            return Met::New(number);
        }
        let number = self.least(worth);
        let before = std::mem::replace(&mut self.fingerprints[number as usize], fingerprint);
        self.numbers.remove(&before);
        self.numbers.insert(fingerprint, number);
        Met::InsteadOf(number, before)
    }

    /// The number of a page that has one.
    pub fn number(&self, fingerprint: u64) -> Option<u32> {
        self.numbers.get(&fingerprint).copied()
    }

    /// The page that has a number.
    pub fn fingerprint(&self, number: u32) -> Option<u64> {
        self.fingerprints.get(number as usize).copied()
    }

    /// How many pages have a number.
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    fn least(&mut self, worth: impl Fn(u32) -> f32) -> u32 {
        let pages = self.fingerprints.len();
        let looks = (0..LOOKS.min(pages)).map(|step| ((self.hand + step) % pages) as u32);
        let least = looks.min_by(|a, b| worth(*a).total_cmp(&worth(*b)));
        self.hand = (self.hand + LOOKS) % pages;
        least.expect("a roster that is full is not empty")
    }
}
