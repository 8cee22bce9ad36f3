//! HITS (Kleinberg): a good hub leads to good authorities, a good authority is led to by good hubs.

use super::{PageRank, Scores, distance, each_node, shares};
use crate::graph::Graph;

/// Hubs and authorities. Values of each sum up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    /// How well a node leads on.
    pub hubs: Scores,
    /// How well a node is led to.
    pub authorities: Scores,
}

/// Hubs and authorities of every node. `how` says when to end; damping is of no concern.
pub fn hits(graph: &Graph, how: &PageRank) -> Hits {
    let incoming = graph.transposed();
    let nodes = graph.nodes() as usize;
    let (shares_out, shares_in) = (shares(graph, how.threads), shares(&incoming, how.threads));
    let mut hubs = vec![1.0 / nodes.max(1) as f64; nodes];
    let (mut authorities, mut next) = (vec![0.0; nodes], vec![0.0; nodes]);
    let (mut rounds, mut change) = (0, 0.0);
    while rounds < how.rounds_max && nodes > 0 {
        let sum = |graph: &Graph, node: usize, of: &[f64]| {
            graph.successors(node as u32).iter().map(|&other| of[other as usize]).sum()
        };
        each_node(&shares_in, &mut authorities, |node| sum(&incoming, node, &hubs));
        normalise(&mut authorities);
        each_node(&shares_out, &mut next, |node| sum(graph, node, &authorities));
        normalise(&mut next);
        change = distance(&hubs, &next);
        std::mem::swap(&mut hubs, &mut next);
        rounds += 1;
        if change < how.tolerance {
            break;
        }
    }
    let scores = |values| Scores { values, rounds, change };
    Hits { hubs: scores(hubs), authorities: scores(authorities) }
}

/// Makes the values sum up to 1, unless all are 0.
fn normalise(values: &mut [f64]) {
    let sum: f64 = values.iter().sum();
    if sum > 0.0 {
        values.iter_mut().for_each(|value| *value /= sum);
    }
}
