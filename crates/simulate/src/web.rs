//! A graph to crawl: from an edge list, a WebGraph file or a crawl directory, perhaps with URLs.

use std::path::Path;

use larm_core::Limits;
use larm_graph::stored::Scope;
use larm_graph::{Graph, StoredGraph, rank};

use crate::{Error, Result, urls};

/// Bytes of a node and of an arc that everybody shares: the graph, both ways, and what is hot.
const SHARED: (u64, u64) = (40, 8);
/// The same for each crawl: queue, numbers and the hungriest of the scores, with room to grow.
const OWN: (u64, u64) = (96, 8);

/// A graph, and what its nodes are called.
#[derive(Debug)]
pub struct Web {
    graph: Graph,
    /// The number of the first node, as people write it.
    first: u32,
    urls: Option<Vec<Box<str>>>,
}

impl Web {
    /// A graph without URLs, whose nodes are called by number, from `first` on.
    pub fn new(graph: Graph, first: u32) -> Self {
        Self { graph, first, urls: None }
    }

    /// Reads a graph. Of an edge list that never names node 0, numbers begin with 1. Nodes of a crawl
    /// directory are the pages that it fetched, and redirects.
    pub fn read(path: &Path, limits: &Limits) -> Result<Self> {
        let web = match path.is_dir() {
            true => Self::of_crawl(path, limits)?,
            false => Self::of_graph(Graph::read(path, limits)?),
        };
        if web.nodes() == 0 {
            return Err(Error::asked(format!("{}: the graph has no nodes", path.display())));
        }
        web.fits(1, limits)?;
        Ok(web)
    }

    fn of_graph(graph: Graph) -> Self {
        let is_named = |graph: &Graph| {
            graph.rows().any(|(from, row)| from == 0 && !row.is_empty() || row.first() == Some(&0))
        };
        if graph.nodes() < 2 || is_named(&graph) {
            return Self::new(graph, 0);
        }
        let mut kept = vec![true; graph.nodes() as usize];
        kept[0] = false;
        Self::new(graph.induced(&kept), 1)
    }

    fn of_crawl(dir: &Path, limits: &Limits) -> Result<Self> {
        if !larm_graph::log::path_in(dir).exists() {
            return Err(Error::asked(format!("{}: a directory without a link log", dir.display())));
        }
        let stored = StoredGraph::open_fresh(dir, limits, &mut |_| ())?;
        let view = stored.view(Scope::Pages)?;
        let mut lookup = stored.nodes().lookup();
        let url = |&node: &u32| Ok(lookup.url(node)?.into());
        let urls = view.stored.iter().map(url).collect::<Result<_>>()?;
        Ok(Self { graph: view.graph, first: 0, urls: Some(urls) })
    }

    /// Gives the nodes the URLs of a file: lines of number and URL, or of URLs alone in the order of
    /// nodes.
    pub fn name(&mut self, path: &Path, limits: &Limits) -> Result<()> {
        self.urls = Some(urls::read(path, self.first, self.nodes(), limits)?);
        Ok(())
    }

    /// Says so if crawls of this graph, so many at a time, need more memory than there may be
    /// (`simulate_bytes_max`).
    pub fn fits(&self, crawls: usize, limits: &Limits) -> Result<()> {
        let (needed, most) = (self.bytes(crawls), limits.simulate_bytes_max);
        if needed <= most {
            return Ok(());
        }
        Err(Error::asked(format!(
            "{} nodes and {} arcs need up to {} MB for {crawls} crawl(s) at a time, more than \
             simulate_bytes_max ({} MB) allows",
            self.nodes(),
            self.arcs(),
            needed >> 20,
            most >> 20,
        )))
    }

    /// How many crawls fit into memory at a time, of at most `wanted`.
    pub fn room_for(&self, wanted: usize, limits: &Limits) -> usize {
        (1..=wanted.max(1)).rev().find(|&crawls| self.fits(crawls, limits).is_ok()).unwrap_or(1)
    }

    /// What so many crawls at a time take at most, URLs aside.
    fn bytes(&self, crawls: usize) -> u64 {
        let each = |(node, arc): (u64, u64)| node * u64::from(self.nodes()) + arc * self.arcs();
        each(SHARED).saturating_add(each(OWN).saturating_mul(crawls as u64))
    }

    /// Who leads to whom.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.graph.nodes()
    }

    /// How many arcs there are.
    pub fn arcs(&self) -> u64 {
        self.graph.arcs()
    }

    /// The URL of a node, if URLs are known.
    pub fn url(&self, node: u32) -> Option<&str> {
        self.urls.as_ref().map(|urls| &*urls[node as usize])
    }

    /// Whether URLs are known.
    pub fn has_urls(&self) -> bool {
        self.urls.is_some()
    }

    /// The number of a node as people write it.
    pub fn label(&self, node: u32) -> u64 {
        u64::from(node) + u64::from(self.first)
    }

    /// The node that somebody means by a number, or by a URL if URLs are known.
    pub fn find(&self, text: &str) -> Result<u32> {
        if let Ok(label) = text.parse::<u64>() {
            let node = label
                .checked_sub(u64::from(self.first))
                .filter(|node| *node < u64::from(self.nodes()));
            let last = self.label(self.nodes() - 1);
            let range = || {
                Error::asked(format!("there is no node {label}: they are {} to {last}", self.first))
            };
            return node.map(|node| node as u32).ok_or_else(range);
        }
        let mut urls = self.urls.iter().flatten();
        let node = urls.position(|url| &**url == text);
        node.map(|node| node as u32).ok_or_else(|| {
            Error::asked(match self.has_urls() {
                true => format!("no node has the URL {text}"),
                false => format!("`{text}` is no number, and the graph has no URLs (--urls)"),
            })
        })
    }

    /// Links to each node from others.
    pub fn backlinks(&self) -> Vec<u32> {
        let mut links = rank::in_degrees(&self.graph);
        for (node, row) in self.graph.rows() {
            links[node as usize] -= u32::from(row.binary_search(&node).is_ok());
        }
        links
    }
}
