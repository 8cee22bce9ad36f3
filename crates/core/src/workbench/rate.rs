//! The rate of the whole crawl: requests evenly spaced, none saved up.
//!
//! Counted in microseconds, so that rates above a thousand per second and rates that do not divide a
//! second are kept on average. A lease that ends unused gives its place back, as long as no later one
//! was built upon it.

use super::HostKey;
use crate::Millis;

const SECOND_US: u64 = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct Rate {
    next_us: u64,
    /// Whose lease came last, and `next_us` before it.
    last: Option<(HostKey, u64)>,
}

impl Rate {
    /// When the next lease may be given. 0 if nothing limits the rate.
    pub(super) fn due(&self, per_second: Option<u32>) -> Millis {
        per_second.map_or(Millis(0), |_| Millis(self.next_us / 1_000))
    }

    /// PACE-4: the next lease comes one spacing after this one, or after its time if that is later.
    pub(super) fn spend(&mut self, host: HostKey, now: Millis, per_second: Option<u32>) {
        let Some(per_second) = per_second else { return };
        let spacing = SECOND_US.div_ceil(u64::from(per_second.max(1)));
        self.last = Some((host, self.next_us));
        self.next_us = self.next_us.max(now.0.saturating_mul(1_000)).saturating_add(spacing);
    }

    /// `host` sent nothing: if it was the last one, it is as if it had not been leased.
    pub(super) fn give_back(&mut self, host: HostKey) {
        if let Some((_, before)) = self.last.take_if(|(last, _)| *last == host) {
            self.next_us = before;
        }
    }
}
