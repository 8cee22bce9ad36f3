//! Tables of evidence, and worlds in which hosts die and the network comes and goes.

use super::*;
use crate::random::Random;
use Evidence::*;

fn outage() -> Outage {
    Outage::new(&Limits::default())
}

/// Time in seconds, host, evidence.
type Row = (u64, u64, Evidence);

fn after(rows: &[Row]) -> Outage {
    let mut outage = outage();
    for (second, host, evidence) in rows {
        outage.note(*host, *evidence, Millis(second * 1_000));
    }
    outage
}

#[test]
fn several_silent_hosts_and_nobody_else_are_an_outage() {
    #[rustfmt::skip]
    let rows: &[(&str, &[Row], u64, bool)] = &[
        ("nothing happened", &[], 100, false),
        ("four hosts, quiet for three seconds", &[(0, 9, Life), (10, 1, Silence), (10, 2, Silence), (10, 3, Silence), (10, 4, Silence)], 10, true),
        ("four hosts, nobody ever heard of, at once", &[(10, 1, Silence), (10, 2, Silence), (10, 3, Silence), (10, 4, Silence)], 10, false),
        ("the same, quiet since", &[(10, 1, Silence), (10, 2, Silence), (10, 3, Silence), (10, 4, Silence)], 13, true),
        ("somebody was heard of a second ago", &[(9, 9, Life), (10, 1, Silence), (10, 2, Silence), (10, 3, Silence), (10, 4, Silence)], 10, false),
        ("one dead host, again and again", &[(1, 1, Silence), (2, 1, Silence), (3, 1, Silence), (4, 1, Silence), (5, 1, Silence)], 20, false),
        ("three dead hosts", &[(1, 1, Silence), (2, 2, Silence), (3, 3, Silence)], 20, false),
        ("somebody answered in between", &[(1, 1, Silence), (2, 2, Silence), (3, 9, Life), (9, 3, Silence), (9, 4, Silence)], 20, false),
        ("silence in mid-sentence begins nothing", &[(1, 1, Unclear), (1, 2, Unclear), (1, 3, Unclear), (1, 4, Unclear)], 20, false),
        ("nor does it count", &[(1, 1, Silence), (1, 2, Unclear), (1, 3, Unclear), (1, 4, Unclear)], 20, false),
        ("no way out, a single host", &[(0, 1, Life), (10, 1, NoWayOut)], 10, true),
        ("no way out, but others are heard of", &[(9, 2, Life), (10, 1, NoWayOut), (11, 2, Life)], 20, false),
        ("it is over when somebody answers", &[(10, 1, NoWayOut), (20, 1, NoWayOut), (21, 1, Life)], 30, false),
    ];
    for (name, evidence, second, expected) in rows {
        let mut outage = after(evidence);
        outage.look(Millis(second * 1_000));
        assert_eq!(outage.offline_since().is_some(), *expected, "{name}: {outage:?}");
    }
}

#[test]
fn a_failure_in_doubt_waits_and_is_decided_by_what_comes() {
    let doubtful = |outage: &mut Outage| {
        outage.note(9, Life, Millis(0));
        outage.note(1, Silence, Millis(1_000)).expect("it is in doubt")
    };
    let mut answered = outage();
    let doubt = doubtful(&mut answered);
    assert_eq!(answered.decide(doubt, Millis(1_000)), Decision::Open(Millis(3_000)));
    assert_eq!(answered.decide(doubt, Millis(3_000)), Decision::Open(Millis(31_000)));
    answered.note(9, Life, Millis(4_000));
    assert_eq!(answered.decide(doubt, Millis(4_000)), Decision::Blame);

    let mut over = outage();
    let doubt = doubtful(&mut over);
    assert_eq!(over.decide(doubt, Millis(31_000)), Decision::Blame, "OUTAGE-3");

    let mut down = outage();
    let doubt = doubtful(&mut down);
    (2..=4).for_each(|host| _ = down.note(host, Silence, Millis(5_000)));
    assert_eq!(down.decide(doubt, Millis(5_000)), Decision::Spare);
    down.note(4, Life, Millis(60_000));
    assert_eq!(down.decide(doubt, Millis(60_001)), Decision::Spare, "even if it is asked for late");
}

