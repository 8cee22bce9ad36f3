//! Each judgement against a log with one planted offence.

use std::net::Ipv4Addr;

use super::*;
use crate::plan::{Features, WebPlan};
use crate::web::{Loopback, Web};

fn web() -> Web {
    let plan = WebPlan { features: Features::all(), ..WebPlan::default() };
    Web::new(plan.sane(), 8080, Loopback::Single)
}

/// A log in which every URL of the truth is asked for once, as it should be, a second apart.
fn perfect_log(truth: &Truth) -> Vec<Request> {
    let pages = truth.pages.iter().enumerate();
    pages.map(|(n, (url, expect))| request(url, expect.status, 1_000_000 * n as u64)).collect()
}

fn request(url: &str, status: u16, start_us: u64) -> Request {
    let rest = url.strip_prefix("http://").unwrap();
    let (authority, path) = rest.split_at(rest.find('/').unwrap());
    let (host, port) = authority.split_once(':').unwrap();
    Request {
        host: host.to_owned(),
        address: Ipv4Addr::LOCALHOST.into(),
        port: port.parse().unwrap(),
        path: path.to_owned(),
        agent: "test".to_owned(),
        start_us,
        end_us: start_us + 1_000,
        status,
        bytes: 100,
        connection: 1,
        complete: true,
    }
}

fn url_of(truth: &Truth, wanted: impl Fn(&Kind) -> bool) -> String {
    let found = truth.pages.iter().find(|(_, expect)| wanted(&expect.kind));
    found.expect("the web has one").0.clone()
}

#[test]
fn a_perfect_log_has_no_faults() {
    let truth = Truth::of(&web());
    let log = perfect_log(&truth);
    let audit = Audit::of(&truth, &log);
    let coverage = &audit.coverage;
    assert_eq!(coverage.fetched, coverage.required);
    assert!(coverage.missing.is_empty() && coverage.excused.is_empty(), "{coverage:?}");
    assert!(coverage.extra.is_empty() && coverage.trapped.is_empty(), "{coverage:?}");
    assert!(audit.overlap.is_empty() && audit.forbidden.is_empty(), "{audit:?}");
    assert!(audit.forbidden_actions.is_empty() && audit.impatient.is_empty());
    let pace = Pace { host_ms: 900, address_ms: 900, slack_ms: 0 };
    let hasty = hasty(&truth, &log, pace);
    assert!(hasty.iter().all(|hasty| hasty.url.contains("crawl-delay")), "{hasty:?}");
}

#[test]
fn a_page_left_out_is_missing() {
    let truth = Truth::of(&web());
    let left_out = url_of(&truth, |kind| *kind == Kind::Page);
    let log: Vec<_> =
        perfect_log(&truth).into_iter().filter(|request| request.url() != left_out).collect();
    assert_eq!(coverage(&truth, &log).missing, [left_out]);
}

#[test]
fn a_page_that_was_only_ever_an_error_is_missing() {
    let truth = Truth::of(&web());
    let flaky = url_of(&truth, |kind| matches!(kind, Kind::Recovers { .. }));
    let mut log = perfect_log(&truth);
    log.iter_mut()
        .filter(|request| request.url() == flaky)
        .for_each(|request| request.status = 503);
    assert_eq!(coverage(&truth, &log).missing, [flaky]);
}

#[test]
fn a_copy_left_out_is_excused_only_when_its_content_was_fetched() {
    let truth = Truth::of(&web());
    let copies: Vec<_> = truth
        .pages
        .iter()
        .filter_map(|(url, expect)| match &expect.kind {
            Kind::DuplicateOf(original) => Some((url.clone(), original.clone())),
            _ => None,
        })
        .collect();
    let (copy, original) = copies[0].clone();
    let group = truth.pages[&original].content;
    let mut log = perfect_log(&truth);
    log.retain(|request| request.url() != copy);
    assert_eq!(coverage(&truth, &log).excused, std::slice::from_ref(&copy));
    log.retain(|request| truth.pages.get(&request.url()).is_none_or(|e| e.content != group));
    let coverage = coverage(&truth, &log);
    assert!(coverage.missing.contains(&copy) && coverage.excused.is_empty(), "{coverage:?}");
}

#[test]
fn what_nobody_links_to_is_extra() {
    let (web, mut log) = (web(), Vec::new());
    let fake = web.url(0, "/fake/comment");
    log.push(request(&fake, 404, 0));
    log.push(request(&web.url(0, "/robots.txt"), 200, 5_000_000));
    assert_eq!(coverage(&Truth::of(&web), &log).extra, [fake]);
}

