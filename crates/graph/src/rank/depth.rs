//! How many links away from the nearest start each node is.

use crate::graph::Graph;

/// The depth of a node to which no path leads.
pub const UNREACHED: u32 = u32::MAX;

/// Arcs on the shortest path from any of `starts` to each node.
pub fn depths(graph: &Graph, starts: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut depths = vec![UNREACHED; graph.nodes() as usize];
    let mut front: Vec<u32> = Vec::new();
    for start in starts {
        if std::mem::replace(&mut depths[start as usize], 0) == UNREACHED {
            front.push(start);
        }
    }
    let (mut depth, mut next) = (0, Vec::new());
    while !front.is_empty() {
        depth += 1;
        for to in front.drain(..).flat_map(|node| graph.successors(node)) {
            if depths[*to as usize] == UNREACHED {
                depths[*to as usize] = depth;
                next.push(*to);
            }
        }
        std::mem::swap(&mut front, &mut next);
    }
    depths
}

/// How many nodes are at each distance, and how many cannot be reached.
pub fn tally(depths: &[u32]) -> (Vec<u64>, u64) {
    let (mut counts, mut unreached) = (Vec::new(), 0);
    for &depth in depths {
        if depth == UNREACHED {
            unreached += 1;
            continue;
        }
        counts.resize(counts.len().max(depth as usize + 1), 0);
        counts[depth as usize] += 1;
    }
    (counts, unreached)
}
