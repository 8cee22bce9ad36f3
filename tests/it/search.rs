//! Search: what was crawled is found, once, while the crawl runs and after it was killed.

mod cranfield;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use larm_core::Limits;
use larm_crawl::Crawl;
use larm_search::{Found, Request, SearchIndex, SearchSink};
use larm_testsite::{Features, WebPlan};
use serde_json::Value;

use crate::hand::{Hand, page, with_body};
use crate::kept::Kept;
use crate::larm::{Larm, said};
use crate::world::{Gate, World, assert_none, run, runtime};

const HTML: &str = "text/html; charset=utf-8";

/// A few pages about eggs and hens.
fn farm() -> Hand {
    let links = "<a href=/eggs>All about eggs</a> <a href=/hens>Hens</a> <a href=/evil>Evil</a>";
    let eggs =
        "<title>Eggs &amp; more</title><p>Boil eggs for <b>five</b> minutes. An egg is fine.";
    let hens = "<title>Hens</title><p>Hens lay. Nobody knows how many eggs. A hen house is small.";
    let evil = "<title>Evil \u{1b}]0;owned\u{7}\u{1b}[31m\u{202e} &quot;title&quot; <x></title>\
                <p>evil \u{1b}[2J words\u{9b}31m &lt;b&gt;bold&lt;/b&gt; \u{0} end";
    Hand::serve(|_| {
        vec![
            ("farm/".into(), with_body(HTML, &format!("<title>Farm</title>{links}"))),
            ("farm/eggs".into(), with_body(HTML, eggs)),
            ("farm/hens".into(), with_body(HTML, hens)),
            ("farm/evil".into(), with_body(HTML, evil)),
        ]
    })
}

fn crawled(hand: &Hand) {
    let mut plan = hand.plan("farm/", &["farm"]);
    plan.probe = false;
    let sink = SearchSink::new(&plan.dir, &plan.limits);
    run(Crawl::new(plan).sink(sink)).expect("the crawl ends well");
}

fn larm(arguments: &[&str]) -> Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_larm"));
    command.args(arguments).output().expect("the binary starts")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", said(output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// All pages that are found by anything.
pub fn everything(dir: &Path) -> Found {
    let limits = Limits { search_ranked_max: 1_000_000, ..Limits::default() };
    let index = SearchIndex::open(dir, &limits).expect("an index");
    assert_eq!(index.why_incomplete(), None);
    let request = Request { limit: 1_000_000, similar: true, ..Request::default() };
    index.search(&request, &|_| None).expect("an answer")
}

#[test]
fn a_finished_crawl_that_is_started_again_and_again_lacks_nothing() {
    let hand = farm();
    (0..4).for_each(|_| crawled(&hand));
    assert_eq!(everything(&hand.dir()).total, 4);
}

#[test]
fn a_page_that_does_not_want_to_be_found_is_archived_and_not_found() {
    let links = "<a href=/meta>one</a> <a href=/header>two</a> <a href=/plain>three</a>";
    let meta = "<meta name=robots content=noindex><p>owls by night <a href=/behind>more</a>";
    let tagged = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: noindex\r\n\
                   Content-Length: 17\r\n\r\n<p>owls in barns.";
    let hand = Hand::serve(|_| {
        vec![
            ("farm/".into(), with_body(HTML, links)),
            ("farm/meta".into(), with_body(HTML, meta)),
            ("farm/header".into(), tagged.to_vec()),
            ("farm/plain".into(), with_body(HTML, "<p>owls on roofs at noon")),
            ("farm/behind".into(), with_body(HTML, "<p>owls behind it all, asleep")),
        ]
    });
    crawled(&hand);
    let dir = hand.dir().display().to_string();
    let found = json(&larm(&["search", &dir, "owls", "--json"]));
    let hits = found["hits"].as_array().expect("a list");
    let mut urls: Vec<_> = hits.iter().filter_map(|hit| hit["url"].as_str()).collect();
    urls.sort_unstable();
    assert_eq!(urls, [hand.url("farm/behind"), hand.url("farm/plain")]);
    let kept = Kept::of(&hand.dir());
    assert_eq!(kept.index.iter().filter(|line| line["status"] == "200").count(), 5);
    let marked = kept.log.iter().filter_map(|line| line["facts"]["noindex"].as_str());
    assert_eq!(marked.collect::<BTreeSet<_>>(), BTreeSet::from(["X-Robots-Tag", "meta robots"]));
}

