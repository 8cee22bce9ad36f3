//! For any URL: what became of it, or which rule said no, or what it waits for.

use larm_core::{FailureClass, Outcome};
use larm_crawl::explain::Stand;
use larm_crawl::frontier::{PageRow, Standing};
use larm_crawl::{Crawl, Handle, Phase};

use crate::hand::{Hand, at, page, redirect, with_body};
use crate::world::{assert_none, crawl_and_ask, runtime, url};

const HOSTS: [&str; 2] = ["a.test", "b.test"];

fn web() -> Hand {
    Hand::serve(|port| {
        let outside = at(port, "elsewhere.test/x");
        let nobody = "http://b.test:9/x".to_owned();
        let links =
            ["/2", "/private/x", "/skipped/x", "/moved", "/copy", "/gone", &outside, &nobody];
        vec![
            ("a.test/robots.txt".to_owned(), with_body("text/plain", ROBOTS)),
            ("a.test/".to_owned(), page(&links)),
            ("a.test/2".to_owned(), page(&["/only/here"])),
            ("a.test/copy".to_owned(), page(&["/only/here"])),
            ("a.test/moved".to_owned(), redirect("/2")),
        ]
    })
}

const ROBOTS: &str = "# Mind the gap.\nUser-agent: *\nAllow: /\nDisallow: /private/\n";

/// Crawls the web above, where b.test is in scope and nobody listens.
fn asked(hand: &Hand) -> Handle {
    let mut plan = hand.plan("a.test/", &HOSTS);
    plan.seeds.push(url("http://b.test:9/"));
    plan.resolve.push("b.test:9:127.0.0.1".parse().expect("a rule"));
    plan.selection.exclude = vec!["/skipped/".to_owned()];
    plan.limits.host_chances_ms_max = 1;
    crawl_and_ask(plan).1
}

fn stand(handle: &Handle, text: &str) -> Stand {
    handle.explain(&url(text)).expect("an explanation").stand
}

#[track_caller]
fn settled(handle: &Handle, text: &str) -> PageRow {
    match stand(handle, text) {
        Stand::Settled { page } => *page,
        other => panic!("{text}: {other:?}"),
    }
}

#[track_caller]
fn rejection(handle: &Handle, text: &str) -> String {
    match stand(handle, text) {
        Stand::Unknown { rejected_by } => rejected_by.unwrap_or_default(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn every_end_of_a_url_has_its_explanation() {
    let hand = web();
    let handle = asked(&hand);
    let row = |place: &str| settled(&handle, &hand.url(place));
    let fetched = row("a.test/2");
    assert_eq!(fetched.outcome, Outcome::Fetched { status: 200 });
    assert_eq!(fetched.parent.as_deref(), Some(&*hand.url("a.test/")));
    assert!(fetched.warc.is_some(), "where it is kept: {fetched:?}");
    assert_eq!(row("a.test/gone").outcome, Outcome::Fetched { status: 404 });
    let moved = row("a.test/moved").outcome;
    assert_eq!(moved, Outcome::Redirected { status: 302, to: hand.url("a.test/2") });
    let copies = [row("a.test/2"), row("a.test/copy")];
    let named: Vec<_> = copies.iter().filter_map(|row| row.same_as.as_ref()).collect();
    assert_eq!(named.len(), 1, "one is the copy of the other: {copies:?}");
    assert!([hand.url("a.test/2"), hand.url("a.test/copy")].contains(&named[0].url));
}

#[test]
fn a_denial_names_the_line_of_robots_txt() {
    let hand = web();
    let handle = asked(&hand);
    let Outcome::Denied { rule } = settled(&handle, &hand.url("a.test/private/x")).outcome else {
        panic!("it was not denied");
    };
    assert!(rule.contains("Disallow: /private/") && rule.contains("line 4"), "{rule}");
}

#[test]
fn a_rejection_names_the_filter_and_what_it_found() {
    let hand = web();
    let handle = asked(&hand);
    let outside = rejection(&handle, &hand.url("elsewhere.test/x"));
    assert!(outside.starts_with("scope: "), "{outside}");
    let skipped = rejection(&handle, &hand.url("a.test/skipped/x"));
    assert!(skipped.contains("/skipped/"), "{skipped}");
    let unheard_of = rejection(&handle, &hand.url("a.test/nobody/links/here"));
    assert_eq!(unheard_of, "", "nothing is against it, only nobody links to it");
}

#[test]
fn urls_of_a_host_that_cannot_be_reached_say_why() {
    let hand = web();
    let handle = asked(&hand);
    for text in ["http://b.test:9/", "http://b.test:9/x"] {
        let outcome = settled(&handle, text).outcome;
        let class = FailureClass::Refused;
        assert_eq!(outcome, Outcome::HostUnreachable { class }, "{text}");
    }
}

#[test]
fn a_url_that_waits_says_what_its_host_waits_for() {
    let hand = web();
    let mut plan = hand.plan("a.test/", &HOSTS);
    plan.pace.delay_ms = 600_000;
    runtime().block_on(async {
        let running = Crawl::new(plan).start().expect("the crawl starts");
        let handle = running.handle();
        // robots.txt is asked for first; the host then waits ten minutes before its first page.
        let waiting = loop {
            let stand = stand(&handle, &hand.url("a.test/"));
            let Stand::Waiting { host: Some(host), .. } = stand else { panic!("{stand:?}") };
            if let Standing::Waiting(wait) = host.standing {
                break (wait.ms, wait.rule);
            }
            tokio::task::yield_now().await;
        };
        assert!(waiting.0 > 500_000 && waiting.1.contains("delay"), "{waiting:?}");
        assert_eq!(handle.status(1).phase, Phase::Running);
        assert_none("pages asked for", hand.asked());
        handle.stop();
        running.wait().await.expect("the crawl stops well");
    });
}
