//! Several scores together: the product of what each says, to the power of its weight.

use super::{Facts, Leads, Score, log2, power};
use crate::parse::Hint;

/// Scores with their weights. A negative weight turns a score round.
pub struct Mix {
    parts: Vec<(f32, Box<dyn Score>)>,
}

impl Mix {
    /// Puts scores together.
    pub fn new(parts: Vec<(f32, Box<dyn Score>)>) -> Self {
        Self { parts }
    }
}

impl Score for Mix {
    fn found(&mut self, page: u32, facts: &Facts<'_>) {
        self.parts.iter_mut().for_each(|(_, score)| score.found(page, facts));
    }

    fn fetched(&mut self, leads: &Leads<'_>, changed: &mut Vec<u32>) {
        self.parts.iter_mut().for_each(|(_, score)| score.fetched(leads, changed));
    }

    fn hinted(&mut self, page: u32, hint: Hint) {
        self.parts.iter_mut().for_each(|(_, score)| score.hinted(page, hint));
    }

    fn worth(&self, page: u32) -> f32 {
        power(self.parts.iter().map(|(weight, score)| weight * log2(score.worth(page))).sum())
    }

    fn is_due(&self) -> bool {
        self.parts.iter().any(|(_, score)| score.is_due())
    }

    fn refresh(&mut self) {
        let due = self.parts.iter_mut().filter(|(_, score)| score.is_due());
        due.for_each(|(_, score)| score.refresh());
    }
}
