//! Important pages first: `--order pagerank` on a live web finds them as early as the simulator does, and a crawl
//! that goes on knows what its pages are worth.

use std::collections::HashSet;

use larm_core::Limits;
use larm_core::order::{Name, Order, Tuning};
use larm_core::random::Random;
use larm_crawl::explain::Stand;
use larm_crawl::{Crawl, Duplicates, Plan, Summary};
use larm_graph::Graph;
use larm_graph::rank::{self, PageRank};

use crate::hand::{Hand, page};
use crate::world::{crawl, crawl_and_ask, url};

const HOST: &str = "any.test";
/// Shares of all pages after which hot pages are counted.
const SHARES: [f64; 4] = [0.1, 0.2, 0.3, 0.5];
/// Simulated crawls, in each of which pages have other numbers: of pages that are worth the same, the one with the
/// lower number comes first, and which one that is makes another crawl of it.
const DRAWS: u64 = 24;
/// Live crawls of which the mean is taken.
const CRAWLS: usize = 5;
/// By how much that may differ from the mean of those, in their standard deviations and in shares of the hot pages: news
/// reach the board a moment late, and every 32nd page is the one that is first by its place.
const DEVIATIONS: f64 = 3.0;
const MARGIN: f64 = 0.04;

/// A web in which most links lead anywhere, and some to pages that are famous, a few of them very much so. All
/// pages are found soon, and which of them matter is seen only by and by.
struct Web(Vec<Vec<u32>>);

impl Web {
    fn new(pages: u32) -> Self {
        let mut random = Random(5);
        let links = (0..pages).map(|page| {
            let mut links: Vec<u32> =
                (0..12).map(|_| random.below(u64::from(pages)) as u32).collect();
            links.extend((0..4).map(|_| famous(&mut random, pages)));
            // A way to everywhere.
            links.push((page + 1) % pages);
            links.sort_unstable();
            links.dedup();
            links
        });
        Self(links.collect())
    }

    fn serve(&self) -> Hand {
        let answer = |(node, links): (usize, &Vec<u32>)| {
            let links: Vec<String> = links.iter().map(path).collect();
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            (format!("{HOST}{}", path(&(node as u32))), page(&links))
        };
        Hand::serve(|_| self.0.iter().enumerate().map(answer).collect())
    }

    fn graph(&self) -> Graph {
        let arcs = (0..).zip(&self.0).flat_map(|(from, to)| to.iter().map(move |to| (from, *to)));
        Graph::of_arcs(self.0.len() as u32, arcs.collect())
    }

    /// The tenth of all pages with the highest PageRank.
    fn hot(&self) -> HashSet<u32> {
        let ranks = rank::pagerank(&self.graph(), &PageRank::default()).values;
        let mut nodes: Vec<u32> = (0..self.0.len() as u32).collect();
        nodes.sort_by(|a, b| ranks[*b as usize].total_cmp(&ranks[*a as usize]));
        nodes.into_iter().take(self.0.len() / 10).collect()
    }

    /// How many of these pages lead to each page, itself aside.
    fn backlinks(&self, fetched: &[u32]) -> Vec<u32> {
        let mut counts = vec![0; self.0.len()];
        for from in fetched {
            for to in self.0[*from as usize].iter().filter(|to| *to != from) {
                counts[*to as usize] += 1;
            }
        }
        counts
    }

    /// The same web with its pages in another order, and where each page went.
    fn shuffled(&self, random: &mut Random) -> (Self, Vec<u32>) {
        let mut place: Vec<u32> = (0..self.0.len() as u32).collect();
        for last in (1..place.len()).rev() {
            place.swap(last, random.below(last as u64 + 1) as usize);
        }
        let mut links = vec![Vec::new(); self.0.len()];
        for (from, to) in self.0.iter().enumerate() {
            links[place[from] as usize] = to.iter().map(|to| place[*to as usize]).collect();
        }
        (Self(links), place)
    }

    /// The part of the hot pages that simulated crawls find: mean and standard deviation, for each share.
    fn simulated(&self, order: Name) -> [(f64, f64); 4] {
        let mut random = Random(11);
        let draws: Vec<[f64; 4]> = (0..DRAWS).map(|_| self.simulate(order, &mut random)).collect();
        std::array::from_fn(|at| {
            let mean = draws.iter().map(|found| found[at]).sum::<f64>() / DRAWS as f64;
            let squares: f64 = draws.iter().map(|found| (found[at] - mean).powi(2)).sum();
            (mean, (squares / (DRAWS - 1) as f64).sqrt())
        })
    }

    fn simulate(&self, order: Name, random: &mut Random) -> [f64; 4] {
        let (web, place) = self.shuffled(random);
        let score = order.score(&Tuning::new(&Limits::default())).expect("it needs no text");
        let graph = larm_simulate::Web::new(web.graph(), 0);
        let mut crawler = larm_simulate::Crawler::new(&graph, score);
        crawler.start(place[0]);
        let fetched: Vec<u32> = std::iter::from_fn(|| crawler.step()).collect();
        found(&web.hot(), &fetched, self.0.len())
    }

    fn plan(&self, hand: &Hand, order: Name, share: f64) -> Plan {
        let mut plan = hand.plan(&format!("{HOST}/0"), &[HOST]);
        plan.order = Order::by(order);
        plan.concurrency = Some(1);
        plan.budgets.pages_max = Some((self.0.len() as f64 * share) as u64);
        // All pages have the same text, nearly.
        plan.budgets.cut_at = None;
        plan.duplicates = Duplicates::Off;
        (plan.probe, plan.usual_sitemap) = (false, false);
        plan
    }
}

