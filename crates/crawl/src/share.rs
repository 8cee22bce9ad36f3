//! A crawl's share of what several crawls may have together: places, and bytes per second.
//!
//! Whoever runs them says so while they run, and says it again whenever one begins or ends. It is no setting: nothing
//! is logged, and a crawl that goes on by itself has all of it again. Bytes are counted when a fetch is settled, so
//! that the rate holds over seconds, not at each moment: after a large page nothing is asked for until it is
//! paid for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use larm_core::Millis;

/// A second's worth may be spent at once.
const BURST_MS: u64 = 1_000;

/// The share in force.
#[derive(Debug, Default)]
pub(crate) struct Share(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    places: Option<u64>,
    bytes_per_second: Option<u64>,
    /// All that was received before this time, and how much that was, is paid for.
    since: Option<(Millis, u64)>,
}

impl Share {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets it; `None` is no such limit.
    pub fn set(&self, places: Option<u64>, bytes_per_second: Option<u64>) {
        let mut held = self.held();
        if held.bytes_per_second != bytes_per_second {
            held.since = None;
        }
        (held.places, held.bytes_per_second) = (places, bytes_per_second);
    }

    /// Fetches at a time.
    pub fn places(&self) -> Option<u64> {
        self.held().places
    }

    /// Until when nothing is to be asked for, with so many bytes received in all.
    pub fn broke_until(&self, bytes: u64, now: Millis) -> Millis {
        let mut held = self.held();
        let Some(rate) = held.bytes_per_second else { return Millis(0) };
        let (since, paid) = *held.since.get_or_insert((now, bytes));
        let spent_ms = bytes.saturating_sub(paid).saturating_mul(1_000) / rate.max(1);
        let paid_until = since.after(spent_ms);
        if now.since(paid_until) > BURST_MS {
            // What was not used is lost, but for a second's worth.
            held.since = Some((Millis(now.0.saturating_sub(BURST_MS)), bytes));
        }
        if paid_until > now { paid_until } else { Millis(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_bytes_holds_over_time() {
        let share = Share::default();
        assert_eq!(share.broke_until(1_000_000, Millis(1_000)), Millis(0));
        share.set(None, Some(1_000));
        let rows = [
            (0, 1_000, 0),
            (5_000, 1_000, 6_000),
            (5_000, 5_999, 6_000),
            (5_000, 6_000, 0),
            (5_500, 6_000, 6_500),
            // A long rest saves one second's worth, no more.
            (5_500, 60_000, 0),
            (6_500, 60_000, 0),
            (7_500, 60_000, 61_000),
        ];
        for (bytes, now, until) in rows {
            let broke = share.broke_until(1_000_000 + bytes, Millis(now));
            assert_eq!(broke, Millis(until), "{bytes} at {now}");
        }
    }
}
