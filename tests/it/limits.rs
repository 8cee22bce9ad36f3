//! Every maximum that a user sets is kept exactly, and named when it ends a crawl.

use std::sync::atomic::{AtomicI64, Ordering};

use larm_core::scope::ScopeMode;
use larm_core::{Failure, FailureClass, Millis};
use larm_crawl::clock::Clock;
use larm_crawl::fetch::{BoxFuture, Fetch, Fetched, HttpFetch};
use larm_crawl::robots::Permit;
use larm_crawl::store::summary::State;
use larm_crawl::{Crawl, Plan, Summary};
use larm_testsite::{Features, WebPlan};

use crate::hand::{Hand, page};
use crate::kept::{Kept, text};
use crate::larm::{Larm, said};
use crate::world::{World, assert_perfect, crawl, crawl_until, run};

fn pages_max(world: &World, pages: u64) -> Plan {
    let mut plan = world.plan();
    plan.budgets.pages_max = Some(pages);
    plan
}

fn answered(summary: &Summary) -> u64 {
    summary.fetched + summary.redirects
}

#[track_caller]
fn assert_ended_by(summary: &Summary, limit: &str) {
    assert_eq!((summary.state, summary.limit.as_deref()), (State::Limit, Some(limit)));
}

#[test]
fn max_pages_is_exact() {
    for pages in [1, 2, 7, 40] {
        let world = World::new(WebPlan { hosts: 6, pages_per_host: 20, ..WebPlan::default() });
        let summary = crawl(pages_max(&world, pages));
        assert_ended_by(&summary, "max-pages");
        assert_eq!(answered(&summary), pages, "{summary:?}");
        assert_eq!(world.pages_asked() as u64, pages, "requests, robots.txt aside");
        assert_eq!(Kept::of(&world.dir()).answered().len() as u64, pages);
    }
}

#[test]
fn max_pages_is_exact_on_a_web_of_redirects_retries_and_failures() {
    let features = Features {
        redirects: true,
        dead_links: true,
        flaky: true,
        duplicates: true,
        private: true,
        ..Features::none()
    };
    let world =
        World::new(WebPlan { hosts: 3, pages_per_host: 10, features, ..WebPlan::default() });
    let summary = crawl(pages_max(&world, 45));
    assert_ended_by(&summary, "max-pages");
    assert_eq!(answered(&summary), 45, "{summary:?}");
    assert_eq!(Kept::of(&world.dir()).answered().len(), 45);
}

#[test]
fn max_pages_counts_over_all_runs_and_can_be_raised() {
    let world = World::new(WebPlan { hosts: 4, pages_per_host: 15, ..WebPlan::default() });
    let stopped = crawl_until(pages_max(&world, 30), 8);
    assert_eq!(stopped.state, State::Stopped);
    assert!((8..30).contains(&answered(&stopped)), "{stopped:?}");
    let second = crawl(pages_max(&world, 30));
    assert_ended_by(&second, "max-pages");
    assert_eq!((answered(&second), world.pages_asked()), (30, 30));
    let third = crawl(pages_max(&world, 30));
    assert_ended_by(&third, "max-pages");
    assert_eq!(world.pages_asked(), 30, "a crawl at its limit asks for nothing more");
    let raised = crawl(pages_max(&world, 35));
    assert_eq!((answered(&raised), world.pages_asked()), (35, 35));
    let whole = crawl(world.plan());
    assert_eq!((whole.state, answered(&whole)), (State::Finished, 60));
    assert_perfect(&world.audit());
    Kept::of(&world.dir()).assert_sound();
}

#[test]
fn a_limit_that_is_not_reached_is_not_named() {
    let world = World::new(WebPlan { hosts: 2, pages_per_host: 5, ..WebPlan::default() });
    let summary = crawl(pages_max(&world, 10));
    assert_eq!((summary.state, summary.limit), (State::Finished, None));
}

#[test]
fn the_budget_of_a_host_is_exact_for_each_of_them() {
    let world = World::new(WebPlan { hosts: 3, pages_per_host: 12, ..WebPlan::default() });
    let mut plan = world.plan();
    plan.seeds = world.site.host_seeds().iter().map(|text| crate::world::url(text)).collect();
    plan.budgets.host_pages_max = Some(4);
    let stopped = crawl_until(plan.clone(), 5);
    assert_eq!(stopped.state, State::Stopped);
    let summary = crawl(plan);
    assert_ended_by(&summary, "per-host");
    assert_eq!(answered(&summary), 12, "{summary:?}");
    for host in world.site.truth().hosts.keys() {
        let asked = world.site.requests();
        let pages = asked.iter().filter(|r| r.host == *host && !r.path.starts_with("/robots"));
        assert_eq!(pages.count(), 4, "{host}");
    }
}

