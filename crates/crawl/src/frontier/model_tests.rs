//! The frontier on disk against the one in memory: the same random life, the same answers, and a crash
//! at every write.
//!
//! Time is a number, chance is seeded, names and servers are made up. Whatever the disk leases, the
//! model must lease to that host at that moment too, the very same item; and, unless memory is scarce,
//! when the disk has nothing, the model has nothing either.

mod order;
mod web;
mod world;
mod worth;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use larm_core::url::CrawlUrl;
use larm_core::via::Via;
use larm_core::workbench::{End, Pace};
use larm_core::{Failure, FailureClass, Limits, Millis, Outcome};

use self::web::Web;
use self::world::{Rules, World};
use super::{
    Budgets, Candidate, DiskFrontier, Errand, Fate, Frontier, Learnt, Lease, Located, PageRow,
    Settlement, Turn,
};
use crate::disk::faulty::Fault;

/// Small blocks and little memory per host, so that queues spill to disk.
fn limits() -> Limits {
    Limits {
        queue_block_urls_max: 3,
        host_urls_memory_max: 5,
        log_segment_bytes_max: 4_000,
        log_record_bytes_max: 700,
        ..Limits::default()
    }
}

#[test]
fn the_frontier_on_disk_answers_as_the_one_in_memory() {
    for seed in 0..10 {
        let limits = Limits { host_urls_max: 25, host_origins_max: 2, ..limits() };
        let mut world = World::new(
            seed,
            limits,
            Rules { crashes: false, paces: true, exact: true, ordered: false },
        );
        (0..700).for_each(|_| world.step());
        world.finish();
    }
}

#[test]
fn a_crash_goes_back_to_the_last_commit_and_loses_nothing() {
    let mut moves = 0;
    for seed in (100..110).chain([195]) {
        let mut world = World::new(
            seed,
            limits(),
            Rules { crashes: true, paces: false, exact: true, ordered: false },
        );
        (0..250).for_each(|_| world.step());
        world.prosper();
        (0..250).for_each(|_| world.step());
        world.finish();
        moves += world.moves;
    }
    assert!(moves > 100, "only {moves} URLs were not worth their turn");
}

#[test]
fn with_room_for_three_hosts_all_hosts_are_served() {
    for seed in (200..208).chain([255]) {
        let limits = Limits { hosts_memory_max: 3, ..limits() };
        let mut world = World::new(
            seed,
            limits,
            Rules { crashes: true, paces: false, exact: false, ordered: false },
        );
        (0..250).for_each(|_| world.step());
        world.prosper();
        (0..250).for_each(|_| world.step());
        world.finish();
    }
}

#[test]
fn hosts_that_come_from_disk_drop_what_they_have_no_room_for() {
    let mut sheds = 0;
    for seed in 400..412 {
        let limits = Limits { host_urls_max: 9, host_origins_max: 2, ..scarce(2) };
        let mut world = World::new(
            seed,
            limits,
            Rules { crashes: true, paces: false, exact: false, ordered: false },
        );
        (0..500).for_each(|_| world.step());
        world.finish();
        sheds += world.sheds;
    }
    assert!(sheds > 30, "only {sheds} URLs had no room");
}

#[test]
fn arrivals_beyond_their_maximum_are_sorted_out_to_their_hosts() {
    for seed in 500..508 {
        let limits = Limits { arrivals_bytes_max: 300, ..scarce(1) };
        let mut world = World::new(
            seed,
            limits,
            Rules { crashes: true, paces: false, exact: false, ordered: false },
        );
        (0..500).for_each(|_| world.step());
        world.finish();
    }
}

