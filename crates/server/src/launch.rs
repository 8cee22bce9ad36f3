//! The seam to the program: only it knows settings as people write them, and how a crawl is started.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;

use larm_core::scope::FilterSpec;
use larm_crawl::change::Change;
use larm_crawl::frontier::{HostList, HostsAsked};
use larm_crawl::handle::RulePreview;
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

/// The settings of a crawl with changes laid over them.
#[derive(Debug, Clone, Default)]
pub struct InForce {
    /// All of them, secrets left out.
    pub settings: Map<String, Value>,
    /// Those that the changes make different, as the list of runs tells them; null: it is not set any more. Hosts that
    /// changes name are among them, under `blocked-hosts` and `paused-hosts`.
    pub changed: BTreeMap<String, Option<String>>,
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

    /// Hosts of a crawl that does not run.
    fn hosts(&self, dir: &Path, asked: &HostsAsked) -> Result<HostList, Problem>;

    /// Writes other settings into the directory of a crawl that does not run.
    fn change(&self, dir: &Path, settings: &Map<String, Value>) -> Result<(), Problem>;

    /// What these settings mean to the crawl in `dir` while it runs. Refused as a whole if one of them is wrong, or not
    /// for a crawl that runs.
    fn live(&self, dir: &Path, settings: &Map<String, Value>) -> Result<Vec<Change>, Problem>;

    /// What was changed while it ran, and holds when it goes on. For a crawl that does not run.
    fn changes(&self, dir: &Path) -> Result<Vec<Change>, Problem>;

    /// What holds with these changes on top of its settings.
    fn in_force(&self, dir: &Path, changes: &[Change]) -> Result<InForce, Problem>;

    /// Adds rules to a crawl that does not run, or lifts some.
    fn keep(&self, dir: &Path, rules: &[Change]) -> Result<(), Problem>;

    /// What a rule would remove of what waits in a crawl that does not run. At most so many URLs are looked at.
    fn preview_rule(
        &self,
        dir: &Path,
        rule: &FilterSpec,
        urls_max: u64,
    ) -> Result<RulePreview, Problem>;
}
