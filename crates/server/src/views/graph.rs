//! The graph of a crawl: its foremost pages, its hosts and who leads to whom, how far pages are from a seed.
//!
//! Shown is what `graph/` of the crawl directory has. Making that takes a while for large crawls: it is done when
//! asked for, in the background, one crawl at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use larm_core::{Limits, Via};
use larm_graph::StoredGraph;
use larm_graph::graph::Graph;
use larm_graph::hosts::{HostGraph, host_graph};
use larm_graph::rank::{PageRank, depths, in_degrees, pagerank, tally, top};
use larm_graph::stored::{Extent, Freshness, Scope, View, build, path_in};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Kept, Looked};
use crate::problem::Problem;

/// Pages, hosts and arcs between hosts that are shown.
const PAGES_SHOWN: usize = 50;
const HOSTS_SHOWN: usize = 60;
const ARCS_SHOWN: usize = 300;

/// A page and what it is worth.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RankedPage {
    /// The page.
    pub url: String,
    /// Its title, where the search index knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its PageRank; those of all pages sum up to 1.
    pub pagerank: f64,
    /// Pages that link to it.
    #[serde(rename = "in")]
    pub links: u32,
}

/// A host, all its pages together.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HostNode {
    /// Its name, with a port if that is not the usual one.
    pub host: String,
    /// How many pages it has.
    pub pages: u32,
    /// Their PageRank together.
    pub pagerank: f64,
}

/// Links from one host to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HostArc {
    /// The host that has them.
    pub from: String,
    /// The host that they lead to.
    pub to: String,
    /// Pairs of pages that they link.
    pub links: u64,
}

/// The foremost hosts, and links between them.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HostMap {
    /// The hosts.
    pub nodes: Vec<HostNode>,
    /// The strongest links between them.
    pub arcs: Vec<HostArc>,
    /// How many hosts there are in all.
    pub total: u64,
}

/// Pages at a distance from a seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Depth {
    /// Links on the shortest path; null for pages without a path.
    pub depth: Option<u32>,
    /// How many pages.
    pub pages: u64,
}

/// The graph of a crawl.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct GraphView {
    /// When it was made, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<u64>,
    /// Whether the crawl has gone on since.
    pub stale: bool,
    /// Whether it is being made anew.
    pub making: bool,
    /// URLs that are in it.
    pub nodes: u32,
    /// Those of them that are pages.
    pub pages: u32,
    /// Links between them, each pair once.
    pub arcs: u64,
    /// The foremost pages by PageRank.
    pub by_pagerank: Vec<RankedPage>,
    /// The foremost pages by how many pages link to them.
    pub by_in_links: Vec<RankedPage>,
    /// The foremost hosts.
    pub hosts: HostMap,
    /// Pages by their distance from a seed.
    pub depths: Vec<Depth>,
}

/// The graphs that were looked at, and the one that is being made.
pub struct Graphs {
    kept: Kept<(Extent, GraphView)>,
    making: Mutex<Making>,
}

#[derive(Default)]
struct Making {
    now: Option<PathBuf>,
    /// What went wrong with the last one.
    failed: Option<(PathBuf, String)>,
}

impl Graphs {
    /// None yet.
    pub fn new(limits: &Limits) -> Self {
        Self { kept: Kept::new(limits.server_views_max), making: Mutex::default() }
    }

    /// Forgets the graph of a crawl.
    pub fn forget(&self, dir: &Path) {
        self.kept.forget(dir);
    }

    /// Takes the one place where a graph is made. `Ok(false)`: it is being made already.
    pub fn reserve(&self, dir: &Path) -> Result<bool, Problem> {
        let mut making = self.lock();
        match &making.now {
            Some(busy) if busy == dir => Ok(false),
            Some(_) => Err(Problem::conflict("The graph of another crawl is being made.")
                .hint("Try again in a moment.")),
            None => {
                *making = Making { now: Some(dir.to_owned()), failed: None };
                Ok(true)
            }
        }
    }

    /// Makes the graph of a crawl whose place was taken, and gives the place back.
    pub fn make(&self, dir: &Path, limits: &Limits) {
        let made = build(dir, limits, &mut |_| {});
        let mut making = self.lock();
        making.now = None;
        making.failed = made.err().map(|error| (dir.to_owned(), error.to_string()));
    }

