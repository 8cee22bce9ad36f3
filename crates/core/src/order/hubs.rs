//! Hub distillation (Chakrabarti, van den Berg, Dom: "Focused crawling"): what good access points lead to.
//!
//! A hub is good if it leads to good pages; a page is good if good hubs lead to it. Both are computed
//! over the pages that were fetched, each counting as far as it is relevant, whenever the crawl has grown
//! by a factor. Of the two ways to compute it, Kleinberg's lets a small clique of pages take everything; this
//! is the one with a reader who goes to and fro between hubs and pages, and begins anew now and then
//! (Ng, Zheng, Jordan: "Stable algorithms for link analysis").
//!
//! Sixteen bytes a page and four a link. Where there is no more room for links, a page does not count
//! as a hub.

use super::arcs::Arcs;
use super::{Batches, Facts, Leads, Score, Tuning, at};

const TOLERANCE: f64 = 1e-4;

/// Pages by what the hubs are worth that lead to them.
#[derive(Debug, Clone)]
pub struct Hubs {
    arcs: Arcs,
    pages: Vec<Page>,
    damping: f32,
    rounds_max: u64,
    batches: Batches,
}

#[derive(Debug, Clone, Copy)]
struct Page {
    hub: f32,
    authority: f32,
    /// Relevance of all fetched pages that lead to it.
    led_to: f32,
    relevance: f32,
}

/// A page of which nothing is known.
const NEW: Page = Page { hub: 1.0, authority: 1.0, led_to: 0.0, relevance: 1.0 };

impl Hubs {
    /// With no page.
    pub fn new(tuning: &Tuning) -> Self {
        Self {
            arcs: Arcs::new(tuning.arcs_max),
            pages: Vec::new(),
            damping: tuning.damping,
            rounds_max: tuning.rounds_max,
            batches: Batches::new(tuning.growth, tuning.batch_min),
        }
    }

    /// How good an access point a page is, that of an average one being about 1.
    pub fn hub(&self, page: u32) -> f32 {
        self.pages.get(page as usize).map_or(NEW.hub, |page| page.hub)
    }

    /// From hubs to pages and back; by how much that changed all pages together.
    fn round(&mut self) -> f64 {
        let (jump, damping) = (1.0 - self.damping, self.damping);
        let before: Vec<f32> = self.pages.iter().map(|page| page.authority).collect();
        self.pages.iter_mut().for_each(|page| page.authority = jump);
        for (from, degree, links) in self.arcs.rows() {
            let Page { hub, relevance, .. } = self.pages[from as usize];
            let share = damping * hub * relevance / degree.max(1) as f32;
            links.iter().for_each(|&to| self.pages[to as usize].authority += share);
        }
        for (from, _, links) in self.arcs.rows() {
            let share = |to: &u32| {
                let Page { authority, relevance, led_to, .. } = self.pages[*to as usize];
                authority * relevance / led_to.max(1.0)
            };
            let back: f32 = links.iter().map(share).sum();
            self.pages[from as usize].hub = jump + damping * back;
        }
        let after = self.pages.iter().map(|page| page.authority);
        after.zip(before).map(|(after, before)| f64::from((after - before).abs())).sum()
    }
}

impl Score for Hubs {
    fn found(&mut self, page: u32, _: &Facts<'_>) {
        self.arcs.forget(page);
        at(&mut self.pages, page, NEW).relevance = 1.0;
    }

    fn fetched(&mut self, leads: &Leads<'_>, changed: &mut Vec<u32>) {
        let relevance = leads.relevance.clamp(0.0, 1.0);
        let from = at(&mut self.pages, leads.page, NEW);
        from.relevance = relevance;
        // As good as the pages are on average that it was found by.
        let degree = leads.degree.max(leads.links.len() as u32).max(1);
        let share = self.damping * from.hub * relevance / degree as f32;
        let is_kept = self.arcs.push(leads);
        for &to in leads.links.iter().filter(|_| is_kept) {
            let to = at(&mut self.pages, to, NEW);
            to.led_to += relevance;
            to.authority += share;
        }
        changed.extend_from_slice(leads.links);
        self.batches.count();
    }

    fn worth(&self, page: u32) -> f32 {
        self.pages.get(page as usize).unwrap_or(&NEW).authority.max(f32::MIN_POSITIVE)
    }

    fn is_due(&self) -> bool {
        self.batches.is_due()
    }

    fn refresh(&mut self) {
        let enough = TOLERANCE * self.pages.len() as f64;
        for _ in 0..self.rounds_max {
            if self.round() < enough {
                break;
            }
        }
        self.batches.done();
    }
}
