//! How many fetches at a time: the level, found by measuring (`--concurrency auto`).
//!
//! A state machine without a clock. It is told what happened in each short interval and says the level
//! for the next. It believes in throughput alone: latency that rises may be our queue or a slower web,
//! and one of them wants a lower level, the other a higher one. So it tries: it measures the answers
//! per second where it stands (the base), steps up or down by a factor, measures again, and asks what
//! the step is worth. A doubled level is worth ln 2 where the web is slow, and nothing where our own
//! machine is busy.
//!
//! - A measurement begins when as many fetches have ended as there are places, so that those of the old
//!   level are through, and lasts until half as many more have. So it takes as long as the web is slow.
//! - A step is made when its worth is above, or below, what `WORTH_MIN` asks for, beyond doubt: the
//!   error is what counting so many answers has, with the noise of the base, or what the looks at this
//!   step differ by. A doubtful one is looked at again, against the base before and after it.
//! - What is known of a step goes along when the base moves, so the level does not swing between two.
//! - Once neither step seems right it rests, for longer and longer, and looks again. When the base's own
//!   throughput changes at once, everything known is forgotten: the web is another.
//!
//! What holds:
//!
//! - LEVEL-1: the level is between the bounds.
//! - LEVEL-2: it does not move as long as it is not what limits the crawl.
//! - LEVEL-3: when our own machine refuses (no more files), the level is below what was in use then, and
//!   comes back slowly.

mod epoch;
mod evidence;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
mod trouble;

use std::fmt;

use self::epoch::{Epoch, Rate};
use self::evidence::{Evidence, Verdict};
use self::trouble::Trouble;

/// Where to begin: enough for a slow web to be felt, and no burden on a fast one.
const START: f64 = 64.0;
/// A step must bring this share of what it would bring if nothing but the web were slow.
const WORTH_MIN: f64 = 0.08;
/// A step that brings this share beyond doubt need not be measured to its end.
const WORTH_PLAIN: f64 = 0.4;
/// The step while the way is open, and the one to find the place with.
const STRIDE: f64 = 2.0;
const STEP: f64 = std::f64::consts::SQRT_2;
/// Looks at one step that seems right without being sure. A wide one upwards, which takes long to
/// measure and long to undo, is looked at once.
const LOOKS_MAX: u32 = 8;
/// Measurements of the base in a rest, the first and the longest.
const REST: (u32, u32) = (2, 16);
/// A change of the base's throughput by this much (as a logarithm) is another web.
const CHANGE: f64 = 0.3;
/// The opinion about noise (a variance): the first, how fast it changes, and by how much at most.
const NOISE_START: f64 = 0.03 * 0.03;
const NOISE_SHARE: f64 = 0.2;
const NOISE_TIMES_MAX: f64 = 6.0;

/// The least and the most that a level may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

/// What happened in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sample {
    /// Its length.
    pub ms: u64,
    /// Fetches that ended, in whatever way.
    pub ended: u64,
    /// Those of them that were answered.
    pub answered: u64,
    /// Those that found no connection in time.
    pub timeouts: u64,
    /// Those that our own machine refused.
    pub refused: u64,
    /// Whether something was due and had to wait for a place.
    pub full: bool,
}

/// Why the level is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It was set.
    Fixed,
    /// Not what limits the crawl.
    Spare,
    /// More was worth it so far.
    Climbing,
    /// Less does as well so far.
    Sinking,
    /// Trying whether more, or less, would be better.
    Trying,
    /// Neither more nor less is better.
    Settled,
    /// Our own machine refused more.
    Retreating,
    /// Several crawls share what they may have together, and this one has no more of it.
    Share,
}

impl Reason {
    /// In a few words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fixed => "set",
            Self::Spare => "auto: hosts are the limit",
            Self::Climbing => "auto: more is faster",
            Self::Sinking => "auto: fewer are as fast",
            Self::Trying => "auto: trying",
            Self::Settled => "auto: neither more nor fewer are faster",
            Self::Retreating => "auto: this machine allows no more",
            Self::Share => "the server's share for this crawl is the limit",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A step away from the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Up,
    Down,
}

/// What is measured now.
#[derive(Debug, Clone, Copy)]
enum At {
    /// The base.
    Base,
    /// A step away from it, which the base was measured for before.
    Look(Step),
    /// The base again, after a look that found this rate.
    Back(Step, Rate),
}

/// Finds the level.
#[derive(Debug)]
pub struct Level {
    bounds: Bounds,
    base: f64,
    stride: f64,
    at: At,
    epoch: Epoch,
    /// The latest measurement of the base.
    rate: Option<Rate>,
    up: Evidence,
    down: Evidence,
    /// Measurements of the base until the next look, and how many the next rest has.
    rest: u32,
    rest_next: u32,
    /// Variance of the base's throughput from one measurement to the next.
    noise: f64,
    /// Moves in a row in one direction: upwards above 0.
    run: i32,
    trouble: Trouble,
    reason: Reason,
}

