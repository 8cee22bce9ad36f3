//! In which order waiting pages are fetched: what each is worth, as far as is known by now.
//!
//! A [`Score`] hears what the crawl learns (a page was found, a page was fetched and leads to these) and
//! says what a page is worth: a number above 0, the more the earlier. Worth is on a scale of ratios, on
//! which an average page has about 1: twice as much is one step, wherever it begins. So several scores go
//! together as a product of powers ([`Mix`], whose weights are the exponents), and a power law, which is
//! how worth is spread over the web, falls into classes of equal steps ([`class`]).
//!
//! Scores know pages by number, from 0 on, without gaps. A simulation numbers by node; a crawl by what
//! [`Roster`] says, which gives numbers to fingerprints, never more than so many. Nothing here knows
//! a URL's text but [`Location`], and nothing knows the frontier.
//!
//! ORDER-1: what is kept for a page is bounded, and so is what is kept for links ([`Tuning::arcs_max`]);
//! each score says what holds for what is beyond.
//! ORDER-2: the same events give the same worth, on every machine: nothing is computed but sums, products
//! and quotients, in a fixed order.

mod arcs;
mod backlinks;
mod batches;
mod class;
pub mod focus;
mod foresight;
mod forward;
mod fresh;
mod hubs;
mod location;
mod mix;
mod name;
mod opic;
mod pagerank;
mod plain;
mod roster;

#[cfg(test)]
mod tests;

pub use backlinks::Backlinks;
pub use batches::Batches;
pub use class::{CLASSES, Classes, class, log2, power};
pub use foresight::Foresight;
pub use forward::Forward;
pub use fresh::Fresh;
pub use hubs::Hubs;
pub use location::{Location, Place};
pub use mix::Mix;
pub use name::{Name, Order};
pub use opic::Opic;
pub use pagerank::PageRank;
pub use plain::{Breadth, DepthFirst, Random};
pub use roster::{Met, Roster};

pub use crate::parse::Hint;
use crate::{Limits, Millis};

/// What pages are worth, as far as is known by now.
///
/// Whoever keeps pages waiting tells everything to it, and asks it when it needs to choose.
pub trait Score: Send {
    /// A page has become known. Numbers come without gaps; a number that was there before now is
    /// another page's, which takes over what cannot be taken back (see [`Roster`]).
    fn found(&mut self, page: u32, facts: &Facts<'_>);

    /// A page was fetched, and leads to others, all of them known. Pages whose worth this changed are
    /// added to `changed`, perhaps more than once.
    fn fetched(&mut self, leads: &Leads<'_>, changed: &mut Vec<u32>);

    /// A list says something of a page. Of no concern to most.
    fn hinted(&mut self, _page: u32, _hint: Hint) {}

    /// What a page is worth: above 0, finite, about 1 for an average page.
    fn worth(&self, page: u32) -> f32;

    /// Whether enough has been learnt for [`refresh`](Self::refresh) to pay.
    fn is_due(&self) -> bool {
        false
    }

    /// Computes anew what is computed over all pages at a time. Any page's worth may change.
    fn refresh(&mut self) {}
}

/// What is known of a page when it is found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// Links from a seed.
    pub depth: u32,
    /// The canonical URL, where there is one.
    pub url: Option<&'a str>,
}

/// Where a page leads that was fetched.
#[derive(Debug, Clone, Copy)]
pub struct Leads<'a> {
    /// The page.
    pub page: u32,
    /// The pages that it leads to, each once, itself perhaps among them.
    pub links: &'a [u32],
    /// How many it leads to in all, those included that have no number: not fewer than `links`.
    pub degree: u32,
    /// How well it is about what is looked for, from 0 to 1; 1 if nothing is.
    pub relevance: f32,
}

impl<'a> Leads<'a> {
    /// Of a page all of whose links are known, in a crawl that looks for nothing in particular.
    pub fn new(page: u32, links: &'a [u32]) -> Self {
        Self { page, links, degree: links.len() as u32, relevance: 1.0 }
    }
}

/// How scores are computed.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// The probability that a reader follows a link.
    pub damping: f32,
    /// By which factor the crawl grows from one computation over all pages to the next.
    pub growth: f32,
    /// Pages between two of them at least, which counts while the crawl is small.
    pub batch_min: u32,
    /// Links that are kept in memory at most.
    pub arcs_max: u64,
    /// Rounds of one computation at most.
    pub rounds_max: u64,
    /// What fixes a random order.
    pub seed: u64,
    /// What makes a URL worth more or less.
    pub places: Vec<Place>,
    /// When the crawl began, or goes on: the moment that ages are counted from.
    pub now: Millis,
}

impl Tuning {
    /// The usual values, within these limits.
    pub fn new(limits: &Limits) -> Self {
        Self {
            damping: 0.85,
            growth: 1.1,
            batch_min: 8,
            arcs_max: limits.order_arcs_max,
            rounds_max: limits.graph_rounds_max,
            seed: 0,
            places: Vec::new(),
            now: Millis(0),
        }
    }
}

/// The value at a page's number, which `fill` stands for until it is set.
fn at<T: Clone>(values: &mut Vec<T>, page: u32, fill: T) -> &mut T {
    let page = page as usize;
    if page >= values.len() {
        values.resize(page + 1, fill);
    }
    &mut values[page]
}
