//! The bench under a seeded storm, in virtual time: thousands of hosts on shared addresses, quick, slow,
//! broken, busy; coming and going, held and released, with paces changed live and restarts in between.
//!
//! Each step is an event for the [`Audit`], which proves BENCH-1 to BENCH-3 and PACE-1 to PACE-5 from
//! the events alone. The driver itself proves liveness: time always has somewhere to go, a lease at
//! `next_due` succeeds, and in the end all work is done. On failure the seed is printed.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use super::audit::{Audit, Event};
use super::{End, Health, HostKey, HostPace, Pace, Turn, WaitRule, Workbench};
use crate::random::Random;
use crate::{FailureClass, Limits, Millis};

/// Prints the seed when a test fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("the simulation failed with seed {}", self.0);
        }
    }
}

#[derive(Clone, Copy)]
enum Temper {
    Quick,
    Slow,
    Broken(FailureClass),
    Flaky(FailureClass),
    Busy,
}

#[derive(Clone, Copy, PartialEq)]
enum Where {
    Away,
    Idle,
    Leased,
    Done,
}

struct Host {
    address: IpAddr,
    temper: Temper,
    work: u64,
    pace: HostPace,
    place: Where,
}

#[derive(Clone, Copy)]
enum Act {
    Enter(usize),
    Send(usize),
    End(usize, End),
}

#[derive(Clone, Copy)]
struct Storm {
    seed: u64,
    hosts: u64,
    addresses: u64,
    work: u64,
    fetches_max: usize,
    disturbances: u64,
    scan_every: u64,
}

/// How often things happened, so that a test that meets nothing cannot pass.
#[derive(Debug, Default)]
struct Seen {
    answers: u64,
    retry_afters: u64,
    exclusions: u64,
    given_up: u64,
    restarts: u64,
    pace_changes: u64,
    unused: u64,
    addresses_most: usize,
}

struct Simulation {
    storm: Storm,
    random: Random,
    now: Millis,
    pace: Pace,
    limits: Limits,
    bench: Workbench,
    audit: Audit,
    hosts: Vec<Host>,
    acts: BTreeMap<(Millis, u64), Act>,
    acts_so_far: u64,
    disturbed: u64,
    seen: Seen,
}

impl Simulation {
    fn new(storm: Storm) -> Self {
        let limits = Limits::default();
        let mut random = Random(storm.seed);
        let pace = random_pace(&mut random);
        let hosts = (0..storm.hosts).map(|_| random_host(&mut random, storm)).collect();
        Self {
            storm,
            random,
            now: Millis(1_700_000_000_000),
            pace,
            limits: limits.clone(),
            bench: Workbench::new(pace),
            audit: Audit::new(pace, limits, storm.scan_every),
            hosts,
            acts: BTreeMap::new(),
            acts_so_far: 0,
            disturbed: 0,
            seen: Seen::default(),
        }
    }

    /// Until all work is done.
    fn run(mut self) -> Seen {
        for index in 0..self.hosts.len() {
            let later = self.random.below(20_000);
            self.plan(later, Act::Enter(index));
        }
        let mut steps = 0;
        while self.go_on() {
            self.act();
            self.lease_all();
            steps += 1;
            assert!(steps < 2_000_000, "the crawl does not end");
        }
        self.check_end();
        self.seen
    }

    /// Moves time to the next act or lease; false when there is none of either.
    fn go_on(&mut self) -> bool {
        let act = self.acts.keys().next().map(|&(time, _)| time);
        let room = self.bench.leased_len() < self.storm.fetches_max;
        let lease = self.bench.next_due(self.now).filter(|_| room);
        let Some(next) = [act, lease].into_iter().flatten().min() else {
            return false;
        };
        assert!(next >= self.now, "time goes forwards");
        self.now = next;
        if act.is_none_or(|act| act > next) {
            self.lease_one().expect("PACE-5: a lease at next_due");
        }
        true
    }

    fn check_end(&self) {
        assert!(self.bench.is_empty(), "BENCH-3: {} hosts are left", self.bench.len());
        let waiting = self.hosts.iter().filter(|host| host.place != Where::Done).count();
        assert_eq!(waiting, 0, "PACE-3: hosts with work that never got their turn");
    }

    fn plan(&mut self, later: u64, act: Act) {
        self.acts_so_far += 1;
        self.acts.insert((self.now.after(later), self.acts_so_far), act);
    }

    fn act(&mut self) {
        while let Some(entry) = self.acts.first_entry()
            && entry.key().0 <= self.now
        {
            match entry.remove() {
                Act::Enter(index) => self.enter(index),
                Act::Send(index) => self.send(index),
                Act::End(index, end) => self.settle(index, end),
            }
        }
    }

    fn enter(&mut self, index: usize) {
        let host = &mut self.hosts[index];
        if host.place != Where::Away {
            return;
        }
        host.place = Where::Idle;
        let (host, address, pace) = (key(index), host.address, host.pace.clone());
        self.bench.enter(host, address, pace.clone());
        self.audit.note(Event::Enter { host, address, pace });
    }

