//! The bench, rule by rule. What holds at every step of a long run is proved in `simulation`.

use std::net::Ipv4Addr;

use super::*;
use crate::FailureClass;

const PACE: Pace = Pace {
    delay_ms: 1_000,
    address_gap_ms: 250,
    address_connections_max: 2,
    response_factor: 0,
    adaptive_max_ms: 30_000,
    rate: None,
};

const ANSWERED: End = End::Answered { response_ms: 10 };

fn address(number: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from(number))
}

/// A bench with one new host per address given, numbered from 0.
fn bench(pace: Pace, addresses: &[u32]) -> Workbench {
    let mut bench = Workbench::new(pace);
    for (host, &at) in (0..).map(HostKey).zip(addresses) {
        bench.enter(host, address(at), HostPace::default());
    }
    bench
}

fn lease(bench: &mut Workbench, now: u64) -> Option<u64> {
    bench.lease(Millis(now)).map(|turn| turn.host.0)
}

fn settle(bench: &mut Workbench, host: u64, at: u64, end: End) -> HostPace {
    bench.settle(HostKey(host), Millis(at), end, &Limits::default()).1
}

/// One whole request, from `now` to `now`.
fn fetch(bench: &mut Workbench, host: u64, now: u64) {
    let at = bench.seats[&HostKey(host)].address;
    assert_eq!(lease(bench, now), Some(host));
    bench.sent(HostKey(host), Millis(now));
    let pace = settle(bench, host, now, ANSWERED);
    bench.enter(HostKey(host), at, pace);
}

fn next_due(bench: &Workbench, now: u64) -> Option<u64> {
    bench.next_due(Millis(now)).map(|due| due.0)
}

fn wait_of(bench: &Workbench, host: u64) -> Wait {
    bench.wait_of(HostKey(host)).expect("on the bench")
}

#[test]
fn a_leased_host_is_not_leased_again_and_cannot_leave() {
    let mut bench = bench(PACE, &[1]);
    assert_eq!(lease(&mut bench, 0), Some(0));
    assert_eq!(lease(&mut bench, 1_000_000), None);
    assert_eq!(bench.leave(HostKey(0)), None);
    assert_eq!(next_due(&bench, 0), None);
    assert_eq!((bench.len(), bench.leased_len()), (1, 1));
}

#[test]
fn hosts_of_other_addresses_do_not_wait_for_each_other() {
    let mut bench = bench(PACE, &[1, 2, 3]);
    let turns: Vec<_> = (0..4).map(|_| lease(&mut bench, 0)).collect();
    assert_eq!(turns, [Some(0), Some(1), Some(2), None]);
}

#[test]
fn a_host_that_answered_waits_for_its_delay_from_the_end() {
    let mut bench = bench(PACE, &[1]);
    fetch(&mut bench, 0, 5_000);
    assert_eq!(next_due(&bench, 5_000), Some(6_000));
    assert_eq!(lease(&mut bench, 5_999), None);
    assert_eq!(lease(&mut bench, 6_000), Some(0));
}

#[test]
fn an_unsent_request_keeps_its_address_to_itself() {
    let mut bench = bench(PACE, &[1, 1]);
    assert_eq!(lease(&mut bench, 0), Some(0));
    assert_eq!((lease(&mut bench, 9_000), next_due(&bench, 9_000)), (None, None));
    bench.sent(HostKey(0), Millis(9_100));
    assert_eq!(next_due(&bench, 9_100), Some(9_350));
    assert_eq!(lease(&mut bench, 9_349), None);
    assert_eq!(lease(&mut bench, 9_350), Some(1));
}

#[test]
fn an_address_has_only_so_many_connections() {
    let mut bench = bench(PACE, &[1, 1, 1]);
    for (host, now) in [(0, 0), (1, 250)] {
        assert_eq!(lease(&mut bench, now), Some(host));
        bench.sent(HostKey(host), Millis(now));
    }
    assert_eq!((lease(&mut bench, 9_000), next_due(&bench, 9_000)), (None, None));
    settle(&mut bench, 0, 9_000, ANSWERED);
    assert_eq!(lease(&mut bench, 9_000), Some(2));
}

