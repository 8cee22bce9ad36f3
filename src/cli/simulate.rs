//! The flags of `larm simulate`.

use std::path::PathBuf;

use clap::Args;
use larm_core::order::Place;
use larm_simulate::parallel::{Assignment, Mode, Partition};
use larm_simulate::{By, HotSpec};

/// `larm simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// An edge list (plain or gzipped), a WebGraph file or a crawl directory
    #[arg(value_name = "GRAPH")]
    pub graph: PathBuf,
    /// Orders to compare: random, bfs, dfs, backlinks, pagerank, opic, forward, location, hubs; a mix is written
    /// pagerank=2+location=1
    #[arg(
        long,
        value_name = "ORDERS",
        value_delimiter = ',',
        default_value = "random,bfs,backlinks,pagerank,opic"
    )]
    pub orders: Vec<String>,
    /// How often to begin: at pages drawn among those that reach half of the graph [default: 10]
    #[arg(long, value_name = "N", conflicts_with = "start")]
    pub starts: Option<usize>,
    /// Begin at these pages instead: numbers, or URLs
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    pub start: Vec<String>,
    /// Which pages are hot: a share (10%), a threshold (backlinks>=100, pagerank>=1e-5) or a list (@FILE)
    #[arg(long, value_name = "HOT", help_heading = "What counts")]
    pub hot: Option<HotSpec>,
    /// What makes a page important: pagerank, backlinks
    #[arg(long, value_name = "BY", default_value_t, help_heading = "What counts")]
    pub by: By,
    /// threshold (hot pages found), stop (as good as its number of pages allows), buffer (hot pages kept)
    #[arg(long, value_name = "MODEL", default_value = "threshold", help_heading = "What counts")]
    pub model: String,
    /// Pages that fit into the buffer, as a number or a share [default: 10%]
    #[arg(long, value_name = "PAGES", help_heading = "What counts")]
    pub buffer: Option<String>,
    /// URLs of the nodes: lines of number and URL, or of URLs alone
    #[arg(long, value_name = "FILE")]
    pub urls: Option<PathBuf>,
    /// What fixes the starts and random orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// What makes a URL worth more for `location`: PATTERN=POINTS, a point being a doubling
    #[arg(long, value_name = "PLACE")]
    pub place: Vec<Place>,
    /// Probability that a reader follows a link, for pagerank, opic and hubs
    #[arg(long, value_name = "P", default_value_t = 0.85)]
    pub damping: f32,
    /// By which factor the crawl grows between two computations of pagerank and hubs
    #[arg(long, value_name = "FACTOR", default_value_t = 1.1)]
    pub growth: f32,
    /// Several crawlers on the same graph.
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw it
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Change a limit, as in larm.toml: simulate_bytes_max=8000000000
    #[arg(long, value_name = "NAME=N")]
    pub limit: Vec<String>,
}

/// Several virtual crawlers that share a graph.
#[derive(Debug, Clone, Args)]
pub struct FleetArgs {
    /// Crawl with so many processes
    #[arg(long, value_name = "N", help_heading = "Several crawlers")]
    pub processes: Option<u32>,
    /// What has an owner: url (a page), site, hierarchy (pages whose host and path begin alike) [default: site]
    #[arg(long, value_name = "BY", requires = "processes", help_heading = "Several crawlers")]
    pub partition: Option<Partition>,
    /// Links to pages of others: independent (followed), firewall (ignored), exchange (sent) [default: exchange]
    #[arg(long, value_name = "MODE", requires = "processes", help_heading = "Several crawlers")]
    pub mode: Option<Mode>,
    /// static (owners are known beforehand), dynamic (whoever has least to do) [default: static]
    #[arg(long, value_name = "HOW", requires = "processes", help_heading = "Several crawlers")]
    pub assignment: Option<Assignment>,
    /// Pages that a process fetches before it sends what it found for others [default: 100]
    #[arg(long, value_name = "PAGES", requires = "processes", help_heading = "Several crawlers")]
    pub exchange_every: Option<u32>,
    /// Pages that each run begins with [default: as many as processes]
    #[arg(long, value_name = "N", requires = "processes", help_heading = "Several crawlers")]
    pub start_pages: Option<usize>,
}