#[test]
fn depth_counts_hops_and_a_redirect_is_none() {
    let hand = Hand::serve(|_| {
        vec![
            ("a.test/".to_owned(), page(&["/1"])),
            ("a.test/1".to_owned(), page(&["/moved", "/2"])),
            ("a.test/moved".to_owned(), crate::hand::redirect("/landed")),
            ("a.test/landed".to_owned(), page(&["/too-far-behind-a-redirect"])),
            ("a.test/2".to_owned(), page(&["/3"])),
            ("a.test/3".to_owned(), page(&["/4"])),
        ]
    });
    let mut plan = hand.plan("a.test/", &["a.test"]);
    plan.selection.depth_max = 2;
    let summary = crawl(plan);
    let mut asked = hand.asked();
    asked.sort();
    assert_eq!(asked, ["a.test/", "a.test/1", "a.test/2", "a.test/landed", "a.test/moved"]);
    assert_eq!(summary.rejected.get("depth"), Some(&2), "{summary:?}");
    let kept = Kept::of(&hand.dir());
    let depth = |place: &str| kept.line(&hand.url(place))["depth"].as_u64();
    let depths = ["a.test/", "a.test/1", "a.test/2", "a.test/landed"].map(depth);
    assert_eq!(depths, [Some(0), Some(1), Some(2), Some(2)]);
}

#[test]
fn bodies_beyond_the_limit_are_cut_and_say_so() {
    let features = Features { hostile: true, ..Features::none() };
    let web =
        WebPlan { hosts: 1, pages_per_host: 2, features, named_hosts: true, ..WebPlan::default() };
    let world = World::new(web);
    let mut plan = world.plan();
    plan.limits.body_bytes_max = 300_000;
    plan.limits.body_decoded_bytes_max = 1_000_000;
    crawl(plan);
    let kept = Kept::of(&world.dir());
    kept.assert_sound();
    let bad = |word: &str| format!("http://{word}.hostile.test:{}/bad", world.site.port());
    let endless = bad("endless-body");
    let record = kept.answer(&endless);
    assert_eq!(record.field("WARC-Truncated"), Some("length"));
    let payload = record.payload().len();
    assert!((300_000..330_000).contains(&payload), "{payload} bytes kept, chunks included");
    assert_eq!(text(kept.line(&endless), "truncated"), "length");
    let bomb = kept.line(&bad("gzip-bomb"));
    assert!(!bomb["notes"].as_array().expect("notes").is_empty(), "{bomb}");
    let short = kept.line(&bad("short-body"));
    assert!(short.to_string().contains("disconnect") || short["outcome"] == "failed", "{short}");
}

#[test]
fn max_size_and_max_time_end_a_crawl_and_are_named() {
    let world = World::new(WebPlan { hosts: 2, pages_per_host: 30, ..WebPlan::default() });
    let size = crawl(Plan { bytes_max: Some(20_000), ..world.plan() });
    assert_ended_by(&size, "max-size");
    assert!(size.bytes >= 20_000 && size.queued > 0, "{size:?}");
    let time = crawl(Plan { time_ms_max: Some(1), ..world.plan() });
    assert_ended_by(&time, "max-time");
    let whole = crawl(world.plan());
    assert_eq!(whole.state, State::Finished);
    assert_perfect(&world.audit());
}

#[test]
fn only_the_scope_of_the_seeds_is_crawled() {
    let world = World::new(WebPlan { hosts: 4, pages_per_host: 6, ..WebPlan::default() });
    let mut plan = world.plan();
    plan.selection.scope = ScopeMode::Host;
    let summary = crawl(plan);
    assert_eq!(summary.fetched, 6, "{summary:?}");
    assert!(summary.rejected["scope"] > 0, "{summary:?}");
    assert!(world.site.requests().iter().all(|request| request.host == "127.1.0.1"));
}

#[test]
fn a_crawl_gets_by_with_the_open_files_there_are() {
    let world = World::new(WebPlan { hosts: 300, pages_per_host: 3, ..WebPlan::default() });
    let output = Larm::new(&world, "0").run_with_open_files(256, &world.dir());
    assert!(output.status.success(), "{}", said(&output));
    assert_perfect(&world.audit());
    Kept::of(&world.dir()).assert_sound();
}

/// Says for the first so many connections that our own machine has no file left.
struct Starved {
    network: HttpFetch,
    refusals: AtomicI64,
}

impl Fetch for Starved {
    fn fetch<'a>(
        &'a self,
        permit: &'a Permit,
        sent: &'a (dyn Fn(Millis) + Send + Sync),
    ) -> BoxFuture<'a, Result<Fetched, Failure>> {
        if self.refusals.fetch_sub(1, Ordering::SeqCst) > 0 {
            let refused = Failure::new(FailureClass::NoFiles, "no file left");
            return Box::pin(async move { Err(refused) });
        }
        self.network.fetch(permit, sent)
    }
}

#[test]
fn a_machine_without_a_file_left_is_no_failure_of_url_or_host() {
    let world = World::new(WebPlan { hosts: 5, pages_per_host: 8, ..WebPlan::default() });
    let plan = world.plan();
    let network = HttpFetch::new(plan.fetch.clone(), None, plan.limits.clone(), Clock::start());
    let network = network.expect("a fetcher");
    let starved = Starved { network, refusals: AtomicI64::new(30) };
    let summary = run(Crawl::new(plan).fetcher(starved)).expect("the crawl ends well");
    assert_eq!((summary.state, summary.fetched), (State::Finished, 40), "{summary:?}");
    assert_eq!((summary.retries, summary.failed.len()), (0, 0), "{summary:?}");
    assert_perfect(&world.audit());
    let kept = Kept::of(&world.dir());
    let tries = kept.log.iter().filter(|line| line["tries"].as_u64() != Some(1));
    crate::world::assert_none("tried more than once", tries);
}
