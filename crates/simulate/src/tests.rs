//! Virtual crawls against what can be worked out without them.

use larm_core::Limits;
use larm_core::order::{Order, Tuning};
use larm_core::random::Random;
use larm_graph::Graph;

use crate::model::POINTS;
use crate::parallel::{Assignment, Mode, Parallel, Partition, Shares};
use crate::starts::{self, Start};
use crate::*;

fn limits() -> Limits {
    Limits::default()
}

fn tuning() -> Tuning {
    Tuning::new(&limits())
}

/// A ring, so that every page is reached, and links that prefer low numbers.
fn web(nodes: u32, seed: u64) -> Web {
    let mut random = Random(seed);
    let mut arcs: Vec<(u32, u32)> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
    for node in 0..nodes {
        for _ in 0..random.below(8) {
            let (a, b) = (random.below(u64::from(nodes)), random.below(u64::from(nodes)));
            arcs.push((node, (a * b / u64::from(nodes)) as u32));
        }
    }
    Web::new(Graph::of_arcs(nodes, arcs), 0)
}

/// The same with URLs: sites of a hundred pages in two directories each.
fn named_web(nodes: u32, seed: u64) -> Web {
    let mut web = web(nodes, seed);
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("urls");
    let url = |node: u32| format!("http://www.s{}.test/{}/{node}.html", node / 100, node % 2);
    std::fs::write(&list, (0..nodes).map(url).collect::<Vec<_>>().join("\n")).unwrap();
    web.name(&list, &limits()).unwrap();
    web
}

fn hot(web: &Web, spec: &str) -> Hot {
    Hot::of(web, &spec.parse().unwrap(), By::Pagerank, &limits()).unwrap()
}

fn orders(text: &str) -> Vec<Order> {
    text.split(',').map(|order| order.parse().unwrap()).collect()
}

fn compare(web: &Web, hot: &Hot, model: Model, names: &str) -> Vec<Outcome> {
    let starts = starts::draw(web, 4, 1).unwrap();
    let experiment = Experiment { web, hot, model, starts: &starts, tuning: tuning(), threads: 2 };
    experiment.run(&orders(names), &limits()).unwrap()
}

const LINKED: &str =
    "random,bfs,dfs,backlinks,pagerank,pagerank-so-far,opic,forward,hubs,pagerank=1+breadth=1";

#[test]
fn every_order_finds_everything_in_the_end_and_none_beats_the_ideal() {
    let web = web(900, 1);
    let hot = hot(&web, "10%");
    let ideal = Model::Threshold.ideal(&hot);
    for (order, outcome) in orders(LINKED).iter().zip(compare(&web, &hot, Model::Threshold, LINKED))
    {
        let points = &outcome.points;
        assert_eq!((points.len(), points[POINTS - 1].hot), (POINTS, 1.0), "{order}");
        assert!(points.is_sorted_by(|a, b| a.hot <= b.hot), "{order} loses pages");
        for (point, ideal) in points.iter().zip(&ideal) {
            assert!(point.hot <= ideal + 1e-9, "{order} at {}", point.crawled);
        }
    }
}

#[test]
fn the_random_crawler_is_what_chance_makes_it() {
    // From a page that leads everywhere, a random order is the random crawler.
    let mut arcs: Vec<(u32, u32)> = (1..400).map(|node| (0, node)).collect();
    arcs.extend((1..400).map(|node| (node, node / 2)));
    let web = Web::new(Graph::of_arcs(400, arcs), 0);
    let hot = hot(&web, "10%");
    let starts = vec![Start { node: 0, reaches: 400 }; 300];
    let experiment = |model| Experiment {
        web: &web,
        hot: &hot,
        model,
        starts: &starts,
        tuning: tuning(),
        threads: 2,
    };
    for model in [Model::Threshold, Model::Stop, Model::Buffer(60)] {
        let outcome = experiment(model).run(&orders("random"), &limits()).unwrap().remove(0);
        // The start itself is always there, which no longer matters after a while.
        for (point, expected) in outcome.points.iter().zip(model.random(&hot)).skip(19) {
            assert!(
                (point.hot - expected).abs() < 0.05,
                "{model} at {}: {} and not {expected}",
                point.crawled,
                point.hot
            );
        }
    }
}