#[test]
fn pages_that_are_taken_by_worth_are_taken_once_and_none_is_lost() {
    let mut by_worth = 0;
    for seed in 600..612 {
        let mut limits = limits();
        // Every other time, most hosts are on disk.
        limits.hosts_memory_max = if seed % 2 == 0 { 3 } else { limits.hosts_memory_max };
        limits.order_pages_max = if seed % 3 == 0 { 12 } else { limits.order_pages_max };
        let exact = seed % 2 == 1;
        let rules = Rules { crashes: true, paces: false, exact, ordered: true };
        let mut world = World::new(seed, limits, rules);
        (0..250).for_each(|_| world.step());
        world.prosper();
        (0..250).for_each(|_| world.step());
        world.finish();
        by_worth += world.by_worth;
    }
    assert!(by_worth > 300, "only {by_worth} pages came before others that were there first");
}

#[test]
fn the_power_may_fail_at_every_single_write_while_pages_are_taken_by_worth() {
    fail_at_every_write(&limits(), Rules { ordered: true, ..STEADY });
}

#[test]
fn the_power_may_fail_at_every_single_write() {
    fail_at_every_write(&limits(), STEADY);
}

#[test]
fn the_power_may_fail_at_every_single_write_with_most_hosts_on_disk() {
    let limits = Limits { host_urls_max: 9, arrivals_bytes_max: 600, ..scarce(2) };
    fail_at_every_write(&limits, Rules { exact: false, ..STEADY });
}

/// Nothing goes wrong by itself.
const STEADY: Rules = Rules { crashes: false, paces: false, exact: true, ordered: false };

fn fail_at_every_write(limits: &Limits, rules: Rules) {
    let mut writes = 0;
    for at in 0.. {
        let mut world = World::new(300, limits.clone(), rules);
        world.disk.fail_at(at, Fault::PowerOff);
        (0..180).for_each(|_| world.step());
        if world.crashes == 0 {
            break;
        }
        writes = at + 1;
        world.finish();
    }
    assert!(writes > 30, "only {writes} writes were tried");
}

/// Room for so few hosts that most are on disk.
fn scarce(hosts_memory_max: u64) -> Limits {
    Limits { hosts_memory_max, ..limits() }
}

/// A frontier in a directory of its own, and a clock.
struct Bench {
    dir: tempfile::TempDir,
    limits: Arc<Limits>,
    frontier: Option<DiskFrontier>,
    now: Millis,
}

impl Bench {
    fn new(limits: Limits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut bench =
            Self { dir, limits: Arc::new(limits), frontier: None, now: Millis(1_000_000) };
        bench.open();
        bench
    }

    /// Ends as a crash does, and opens again.
    fn open(&mut self) {
        drop(self.frontier.take());
        let opened =
            DiskFrontier::open(self.dir.path(), &self.limits, Pace::default(), self.now).unwrap();
        self.frontier = Some(opened.frontier);
    }

    fn frontier(&mut self) -> &mut DiskFrontier {
        self.frontier.as_mut().unwrap()
    }

    fn offer(&mut self, urls: &[&str]) {
        let candidates = urls.iter().map(|url| page(url)).collect();
        self.frontier().offer(candidates).unwrap();
    }

    fn commit(&mut self) {
        if let Some(sealed) = self.frontier().seal(Vec::new()).unwrap() {
            sealed.sync().unwrap();
        }
    }

    fn checkpoint(&mut self) {
        self.commit();
        let now = self.now;
        self.frontier().checkpoint(now).unwrap();
    }

    /// Answers all look-ups, and says whose they were.
    fn look_up_all(&mut self) -> Vec<Box<str>> {
        let now = self.now;
        let mut names = Vec::new();
        while let Some(nameless) = self.frontier().nameless(now) {
            let answer = Ok(Located::at(web::address(&nameless.name), 60_000));
            self.frontier().named(nameless.host, answer, now).unwrap();
            names.push(nameless.name);
        }
        names
    }

    fn lease(&mut self) -> Option<Lease> {
        self.look_up_all();
        let now = self.now;
        self.frontier().lease(now).unwrap()
    }

