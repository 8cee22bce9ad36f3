//! Where virtual crawls begin: nodes drawn by a seed among those that reach at least half of the graph.

use larm_core::random::Random;

use crate::{Error, Result, Web};

/// A page to begin with, and how many pages can be reached from it, itself included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// The node.
    pub node: u32,
    /// How many.
    pub reaches: u32,
}

/// A node that was asked for.
pub fn named(web: &Web, node: u32) -> Start {
    let mut walk = Walk::new(web);
    Start { node, reaches: walk.count(node) }
}

/// Draws up to `count` different nodes; fewer if no more of them reach half of the graph.
pub fn draw(web: &Web, count: usize, seed: u64) -> Result<Vec<Start>> {
    let mut order: Vec<u32> = (0..web.nodes()).collect();
    let mut random = Random(seed);
    let mut is_narrow = vec![false; order.len()];
    let mut walk = Walk::new(web);
    let mut starts = Vec::new();
    for drawn in 0..order.len() {
        if starts.len() == count {
            break;
        }
        let left = (order.len() - drawn) as u64;
        order.swap(drawn, drawn + random.below(left) as usize);
        let node = order[drawn];
        if is_narrow[node as usize] {
            continue;
        }
        let reaches = walk.count(node);
        let is_wide = u64::from(reaches) * 2 >= u64::from(web.nodes());
        match is_wide {
            true => starts.push(Start { node, reaches }),
            false => mark(web, node, &mut is_narrow),
        }
    }
    if starts.is_empty() {
        return Err(Error::asked(
            "no node of the graph reaches half of it: name nodes to start at with --start",
        ));
    }
    Ok(starts)
}

/// A node that reaches too little, and all that it leads to, which reach no more.
fn mark(web: &Web, node: u32, is_narrow: &mut [bool]) {
    let mut front = vec![node];
    is_narrow[node as usize] = true;
    while let Some(node) = front.pop() {
        for &to in web.graph().successors(node) {
            if !std::mem::replace(&mut is_narrow[to as usize], true) {
                front.push(to);
            }
        }
    }
}

/// Counts what can be reached, again and again without new memory.
struct Walk<'a> {
    web: &'a Web,
    seen: Vec<u32>,
    walks: u32,
    front: Vec<u32>,
}

impl<'a> Walk<'a> {
    fn new(web: &'a Web) -> Self {
        Self { web, seen: vec![0; web.nodes() as usize], walks: 0, front: Vec::new() }
    }

    fn count(&mut self, node: u32) -> u32 {
        self.walks += 1;
        self.seen[node as usize] = self.walks;
        self.front.push(node);
        let mut count = 0;
        while let Some(node) = self.front.pop() {
            count += 1;
            for &to in self.web.graph().successors(node) {
                if std::mem::replace(&mut self.seen[to as usize], self.walks) != self.walks {
                    self.front.push(to);
                }
            }
        }
        count
    }
}