#[test]
fn without_an_address_gap_only_the_connections_count() {
    let pace = Pace { address_gap_ms: 0, ..PACE };
    let mut bench = bench(pace, &[1, 1, 1]);
    let turns: Vec<_> = (0..3).map(|_| lease(&mut bench, 0)).collect();
    assert_eq!(turns, [Some(0), Some(1), None]);
}

#[test]
fn a_try_that_failed_before_it_was_sent_starts_the_gap_of_its_address() {
    let mut bench = bench(PACE, &[1, 1]);
    assert_eq!(lease(&mut bench, 0), Some(0));
    let end = End::Failed { class: FailureClass::ConnectTimeout, retry_after_ms: None };
    settle(&mut bench, 0, 10_000, end);
    assert_eq!(next_due(&bench, 10_000), Some(10_250));
}

#[test]
fn an_unused_lease_leaves_host_and_address_as_they_were() {
    let mut bench = bench(PACE, &[1, 1]);
    assert_eq!(lease(&mut bench, 100), Some(0));
    let pace = settle(&mut bench, 0, 120, End::Unused);
    assert_eq!(pace, HostPace::default());
    assert_eq!(lease(&mut bench, 120), Some(1));
}

#[test]
fn a_request_that_was_sent_and_then_dropped_still_costs_the_gap() {
    let mut bench = bench(PACE, &[1]);
    assert_eq!(lease(&mut bench, 0), Some(0));
    bench.sent(HostKey(0), Millis(5));
    let pace = settle(&mut bench, 0, 20, End::Unused);
    assert_eq!((pace.not_before, pace.rule), (Millis(1_020), WaitRule::Delay));
}

#[test]
fn newcomers_line_up_behind_hosts_that_are_due_already() {
    let mut bench = bench(PACE, &[1]);
    fetch(&mut bench, 0, 0);
    assert_eq!(lease(&mut bench, 999), None);
    bench.enter(HostKey(1), address(2), HostPace::default());
    bench.enter(HostKey(2), address(3), HostPace::default());
    let turns: Vec<_> = (0..3).map(|_| lease(&mut bench, 2_000)).collect();
    assert_eq!(turns, [Some(1), Some(2), Some(0)], "in the order of 999, 999, 1000");
    bench.enter(HostKey(3), address(4), HostPace::default());
    bench.enter(
        HostKey(4),
        address(5),
        HostPace { not_before: Millis(1_500), ..HostPace::default() },
    );
    assert_eq!(lease(&mut bench, 2_000), Some(3), "both were due when they entered");
}

#[test]
fn waiting_for_the_address_does_not_cost_a_host_its_place() {
    let mut bench = bench(PACE, &[1, 1]);
    fetch(&mut bench, 0, 0);
    assert_eq!(lease(&mut bench, 100), None);
    bench.enter(HostKey(2), address(2), HostPace::default());
    let turns = [lease(&mut bench, 250), lease(&mut bench, 250)];
    assert_eq!(turns, [Some(1), Some(2)], "host 1 was due first, though its address was not free");
}

/// What was due during the jump is not made up for: each host has one turn, and its full gap behind it.
#[test]
fn after_a_jump_of_the_clock_nobody_is_asked_twice_in_a_row() {
    let (mut bench, woken) = (bench(PACE, &[1, 2]), 8 * 3_600 * 1_000);
    fetch(&mut bench, 0, 0);
    assert_eq!(lease(&mut bench, 250), Some(1), "in flight while the machine sleeps");
    bench.sent(HostKey(1), Millis(250));
    fetch(&mut bench, 0, woken);
    assert_eq!(lease(&mut bench, woken + 999), None);
    let pace = settle(&mut bench, 1, woken, ANSWERED);
    bench.enter(HostKey(1), address(2), pace);
    assert_eq!(next_due(&bench, woken), Some(woken + 1_000));
    let turns = [lease(&mut bench, woken + 1_000), lease(&mut bench, woken + 1_000)];
    assert_eq!(turns, [Some(0), Some(1)]);
    assert_eq!(lease(&mut bench, woken + 9_000), None, "both are under way");
}

