//! No request without its turn: gaps per host and per address, robots.txt, waits that servers ask for.
//!
//! Judged by the web's own log, robots.txt and redirects included. The gap of a host is measured from
//! before the last bytes of an answer left the server to after the next head was read, so it never
//! looks shorter than it was for the client, and needs no slack. Starts at one address are stamped when
//! a request has been read, which on a busy machine may be long after it was sent: the distance of two
//! of them says little, and so the gap of an address is judged over all of its requests.

use std::collections::BTreeMap;
use std::net::IpAddr;

use larm_core::workbench::Pace;
use larm_crawl::{Plan, Summary};
use larm_testsite::{Features, Request, WebPlan, audit};

use crate::world::{World, assert_harmless, assert_none, assert_perfect, crawl};

/// How late the server may have read the first request of an address.
const LATE_MS: u64 = 500;

fn paced(world: &World, pace: Pace) -> Plan {
    Plan { pace, ..world.plan() }
}

#[track_caller]
fn assert_polite(world: &World, pace: Pace) {
    assert_none("requests that came too soon", hasty(world, pace));
    assert_none("addresses asked too fast", rushed(&world.site.requests(), pace));
    let most = audit::concurrency(&world.site.requests());
    let crowded = most.hosts.iter().filter(|(_, most)| most.requests > 1 || most.connections > 1);
    assert_none("hosts with two requests or connections at a time", crowded);
    let allowed = pace.address_connections_max as usize;
    let crowded = most.addresses.iter().filter(|(_, most)| most.requests > allowed);
    assert_none("addresses with too many requests at a time", crowded);
    assert_harmless(&world.audit());
}

/// Requests that came too soon after the last answer of their host.
pub fn hasty(world: &World, pace: Pace) -> Vec<audit::Hasty> {
    let due = audit::Pace { host_ms: pace.delay_ms, address_ms: 0, slack_ms: 0 };
    audit::hasty(&world.site.truth(), &world.site.requests(), due)
}

/// Addresses that got more requests than fit into the time from the first to the last of them.
pub fn rushed(requests: &[Request], pace: Pace) -> Vec<String> {
    let mut starts: BTreeMap<IpAddr, Vec<u64>> = BTreeMap::new();
    for request in requests {
        starts.entry(request.address).or_default().push(request.start_us / 1_000);
    }
    let rushed = starts.into_iter().filter_map(|(address, starts)| {
        let took = starts.iter().max()? - starts.iter().min()?;
        let due = (starts.len() as u64 - 1) * pace.address_gap_ms;
        let requests = starts.len();
        (took + LATE_MS < due).then(|| format!("{address}: {requests} requests in {took} ms"))
    });
    rushed.collect()
}

fn robots_requests(requests: &[Request]) -> usize {
    requests.iter().filter(|request| request.path == "/robots.txt").count()
}

#[test]
fn hosts_that_share_addresses_get_their_gaps_and_so_do_the_addresses() {
    let world = World::new(WebPlan {
        hosts: 6,
        pages_per_host: 6,
        hosts_per_address: 3,
        named_hosts: true,
        latency_ms: 20,
        ..WebPlan::default()
    });
    let pace = Pace { delay_ms: 300, address_gap_ms: 200, ..Pace::default() };
    crawl(paced(&world, pace));
    assert_polite(&world, pace);
    assert_perfect(&world.audit());
    assert_eq!(robots_requests(&world.site.requests()), 6, "one robots.txt for each host");
}

#[test]
fn an_address_with_many_slow_hosts_has_four_requests_at_a_time() {
    let world = World::new(WebPlan {
        hosts: 10,
        pages_per_host: 3,
        hosts_per_address: 10,
        named_hosts: true,
        latency_ms: 150,
        ..WebPlan::default()
    });
    let pace = Pace { delay_ms: 100, address_gap_ms: 0, ..Pace::default() };
    crawl(paced(&world, pace));
    assert_polite(&world, pace);
    assert_perfect(&world.audit());
    let most = world.audit().concurrency.addresses;
    let busiest = most.values().map(|most| most.requests).max();
    assert!(busiest > Some(1), "hosts of one address wait for each other: {most:?}");
}

#[test]
fn redirects_retries_and_odd_robots_files_are_paced_like_everything_else() {
    let features = Features {
        redirects: true,
        flaky: true,
        private: true,
        robots: true,
        sitemaps: true,
        ..Features::none()
    };
    let world = World::new(WebPlan {
        hosts: 2,
        pages_per_host: 4,
        hosts_per_address: 2,
        named_hosts: true,
        features,
        ..WebPlan::default()
    });
    let pace = Pace { delay_ms: 50, address_gap_ms: 100, ..Pace::default() };
    let summary: Summary = crawl(paced(&world, pace));
    assert_polite(&world, pace);
    assert_perfect(&world.audit());
    assert!(summary.redirects > 0 && summary.retries > 0 && summary.denied > 0, "{summary:?}");
}

#[test]
fn servers_that_break_off_are_not_asked_again_at_once() {
    let features = Features { hostile: true, closing: true, ..Features::none() };
    let world = World::new(WebPlan {
        hosts: 1,
        pages_per_host: 8,
        named_hosts: true,
        features,
        ..WebPlan::default()
    });
    let pace = Pace { delay_ms: 100, address_gap_ms: 0, ..Pace::default() };
    let mut plan = paced(&world, pace);
    plan.limits.body_bytes_max = 500_000;
    crawl(plan);
    // A kept connection that ends without a word is replaced at once (RFC 9112 section 9.3.1): from
    // here it looks the same whether the server had read the request or hung up before it came.
    let silent = |hasty: &audit::Hasty| hasty.url.contains("empty-reply.hostile.test");
    let hasty = hasty(&world, pace).into_iter().filter(|hasty| !silent(hasty));
    assert_none("requests that came too soon", hasty);
    assert_perfect(&world.audit());
}

#[test]
fn without_a_word_about_speed_it_is_one_request_a_second() {
    let world = World::new(WebPlan {
        hosts: 2,
        pages_per_host: 3,
        hosts_per_address: 2,
        named_hosts: true,
        ..WebPlan::default()
    });
    crawl(paced(&world, Pace::default()));
    let second = Pace { delay_ms: 1_000, address_gap_ms: 250, ..Pace::default() };
    assert_polite(&world, second);
    assert_perfect(&world.audit());
}

#[test]
fn a_delay_of_its_own_holds_for_a_host() {
    let world = World::new(WebPlan { hosts: 2, pages_per_host: 4, ..WebPlan::default() });
    let slow = "127.1.0.2".to_owned();
    let host_delays = vec![(slow.clone(), 400)];
    crawl(Plan { host_delays, ..world.plan() });
    assert_perfect(&world.audit());
    let gap_ms = world.audit().gaps.hosts[&slow] / 1_000;
    assert!(gap_ms >= 400, "{slow} was asked again after {gap_ms} ms");
}
