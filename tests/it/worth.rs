//! What brings nothing new costs little: mazes are seen through, spam is told, and nothing is dropped.

use larm_core::worth::Verdict;
use larm_crawl::explain::Stand;
use larm_crawl::frontier::HostsAsked;
use larm_crawl::store::summary::State;
use larm_testsite::{Features, Request, WebPlan};
use serde_json::Value;

use crate::larm::{Larm, said};
use crate::world::{World, assert_harmless, assert_none, crawl, crawl_and_ask, url};

const MAZES: [&str; 5] = ["/diary/", "/visit/", "/desk?", "/shop/list", "/wiki/changes/"];

fn web() -> WebPlan {
    let features = Features { mazes: true, ..Features::none() };
    WebPlan { hosts: 3, pages_per_host: 120, features, named_hosts: true, ..WebPlan::default() }
}

/// Requests for each maze.
fn cost(requests: &[Request]) -> Vec<(&'static str, usize)> {
    let of = |maze: &str| requests.iter().filter(|request| request.path.starts_with(maze)).count();
    MAZES.iter().map(|maze| (*maze, of(maze))).collect()
}

#[test]
fn mazes_cost_a_small_share_and_all_pages_beside_them_are_fetched() {
    let world = World::new(web());
    let (summary, handle) = crawl_and_ask(world.plan());
    let (audit, requests) = (world.audit(), world.site.requests());
    println!("of {} requests, mazes took {:?}", requests.len(), cost(&requests));
    assert_none("missing", &audit.coverage.missing);
    assert_harmless(&audit);
    assert_eq!(summary.state, State::Finished);
    assert!(summary.held > 0 && summary.held == summary.queued, "{summary:?}");
    assert_eq!(summary.spam, 2);
    // Whoever asks about a URL that waits hears of its like.
    let seed = &world.site.seeds()[0];
    let week = (0..5_000).map(|n| url(&format!("{seed}diary/week/{n}")));
    let held = week.filter_map(|week| match handle.explain(&week).unwrap().stand {
        Stand::Waiting { finding, .. } => finding,
        _ => None,
    });
    let found: Vec<_> = held.collect();
    assert!(!found.is_empty() && found.iter().all(|finding| finding.pattern == "/diary/week/{n}"));
    assert!(
        found.iter().all(|finding| finding.verdict == Verdict::Cut && finding.tally.since >= 30)
    );
}

#[test]
fn without_a_maze_nothing_waits_in_the_end() {
    let features = Features { mazes: false, ..Features::none() };
    let world = World::new(WebPlan { hosts: 1, pages_per_host: 800, features, ..web() });
    let summary = crawl(world.plan());
    assert_eq!((summary.fetched, summary.queued, summary.held), (800, 0, 0));
}

/// Weeks that are nearly the same lead on, so that there is something to wait.
const ALL: [&str; 1] = ["--duplicates=off"];

#[test]
fn what_was_learnt_survives_a_kill_and_more_is_fetched_when_more_is_allowed() {
    let world = World::new(WebPlan { latency_ms: 2, ..web() });
    let larm = Larm::new(&world, "0");
    for kill in 1..=3 {
        let is_time = || world.site.requests().len() >= kill * 150;
        larm.start_with(&ALL, &world.dir()).kill_when(is_time).expect("it takes longer");
    }
    let ended = larm.run_with(&ALL, &world.dir());
    assert!(ended.status.success(), "{}", said(&ended));
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(told.contains("wait beyond their budget"), "{told}");
    assert_none("missing", world.audit().coverage.missing);
    // What a kill makes unknown is asked for again.
    let kills = 3 * 20;
    let most = cost(&world.site.requests());
    assert!(most.iter().all(|(_, urls)| *urls <= 120 + kills), "{most:?}");
    let before = world.site.requests().len();
    let again = larm.run_with(&ALL, &world.dir());
    assert!(again.status.success(), "{}", said(&again));
    assert!(world.site.requests().len() <= before + 3, "a verdict was forgotten");
    let dir = world.dir().display().to_string();
    let week = held_week(&larm, &dir, &world.site.seeds()[0]);
    let why = larm.ask(&["why", &dir, &week]);
    let why = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(why.contains("held back") && why.contains("/diary/week/{n}"), "{why}");
    let more = larm.run_with(&["--duplicates=off", "--pattern-budget", "60"], &world.dir());
    assert!(more.status.success(), "{}", said(&more));
    let after = cost(&world.site.requests());
    assert!(after[0].1 >= 55 && after[0].1 < 110, "{after:?}");
}

/// A week that waits.
fn held_week(larm: &Larm<'_>, dir: &str, seed: &str) -> String {
    let weeks = (900..1_200).map(|n| format!("{seed}diary/week/{n}"));
    let waits = |week: &String| {
        let told = larm.ask(&["why", dir, week, "--json"]);
        let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
        told["stand"]["state"] == "waiting"
    };
    // Weeks a year from those that were fetched were found with them.
    weeks.rev().find(waits).expect("some week waits")
}

#[test]
fn a_site_of_many_hosts_with_nothing_to_say_ends_at_its_budget() {
    let web = WebPlan { hosts: 12, pages_per_host: 30, named_hosts: true, ..WebPlan::default() };
    let world = World::new(web);
    let mut plan = world.plan();
    plan.budgets.cut_at = None;
    plan.budgets.site_base = Some(20);
    let (summary, handle) = crawl_and_ask(plan);
    // Its pages have something to say, so that the budget grows as they come.
    assert_eq!((summary.fetched, summary.queued), (360, 0), "{summary:?}");
    let host = handle.hosts(&HostsAsked::first(20)).hosts.into_iter().find_map(|host| host.budget);
    let budget = host.expect("there is a budget");
    assert!(budget.site_allowed > Some(20) && budget.site_pages == 120, "{budget:?}");
}