    fn lease_all(&mut self) {
        while self.bench.leased_len() < self.storm.fetches_max {
            if self.lease_one().is_none() {
                let next_due = self.bench.next_due(self.now);
                self.audit.check_next_due(self.now, next_due);
                return self.disturb();
            }
        }
    }

    fn lease_one(&mut self) -> Option<Turn> {
        let turn = self.bench.lease(self.now);
        self.audit.note(Event::Lease { now: self.now, turn });
        self.seen.addresses_most = self.seen.addresses_most.max(self.bench.addresses.len());
        if let Some(turn) = turn {
            self.fetch(index(turn.host));
        }
        turn
    }

    /// Decides how a lease will go.
    fn fetch(&mut self, index: usize) {
        self.hosts[index].place = Where::Leased;
        let sending = self.random.below(60);
        if self.random.one_in(20) {
            if self.random.one_in(4) {
                self.plan(sending, Act::Send(index));
            }
            return self.plan(sending + 5, Act::End(index, End::Unused));
        }
        let (end, takes) = self.answer(self.hosts[index].temper);
        let connects = !matches!(end, End::Failed { class, .. } if class.is_connection_level());
        if connects {
            self.plan(sending, Act::Send(index));
        }
        self.plan(sending + takes, Act::End(index, end));
    }

    fn answer(&mut self, temper: Temper) -> (End, u64) {
        let random = &mut self.random;
        let failed = |class, retry_after_ms| End::Failed { class, retry_after_ms };
        let quick = random.within(1, 300);
        let answered = |response_ms| (End::Answered { response_ms }, response_ms);
        match temper {
            Temper::Slow => answered(random.within(1_000, 20_000)),
            Temper::Broken(class) => (failed(class, None), quick),
            Temper::Flaky(class) if random.one_in(2) => (failed(class, None), quick),
            Temper::Busy if random.one_in(2) => {
                let class =
                    random.pick(&[FailureClass::TooManyRequests, FailureClass::Unavailable]);
                let asked = random.pick(&[None, Some(10), Some(45_000), Some(u64::MAX)]);
                (failed(class, asked), quick)
            }
            _ => answered(quick),
        }
    }

    fn send(&mut self, index: usize) {
        let (host, at) = (key(index), self.now);
        self.bench.sent(host, at);
        self.audit.note(Event::Sent { host, at });
    }

    fn settle(&mut self, index: usize, end: End) {
        let (host, at) = (key(index), self.now);
        let (health, pace) = self.bench.settle(host, at, end, &self.limits);
        self.audit.note(Event::Settle { host, at, end });
        self.hosts[index].pace = pace;
        self.count(index, end, health);
        self.after_settle(index, end, health);
    }

    fn count(&mut self, index: usize, end: End, health: Health) {
        let rule = self.hosts[index].pace.rule;
        self.seen.answers += u64::from(matches!(end, End::Answered { .. }));
        self.seen.unused += u64::from(end == End::Unused);
        self.seen.retry_afters += u64::from(rule == WaitRule::RetryAfter);
        self.seen.exclusions += u64::from(matches!(rule, WaitRule::Excluded(_)));
        self.seen.given_up += u64::from(health != Health::Goes);
    }

    fn after_settle(&mut self, index: usize, end: End, health: Health) {
        let done = matches!(end, End::Answered { .. }) || self.random.one_in(6);
        let crawl_delay = self.random.one_in(50).then(|| self.random.within(500, 15_000));
        let later = self.random.pick(&[0, 0, 0, 0, 0, 400, 9_000]);
        let host = &mut self.hosts[index];
        host.work -= u64::from(done && host.work > 0);
        host.pace.crawl_delay_ms = crawl_delay.or(host.pace.crawl_delay_ms);
        if health != Health::Goes || host.work == 0 {
            host.place = Where::Done;
        } else {
            host.place = Where::Away;
            self.plan(later, Act::Enter(index));
        }
    }

    /// Something that the bench cannot foresee, now and then.
    fn disturb(&mut self) {
        if self.disturbed == self.storm.disturbances || !self.random.one_in(4) {
            return;
        }
        self.disturbed += 1;
        let below = self.hosts.len() as u64;
        let index = index(HostKey(self.random.below(below)));
        match self.random.below(100) {
            0..25 => self.leave(index),
            25..55 => self.hold(index),
            55..80 => self.set_host_delay(index),
            80..94 => self.more_work(index),
            94..98 => self.set_pace(),
            _ => self.restart(),
        }
    }

    fn leave(&mut self, index: usize) {
        let pace = self.bench.leave(key(index));
        let idle = self.hosts[index].place == Where::Idle;
        assert_eq!(pace.is_some(), idle, "BENCH-3: who is idle can leave, and nobody else");
        if let Some(pace) = pace {
            self.audit.note(Event::Leave { host: key(index) });
            self.hosts[index].pace = pace;
            self.hosts[index].place = Where::Away;
            let later = self.random.below(30_000);
            self.plan(later, Act::Enter(index));
        }
    }

