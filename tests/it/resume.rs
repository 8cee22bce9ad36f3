//! Stopped, paused, changed, copied: the crawl that comes out is the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use larm_core::Millis;
use larm_core::workbench::Pace;
use larm_crawl::change::Change;
use larm_crawl::frontier::Standing;
use larm_crawl::store::summary::State;
use larm_crawl::{Crawl, Duplicates, Phase, Plan, Summary};
use larm_testsite::{Features, WebPlan, audit};

use crate::kept::Kept;
use crate::larm::{Larm, said};
use crate::world::{Gate, World, assert_none, assert_perfect, crawl, crawl_until, runtime};

fn web() -> WebPlan {
    let features = Features {
        markup: true,
        redirects: true,
        dead_links: true,
        duplicates: true,
        private: true,
        sitemaps: true,
        encodings: true,
        nofollow: true,
        ..Features::none()
    };
    WebPlan { hosts: 6, pages_per_host: 12, features, ..WebPlan::default() }
}

/// What has to agree however often a crawl was stopped, on webs that differ in their port: everything
/// but times, sizes, and the archive's files.
fn counts(summary: Summary) -> Summary {
    let (started, ended) = (Millis(0), Millis(0));
    Summary { started, ended, active_ms: 0, bytes: 0, warc_files: 0, warc_bytes: 0, ..summary }
}

/// A plan by which each page is judged by itself: which of two that are nearly the same is the original, and
/// which of many like each other come first, is a matter of order.
fn by_itself(world: &World) -> Plan {
    let mut plan = world.plan();
    plan.duplicates = Duplicates::Off;
    plan.budgets.cut_at = None;
    plan
}

#[test]
fn a_crawl_that_was_stopped_three_times_is_the_crawl_that_was_not() {
    let world = World::new(web());
    let whole = crawl(Plan { dir: world.dir_named("whole.larm"), ..by_itself(&world) });
    let world = World::new(web());
    for _ in 0..3 {
        let stopped = crawl_until(by_itself(&world), 20);
        assert_eq!(stopped.state, State::Stopped, "{stopped:?}");
        assert!(stopped.queued > 0);
    }
    let last = crawl(by_itself(&world));
    assert_perfect(&world.audit());
    assert_eq!(counts(last), counts(whole));
    Kept::of(&world.dir()).assert_sound();
}

#[test]
fn a_finished_crawl_run_again_sends_no_request_and_ends_as_before() {
    let world = World::new(web());
    let first = crawl(world.plan());
    let requests = world.site.requests().len();
    let again = crawl(world.plan());
    assert_eq!(world.site.requests().len(), requests, "requests by a finished crawl");
    assert_eq!(counts(again), counts(first));
    Kept::of(&world.dir()).assert_sound();
}

#[test]
fn two_copies_of_a_stopped_crawl_go_on_to_the_same_end() {
    let world = World::new(web());
    crawl_until(world.plan(), 30);
    let copies = [world.dir_named("one.larm"), world.dir_named("two.larm")];
    let ends = copies.map(|dir| {
        copy(&world.dir(), &dir);
        let summary = crawl(Plan { dir: dir.clone(), ..world.plan() });
        let kept = Kept::of(&dir);
        kept.assert_sound();
        (counts(summary), kept.answered().into_iter().collect::<BTreeSet<_>>())
    });
    assert_eq!(ends[0], ends[1]);
    assert_none("missing", world.audit().coverage.missing);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).expect("a copy")),
        }
    }
}

/// Runs until `pages` pages were answered, makes the changes, and stops right after.
fn change_and_stop(plan: Plan, pages: u64, changes: &[Change]) {
    let gate = Gate::at(pages);
    let crawl = gate.before_pages_of(Crawl::new(plan));
    runtime().block_on(async {
        let running = crawl.start().expect("the crawl starts");
        let handle = running.handle();
        gate.reached().await;
        for change in changes {
            handle.change(change.clone()).await.expect("a change that can be made");
        }
        handle.stop();
        gate.open();
        running.wait().await.expect("the crawl stops well");
    });
}

#[test]
fn an_exclusion_and_a_block_made_while_it_ran_hold_from_then_on_and_after_a_restart() {
    let web = WebPlan { hosts: 4, pages_per_host: 25, latency_ms: 20, ..WebPlan::default() };
    let world = World::new(web);
    let changes = [Change::Exclude("/view\\?".to_owned()), Change::Block("127.1.0.3".to_owned())];
    change_and_stop(world.plan(), 6, &changes);
    let before = world.site.requests().len();
    let summary = crawl(world.plan());
    let unwanted = |path: &str, host: &str| path.starts_with("/view?") || host == "127.1.0.3";
    let requests = world.site.requests();
    let late = requests.iter().skip(before).filter(|r| unwanted(&r.path, &r.host));
    assert_none("requests against a change", late.map(|request| request.url()));
    assert_eq!(summary.state, State::Finished);
    let kept = Kept::of(&world.dir());
    kept.assert_sound();
    let rejected = kept.log.iter().filter(|line| line["outcome"] == "rejected");
    assert!(rejected.count() > 0, "URLs that waited are settled as rejected");
}