#[test]
fn a_hold_is_on_top_of_politeness_and_can_be_let_go() {
    let mut bench = bench(PACE, &[1]);
    fetch(&mut bench, 0, 0);
    bench.not_before(HostKey(0), Millis(u64::MAX), WaitRule::Retry);
    assert_eq!((wait_of(&bench, 0).rule, lease(&mut bench, 99_000)), (WaitRule::Retry, None));
    bench.not_before(HostKey(0), Millis(0), WaitRule::None);
    assert_eq!(
        (wait_of(&bench, 0).until, wait_of(&bench, 0).rule),
        (Millis(1_000), WaitRule::Delay)
    );
    assert_eq!(bench.leave(HostKey(0)).map(|pace| pace.not_before), Some(Millis(1_000)));
}

#[test]
fn a_new_delay_holds_at_once_for_those_who_wait() {
    let mut bench = bench(PACE, &[1, 2]);
    fetch(&mut bench, 0, 0);
    fetch(&mut bench, 1, 0);
    bench.set_pace(Pace { delay_ms: 5_000, ..PACE });
    assert_eq!(next_due(&bench, 0), Some(5_000));
    bench.set_host_delay(HostKey(1), Some(300));
    assert_eq!(next_due(&bench, 0), Some(300));
    bench.set_host_delay(HostKey(1), None);
    bench.set_pace(PACE);
    assert_eq!(next_due(&bench, 0), Some(1_000));
}

#[test]
fn a_delay_set_during_a_lease_holds_from_its_end() {
    let mut bench = bench(PACE, &[1]);
    assert_eq!(lease(&mut bench, 0), Some(0));
    bench.set_host_delay(HostKey(0), Some(7_000));
    assert_eq!(settle(&mut bench, 0, 10, ANSWERED).not_before, Millis(7_010));
}

#[test]
fn a_shorter_delay_does_not_cut_a_back_off_short() {
    let mut bench = bench(Pace { delay_ms: 60_000, ..PACE }, &[1]);
    assert_eq!(lease(&mut bench, 0), Some(0));
    let end = End::Failed { class: FailureClass::Unavailable, retry_after_ms: Some(20_000) };
    let pace = settle(&mut bench, 0, 0, end);
    bench.enter(HostKey(0), address(1), pace);
    bench.set_pace(PACE);
    assert!(next_due(&bench, 0) >= Some(20_000));
}

#[test]
fn the_crawl_delay_of_a_robots_txt_counts_for_the_first_page_after_it() {
    let mut bench = bench(PACE, &[1]);
    assert_eq!(lease(&mut bench, 0), Some(0));
    let mut pace = settle(&mut bench, 0, 100, ANSWERED);
    pace.crawl_delay_ms = Some(10_000);
    bench.enter(HostKey(0), address(1), pace);
    let wait = wait_of(&bench, 0);
    assert_eq!((wait.until, wait.rule), (Millis(10_100), WaitRule::CrawlDelay));
}

#[test]
fn a_wait_says_what_it_is_for() {
    let mut bench = bench(PACE, &[1, 1]);
    let (until, address_free) = (Millis(0), Millis(0));
    let own =
        Wait { until, rule: WaitRule::None, leased: false, address_waits: false, address_free };
    assert_eq!(wait_of(&bench, 1), own);
    assert_eq!(lease(&mut bench, 10), Some(0));
    assert_eq!(wait_of(&bench, 0), Wait { leased: true, ..own });
    assert_eq!(wait_of(&bench, 1), Wait { address_waits: true, ..own });
    bench.sent(HostKey(0), Millis(20));
    let address_free = Millis(20 + PACE.address_gap_ms);
    assert_eq!(wait_of(&bench, 1), Wait { address_waits: true, address_free, ..own });
    assert_eq!(bench.wait_of(HostKey(2)), None);
}