    fn hold(&mut self, index: usize) {
        let later = self.random.pick(&[0, 0, 700, 20_000, 120_000]);
        let (host, until) = (key(index), self.now.after(later));
        self.bench.not_before(host, until, WaitRule::Retry);
        if self.hosts[index].place == Where::Idle {
            self.audit.note(Event::Hold { host, until });
        }
    }

    fn set_host_delay(&mut self, index: usize) {
        let (host, delay_ms) = (key(index), self.random.pick(&[None, Some(0), Some(6_000)]));
        self.bench.set_host_delay(host, delay_ms);
        if matches!(self.hosts[index].place, Where::Away | Where::Done) {
            self.hosts[index].pace.delay_ms = delay_ms;
        }
        self.audit.note(Event::SetHostDelay { host, delay_ms });
    }

    fn more_work(&mut self, index: usize) {
        if self.hosts[index].place == Where::Done && self.hosts[index].pace.failures == 0 {
            self.hosts[index].work += self.random.within(1, 3);
            self.hosts[index].place = Where::Away;
            self.enter(index);
        }
    }

    fn set_pace(&mut self) {
        self.seen.pace_changes += 1;
        self.pace = random_pace(&mut self.random);
        self.bench.set_pace(self.pace);
        self.audit.note(Event::SetPace(self.pace));
    }

    /// A crash: what was in flight is lost, and the paces of its hosts are as before.
    fn restart(&mut self) {
        self.seen.restarts += 1;
        let paces: Vec<_> =
            self.bench.hosts().map(|(host, pace, _)| (index(host), pace.clone())).collect();
        for (index, pace) in paces {
            self.hosts[index].pace = pace;
            self.hosts[index].place = Where::Away;
        }
        self.bench = Workbench::new(self.pace);
        self.now = self.now.after(self.random.within(1_000, 5_000));
        self.audit.note(Event::Restart { now: self.now, hosts: self.storm.hosts });
        self.acts.clear();
        for index in 0..self.hosts.len() {
            self.hosts[index].pace.after_restart(self.now, &self.pace);
            self.enter(index);
        }
    }
}

fn key(index: usize) -> HostKey {
    HostKey(index as u64)
}

fn index(host: HostKey) -> usize {
    usize::try_from(host.0).expect("a host's number is its index")
}

fn random_pace(random: &mut Random) -> Pace {
    Pace {
        delay_ms: random.pick(&[0, 200, 1_000, 5_000]),
        address_gap_ms: random.pick(&[0, 50, 250, 800]),
        address_connections_max: random.pick(&[1, 2, 4]),
        response_factor: random.pick(&[0, 2, 10]),
        adaptive_max_ms: 30_000,
        rate: random.pick(&[None, None, Some(150), Some(3_000)]),
    }
}

/// A few addresses are crowded, as those of large hosting companies are.
fn random_host(random: &mut Random, storm: Storm) -> Host {
    let crowded = random.one_in(3);
    let addresses = if crowded { 10 } else { storm.addresses };
    let number = u32::try_from(random.below(addresses)).expect("small");
    let address = IpAddr::V4(Ipv4Addr::from(0x0A00_0000 + number));
    let class = random.pick(&FailureClass::ALL);
    let temper = match random.below(20) {
        0..10 => Temper::Quick,
        10..13 => Temper::Slow,
        13..15 => Temper::Broken(class),
        15..18 => Temper::Flaky(class),
        _ => Temper::Busy,
    };
    Host {
        address,
        temper,
        work: random.within(1, storm.work),
        pace: HostPace::default(),
        place: Where::Away,
    }
}

fn weather(storm: Storm) {
    let _seed = Seed(storm.seed);
    let seen = Simulation::new(storm).run();
    println!("seed {}: {seen:?}", storm.seed);
    assert!(seen.answers > storm.hosts, "{seen:?}");
    assert!(seen.retry_afters > 0 && seen.given_up > 0 && seen.unused > 0, "{seen:?}");
    assert!(seen.restarts > 0 && seen.pace_changes > 0, "{seen:?}");
}

#[test]
fn every_invariant_holds_at_every_step_of_small_storms() {
    for seed in 1..=12 {
        weather(Storm {
            seed,
            hosts: 120,
            addresses: 60,
            work: 8,
            fetches_max: 40,
            disturbances: 400,
            scan_every: 1,
        });
    }
}

#[test]
fn every_invariant_holds_in_storms_of_thousands_of_hosts() {
    for seed in 101..=103 {
        weather(Storm {
            seed,
            hosts: 3_000,
            addresses: 1_500,
            work: 5,
            fetches_max: 256,
            disturbances: 400,
            scan_every: 61,
        });
    }
}
