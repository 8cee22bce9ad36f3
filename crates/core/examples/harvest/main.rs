//! What focused crawling brings on WebKB, against breadth-first and chance: tables, and a plot.
//!
//! `cargo run --release -p larm-core --example harvest [--main|--live] [--seed N] [--starts N] [PLOT.svg]`, with the test
//! data where `LARM_TESTDATA` says. Each topic is a class of pages against all others. A crawl begins at some pages and may go to
//! those of one university, or to all; examples are never pages that it can reach, and for a university they
//! are of other universities. Harvest is the share of relevant pages among those fetched.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

mod crawl;
mod live;
mod options;
mod plot;
#[path = "../../src/random.rs"]
#[expect(dead_code, reason = "not all of it is needed here")]
mod random;
#[path = "../../src/parse/testdata.rs"]
mod testdata;
mod trial;
mod web;

use options::Options;
use trial::{Panel, SHARES, TOPICS, Trial};
use web::Web;

fn main() {
    let options = Options::read();
    let web = if options.live { Web::read_with_dead() } else { Web::read() };
    let Some(web) = web else { return };
    let links = || web.pages.iter().flat_map(|page| &page.links);
    let texts = links().filter(|link| !link.text.is_empty() || !link.behind.is_empty());
    println!("{} pages, {} links, {} with text", web.pages.len(), links().count(), texts.count());
    let mut panels = Vec::new();
    for &universe in options.universes() {
        let seeds = trial::seed_sets(&web, universe, &options);
        for topic in TOPICS {
            let trial = Trial { universe, topic, seeds: &seeds, options: &options };
            panels.extend(Panel::of(&web, &trial));
        }
    }
    panels.iter().for_each(show);
    let all: Vec<&Panel> = panels.iter().collect();
    for &universe in options.universes() {
        let of = all.iter().copied().filter(|panel| panel.universe == universe);
        summary(&options, universe, &of.collect::<Vec<_>>());
    }
    summary(&options, "all of them", &all);
    let possible = all.into_iter().filter(|panel| panel.can_double());
    summary(&options, "those where twice is possible", &possible.collect::<Vec<_>>());
    if let Some(path) = options.plot {
        std::fs::write(path, plot::svg(&panels)).unwrap();
    }
}

fn show(panel: &Panel) {
    let Panel { universe, class, ceiling, .. } = panel;
    println!("\n{universe}, {class}: at most {ceiling:.3} at 20 %");
    for (method, runs) in &panel.runs {
        let cells = SHARES.map(|share| {
            let (mean, spread) = runs.harvest(share);
            format!("{mean:.3} ± {spread:.3}")
        });
        let times = panel.times(*method, 20);
        println!("  {:22} {}  x{times:.2}", method.name(), cells.join("  "));
    }
}

/// Over several panels: how many times the harvest of breadth-first, as geometric means.
fn summary(options: &Options, universe: &str, panels: &[&Panel]) {
    println!("\n{universe}: {} topics", panels.len());
    for &method in options.methods {
        let mean = |of: &dyn Fn(&Panel) -> f64| {
            let logs = panels.iter().map(|panel| of(panel).clamp(0.1, 10.0).ln());
            (logs.sum::<f64>() / panels.len() as f64).exp()
        };
        let at_20 = mean(&|panel| panel.times(method, 20));
        let until_20 = mean(&|panel| panel.times_until(method, 20));
        let shares = panels.iter().map(|panel| panel.runs[&method].harvest(20).0 / panel.ceiling);
        let of_ceiling = shares.sum::<f64>() / panels.len() as f64;
        let name = method.name();
        println!(
            "  {name:22} at 20 %: x{at_20:.2}, {of_ceiling:.2} of what is possible; mean of 1 to 20 %: x{until_20:.2}"
        );
    }
}