#[test]
fn the_answer_in_json_is_as_promised() {
    let hand = farm();
    crawled(&hand);
    let dir = hand.dir().display().to_string();
    let all = json(&larm(&["search", &dir, "eggs", "--json"]));
    assert_eq!(all["total"], 3);
    let hits = all["hits"].as_array().expect("a list");
    assert_eq!(hits[0]["url"], hand.url("farm/eggs"));
    assert_eq!(hits[0]["title"], "Eggs & more");
    assert!(hits[0]["score"].as_f64() >= hits[1]["score"].as_f64());
    let snippet = hits[0]["snippet"].as_str().expect("text");
    let mark = &hits[0]["marks"][0];
    let [from, to] = [&mark[0], &mark[1]].map(|n| n.as_u64().expect("a number") as usize);
    assert_eq!(&snippet[from..to], "eggs");
    let one = json(&larm(&["search", &dir, "--limit", "1", "--json", "eggs"]));
    assert_eq!((&one["total"], one["hits"].as_array().map(Vec::len)), (&Value::from(3), Some(1)));
    let next = json(&larm(&["search", &dir, "eggs", "--limit=1", "--offset=1", "--json"]));
    assert_eq!(next["hits"][0]["url"], hits[1]["url"]);
    let none = json(&larm(&["search", &dir, "zebra", "--json"]));
    assert_eq!((&none["total"], &none["missing"][0]), (&Value::from(0), &Value::from("zebra")));
}

