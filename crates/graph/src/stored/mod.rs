//! `graph/` of a crawl directory: the graph of its link log, its nodes by URL, and what they are worth.
//!
//! Made anew as a whole, beside the old one, and put in its place in one step. It says up to which byte of
//! the link log it goes, so that whoever reads it can tell how much was added since; nothing in it is the
//! only copy of anything. `docs/formats.md` describes every byte.

mod arcs;
mod build;
mod extent;
mod nodes;
mod ranks;

pub use build::{Progress, build};
pub use extent::{Extent, Freshness};
pub use nodes::{Facts, Nodes, UrlLookup, UrlReader};
pub use ranks::{Rank, Ranks};

use std::path::{Path, PathBuf};

use larm_core::Limits;

use crate::bv::BvGraph;
use crate::graph::Graph;
use crate::rank::{PageRank, pagerank};
use crate::{Error, Result};

/// Names of the graph and of the same with its arcs turned round.
const FORWARD: &str = "links";
const BACKWARD: &str = "links-t";

/// Where the graph of a crawl directory is.
pub fn path_in(dir: &Path) -> PathBuf {
    dir.join("graph")
}

/// The graph of a crawl directory.
pub struct StoredGraph {
    dir: PathBuf,
    extent: Extent,
    nodes: Nodes,
}

/// Which URLs count as nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Pages that are there, and redirects to them.
    #[default]
    Pages,
    /// Every URL that a link of a page leads to as well: not fetched, forbidden, missing or elsewhere.
    All,
}

/// A graph in memory, and which URLs its nodes are.
pub struct View {
    /// The graph.
    pub graph: Graph,
    /// The stored graph's number of each node, rising.
    pub stored: Vec<u32>,
}

impl StoredGraph {
    /// Opens the graph of a crawl directory as it was made last; `None` if it never was.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        let graph = path_in(dir);
        let Some(extent) = Extent::read(&graph)? else { return Ok(None) };
        let nodes = Nodes::open(&graph, extent.nodes)?;
        Ok(Some(Self { dir: graph, extent, nodes }))
    }

    /// Opens the graph of a crawl directory, and makes it before if it is missing or behind the link log.
    pub fn open_fresh(dir: &Path, limits: &Limits, progress: Progress<'_>) -> Result<Self> {
        if Extent::freshness(dir)? != Freshness::Fresh {
            build(dir, limits, progress)?;
        }
        Self::open(dir)?
            .ok_or_else(|| Error::unfit(&path_in(dir), "the graph was made, and is gone"))
    }

    /// What it covers, and how large it is.
    pub fn extent(&self) -> &Extent {
        &self.extent
    }

    /// Its nodes.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Where the graph is that WebGraph's tools read, without an ending.
    pub fn basename(&self) -> PathBuf {
        self.dir.join(FORWARD)
    }

    /// The compressed graph: who leads to whom.
    pub fn forward(&self) -> Result<BvGraph> {
        BvGraph::open(&self.dir.join(FORWARD))
    }

    /// The compressed graph with its arcs turned round: who is led to by whom.
    pub fn backward(&self) -> Result<BvGraph> {
        BvGraph::open(&self.dir.join(BACKWARD))
    }

    /// The graph in memory, all of it or its pages alone.
    pub fn view(&self, scope: Scope) -> Result<View> {
        let whole = self.forward()?.to_graph()?;
        if scope == Scope::All {
            return Ok(View { stored: (0..whole.nodes()).collect(), graph: whole });
        }
        let kept: Vec<bool> = self
            .nodes
            .facts()
            .iter()
            .map(|facts| facts.is_some_and(|facts| facts.is_page()))
            .collect();
        let stored = (0..whole.nodes()).filter(|&node| kept[node as usize]).collect();
        Ok(View { graph: whole.induced(&kept), stored })
    }
}

/// Works out what the pages of a graph are worth, and keeps it for those who order results by it.
fn rank(graph: &StoredGraph, limits: &Limits) -> Result<()> {
    let view = graph.view(Scope::Pages)?;
    let how = PageRank { rounds_max: limits.graph_rounds_max, ..PageRank::default() };
    let scores = pagerank(&view.graph, &how).values;
    ranks::write(&graph.dir, &graph.nodes, &view.stored, &scores)
}

#[cfg(test)]
mod tests;
