//! The one place that reads a clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use larm_core::Millis;

/// Wall-clock time that never runs backwards within one process.
///
/// Politeness is counted in it, so a clock set back by an operator must not shorten a gap: the wall
/// clock is read once, and from there on the monotonic clock counts.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    wall_start: Millis,
    start: Instant,
}

impl Clock {
    /// A clock that starts now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads a clock")]
    pub fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall_start = Millis(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX));
        Self { wall_start, start: Instant::now() }
    }

    /// Now.
    pub fn now(&self) -> Millis {
        let elapsed = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.wall_start.after(elapsed)
    }

    /// Now, rounded up: the end of a request, from which a wait is counted. Were it rounded down like
    /// the time at which the wait is over, a gap could be up to a millisecond short.
    pub fn end(&self) -> Millis {
        let elapsed = self.start.elapsed().as_nanos().div_ceil(1_000_000);
        self.wall_start.after(u64::try_from(elapsed).unwrap_or(u64::MAX))
    }

    /// The monotonic instant at which [`Clock::now`] will have reached `time`.
    pub fn instant_of(&self, time: Millis) -> Instant {
        self.start + std::time::Duration::from_millis(time.since(self.wall_start))
    }
}
