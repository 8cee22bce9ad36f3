//! The level against webs in virtual time, judged by the best fixed level of the same web.
//!
//! A web is a queueing model: each fetch waits for the network, then for its server, then for one of our
//! two cores, whose work for a page grows with the fetches in flight. Everything random comes from a
//! seed, which is printed when a test fails.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Bounds, Level, Sample};
use crate::random::Random;

/// Length of an interval, and of a run.
const INTERVAL_US: u64 = 250_000;
const RUN_US: u64 = 60_000_000;
/// All of them where the code is optimised; a sample of them, and of fixed levels, for every day.
const SEEDS: u64 = if cfg!(debug_assertions) { 2 } else { 30 };
const HALVES: usize = if cfg!(debug_assertions) { 2 } else { 1 };
const BOUNDS: Bounds = Bounds { min: 4, max: 4_096 };

/// One kind of web, and of machine.
#[derive(Debug, Clone, Copy)]
struct Web {
    /// The network's own time: always, and on average beyond that.
    latency_ms: (f64, f64),
    /// Pages per second that the servers can give, all together.
    servers: f64,
    /// Share of fetches that end in a timeout after so many ms.
    lost: (f64, f64),
    /// Our work per page.
    cpu_us: f64,
    /// Fetches in flight that double this work.
    doubling: f64,
    /// How far the machine's speed strays from its mean.
    noise: f64,
    /// Pages per second for which a host is due.
    due: f64,
}

const FAST: Web = Web {
    latency_ms: (0.2, 0.5),
    servers: f64::INFINITY,
    lost: (0.0, 0.0),
    cpu_us: 2_000.0,
    doubling: 4_000.0,
    noise: 0.03,
    due: f64::INFINITY,
};
const SLOW: Web = Web { latency_ms: (50.0, 450.0), cpu_us: 1_500.0, ..FAST };

struct Run {
    web: fn(u64) -> Web,
    random: Random,
    /// Its own, so that the same seed gives the same machine whatever the level.
    moods: Random,
    now_us: u64,
    /// When a fetch reaches our machine, or ends, and whether it was lost.
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    server_free_us: f64,
    core_free_us: [f64; 2],
    in_flight: u64,
    leased: f64,
    strayed: f64,
    answered: u64,
    sample: Sample,
    fills: (u64, u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrived,
    Answered,
    Lost,
    Interval,
}

impl Run {
    fn new(web: fn(u64) -> Web, seed: u64) -> Self {
        Self {
            web,
            random: Random(seed),
            moods: Random(seed ^ 0x5EED),
            now_us: 0,
            events: BinaryHeap::new(),
            number: 0,
            server_free_us: 0.0,
            core_free_us: [0.0; 2],
            in_flight: 0,
            leased: 0.0,
            strayed: 0.0,
            answered: 0,
            sample: Sample::default(),
            fills: (0, 0),
        }
    }

    /// Pages answered in a whole run.
    fn answers(mut self, mut level: impl FnMut(Option<&Sample>) -> u64) -> u64 {
        let mut places = level(None);
        self.at(INTERVAL_US as f64, Event::Interval);
        self.fill(places);
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            self.now_us = at;
            if at >= RUN_US {
                break;
            }
            match event {
                Event::Arrived => self.arrived(),
                Event::Answered => self.ended(true),
                Event::Lost => self.ended(false),
                Event::Interval => {
                    self.stray();
                    places = level(Some(&self.take_sample()));
                    self.at((at + INTERVAL_US) as f64, Event::Interval);
                }
            }
            if event != Event::Arrived {
                self.fill(places);
            }
        }
        self.answered
    }

    fn take_sample(&mut self) -> Sample {
        let full = self.fills.0 * 2 > self.fills.1;
        self.fills = (0, 0);
        let sample = std::mem::take(&mut self.sample);
        Sample { ms: INTERVAL_US / 1_000, full, ..sample }
    }

    fn at(&mut self, us: f64, event: Event) {
        self.number += 1;
        self.events.push(Reverse((us as u64, self.number, event)));
    }

    fn web(&self) -> Web {
        (self.web)(self.now_us / 1_000_000)
    }

    fn fill(&mut self, places: u64) {
        let web = self.web();
        let due = web.due * self.now_us as f64 / 1e6;
        while self.in_flight < places && self.leased < due {
            self.leased += 1.0;
            self.in_flight += 1;
            if self.random.unit() < web.lost.0 {
                self.at(self.now_us as f64 + web.lost.1 * 1e3, Event::Lost);
                continue;
            }
            let ms = web.latency_ms.0 + web.latency_ms.1 * self.random.exponential();
            self.at(self.now_us as f64 + ms * 1e3, Event::Arrived);
        }
        self.fills.1 += 1;
        self.fills.0 += u64::from(self.leased < due);
    }

