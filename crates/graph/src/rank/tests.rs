//! Small graphs whose results can be worked out by hand.

use super::*;

const CLOSE: f64 = 1e-9;

fn graph(nodes: u32, arcs: &[(u32, u32)]) -> Graph {
    Graph::of_arcs(nodes, arcs.to_vec())
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64]) {
    let far = found.iter().zip(expected).any(|(a, b)| (a - b).abs() > CLOSE);
    assert!(found.len() == expected.len() && !far, "{found:?} is not {expected:?}");
}

#[test]
fn pages_in_a_ring_are_worth_the_same() {
    let ring = graph(3, &[(0, 1), (1, 2), (2, 0)]);
    assert_close(&pagerank(&ring, &PageRank::default()).values, &[1.0 / 3.0; 3]);
}

/// x = 0.075 + 0.85·y/2 and y = 0.075 + 0.85·(x + y/2) with x + y = 1.
#[test]
fn dead_ends_spread_what_they_have() {
    let graph = graph(2, &[(0, 1)]);
    let x = 0.5 / 1.425;
    assert_close(&pagerank(&graph, &PageRank::default()).values, &[x, 1.0 - x]);
}

/// Half of a reader's steps from 0 stay there: x = 0.075 + 0.85·(x/2 + y/2), y = 0.075 + 0.85·(x/2 + y/2).
#[test]
fn links_of_a_page_to_itself_count() {
    let graph = graph(2, &[(0, 0), (0, 1)]);
    assert_close(&pagerank(&graph, &PageRank::default()).values, &[0.5, 0.5]);
}

#[test]
fn a_graph_without_nodes_or_arcs_has_ranks_all_the_same() {
    assert!(pagerank(&graph(0, &[]), &PageRank::default()).values.is_empty());
    assert_close(&pagerank(&graph(4, &[]), &PageRank::default()).values, &[0.25; 4]);
    assert!(hits(&graph(0, &[]), &PageRank::default()).hubs.values.is_empty());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let arcs: Vec<(u32, u32)> = (0..2_000).map(|n| (n * 7 % 501, n * n % 499)).collect();
    let graph = graph(600, &arcs);
    let by = |threads| pagerank(&graph, &PageRank { threads, ..PageRank::default() });
    let one = by(1);
    assert!(one.change < 1e-12 && one.rounds < 300, "{} rounds", one.rounds);
    assert!((one.values.iter().sum::<f64>() - 1.0).abs() < CLOSE);
    for threads in [2, 3, 16, 1_000] {
        assert_eq!(by(threads), one, "{threads} threads");
    }
}

#[test]
fn hubs_lead_to_authorities() {
    let graph = graph(5, &[(0, 2), (0, 3), (0, 4), (1, 2), (1, 3)]);
    let Hits { hubs, authorities } = hits(&graph, &PageRank::default());
    assert_eq!(hubs.top(2), [0, 1]);
    assert_eq!(authorities.top(3), [2, 3, 4]);
    assert_close(&hubs.values[2..], &[0.0; 3]);
    // The larger eigenvalue of [[3, 2], [2, 2]] is (5 + √17) / 2; hubs are its eigenvector.
    let ratio = (17.0_f64.sqrt() + 1.0) / 4.0;
    assert!((hubs.values[0] / hubs.values[1] - ratio).abs() < 1e-6, "{:?}", hubs.values);
}

#[test]
fn the_top_is_in_order_and_ties_are_by_node() {
    assert_eq!(top(&[1, 5, 3, 5, 0], 3), [1, 3, 2]);
    assert_eq!(top(&[1, 5], 9), [1, 0]);
}

#[test]
fn components_are_found_both_ways() {
    let graph = graph(7, &[(1, 0), (1, 2), (2, 3), (3, 1), (5, 4), (6, 6)]);
    let weak = weak_components(&graph);
    assert_eq!((weak.sizes.as_slice(), weak.largest()), (&[4, 2, 1][..], 4));
    let strong = strong_components(&graph);
    assert_eq!((strong.sizes.len(), strong.largest()), (5, 3));
    assert!(strong.of[1] == strong.of[2] && strong.of[2] == strong.of[3]);
    assert_ne!(strong.of[0], strong.of[1]);
}

#[test]
fn a_path_as_long_as_the_graph_overflows_no_stack() {
    let arcs: Vec<(u32, u32)> = (0..200_000).map(|node| (node, node + 1)).collect();
    assert_eq!(strong_components(&graph(200_001, &arcs)).sizes.len(), 200_001);
}

#[test]
fn depth_is_the_shortest_way_from_any_start() {
    let graph = graph(6, &[(0, 1), (1, 2), (2, 3), (4, 3), (3, 0)]);
    assert_eq!(depths(&graph, [0, 4]), [0, 1, 2, 1, 0, UNREACHED]);
}

#[test]
fn shares_cover_every_node_once() {
    let graph = graph(10, &[(0, 1), (0, 2), (0, 3), (9, 1)]);
    for count in [0, 1, 2, 3, 10, 50] {
        let shares = shares(&graph, count);
        let nodes: Vec<usize> = shares.into_iter().flatten().collect();
        assert_eq!(nodes, (0..10).collect::<Vec<_>>(), "{count} shares");
    }
}
