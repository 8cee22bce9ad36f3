//! A buffer of fetched pages that keeps those which the crawl's own order thinks most of.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::crawler::Crawler;
use crate::hot::Hot;

/// Pages in the buffer, the least first; entries of pages that rose or left are out of date.
pub(crate) struct Buffer {
    room: usize,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    is_kept: Vec<bool>,
    kept: usize,
    hot: usize,
}

impl Buffer {
    pub(crate) fn new(room: u32, nodes: u32) -> Self {
        Self {
            room: room as usize,
            heap: BinaryHeap::new(),
            is_kept: vec![false; nodes as usize],
            kept: 0,
            hot: 0,
        }
    }

    /// Takes the page that was fetched last, and drops the least if that is one too many.
    pub(crate) fn take(&mut self, node: u32, crawler: &Crawler<'_>, hot: &Hot) {
        self.is_kept[node as usize] = true;
        self.kept += 1;
        self.hot += usize::from(hot.is_hot[node as usize]);
        self.push(node, crawler);
        match crawler.changed() {
            Some(nodes) if self.heap.len() < 4 * self.room + 64 => {
                nodes.for_each(|node| self.push(node, crawler));
            }
            _ => self.rebuild(crawler),
        }
        while self.kept > self.room {
            self.drop_least(crawler, hot);
        }
    }

    /// Hot pages in the buffer.
    pub(crate) fn hot(&self) -> usize {
        self.hot
    }

    fn push(&mut self, node: u32, crawler: &Crawler<'_>) {
        if self.is_kept[node as usize] {
            // Bits of floats above 0 rise as these do.
            self.heap.push(Reverse((crawler.worth(node).to_bits(), node)));
        }
    }

    fn rebuild(&mut self, crawler: &Crawler<'_>) {
        self.heap.clear();
        let kept = (0..self.is_kept.len() as u32).filter(|node| self.is_kept[*node as usize]);
        self.heap.extend(kept.map(|node| Reverse((crawler.worth(node).to_bits(), node))));
    }

    fn drop_least(&mut self, crawler: &Crawler<'_>, hot: &Hot) {
        let Reverse((worth, node)) = self.heap.pop().expect("what is kept is in the heap");
        let is_of_now = worth == crawler.worth(node).to_bits();
        if self.is_kept[node as usize] && is_of_now {
            self.is_kept[node as usize] = false;
            self.kept -= 1;
            self.hot -= usize::from(hot.is_hot[node as usize]);
        }
    }
}
