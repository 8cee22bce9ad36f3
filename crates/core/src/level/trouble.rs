//! Our own machine's trouble: a ceiling for a while (LEVEL-3).

use super::{Bounds, Sample};

/// The share of the level that is kept, and after how long without trouble the ceiling rises as much.
const KEPT: f64 = 0.75;
const QUIET_MS: u64 = 10_000;
/// Connect timeouts are our own doing when so many come in one interval, are most of what ended, and
/// were few before: a web of dead hosts has them all the time.
const TIMEOUTS_MANY: u64 = 16;
const TIMEOUTS_MOST: f64 = 0.5;
const TIMEOUTS_FEW: f64 = 0.125;
/// How fast the opinion changes about how many timeouts are usual.
const OPINION_SHARE: f64 = 0.1;

/// What was refused lately, and what follows.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    ceiling: Option<f64>,
    quiet_ms: u64,
    /// Share of fetches that usually find no connection in time.
    timeouts: f64,
}

impl Trouble {
    /// Whether an interval shows it.
    pub fn is_in(&mut self, sample: &Sample) -> bool {
        let share = sample.timeouts as f64 / sample.ended.max(1) as f64;
        let usual = self.timeouts;
        self.timeouts += OPINION_SHARE * (share - usual);
        let many = sample.timeouts >= TIMEOUTS_MANY && share > TIMEOUTS_MOST;
        sample.refused > 0 || (many && usual < TIMEOUTS_FEW)
    }

    /// Nothing goes above this for now.
    pub fn ceiling(&self) -> Option<f64> {
        self.ceiling
    }

    /// Sets a ceiling below the level that was too much, and gives it.
    pub fn fall_back(&mut self, level: u64, bounds: Bounds) -> f64 {
        let ceiling = (level as f64 * KEPT).max(bounds.min as f64);
        self.ceiling = Some(ceiling);
        self.quiet_ms = 0;
        ceiling
    }

    /// Lets the ceiling rise when nothing happened for long enough.
    pub fn come_back(&mut self, ms: u64, bounds: Bounds) {
        self.quiet_ms += ms;
        if self.quiet_ms < QUIET_MS {
            return;
        }
        self.quiet_ms = 0;
        let raised = self.ceiling.map(|ceiling| ceiling / KEPT);
        self.ceiling = raised.filter(|ceiling| *ceiling < bounds.max as f64);
    }
}
