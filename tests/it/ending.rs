//! A crawl that ends when good pages have become too rare, and goes on from there.

use std::process::{Command, Output};

use larm_core::Limits;
use larm_core::gain::Floor;
use larm_core::order::focus::Topic;
use larm_core::order::{Name, Order};
use larm_crawl::store::summary::State;
use larm_crawl::{Plan, Summary};

use crate::hand::{Hand, with_body};
use crate::world::{crawl, crawl_until};

const HOST: &str = "h.test";
const GOOD: usize = 60;
const COPIES: usize = 140;
const WINDOW: u64 = 20;

fn page(title: &str, text: &str, links: &[String]) -> Vec<u8> {
    let links: String = links.iter().map(|to| format!("<a href=\"{to}\">{to}</a>\n")).collect();
    with_body("text/html", &format!("<title>{title}</title><p>{text}</p>\n{links}"))
}

/// Forty words that no other number has in this order, nor many of them.
fn prose(number: usize) -> String {
    let word = |at: usize| format!("w{:x}", (number * 7_919 + at * 104_729) % 1_000_003);
    (0..40).map(word).collect::<Vec<_>>().join(" ")
}

/// A list leads to pages that all say something else, and then to copies of one.
fn ebbing() -> Hand {
    Hand::serve(|_| {
        let good = (0..GOOD).map(|n| format!("/good/{n}"));
        let links: Vec<String> = good.chain((0..COPIES).map(|n| format!("/copy/{n}"))).collect();
        let start = (format!("{HOST}/"), page("Start", "all of it", &links));
        let answer = |place: &String| {
            let number = place.strip_prefix("/good/").and_then(|n| n.parse().ok());
            let text = number.map_or_else(|| prose(GOOD), prose);
            (format!("{HOST}{place}"), page("Page", &text, &[]))
        };
        links.iter().map(answer).chain([start]).collect()
    })
}

fn plan(web: &Hand, share: f64) -> Plan {
    let mut plan = web.plan(&format!("{HOST}/"), &[HOST]);
    plan.budgets.cut_at = None;
    plan.probe = false;
    plan.floor = Some(Floor { pages: WINDOW, ..Floor::below(share) });
    plan
}

#[track_caller]
fn assert_ended_low(summary: &Summary) {
    assert_eq!((summary.state, summary.limit.as_deref()), (State::Limit, Some("stop-below")));
    let tally = summary.gain.expect("it is counted");
    assert!(tally.pages == WINDOW && tally.of == WINDOW, "{tally:?}");
}

#[test]
fn a_crawl_ends_when_its_last_pages_say_nothing_new_and_not_before() {
    let web = ebbing();
    let summary = crawl(plan(&web, 0.5));
    assert_ended_low(&summary);
    assert!(summary.gain.unwrap().good < WINDOW / 2, "{summary:?}");
    let asked = web.asked();
    let good = asked.iter().filter(|place| place.contains("/good/")).count();
    assert_eq!(good, GOOD, "they came first, and all of them were good");
    // Half of the window are copies by then, and some were on their way.
    assert!(asked.len() > GOOD + 10 && asked.len() < GOOD + COPIES / 2, "{} asked", asked.len());
}

#[test]
fn the_last_pages_are_known_again_and_a_lower_rate_goes_on() {
    let web = ebbing();
    assert_ended_low(&crawl(plan(&web, 0.5)));
    let asked = web.asked().len();
    assert_ended_low(&crawl(plan(&web, 0.5)));
    assert_eq!(web.asked().len(), asked, "the same question has the same answer");
    let lower = crawl(plan(&web, 0.1));
    assert_ended_low(&lower);
    assert!(web.asked().len() > asked && lower.gain.unwrap().good < WINDOW / 10, "{lower:?}");
    let all = crawl(Plan { floor: None, ..plan(&web, 0.5) });
    assert_eq!((all.state, all.gain), (State::Finished, None));
    assert_eq!(web.asked().len(), 1 + GOOD + COPIES, "nothing was lost, and nothing asked twice");
}

