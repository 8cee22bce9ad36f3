//! How relevant pages were that have something in common: a directory, a host, a page that links to them.
//!
//! Relevant pages lie together. What was found beside a page that nobody has seen yet says more of it than
//! most words do, and the more pages were seen there, the surer it is; a place that is new is
//! taken for what is around it. The table has one size: a place that is met takes the room of another with the
//! same low bits, as if that had never been seen. Long ago counts less than lately.

use serde::{Deserialize, Serialize};

/// What is around a place is worth so many pages of it.
const AROUND_PAGES: f32 = 2.0;
/// Pages of a place that count as lately.
const LATELY_PAGES: f32 = 32.0;
/// Pages that count in a mean over all.
const MEAN_PAGES: f32 = 65_536.0;

/// A mean of weighed values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Mean {
    pub sum: f32,
    pub pages: f32,
}

impl Mean {
    pub fn value(self) -> f32 {
        self.sum / self.pages.max(f32::MIN_POSITIVE)
    }

    /// Adds a value. Long ago counts less than lately, or a sum would stop to grow.
    pub fn add(&mut self, value: f32, weight: f32) {
        if self.pages >= MEAN_PAGES {
            self.sum /= 2.0;
            self.pages /= 2.0;
        }
        self.sum += value * weight;
        self.pages += weight;
    }
}

/// Harvests by place.
#[derive(Debug, Clone)]
pub(super) struct Harvests {
    rows: Vec<Harvest>,
}

/// Pages of one place, and the sum of their relevances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Harvest {
    place: u32,
    pages: f32,
    sum: f32,
}

impl Harvest {
    /// What must be numbers.
    pub fn numbers(&self) -> [f32; 2] {
        [self.pages, self.sum]
    }
}

impl Harvests {
    /// With so many rows, rounded up to a power of two.
    pub fn new(rows: u64) -> Self {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX >> 1).next_power_of_two();
        Self { rows: vec![Harvest::default(); rows] }
    }

    /// Counts a page of a place.
    pub fn add(&mut self, place: u32, relevance: f32) {
        let at = self.row(place);
        let row = &mut self.rows[at];
        if row.place != place {
            *row = Harvest { place, ..Harvest::default() };
        }
        if row.pages >= LATELY_PAGES {
            row.pages /= 2.0;
            row.sum /= 2.0;
        }
        row.pages += 1.0;
        row.sum += relevance;
    }

    /// What is to be expected of a place, if `around` is to be expected around it.
    pub fn expect(&self, place: u32, around: f32) -> f32 {
        let row = &self.rows[self.row(place)];
        if row.place != place {
            return around;
        }
        (row.sum + AROUND_PAGES * around) / (row.pages + AROUND_PAGES)
    }

    fn row(&self, place: u32) -> usize {
        place as usize & (self.rows.len() - 1)
    }

    /// The rows in use.
    pub fn used(&self) -> Vec<Harvest> {
        self.rows.iter().filter(|row| row.pages > 0.0).copied().collect()
    }

    /// What these came from, in a table of perhaps another size.
    pub fn restore(rows: u64, used: &[Harvest]) -> Self {
        let mut harvests = Self::new(rows);
        for row in used {
            let at = harvests.row(row.place);
            harvests.rows[at] = *row;
        }
        harvests
    }
}
