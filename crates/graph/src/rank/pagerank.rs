//! PageRank: the share of time that a reader spends on each page who follows links at random, and now
//! and then begins anew anywhere.
//!
//! Where a page leads nowhere, the reader begins anew, too: the rank of dead ends is spread evenly over
//! all nodes. Links of a page to itself count. Ranks sum up to 1.

use larm_core::Limits;

use super::{distance, each_node, shares, threads};
use crate::graph::Graph;

/// How PageRank is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageRank {
    /// The probability that the reader follows a link.
    pub damping: f64,
    /// It ends when a round changes all ranks together by less than this. What is still missing then is
    /// at most that, times damping / (1 − damping).
    pub tolerance: f64,
    /// Rounds at most.
    pub rounds_max: u64,
    /// Threads to compute on.
    pub threads: usize,
}

impl Default for PageRank {
    fn default() -> Self {
        let rounds_max = Limits::default().graph_rounds_max;
        Self { damping: 0.85, tolerance: 1e-12, rounds_max, threads: threads() }
    }
}

/// A value for every node, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// By node.
    pub values: Vec<f64>,
    /// Rounds that it took.
    pub rounds: u64,
    /// By how much the last one changed all values together.
    pub change: f64,
}

impl Scores {
    /// The nodes with the highest values, those first; equal ones in the order of nodes.
    pub fn top(&self, count: usize) -> Vec<u32> {
        top(&self.values, count)
    }
}

/// The nodes with the highest values, those first; equal ones in the order of nodes.
pub fn top<T: PartialOrd + Copy>(values: &[T], count: usize) -> Vec<u32> {
    let before = |a: &u32, b: &u32| {
        let (left, right) = (values[*a as usize], values[*b as usize]);
        right.partial_cmp(&left).unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(b))
    };
    let mut nodes: Vec<u32> = (0..values.len() as u32).collect();
    let count = count.min(nodes.len());
    if count < nodes.len() {
        nodes.select_nth_unstable_by(count, before);
        nodes.truncate(count);
    }
    nodes.sort_unstable_by(before);
    nodes
}

/// PageRank of every node of a graph.
pub fn pagerank(graph: &Graph, how: &PageRank) -> Scores {
    let degrees: Vec<u32> = (0..graph.nodes()).map(|node| graph.degree(node)).collect();
    pagerank_of(&graph.transposed(), &degrees, how)
}

/// The same, of a graph that is given by its arcs turned round and the number of arcs that leave each
/// node.
pub fn pagerank_of(incoming: &Graph, degrees: &[u32], how: &PageRank) -> Scores {
    let nodes = degrees.len();
    let even = 1.0 / nodes.max(1) as f64;
    let mut ranks = vec![even; nodes];
    let (mut next, mut given) = (vec![0.0; nodes], vec![0.0; nodes]);
    let shares = shares(incoming, how.threads);
    let (mut rounds, mut change) = (0, 0.0);
    while rounds < how.rounds_max && nodes > 0 {
        let lost = give(&ranks, degrees, &mut given);
        let base = (1.0 - how.damping + how.damping * lost) * even;
        each_node(&shares, &mut next, |node| {
            let row = incoming.successors(node as u32);
            base + how.damping * row.iter().map(|&from| given[from as usize]).sum::<f64>()
        });
        change = distance(&ranks, &next);
        std::mem::swap(&mut ranks, &mut next);
        rounds += 1;
        if change < how.tolerance {
            break;
        }
    }
    Scores { values: ranks, rounds, change }
}

/// What each node gives along each of its arcs; returns what those have that have none.
fn give(ranks: &[f64], degrees: &[u32], given: &mut [f64]) -> f64 {
    let mut lost = 0.0;
    for ((given, rank), &degree) in given.iter_mut().zip(ranks).zip(degrees) {
        match degree {
            0 => lost += rank,
            _ => *given = rank / f64::from(degree),
        }
    }
    lost
}