impl Level {
    /// Begins anew, within these bounds.
    pub fn new(bounds: Bounds) -> Self {
        assert!(0 < bounds.min && bounds.min <= bounds.max, "LEVEL-1: {bounds:?} hold no level");
        let base = START.clamp(bounds.min as f64, bounds.max as f64);
        Self {
            bounds,
            base,
            stride: STRIDE,
            at: At::Base,
            epoch: Epoch::new(base, base),
            rate: None,
            up: Evidence::default(),
            down: Evidence::default(),
            rest: 0,
            rest_next: REST.0,
            noise: NOISE_START,
            run: 0,
            trouble: Trouble::default(),
            reason: Reason::Spare,
        }
    }

    /// The level for the next interval.
    pub fn level(&self) -> u64 {
        (self.epoch.level().round() as u64).clamp(self.bounds.min, self.bounds.max)
    }

    /// Why.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// Takes note of an interval.
    pub fn note(&mut self, sample: &Sample) {
        if self.trouble.is_in(sample) {
            return self.fall_back();
        }
        self.trouble.come_back(sample.ms, self.bounds);
        // On a look, places that stay empty are an answer. At the base they mean that there is no
        // question (LEVEL-2).
        if !sample.full && !matches!(self.at, At::Look(_)) {
            self.epoch = Epoch::new(self.base, self.base);
            self.at = At::Base;
            self.reason = Reason::Spare;
            return;
        }
        if self.reason == Reason::Spare {
            self.reason = Reason::Trying;
        }
        if let Some(rate) = self.epoch.note(sample) {
            self.measured(rate);
        } else if let (At::Look(Step::Up), Some(rate)) = (self.at, self.epoch.so_far()) {
            self.looks_good(rate);
        }
    }

    /// A look upwards that is beyond doubt before it is through need not be waited for.
    fn looks_good(&mut self, seen: Rate) {
        let before = self.rate.expect("a look begins with a measured base");
        let worth = self.worth(Step::Up, seen, before);
        if self.up.with(worth).verdict(WORTH_PLAIN * self.stride.ln()) == Verdict::More {
            self.up.add(worth);
            self.step(Step::Up, seen);
        }
    }

    fn measured(&mut self, rate: Rate) {
        match self.at {
            At::Base => self.measured_base(rate),
            At::Look(step) => self.looked(step, rate),
            At::Back(step, seen) => self.came_back(step, seen, rate),
        }
    }

    fn measured_base(&mut self, rate: Rate) {
        if self.is_another_web(rate) {
            return;
        }
        self.rate = Some(rate);
        self.rest = self.rest.saturating_sub(1);
        match self.next_look() {
            Some(step) if self.rest == 0 => self.look(step),
            _ => self.go(self.base, At::Base),
        }
    }

    /// A look is over. What is beyond doubt is done at once, so that a climb takes one measurement a
    /// step; the rest is decided after the base was measured again.
    fn looked(&mut self, step: Step, seen: Rate) {
        let before = self.rate.expect("a look begins with a measured base");
        let worth = self.worth(step, seen, before);
        let verdict = self.evidence(step).with(worth).verdict(self.worth_min());
        match (step, verdict) {
            (Step::Up, Verdict::More) | (Step::Down, Verdict::Less) => {
                self.evidence_mut(step).add(worth);
                self.step(step, seen);
            }
            _ => self.go(self.base, At::Back(step, seen)),
        }
    }

    fn came_back(&mut self, step: Step, seen: Rate, after: Rate) {
        if self.is_another_web(after) {
            return;
        }
        let before = self.rate.expect("a look begins with a measured base");
        self.learn_noise(after.log() - before.log());
        let worth = self.worth(step, seen, before.mean(after));
        self.evidence_mut(step).add(worth);
        self.rate = Some(after);
        match (step, self.evidence(step).verdict(self.worth_min())) {
            (Step::Up, Verdict::More) | (Step::Down, Verdict::Less) => self.step(step, seen),
            _ => self.look_on(),
        }
    }

    /// The base was measured twice with a look between: as far apart as a look and its base.
    fn learn_noise(&mut self, change: f64) {
        let seen = (change * change / 2.0).min(NOISE_TIMES_MAX * self.noise);
        self.noise += NOISE_SHARE * (seen - self.noise);
    }

    /// Whether the base's throughput changed at once; then all is forgotten, and a slower web is
    /// answered by a look upwards, a faster one by a look downwards.
    fn is_another_web(&mut self, rate: Rate) -> bool {
        let Some(before) = self.rate else { return false };
        let change = rate.log() - before.log();
        let doubt = (rate.variance() + before.variance() + 2.0 * self.noise).sqrt();
        if change.abs() < CHANGE.max(4.0 * doubt) {
            return false;
        }
        self.forget();
        self.stride = STRIDE;
        if change < 0.0 && self.base < START {
            self.base = START.min(self.ceiling());
            self.go(self.base, At::Base);
            return true;
        }
        self.rate = Some(rate);
        self.look(if change < 0.0 { Step::Up } else { Step::Down });
        true
    }