/// A page by fame: half of these links lead to an eighth of the pages, which lie anywhere.
fn famous(random: &mut Random, pages: u32) -> u32 {
    let share = random.below(1 << 20) as f64 / f64::from(1 << 20);
    let place = (share.powi(3) * f64::from(pages)) as u32;
    (place * 7 + 3) % pages
}

fn path(node: &u32) -> String {
    format!("/{node}")
}

/// The nodes that were asked for, in order.
fn asked(hand: &Hand) -> Vec<u32> {
    let asked = hand.asked();
    asked.iter().map(|place| place[HOST.len() + 1..].parse().expect("a node")).collect()
}

/// The part of the hot pages that is among the first of a crawl, for each share.
fn found(hot: &HashSet<u32>, fetched: &[u32], pages: usize) -> [f64; 4] {
    SHARES.map(|share| {
        let first = &fetched[..((pages as f64 * share) as usize).min(fetched.len())];
        first.iter().filter(|node| hot.contains(node)).count() as f64 / hot.len() as f64
    })
}

/// Fails unless live crawls could be some of the simulated ones.
#[track_caller]
fn assert_alike(live: &[f64], simulated: &[(f64, f64)]) {
    for (found, (mean, deviation)) in live.iter().zip(simulated) {
        let is_alike = (found - mean).abs() <= MARGIN + DEVIATIONS * deviation;
        assert!(is_alike, "{live:.3?} is none of {simulated:.3?}");
    }
}

#[test]
fn a_live_crawl_by_pagerank_finds_hot_pages_as_early_as_a_simulated_one() {
    let web = Web::new(905);
    let (hot, pages) = (web.hot(), web.0.len());
    let live = |order| {
        let hand = web.serve();
        let summary: Summary = crawl(web.plan(&hand, order, 0.5));
        assert_eq!(summary.fetched, pages as u64 / 2);
        found(&hot, &asked(&hand), pages)
    };
    // One crawl alone may be off by a tenth: which page comes first is a matter of microseconds.
    let crawls: [[f64; 4]; CRAWLS] = std::array::from_fn(|_| live(Name::Pagerank));
    let mean = |at| crawls.iter().map(|found: &[f64; 4]| found[at]).sum::<f64>() / CRAWLS as f64;
    let by_rank: [f64; 4] = std::array::from_fn(mean);
    let by_breadth = live(Name::Breadth);
    let expected = web.simulated(Name::Pagerank);
    println!("live {by_rank:.2?}, simulated {expected:.2?}, breadth-first {by_breadth:.2?}");
    assert_alike(&by_rank, &expected);
    assert!(by_rank[1] > by_breadth[1] + 0.05, "{by_rank:?} is no better than {by_breadth:?}");
}

#[test]
fn a_crawl_that_goes_on_knows_what_its_pages_are_worth() {
    let web = Web::new(905);
    let hand = web.serve();
    let by_backlinks = |share| crawl_and_ask(web.plan(&hand, Name::Backlinks, share));
    by_backlinks(0.1);
    let (before, known) = (asked(&hand), web.backlinks(&asked(&hand)));
    // This run begins with nothing in memory.
    let (_, handle) = by_backlinks(0.15);
    let fetched = asked(&hand);
    let best = (0..known.len()).filter(|node| !before.contains(&(*node as u32)));
    let best = best.map(|node| known[node]).max();
    let first = fetched[before.len()];
    assert_eq!(Some(known[first as usize]), best, "it began with a page that was not the best");
    let expected = web.backlinks(&fetched);
    let mut waiting = 0;
    for (node, links) in (0..).zip(expected).filter(|(node, _)| !fetched.contains(node)) {
        let url = url(&hand.url(&format!("{HOST}{}", path(&node))));
        if let Stand::Waiting { order, .. } = handle.explain(&url).unwrap().stand {
            let standing = order.expect("the board knows what waits");
            assert_eq!((node, standing.worth), (node, links as f32));
            waiting += 1;
        }
    }
    assert!(waiting > 300, "{waiting} pages are waiting");
}

#[test]
fn an_order_that_is_about_text_is_refused_before_anything_is_asked() {
    let web = Web::new(3);
    let hand = web.serve();
    let plan = web.plan(&hand, Name::Query, 1.0);
    let refused = plan.check().expect_err("there is no such order yet").to_string();
    assert!(refused.contains("query"), "{refused}");
    assert!(Crawl::new(plan).start().is_err() && hand.asked().is_empty());
}

#[test]
fn whoever_asks_about_a_waiting_url_hears_what_it_is_worth() {
    let web = Web::new(200);
    let hand = web.serve();
    let (_, handle) = crawl_and_ask(web.plan(&hand, Name::Backlinks, 0.3));
    let waiting = (0..200).filter_map(|node| {
        match handle.explain(&url(&hand.url(&format!("{HOST}/{node}")))).unwrap().stand {
            Stand::Waiting { order, .. } => order,
            _ => None,
        }
    });
    let waiting: Vec<_> = waiting.collect();
    assert!(waiting.iter().any(|standing| standing.ahead == 0 && standing.by == "backlinks"));
    assert!(waiting.iter().all(|standing| standing.worth > 0.0));
}