#[test]
fn pages_count_over_all_runs() {
    let web = ebbing();
    // Stopped among the copies, too early to tell.
    let stopped = crawl_until(plan(&web, 0.5), GOOD as u64 + 5);
    assert_eq!(stopped.state, State::Stopped);
    let asked = web.asked().len();
    assert_ended_low(&crawl(plan(&web, 0.5)));
    let more = web.asked().len() - asked;
    assert!(more < WINDOW as usize, "{more} more, where the first run had seen copies already");
}

#[test]
fn a_crawl_that_has_fetched_everything_is_done_however_low_it_is() {
    let web = Hand::serve(|_| vec![(format!("{HOST}/"), page("Start", "alone", &[]))]);
    let floor = Some(Floor { pages: 1, ..Floor::below(1.0) });
    let summary = crawl(Plan { floor, ..web.plan(&format!("{HOST}/"), &[HOST]) });
    assert_eq!(summary.state, State::Finished);
}

/// Of three hundred pages every third of the first half is about tea, and its name says so.
fn tea() -> Hand {
    Hand::serve(|_| {
        let is_tea = |n: usize| n < 150 && n.is_multiple_of(3);
        let place = |n| if is_tea(n) { format!("/tea/{n}") } else { format!("/car/{n}") };
        let links: Vec<String> = (0..300).map(place).collect();
        let answer = |n: usize| {
            let topic = if is_tea(n) { "green tea leaves " } else { "engine brake wheel " };
            let text = format!("{} {}", topic.repeat(8), prose(n));
            (format!("{HOST}{}", place(n)), page("Page", &text, &[]))
        };
        let start = (format!("{HOST}/"), page("Start", "all of it", &links));
        (0..300).map(answer).chain([start]).collect()
    })
}

#[test]
fn where_something_is_looked_for_good_pages_are_those_about_it() {
    for order in [Name::Query, Name::Breadth] {
        let web = tea();
        let topic = Topic::query("green tea", &Limits::default());
        let plan = Plan { topic, order: Order::by(order), ..plan(&web, 0.2) };
        let summary = crawl(plan.clone());
        assert_ended_low(&summary);
        let asked = web.asked();
        let found = asked.iter().filter(|place| place.contains("/tea/")).count();
        assert!(found > 40 && asked.len() < 260, "{order:?}: {found} of {} asked", asked.len());
        let asked = asked.len();
        assert_ended_low(&crawl(plan));
        assert_eq!(web.asked().len(), asked, "{order:?}: relevance is known again");
    }
}

fn larm(web: &Hand, arguments: &[&str]) -> (Output, String) {
    let here = format!("{HOST}:{}:127.0.0.1", web.port());
    let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
    command.args(arguments).args(["--delay", "0", "--no-progress", "--pattern-budget", "off"]);
    command.args(["--resolve", &here, "--allow-private", "127.0.0.0/8", "--i-own-this-site"]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, said)
}

#[test]
fn the_end_is_told_in_plain_words_and_by_the_number_of_a_limit() {
    let web = ebbing();
    let (seed, dir) = (web.url(&format!("{HOST}/")), web.dir());
    let dir = dir.to_str().unwrap();
    let (output, said) =
        larm(&web, &["crawl", &seed, "-o", dir, "--stop-below", "50%", "--stop-window", "20"]);
    assert_eq!(output.status.code(), Some(4), "{said}");
    for words in ["ended by --stop-below", "of the last 20 pages were good (", "--stop-below …"] {
        assert!(said.contains(words), "{words} is missing in {said}");
    }
    let status = Command::new(env!("CARGO_BIN_EXE_larm")).args(["status", dir]).output().unwrap();
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(status.contains("of the last 20 pages were good ("), "{status}");
    let (output, said) = larm(&web, &["resume", dir, "--stop-below", "0%"]);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for (wrong, words) in [("5", "like 5% or 0.05"), ("-1%", "like 5%"), ("lots", "like 5%")] {
        let (output, said) = larm(&web, &["resume", dir, &format!("--stop-below={wrong}")]);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