    fn forget(&mut self) {
        (self.up, self.down) = Default::default();
        (self.rest, self.rest_next, self.run) = (0, REST.0, 0);
        self.rate = None;
    }

    /// Moves the base. What is known of the step just made is known of the step back.
    fn step(&mut self, step: Step, rate: Rate) {
        let (evidence, sign) = match step {
            Step::Up => (std::mem::take(&mut self.up), 1),
            Step::Down => (std::mem::take(&mut self.down), -1),
        };
        (self.up, self.down) = match step {
            Step::Up => (Evidence::default(), evidence),
            Step::Down => (evidence, Evidence::default()),
        };
        self.base = self.reach(step);
        self.rate = Some(rate);
        self.run = if self.run.signum() == sign { self.run + sign } else { sign };
        (self.rest, self.rest_next) = (0, REST.0);
        if self.stride < STRIDE && self.run.abs() > 2 {
            self.stride = STRIDE;
            (self.up, self.down) = Default::default();
        }
        self.reason = if sign > 0 { Reason::Climbing } else { Reason::Sinking };
        match self.next_look() {
            Some(next) => self.look(next),
            None => self.settle(),
        }
    }

    /// After a look that moved nothing.
    fn look_on(&mut self) {
        match self.next_look() {
            Some(step) => self.look(step),
            None => self.settle(),
        }
    }

    /// The step that is worth a look: one in doubt, the direction of the last move first.
    fn next_look(&self) -> Option<Step> {
        let order = if self.run < 0 { [Step::Down, Step::Up] } else { [Step::Up, Step::Down] };
        order.into_iter().find(|&step| self.is_open(step) && self.reach(step) != self.base)
    }

    /// Whether another look may show that a step is right. One that leans to the base is left at that.
    fn is_open(&self, step: Step) -> bool {
        let evidence = self.evidence(step);
        let leans = match step {
            Step::Up => evidence.mean() > self.worth_min(),
            Step::Down => evidence.mean() < self.worth_min(),
        };
        let looks = evidence.looks();
        let looks_max = if step == Step::Up && self.stride > STEP { 1 } else { LOOKS_MAX };
        !evidence.is_fresh() || looks == 0 || (leans && looks < looks_max)
    }

    /// Nothing is left to look at: with a smaller step perhaps, else for a while.
    fn settle(&mut self) {
        if self.stride > STEP {
            self.stride = STEP;
            (self.up, self.down, self.run) = Default::default();
            return self.go(self.base, At::Base);
        }
        self.rest = self.rest_next;
        self.rest_next = (self.rest_next * 2).min(REST.1);
        self.up.fade();
        self.down.fade();
        self.reason = Reason::Settled;
        self.go(self.base, At::Base);
    }

    fn look(&mut self, step: Step) {
        if self.reach(step) == self.base {
            return self.go(self.base, At::Base);
        }
        if self.run == 0 {
            self.reason = Reason::Trying;
        }
        self.go(self.reach(step), At::Look(step));
    }

    fn go(&mut self, level: f64, at: At) {
        self.epoch = Epoch::new(level, self.epoch.level());
        self.at = at;
    }

    /// Where a step leads, within the bounds.
    fn reach(&self, step: Step) -> f64 {
        let to = match step {
            Step::Up => self.base * self.stride,
            Step::Down => self.base / self.stride,
        };
        to.clamp(self.bounds.min as f64, self.ceiling())
    }

    fn ceiling(&self) -> f64 {
        self.trouble.ceiling().unwrap_or(self.bounds.max as f64)
    }

    /// What the upper of two levels is worth against the lower.
    fn worth(&self, step: Step, seen: Rate, base: Rate) -> (f64, f64) {
        let sign = if step == Step::Up { 1.0 } else { -1.0 };
        (sign * (seen.log() - base.log()), seen.variance() + base.variance() + 2.0 * self.noise)
    }

    fn worth_min(&self) -> f64 {
        WORTH_MIN * self.stride.ln()
    }

    fn evidence(&self, step: Step) -> &Evidence {
        match step {
            Step::Up => &self.up,
            Step::Down => &self.down,
        }
    }

    fn evidence_mut(&mut self, step: Step) -> &mut Evidence {
        match step {
            Step::Up => &mut self.up,
            Step::Down => &mut self.down,
        }
    }

    /// LEVEL-3.
    fn fall_back(&mut self) {
        let ceiling = self.trouble.fall_back(self.level(), self.bounds);
        self.base = self.base.min(ceiling);
        self.forget();
        self.reason = Reason::Retreating;
        self.go(self.base, At::Base);
    }
}
