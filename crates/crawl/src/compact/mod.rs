//! `--keep-best`: of the pages of a crawl those that are worth most stay, and all others leave archive, index,
//! page list and search index.
//!
//! What pages are worth is worked out from what the directory holds, so it can be done at any time, and again. The
//! records of the pages that stay are copied, byte for byte, into archive files of their own on the stage that a
//! [rebuild](crate::rebuild) uses; page list, CDXJ and search index are made of those, through the end of the line; the
//! state, copied there as well, learns which pages are gone and where the others lie. Then all of it takes the
//! place of the old at once (STAGE-1, STAGE-2).
//!
//! - COMPACT-1: archive, CDXJ and state tell of the same pages: those that were chosen.
//!
//! Link log and crawl log stay: they tell what was seen and what happened, and not what is kept.

mod choose;
mod copy;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use larm_core::url::CrawlUrl;
use serde::Serialize;

use self::choose::choose;
use self::copy::{Copied, Copier};
use crate::clock::Clock;
use crate::crawl::Parts;
use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::frontier::{DiskFrontier, PageRow, Positions};
use crate::plan::{Keep, Plan};
use crate::rebuild::{Archive, Rebuilt, assemble, list, stage};
use crate::store::{Sink, Summary, WarcRef, durable};

/// The list of what was kept, with what it was worth.
const LIST: &str = "kept.jsonl";

/// A crawl directory that is to keep its best pages alone.
pub struct Compact {
    plan: Plan,
    pages_max: u64,
    sinks: Vec<Box<dyn Sink>>,
}

/// What it came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Compacted {
    /// The order that pages were judged by.
    pub by: String,
    /// Pages that are kept.
    pub kept: u64,
    /// Pages, and answers that are none, that are no longer kept, of all times.
    pub dropped: u64,
    /// Bytes of the archive before.
    pub bytes_before: u64,
    /// Bytes of the archive now.
    pub bytes: u64,
}

impl Compact {
    /// The crawl in the plan's directory is to keep so many pages at most. Its sinks are those of the plan.
    pub fn new(plan: Plan, pages_max: u64) -> Self {
        Self { plan, pages_max, sinks: Vec::new() }
    }

    /// Where the new parts grow: sinks of one's own write there.
    pub fn stage(&self) -> PathBuf {
        stage::growing(&self.plan.dir)
    }

    /// Adds a sink behind those of the plan, to be made anew.
    pub fn sink(mut self, sink: Box<dyn Sink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Does it. Where nothing has to go, nothing is touched.
    pub async fn run(self) -> Result<Compacted> {
        let directory = Directory::open(&self.plan.dir)?;
        let dir = self.plan.dir.clone();
        let before = archive_bytes(&dir)?;
        let (frontier, positions) = self.open(&directory)?;
        let choice = choose(&frontier, &self.plan, &directory.state(), self.pages_max)?;
        let (kept, by) = (choice.pages.len() as u64, choice.by.clone());
        let done =
            Compacted { by, kept, dropped: choice.gone, bytes_before: before, bytes: before };
        if choice.to_drop == 0 {
            note(&dir, &done)?;
            return Ok(done);
        }
        let stage = stage::begin(&dir)?;
        let store_plan = self.plan.store_plan(directory.crawl_id());
        let copied = Copier::new(&stage, store_plan, &choice).copy(&list(&dir.join("warc"))?)?;
        stage::copy_all(&directory.state(), &stage.join("state"))?;
        let positions = with_archive_at(positions, &copied);
        let crawl_id = directory.crawl_id().to_owned();
        let parts = self.assemble(&stage, positions)?;
        tell_state(&parts, &frontier, &copied)?;
        drop(frontier);
        let archive = Archive { files: copied.files, crawl_id, dir: stage.clone() };
        archive.restore(parts, &stage, Rebuilt::default()).await?;
        choice.write(&stage.join("pages").join(LIST))?;
        stage::finish(&dir)?;
        let dropped = choice.gone + choice.to_drop;
        let done = Compacted { dropped, bytes: archive_bytes(&dir)?, ..done };
        note(&dir, &done)?;
        Ok(done)
    }

    fn open(&self, directory: &Directory) -> Result<(DiskFrontier, Positions)> {
        let limits = Arc::new(self.plan.limits.clone());
        let now = Clock::start().now();
        let opened = DiskFrontier::open(&directory.state(), &limits, self.plan.pace, now)?;
        let dir = directory.path().display();
        match opened.resumed {
            true => Ok((opened.frontier, opened.positions)),
            false => Err(Error::Directory(format!("{dir}: nothing was crawled into it yet"))),
        }
    }

    /// The link log tells what was seen, so it stays as it is.
    fn assemble(self, stage: &Path, positions: Positions) -> Result<Parts> {
        let Self { mut plan, sinks, .. } = self;
        plan.keep = Keep { links: false, ..plan.keep };
        durable::create_dir(&stage.join("pages"))?;
        assemble(plan, sinks, stage, positions, &["pages"])
    }
}

/// The state learns where each page lies from now on, and which ones are gone.
fn tell_state(parts: &Parts, before: &DiskFrontier, copied: &Copied) -> Result<()> {
    before.each_page(&mut |row| {
        if row.warc.is_none() {
            return Ok(());
        }
        let Some(url) = CrawlUrl::from_canonical(&row.url) else { return Ok(()) };
        let mut frontier = parts.shared.frontier.hold()?;
        frontier.relocate(&url, copied.places.get(&url.fingerprint()).cloned())?;
        let now = parts.shared.clock.now();
        if frontier.wants_checkpoint(now) {
            // What has to be sealed first is the beginning of this run.
            if let Some(sealed) = frontier.seal(Vec::new())? {
                sealed.sync()?;
            }
            frontier.checkpoint(now)?;
        }
        Ok(())
    })
}

/// The archive ends where the copy does.
fn with_archive_at(positions: Positions, copied: &Copied) -> Positions {
    let others = positions.into_iter().filter(|(name, _)| name != "warc");
    others.chain([("warc".to_owned(), copied.end)]).collect()
}

fn archive_bytes(dir: &Path) -> Result<u64> {
    Ok(Summary::default().with_archive(dir)?.warc_bytes)
}

/// Puts it into the summary, where there is one.
fn note(dir: &Path, done: &Compacted) -> Result<()> {
    let path = dir.join("summary.json");
    if !path.exists() {
        return Ok(());
    }
    let (kept, dropped) = (Some(done.kept), Some(done.dropped));
    Summary { kept, dropped, ..Summary::read(&path)? }.with_archive(dir)?.write(&path)
}

/// Whether a page can be one of the best: its answer is kept, and says something that no other does.
fn is_candidate(row: &PageRow) -> bool {
    row.warc.is_some() && crate::readings::is_new(row)
}

/// Where an answer lies, by the page.
type Places = crate::frontier::KeyMap<larm_core::url::Fingerprint, WarcRef>;