#[test]
fn breadth_first_is_by_distance() {
    let web = web(500, 2);
    let depths = larm_graph::rank::depths(web.graph(), [7]);
    let score = orders("bfs")[0].score(&tuning(), &mut |_| None).unwrap();
    let mut crawler = Crawler::new(&web, score);
    crawler.start(7);
    let fetched: Vec<u32> = std::iter::from_fn(|| crawler.step()).collect();
    assert_eq!(fetched.len(), 500);
    assert!(fetched.is_sorted_by_key(|node| depths[*node as usize]));
}

#[test]
fn pagerank_order_takes_the_page_that_brute_force_takes() {
    let web = web(40, 3);
    let every_page = Tuning { growth: 1.0, batch_min: 1, ..tuning() };
    let score = orders("pagerank-so-far")[0].score(&every_page, &mut |_| None).unwrap();
    let mut crawler = Crawler::new(&web, score);
    crawler.start(5);
    let mut fetched = vec![crawler.step().unwrap()];
    while fetched.len() < 40 {
        let ranks = known_ranks(&web, &fetched);
        let best = ranks.iter().copied().fold(0.0, f64::max);
        let node = crawler.step().unwrap();
        assert!(
            ranks[node as usize] > best - 0.01,
            "{node} has {} of {best}",
            ranks[node as usize]
        );
        fetched.push(node);
    }
}

/// PageRank of the waiting pages in the graph of what was fetched, by its definition; 0 for all others.
fn known_ranks(web: &Web, fetched: &[u32]) -> Vec<f64> {
    let row = |node: u32| web.graph().successors(node).iter().copied();
    let mut known: Vec<u32> = fetched.iter().flat_map(|&node| row(node).chain([node])).collect();
    known.sort_unstable();
    known.dedup();
    let mut ranks = vec![0.0; web.nodes() as usize];
    known.iter().for_each(|&node| ranks[node as usize] = 1.0);
    for _ in 0..200 {
        let mut next = vec![0.0; ranks.len()];
        for &node in &known {
            let to: Vec<u32> =
                if fetched.contains(&node) { row(node).collect() } else { known.clone() };
            let share = 0.85 * ranks[node as usize] / to.len() as f64;
            to.iter().for_each(|&to| next[to as usize] += share);
        }
        known.iter().for_each(|&node| next[node as usize] += 0.15);
        ranks = next;
    }
    fetched.iter().for_each(|&node| ranks[node as usize] = 0.0);
    ranks
}

#[test]
fn the_same_experiment_has_the_same_result_on_any_number_of_threads() {
    let web = web(700, 4);
    let hot = hot(&web, "5%");
    let starts = starts::draw(&web, 3, 9).unwrap();
    let run = |threads| {
        let experiment = Experiment {
            web: &web,
            hot: &hot,
            model: Model::Threshold,
            starts: &starts,
            tuning: tuning(),
            threads,
        };
        experiment.run(&orders(LINKED), &limits()).unwrap()
    };
    assert_eq!(run(1), run(4));
    assert_eq!(starts, starts::draw(&web, 3, 9).unwrap());
    assert_ne!(starts, starts::draw(&web, 3, 10).unwrap());
}

#[test]
fn starts_reach_half_and_a_start_that_runs_dry_keeps_its_value() {
    // Two rings; the larger leads to the smaller, not back.
    let mut arcs: Vec<(u32, u32)> = (0..60).map(|node| (node, (node + 1) % 60)).collect();
    arcs.extend((60..100).map(|node| (node, if node == 99 { 60 } else { node + 1 })));
    let apart = Web::new(Graph::of_arcs(100, arcs.clone()), 0);
    let starts = starts::draw(&apart, 100, 1).unwrap();
    assert_eq!(starts.len(), 60, "nodes of the larger ring, each once");
    assert!(starts.iter().all(|start| start.node < 60 && start.reaches == 60));
    let hot = hot(&apart, "50%");
    let experiment = Experiment {
        web: &apart,
        hot: &hot,
        model: Model::Threshold,
        starts: &starts[..1],
        tuning: tuning(),
        threads: 1,
    };
    let points = experiment.run(&orders("bfs"), &limits()).unwrap().remove(0).points;
    assert_eq!(points[59].hot, points[99].hot);
    let lonely = Web::new(Graph::of_arcs(9, vec![]), 0);
    assert!(starts::draw(&lonely, 1, 1).unwrap_err().to_string().contains("--start"));
}