    /// The same, waiting until there is one.
    fn lease_in_time(&mut self) -> Lease {
        for _ in 0..1_000 {
            if let Some(lease) = self.lease() {
                return lease;
            }
            let now = self.now;
            if self.frontier().wants_checkpoint(now) {
                self.checkpoint();
                continue;
            }
            self.now = self.frontier().next_due(now).unwrap_or(now).max(now.after(100));
        }
        panic!("nothing is ever leased");
    }

    fn settle(&mut self, lease: Lease, settlement: Settlement) {
        self.frontier().settle(lease, settlement).unwrap();
    }

    fn done(&mut self, lease: Lease) {
        let settlement = done(&lease, self.now);
        self.settle(lease, settlement);
    }
}

fn page(url: &str) -> Candidate {
    Candidate {
        url: CrawlUrl::from_canonical(url).unwrap(),
        depth: 0,
        via: Via::Seed,
        parent: None,
        redirects: 0,
        errand: Errand::Page,
    }
}

fn robots_errand(url: &str, origin: &str) -> Candidate {
    Candidate { errand: Errand::Robots { origin: origin.into(), hops: 1 }, ..page(url) }
}

fn done(lease: &Lease, at: Millis) -> Settlement {
    let row = web::row(lease, Outcome::Fetched { status: 200 }, at);
    Settlement {
        end: End::Answered { response_ms: 1 },
        ..Settlement::unused(at, Fate::Done(Box::new(row)))
    }
}

/// The robots.txt of the lease's origin redirects to `url`.
fn elsewhere(lease: &Lease, url: &str, at: Millis) -> Settlement {
    let origin = lease.url().origin();
    Settlement {
        end: End::Answered { response_ms: 1 },
        robots: Some(Learnt::Elsewhere { origin: origin.into() }),
        offers: vec![robots_errand(url, origin)],
        ..Settlement::unused(at, Fate::Back)
    }
}

#[test]
fn a_host_that_only_the_log_knows_waits_a_full_gap_after_a_crash() {
    let mut bench = Bench::new(limits());
    bench.offer(&["http://a.test/1", "http://a.test/2"]);
    bench.commit();
    let lease = bench.lease().unwrap();
    let now = bench.now;
    bench.frontier().sent(lease.host(), now);
    bench.open();
    assert!(bench.lease().is_none(), "the request of before the crash may have just ended");
    bench.now = bench.now.after(1_000);
    assert!(bench.lease().is_some());
}

#[test]
fn a_memory_full_of_hosts_that_wait_makes_room_for_others() {
    let mut bench = Bench::new(Limits { hosts_memory_max: 2, ..limits() });
    bench.offer(&["http://a.test/1", "http://b.test/1", "http://c.test/1"]);
    let far = bench.now.after(3_600_000);
    for _ in 0..2 {
        let lease = bench.lease_in_time();
        let again = Settlement::unused(bench.now, Fate::Again(far));
        bench.settle(lease, again);
    }
    bench.checkpoint();
    let lease = bench.lease_in_time();
    assert!(bench.now < far, "{} was served only when the others were", lease.url());
}

#[test]
fn a_finished_host_in_memory_makes_room_without_anything_being_settled() {
    let mut bench = Bench::new(Limits { hosts_memory_max: 2, ..limits() });
    let urls = ["http://a.test/1", "http://b.test/1", "http://c.test/1", "http://d.test/1"];
    bench.offer(&urls);
    bench.checkpoint();
    for _ in 0..urls.len() {
        let lease = bench.lease_in_time();
        bench.done(lease);
    }
    assert!(bench.frontier().is_done() && bench.frontier().waiting() == 0);
}

#[test]
fn a_link_to_a_full_host_on_disk_does_not_keep_it_there() {
    let mut bench = Bench::new(Limits { hosts_memory_max: 1, host_urls_max: 2, ..limits() });
    bench.offer(&["http://a.test/1", "http://a.test/2", "http://b.test/1", "http://b.test/2"]);
    bench.checkpoint();
    bench.offer(&["http://a.test/3", "http://b.test/3"]);
    for _ in 0..4 {
        let lease = bench.lease_in_time();
        bench.done(lease);
    }
    assert_eq!(bench.frontier().totals().rejected.get("host-full"), Some(&2));
    assert!(bench.frontier().is_done() && bench.frontier().waiting() == 0);
}

