//! Every reachable page is fetched, once, and nothing else.

use larm_testsite::{Features, WebPlan};

use crate::hand::{Hand, page, redirect};
use crate::kept::Kept;
use crate::world::{World, assert_perfect, crawl};

#[test]
fn a_plain_web_is_fetched_whole_and_once() {
    let world = World::new(WebPlan { hosts: 5, pages_per_host: 20, ..WebPlan::default() });
    let summary = crawl(world.plan());
    assert_perfect(&world.audit());
    assert_eq!(summary.fetched, 100, "{summary:?}");
    assert_eq!(Kept::of(&world.dir()).answered().len(), 100);
}

#[test]
fn a_hostile_web_of_a_hundred_hosts_is_covered_without_a_forbidden_request() {
    let world = World::new(WebPlan {
        hosts: 100,
        pages_per_host: 10,
        features: Features::all(),
        named_hosts: true,
        hosts_per_address: 2,
        ..WebPlan::default()
    });
    let mut plan = world.plan();
    // Five pages of each host fail, some with waits of two seconds. A busy machine may meet them all in a
    // row, and must not give the host up for it; a host that fails as a whole gets one more chance.
    plan.limits.host_chances_ms_max = 120_000;
    plan.limits.host_chances_max = 1;
    plan.limits.host_failures_max = 100;
    println!("{:#?}", crawl(plan));
    assert_perfect(&world.audit());
    Kept::of(&world.dir()).assert_sound();
}

#[test]
fn a_page_that_a_robots_file_redirects_to_is_still_a_page() {
    let hand = Hand::serve(|_| {
        vec![
            ("start.test/robots.txt".to_owned(), redirect("/home")),
            ("start.test/".to_owned(), page(&["/home"])),
            ("start.test/home".to_owned(), page(&["/beyond"])),
            ("start.test/beyond".to_owned(), page(&[])),
        ]
    });
    crawl(hand.plan("start.test/", &["start.test"]));
    let (asked_as_rules, pages) = ("start.test/home", ["/", "/home", "/beyond"]);
    let pages = pages.map(|path| format!("start.test{path}"));
    assert_eq!(hand.asked(), [&[asked_as_rules.to_owned()], &pages[..]].concat());
}
