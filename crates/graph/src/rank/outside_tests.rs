//! PageRank of a crawl of the Italian research council's sites against igraph's, and a small site with HITS.

use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;
use larm_core::Limits;

use super::*;
use crate::bv::{BvGraph, BvWriter};

fn testdata(name: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/testdata"));
    let root = std::env::var_os("LARM_TESTDATA").map_or(beside, PathBuf::from);
    let path = root.join("graph").join(name);
    if !path.exists() {
        println!("skipped: no testdata");
        return None;
    }
    Some(path)
}

fn text(path: &PathBuf) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

/// In-degree and PageRank of every node.
fn reference(path: &PathBuf) -> Vec<(u32, f64)> {
    let row = |line: &str| {
        let mut words = line.split('\t').skip(1);
        (words.next().unwrap().parse().unwrap(), words.next().unwrap().parse().unwrap())
    };
    text(path).lines().skip(1).map(row).collect()
}

#[test]
fn pagerank_is_that_of_an_outside_solver() {
    let Some(edges) = testdata("cnr-2000.edges.tsv.gz") else { return };
    let Some(ranks) = testdata("cnr-2000.pagerank.tsv.gz") else { return };
    let graph = Graph::read(&edges, &Limits::default()).unwrap();
    assert_eq!((graph.nodes(), graph.arcs()), (325_557, 3_216_152));
    let reference = reference(&ranks);
    let degrees = in_degrees(&graph);
    assert!(reference.iter().zip(&degrees).all(|((degree, _), found)| degree == found));

    let scores = pagerank(&graph, &PageRank::default());
    let errors = scores
        .values
        .iter()
        .zip(&reference)
        .map(|(found, (_, rank))| ((found - rank) / rank).abs());
    let error = errors.fold(0.0, f64::max);
    println!("{} rounds, largest relative error {error:.1e}", scores.rounds);
    assert!(error <= 1e-6, "{error:e}");
    let theirs: Vec<f64> = reference.iter().map(|(_, rank)| *rank).collect();
    let correlation = rank_correlation(&scores.values, &theirs);
    println!("Spearman's rank correlation {correlation:.9}");
    assert!(correlation > 0.999_999, "{correlation}");

    let reached = depths(&graph, [323_911]);
    assert!(!reached.contains(&UNREACHED), "this node is said to reach every other");
    assert_eq!(weak_components(&graph).sizes.len(), 1);
}

/// The crate webgraph 0.7 needs as many bits for it: 2.90 for each arc.
#[test]
fn a_crawl_takes_as_many_bits_as_webgraph_itself_needs() {
    let Some(edges) = testdata("cnr-2000.edges.tsv.gz") else { return };
    let graph = Graph::read(&edges, &Limits::default()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("cnr");
    let mut writer = BvWriter::create(&name).unwrap();
    graph.rows().for_each(|(_, row)| writer.push(row).unwrap());
    writer.finish().unwrap();
    let properties = std::fs::read_to_string(dir.path().join("cnr.properties")).unwrap();
    assert!(properties.contains("\nlength=9318741\n"), "{properties}");
    assert!(BvGraph::open(&name).unwrap().to_graph().unwrap() == graph);
}

/// Spearman's ρ; equal values share their places. Values count as equal that agree in eight digits, which
/// is what the reference has.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (places(a), places(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let covariance = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    covariance(&a, &b) / (covariance(&a, &a) * covariance(&b, &b)).sqrt()
}

fn places(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut places = vec![0.0; values.len()];
    let mut begin = 0;
    for equal in order.chunk_by(|&a, &b| (values[b] - values[a]) <= 1e-8 * values[b]) {
        let place = begin as f64 + (equal.len() as f64 - 1.0) / 2.0;
        equal.iter().for_each(|&node| places[node] = place);
        begin += equal.len();
    }
    places
}

#[test]
fn the_pages_of_a_small_site_have_sensible_ranks() {
    let Some(edges) = testdata("hollins.edges.txt.gz") else { return };
    let Some(urls) = testdata("hollins.urls.txt.gz") else { return };
    let graph = Graph::read(&edges, &Limits::default()).unwrap();
    // Numbers start at 1: node 0 is nobody.
    assert_eq!((graph.nodes(), graph.arcs()), (6_013, 23_875));
    let reached = depths(&graph, [1]).iter().filter(|&&depth| depth != UNREACHED).count();
    assert_eq!(reached, 6_011, "node 1 is said to reach all pages but one");
    let urls = text(&urls);
    let url = |node: u32| {
        let mut lines = urls.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(number, _)| number.parse() == Ok(node));
        found.map(|(_, url)| url.trim().to_owned()).unwrap_or_default()
    };
    let first = pagerank(&graph, &PageRank::default()).top(1)[0];
    assert_eq!(url(first), "http://www.hollins.edu/");
    let hits = hits(&graph, &PageRank { tolerance: 1e-10, ..PageRank::default() });
    assert!(hits.hubs.change < 1e-10, "{} after {} rounds", hits.hubs.change, hits.hubs.rounds);
    let sum: f64 = hits.authorities.values.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9);
}