    /// The graph of the crawl; a problem if there is none yet.
    pub fn of(&self, looked: &Looked<'_>) -> Result<GraphView, Problem> {
        let dir = &looked.dir;
        let stored = StoredGraph::open(dir).map_err(broken)?.ok_or_else(|| self.missing(dir))?;
        let known = self.kept.get(dir).filter(|known| known.0 == *stored.extent());
        let known = match known {
            Some(known) => known,
            None => {
                let view = made_of(&stored, looked)?;
                self.kept.put(dir, (stored.extent().clone(), view))
            }
        };
        let stale = Extent::freshness(dir).map_err(broken)? != Freshness::Fresh;
        let making = self.lock().now.as_deref() == Some(dir.as_path());
        Ok(GraphView { stale, making, made: made_at(dir), ..known.1.clone() })
    }

    fn missing(&self, dir: &Path) -> Problem {
        let making = self.lock();
        let failed = making.failed.as_ref().filter(|(failed, _)| failed == dir);
        match (&making.now, failed) {
            (Some(now), _) if now == dir => {
                Problem::not_found("The graph of this crawl is being made.")
                    .hint("Ask again in a moment.")
            }
            (_, Some((_, why))) => {
                Problem::not_found(format!("The graph of this crawl could not be made: {why}."))
            }
            _ => Problem::not_found("The graph of this crawl has not been made yet.")
                .hint("POST to this path makes it."),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Making> {
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn broken(error: larm_graph::Error) -> Problem {
    Problem::internal(format!("The graph cannot be read: {error}."))
}

fn made_at(dir: &Path) -> Option<u64> {
    let time = std::fs::metadata(path_in(dir).join("graph.json")).ok()?.modified().ok()?;
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

fn made_of(stored: &StoredGraph, looked: &Looked<'_>) -> Result<GraphView, Problem> {
    let (extent, limits) = (stored.extent(), looked.limits);
    if u64::from(extent.nodes) > limits.server_graph_nodes_max {
        return Err(Problem::conflict(format!(
            "The graph has {} nodes, more than the server holds in memory.",
            extent.nodes
        ))
        .hint("`larm graph DIR --top 50` shows its foremost pages."));
    }
    let view = stored.view(Scope::Pages).map_err(broken)?;
    let how = PageRank { rounds_max: limits.graph_rounds_max, ..PageRank::default() };
    let ranks = pagerank(&view.graph, &how).values;
    let links = in_degrees(&view.graph);
    let shown = Shown { stored, view: &view, ranks: &ranks, links: &links, looked };
    let counts: Vec<f64> = links.iter().copied().map(f64::from).collect();
    Ok(GraphView {
        made: None,
        stale: false,
        making: false,
        nodes: extent.nodes,
        pages: extent.pages,
        arcs: extent.arcs,
        by_pagerank: shown.pages(&top(&ranks, PAGES_SHOWN))?,
        by_in_links: shown.pages(&top(&counts, PAGES_SHOWN))?,
        hosts: shown.hosts()?,
        depths: shown.depths(),
    })
}

/// A graph and what was worked out about it.
struct Shown<'a> {
    stored: &'a StoredGraph,
    view: &'a View,
    ranks: &'a [f64],
    links: &'a [u32],
    looked: &'a Looked<'a>,
}

impl Shown<'_> {
    fn pages(&self, nodes: &[u32]) -> Result<Vec<RankedPage>, Problem> {
        let mut pages = Vec::with_capacity(nodes.len());
        for &node in nodes {
            let index = node as usize;
            let url = self.stored.nodes().url(self.view.stored[index]).map_err(broken)?;
            pages.push(RankedPage {
                url,
                title: None,
                pagerank: self.ranks[index],
                links: self.links[index],
            });
        }
        if let Ok(index) = self.looked.views.indexes.open(&self.looked.dir, self.looked.limits) {
            let urls: Vec<&str> = pages.iter().map(|page| page.url.as_str()).collect();
            let titles = index.titles(&urls);
            pages.iter_mut().zip(titles).for_each(|(page, title)| page.title = title);
        }
        Ok(pages)
    }

    fn hosts(&self) -> Result<HostMap, Problem> {
        let mut urls = self.stored.nodes().lookup();
        let hosts = host_graph(&self.view.graph, |node| {
            urls.url(self.view.stored[node as usize]).map(str::to_owned)
        });
        Ok(hosts_shown(&self.view.graph, &hosts.map_err(broken)?, self.ranks))
    }

    fn depths(&self) -> Vec<Depth> {
        let facts = self.stored.nodes().facts();
        let is_seed =
            |stored: u32| facts[stored as usize].is_some_and(|facts| facts.via == Via::Seed);
        let seeds = self.view.stored.iter().enumerate().filter(|(_, stored)| is_seed(**stored));
        let (counts, unreached) =
            tally(&depths(&self.view.graph, seeds.map(|(node, _)| node as u32)));
        let reached = (0..).zip(counts).map(|(depth, pages)| Depth { depth: Some(depth), pages });
        reached.chain((unreached > 0).then_some(Depth { depth: None, pages: unreached })).collect()
    }
}

fn hosts_shown(graph: &Graph, hosts: &HostGraph, ranks: &[f64]) -> HostMap {
    let mut worth = vec![0.0; hosts.names.len()];
    hosts.of.iter().zip(ranks).for_each(|(&host, rank)| worth[host as usize] += rank);
    let shown = top(&worth, HOSTS_SHOWN);
    let places: HashMap<u32, usize> =
        shown.iter().enumerate().map(|(place, &host)| (host, place)).collect();
    let mut counts: HashMap<(usize, usize), u64> = HashMap::new();
    for (from, row) in graph.rows() {
        let Some(&from) = places.get(&hosts.of[from as usize]) else { continue };
        for &to in row {
            if let Some(&to) = places.get(&hosts.of[to as usize]).filter(|to| **to != from) {
                *counts.entry((from, to)).or_default() += 1;
            }
        }
    }
    let mut arcs: Vec<_> = counts.into_iter().collect();
    arcs.sort_by_key(|&(pair, links)| (std::cmp::Reverse(links), pair));
    arcs.truncate(ARCS_SHOWN);
    let name = |place: usize| hosts.names[shown[place] as usize].clone();
    HostMap {
        total: hosts.names.len() as u64,
        arcs: arcs
            .into_iter()
            .map(|((from, to), links)| HostArc { from: name(from), to: name(to), links })
            .collect(),
        nodes: shown
            .iter()
            .map(|&host| HostNode {
                host: hosts.names[host as usize].clone(),
                pages: hosts.pages[host as usize],
                pagerank: worth[host as usize],
            })
            .collect(),
    }
}

/// Makes the graph of a crawl where nobody waits for it.
pub fn make_in_background(app: &crate::app::Shared, dir: PathBuf) -> Result<(), Problem> {
    if app.views.graphs.reserve(&dir)? {
        let app: Arc<crate::app::App> = app.clone();
        drop(tokio::task::spawn_blocking(move || {
            app.views.graphs.make(&dir, &app.settings.limits)
        }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_shown_with_the_links_between_them() {
        let graph = Graph::of_arcs(4, vec![(0, 1), (0, 2), (1, 2), (2, 0), (3, 0)]);
        let urls = ["http://a.test/", "http://a.test/x", "http://b.test/", "http://c.test/"];
        let Ok(hosts) = host_graph(&graph, |node| {
            Ok::<_, std::convert::Infallible>(urls[node as usize].to_owned())
        });
        let shown = hosts_shown(&graph, &hosts, &[0.4, 0.1, 0.3, 0.2]);
        let names: Vec<_> =
            shown.nodes.iter().map(|host| (host.host.as_str(), host.pages)).collect();
        assert_eq!(names, [("a.test", 2), ("b.test", 1), ("c.test", 1)]);
        let arcs: Vec<_> =
            shown.arcs.iter().map(|arc| (arc.from.as_str(), arc.to.as_str(), arc.links)).collect();
        assert_eq!(
            arcs,
            [("a.test", "b.test", 2), ("b.test", "a.test", 1), ("c.test", "a.test", 1)]
        );
    }

    #[test]
    fn one_graph_is_made_at_a_time() {
        let graphs = Graphs::new(&Limits::default());
        let [a, b] = ["/nowhere/a", "/nowhere/b"].map(Path::new);
        assert_eq!(graphs.reserve(a), Ok(true));
        assert_eq!(graphs.reserve(a), Ok(false));
        assert_eq!(graphs.reserve(b).unwrap_err().status, 409);
        assert!(graphs.missing(a).detail.contains("being made"));
        graphs.make(a, &Limits::default());
        assert!(graphs.missing(a).detail.contains("could not be made"), "{:?}", graphs.missing(a));
        assert_eq!(graphs.reserve(b), Ok(true));
    }
}