#[test]
fn a_buffer_of_all_pages_loses_none_and_a_small_one_keeps_what_its_order_thinks_most_of() {
    let web = web(600, 5);
    let hot = hot(&web, "10%");
    let whole = compare(&web, &hot, Model::Buffer(600), "pagerank");
    assert_eq!(whole[0].points[POINTS - 1].hot, 1.0);
    let small = compare(&web, &hot, Model::Buffer(hot.pages), "pagerank-so-far,random");
    let kept = |at: usize| small[at].points[POINTS - 1].hot;
    assert!(kept(0) > 0.5, "what was dropped early is lost, the rest is there: {}", kept(0));
    assert!(kept(1) < 0.3, "chance keeps a tenth: {}", kept(1));
}

#[test]
fn a_crawl_that_is_stopped_at_the_end_has_all_that_is_good() {
    let web = web(600, 6);
    let hot = hot(&web, "10%");
    let outcome = compare(&web, &hot, Model::Stop, "pagerank").remove(0);
    assert_eq!(outcome.points[POINTS - 1].hot, 1.0);
    assert!(outcome.points[19].hot > Model::Stop.random(&hot)[19]);
}

fn together(web: &Web, shares: &Shares, mode: Mode, starts: &[u32]) -> parallel::Measures {
    let hot = hot(web, "10%");
    let parallel = Parallel {
        web,
        hot: &hot,
        shares,
        mode,
        exchange_every: 10,
        runs: &[starts.to_vec()],
        tuning: tuning(),
        threads: 1,
    };
    parallel.run(&orders("pagerank"), &limits()).unwrap().remove(0).end
}

#[test]
fn processes_that_exchange_fetch_every_page_once() {
    let web = named_web(1_000, 7);
    for (by, how) in [
        (Partition::Url, Assignment::Static),
        (Partition::Site, Assignment::Static),
        (Partition::Site, Assignment::Dynamic),
        (Partition::Hierarchy, Assignment::Static),
        (Partition::Hierarchy, Assignment::Dynamic),
    ] {
        let shares = Shares::of(&web, by, how, 4).unwrap();
        let end = together(&web, &shares, Mode::Exchange, &[3]);
        assert_eq!((end.crawled, end.coverage, end.overlap), (1.0, 1.0, 0.0), "{by} {how}");
        assert!(end.communication > 0.0, "{by} {how}");
    }
}

#[test]
fn independent_processes_fetch_everything_each() {
    let web = web(300, 8);
    let end = together(&web, &Shares::none(3), Mode::Independent, &[3, 50, 100]);
    assert_eq!((end.crawled, end.coverage, end.communication), (3.0, 1.0, 0.0));
    assert!((end.overlap - 2.0).abs() < 1e-9, "(N - I) / I of three times the same");
}

