//! Which nodes hang together: by arcs in any direction (weak), or each reachable from each (strong).

use crate::graph::Graph;

/// A number of a component for every node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// By node; numbers from 0 on.
    pub of: Vec<u32>,
    /// How many nodes each has.
    pub sizes: Vec<u32>,
}

impl Components {
    /// How many nodes the largest has.
    pub fn largest(&self) -> u32 {
        self.sizes.iter().copied().max().unwrap_or(0)
    }

    fn numbered(of: Vec<u32>, count: usize) -> Self {
        let mut sizes = vec![0; count];
        of.iter().for_each(|&component| sizes[component as usize] += 1);
        Self { of, sizes }
    }
}

/// Components by arcs in any direction, in the order of their first nodes.
pub fn weak_components(graph: &Graph) -> Components {
    let mut parents: Vec<u32> = (0..graph.nodes()).collect();
    for (from, row) in graph.rows() {
        for &to in row {
            let (a, b) = (root(&mut parents, from), root(&mut parents, to));
            // The smaller one becomes the root, so that roots are first nodes.
            parents[a.max(b) as usize] = a.min(b);
        }
    }
    let mut numbers = vec![0; parents.len()];
    let mut count = 0;
    for node in 0..graph.nodes() {
        let root = root(&mut parents, node);
        if root == node {
            numbers[node as usize] = count;
            count += 1;
        }
        numbers[node as usize] = numbers[root as usize];
    }
    Components::numbered(numbers, count as usize)
}

/// The first node of a tree, which gets flatter on the way.
fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        let above = parents[parents[node as usize] as usize];
        parents[node as usize] = above;
        node = above;
    }
    node
}

/// Components in which every node can be reached from every other.
///
/// Tarjan's algorithm with its own stack: a path may be as long as there are nodes.
pub fn strong_components(graph: &Graph) -> Components {
    let mut search = Search::new(graph.nodes() as usize);
    for node in 0..graph.nodes() {
        if search.met[node as usize] == 0 {
            search.walk(graph, node);
        }
    }
    Components::numbered(search.of, search.components as usize)
}

struct Search {
    /// When each node was met, from 1 on; 0: not yet.
    met: Vec<u32>,
    /// The earliest node that can be reached from each.
    low: Vec<u32>,
    of: Vec<u32>,
    /// Nodes that were met and have no component yet.
    open: Vec<u32>,
    /// The path: nodes, and how many of their successors were looked at.
    path: Vec<(u32, usize)>,
    clock: u32,
    components: u32,
}

impl Search {
    fn new(nodes: usize) -> Self {
        Self {
            met: vec![0; nodes],
            low: vec![0; nodes],
            of: vec![u32::MAX; nodes],
            open: Vec::new(),
            path: Vec::new(),
            clock: 0,
            components: 0,
        }
    }

    fn walk(&mut self, graph: &Graph, start: u32) {
        self.meet(start);
        while let Some((node, looked)) = self.path.last_mut() {
            let node = *node;
            let Some(&to) = graph.successors(node).get(*looked) else {
                self.leave(node);
                continue;
            };
            *looked += 1;
            if self.met[to as usize] == 0 {
                self.meet(to);
            } else if self.of[to as usize] == u32::MAX {
                self.low[node as usize] = self.low[node as usize].min(self.met[to as usize]);
            }
        }
    }

    fn meet(&mut self, node: u32) {
        self.clock += 1;
        self.met[node as usize] = self.clock;
        self.low[node as usize] = self.clock;
        self.open.push(node);
        self.path.push((node, 0));
    }

    fn leave(&mut self, node: u32) {
        self.path.pop();
        let low = self.low[node as usize];
        if let Some(&(before, _)) = self.path.last() {
            self.low[before as usize] = self.low[before as usize].min(low);
        }
        if low < self.met[node as usize] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.of[member as usize] = self.components;
            if member == node {
                break;
            }
        }
        self.components += 1;
    }
}