#[test]
fn queries_can_be_typed_as_they_are() {
    let hand = farm();
    crawled(&hand);
    let dir = hand.dir().display().to_string();
    for (arguments, expected) in [
        (vec!["eggs", "-hens"], vec!["eggs"]),
        (vec!["-hens", "eggs"], vec!["eggs"]),
        (vec!["+eggs", "+nobody"], vec!["hens"]),
        (vec!["\"hen house\""], vec!["hens"]),
        (vec!["title:eggs"], vec!["eggs"]),
        (vec!["anchor:about"], vec!["eggs"]),
        (vec!["eggs", "--host", "elsewhere"], vec![]),
        (vec!["nob*", "--host", "farm"], vec!["hens"]),
        (vec!["--type", "html", "--since", "2020", "nobody"], vec!["hens"]),
    ] {
        let mut all = vec!["search", dir.as_str(), "--json"];
        all.extend(&arguments);
        let answer = json(&larm(&all));
        let hits = answer["hits"].as_array().expect("a list");
        let urls: Vec<&str> = hits.iter().filter_map(|hit| hit["url"].as_str()).collect();
        let expected: Vec<String> =
            expected.iter().map(|path| hand.url(&format!("farm/{path}"))).collect();
        assert_eq!(urls, expected, "{arguments:?}");
    }
    let wrong = larm(&["search", &dir, "--since", "yesterday", "eggs"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", said(&wrong));
    assert_eq!(larm(&["search", &dir]).status.code(), Some(2));
}

#[test]
fn what_a_page_says_cannot_command_a_terminal() {
    let hand = farm();
    crawled(&hand);
    let output = larm(&["search", &hand.dir().display().to_string(), "evil", "--explain"]);
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("evil") && text.contains("score"), "{text}");
    let bad = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
    assert_none("control characters", text.chars().filter(bad));
}

#[test]
fn without_an_index_search_says_why() {
    let world = World::new(WebPlan { hosts: 1, pages_per_host: 3, ..WebPlan::default() });
    let larm = Larm::new(&world, "0");
    let crawled = larm.run_with(&["--no-index"], &world.dir());
    assert!(crawled.status.success(), "{}", said(&crawled));
    assert!(!world.dir().join("search").exists());
    let searched = larm.ask(&["search", &world.dir().display().to_string(), "word"]);
    assert_eq!(searched.status.code(), Some(2));
    assert!(said(&searched).contains("--no-index"), "{}", said(&searched));
    // Turned on later, the index says what it lacks.
    let again = larm.run_with(&["--no-index=false"], &world.dir());
    assert!(again.status.success(), "{}", said(&again));
    let searched = larm.ask(&["search", &world.dir().display().to_string(), "word"]);
    assert!(said(&searched).contains("lacks pages"), "{}", said(&searched));
}

#[test]
fn an_index_that_was_left_behind_says_what_it_lacks_until_it_is_made_anew() {
    let world = World::new(WebPlan { hosts: 1, pages_per_host: 9, ..WebPlan::default() });
    let larm = Larm::new(&world, "0");
    let dir = world.dir().display().to_string();
    let lacks = || said(&larm.ask(&["search", &dir, "word"])).contains("lacks pages");
    larm.run_with(&["--max-pages=3"], &world.dir());
    assert!(!lacks());
    larm.run_with(&["--max-pages=6", "--no-index"], &world.dir());
    assert!(lacks());
    larm.run_with(&["--max-pages=99", "--no-index=false"], &world.dir());
    assert!(lacks(), "there is a hole in it");
    assert!(larm.ask(&["rebuild", &dir]).status.success());
    assert!(!lacks());
}

#[test]
fn pages_are_found_while_the_crawl_runs() {
    let world = World::new(WebPlan { hosts: 4, pages_per_host: 40, ..WebPlan::default() });
    let mut plan = world.plan();
    plan.limits.commit_ms_max = 1;
    plan.limits.index_commit_ms_max = 5;
    let gate = Gate::at(100);
    let sink = SearchSink::new(&plan.dir, &plan.limits);
    let crawl = gate.before_pages_of(Crawl::new(plan).sink(sink));
    runtime().block_on(async {
        let running = crawl.start().expect("the crawl starts");
        gate.reached().await;
        let index = SearchIndex::open(&world.dir(), &Limits::default()).expect("an index");
        let request = Request { limit: 1, ..Request::default() };
        loop {
            index.reload().expect("the index can be read while it is written");
            let found = index.search(&request, &|_| None).expect("an answer");
            if found.total > 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
        gate.open();
        running.wait().await.expect("the crawl ends well")
    });
    assert!(everything(&world.dir()).total > 100);
}

/// Every page that was kept is in the index once, as itself or as a copy; nothing else is.
fn assert_agrees(dir: &Path) {
    let kept = Kept::of(dir);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let found = everything(dir);
    assert_eq!(found.total, found.hits.len() as u64);
    for hit in found.hits {
        [hit.url]
            .into_iter()
            .chain(hit.copies)
            .for_each(|url| *counts.entry(url).or_default() += 1);
    }
    assert_none("in the index twice", counts.iter().filter(|(_, count)| **count > 1));
    let pages = kept.pages.iter().filter_map(|page| page["url"].as_str());
    assert_none("kept, but not in the index", pages.filter(|url| !counts.contains_key(*url)));
    let is_kept =
        |url: &String| kept.log.iter().any(|line| line["url"] == **url && line["status"] == 200);
    assert_none("in the index, but not kept", counts.keys().filter(|url| !is_kept(url)));
    assert!(kept.pages.len() > 100, "only {} pages", kept.pages.len());
}

#[test]
fn a_crawl_killed_while_indexing_finds_every_page_once() {
    let features =
        Features { duplicates: true, mirrors: true, redirects: true, ..Features::none() };
    let web = WebPlan {
        hosts: 4,
        pages_per_host: 80,
        features,
        latency_ms: 20,
        named_hosts: true,
        ..WebPlan::default()
    };
    let world = World::new(web);
    let larm = Larm::new(&world, "0");
    // The index commits all the time, and so is killed in the midst of it.
    let hasty = ["--limit=index_commit_ms_max=20", "--limit=index_journal_bytes_max=20000"];
    let mut kills = 0;
    while kills < 12 {
        let after = Duration::from_millis(150 + 61 * kills % 400);
        if larm.start_with(&hasty, &world.dir()).kill(after).is_err() {
            break;
        }
        kills += 1;
    }
    assert!(kills > 5, "larm ended before kill {kills}");
    let last = larm.run_with(&hasty, &world.dir());
    assert!(last.status.success(), "{}", said(&last));
    assert_agrees(&world.dir());
}

#[test]
fn a_damaged_index_does_not_keep_a_crawl_from_going_on() {
    let hand = Hand::serve(|_| {
        let names: Vec<String> = (0..40).map(|n| format!("/{n}")).collect();
        let links: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut pages = vec![("h/".to_owned(), page(&links))];
        pages.extend(names.iter().map(|name| {
            (
                format!("h{name}"),
                with_body(HTML, &format!("<title>{name}</title><p>text of {name}")),
            )
        }));
        pages
    });
    let crawl = |pages: u64| {
        let mut plan = hand.plan("h/", &["h"]);
        plan.probe = false;
        plan.budgets.pages_max = Some(pages);
        let sink = SearchSink::new(&plan.dir, &plan.limits);
        run(Crawl::new(plan).sink(sink)).expect("the crawl ends well")
    };
    crawl(10);
    std::fs::write(hand.dir().join("search/index/meta.json"), "garbage").expect("a file");
    crawl(1_000);
    let index = SearchIndex::open(&hand.dir(), &Limits::default()).expect("an index");
    assert!(index.why_incomplete().is_some_and(|why| why.contains("damaged")));
    let request = Request { query: "text".into(), limit: 100, ..Request::default() };
    let found = index.search(&request, &|_| None).expect("an answer");
    assert!((20..=31).contains(&found.total), "{}", found.total);
}

#[test]
fn a_rebuild_makes_an_index_that_lacks_pages_whole() {
    let features = Features { duplicates: true, redirects: true, ..Features::none() };
    let web = WebPlan { hosts: 3, pages_per_host: 50, features, ..WebPlan::default() };
    let world = World::new(web);
    let larm = Larm::new(&world, "0");
    let crawled = larm.run_with(&["--no-index"], &world.dir());
    assert!(crawled.status.success(), "{}", said(&crawled));
    let again = larm.run_with(&["--no-index=false"], &world.dir());
    assert!(again.status.success(), "{}", said(&again));
    let dir = world.dir().display().to_string();
    let rebuilt = larm.ask(&["rebuild", &dir]);
    assert!(rebuilt.status.success(), "{}", said(&rebuilt));
    assert_agrees(&world.dir());
    // It is the crawl's own index from now on.
    let again = larm.run(&world.dir());
    assert!(again.status.success(), "{}", said(&again));
    assert_agrees(&world.dir());
}
