//! A graph in memory: for every node, from 0 on, the nodes that it leads to.
//!
//! GRAPH-1: the successors of a node rise strictly. Arcs are counted once, whatever number of links there
//! was; a node may lead to itself. Four bytes an arc and eight a node.

use std::path::Path;

use larm_core::Limits;

use crate::bv::BvGraph;
use crate::{Error, Result, edges};

/// A graph in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// Where the successors of each node end, behind a 0.
    ends: Vec<u64>,
    successors: Vec<u32>,
}

impl Graph {
    /// A graph of these arcs, in any order, doubles counted once.
    ///
    /// # Panics
    /// If an arc is between nodes that are not there.
    pub fn of_arcs(nodes: u32, mut arcs: Vec<(u32, u32)>) -> Self {
        arcs.sort_unstable();
        arcs.dedup();
        let mut builder = Self::builder(arcs.len() as u64);
        let mut rest = arcs.as_slice();
        for node in 0..nodes {
            let count = rest.iter().take_while(|(from, _)| *from == node).count();
            let (row, behind) = rest.split_at(count);
            builder.extend(row.iter().map(|&(_, to)| to));
            rest = behind;
        }
        assert!(rest.is_empty() && builder.successors.iter().all(|&to| to < nodes), "nodes exist");
        builder.finish()
    }

    /// A graph that is put together node by node.
    pub fn builder(arcs: u64) -> Builder {
        // What somebody's file claims is not worth more than that much memory.
        let room = usize::try_from(arcs).unwrap_or(0).min(1 << 24);
        Builder { ends: vec![0], successors: Vec::with_capacity(room) }
    }

    /// Reads a graph: a WebGraph graph (its name, or one of its files), or an edge list, plain or
    /// gzipped.
    pub fn read(path: &Path, limits: &Limits) -> Result<Self> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let name = match ending {
            Some("graph" | "properties" | "offsets") => path.with_extension(""),
            _ => path.to_path_buf(),
        };
        let mut properties = name.as_os_str().to_owned();
        properties.push(".properties");
        if !Path::new(&properties).exists() {
            return edges::read(path, limits);
        }
        let graph = BvGraph::open(&name)?;
        if u64::from(graph.properties().nodes) > limits.graph_nodes_max {
            return Err(Error::unfit(path, "it has more nodes than `graph_nodes_max`"));
        }
        graph.to_graph()
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        (self.ends.len() - 1) as u32
    }

    /// How many arcs there are.
    pub fn arcs(&self) -> u64 {
        self.successors.len() as u64
    }

    /// The nodes that a node leads to, rising.
    pub fn successors(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.successors[self.ends[node] as usize..self.ends[node + 1] as usize]
    }

    /// How many nodes a node leads to.
    pub fn degree(&self, node: u32) -> u32 {
        let node = node as usize;
        (self.ends[node + 1] - self.ends[node]) as u32
    }

    /// Every node with its successors.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &[u32])> {
        (0..self.nodes()).map(|node| (node, self.successors(node)))
    }

    /// The same graph with every arc turned round.
    pub fn transposed(&self) -> Self {
        let mut ends = vec![0_u64; self.ends.len() + 1];
        for &to in &self.successors {
            ends[to as usize + 2] += 1;
        }
        for node in 2..ends.len() {
            ends[node] += ends[node - 1];
        }
        let mut successors = vec![0; self.successors.len()];
        for (from, row) in self.rows() {
            for &to in row {
                let place = &mut ends[to as usize + 1];
                successors[*place as usize] = from;
                *place += 1;
            }
        }
        ends.pop();
        Self { ends, successors }
    }

    /// The part of the graph whose nodes are `kept`, numbered anew in the same order.
    pub fn induced(&self, kept: &[bool]) -> Self {
        let mut numbers = vec![u32::MAX; self.nodes() as usize];
        let kept_numbers = numbers.iter_mut().zip(kept).filter(|(_, kept)| **kept);
        kept_numbers.zip(0..).for_each(|((number, _), next)| *number = next);
        let mut builder = Self::builder(0);
        for (_, row) in self.rows().filter(|(node, _)| kept[*node as usize]) {
            let row = row.iter().map(|&to| numbers[to as usize]);
            builder.extend(row.filter(|&to| to != u32::MAX));
        }
        builder.finish()
    }

    /// Where the arcs of each node end, so that work can be shared out evenly.
    pub(crate) fn ends(&self) -> &[u64] {
        &self.ends[1..]
    }
}

/// A graph that is being put together.
#[derive(Debug)]
pub struct Builder {
    ends: Vec<u64>,
    successors: Vec<u32>,
}

impl Builder {
    /// Adds the next node with its successors, which rise strictly.
    pub fn push(&mut self, successors: &[u32]) {
        self.extend(successors.iter().copied());
    }

    /// The same, one by one.
    pub fn extend(&mut self, successors: impl Iterator<Item = u32>) {
        let begin = self.successors.len();
        self.successors.extend(successors);
        let rising = self.successors[begin..].is_sorted_by(|a, b| a < b);
        assert!(rising, "GRAPH-1: successors rise strictly");
        self.ends.push(self.successors.len() as u64);
    }

    /// The graph.
    pub fn finish(self) -> Graph {
        Graph { ends: self.ends, successors: self.successors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        Graph::of_arcs(5, vec![(3, 0), (0, 1), (0, 1), (1, 1), (0, 4), (3, 4)])
    }

    #[test]
    fn arcs_are_kept_once_and_in_order() {
        let graph = graph();
        assert_eq!((graph.nodes(), graph.arcs()), (5, 5));
        assert_eq!(graph.successors(0), [1, 4]);
        assert_eq!((graph.successors(2), graph.degree(3)), (&[][..], 2));
    }

    #[test]
    fn turned_round_twice_is_the_same() {
        let turned = graph().transposed();
        assert_eq!(turned.successors(4), [0, 3]);
        assert_eq!((turned.successors(1), turned.successors(3)), (&[0, 1][..], &[][..]));
        assert_eq!(turned.transposed(), graph());
    }

    #[test]
    fn a_part_has_the_arcs_between_its_nodes() {
        let part = graph().induced(&[true, false, false, true, true]);
        assert_eq!(part, Graph::of_arcs(3, vec![(0, 2), (1, 0), (1, 2)]));
    }
}