#[test]
fn what_had_no_room_is_counted_after_a_crash_too() {
    let mut bench = Bench::new(Limits { host_urls_max: 2, ..limits() });
    bench.offer(&["http://a.test/1", "http://a.test/2", "http://a.test/3"]);
    let lease = bench.lease().unwrap();
    let offers = vec![page("http://a.test/4")];
    let settlement = Settlement { offers, ..done(&lease, bench.now) };
    bench.settle(lease, settlement);
    bench.commit();
    bench.open();
    assert_eq!(bench.frontier().totals().rejected.get("host-full"), Some(&2));
    assert_eq!(bench.frontier().waiting(), 1);
}

#[test]
fn limits_that_were_lowered_since_lose_nothing_of_the_log() {
    let mut bench = Bench::new(limits());
    let urls = ["http://a.test/1", "https://a.test/1", "http://a.test:81/1", "http://a.test:82/1"];
    bench.offer(&urls);
    bench.commit();
    bench.limits = Arc::new(Limits { host_origins_max: 1, host_urls_max: 1, ..limits() });
    bench.open();
    for _ in urls {
        let lease = bench.lease_in_time();
        bench.done(lease);
    }
    assert!(bench.frontier().is_done() && bench.frontier().waiting() == 0);
}

#[test]
fn a_batch_beyond_the_logs_record_is_committed_as_a_whole() {
    let mut bench = Bench::new(limits());
    let urls: Vec<String> = (0..500).map(|i| format!("http://h{}.test/{i}", i % 7)).collect();
    bench.offer(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    bench.commit();
    bench.open();
    assert_eq!(bench.frontier().waiting_urls().len(), 500);
}

#[test]
fn many_seeds_are_checkpointed_while_they_come() {
    let mut bench =
        Bench::new(Limits { checkpoint_changes_max: 50, hosts_memory_max: 5, ..limits() });
    for i in 0..400 {
        bench.offer(&[&format!("http://h{i}.test/")]);
        if bench.frontier().wants_checkpoint(Millis(0)) {
            bench.frontier().checkpoint(Millis(0)).unwrap();
        }
    }
    bench.open();
    assert!(bench.frontier().waiting() >= 350, "what was checkpointed is there");
    let hosts = bench.frontier().status(Millis(0), 1_000).hosts.len();
    assert!(hosts <= 55, "{hosts} hosts in memory");
}

#[test]
fn an_over_budget_host_still_runs_errands_for_others() {
    let mut bench = Bench::new(limits());
    let budgets = Budgets { host_pages_max: Some(1), ..Budgets::default() };
    bench.frontier().set_budgets(budgets).unwrap();
    bench.offer(&["http://a.test/1", "http://a.test/2"]);
    let lease = bench.lease_in_time();
    bench.done(lease);
    assert!(bench.frontier().is_done(), "a.test has had its page");
    bench.offer(&["http://b.test/1"]);
    let lease = bench.lease_in_time();
    let settlement = elsewhere(&lease, "http://a.test/robots.txt", bench.now);
    bench.settle(lease, settlement);
    assert!(!bench.frontier().is_done());
    let errand = bench.lease_in_time();
    assert_eq!(errand.url().as_str(), "http://a.test/robots.txt");
}

#[test]
fn the_end_waits_for_an_errand_that_is_being_given_up() {
    let mut bench = Bench::new(limits());
    bench.offer(&["http://b.test/1"]);
    let lease = bench.lease_in_time();
    let settlement = elsewhere(&lease, "http://gone.test/robots.txt", bench.now);
    bench.settle(lease, settlement);
    let now = bench.now;
    let nameless = bench.frontier().nameless(now).unwrap();
    let forbidden = Failure::new(FailureClass::ForbiddenAddress, "");
    bench.frontier().named(nameless.host, Err(forbidden), now).unwrap();
    let errand = bench.lease().unwrap();
    assert!(matches!(errand.turn(), Turn::GivenUp(_)));
    assert!(!bench.frontier().is_done(), "b.test waits for the news");
    bench.settle(errand, Settlement::unused(now, Fate::Errand));
    assert!(!bench.frontier().is_done(), "b.test goes on");
    assert_eq!(bench.lease_in_time().url().as_str(), "http://b.test/1");
}

#[test]
fn an_errand_that_is_settled_without_an_answer_or_refused_frees_its_origin() {
    for refused in [false, true] {
        let mut bench = Bench::new(Limits { host_urls_max: 1, ..limits() });
        if refused {
            bench.offer(&["http://full.test/1"]);
            let lease = bench.lease_in_time();
            let far = Fate::Again(bench.now.after(3_600_000));
            let later = Settlement::unused(bench.now, far);
            bench.settle(lease, later);
        }
        bench.offer(&["http://b.test/1"]);
        let lease = bench.lease_in_time();
        let settlement = elsewhere(&lease, "http://full.test/robots.txt", bench.now);
        bench.settle(lease, settlement);
        if !refused {
            let errand = bench.lease_in_time();
            bench.done(errand);
        }
        assert_eq!(bench.lease_in_time().url().as_str(), "http://b.test/1", "{refused}");
    }
}

#[test]
fn next_due_does_not_promise_a_look_up_when_all_are_in_use() {
    let mut bench = Bench::new(Limits { dns_lookups_max: 2, ..limits() });
    bench.offer(&["http://a.test/1", "http://b.test/1", "http://c.test/1"]);
    let now = bench.now;
    let one = bench.frontier().nameless(now).unwrap();
    assert_eq!(bench.frontier().next_due(now), Some(Millis(0)));
    bench.frontier().nameless(now).unwrap();
    assert_eq!(bench.frontier().next_due(now), None);
    bench.frontier().named(one.host, Ok(Located::at(web::address("a"), 1)), now).unwrap();
    assert!(bench.frontier().next_due(now).is_some());
}

#[test]
fn the_longest_crawl_delay_of_a_hosts_origins_is_kept() {
    let mut bench = Bench::new(limits());
    bench.offer(&["http://a.test/1", "https://a.test/1"]);
    for delay in [Some(30_000), None] {
        let lease = bench.lease_in_time();
        let learnt = web::rules(lease.url().origin(), delay, bench.now);
        let settlement = Settlement { robots: Some(learnt), ..done(&lease, bench.now) };
        bench.settle(lease, settlement);
    }
    bench.offer(&["http://a.test/2"]);
    let before = bench.now;
    bench.lease_in_time();
    assert!(bench.now >= before.after(30_000));
}

#[test]
fn a_host_keeps_its_place_in_line_when_more_is_offered_to_it() {
    let mut bench = Bench::new(limits());
    bench.offer(&["http://a.test/1", "http://b.test/1"]);
    let in_line = bench.look_up_all();
    bench.offer(&[&format!("http://{}/2", in_line[0])]);
    assert_eq!(bench.lease().unwrap().url().host(), &*in_line[0]);
    assert_eq!(bench.lease().unwrap().url().host(), &*in_line[1]);
}

#[test]
fn a_host_on_disk_can_be_asked_about() {
    let mut bench = Bench::new(Limits { hosts_memory_max: 1, ..limits() });
    bench.offer(&["http://a.test/1", "http://b.test/1", "http://c.test/1"]);
    bench.checkpoint();
    for name in ["a.test", "b.test", "c.test"] {
        assert_eq!(bench.frontier().host_status(name, Millis(0)).unwrap().waiting, 1, "{name}");
    }
    assert!(bench.frontier().host_status("d.test", Millis(0)).is_none());
}
