//! Whether good pages have become too rare for a crawl to go on: of its last pages, how many were good.
//!
//! A page comes to something between 0, nothing, and 1; what is good is said by a [`Floor`], which also says
//! how rare good pages may become, and over how many pages that is counted.
//!
//! - GAIN-1: of a crawl's pages no more is kept than the last `Floor::pages`, a byte for each.
//!
//! Nothing here ends a crawl or says what a page comes to.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Pages over which the share of good ones is counted, unless somebody says otherwise.
pub const PAGES: u64 = 500;
/// What a good page comes to at least, unless somebody says otherwise: half way between pages that are
/// about a topic and those that are not.
pub const GOOD: f32 = 0.5;

/// Below this, a crawl is no longer worth its while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// The share of good pages, from 0 to 1.
    pub share: f64,
    /// Of so many pages, the last ones.
    pub pages: u64,
    /// What a good page comes to at least.
    pub good: f32,
}

impl Floor {
    /// Below this share, with the rest as it usually is.
    pub fn below(share: f64) -> Self {
        Self { share, pages: PAGES, good: GOOD }
    }
}

/// How many of the last pages were good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The good ones.
    pub good: u64,
    /// Of so many pages: fewer than `of` at the beginning of a crawl.
    pub pages: u64,
    /// Pages over which it is counted.
    pub of: u64,
}

impl Tally {
    /// The good ones among them, from 0 to 1.
    pub fn share(self) -> f64 {
        self.good as f64 / self.pages.max(1) as f64
    }
}

/// The last pages of a crawl.
#[derive(Debug, Clone)]
pub struct Gain {
    floor: Floor,
    last: VecDeque<bool>,
    good: u64,
}

impl Gain {
    /// Of a crawl that has fetched nothing yet.
    pub fn new(floor: Floor) -> Self {
        let floor = Floor { pages: floor.pages.max(1), ..floor };
        Self { floor, last: VecDeque::new(), good: 0 }
    }

    /// Takes note of what one more page came to.
    pub fn note(&mut self, reading: f32) {
        if self.last.len() as u64 >= self.floor.pages {
            let left = self.last.pop_front();
            self.good -= u64::from(left == Some(true));
        }
        let is_good = reading >= self.floor.good;
        self.good += u64::from(is_good);
        self.last.push_back(is_good);
        debug_assert!(self.last.len() as u64 <= self.floor.pages, "GAIN-1");
    }

    /// Whether good pages are rarer than they may be. Never before there are as many pages as are counted.
    pub fn is_low(&self) -> bool {
        let tally = self.tally();
        tally.pages >= tally.of && tally.share() < self.floor.share
    }

    /// How many of the last pages were good.
    pub fn tally(&self) -> Tally {
        Tally { good: self.good, pages: self.last.len() as u64, of: self.floor.pages }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(share: f64, pages: u64, readings: &[f32]) -> Gain {
        let mut gain = Gain::new(Floor { pages, ..Floor::below(share) });
        readings.iter().for_each(|reading| gain.note(*reading));
        gain
    }

    #[test]
    fn the_end_comes_when_the_last_pages_are_below_the_floor_and_not_at_it() {
        let rows: [(&str, f64, &[f32], bool); 7] = [
            ("nothing was fetched", 0.5, &[], false),
            ("too few pages to tell", 0.5, &[0.0, 0.0, 0.0], false),
            ("all are bad", 0.5, &[0.0; 4], true),
            ("just as many as there must be", 0.5, &[1.0, 0.0, 1.0, 0.0], false),
            ("one too few", 0.5, &[1.0, 0.0, 0.0, 0.0], true),
            ("good ones were long ago", 0.5, &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0], true),
            ("bad ones were long ago", 0.5, &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0], false),
        ];
        for (case, share, readings, expected) in rows {
            assert_eq!(gain(share, 4, readings).is_low(), expected, "{case}");
        }
        assert!(!gain(0.0, 1, &[0.0]).is_low(), "below nothing there is nothing");
        assert!(gain(1.0, 2, &[1.0, 0.0]).is_low(), "every page must be good");
    }

    #[test]
    fn what_is_good_is_for_the_floor_to_say() {
        let floor = Floor { share: 0.5, pages: 2, good: 0.8 };
        let mut gain = Gain::new(floor);
        [0.79, 0.8].iter().for_each(|reading| gain.note(*reading));
        assert_eq!(gain.tally(), Tally { good: 1, pages: 2, of: 2 });
        assert_eq!(gain.tally().share(), 0.5);
    }

    #[test]
    fn no_more_is_kept_than_is_counted() {
        let readings: Vec<f32> = (0..1_000).map(|n| (n % 2) as f32).collect();
        let gain = gain(0.1, 10, &readings);
        assert_eq!((gain.last.len(), gain.tally().good), (10, 5));
    }
}
