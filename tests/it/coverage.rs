//! Every reachable page is fetched, once, and nothing else.

use larm_testsite::{Features, WebPlan};

use crate::world::{World, crawl};

#[test]
fn a_plain_web_is_fetched_whole_and_once() {
    let world = World::new(WebPlan { hosts: 5, pages_per_host: 20, ..WebPlan::default() });
    let summary = crawl(world.plan());
    let audit = world.audit();
    assert_eq!(audit.coverage.missing, Vec::<String>::new());
    assert_eq!(audit.overlap, vec![]);
    assert_eq!(audit.coverage.extra, Vec::<String>::new());
    assert_eq!(summary.fetched, 100, "{summary:?}");
}

#[test]
fn a_hostile_web_of_a_hundred_hosts_is_covered_without_a_forbidden_request() {
    let features = Features::all();
    let world = World::new(WebPlan {
        hosts: 100,
        pages_per_host: 10,
        features,
        named_hosts: true,
        hosts_per_address: 2,
        ..WebPlan::default()
    });
    let summary = crawl(world.plan());
    println!("{summary:#?}");
    let audit = world.audit();
    let few = |list: &[String]| list.iter().take(5).cloned().collect::<Vec<_>>();
    println!("missing {} {:?}", audit.coverage.missing.len(), few(&audit.coverage.missing));
    println!(
        "overlap {} {:?}",
        audit.overlap.len(),
        audit.overlap.iter().take(5).collect::<Vec<_>>()
    );
    println!("forbidden {:?}", few(&audit.forbidden));
    println!("actions {:?}", few(&audit.forbidden_actions));
    println!("extra {} {:?}", audit.coverage.extra.len(), few(&audit.coverage.extra));
    println!("nofollowed {:?}", few(&audit.coverage.nofollowed));
    println!("impatient {:?}", few(&audit.impatient));
    println!(
        "trapped {} {:?}",
        audit.coverage.trapped.len(),
        audit.coverage.trapped.iter().take(3).collect::<Vec<_>>()
    );
    assert_eq!(audit.coverage.missing, Vec::<String>::new());
    assert_eq!(audit.overlap, vec![]);
    assert_eq!(audit.forbidden, Vec::<String>::new());
    assert_eq!(audit.forbidden_actions, Vec::<String>::new());
    assert_eq!(audit.coverage.extra, Vec::<String>::new());
    assert_eq!(audit.coverage.nofollowed, Vec::<String>::new());
    assert_eq!(audit.coverage.trapped, vec![]);
}