/// The lid is closed in mid-crawl, and opened hours later: the clock has jumped, or the network is not up yet.
#[test]
fn a_machine_that_slept_blames_nobody_for_it() {
    const SLEPT_MS: u64 = 8 * 3_600 * 1_000;
    let awake = |ms: u64| Millis(10_000 + SLEPT_MS + ms);
    let mut outage = after(&[(9, 9, Life)]);
    let early = outage.note(1, Silence, Millis(10_000)).expect("it is in doubt");
    // What was in doubt when it fell asleep is decided at once, and a single host is no outage.
    assert_eq!(outage.decide(early, awake(0)), Decision::Blame);
    assert_eq!(outage.offline_since(), None);
    // Connections that were open break one after the other before the network is there again.
    let doubts: Vec<Doubt> =
        (1..=4).filter_map(|host| outage.note(host, Silence, awake(host))).collect();
    assert_eq!(outage.offline_since(), Some(awake(1)), "not since before it slept");
    assert!(doubts.iter().all(|doubt| outage.decide(*doubt, awake(5)) == Decision::Spare));
    assert_eq!(doubts.len(), 4);
    let probe = outage.next_probe().expect("it is tried whether the network is back");
    outage.note(2, Life, probe);
    assert_eq!(outage.offline_since(), None);
}

#[test]
fn who_alone_stays_silent_cannot_take_the_network_down_twice() {
    let mut outage = after(&[(0, 2, Life), (10, 1, NoWayOut)]);
    assert!(outage.offline_since().is_some());
    outage.note(2, Life, Millis(15_000));
    assert_eq!(outage.note(1, NoWayOut, Millis(30_000)), None, "blamed: OUTAGE-4");
    assert!(outage.offline_since().is_none());
    outage.note(1, Life, Millis(40_000));
    assert!(outage.note(1, NoWayOut, Millis(60_000)).is_some(), "it was heard of since");
}

#[test]
fn one_try_at_a_time_and_ever_more_rarely() {
    let mut outage = after(&[(0, 1, Life), (10, 1, NoWayOut)]);
    let (mut at, mut waits) = (Millis(10_000), Vec::new());
    for _ in 0..6 {
        let next = outage.next_probe().expect("it is down");
        waits.push(next.since(at) / 1_000);
        at = next;
        outage.probe(7, at);
        assert!(outage.next_probe().unwrap() >= at.after(60_000), "one is under way");
        outage.note(7, Silence, at.after(1));
        assert!(outage.next_probe().unwrap() < at.after(61_000), "it is over");
    }
    assert_eq!(waits, [5, 5, 10, 20, 40, 60]);
    outage.note(7, Life, at);
    assert_eq!(outage.next_probe(), None);
}

#[test]
fn every_class_of_failure_says_something_or_has_nothing_to_do_with_the_network() {
    for class in FailureClass::ALL {
        let silent = matches!(Evidence::of(class), Some(Silence | NoWayOut));
        let connection_level = class.is_connection_level() || class == FailureClass::Offline;
        assert!(!silent || connection_level, "{class} comes from a host that was reached");
    }
}

