//! The beginning of a run: whether it may begin, and what it begins with.

use std::path::Path;

use larm_core::url::CrawlUrl;
use larm_core::via::Via;

use crate::error::{Error, Result};
use crate::frontier::{Candidate, Errand};
use crate::handle::Shared;
use crate::plan::Plan;

/// Seeds are offered in batches of this many, so that a million of them need no memory to speak of.
const SEED_BATCH: usize = 10_000;

/// An archive without the state that belongs to it must not be taken for what a crash left behind.
pub(super) fn refuse_orphaned_archive(dir: &Path) -> Result<()> {
    let kept = std::fs::read_dir(dir.join("warc")).is_ok_and(|mut files| files.next().is_some());
    if !kept {
        return Ok(());
    }
    Err(Error::Directory(format!(
        "{} holds an archive, but its state is lost; `larm rebuild {}` makes it anew, or crawl into \
         another directory with -o",
        dir.display(),
        dir.display()
    )))
}

pub(super) fn offer_seeds(shared: &Shared, plan: &Plan) -> Result<()> {
    let seeds = plan.seeds.iter().map(|url| (url, Errand::Page));
    let sitemaps = plan.sitemaps.iter().map(|url| (url, Errand::Sitemap));
    let all: Vec<(&CrawlUrl, Errand)> = seeds.chain(sitemaps).collect();
    for batch in all.chunks(SEED_BATCH) {
        let candidates = batch.iter().map(|(url, errand)| Candidate {
            url: (*url).clone(),
            depth: 0,
            via: Via::Seed,
            parent: None,
            redirects: 0,
            errand: errand.clone(),
        });
        let mut frontier = shared.frontier.hold()?;
        frontier.offer(candidates.collect())?;
        // They may be many, and nobody else commits yet.
        if let Some(sealed) = frontier.seal(Vec::new())? {
            sealed.sync()?;
        }
        let now = shared.clock.now();
        if frontier.wants_checkpoint(now) {
            frontier.checkpoint(now)?;
        }
    }
    Ok(())
}
