//! The truth and the server agree, and both follow from the plan alone.

use std::collections::BTreeMap;

use larm_testsite::{Features, Kind, TestSite, WebPlan};

use crate::client::get;
use crate::reference::{Crawl, crawl};

/// Crawls a web and compares everything with the truth about it.
fn assert_agreement(plan: WebPlan) -> (TestSite, Crawl) {
    let site = TestSite::start(plan).unwrap();
    let (truth, found) = (site.truth(), crawl(&site));
    let expected: BTreeMap<_, _> =
        truth.pages.iter().map(|(url, expect)| (url.clone(), expect.status)).collect();
    assert_eq!(found.statuses, expected);
    assert_eq!(found.forbidden, truth.forbidden);
    assert_eq!(found.nofollow, truth.nofollow);
    assert_eq!(found.actions, truth.actions);
    let audit = site.audit();
    assert!(audit.coverage.missing.is_empty(), "{:?}", audit.coverage.missing);
    assert!(audit.coverage.extra.is_empty(), "{:?}", audit.coverage.extra);
    assert!(audit.forbidden.is_empty() && audit.forbidden_actions.is_empty());
    assert!(audit.overlap.is_empty(), "{:?}", audit.overlap);
    (site, found)
}

#[test]
fn a_plain_web_is_found_whole_from_one_seed() {
    let plan = WebPlan { hosts: 5, pages_per_host: 40, ..WebPlan::default() };
    let (site, found) = assert_agreement(plan);
    assert_eq!(found.statuses.len(), 5 * 40);
    assert_eq!(site.requests().len(), 5 * 40 + 5);
}

#[test]
fn a_web_with_every_difficulty_is_as_its_truth_says() {
    let (site, found) =
        assert_agreement(WebPlan { features: Features::all(), ..WebPlan::default() });
    let truth = site.truth();
    assert!(!truth.forbidden.is_empty() && !truth.nofollow.is_empty() && !truth.actions.is_empty());
    for (url, body) in &found.bodies {
        let complete = !matches!(truth.pages[url].kind, Kind::Broken(_) | Kind::Unreachable);
        assert!(!complete || site.body(url).as_ref() == Some(body), "{url}");
    }
}

#[test]
fn hosts_with_names_are_as_their_truth_says() {
    let features = Features { hostile: false, slow: false, ..Features::all() };
    let plan = WebPlan {
        seed: 8,
        hosts: 4,
        hosts_per_address: 2,
        named_hosts: true,
        features,
        ..WebPlan::default()
    };
    let (site, _) = assert_agreement(plan);
    assert!(site.seeds()[0].starts_with("http://h000.site0.test:"));
}

#[test]
fn markup_of_many_seeds_is_as_its_truth_says() {
    for seed in 0..8 {
        let features =
            Features { markup: true, encodings: true, mirrors: true, ..Features::none() };
        assert_agreement(WebPlan { seed, pages_per_host: 30, features, ..WebPlan::default() });
    }
}

#[test]
fn the_demo_is_small_and_speaks_like_people() {
    let (site, found) = assert_agreement(WebPlan { latency_ms: 0, ..WebPlan::demo() });
    let pages = found.statuses.values().filter(|status| **status == 200).count();
    assert!((80..150).contains(&pages), "{pages}");
    let start = &found.titles[&site.seeds()[0]];
    assert_eq!(start, "Museum of Everyday Things");
    assert!(found.titles.values().any(|title| title == "A Kettle from the Harbour"));
}

#[test]
fn titles_survive_their_charset() {
    let features = Features { charsets: true, ..Features::none() };
    let (site, found) = assert_agreement(WebPlan { hosts: 1, features, ..WebPlan::default() });
    let utf16: Vec<_> =
        found.titles.iter().filter(|(url, _)| url.contains("charset/utf-16")).collect();
    assert_eq!(utf16.len(), 2);
    for (url, title) in utf16 {
        assert_eq!(site.title(url).as_ref(), Some(title), "{url}");
    }
}

#[test]
fn equal_content_has_equal_bytes_and_no_other_has() {
    let features = Features { duplicates: true, mirrors: true, markup: true, ..Features::none() };
    let site = TestSite::start(WebPlan { features, ..WebPlan::default() }).unwrap();
    let mut bodies: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut copies = 0;
    for (url, expect) in site.truth().pages {
        let body = get(&site, &url).body;
        let known = bodies.entry(expect.content).or_insert_with(|| body.clone());
        assert!(*known == body, "{url}");
        copies += usize::from(matches!(expect.kind, Kind::DuplicateOf(_) | Kind::MirrorOf(_)));
    }
    let distinct: std::collections::BTreeSet<_> = bodies.values().collect();
    assert_eq!(distinct.len(), bodies.len());
    assert!(copies >= 10, "{copies}");
}

#[test]
fn the_same_plan_and_port_give_the_same_bytes() {
    let features = Features { hostile: false, flaky: false, slow: false, ..Features::all() };
    let plan = WebPlan { features, ..WebPlan::default() };
    let first = TestSite::start(plan.clone()).unwrap();
    let (port, urls) = (first.port(), first.truth().pages.into_keys().collect::<Vec<_>>());
    let bytes = |site: &TestSite| urls.iter().map(|url| get(site, url).raw).collect::<Vec<_>>();
    let before = bytes(&first);
    drop(first);
    let second = TestSite::start_at(plan.clone(), port).unwrap();
    assert!(before == bytes(&second));
    drop(second);
    let other = TestSite::start_at(WebPlan { seed: 2, ..plan }, port).unwrap();
    assert!(before != bytes(&other));
}