/// Hosts that answer, hosts that do not, and a network that goes down and comes back.
struct World {
    random: Random,
    hosts: u64,
    /// Hosts below this number never answer.
    dead: u64,
    /// Times at which the network goes down and comes back, in turn.
    turns: Vec<Millis>,
    local_errors: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let hosts = random.within(1, 60);
        let dead = if random.one_in(2) { random.below(hosts) } else { 0 };
        let mut at = 0;
        let turns = (0..random.below(4) * 2).map(|_| {
            at += random.within(60_000, 900_000);
            Millis(at)
        });
        let turns = turns.collect();
        let local_errors = random.one_in(2);
        Self { random, hosts, dead, turns, local_errors }
    }

    fn is_down(&self, now: Millis) -> bool {
        self.turns.iter().filter(|turn| **turn <= now).count() % 2 == 1
    }

    /// How a try that ends now ends.
    fn try_one(&mut self, host: u64, now: Millis) -> Evidence {
        match (self.is_down(now), self.local_errors) {
            (true, true) => NoWayOut,
            (true, false) => Silence,
            (false, _) if host < self.dead => Silence,
            (false, _) => Life,
        }
    }
}

#[test]
fn in_any_world_the_living_are_spared_and_the_dead_are_blamed() {
    for seed in 0..300 {
        let mut world = World::new(seed);
        let mut outage = outage();
        let mut doubts: Vec<(u64, Doubt)> = Vec::new();
        let (mut blamed_dead, mut tries_dead) = (0, 0);
        let mut now = Millis(0);
        let mut last_life = Millis(0);
        while now < Millis(4_000_000) {
            now = now.after(world.random.within(50, 2_500));
            let down = world.is_down(now);
            if outage.next_probe().is_none_or(|next| next <= now) {
                let host = world.random.below(world.hosts);
                let evidence = world.try_one(host, now);
                outage.probe(host, now);
                tries_dead += u64::from(host < world.dead && !down);
                if evidence == Life {
                    last_life = now;
                }
                match outage.note(host, evidence, now) {
                    Some(doubt) => doubts.push((host, doubt)),
                    None => blamed_dead += u64::from(evidence != Life),
                }
            }
            doubts.retain(|(host, doubt)| match outage.decide(*doubt, now) {
                Decision::Open(at) => {
                    assert!(at > now, "seed {seed}: asked again in vain");
                    assert!(now.since(doubt.since) < 30_000, "seed {seed}: OUTAGE-3");
                    true
                }
                Decision::Blame => {
                    blamed_dead += u64::from(*host < world.dead);
                    false
                }
                Decision::Spare => false,
            });
            if now.since(last_life) < 3_000 && !down {
                assert!(outage.offline_since().is_none(), "seed {seed} at {}: OUTAGE-1", now.0);
            }
            let silent = world.hosts.min(world.dead);
            if silent < 4 && world.turns.is_empty() {
                assert!(outage.offline_since().is_none(), "seed {seed}: OUTAGE-2");
            }
        }
        let living = world.hosts > world.dead;
        if living && world.turns.is_empty() && tries_dead > 50 {
            assert!(blamed_dead > 0, "seed {seed}: {tries_dead} tries, nobody blamed");
        }
        let steady_ms = now.since(*world.turns.last().unwrap_or(&Millis(0)));
        if living && world.dead < 4 && !world.is_down(now) && steady_ms > 900_000 {
            assert!(outage.offline_since().is_none(), "seed {seed}: it is back");
        }
    }
}

#[test]
fn a_long_outage_of_many_hosts_costs_none_of_them_anything() {
    for seed in 0..100 {
        let mut random = Random(seed);
        let mut outage = outage();
        let hosts = random.within(8, 60);
        for second in 0..30 {
            outage.note(second % hosts, Life, Millis(second * 1_000));
        }
        // Everything in flight times out within a few seconds of each other.
        let mut doubts = Vec::new();
        for host in 0..hosts {
            let at = Millis(40_000 + random.below(5_000));
            doubts.push((at, host));
        }
        doubts.sort_unstable();
        let doubts: Vec<Doubt> = doubts
            .into_iter()
            .map(|(at, host)| outage.note(host, Silence, at).expect("in doubt, not blamed"))
            .collect();
        for doubt in doubts {
            assert_eq!(outage.decide(doubt, Millis(46_000)), Decision::Spare, "seed {seed}");
        }
    }
}
