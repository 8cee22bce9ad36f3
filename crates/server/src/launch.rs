//! The seam to the program: only it knows settings as people write them, and how a crawl is started.

use std::path::Path;
use std::process::Child;

use larm_crawl::frontier::HostList;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::problem::Problem;

/// What a crawl would do.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Preview {
    /// In sentences.
    pub words: Vec<String>,
    /// Every setting that would hold, the defaults included.
    #[schema(value_type = Object)]
    pub settings: Map<String, Value>,
    /// A name for it, after the first URL.
    pub name: String,
}

/// What a crawl directory was told.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// Its settings, secrets left out.
    pub settings: Map<String, Value>,
    /// The first of its seeds.
    pub seeds: Vec<String>,
    /// How many there are.
    pub seeds_total: u64,
}

/// Starts crawls for the server.
pub trait Launcher: Send + Sync {
    /// What these settings (keys of `larm.toml`) would do; nothing is started or written.
    fn preview(&self, settings: &Map<String, Value>) -> Result<Preview, Problem>;

    /// Makes a crawl directory with these settings; nothing is started.
    fn make(&self, dir: &Path, settings: &Map<String, Value>) -> Result<(), Problem>;

    /// Starts the crawl in `dir` as a process of its own, in a group of its own, which lives on without us.
    fn start(&self, dir: &Path) -> Result<Child, Problem>;

    /// What a crawl directory was told, with at most so many seeds.
    fn told(&self, dir: &Path, seeds_max: usize) -> Result<Told, Problem>;

    /// The hosts of a crawl that does not run, at most so many.
    fn hosts(&self, dir: &Path, hosts_max: usize) -> Result<HostList, Problem>;

    /// Writes other settings into the directory of a crawl that does not run.
    fn change(&self, dir: &Path, settings: &Map<String, Value>) -> Result<(), Problem>;
}