#[test]
fn too_much_of_a_trap_is_told_and_a_little_is_not() {
    let web = web();
    let truth = Truth::of(&web);
    let deep = |n: usize| request(&web.url(0, &format!("/deep/{}", "a/".repeat(n))), 200, n as u64);
    let most = truth.trap_of(&web.url(0, "/deep/a/")).unwrap().urls_max;
    let little: Vec<_> = (1..=most).map(deep).collect();
    assert!(coverage(&truth, &little).trapped.is_empty());
    let much: Vec<_> = (1..=most + 1).map(deep).collect();
    assert_eq!(coverage(&truth, &much).trapped[0].1, most + 1);
}

#[test]
fn a_second_final_answer_is_overlap_and_a_retry_is_not() {
    let web = web();
    let truth = Truth::of(&web);
    let url = web.url(0, "/");
    let log = |status| [request(&url, status, 0), request(&url, 200, 2_000_000)];
    assert_eq!(overlap(&truth, &log(200)), [(url.clone(), 2)]);
    for status in [0, 429, 500, 503] {
        assert_eq!(overlap(&truth, &log(status)), [], "{status}");
    }
    let mut cut_off = log(200);
    cut_off[0].complete = false;
    assert_eq!(overlap(&truth, &cut_off), []);
    let robots = web.url(0, "/robots.txt");
    assert_eq!(overlap(&truth, &[request(&robots, 200, 0), request(&robots, 200, 9)]), []);
}

#[test]
fn forbidden_paths_and_actions_are_told() {
    let web = web();
    let truth = Truth::of(&web);
    for url in truth.forbidden.iter().chain(&[web.url(0, "/private/unlinked")]) {
        assert_eq!(forbidden(&truth, &[request(url, 200, 0)]), std::slice::from_ref(url));
    }
    let logout = web.url(0, "/logout");
    assert_eq!(forbidden_actions(&truth, &[request(&logout, 200, 0)]), [logout]);
}

#[test]
fn a_retry_before_its_time_is_impatient() {
    let truth = Truth::of(&web());
    let url = url_of(&truth, |kind| matches!(kind, Kind::Recovers { first: 503, .. }));
    let log = |again_us| [request(&url, 503, 0), request(&url, 200, again_us)];
    assert_eq!(impatient(&truth, &log(900_000)), std::slice::from_ref(&url));
    assert!(impatient(&truth, &log(1_001_000)).is_empty());
}

#[test]
fn a_gap_that_is_too_small_is_found() {
    let web = web();
    let truth = Truth::of(&web);
    let (a, b) = (web.url(0, "/"), web.url(1, "/"));
    let log = [request(&a, 200, 0), request(&b, 200, 300_000), request(&a, 200, 900_000)];
    let gaps = gaps(&log);
    assert_eq!(gaps.hosts, BTreeMap::from([(log[0].host.clone(), 899_000)]));
    assert_eq!(gaps.addresses.into_values().collect::<Vec<_>>(), [300_000]);
    let pace = |host_ms, address_ms| Pace { host_ms, address_ms, slack_ms: 0 };
    let found = |pace| hasty(&truth, &log, pace).into_iter().map(|h| h.url).collect::<Vec<_>>();
    assert_eq!(found(pace(899, 300)), Vec::<String>::new());
    assert_eq!(found(pace(900, 300)), [a]);
    assert_eq!(found(pace(899, 301)), [b]);
}

#[test]
fn a_crawl_delay_raises_the_gap_that_is_due() {
    let web = web();
    let host = web.hosts.iter().position(|host| host.name.starts_with("crawl-delay")).unwrap();
    let url = web.url(host, "/");
    let log = [request(&url, 200, 0), request(&url, 200, 500_000)];
    let pace = Pace { host_ms: 100, address_ms: 0, slack_ms: 0 };
    assert_eq!(hasty(&Truth::of(&web), &log, pace)[0].due_us, 1_000_000);
}

#[test]
fn requests_at_the_same_time_are_counted() {
    let web = web();
    let mut log =
        [(0, 0), (1, 500), (1, 700)].map(|(host, start)| request(&web.url(host, "/"), 200, start));
    log[1].connection = 2;
    log[2].connection = 3;
    let found = concurrency(&log);
    let hosts: Vec<_> =
        found.hosts.values().map(|most| (most.requests, most.connections)).collect();
    assert_eq!(hosts, [(1, 1), (2, 2)]);
    let at_address = found.addresses.values().next().unwrap();
    assert_eq!(*at_address, Most { requests: 3, connections: 3 });
}
