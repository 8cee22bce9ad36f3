//! The flags of `larm graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `larm graph`.
#[derive(Debug, Args)]
pub struct GraphArgs {
    /// The crawl directory
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// What to print instead of an overview.
    #[command(flatten)]
    pub what: GraphWhat,
    /// Order of --top and --hosts: pagerank, backlinks, hubs, authorities
    #[arg(long, value_name = "ORDER", value_enum, hide_possible_values = true, default_value_t)]
    pub by: GraphOrder,
    /// Count every URL that a page links to as a node, not only pages that were fetched
    #[arg(long)]
    pub all: bool,
    /// Probability that a reader follows a link
    #[arg(long, value_name = "P", default_value_t = 0.85)]
    pub damping: f64,
    /// Where to write an export [default: standard output]; for webgraph: name of its files
    #[arg(short, long, value_name = "PATH", requires = "export")]
    pub output: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// What `larm graph` prints; an overview if nothing is said.
#[derive(Debug, Clone, Args)]
#[group(multiple = false)]
pub struct GraphWhat {
    /// The N foremost pages
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20")]
    pub top: Option<usize>,
    /// Pages that no other page links to, and how they were found
    #[arg(long)]
    pub orphans: bool,
    /// How many links away from a seed pages are
    #[arg(long)]
    pub depth: bool,
    /// The N foremost hosts in the graph between hosts
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20")]
    pub hosts: Option<usize>,
    /// For other tools: edges (numbers), nodes (number and URL), urls (edges with URLs), graphml, webgraph
    #[arg(long, value_name = "FORM", value_enum, hide_possible_values = true)]
    pub export: Option<GraphForm>,
}

/// What makes a page matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum GraphOrder {
    /// Readers who follow links at random are often there.
    #[default]
    Pagerank,
    /// Many pages link to it.
    Backlinks,
    /// It leads to good authorities.
    Hubs,
    /// Good hubs lead to it.
    Authorities,
}

/// Forms of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphForm {
    /// Two numbers a line.
    Edges,
    /// A number and its URL a line.
    Nodes,
    /// Two URLs a line.
    Urls,
    /// GraphML.
    Graphml,
    /// The files of WebGraph.
    Webgraph,
}
