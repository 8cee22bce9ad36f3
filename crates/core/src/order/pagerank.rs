//! PageRank of the pages known so far, in the graph of the links known so far.
//!
//! It is computed anew whenever the crawl has grown by a factor, beginning with the ranks of the last
//! time, which takes a few rounds. In between, a page that is fetched gives its rank to what it leads to at
//! once, and a page that is found has what every page has. So ranks are never far behind, and waiting pages
//! rise as soon as a good page links to them.
//!
//! Waiting pages lead nowhere yet. What they would pass on is spread evenly over all pages, like what
//! readers who begin anew bring with them. Ranks are told relative to the mean: 1 is an average page.
//!
//! Twelve bytes a page that waits, 24 one that was fetched, and four a link. Where there is no more room
//! for links, a page gives its rank once, when it is fetched, and that stays given (ORDER-1).

use super::arcs::Arcs;
use super::{Batches, Facts, Leads, Score, Tuning, at};

/// It ends when a round changes the ranks by less than this part of all.
const TOLERANCE: f64 = 1e-4;

/// Pages by their PageRank so far.
#[derive(Debug, Clone)]
pub struct PageRank {
    arcs: Arcs,
    ranks: Vec<f32>,
    next: Vec<f32>,
    /// What pages got for good from pages whose links are not kept; empty as long as there are none.
    given: Vec<f32>,
    /// What every page has without a link.
    base: f32,
    damping: f32,
    rounds_max: u64,
    batches: Batches,
}

impl PageRank {
    /// With no page.
    pub fn new(tuning: &Tuning) -> Self {
        Self {
            arcs: Arcs::new(tuning.arcs_max),
            ranks: Vec::new(),
            next: Vec::new(),
            given: Vec::new(),
            base: 1.0,
            damping: tuning.damping,
            rounds_max: tuning.rounds_max,
            batches: Batches::new(tuning.growth, tuning.batch_min),
        }
    }

    /// What every page has without a link.
    pub(super) fn base(&self) -> f32 {
        self.base.max(f32::MIN_POSITIVE)
    }

    /// Which part was fetched of what the pages lead to that link to each page, from 0 to 1; those count most
    /// that give it most.
    pub(super) fn explored(&self) -> Vec<f32> {
        let mut is_fetched = vec![false; self.ranks.len()];
        self.arcs.rows().for_each(|(page, _, _)| is_fetched[page as usize] = true);
        let mut sums = vec![(0.0_f32, 0.0_f32); self.ranks.len()];
        for (page, degree, links) in self.arcs.rows() {
            let share = self.ranks[page as usize] / degree.max(1) as f32;
            let fetched = links.iter().filter(|to| is_fetched[**to as usize]).count();
            let part = share * fetched as f32 / links.len().max(1) as f32;
            for &to in links {
                let (parts, shares) = &mut sums[to as usize];
                (*parts, *shares) = (*parts + part, *shares + share);
            }
        }
        sums.iter().map(|(parts, shares)| parts / shares.max(f32::MIN_POSITIVE)).collect()
    }

    /// One round; by how much it changed all ranks together.
    fn round(&mut self) -> f64 {
        let pages = self.ranks.len();
        self.next.clear();
        self.next.extend_from_slice(&self.given);
        self.next.resize(pages, 0.0);
        let mut passed: f64 = self.given.iter().map(|&given| f64::from(given)).sum();
        for (page, degree, links) in self.arcs.rows() {
            let share = self.damping * self.ranks[page as usize] / degree.max(1) as f32;
            links.iter().for_each(|&to| self.next[to as usize] += share);
            passed += f64::from(share) * links.len() as f64;
        }
        self.base = ((pages as f64 - passed) / pages.max(1) as f64).max(0.0) as f32;
        let mut change = 0.0;
        for (next, rank) in self.next.iter_mut().zip(&self.ranks) {
            *next += self.base;
            change += f64::from((*next - rank).abs());
        }
        std::mem::swap(&mut self.ranks, &mut self.next);
        change
    }
}

impl Score for PageRank {
    fn found(&mut self, page: u32, _: &Facts<'_>) {
        self.arcs.forget(page);
        if page as usize >= self.ranks.len() {
            *at(&mut self.ranks, page, self.base) = self.base;
        }
    }

    fn fetched(&mut self, leads: &Leads<'_>, changed: &mut Vec<u32>) {
        let rank = *at(&mut self.ranks, leads.page, self.base);
        let degree = leads.degree.max(leads.links.len() as u32);
        let share = self.damping * rank / degree.max(1) as f32;
        let is_kept = self.arcs.push(leads);
        for &to in leads.links {
            *at(&mut self.ranks, to, self.base) += share;
            if !is_kept {
                *at(&mut self.given, to, 0.0) += share;
            }
        }
        changed.extend_from_slice(leads.links);
        self.batches.count();
    }

    fn worth(&self, page: u32) -> f32 {
        self.ranks.get(page as usize).copied().unwrap_or(self.base).max(f32::MIN_POSITIVE)
    }

    fn is_due(&self) -> bool {
        self.batches.is_due()
    }

    fn refresh(&mut self) {
        let enough = TOLERANCE * self.ranks.len() as f64;
        for _ in 0..self.rounds_max {
            if self.round() < enough {
                break;
            }
        }
        self.batches.done();
    }
}
