//! A made-up web of a million pages, as a file to be crawled virtually: power laws, sites, and links that are copied.
//!
//! ```text
//! cargo run --release -p larm-simulate --example million -- 1000000 10 7 web.txt
//! larm simulate web.txt --orders random,bfs,backlink,pagerank,opic --starts 1
//! ```
//!
//! The arguments are pages, links of a page on average, a seed, and the file. With `--crawl` in place of the file it is not
//! written but crawled at once, by the orders named behind it, each from the first page to the last.
//!
//! Sites have sizes by a power law. Each page links to the home of its site and to the next page; of its other links seven in
//! ten stay on the site, where an earlier page leads or anywhere. The rest lead to other sites: to a home page, to any page, or where an
//! earlier link led, so that few pages are linked to by very many. The same arguments give the same web.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use larm_core::Limits;
use larm_core::order::{Order, Tuning};
use larm_core::random::Random;
use larm_graph::Graph;
use larm_simulate::{Crawler, Web};

/// The smallest site, and how much more often a site is half as large.
const SITE_PAGES_MIN: f64 = 4.0;
const SITE_POWER: f64 = 0.9;
/// Links between sites that are remembered, to be copied.
const COPIED_MAX: usize = 65_536;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u32>().ok());
    let (Some(pages), Some(links), Some(seed), Some(what)) =
        (number(0), number(1), number(2), arguments.get(3))
    else {
        eprintln!("usage: million PAGES LINKS SEED FILE | million PAGES LINKS SEED --crawl ORDER…");
        return ExitCode::from(2);
    };
    let arcs = arcs(pages, u64::from(links), &mut Random(u64::from(seed)));
    match what.as_str() {
        "--crawl" => crawl(pages, arcs, &arguments[4..]),
        path => write(path, &arcs).expect("the file can be written"),
    }
    ExitCode::SUCCESS
}

/// From page to page, in the order of pages.
fn arcs(pages: u32, links: u64, random: &mut Random) -> Vec<(u32, u32)> {
    let homes = homes(pages, random);
    let (mut arcs, mut abroad) = (Vec::new(), Vec::new());
    for (at, &home) in homes.iter().enumerate() {
        let end = homes.get(at + 1).copied().unwrap_or(pages);
        let first = arcs.len();
        for page in home..end {
            arcs.extend([(page, home), (page, (page + 1) % pages)]);
            for _ in 0..random.below(2 * links - 3) {
                let to = match random.below(10) {
                    0..7 => at_home(&arcs[first..], (home, end), random),
                    _ => elsewhere(&mut abroad, &homes, pages, random),
                };
                arcs.push((page, to));
            }
        }
    }
    arcs
}

/// The first page of each site.
fn homes(pages: u32, random: &mut Random) -> Vec<u32> {
    let (mut homes, mut at) = (Vec::new(), 0_u32);
    while at < pages {
        homes.push(at);
        let share = (1 + random.below(1 << 24)) as f64 / f64::from(1 << 24);
        let size = SITE_PAGES_MIN * share.powf(-1.0 / SITE_POWER);
        at = at.saturating_add(size.min(f64::from(pages) / 20.0).max(1.0) as u32);
    }
    homes
}

fn at_home(site: &[(u32, u32)], (home, end): (u32, u32), random: &mut Random) -> u32 {
    let copied = site[random.below(site.len() as u64) as usize].1;
    if (home..end).contains(&copied) && random.below(2) == 0 {
        return copied;
    }
    home + random.below(u64::from(end - home)) as u32
}

fn elsewhere(abroad: &mut Vec<u32>, homes: &[u32], pages: u32, random: &mut Random) -> u32 {
    let to = match random.below(4) {
        0 => random.below(u64::from(pages)) as u32,
        1 => homes[random.below(homes.len() as u64) as usize],
        _ if abroad.is_empty() => 0,
        _ => abroad[random.below(abroad.len() as u64) as usize],
    };
    match abroad.len() < COPIED_MAX {
        true => abroad.push(to),
        false => abroad[random.below(COPIED_MAX as u64) as usize] = to,
    }
    to
}

fn write(path: &str, arcs: &[(u32, u32)]) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    arcs.iter().try_for_each(|(from, to)| writeln!(out, "{from} {to}"))?;
    out.flush()
}

/// One virtual crawl of the whole web for each order.
fn crawl(pages: u32, arcs: Vec<(u32, u32)>, orders: &[String]) {
    let web = Web::new(Graph::of_arcs(pages, arcs), 0);
    println!("{pages} pages, {} links", web.arcs());
    for order in orders {
        let order: Order = order.parse().expect("an order");
        let tuning = Tuning { arcs_max: web.arcs(), ..Tuning::new(&Limits::default()) };
        let score = order.score(&tuning, &mut |_| None).expect("an order that needs links alone");
        let mut crawler = Crawler::new(&web, score);
        crawler.start(0);
        println!("{order}: {} pages fetched", std::iter::from_fn(|| crawler.step()).count());
    }
}
