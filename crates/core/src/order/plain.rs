//! Orders that ask nothing of the links: breadth first, depth first, random.

use super::{Facts, Leads, Score, Tuning, at};

/// The fewer links from a seed the better.
#[derive(Debug, Clone, Default)]
pub struct Breadth(Vec<u32>);

impl Score for Breadth {
    fn found(&mut self, page: u32, facts: &Facts<'_>) {
        *at(&mut self.0, page, 0) = facts.depth;
    }

    fn fetched(&mut self, _: &Leads<'_>, _: &mut Vec<u32>) {}

    fn worth(&self, page: u32) -> f32 {
        1.0 / (1.0 + self.0.get(page as usize).copied().unwrap_or(u32::MAX) as f32)
    }
}

/// What the page links to that was fetched last comes first, whenever it was found.
#[derive(Debug, Clone, Default)]
pub struct DepthFirst {
    linked: Vec<u32>,
    fetches: u32,
}

impl Score for DepthFirst {
    fn found(&mut self, page: u32, _: &Facts<'_>) {
        *at(&mut self.linked, page, 0) = self.fetches;
    }

    fn fetched(&mut self, leads: &Leads<'_>, changed: &mut Vec<u32>) {
        self.fetches = self.fetches.saturating_add(1);
        for &to in leads.links {
            *at(&mut self.linked, to, 0) = self.fetches;
        }
        changed.extend_from_slice(leads.links);
    }

    fn worth(&self, page: u32) -> f32 {
        1.0 + self.linked.get(page as usize).copied().unwrap_or(0) as f32
    }
}

/// Any waiting page is as likely as any other to be the next.
///
/// A fixed random number for each page would not do: what waits for long has lost to others, so it has
/// low numbers, and what was just found would mostly come first. Clocks that ring do: each page gets a
/// clock when it is found, which rings after a time with an exponential distribution, and pages come
/// as they ring. Such clocks do not age, so that whichever still run, each is equally likely to be
/// the next.
#[derive(Debug, Clone)]
pub struct Random {
    rings: Vec<f32>,
    now: f32,
    state: u64,
}

impl Random {
    /// The order that a seed fixes.
    pub fn new(tuning: &Tuning) -> Self {
        Self { rings: Vec::new(), now: 0.0, state: tuning.seed }
    }

    /// Exponentially distributed with mean 1, by von Neumann's comparisons: no logarithm, so that it is
    /// the same on every machine.
    fn wait(&mut self) -> f32 {
        let mut whole = 0.0;
        loop {
            let first = self.unit();
            let (mut last, mut falls) = (first, 0);
            loop {
                let next = self.unit();
                if next >= last {
                    break;
                }
                (last, falls) = (next, falls + 1);
            }
            if falls % 2 == 0 {
                return whole + first;
            }
            whole += 1.0;
        }
    }

    fn unit(&mut self) -> f32 {
        let mut random = crate::random::Random(self.state);
        let number = random.next();
        self.state = random.0;
        (number >> 40) as f32 / (1_u32 << 24) as f32
    }
}

impl Score for Random {
    fn found(&mut self, page: u32, _: &Facts<'_>) {
        let ring = self.now + self.wait();
        *at(&mut self.rings, page, f32::MAX) = ring;
    }

    fn fetched(&mut self, leads: &Leads<'_>, _: &mut Vec<u32>) {
        let ring = self.rings.get(leads.page as usize).copied();
        self.now = self.now.max(ring.unwrap_or(0.0));
    }

    fn worth(&self, page: u32) -> f32 {
        1.0 / (1.0 + self.rings.get(page as usize).copied().unwrap_or(f32::MAX))
    }
}
