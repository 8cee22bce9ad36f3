//! What is shown of a crawl: answers made from its files, by plain code that reads and never writes.
//!
//! A view takes a crawl's directory and gives values; it knows nothing of requests. Everything here blocks, and
//! is run by [`read`], at most `server_reads_max` at a time. What is costly to make is kept by crawl, for as many
//! crawls as `server_views_max`.

pub mod archive;
pub mod compare;
pub mod detail;
pub mod graph;
mod kept;
pub mod linked;
pub mod pages;
pub mod range;
pub mod runs;
pub mod search;
mod warm;
pub mod why;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use larm_core::Limits;
use larm_core::url::{CrawlUrl, UrlRules, seed};
use larm_crawl::clock::Clock;
use tokio::sync::Semaphore;

use crate::access::Asker;
use crate::app::{App, Shared};
use crate::problem::Problem;
use crate::replay::{Capabilities, Place};
use crate::table::{Bounds, Table, Tables};

pub use kept::Kept;
pub use warm::warm;

/// What is kept for the views of all crawls.
pub struct Views {
    /// The crawl logs.
    pub tables: Tables,
    pub(crate) indexes: search::Indexes,
    pub(crate) linked: linked::LinkedViews,
    pub(crate) graphs: graph::Graphs,
    pub(crate) clock: Clock,
    pub(crate) capabilities: Capabilities,
    /// How many may read files at a time.
    places: Arc<Semaphore>,
    /// How many of them may read all of a log.
    passes: Arc<Semaphore>,
}

impl Views {
    /// Nothing yet, within these limits.
    pub fn new(limits: &Limits) -> Self {
        let places = |limit: u64| {
            let places = usize::try_from(limit).unwrap_or(Semaphore::MAX_PERMITS);
            Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)))
        };
        Self {
            tables: Tables::default(),
            indexes: search::Indexes::new(limits),
            linked: linked::LinkedViews::new(limits),
            graphs: graph::Graphs::new(limits),
            clock: Clock::start(),
            capabilities: Capabilities::new(),
            places: places(limits.server_reads_max),
            passes: places(limits.server_passes_max),
        }
    }

    /// Where the archived answer of a URL that is nearest to a time can be seen by whoever asks; 0: the last one.
    pub fn replay_path(&self, asker: Asker, id: &str, at: u64, url: &str) -> String {
        let session = asker.0.map(|session| session.number);
        Place::path(&self.capabilities.of(id, session), id, at, url)
    }

    /// Forgets all of a crawl, for one whose directory goes away.
    pub fn forget(&self, dir: &Path) {
        self.tables.forget(dir);
        self.indexes.forget(dir);
        self.linked.forget(dir);
        self.graphs.forget(dir);
    }
}

/// A crawl that is looked at.
pub struct Looked<'a> {
    /// What is kept.
    pub views: &'a Views,
    /// Every maximum.
    pub limits: &'a Limits,
    /// Its directory.
    pub dir: PathBuf,
}

impl Looked<'_> {
    /// Calls `look` with the crawl log as it stands now.
    pub fn table<T>(&self, look: impl FnOnce(&Table) -> Result<T, Problem>) -> Result<T, Problem> {
        self.views.tables.with(&self.dir, &Bounds::of(self.limits), look)
    }
}

/// Runs `work` where it may block, when there is a place for it.
pub async fn read<T: Send + 'static>(
    app: &Shared,
    work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let place = app.views.places.clone().acquire_owned().await.map_err(Problem::internal)?;
    let app = app.clone();
    let task = tokio::task::spawn_blocking(move || {
        let result = work(&app);
        drop(place);
        result
    });
    task.await.map_err(|_| Problem::internal("larm has a bug: answering this failed"))?
}

/// The same for what is about one crawl.
pub async fn look<T: Send + 'static>(
    app: &Shared,
    id: String,
    work: impl FnOnce(&Looked<'_>) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    read(app, move |app| work(&app.looked(&id)?)).await
}

/// The same for what reads all of a log: few at a time, so that the others stay quick.
pub async fn pass<T: Send + 'static>(
    app: &Shared,
    id: String,
    work: impl FnOnce(&Looked<'_>) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    pass_over(app, move |app| work(&app.looked(&id)?)).await
}

/// The same for what is about several crawls.
pub async fn pass_over<T: Send + 'static>(
    app: &Shared,
    work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let turn = app.views.passes.clone().acquire_owned().await.map_err(Problem::internal)?;
    read(app, move |app| {
        let result = work(app);
        drop(turn);
        result
    })
    .await
}

impl App {
    /// The crawl with this id, to be looked at.
    pub fn looked(&self, id: &str) -> Result<Looked<'_>, Problem> {
        let (views, limits) = (&self.views, &self.settings.limits);
        Ok(Looked { views, limits, dir: self.dir(id)? })
    }
}

/// A URL as somebody typed it, in the form in which the crawl knows it.
pub fn typed_url(text: &str) -> Result<CrawlUrl, Problem> {
    // As it stands it may be in the log, whatever the rules of that crawl were.
    if let Some(url) = CrawlUrl::from_canonical(text.trim()) {
        return Ok(url);
    }
    seed(text, &UrlRules::default()).map_err(|error| {
        let shown = larm_core::parse::cut(text, 200);
        Problem::invalid("url", format!("`{shown}` is no URL that a crawl could have: {error}."))
    })
}
