//! How a crawl is judged (Cho, Garcia-Molina, Page: "Efficient crawling through URL ordering").
//!
//! - **Threshold** (crawl and stop with threshold): a page is hot if it is at least so important. What
//!   counts is the share of all hot pages that was found after so many pages.
//! - **Stop** (crawl and stop): after K pages the crawl ends. The K most important pages are what it should
//!   have found, and their share in what it did find counts.
//! - **Buffer** (limited buffer): the crawler can keep B pages. When it has one too many, it drops the one
//!   that its own order thinks least of. The share of hot pages among what could be kept counts.
//!
//! Ideal is a crawler that fetches pages by importance, whether links lead there or not; a random crawler
//! fetches any page of the graph. What either comes to is computed, not simulated.

use std::fmt;
use std::str::FromStr;

use crate::hot::{Hot, place};

/// Points of a curve: one after each hundredth of all pages.
pub const POINTS: usize = 100;

/// How a crawl is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// The share of hot pages that was found.
    Threshold,
    /// The share, in K pages, of the K most important ones, for every K.
    Stop,
    /// The share of hot pages in a buffer of so many pages.
    Buffer(u32),
}

impl Model {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Stop => "stop",
            Self::Buffer(_) => "buffer",
        }
    }

    /// What a crawler comes to after each hundredth of all pages that fetches pages by importance.
    pub fn ideal(self, hot: &Hot) -> Vec<f64> {
        let share = |pages: usize| match self {
            Self::Stop => 1.0,
            Self::Threshold => (pages as f64 / f64::from(hot.pages)).min(1.0),
            Self::Buffer(room) => {
                let best = room.min(hot.pages);
                (pages as f64 / f64::from(best)).min(1.0)
            }
        };
        points(hot).map(share).collect()
    }

    /// What a crawler that fetches any page of the graph comes to on average. The pages that it keeps in
    /// a buffer are any of them, too.
    pub fn random(self, hot: &Hot) -> Vec<f64> {
        let nodes = hot.importance.len() as f64;
        let share = |pages: usize| match self {
            Self::Stop => as_good_as(hot, pages) as f64 / nodes,
            Self::Threshold => pages as f64 / nodes,
            Self::Buffer(room) => {
                let kept = pages.min(room as usize) as f64;
                kept * f64::from(hot.pages) / nodes / f64::from(room.min(hot.pages))
            }
        };
        points(hot).map(share).collect()
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Model {
    type Err = String;

    /// The buffer's size is set apart.
    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "threshold" => Ok(Self::Threshold),
            "stop" => Ok(Self::Stop),
            "buffer" => Ok(Self::Buffer(0)),
            _ => Err(format!("there is no model `{word}`; there are stop, threshold, buffer")),
        }
    }
}

/// How many pages each point is.
pub(crate) fn points(hot: &Hot) -> impl Iterator<Item = usize> {
    let nodes = hot.importance.len();
    (1..=POINTS).map(move |point| place(point as f64 / POINTS as f64, nodes))
}

/// What a crawl came to after each hundredth of all pages, that fetched these nodes. Where it ran dry,
/// the value stays.
pub(crate) fn found(hot: &Hot, fetched: &[u32]) -> Vec<f64> {
    let mut count = 0;
    let mut rest = fetched.iter();
    let mut before = 0;
    let share = |pages: usize| {
        let next = rest.by_ref().take(pages - std::mem::replace(&mut before, pages));
        count += next.filter(|node| hot.is_hot[**node as usize]).count();
        count as f64 / f64::from(hot.pages)
    };
    points(hot).map(share).collect()
}

/// What a crawl came to that was stopped at each point.
pub(crate) fn stopped(hot: &Hot, fetched: &[u32]) -> Vec<f64> {
    let share = |pages: usize| {
        let fetched = &fetched[..pages.min(fetched.len())];
        let least = hot.sorted[pages - 1] * (1.0 - 1e-9);
        let good = fetched.iter().filter(|node| hot.importance[**node as usize] >= least).count();
        good as f64 / pages as f64
    };
    let mut shares: Vec<f64> = points(hot).map(share).collect();
    let whole = points(hot).take_while(|pages| *pages <= fetched.len()).count();
    if let Some(last) = whole.checked_sub(1).map(|at| shares[at]) {
        shares[whole..].fill(last);
    }
    shares
}

/// How many pages are as important as the last of the first `pages`, or more.
fn as_good_as(hot: &Hot, pages: usize) -> usize {
    let least = hot.sorted[pages - 1] * (1.0 - 1e-9);
    hot.sorted.partition_point(|value| *value >= least)
}
