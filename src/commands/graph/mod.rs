//! `larm graph`: what the links of a crawl say about its pages.
//!
//! The graph in `graph/` is made when it is missing or behind the link log, which is said aloud. Nodes are
//! the pages that were fetched, and redirects; with `--all`, every URL that a page links to.

mod export;
mod lists;
mod overview;

use std::io::{BufWriter, Write};

use anyhow::Result;
use larm_core::Limits;
use larm_crawl::directory;
use larm_graph::graph::Graph;
use larm_graph::rank::{self, PageRank, Scores};
use larm_graph::stored::{Extent, Freshness, Scope, View};
use larm_graph::{StoredGraph, log};

use crate::cli::{GraphArgs, GraphOrder};
use crate::config::{plan, save};
use crate::exit::{Exit, usage};
use crate::human;

/// Visits from which on it is worth a word that the graph is being made.
const WORTH_A_WORD: u64 = 50_000;

/// The graph that is asked about.
struct Asked<'a> {
    args: &'a GraphArgs,
    stored: StoredGraph,
    view: View,
    limits: Limits,
}

/// Prints what was asked for.
pub fn graph(args: &GraphArgs) -> Result<Exit> {
    directory::identify(&args.dir)?;
    if !(0.0..1.0).contains(&args.damping) {
        return Err(usage("--damping is a probability: from 0 to below 1, usually 0.85"));
    }
    let asked = Asked::open(args)?;
    let what = &args.what;
    if let Some(form) = what.export {
        export::export(&asked, form)?;
        return Ok(Exit::Done);
    }
    let text = match (what.top, what.hosts) {
        (Some(count), _) => lists::top(&asked, count)?,
        (_, Some(count)) => lists::hosts(&asked, count)?,
        _ if what.orphans => lists::orphans(&asked)?,
        _ if what.depth => lists::depth(&asked)?,
        _ => overview::overview(&asked)?,
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    writeln!(out, "{}", text.trim_end())?;
    out.flush()?;
    Ok(Exit::Done)
}

impl<'a> Asked<'a> {
    fn open(args: &'a GraphArgs) -> Result<Self> {
        let limits = limits_of(args)?;
        if !log::path_in(&args.dir).exists() {
            return Err(usage(format!("{}: the crawl has no link log", args.dir.display())));
        }
        let fresh = Extent::freshness(&args.dir)? == Freshness::Fresh;
        let stored = StoredGraph::open_fresh(&args.dir, &limits, &mut |visits| {
            if !fresh && visits >= WORTH_A_WORD {
                let visits = human::count(visits);
                // Nobody is left to tell when standard error is closed.
                let _ = writeln!(std::io::stderr(), "larm: making the graph: {visits} visits read");
            }
        })?;
        let scope = if args.all { Scope::All } else { Scope::Pages };
        let view = stored.view(scope)?;
        Ok(Self { args, stored, view, limits })
    }

    /// The URL of a node of the view.
    fn url(&self, node: u32) -> Result<String> {
        Ok(self.stored.nodes().url(self.view.stored[node as usize])?)
    }

    fn how(&self) -> PageRank {
        let rounds_max = self.limits.graph_rounds_max;
        PageRank { damping: self.args.damping, rounds_max, ..PageRank::default() }
    }

    /// Nodes that the crawl began with.
    fn seeds(&self) -> impl Iterator<Item = u32> {
        let facts = self.stored.nodes().facts();
        let is_seed = move |&(_, stored): &(usize, &u32)| {
            facts[*stored as usize].is_some_and(|facts| facts.via == larm_core::Via::Seed)
        };
        self.view.stored.iter().enumerate().filter(is_seed).map(|(node, _)| node as u32)
    }
}

/// What each node of a graph is worth, in the order that was asked for.
fn scores(graph: &Graph, by: GraphOrder, how: &PageRank) -> Vec<f64> {
    let scores = match by {
        GraphOrder::Backlinks => {
            return rank::in_degrees(graph).into_iter().map(f64::from).collect();
        }
        GraphOrder::Pagerank => rank::pagerank(graph, how),
        GraphOrder::Hubs => rank::hits(graph, how).hubs,
        GraphOrder::Authorities => rank::hits(graph, how).authorities,
    };
    if scores.change >= how.tolerance {
        let Scores { rounds, change, .. } = scores;
        let what =
            format!("after {rounds} rounds, the last of which changed the result by {change:e}");
        // Nobody is left to tell when standard error is closed.
        let _ = writeln!(std::io::stderr(), "larm: ended by graph_rounds_max {what}");
    }
    scores.values
}

/// Links to each node from other nodes.
fn backlinks(graph: &Graph) -> Vec<u32> {
    let mut links = rank::in_degrees(graph);
    for (node, row) in graph.rows() {
        links[node as usize] -= u32::from(row.binary_search(&node).is_ok());
    }
    links
}

/// The limits of the crawl.
fn limits_of(args: &GraphArgs) -> Result<Limits> {
    let Some(config) = save::read(&args.dir)? else { return Ok(Limits::default()) };
    plan::limits(&config.settings)
}
