//! One measurement: what a level brings, once the fetches of the one before are through.

use super::Sample;

/// The shortest measurement, and the least that may end in it.
const MS_MIN: u64 = 500;
const ENDED_MIN: f64 = 32.0;
/// A measurement in which hardly anything ends is over after this time.
const MS_MAX: u64 = 15_000;
/// Answers come in clumps: so much more than chance alone is their number's variance.
const CLUMPS: f64 = 1.5;

/// A level under measurement.
#[derive(Debug)]
pub(super) struct Epoch {
    level: f64,
    /// Ends to wait for until all fetches are those of this level.
    unsettled: f64,
    whole: Count,
    settled: Count,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    ms: u64,
    ended: f64,
    answered: f64,
}

impl Count {
    fn add(&mut self, sample: &Sample) {
        self.ms += sample.ms;
        self.ended += sample.ended as f64;
        self.answered += sample.answered as f64;
    }

    fn rate(&self) -> Rate {
        Rate::new(self.answered, self.ms)
    }
}

impl Epoch {
    /// Measures `level`, which comes after `before`.
    pub fn new(level: f64, before: f64) -> Self {
        let unsettled = if level == before { 0.0 } else { level.max(before) };
        Self { level, unsettled, whole: Count::default(), settled: Count::default() }
    }

    pub fn level(&self) -> f64 {
        self.level
    }

    /// Takes note of an interval, and gives the result when it was the last.
    pub fn note(&mut self, sample: &Sample) -> Option<Rate> {
        self.whole.add(sample);
        if self.whole.ended <= self.unsettled && self.whole.ms < MS_MAX {
            return None;
        }
        self.settled.add(sample);
        let turned =
            self.settled.ms >= MS_MIN && self.settled.ended >= (self.level / 2.0).max(ENDED_MIN);
        (turned || self.settled.ms >= MS_MAX).then(|| self.settled.rate())
    }

    /// What it looks like before it is through: too little, if it comes after a lower level.
    pub fn so_far(&self) -> Option<Rate> {
        let enough = self.level.max(ENDED_MIN) / 2.0;
        (self.whole.ended >= enough).then(|| self.whole.rate())
    }
}

/// Answers per second, with the error that counting them has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    log: f64,
    variance: f64,
}

impl Rate {
    pub fn new(answered: f64, ms: u64) -> Self {
        // Half an answer more: nothing at all has no logarithm.
        let answered = answered + 0.5;
        Self { log: (answered * 1_000.0 / ms.max(1) as f64).ln(), variance: CLUMPS / answered }
    }

    pub fn log(self) -> f64 {
        self.log
    }

    /// Of the logarithm.
    pub fn variance(self) -> f64 {
        self.variance
    }

    pub fn mean(self, other: Self) -> Self {
        let variance = (self.variance + other.variance) / 4.0;
        Self { log: (self.log + other.log) / 2.0, variance }
    }
}
