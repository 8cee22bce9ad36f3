//! What holds of the level, whatever it is told. How good it is, the simulation shows.

use super::{Bounds, Level, Reason, Sample};

const BOUNDS: Bounds = Bounds { min: 4, max: 500 };

/// An interval at a web of which each place brings an answer in `latency_ms`, up to `most` per second.
fn interval(level: &Level, latency_ms: u64, most: u64) -> Sample {
    let answered = (level.level() * 250 / latency_ms).min(most / 4);
    Sample { ms: 250, ended: answered, answered, full: true, ..Sample::default() }
}

fn after(mut level: Level, intervals: u32, latency_ms: u64, most: u64) -> Level {
    for _ in 0..intervals {
        level.note(&interval(&level, latency_ms, most));
    }
    level
}

#[test]
fn it_keeps_to_its_bounds_whatever_it_is_told() {
    let samples = [(1, 4_000_000), (500, 4_000_000), (5_000, 4_000_000), (1, 40), (100, 400)];
    for bounds in [BOUNDS, Bounds { min: 1, max: 1 }, Bounds { min: 100, max: 120 }] {
        let mut level = Level::new(bounds);
        for step in 0..5_000 {
            let (latency_ms, most) = samples[step / 97 % samples.len()];
            let refused = u64::from(step % 389 == 0);
            level.note(&Sample { refused, ..interval(&level, latency_ms, most) });
            let now = level.level();
            assert!((bounds.min..=bounds.max).contains(&now), "LEVEL-1: {now} in {bounds:?}");
        }
    }
}

#[test]
fn a_slow_web_is_climbed_in_seconds() {
    let level = after(Level::new(BOUNDS), 16, 300, u64::MAX);
    assert!(level.level() >= 350, "{} after four seconds", level.level());
}

#[test]
fn it_does_not_move_while_it_is_not_the_limit() {
    let mut level = after(Level::new(BOUNDS), 100, 300, u64::MAX);
    level.note(&Sample { full: false, ..interval(&level, 300, u64::MAX) });
    let before = level.level();
    for answered in [0, 1, 10, 100, 1_000].repeat(50) {
        level.note(&Sample { ms: 250, ended: answered, answered, ..Sample::default() });
        assert_eq!((level.level(), level.reason()), (before, Reason::Spare), "LEVEL-2");
    }
}

#[test]
fn a_machine_that_refuses_is_asked_for_less_and_slowly_for_more() {
    let mut level = after(Level::new(BOUNDS), 100, 300, u64::MAX);
    let before = level.level();
    level.note(&Sample { refused: 1, ..interval(&level, 300, u64::MAX) });
    assert!(level.level() <= before * 3 / 4, "LEVEL-3: {} after {before}", level.level());
    assert_eq!(level.reason(), Reason::Retreating);
    for _ in 0..36 {
        level.note(&interval(&level, 300, u64::MAX));
        assert!(level.level() < before, "LEVEL-3: {} within nine seconds", level.level());
    }
    let level = after(level, 200, 300, u64::MAX);
    assert!(level.level() >= before * 9 / 10, "{} after a minute", level.level());
}

#[test]
fn many_connections_that_time_out_at_once_are_taken_for_our_own_doing() {
    let mut level = after(Level::new(BOUNDS), 40, 300, u64::MAX);
    let before = level.level();
    level.note(&Sample { ms: 250, ended: 40, timeouts: 30, full: true, ..Sample::default() });
    assert!(level.level() < before, "{} after {before}", level.level());
}

#[test]
fn a_web_of_dead_hosts_is_not() {
    let mut level = after(Level::new(BOUNDS), 40, 300, u64::MAX);
    let before = level.level();
    for _ in 0..200 {
        let Sample { ended, .. } = interval(&level, 300, u64::MAX);
        let (timeouts, answered) = (ended * 2 / 3, ended / 3);
        level.note(&Sample { ms: 250, ended, answered, timeouts, full: true, refused: 0 });
    }
    assert!(level.level() >= before / 2, "{} after {before}", level.level());
}
