//! Pages that are there already: near-duplicates, mirrors, index files of directories.

use std::collections::BTreeSet;
use std::process::Command;

use larm_core::Outcome;
use larm_core::scope::ScopeMode;
use larm_crawl::explain::Stand;
use larm_crawl::frontier::PageRow;
use larm_crawl::{Duplicates, Handle, Plan};
use larm_testsite::{Features, WebPlan};

use crate::hand::{Hand, with_body};
use crate::world::{World, assert_perfect, crawl, crawl_and_ask, url};

const WORDS: [&str; 24] = [
    "river", "stone", "harbour", "winter", "letter", "garden", "copper", "shadow", "market",
    "window", "bridge", "feather", "meadow", "lantern", "silver", "orchard", "engine", "velvet",
    "compass", "thunder", "marble", "kettle", "ladder", "violin",
];

/// Words that a number fixes, so many that two of them are no more than a bit or two, and links.
fn article(number: u64, extra: &str, links: &[String]) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut word = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WORDS[(state >> 33) as usize % WORDS.len()]
    };
    let text: Vec<&str> = (0..1_200).map(&mut word).collect();
    let anchors: String = links.iter().map(|to| format!("<li><a href=\"{to}\">to</a>")).collect();
    let text = text.join(" ");
    let body = format!("<!doctype html><title>{number}</title><p>{text} {extra}<ul>{anchors}</ul>");
    with_body("text/html; charset=utf-8", &body)
}

