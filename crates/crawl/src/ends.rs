//! Limits that end a crawl, and how far away the nearest one is.

use larm_core::Millis;

use crate::frontier::{Budgets, Frontier};
use crate::handle::Rates;

/// Below this rate the time that is left is anybody's guess.
const RATE_MIN: f64 = 0.01;

/// Limits that end a crawl.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ends {
    /// This run's time.
    pub time_ms_max: Option<u64>,
    /// Bytes over all runs.
    pub bytes_max: Option<u64>,
    /// Pages, over all runs.
    pub budgets: Budgets,
}

/// How far a crawl has come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// Pages answered, over all runs.
    pages: u64,
    /// Bytes received, over all runs.
    bytes: u64,
    /// URLs that wait for their turn.
    waiting: u64,
    /// How long this run has run.
    ran_ms: u64,
}

impl Progress {
    /// Of a run that began at `started`.
    pub fn of(frontier: &dyn Frontier, started: Millis, now: Millis) -> Self {
        let totals = frontier.totals();
        let waiting = frontier.waiting().saturating_sub(totals.held);
        Self { pages: totals.answered, bytes: totals.bytes, waiting, ran_ms: now.since(started) }
    }
}

impl Ends {
    /// Time until nothing waits any more or the nearest limit is reached, if it goes on like this.
    pub(crate) fn seconds_left(&self, so_far: Progress, rates: Rates) -> Option<u64> {
        let at =
            |rate: f64, left: u64| (rate > RATE_MIN).then(|| (left as f64 / rate).ceil() as u64);
        let allowed = self.budgets.pages_max.map(|max| max.saturating_sub(so_far.pages));
        let pages = so_far.waiting.min(allowed.unwrap_or(u64::MAX));
        let bytes = self.bytes_max.map(|max| max.saturating_sub(so_far.bytes));
        let ms = self.time_ms_max.map(|max| max.saturating_sub(so_far.ran_ms));
        [
            at(rates.pages_per_second, pages),
            bytes.and_then(|bytes| at(rates.bytes_per_second, bytes)),
            ms.map(|ms| ms.div_ceil(1_000)),
        ]
        .into_iter()
        .flatten()
        .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_end_counts() {
        let so_far = Progress { pages: 40, bytes: 4_000, waiting: 600, ran_ms: 20_500 };
        let rates =
            |pages: f64, bytes: f64| Rates { pages_per_second: pages, bytes_per_second: bytes };
        let ends = |pages_max, bytes_max, time_ms_max| Ends {
            time_ms_max,
            bytes_max,
            budgets: Budgets { pages_max, ..Budgets::default() },
        };
        let rows = [
            (ends(None, None, None), rates(2.0, 200.0), Some(300)),
            (ends(None, None, None), rates(0.0, 0.0), None),
            (ends(Some(50), None, None), rates(2.0, 200.0), Some(5)),
            (ends(Some(30), None, None), rates(2.0, 200.0), Some(0)),
            (ends(Some(9_000), None, None), rates(2.0, 200.0), Some(300)),
            (ends(None, Some(5_000), None), rates(2.0, 200.0), Some(5)),
            (ends(None, None, Some(60_000)), rates(2.0, 200.0), Some(40)),
            (ends(None, None, Some(60_000)), rates(0.0, 0.0), Some(40)),
        ];
        for (ends, rates, expected) in rows {
            assert_eq!(ends.seconds_left(so_far, rates), expected, "{ends:?} {rates:?}");
        }
    }
}
