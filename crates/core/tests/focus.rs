//! Focused crawls of WebKB against breadth-first, where that leaves enough to find.
//!
//! The examples are of other universities than the one that is crawled. All topics, seeds and figures are in
//! docs/focus.md; these are the ones where breadth-first is not close to the best that is possible.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]
#![allow(dead_code, reason = "the example shows more than the test looks at")]

#[path = "../examples/harvest/crawl.rs"]
mod crawl;
#[path = "../examples/harvest/live.rs"]
mod live;
#[path = "../examples/harvest/options.rs"]
mod options;
#[path = "../src/random.rs"]
mod random;
#[path = "../src/parse/testdata.rs"]
mod testdata;
#[path = "../examples/harvest/trial.rs"]
mod trial;
#[path = "../examples/harvest/web.rs"]
mod web;

use options::Options;
use trial::{Method, Panel, TOPICS, Trial};
use web::Web;

/// Beyond twice the harvest of breadth-first, which may be none at all.
const MARGIN: f64 = 0.02;

#[test]
fn a_focused_crawl_harvests_at_least_twice_as_much_where_that_is_possible() {
    let Some(web) = Web::read() else { return };
    let options = Options { starts: 3, methods: Method::MAIN, ..Options::usual() };
    for (universe, class) in [("cornell", "course"), ("texas", "student")] {
        let seeds = trial::seed_sets(&web, universe, &options);
        let topic = TOPICS.into_iter().find(|topic| topic.0 == class).unwrap();
        let trial = Trial { universe, topic, seeds: &seeds, options: &options };
        let panel = Panel::of(&web, &trial).unwrap();
        let (breadth, _) = panel.runs[&Method::Breadth].harvest(20);
        for method in [Method::Query, Method::Like] {
            let (harvest, _) = panel.runs[&method].harvest(20);
            let name = method.name();
            println!("{universe}, {class}: {name} {harvest:.3}, breadth-first {breadth:.3}");
            assert!(harvest > 2.0 * breadth + MARGIN, "{universe}, {class}, {name}: {harvest}");
        }
    }
}