fn links(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

fn row(handle: &Handle, at: &str) -> PageRow {
    match handle.explain(&url(at)).expect("an explanation").stand {
        Stand::Settled { page } => *page,
        other => panic!("{at}: {other:?}"),
    }
}

/// What the program says.
fn larm(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_larm")).args(arguments).output();
    let output = output.expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("it writes UTF-8")
}

fn asked_of(hand: &Hand, host: &str) -> BTreeSet<String> {
    let asked = hand.asked().into_iter();
    asked.filter_map(|place| place.strip_prefix(host).map(str::to_owned)).collect()
}

fn everywhere(hand: &Hand, seed: &str, hosts: &[&str]) -> Plan {
    let mut plan = hand.plan(seed, hosts);
    plan.selection.scope = ScopeMode::Any;
    plan.allow_private = vec!["127.0.0.0/8".parse().expect("a network")];
    plan.probe = false;
    plan
}

/// A page, a copy of it with another date, and what each of them leads to.
fn near_copies() -> Hand {
    Hand::serve(|_| {
        let start = links(&["/article", "/copy"]);
        vec![
            ("h.test/".to_owned(), article(1, "", &start)),
            ("h.test/article".to_owned(), article(2, "on monday", &links(&["/", "/more"]))),
            ("h.test/copy".to_owned(), article(2, "on friday", &links(&["/", "/more", "/ad"]))),
            ("h.test/more".to_owned(), article(3, "", &[])),
            ("h.test/ad".to_owned(), article(4, "", &[])),
        ]
    })
}

#[test]
fn a_near_copy_is_kept_and_marked_and_leads_nowhere() {
    let hand = near_copies();
    let plan = Plan { probe: false, ..hand.plan("h.test/", &["h.test"]) };
    let (summary, handle) = crawl_and_ask(plan);
    assert_eq!(
        asked_of(&hand, "h.test"),
        ["/", "/article", "/copy", "/more"].map(String::from).into()
    );
    assert_eq!(summary.near_duplicates, 1, "{summary:?}");
    let copy = row(&handle, &hand.url("h.test/copy"));
    let fact = copy.fact("near-duplicate").expect("it is marked");
    assert!(fact.contains(&format!("of {}", hand.url("h.test/article"))), "{fact}");
    assert!(copy.warc.is_some(), "it is kept");
    assert!(row(&handle, &hand.url("h.test/article")).fact("near-duplicate").is_none());
}

#[test]
fn why_says_that_a_link_stands_on_a_near_copy_only() {
    let hand = near_copies();
    let dir = hand.dir().display().to_string();
    let resolve = format!("--resolve=h.test:{}:127.0.0.1", hand.port());
    let start = hand.url("h.test/");
    larm(&["crawl", &start, "-o", &dir, "--delay", "0", "--no-progress", &resolve]);
    let why = larm(&["why", &dir, &hand.url("h.test/ad")]);
    let original = hand.url("h.test/article");
    assert!(
        why.contains(&format!("near-duplicate: the page says nearly the same as {original}")),
        "{why}"
    );
    let why = larm(&["why", &dir, &hand.url("h.test/copy")]);
    assert!(why.contains(&format!("near-duplicate: of {original}")), "{why}");
}

#[test]
fn a_near_copy_is_followed_where_that_was_asked_for() {
    for (duplicates, marked) in [(Duplicates::Mark, 1), (Duplicates::Off, 0)] {
        let hand = near_copies();
        let plan = Plan { duplicates, ..hand.plan("h.test/", &["h.test"]) };
        let (summary, _) = crawl_and_ask(plan);
        assert!(asked_of(&hand, "h.test").contains("/ad"), "{duplicates:?}");
        assert_eq!(summary.near_duplicates, marked, "{duplicates:?}");
    }
}

#[test]
fn where_a_site_begins_its_links_are_followed() {
    let names = ["one.test", "other.example"];
    let hand = Hand::serve(|port| {
        let other = format!("http://other.example:{port}/");
        vec![
            ("one.test/".to_owned(), article(1, "here", &[links(&["/a"]), vec![other]].concat())),
            ("one.test/a".to_owned(), article(2, "", &[])),
            ("other.example/".to_owned(), article(1, "there", &links(&["/a"]))),
            ("other.example/a".to_owned(), article(3, "", &[])),
        ]
    });
    let (summary, _) = crawl_and_ask(everywhere(&hand, "one.test/", &names));
    assert_eq!(summary.near_duplicates, 1, "{summary:?}");
    assert!(hand.asked().contains(&"other.example/a".to_owned()), "{:?}", hand.asked());
}

#[test]
fn lists_that_differ_in_their_links_only_are_followed() {
    let hand = Hand::serve(|_| {
        let pages: Vec<String> = (0..4).map(|page| format!("/list?page={page}")).collect();
        let mut answers = vec![("h.test/".to_owned(), article(1, "", &pages))];
        for page in 0..4 {
            let items = (0..10).map(|item| format!("/item/{page}{item}"));
            let all: Vec<String> = pages.iter().cloned().chain(items).collect();
            answers.push((format!("h.test/list?page={page}"), article(2, "", &all)));
        }
        answers
    });
    let (summary, _) = crawl_and_ask(hand.plan("h.test/", &["h.test"]));
    let items = asked_of(&hand, "h.test").iter().filter(|path| path.starts_with("/item/")).count();
    assert_eq!(items, 40, "{summary:?}");
    assert_eq!(summary.near_duplicates, 3, "they are marked all the same");
}

#[test]
fn the_canonical_url_is_the_original_whoever_came_first() {
    let hand = Hand::serve(|_| {
        let canonical = "<link rel=canonical href=/article>";
        vec![
            ("h.test/".to_owned(), article(1, "", &links(&["/variant"]))),
            ("h.test/variant".to_owned(), article(2, canonical, &links(&["/a"]))),
            ("h.test/article".to_owned(), article(2, "", &links(&["/b"]))),
            ("h.test/a".to_owned(), article(3, "", &[])),
            ("h.test/b".to_owned(), article(4, "", &[])),
        ]
    });
    let (_, handle) = crawl_and_ask(hand.plan("h.test/", &["h.test"]));
    let article = row(&handle, &hand.url("h.test/article"));
    assert_eq!(article.fact("near-duplicate"), None);
    assert!(asked_of(&hand, "h.test").contains("/b"));
    let variant = row(&handle, &hand.url("h.test/variant"));
    assert_eq!(variant.fact("canonical"), Some(hand.url("h.test/article").as_str()));
    assert!(variant.fact("variant").is_some_and(|fact| fact.contains("/article")), "{variant:?}");
}

#[test]
fn a_near_copy_leads_to_pages_of_a_kind_that_has_much_to_say() {
    let hand = Hand::serve(|_| {
        let mut start: Vec<String> = (1..=24).map(|n| format!("/class/{n}")).collect();
        start.push("/twins".to_owned());
        let twins = links(&["/class/100", "/class/101"]);
        let mut answers: Vec<(String, Vec<u8>)> =
            (1..=24).map(|n| (format!("h.test/class/{n}"), article(n, "", &[]))).collect();
        answers.extend([
            ("h.test/".to_owned(), article(50, "", &start)),
            ("h.test/twins".to_owned(), article(51, "", &twins)),
            ("h.test/class/100".to_owned(), article(52, "of int", &links(&["/class/200"]))),
            ("h.test/class/101".to_owned(), article(52, "of char", &links(&["/class/201", "/ad"]))),
            ("h.test/class/200".to_owned(), article(53, "", &[])),
            ("h.test/class/201".to_owned(), article(54, "", &[])),
        ]);
        answers
    });
    let plan = Plan { probe: false, ..hand.plan("h.test/", &["h.test"]) };
    let (summary, handle) = crawl_and_ask(plan);
    assert_eq!(summary.near_duplicates, 1, "{summary:?}");
    let asked = asked_of(&hand, "h.test");
    assert!(asked.contains("/class/200") && asked.contains("/class/201"), "{asked:?}");
    assert!(!asked.contains("/ad"), "of its kind nothing is known");
    let twin = row(&handle, &hand.url("h.test/class/101"));
    let fact = twin.fact("near-duplicate").expect("it is marked");
    assert!(fact.ends_with("not followed but for 1 to what brings much as a rule"), "{fact}");
}

/// Twenty pages under each name; each links to the next two, the first one to the other host, too.
fn mirrors(names: [&'static str; 2]) -> Hand {
    Hand::serve(move |port| {
        let mut answers = Vec::new();
        for name in names {
            for page in 0..20u64 {
                let next = [page * 2 + 1, page * 2 + 2].into_iter().filter(|next| *next < 20);
                let mut links: Vec<String> = next.map(|next| format!("/p{next}")).collect();
                if page == 19 {
                    links.push(format!("http://{}:{port}/", names[1]));
                }
                let path = if page == 0 { "/".to_owned() } else { format!("/p{page}") };
                answers.push((format!("{name}{path}"), article(page, "", &links)));
            }
        }
        answers
    })
}

#[test]
fn a_mirror_is_found_out_and_not_asked_any_more() {
    let names = ["one.test", "other.example"];
    let hand = mirrors(names);
    let (summary, handle) = crawl_and_ask(everywhere(&hand, "one.test/", &names));
    assert_eq!(asked_of(&hand, "one.test").len(), 20, "the original is fetched whole");
    let mirrored = asked_of(&hand, "other.example").len();
    assert!((8..16).contains(&mirrored), "{mirrored} of 20");
    let [from, of] =
        ["other.example", "one.test"].map(|host| format!("http://{host}:{}", hand.port()));
    assert_eq!(summary.mirrors.get(&from), Some(&of), "{summary:?}");
    let asked = asked_of(&hand, "other.example");
    let left = (1..20).map(|page| format!("/p{page}")).filter(|path| !asked.contains(path));
    for path in left {
        let place = url(&hand.url(&format!("other.example{path}")));
        let said = format!("{:?}", handle.explain(&place).expect("an explanation").stand);
        assert!(said.contains("mirror"), "{place}: {said}");
    }
}

#[test]
fn www_and_apex_need_little_evidence() {
    let names = ["example.test", "www.example.test"];
    let hand = mirrors(names);
    crawl(everywhere(&hand, "example.test/", &names));
    let asked = asked_of(&hand, "www.example.test").len();
    assert!((4..12).contains(&asked), "{asked} of 20");
}

#[test]
fn what_was_found_of_mirrors_survives_the_end_of_a_run() {
    let names = ["one.test", "other.example"];
    let hand = mirrors(names);
    let plan = everywhere(&hand, "one.test/", &names);
    let (_, handle) = crawl_and_ask(plan.clone());
    let asked = hand.asked().len();
    drop(handle);
    let (summary, _) = crawl_and_ask(plan);
    assert_eq!(hand.asked().len(), asked, "nothing is asked again");
    assert_eq!(summary.mirrors.len(), 1);
}

#[test]
fn hosts_that_share_many_pages_and_not_all_lose_none() {
    let names = ["one.test", "other.example"];
    let hand = Hand::serve(|port| {
        let shared: Vec<String> = (1..16).map(|page| format!("/p{page}")).collect();
        let own: Vec<String> = (0..10).map(|page| format!("/own{page}")).collect();
        let late: Vec<String> = (0..5).map(|page| format!("/late{page}")).collect();
        let mut answers = Vec::new();
        for (name, start) in [("one.test", 100), ("other.example", 200)] {
            let mut all = shared.clone();
            if start == 100 {
                all.push(format!("http://other.example:{port}/"));
            } else {
                all.extend(own.clone());
            }
            answers.push((format!("{name}/"), article(start, "", &all)));
            answers.extend((1..16).map(|n| (format!("{name}/p{n}"), article(n, "", &[]))));
        }
        for n in 0..10 {
            answers.push((format!("other.example/own{n}"), article(300 + n, "", &late)));
        }
        answers
            .extend((0..5).map(|n| (format!("other.example/late{n}"), article(400 + n, "", &[]))));
        answers
    });
    crawl(everywhere(&hand, "one.test/", &names));
    let asked = asked_of(&hand, "other.example");
    let own = asked.iter().filter(|path| path.starts_with("/own") || path.starts_with("/late"));
    assert_eq!(own.count(), 15, "{asked:?}");
}

#[test]
fn index_files_are_directories_where_the_host_shows_it_and_only_there() {
    let hand = Hand::serve(|_| {
        let dirs: Vec<String> = (0..12).map(|n| format!("/d{n}/")).collect();
        let files: Vec<String> = (0..12).map(|n| format!("/d{n}/index.html")).collect();
        let mut answers = vec![
            ("same.test/".to_owned(), article(1, "", &[dirs.clone(), files.clone()].concat())),
            ("differs.test/".to_owned(), article(2, "", &[dirs, files].concat())),
        ];
        for n in 0..12 {
            for (place, number) in [("", n), ("index.html", n)] {
                let body = article(10 + number, "", &[]);
                answers.push((format!("same.test/d{n}/{place}"), body));
            }
            answers.push((format!("differs.test/d{n}/"), article(100 + n, "", &[])));
            answers.push((format!("differs.test/d{n}/index.html"), article(200 + n, "", &[])));
        }
        answers
    });
    let (summary, handle) = crawl_and_ask(hand.plan("same.test/", &["same.test"]));
    let asked = asked_of(&hand, "same.test");
    let files = asked.iter().filter(|path| path.ends_with("index.html")).count();
    assert_eq!((files, asked.len()), (3, 1 + 12 + 3), "{summary:?}");
    let left = row(&handle, &hand.url("same.test/d11/index.html"));
    assert!(
        matches!(&left.outcome, Outcome::Rejected { filter, .. } if filter == "index-file"),
        "{left:?}"
    );
    let mut plan = hand.plan("differs.test/", &["differs.test"]);
    plan.dir = hand.dir().with_extension("differs");
    crawl(plan);
    assert_eq!(asked_of(&hand, "differs.test").len(), 25);
}

#[test]
fn copies_and_mirrors_of_a_web_cost_no_page() {
    let world = World::new(WebPlan {
        hosts: 3,
        pages_per_host: 40,
        named_hosts: true,
        features: Features { mirrors: true, duplicates: true, ..Features::none() },
        ..WebPlan::default()
    });
    let (summary, _) = crawl_and_ask(world.plan());
    assert_perfect(&world.audit());
    assert_eq!(summary.mirrors.len(), 1, "{summary:?}");
}
