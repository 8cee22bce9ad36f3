//! One virtual crawl: finds pages, fetches the best of those that wait, learns where it leads.
//!
//! The crawler numbers pages as it finds them, as a live crawl does: what it has not found does not exist
//! for it, nor for its score.

use larm_core::order::{Facts, Leads, Score};

use crate::queue::Queue;
use crate::web::Web;

/// Stands for a node that was not found.
const UNKNOWN: u32 = u32::MAX;

/// A crawl that goes on page by page.
pub struct Crawler<'a> {
    web: &'a Web,
    score: Box<dyn Score>,
    /// By node, the page's number.
    numbers: Vec<u32>,
    /// By number, the page's node.
    nodes: Vec<u32>,
    depths: Vec<u32>,
    queue: Queue,
    links: Vec<u32>,
    changed: Vec<u32>,
    is_refreshed: bool,
}

impl<'a> Crawler<'a> {
    /// A crawl that knows no page.
    pub fn new(web: &'a Web, score: Box<dyn Score>) -> Self {
        Self {
            web,
            score,
            numbers: vec![UNKNOWN; web.nodes() as usize],
            nodes: Vec::new(),
            depths: Vec::new(),
            queue: Queue::default(),
            links: Vec::new(),
            changed: Vec::new(),
            is_refreshed: false,
        }
    }

    /// Lets a node wait that is not known yet: a start.
    pub fn start(&mut self, node: u32) {
        if !self.knows(node) {
            let number = self.meet(node, 0);
            self.queue.put(number, self.score.worth(number));
        }
    }

    /// Whether a node was found.
    pub fn knows(&self, node: u32) -> bool {
        self.numbers[node as usize] != UNKNOWN
    }

    /// How many pages wait.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Fetches the best page and follows all its links; its node, or `None` if none waits.
    pub fn step(&mut self) -> Option<u32> {
        let node = self.take()?;
        let web = self.web;
        self.learn(node, web.graph().successors(node));
        Some(node)
    }

    /// Takes the best page from those that wait.
    pub fn take(&mut self) -> Option<u32> {
        self.queue.pop().map(|page| self.nodes[page as usize])
    }

    /// Learns of links on a page, its own or one that somebody else has fetched: all of them or some. Pages
    /// that are new wait from now on.
    pub fn learn(&mut self, from: u32, links: &[u32]) {
        let page = match self.numbers[from as usize] {
            UNKNOWN => self.meet(from, 0),
            number => number,
        };
        let depth = self.depths[page as usize] + 1;
        let mut numbers = std::mem::take(&mut self.links);
        numbers.clear();
        numbers.extend(links.iter().map(|&to| self.number(to, depth)));
        self.changed.clear();
        let degree = self.web.graph().degree(from);
        let leads = Leads { page, links: &numbers, degree, relevance: 1.0 };
        self.score.fetched(&leads, &mut self.changed);
        self.links = numbers;
        self.reorder();
    }

    /// The number of a page that is linked to; one that is new waits.
    fn number(&mut self, node: u32, depth: u32) -> u32 {
        if self.knows(node) {
            return self.numbers[node as usize];
        }
        let number = self.meet(node, depth);
        self.queue.put(number, self.score.worth(number));
        number
    }

    /// Moves what waits to where it belongs by now.
    fn reorder(&mut self) {
        self.is_refreshed = self.score.is_due();
        if self.is_refreshed {
            self.score.refresh();
            return self.queue.reorder(|page| self.score.worth(page));
        }
        for &page in &self.changed {
            if self.queue.holds(page) {
                self.queue.put(page, self.score.worth(page));
            }
        }
    }

    fn meet(&mut self, node: u32, depth: u32) -> u32 {
        let number = self.nodes.len() as u32;
        self.numbers[node as usize] = number;
        self.nodes.push(node);
        self.depths.push(depth);
        let facts = Facts { depth, url: self.web.url(node) };
        self.score.found(number, &facts);
        number
    }

    /// What the crawl takes a node for, which it knows.
    pub(crate) fn worth(&self, node: u32) -> f32 {
        self.score.worth(self.numbers[node as usize])
    }

    /// The nodes whose worth the last step changed; `None` if it may be any.
    pub(crate) fn changed(&self) -> Option<impl Iterator<Item = u32>> {
        let nodes = self.changed.iter().map(|&page| self.nodes[page as usize]);
        (!self.is_refreshed).then_some(nodes)
    }
}
