//! OPIC (Abiteboul, Preda, Cobena: "Adaptive on-line page importance computation"): PageRank without a graph.
//!
//! Every page has cash, to begin with as much as any other. A page that is fetched gives its cash away:
//! the part that a reader follows links with to the pages that it leads to, the rest, and all of it if it
//! leads nowhere, to a pool, which is shared out over all pages from time to time. What a page had to give
//! over time is its history, which comes closer to its PageRank with every fetch.
//!
//! Twelve bytes a page, and nothing for links. A page that takes over a number takes over its cash.

use super::{Batches, Facts, Leads, Score, Tuning, at};

/// Pages by the cash that they have. All pages together always have as much as there are pages.
#[derive(Debug, Clone)]
pub struct Opic {
    cash: Vec<f32>,
    history: Vec<f32>,
    pool: f64,
    damping: f32,
    batches: Batches,
}

impl Opic {
    /// With no page.
    pub fn new(tuning: &Tuning) -> Self {
        let batches = Batches::new(tuning.growth, tuning.batch_min);
        Self { cash: Vec::new(), history: Vec::new(), pool: 0.0, damping: tuning.damping, batches }
    }

    /// What a page has to give at the moment: who has most is best fetched next, again or not.
    pub fn cash(&self, page: u32) -> f32 {
        self.cash.get(page as usize).copied().unwrap_or(0.0)
    }

    /// What a page had to give, and has: its share of all is an estimate of its PageRank.
    pub fn history(&self, page: u32) -> f32 {
        self.history.get(page as usize).copied().unwrap_or(0.0) + self.cash(page)
    }
}

impl Score for Opic {
    fn found(&mut self, page: u32, _: &Facts<'_>) {
        if page as usize >= self.cash.len() {
            *at(&mut self.cash, page, 1.0) = 1.0;
        }
        *at(&mut self.history, page, 0.0) = 0.0;
    }

    fn fetched(&mut self, leads: &Leads<'_>, changed: &mut Vec<u32>) {
        let cash = std::mem::take(at(&mut self.cash, leads.page, 1.0));
        *at(&mut self.history, leads.page, 0.0) += cash;
        let degree = leads.degree.max(leads.links.len() as u32).max(1);
        let share = self.damping * cash / degree as f32;
        for &to in leads.links {
            *at(&mut self.cash, to, 1.0) += share;
        }
        changed.extend_from_slice(leads.links);
        self.pool += f64::from(cash) - f64::from(share) * leads.links.len() as f64;
        self.batches.count();
    }

    fn worth(&self, page: u32) -> f32 {
        self.history(page).max(f32::MIN_POSITIVE)
    }

    fn is_due(&self) -> bool {
        self.batches.is_due()
    }

    fn refresh(&mut self) {
        let each = (self.pool / self.cash.len().max(1) as f64) as f32;
        self.cash.iter_mut().for_each(|cash| *cash += each);
        self.pool = 0.0;
        self.batches.done();
    }
}
