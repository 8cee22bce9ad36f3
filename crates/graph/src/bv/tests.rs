//! Graphs come back as they were written, damaged files are errors.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::Error;
use crate::graph::Graph;

fn write(graph: &Graph, name: &Path) -> Properties {
    let mut writer = BvWriter::create(name).unwrap();
    graph.rows().for_each(|(_, row)| writer.push(row).unwrap());
    writer.finish().unwrap()
}

fn some_graph() -> Graph {
    let mut arcs: Vec<(u32, u32)> = (0..300).map(|n| (n * 13 % 60, n * n % 61)).collect();
    arcs.extend((20..50).flat_map(|from| (5..15).map(move |to| (from, to))));
    Graph::of_arcs(64, arcs)
}

proptest! {
    #[test]
    fn graphs_come_back(
        scattered in vec((0..90_u32, 0..90_u32), 0..200),
        alike in vec((0..90_u32, 0..80_u32, 1..9_u32), 0..60),
    ) {
        let runs = alike.into_iter().flat_map(|(from, to, run)| (to..to + run).map(move |to| (from, to)));
        let graph = Graph::of_arcs(90, scattered.into_iter().chain(runs).collect());
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().join("g.x");
        let properties = write(&graph, &name);
        prop_assert_eq!((properties.nodes, properties.arcs), (90, graph.arcs()));
        let read = BvGraph::open(&name).unwrap();
        prop_assert_eq!(&read.to_graph().unwrap(), &graph);
        let end = Graph::read(&dir.path().join("g.x.graph"), &larm_core::Limits::default());
        prop_assert_eq!(&end.unwrap(), &graph);
    }
}

#[test]
fn one_node_is_read_without_the_rest() {
    let (graph, dir) = (some_graph(), tempfile::tempdir().unwrap());
    let name = dir.path().join("g");
    write(&graph, &name);
    let read = BvGraph::open(&name).unwrap();
    for node in 0..graph.nodes() {
        assert_eq!(read.successors(node).unwrap(), graph.successors(node), "node {node}");
    }
    assert!(read.successors(64).is_err());
}

#[test]
fn lists_that_are_alike_take_few_bits() {
    let alike = Graph::of_arcs(
        1_000,
        (0..1_000).flat_map(|from| (0..40).map(move |to| (from, to * 20))).collect(),
    );
    let dir = tempfile::tempdir().unwrap();
    write(&alike, &dir.path().join("g"));
    let bits = 8.0 * std::fs::metadata(dir.path().join("g.graph")).unwrap().len() as f64;
    assert!(bits / 40_000.0 < 2.0, "{} bits an arc", bits / 40_000.0);
}

#[test]
fn a_changed_or_missing_byte_gives_an_error_or_another_graph_and_no_panic() {
    let (graph, dir) = (some_graph(), tempfile::tempdir().unwrap());
    let name = dir.path().join("g");
    write(&graph, &name);
    let file = dir.path().join("g.graph");
    let bytes = std::fs::read(&file).unwrap();
    let mut refused = 0;
    for at in 0..bytes.len() {
        for change in [0x80, 0x01, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            std::fs::write(&file, &changed).unwrap();
            refused += u32::from(BvGraph::open(&name).unwrap().to_graph().is_err());
        }
        std::fs::write(&file, &bytes[..at]).unwrap();
        let error = BvGraph::open(&name).unwrap().to_graph().unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
    }
    assert!(refused as usize > bytes.len(), "{refused} changes were noticed");
}

#[test]
fn whole_numbers_are_folded_as_webgraph_does() {
    let numbers = [0, -1, 1, -2, 2];
    assert_eq!(numbers.map(fold), [0, 1, 2, 3, 4]);
    assert_eq!(numbers.map(|number| unfold(fold(number))), numbers);
}