#[test]
fn behind_firewalls_nothing_is_doubled_and_some_is_missing() {
    let web = named_web(1_000, 9);
    let shares = Shares::of(&web, Partition::Url, Assignment::Static, 4).unwrap();
    let end = together(&web, &shares, Mode::Firewall, &[3, 500, 700]);
    assert_eq!((end.overlap, end.communication), (0.0, 0.0));
    assert!(end.coverage < 1.0 && end.crawled == end.coverage, "{}", end.coverage);
    let one = Shares::of(&web, Partition::Site, Assignment::Static, 1).unwrap();
    assert_eq!(together(&web, &one, Mode::Firewall, &[3]).coverage, 1.0, "alone, it has no wall");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let nameless = web(50, 1);
    let error = Shares::of(&nameless, Partition::Site, Assignment::Static, 2).unwrap_err();
    assert!(error.to_string().contains("--urls"), "{error}");
    let error = Shares::of(&named_web(150, 1), Partition::Site, Assignment::Static, 3).unwrap_err();
    assert!(error.to_string().contains("2 site(s)") && error.to_string().contains("hierarchy"));
    let hot = hot(&nameless, "10%");
    let starts = [Start { node: 0, reaches: 50 }];
    let experiment = Experiment {
        web: &nameless,
        hot: &hot,
        model: Model::Threshold,
        starts: &starts,
        tuning: tuning(),
        threads: 1,
    };
    for (order, why) in [("location", "--urls"), ("query", "text")] {
        let error = experiment.run(&orders(order), &limits()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let small = Limits { simulate_bytes_max: 1_000, ..limits() };
    let error = nameless.fits(1, &small).unwrap_err().to_string();
    assert!(error.contains("simulate_bytes_max"), "{error}");
}

#[test]
fn a_hierarchy_goes_down_as_far_as_it_takes_to_be_even() {
    let web = named_web(1_000, 1);
    let few = Shares::of(&web, Partition::Hierarchy, Assignment::Static, 2).unwrap();
    assert_eq!((few.level, few.groups()), (Some(2), 10), "sites are even enough");
    let many = Shares::of(&web, Partition::Hierarchy, Assignment::Static, 15).unwrap();
    assert_eq!((many.level, many.groups()), (Some(4), 20), "directories of www.sN.test");
    let pages = many.pages().unwrap();
    assert_eq!((pages.iter().sum::<u32>(), pages.len()), (1_000, 15));
}

#[test]
fn hot_pages_are_said_in_three_ways() {
    let web = web(200, 2);
    let links = web.backlinks();
    let by_links = hot(&web, "backlinks>=5");
    assert_eq!(by_links.pages as usize, links.iter().filter(|links| **links >= 5).count());
    let share = hot(&web, "10%");
    assert!((20..24).contains(&share.pages), "and whatever is alike: {}", share.pages);
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("hot");
    std::fs::write(&list, "3\n5\n3\n").unwrap();
    assert_eq!(hot(&web, &format!("@{}", list.display())).pages, 2);
    for wrong in ["", "0%", "100%", "much", "links>=3", "backlinks>=x"] {
        assert!(wrong.parse::<HotSpec>().is_err(), "{wrong}");
    }
}

#[test]
fn a_graph_without_nodes_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let edges = dir.path().join("edges");
    std::fs::write(&edges, "# nothing\n").unwrap();
    let error = Web::read(&edges, &limits()).unwrap_err().to_string();
    assert!(error.contains("no nodes"), "{error}");
    assert!(Web::read(dir.path(), &limits()).unwrap_err().to_string().contains("link log"));
}

#[test]
fn numbers_begin_with_one_where_a_list_does() {
    let dir = tempfile::tempdir().unwrap();
    let edges = dir.path().join("edges");
    std::fs::write(&edges, "3 3\n1 2\n2 3\n3 1\n").unwrap();
    let mut web = Web::read(&edges, &limits()).unwrap();
    assert_eq!((web.nodes(), web.arcs(), web.find("1").unwrap(), web.label(2)), (3, 3, 0, 3));
    let error = web.find("0").unwrap_err().to_string();
    assert!(error.contains("1 to 3"), "{error}");
    let urls = dir.path().join("urls");
    std::fs::write(&urls, "3 3\n1 http://a.test/ \n2 HTTP://a.test/x\n3 http://b.test\n").unwrap();
    web.name(&urls, &limits()).unwrap();
    assert_eq!((web.url(1), web.find("http://b.test/").unwrap()), (Some("http://a.test/x"), 2));
    std::fs::write(&urls, "1 http://a.test/\n").unwrap();
    assert!(web.name(&urls, &limits()).unwrap_err().to_string().contains("node 2 has no URL"));
}

#[test]
fn a_plot_names_every_order_once_and_stays_on_its_paper() {
    let web = web(300, 2);
    let hot = hot(&web, "10%");
    let lines: Vec<_> = orders(LINKED)
        .iter()
        .map(ToString::to_string)
        .zip(compare(&web, &hot, Model::Threshold, LINKED))
        .collect();
    let plot = plot::Plot {
        title: "a < b & c".into(),
        about: String::new(),
        axis: "found".into(),
        lines: lines.into_iter().map(|(name, outcome)| (name, outcome.points)).collect(),
        ideal: Model::Threshold.ideal(&hot),
        random: Model::Threshold.random(&hot),
    };
    let svg = plot.svg();
    assert!(svg.contains("a &lt; b &amp; c") && !svg.contains("NaN"));
    for order in orders(LINKED) {
        assert_eq!(svg.matches(&format!(">{order} ")).count(), 1, "{order}");
    }
    let ys = svg.match_indices("class=\"label\"").map(|(at, _)| {
        let y = svg[at..].split("y=\"").nth(1).unwrap().split('"').next().unwrap();
        y.parse::<f64>().unwrap()
    });
    let mut ys: Vec<f64> = ys.collect();
    ys.sort_by(f64::total_cmp);
    assert!(ys.windows(2).all(|pair| pair[1] - pair[0] > 15.0), "no label on another: {ys:?}");
    assert!(ys[0] > 0.0 && *ys.last().unwrap() < 520.0);
}