#[test]
fn the_rate_spaces_all_leases() {
    let rated = |rate| Pace { rate: Some(rate), ..PACE };
    let hosts: Vec<u32> = (0..100).collect();
    for (rate, within_ms, leases) in [(1, 2_000, 3), (3, 1_000, 4), (10, 500, 6), (2_500, 10, 28)] {
        let mut bench = bench(rated(rate), &hosts);
        let mut count = 0;
        while let Some(due) = next_due(&bench, 0).filter(|&due| due <= within_ms) {
            assert!(due == 0 || lease(&mut bench, due - 1).is_none(), "{rate} per second");
            assert!(lease(&mut bench, due).is_some(), "{rate} per second");
            count += 1;
        }
        assert_eq!(count, leases, "{rate} per second up to the end of millisecond {within_ms}");
    }
}

#[test]
fn a_rate_saves_nothing_up() {
    let mut bench = bench(Pace { rate: Some(1), ..PACE }, &[1, 2]);
    assert_eq!(lease(&mut bench, 60_000), Some(0));
    assert_eq!(next_due(&bench, 60_000), Some(61_000));
}

#[test]
fn an_unused_lease_gives_its_place_in_the_rate_back_unless_another_followed() {
    let mut bench = bench(Pace { rate: Some(1), ..PACE }, &[1, 2, 3, 4]);
    assert_eq!(lease(&mut bench, 5_000), Some(0));
    settle(&mut bench, 0, 5_010, End::Unused);
    assert_eq!(next_due(&bench, 5_010), Some(5_010));
    assert_eq!(lease(&mut bench, 5_010), Some(1));
    assert_eq!(lease(&mut bench, 6_010), Some(2));
    settle(&mut bench, 1, 6_020, End::Unused);
    assert_eq!(next_due(&bench, 6_020), Some(7_010));
}

#[test]
fn an_earlier_time_than_before_leases_nobody_too_soon() {
    let mut bench = bench(PACE, &[1, 1]);
    fetch(&mut bench, 0, 10_000);
    bench.not_before(HostKey(1), Millis(10_500), WaitRule::Retry);
    assert!(bench.addresses.first(Millis(10_500), &PACE).is_some());
    assert_eq!(lease(&mut bench, 10_499), None);
    assert_eq!(next_due(&bench, 9_000), Some(10_500));
    assert_eq!(lease(&mut bench, 10_500), Some(1));
}

#[test]
fn a_gap_outlives_the_last_host_of_its_address_and_then_the_address_is_forgotten() {
    let mut bench = bench(PACE, &[1]);
    assert_eq!(lease(&mut bench, 0), Some(0));
    bench.sent(HostKey(0), Millis(0));
    settle(&mut bench, 0, 100, ANSWERED);
    bench.enter(HostKey(1), address(1), HostPace::default());
    assert_eq!(next_due(&bench, 100), Some(250));
    assert!(bench.leave(HostKey(1)).is_some());
    assert_eq!((lease(&mut bench, 249), bench.addresses.len()), (None, 1));
    assert_eq!((lease(&mut bench, 250), bench.addresses.len()), (None, 0));
}

/// Who is leased when, until `end`, with hosts that answer after a while.
fn turns(bench: &mut Workbench, end: u64) -> Vec<(u64, u64)> {
    let (mut turns, mut now) = (Vec::new(), 0);
    while let Some(due) = next_due(bench, now).filter(|&due| due < end) {
        now = due;
        let turn = bench.lease(Millis(now)).expect("PACE-5");
        turns.push((now, turn.host.0));
        bench.sent(turn.host, Millis(now));
        let pace = settle(bench, turn.host.0, now + turn.host.0 % 7 * 100, ANSWERED);
        bench.enter(turn.host, turn.address, pace);
    }
    turns
}

