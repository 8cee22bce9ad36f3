//! What can be computed on any graph: importance, components, distances.
//!
//! Nothing here knows where a graph comes from. Results are the same on every run, whatever the number of
//! threads.

mod components;
mod depth;
mod hits;
mod pagerank;

pub use components::{Components, strong_components, weak_components};
pub use depth::{UNREACHED, depths, tally};
pub use hits::{Hits, hits};
pub use pagerank::{PageRank, Scores, pagerank, pagerank_of, top};

use std::num::NonZero;
use std::ops::Range;

use crate::graph::Graph;

/// How many threads there is work for.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// For each node how many others lead to it.
pub fn in_degrees(graph: &Graph) -> Vec<u32> {
    let mut degrees = vec![0; graph.nodes() as usize];
    graph.rows().flat_map(|(_, row)| row).for_each(|&to| degrees[to as usize] += 1);
    degrees
}

/// The nodes in stretches of about the same number of arcs.
fn shares(graph: &Graph, count: usize) -> Vec<Range<usize>> {
    let nodes = graph.nodes() as usize;
    // A node costs about as much as an arc.
    let cost = |node: usize| graph.ends()[node] + node as u64;
    let total = nodes.checked_sub(1).map_or(0, cost);
    let mut begin = 0;
    let mut shares = Vec::new();
    for share in 1..=count.max(1) as u64 {
        let until = total * share / count.max(1) as u64;
        let end = match share == count.max(1) as u64 {
            true => nodes,
            false => begin + (begin..nodes).take_while(|&node| cost(node) <= until).count(),
        };
        shares.push(begin..end);
        begin = end;
    }
    shares
}

/// Computes a value for every node, shared out over threads. Each is computed by one of them, so that
/// it does not depend on their number.
fn each_node(shares: &[Range<usize>], values: &mut [f64], value: impl Fn(usize) -> f64 + Sync) {
    let value = &value;
    std::thread::scope(|scope| {
        let mut rest = values;
        for share in shares {
            let (mine, behind) = std::mem::take(&mut rest).split_at_mut(share.len());
            rest = behind;
            let fill = move || {
                share.clone().zip(mine).for_each(|(node, place)| *place = value(node));
            };
            scope.spawn(fill);
        }
    });
}

/// How far two lists of values are apart, all together.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

#[cfg(test)]
mod outside_tests;
#[cfg(test)]
mod tests;
