//! The newest pages first, by what sitemaps and feeds say: `--order fresh`, alone and with others.

use larm_core::order::Order;
use larm_crawl::{Duplicates, Plan};

use crate::hand::{Hand, page, with_body};
use crate::world::{crawl, url};

const HOST: &str = "h.test";
const PAGES: u32 = 80;

/// Days of the last two years, a page for each, in no order: page `n` is `days(n)` days old.
fn days(n: u32) -> u32 {
    (n * 37) % PAGES * 9
}

/// A date so many days before one that is past already.
fn date(days: u32) -> String {
    let (year, day) = (2025 - days / 360, 359 - days % 360);
    format!("{year}-{:02}-{:02}", day / 30 + 1, day % 30 % 28 + 1)
}

/// A sitemap that lists every second page with its date, and a feed that lists the others.
fn site() -> Hand {
    Hand::serve(|port| {
        let place = |n: u32| format!("http://{HOST}:{port}/{n}");
        let entry = |n: u32| {
            format!("<url><loc>{}</loc><lastmod>{}</lastmod></url>", place(n), date(days(n)))
        };
        let item = |n: u32| {
            let at = format!("{}T00:00:00Z", date(days(n)));
            format!("<entry><link href=\"{}\"/><updated>{at}</updated></entry>", place(n))
        };
        let sitemap: String = (0..PAGES).step_by(2).map(entry).collect();
        let sitemap = format!(
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{sitemap}</urlset>"
        );
        let feed: String = (1..PAGES).step_by(2).map(item).collect();
        let feed = format!("<feed xmlns=\"http://www.w3.org/2005/Atom\">{feed}</feed>");
        let mut answers = vec![
            (format!("{HOST}/"), page(&["/feed"])),
            (format!("{HOST}/map.xml"), with_body("application/xml", &sitemap)),
            (format!("{HOST}/feed"), with_body("application/atom+xml", &feed)),
        ];
        answers.extend((0..PAGES).map(|n| (format!("{HOST}/{n}"), page(&[]))));
        answers
    })
}

fn plan(web: &Hand, order: &str) -> Plan {
    let mut plan = web.plan(&format!("{HOST}/"), &[HOST]);
    plan.sitemaps = vec![url(&web.url(&format!("{HOST}/map.xml")))];
    plan.order = order.parse::<Order>().expect("an order");
    plan.duplicates = Duplicates::Off;
    plan.budgets.cut_at = None;
    plan.probe = false;
    // Whoever works out the order hears of a list before many of its pages had their turn.
    plan.pace.delay_ms = 8;
    plan
}

/// The ages of pages, in the order in which they were asked for.
fn ages(web: &Hand) -> Vec<u32> {
    let asked = web.asked();
    asked.iter().filter_map(|place| place[HOST.len() + 1..].parse().ok()).map(days).collect()
}

/// The part of neighbours of which the first is the newer one. By chance it is a half.
fn in_order(ages: &[u32]) -> f64 {
    let rising = ages.windows(2).filter(|pair| pair[0] < pair[1]).count();
    rising as f64 / (ages.len() - 1) as f64
}

#[test]
fn pages_that_lists_call_new_are_asked_for_first() {
    let web = site();
    crawl(plan(&web, "fresh"));
    let ages = ages(&web);
    assert_eq!(ages.len(), PAGES as usize, "all of them come in the end");
    // A few come before anybody has heard of dates, and every 32nd by its place.
    assert!(in_order(&ages) > 0.8, "{ages:?}");
    let breadth = site();
    crawl(plan(&breadth, "breadth"));
    assert!(in_order(&self::ages(&breadth)) < 0.7);
}

#[test]
fn dates_are_known_again_in_the_next_run() {
    let web = site();
    let mut first = plan(&web, "fresh");
    first.budgets.pages_max = Some(30);
    crawl(first);
    let asked = ages(&web).len();
    crawl(plan(&web, "fresh"));
    let later = ages(&web).split_off(asked);
    assert_eq!(asked + later.len(), PAGES as usize);
    assert!(in_order(&later) > 0.8, "{later:?}");
}

#[test]
fn a_mix_weighs_age_against_the_rest() {
    let web = site();
    // A negative weight turns it round.
    crawl(plan(&web, "fresh=-1,backlinks=0.01"));
    let ages = ages(&web);
    assert!(in_order(&ages) < 0.2, "the oldest first: {ages:?}");
}