#[test]
fn a_thousand_hung_hosts_cost_the_others_nothing() {
    let run = |hung: u32| {
        let mut bench = Workbench::new(PACE);
        for host in 0..hung {
            bench.enter(
                HostKey(10_000 + u64::from(host)),
                address(1_000 + host),
                HostPace::default(),
            );
        }
        while lease(&mut bench, 0).is_some() {}
        for host in 0..200 {
            bench.enter(HostKey(u64::from(host)), address(host / 3), HostPace::default());
        }
        let turns = turns(&mut bench, 60_000);
        (turns, bench.leased_len())
    };
    let (undisturbed, none) = run(0);
    let (disturbed, hung) = run(1_000);
    assert_eq!((none, hung), (0, 1_000));
    assert!(undisturbed.len() > 1_000 && disturbed == undisturbed);
}

#[test]
fn hung_hosts_hold_up_their_own_address_at_most() {
    let mut bench = bench(PACE, &[1, 1, 1, 2]);
    for (host, now) in [(0, 0), (3, 0), (1, 250)] {
        assert_eq!(lease(&mut bench, now), Some(host));
        bench.sent(HostKey(host), Millis(now));
    }
    let pace = settle(&mut bench, 3, 250, ANSWERED);
    bench.enter(HostKey(3), address(2), pace);
    assert_eq!(lease(&mut bench, 1_250), Some(3));
    assert_eq!(lease(&mut bench, 1_250), None);
}

#[test]
fn the_work_of_a_call_does_not_grow_with_the_bench() {
    for hosts in [100_u32, 10_000] {
        let addresses: Vec<u32> = (0..hosts).map(|host| host / 3).collect();
        let mut bench = bench(PACE, &addresses);
        let calls_per_turn = 4;
        let calls = turns(&mut bench, 20_000).len() as u64 * calls_per_turn + u64::from(hosts);
        let work = bench.addresses.list_operations;
        assert!(work <= 3 * calls, "{work} list operations in {calls} calls");
    }
}

#[test]
fn the_best_of_those_who_are_due_is_leased_and_of_equals_the_first_in_line() {
    let mut bench = bench(PACE, &[1, 2, 3, 4]);
    bench.not_before(HostKey(3), Millis(50), WaitRule::Retry);
    let mut best = |now, looks, ranks: [u8; 4]| {
        let turn = bench.lease_best(Millis(now), looks, |host| ranks[host.0 as usize]);
        turn.map(|turn| turn.host.0)
    };
    assert_eq!(best(0, 2, [5, 4, 1, 0]), Some(1), "nobody looks further, and host 3 is not due");
    assert_eq!(best(0, 9, [5, 4, 5, 0]), Some(0));
    assert_eq!(best(50, 9, [0, 0, 2, 1]), Some(3));
    assert_eq!(best(50, 9, [0, 0, 2, 1]), Some(2));
    assert_eq!(best(50, 9, [0; 4]), None);
}

#[test]
fn hosts_of_one_address_are_compared_and_its_gap_is_kept() {
    let mut bench = bench(PACE, &[1, 1, 2]);
    let mut best = |now| bench.lease_best(Millis(now), 9, |host| [2, 1, 3][host.0 as usize]);
    assert_eq!(best(0).map(|turn| turn.host.0), Some(1));
    assert_eq!(best(0).map(|turn| turn.host.0), Some(2), "the address of host 0 is taken");
    assert_eq!(best(0), None);
    bench.sent(HostKey(1), Millis(10));
    assert_eq!(next_due(&bench, 20), Some(260));
    assert!(bench.lease_best(Millis(259), 9, |_| 0).is_none());
    assert!(bench.lease_best(Millis(260), 9, |_| 0).is_some());
}
