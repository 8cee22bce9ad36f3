//! `--keep-best`: archive, index, page list and search index hold the same pages, and these are the best.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use larm_core::Limits;
use larm_testsite::{Features, WebPlan};
use serde_json::Value;

use crate::kept::{Kept, text};
use crate::larm::{Larm, said};
use crate::search::everything;
use crate::world::World;

const BEST: usize = 20;
const FLAGS: [&str; 4] = ["--order", "backlinks", "--keep-best", "20"];

/// Pages and their links, and answers that are no pages.
fn web() -> World {
    let features =
        Features { redirects: true, dead_links: true, duplicates: true, ..Features::none() };
    let hosts = WebPlan { hosts: 3, pages_per_host: 30, features, ..WebPlan::default() };
    World::new(WebPlan { page_bytes: 6_000, latency_ms: 8, named_hosts: true, ..hosts })
}

fn set(urls: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    urls.into_iter().collect()
}

fn list(dir: &Path) -> Vec<Value> {
    let lines = std::fs::read_to_string(dir.join("pages/kept.jsonl")).expect("the list");
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// How many other pages link to each by links that were followed, as the link log says.
fn linked(kept: &Kept) -> BTreeMap<String, usize> {
    let mut pages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for visit in &kept.links {
        let from = text(visit, "from");
        let links = visit["links"].as_array().expect("a list").iter();
        for link in links.filter(|link| link["verdict"].is_null()) {
            pages.entry(text(link, "to")).or_default().insert(from.clone());
            pages.entry(from.clone()).or_default().remove(&from);
        }
    }
    pages.into_iter().map(|(url, from)| (url, from.len())).collect()
}

/// Fails unless all that is kept is one set of pages, and no other page has more links to it.
#[track_caller]
fn assert_best_are_kept(dir: &Path, pages: usize) {
    let kept = Kept::of(dir);
    kept.assert_archive_sound();
    let answers = kept.answered();
    assert_eq!(answers.len(), pages, "answers in the archive");
    let archive = set(answers);
    assert_eq!(set(kept.page_urls()), archive, "page list and archive");
    assert_eq!(set(kept.index.iter().map(|line| text(line, "url"))), archive, "CDXJ and archive");
    let found = everything(dir).hits.into_iter().map(|hit| hit.url);
    assert_eq!(set(found), archive, "search index and archive");
    let listed = list(dir);
    assert_eq!(set(listed.iter().map(|line| text(line, "url"))), archive, "list and archive");
    let worth: Vec<f64> = listed.iter().map(|line| line["worth"].as_f64().expect("one")).collect();
    assert!(worth.is_sorted_by(|one, next| one >= next), "the best first: {worth:?}");
    assert_no_better(&kept, &archive);
}

#[track_caller]
fn assert_no_better(kept: &Kept, archive: &BTreeSet<String>) {
    let linked = linked(kept);
    let links_to = |url: &String| linked.get(url).copied().unwrap_or_default();
    let least = archive.iter().map(links_to).min().expect("something is kept");
    let is_page = |line: &&Value| line["outcome"] == "fetched" && line["status"] == 200;
    let others = kept.log.iter().filter(is_page).filter(|line| line["same_as"].is_null());
    let others = others.map(|line| text(line, "url")).filter(|url| !archive.contains(url));
    let better: Vec<String> = others.filter(|url| links_to(url) > least).collect();
    // A near-duplicate is not kept, however many link to it; this web has none but copies.
    assert!(better.is_empty(), "{better:?} have more than {least} links, and are gone");
}

#[test]
fn the_best_pages_stay_and_all_parts_of_the_directory_agree_on_them() {
    let world = web();
    let larm = Larm::new(&world, "0");
    let output = larm.run_with(&FLAGS, &world.dir());
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("20 pages kept, the best by backlinks"), "{}", said(&output));
    assert_best_are_kept(&world.dir(), BEST);
    let dir = world.dir().display().to_string();
    let kept = text(&list(&world.dir())[0], "url");
    let cat = larm.ask(&["cat", &dir, &kept, "--text"]);
    assert!(cat.status.success() && !cat.stdout.is_empty(), "{}", said(&cat));
    let gone = Kept::of(&world.dir());
    let archive = set(gone.answered());
    let gone = gone.log.iter().filter(|line| line["status"] == 200);
    let gone = gone.map(|line| text(line, "url")).filter(|url| !url.ends_with("robots.txt"));
    let mut gone = gone.filter(|url| !archive.contains(url));
    let gone = gone.next_back().expect("a page that was dropped");
    let why = larm.ask(&["why", &dir, &gone]);
    let why = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(why.contains("dropped: it is not among the best pages"), "{why}");
    assert_eq!(larm.ask(&["cat", &dir, &gone]).status.code(), Some(2));
}

