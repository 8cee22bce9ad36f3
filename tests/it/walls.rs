//! Pages for browsers are no pages, and hosts that answer everything are found out.

use larm_core::{FailureClass, Outcome};
use larm_crawl::explain::Stand;
use larm_crawl::frontier::PageRow;
use larm_crawl::{Handle, Plan};
use larm_testsite::{Features, WebPlan};

use crate::hand::{Hand, page};
use crate::kept::Kept;
use crate::world::{World, assert_none, assert_perfect, crawl, crawl_and_ask, url};

fn world(features: Features) -> World {
    let web =
        WebPlan { hosts: 1, pages_per_host: 4, named_hosts: true, features, ..WebPlan::default() };
    World::new(web)
}

fn soft() -> World {
    world(Features { soft: true, ..Features::none() })
}

/// A crawl that does not wait long for a host that turns it away.
fn plan(world: &World) -> Plan {
    let mut plan = world.plan();
    plan.probe = true;
    plan.limits.host_failures_max = 2;
    plan.limits.host_back_off_ms_max = 50;
    plan
}

fn row(handle: &Handle, at: &str) -> PageRow {
    match handle.explain(&url(at)).expect("an explanation").stand {
        Stand::Settled { page } => *page,
        other => panic!("{at}: {other:?}"),
    }
}

/// URLs of a host that were asked for.
fn asked(world: &World, host: &str) -> Vec<String> {
    let requests = world.site.requests();
    let of_host = requests.iter().filter(|request| request.host == host);
    of_host.map(|request| request.path.clone()).filter(|path| path != "/robots.txt").collect()
}

fn at(world: &World, host: &str, path: &str) -> String {
    let port = url(&world.site.seeds()[0]).port();
    format!("http://{host}:{port}{path}")
}

#[test]
fn a_wall_is_a_failure_with_a_name_and_never_a_page() {
    let world = world(Features { walls: true, ..Features::none() });
    let (summary, handle) = crawl_and_ask(plan(&world));
    for (host, detail) in [
        ("header.walled.test", "Cloudflare asks for a browser (cf-mitigated)"),
        ("page.walled.test", "Anubis asks for a browser (id=\"anubis_challenge\")"),
    ] {
        let row = row(&handle, &at(&world, host, "/"));
        let class = FailureClass::BotWall;
        assert_eq!(row.outcome, Outcome::Failed { class, detail: detail.to_owned() }, "{host}");
        assert!(row.warc.is_none(), "{host}: nothing of it is kept as its page");
        let tries = asked(&world, host);
        assert_eq!(tries, ["/", "/", "/"], "{host}: three tries, and no link was followed");
    }
    assert_eq!(summary.failed.get("bot-wall"), Some(&2));
    let kept = Kept::of(&world.dir());
    assert!(!kept.archive_text().contains("anubis"), "a wall is not archived");
    assert_perfect(&world.audit());
}

#[test]
fn a_wall_before_robots_txt_is_no_leave_to_crawl() {
    let wall = "HTTP/1.1 403 Forbidden\r\ncf-mitigated: challenge\r\nConnection: close\r\n\
                Content-Length: 0\r\n\r\n";
    let hand = Hand::serve(|_| {
        let robots = ("shut.test/robots.txt".to_owned(), wall.as_bytes().to_vec());
        vec![robots, ("shut.test/".to_owned(), page(&[]))]
    });
    let mut plan = hand.plan("shut.test/", &["shut.test"]);
    plan.limits.host_back_off_ms_max = 50;
    plan.limits.host_chances_ms_max = 50;
    plan.limits.host_failures_max = 1;
    let (_, handle) = crawl_and_ask(plan);
    let class = FailureClass::BotWall;
    let outcome = row(&handle, &hand.url("shut.test/")).outcome;
    assert_eq!(outcome, Outcome::HostUnreachable { class });
    assert_none("asked for without rules", hand.asked());
}

#[test]
fn a_host_behind_a_wall_is_left_alone_for_a_while() {
    let world = world(Features { walls: true, ..Features::none() });
    let mut plan = plan(&world);
    plan.limits.host_back_off_ms_max = 300;
    crawl(plan);
    let requests = world.site.requests();
    for host in ["header.walled.test", "page.walled.test"] {
        let tries: Vec<_> = requests.iter().filter(|r| r.host == host && r.path == "/").collect();
        let between = tries.windows(2).map(|pair| pair[1].start_us - pair[0].end_us);
        assert!(between.min().unwrap_or_default() >= 300_000, "{host}");
    }
}

#[test]
fn one_path_that_cannot_be_there_tells_a_soft_404() {
    let world = soft();
    let (summary, handle) = crawl_and_ask(plan(&world));
    let audit = world.audit();
    assert_perfect(&audit);
    assert_eq!((audit.coverage.probed.len(), summary.probes), (1, 1), "asked once");
    assert!(summary.soft_404 >= 3, "{summary:?}");
    let marked: Vec<PageRow> = (0..8)
        .map(|n| row(&handle, &at(&world, "soft.any.test", &format!("/lost/{n}"))))
        .filter(|row| row.facts.iter().any(|fact| &*fact.name == "soft-404"))
        .collect();
    assert_eq!(marked.len() as u64, summary.soft_404);
    for row in &marked {
        assert_eq!(row.outcome, Outcome::Fetched { status: 200 });
        assert!(row.warc.is_some(), "it is kept all the same");
    }
    let kept = Kept::of(&world.dir());
    let listed = kept.page_urls();
    assert!(marked.iter().all(|row| !listed.contains(&row.url.to_string())), "but is no page");
    assert!(!listed.iter().any(|url| url.contains("larm-probe")), "nor is the probe");
    assert!(kept.archive_text().contains("found: probe"), "which is in the archive");
    assert_eq!(summary.statuses.get("200").copied(), Some(summary.fetched));
}

#[test]
fn no_host_is_probed_against_the_users_will() {
    let world = soft();
    let summary = crawl(Plan { probe: false, ..plan(&world) });
    assert_eq!((summary.probes, summary.soft_404), (0, 0));
    assert!(world.audit().coverage.probed.is_empty());
    assert_perfect(&world.audit());
}

#[test]
fn a_host_is_not_asked_again_after_a_restart() {
    let world = soft();
    let summary = crawl(plan(&world));
    assert_eq!(summary.probes, 1);
    // The same crawl goes on with more to fetch from the same host.
    let more = (100..106).map(|n| url(&at(&world, "soft.any.test", &format!("/lost/{n}"))));
    let seeds = world.plan().seeds.into_iter().chain(more).collect();
    let again = crawl(Plan { seeds, ..plan(&world) });
    let probes = asked(&world, "soft.any.test");
    let probes = probes.iter().filter(|path| path.contains("larm-probe")).count();
    assert_eq!((probes, again.probes), (1, 1));
    assert!(again.soft_404 > summary.soft_404, "and what was learnt is still known");
}

#[test]
fn a_host_with_copies_that_refuses_what_is_not_there_is_asked_once_and_believed() {
    for (duplicates, probes) in [(true, 1), (false, 0)] {
        let world = world(Features { dead_links: true, duplicates, ..Features::none() });
        let summary = crawl(plan(&world));
        assert_eq!((summary.probes, summary.soft_404), (probes, 0), "copies: {duplicates}");
        assert_none("missing", &world.audit().coverage.missing);
        assert_eq!(world.audit().coverage.extra.len() as u64, probes, "nothing else is made up");
    }
}