    fn arrived(&mut self) {
        let web = self.web();
        let served = self.server_free_us.max(self.now_us as f64) + 1e6 / web.servers;
        self.server_free_us = served;
        let speed = (self.strayed * web.noise).exp();
        let work = web.cpu_us * (1.0 + self.in_flight as f64 / web.doubling) * speed;
        let core = usize::from(self.core_free_us[1] < self.core_free_us[0]);
        let done = self.core_free_us[core].max(served) + work * self.random.exponential();
        self.core_free_us[core] = done;
        self.at(done, Event::Answered);
    }

    fn ended(&mut self, answered: bool) {
        self.in_flight -= 1;
        self.sample.ended += 1;
        self.sample.answered += u64::from(answered);
        self.sample.timeouts += u64::from(!answered);
        self.answered += u64::from(answered);
    }

    /// The machine's speed strays, and comes back within a second or two.
    fn stray(&mut self) {
        self.strayed = 0.85 * self.strayed + 0.53 * self.moods.normal();
    }
}

/// A run at one level, and a run at the level that is found, which is noted after each interval.
fn fixed(web: fn(u64) -> Web, seed: u64, level: u64) -> u64 {
    Run::new(web, seed).answers(|_| level)
}

fn auto(web: fn(u64) -> Web, seed: u64, bounds: Bounds) -> (u64, Vec<u64>) {
    let mut level = Level::new(bounds);
    let mut levels = Vec::new();
    let answers = Run::new(web, seed).answers(|sample| {
        if let Some(sample) = sample {
            level.note(sample);
        }
        levels.push(level.level());
        level.level()
    });
    (answers, levels)
}

fn best_level(web: fn(u64) -> Web, bounds: Bounds) -> u64 {
    let levels =
        (0..).step_by(HALVES).map(|half| bounds.min as f64 * 2_f64.powf(f64::from(half) / 2.0));
    let levels = levels.map(|level| level.round() as u64);
    levels
        .take_while(|level| *level <= bounds.max)
        .max_by_key(|level| fixed(web, 0, *level))
        .expect("there are levels")
}

/// Fails unless every seed comes within 15 % of the best fixed level.
#[track_caller]
fn assert_near_the_best(web: fn(u64) -> Web, bounds: Bounds) {
    let best = best_level(web, bounds);
    let mut worst = f64::INFINITY;
    for seed in 1..=SEEDS {
        let (answers, levels) = auto(web, seed, bounds);
        let share = answers as f64 / fixed(web, seed, best) as f64;
        worst = worst.min(share);
        let levels: Vec<u64> = levels.into_iter().step_by(4).collect();
        assert!(share >= 0.85, "seed {seed}: {share:.3} of what {best} brings, by {levels:?}");
    }
    println!("at worst {worst:.3} of what {best} brings");
}

#[test]
fn a_fast_web_wants_few() {
    assert_near_the_best(|_| FAST, BOUNDS);
}

#[test]
fn a_slow_web_wants_many() {
    assert_near_the_best(|_| SLOW, BOUNDS);
}

#[test]
fn a_slow_web_with_no_limit_of_our_own_wants_all_there_are() {
    let few = Bounds { max: 1_024, ..BOUNDS };
    assert_near_the_best(|_| Web { cpu_us: 100.0, doubling: 40_000.0, ..SLOW }, few);
}

#[test]
fn a_web_that_changes_is_followed() {
    assert_near_the_best(|second| if (20..40).contains(&second) { FAST } else { SLOW }, BOUNDS);
}

#[test]
fn a_web_that_becomes_slow_is_followed() {
    assert_near_the_best(|second| if (20..40).contains(&second) { SLOW } else { FAST }, BOUNDS);
}

#[test]
fn lost_fetches_only_take_places() {
    assert_near_the_best(|_| Web { lost: (0.05, 10_000.0), ..SLOW }, BOUNDS);
}

#[test]
fn servers_with_a_limit_are_not_queued_at() {
    assert_near_the_best(|_| Web { servers: 300.0, ..SLOW }, BOUNDS);
}

#[test]
fn noise_does_not_carry_the_level_away() {
    assert_near_the_best(|_| Web { noise: 0.15, ..FAST }, BOUNDS);
}

#[test]
fn noise_does_not_hide_that_more_is_better() {
    assert_near_the_best(|_| Web { noise: 0.15, ..SLOW }, BOUNDS);
}

#[test]
fn a_machine_that_suffers_from_many_gets_few() {
    assert_near_the_best(|_| Web { doubling: 200.0, ..FAST }, BOUNDS);
}

#[test]
fn where_hosts_are_the_limit_the_level_stays() {
    let polite = |_| Web { due: 40.0, ..SLOW };
    let (_, levels) = auto(polite, 1, BOUNDS);
    assert!(levels.iter().all(|level| *level == levels[0]), "{levels:?}");
}