#[test]
fn a_crawl_goes_on_after_its_pages_were_dropped_and_better_ones_take_their_place() {
    let world = web();
    let larm = Larm::new(&world, "0");
    let begun = larm.run_with(&[&FLAGS[..], &["--max-pages", "45"]].concat(), &world.dir());
    assert_eq!(begun.status.code(), Some(4), "{}", said(&begun));
    assert_best_are_kept(&world.dir(), BEST);
    let first = set(Kept::of(&world.dir()).answered());
    let last = larm.run_with(&FLAGS, &world.dir());
    assert!(last.status.success(), "{}", said(&last));
    // What was dropped is gone: the best are those of what was kept and what came since.
    let kept = Kept::of(&world.dir());
    kept.assert_archive_sound();
    assert_eq!(kept.answered().len(), BEST);
    assert_ne!(set(kept.answered()), first, "half of the web came later");
    assert_eq!(set(kept.page_urls()), set(kept.answered()));
    let requests = world.site.requests().len();
    let again = larm.run_with(&FLAGS, &world.dir());
    assert!(again.status.success(), "{}", said(&again));
    assert_eq!(
        world.site.requests().len(),
        requests,
        "nothing that was dropped is asked for again"
    );
}

#[test]
fn killed_at_any_instant_a_crawl_keeps_the_best_once_it_has_ended() {
    let world = web();
    let larm = Larm::new(&world, "0");
    // From the first moments of the crawl to the last ones of the clearing up behind it.
    let (mut after, mut kills) = (120, 0);
    while larm.start_with(&FLAGS, &world.dir()).kill(Duration::from_millis(after)).is_ok() {
        (after, kills) = (after + 90 + after % 7 * 10, kills + 1);
        assert!(kills < 100, "it never ends");
    }
    assert!(kills > 3, "only {kills} kills");
    let last = larm.run_with(&FLAGS, &world.dir());
    assert!(last.status.success(), "{}", said(&last));
    assert_best_are_kept(&world.dir(), BEST);
    let leftovers = [".rebuild", ".rebuilt", ".rebuild-old"].map(|name| world.dir().join(name));
    assert!(!leftovers.iter().any(|path| path.exists()), "a stage was left behind");
}

#[test]
fn a_search_is_kept_by_how_relevant_pages_are_and_asked_for_later() {
    let world = web();
    let larm = Larm::new(&world, "0");
    let output = larm.run_with(&["--query", "chapter"], &world.dir());
    assert!(output.status.success(), "{}", said(&output));
    let dir = world.dir().display().to_string();
    let none = larm.ask(&["compact", &dir]);
    assert_eq!(none.status.code(), Some(2), "how many is to be said: {}", said(&none));
    let done = larm.ask(&["compact", &dir, "--keep-best", "7", "--json"]);
    assert!(done.status.success(), "{}", said(&done));
    let done: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!((&done["by"], &done["kept"]), (&"query".into(), &7.into()), "{done}");
    let bytes = std::fs::read(world.dir().join("state/readings")).expect("readings");
    let relevance = bytes[16..].chunks_exact(12).map(|entry| {
        let (page, reading) = entry.split_at(8);
        let page = u64::from_le_bytes(page.try_into().unwrap());
        (page, f32::from_le_bytes(reading.try_into().unwrap()))
    });
    let relevance: BTreeMap<u64, f32> = relevance.collect();
    let kept = Kept::of(&world.dir()).answered();
    let of = |url: &String| relevance[&larm_core::url::Fingerprint::of(url).0];
    let least = kept.iter().map(of).fold(f32::MAX, f32::min);
    let better = relevance.values().filter(|reading| **reading > least).count();
    assert!(better < 7, "{better} pages are more relevant than the last of seven: {least}");
}

#[test]
fn what_cannot_be_kept_so_is_refused_before_anything_is_asked() {
    let world = web();
    let larm = Larm::new(&world, "0");
    let most = Limits::default().order_pages_max + 1;
    for (flags, word) in [
        (&["--keep-best", "0"][..], "between 1 and"),
        (&["--keep-best", &most.to_string()], "order_pages_max"),
        (&["--keep-best", "5", "--warc", "none"], "needs the archive"),
        (&["--keep-best", "5", "--no-links"], "needs the log of links"),
        (&["--keep-best", "5", "--assets"], "--assets"),
    ] {
        let output = larm.run_with(flags, &world.dir());
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {}", said(&output));
        assert!(said(&output).contains(word), "{flags:?}: {}", said(&output));
    }
    assert!(world.site.requests().is_empty() && !world.dir().exists());
}
