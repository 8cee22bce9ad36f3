//! Places: how many fetches at a time, as set or as found, and what is counted to find it.
//!
//! The line counts how fetches ended, the engine how often nothing was free; every [`PULSE`] both become
//! a sample, and [`Level`] says how many places there are until the next. Where our own machine refused
//! a connection, nothing more is leased until then.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use larm_core::level::{Bounds, Level, Reason, Sample};
use larm_core::{Failure, FailureClass, Millis};

/// How often the level is thought over.
pub(crate) const PULSE: Duration = Duration::from_millis(250);
/// The fewest places that are worth a crawl.
const PLACES_MIN: u64 = 4;

/// The end of a request is rounded up, so what is due since then may seem to be due so much later. The engine looks
/// right after requests have ended: it would find something due at every other look only.
const ROUNDED_MS: u64 = 1;

/// How fetches ended since the last pulse.
#[derive(Debug, Default)]
pub struct Meter {
    answered: AtomicU64,
    timeouts: AtomicU64,
    refused: AtomicU64,
}

impl Meter {
    /// Counts one.
    pub fn count<T>(&self, answer: &Result<T, Failure>) {
        let counter = match answer {
            Ok(_) => &self.answered,
            Err(failure) if failure.class == FailureClass::NoFiles => &self.refused,
            Err(failure) if failure.class == FailureClass::ConnectTimeout => &self.timeouts,
            Err(_) => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed) > 0
    }
}

/// What becomes of a level in the end: a number, and why.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    /// Fetches at a time.
    pub places: u64,
    /// Why so many.
    pub reason: Reason,
    /// Connections that our own machine refused, over the whole run.
    pub refused: u64,
}

/// The engine's places.
#[derive(Debug)]
pub(crate) struct Places {
    max: u64,
    level: Option<Level>,
    fixed: u64,
    sampled: Millis,
    ended: u64,
    /// Times that the engine looked for work, and those at which something due found no place.
    looks: u64,
    full: u64,
    refused: u64,
    /// No more than this, whatever is set or found.
    cap: Option<u64>,
}

impl Places {
    /// As many as `wanted`, or as many as are found to be best; never more than `max`.
    pub fn new(wanted: Option<u64>, max: u64, now: Millis) -> Self {
        let mut places = Self {
            max,
            level: None,
            fixed: max,
            sampled: now,
            ended: 0,
            looks: 0,
            full: 0,
            refused: 0,
            cap: None,
        };
        places.set(wanted);
        places
    }

    /// Sets a number, or goes back to finding it.
    pub fn set(&mut self, wanted: Option<u64>) {
        self.fixed = wanted.unwrap_or(self.max).min(self.max);
        let bounds = Bounds { min: PLACES_MIN.min(self.max), max: self.max };
        self.level = wanted.is_none().then(|| Level::new(bounds));
    }

    /// Allows no more than this, whatever is set or found.
    pub fn cap(&mut self, cap: Option<u64>) {
        self.cap = cap;
    }

    /// How many fetches there may be now.
    pub fn now(&self, meter: &Meter) -> u64 {
        if meter.is_refused() { 0 } else { self.standing().places }
    }

    pub fn standing(&self) -> Standing {
        let (places, reason) = match &self.level {
            Some(level) => (level.level(), level.reason()),
            None => (self.fixed, Reason::Fixed),
        };
        let (places, reason) = match self.cap.filter(|cap| *cap < places) {
            Some(cap) => (cap, Reason::Share),
            None => (places, reason),
        };
        Standing { places, reason, refused: self.refused }
    }

    /// The engine looked for work. All places are taken if something waits for one: here is when it is due.
    pub fn looked(&mut self, due: Option<Millis>, now: Millis) {
        self.looks += 1;
        let is_due = due.is_some_and(|due| due <= now.after(ROUNDED_MS));
        self.full += u64::from(is_due);
    }

    /// A fetch ended.
    pub fn ended(&mut self) {
        self.ended += 1;
    }

    /// Thinks it over. Gives the number of connections that our machine refused since the last time.
    pub fn pulse(&mut self, meter: &Meter, now: Millis) -> u64 {
        let ms = now.since(self.sampled);
        if ms == 0 {
            return 0;
        }
        self.sampled = now;
        let sample = Sample {
            ms,
            ended: std::mem::take(&mut self.ended),
            answered: meter.answered.swap(0, Ordering::Relaxed),
            timeouts: meter.timeouts.swap(0, Ordering::Relaxed),
            refused: meter.refused.swap(0, Ordering::Relaxed),
            full: std::mem::take(&mut self.full) * 2 > std::mem::take(&mut self.looks),
        };
        self.refused += sample.refused;
        if let Some(level) = &mut self.level {
            level.note(&sample);
        }
        sample.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> Result<(), Failure> {
        Err(Failure::new(FailureClass::NoFiles, "no more files"))
    }

    #[test]
    fn nothing_is_leased_between_a_refusal_and_the_next_pulse() {
        let meter = Meter::default();
        let mut places = Places::new(None, 1_000, Millis(0));
        let before = places.now(&meter);
        meter.count(&refused());
        assert_eq!(places.now(&meter), 0);
        assert_eq!(places.pulse(&meter, Millis(250)), 1);
        assert!((1..before).contains(&places.now(&meter)), "{:?}", places.standing());
        assert_eq!(places.standing().reason, Reason::Retreating);
    }

    /// Some pulses in which all that was fetched was answered, and what was due next was due so much later.
    fn after_pulses(due_ms: u64) -> Standing {
        let (meter, mut places) = (Meter::default(), Places::new(None, 1_000, Millis(0)));
        for pulse in 1..40 {
            let now = Millis(pulse * 250);
            for _ in 0..places.now(&meter) {
                meter.count(&Ok(()));
                places.ended();
                places.looked(Some(now.after(due_ms)), now);
            }
            places.pulse(&meter, now);
        }
        places.standing()
    }

    #[test]
    fn what_seems_due_a_moment_later_since_ends_are_rounded_up_waits_for_a_place() {
        for due_ms in [0, 1] {
            let standing = after_pulses(due_ms);
            assert!(
                standing.places > 64,
                "a web that answers all at once is worth more: {standing:?}"
            );
        }
        assert_eq!(after_pulses(2).reason, Reason::Spare);
    }

    #[test]
    fn a_number_that_is_set_stays_until_auto_is_set() {
        let meter = Meter::default();
        let mut places = Places::new(Some(9), 1_000, Millis(0));
        meter.count(&refused());
        places.pulse(&meter, Millis(250));
        assert_eq!((places.now(&meter), places.standing().reason), (9, Reason::Fixed));
        places.set(Some(5_000));
        assert_eq!(places.now(&meter), 1_000, "never above the limit");
        places.set(None);
        assert_ne!(places.standing().reason, Reason::Fixed);
    }

    #[test]
    fn a_share_that_is_less_than_what_is_found_is_said_to_be_the_limit() {
        let mut places = Places::new(None, 1_000, Millis(0));
        places.cap(Some(1));
        assert_eq!((places.standing().places, places.standing().reason), (1, Reason::Share));
        places.cap(Some(1_000));
        assert_ne!(places.standing().reason, Reason::Share);
        places.set(Some(9));
        places.cap(Some(9));
        assert_eq!((places.standing().places, places.standing().reason), (9, Reason::Fixed));
    }
}