#[test]
fn a_delay_set_while_it_ran_holds_from_then_on_and_after_a_restart() {
    let world = World::new(WebPlan { hosts: 2, pages_per_host: 12, ..WebPlan::default() });
    let plan = || {
        let mut plan = world.plan();
        plan.pace = Pace { delay_ms: 50, address_gap_ms: 0, ..Pace::default() };
        plan
    };
    change_and_stop(plan(), 4, &[Change::Delay(300)]);
    let before = world.site.requests().len();
    crawl(plan());
    let requests = world.site.requests();
    let due = audit::Pace { host_ms: 300, address_ms: 0, slack_ms: 0 };
    let hasty = audit::hasty(&world.site.truth(), &requests[before..], due);
    assert_none("requests within the new delay", hasty);
    assert_perfect(&world.audit());
}

#[test]
fn a_paused_host_is_asked_for_nothing_and_the_crawl_waits_for_it() {
    let world = World::new(WebPlan { hosts: 3, pages_per_host: 20, ..WebPlan::default() });
    let gate = Gate::at(6);
    let crawl = gate.before_pages_of(Crawl::new(by_itself(&world)));
    let host = "127.1.0.2".to_owned();
    let asked = || world.site.requests().iter().filter(|request| *request.host == *host).count();
    runtime().block_on(async {
        let running = crawl.start().expect("the crawl starts");
        let handle = running.handle();
        gate.reached().await;
        handle.change(Change::HostPause(host.clone(), true)).await.expect("a change");
        gate.open();
        let tick = || handle.change(Change::Concurrency(Some(8)));
        let waiting = || handle.host(&host).map_or(0, |host| host.waiting);
        while waiting() == 0 || handle.status(0).frontier.waiting > waiting() {
            tick().await.expect("the crawl goes on without it");
        }
        let before = asked();
        assert_eq!(handle.host(&host).map(|host| host.standing), Some(Standing::Paused));
        for _ in 0..1_000 {
            tick().await.expect("the crawl does not end without it");
        }
        assert_eq!(asked(), before, "requests to a host that is paused");
        handle.change(Change::HostPause(host.clone(), false)).await.expect("a change");
        running.wait().await.expect("the crawl ends well")
    });
    assert!(asked() > 10);
    assert_perfect(&world.audit());
}

#[test]
fn a_pause_stops_leasing_and_resume_goes_on() {
    let world = World::new(WebPlan { hosts: 3, pages_per_host: 20, ..WebPlan::default() });
    let gate = Gate::at(10);
    let crawl = gate.before_pages_of(Crawl::new(world.plan()));
    let summary = runtime().block_on(async {
        let running = crawl.start().expect("the crawl starts");
        let handle = running.handle();
        gate.reached().await;
        handle.pause();
        gate.open();
        // What was leased when the pause came is finished. A change is carried out by the engine's own
        // loop, which has then been round once.
        let tick = || handle.change(Change::Concurrency(Some(8)));
        tick().await.expect("a change");
        while handle.status(0).frontier.leased > 0 {
            tick().await.expect("a change");
        }
        let paused = world.site.requests().len();
        assert_eq!(handle.status(0).phase, Phase::Paused);
        for _ in 0..1_000 {
            tick().await.expect("a change");
        }
        assert_eq!(world.site.requests().len(), paused, "requests during a pause");
        handle.resume();
        running.wait().await.expect("the crawl ends well")
    });
    assert_eq!(summary.state, State::Finished);
    assert_perfect(&world.audit());
}

#[test]
fn a_crawl_that_was_told_to_stop_has_stopped_and_goes_on_at_once() {
    let world = World::new(WebPlan { hosts: 3, pages_per_host: 20, ..WebPlan::default() });
    let dir = world.dir();
    let larm = Larm::new(&world, "300ms");
    let path = dir.display().to_string();
    let running = larm.start(&dir);
    let is_asked = |limit: usize| world.site.requests().len() >= limit;
    let state = || {
        let status = larm.ask(&["status", &path, "--json"]).stdout;
        serde_json::from_slice::<serde_json::Value>(&status).unwrap_or_default()
    };
    while !is_asked(8) || state()["status"].is_null() {}
    let stopped = larm.ask(&["stop", &path]);
    assert!(String::from_utf8_lossy(&stopped.stdout).contains("stopped"), "{}", said(&stopped));
    assert!(!larm_crawl::directory::in_use(&dir));
    let (ended, _) = running.watch();
    assert_eq!(ended.status.code(), Some(130), "{}", said(&ended));
    let resumed = larm.ask(&["resume", &path, "--depth", "50", "--delay", "1ms", "--no-progress"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", said(&resumed));
    assert_perfect(&world.audit());
}
