//! What an earlier run knew: where URLs wait, from the frontier, and where pages lead, from the link log.
//!
//! What pages are worth is a function of what was crawled, so it is not kept, but worked out again. That
//! takes as long as it takes to read both, up to `order_recall_max` URLs and as many links. How relevant the last
//! `order_pages_max` pages were is kept with the state. Without a link log there is nothing to learn from: then what
//! comes from now on counts.

use std::path::Path;

use larm_core::Limits;
use larm_core::url::Fingerprint;
use larm_graph::log::{self, LogReader, Visit};

use super::{Ranker, Told};
use crate::error::Result;
use crate::frontier::{Frontier, KeyMap};

/// Has a ranker know what a crawl directory knows.
pub fn recall(
    ranker: &mut Ranker,
    frontier: &dyn Frontier,
    dir: &Path,
    limits: &Limits,
) -> Result<()> {
    let readings = ranker.earlier_readings(limits.order_pages_max);
    frontier.each_waiting(limits.order_recall_max, &mut |waits| ranker.hear_of(waits))?;
    ranker.recall_hints(limits.order_recall_max);
    let path = log::path_in(dir);
    if path.exists()
        && let Err(error) = read_log(ranker, &path, &readings, limits.order_recall_max)
    {
        tracing::warn!(%error, "the order of pages goes by what could be read of the link log");
    }
    ranker.catch_up();
    Ok(())
}

fn read_log(
    ranker: &mut Ranker,
    path: &Path,
    readings: &KeyMap<Fingerprint, f32>,
    links_max: u64,
) -> larm_graph::Result<()> {
    let mut reader = LogReader::open(path)?;
    let (mut visit, mut links) = (Visit::default(), 0);
    while links < links_max && reader.next(&mut visit)? {
        links += visit.links.len() as u64;
        let chapter = reader.chapter();
        let facts = || visit.links.iter().map(|number| chapter.link(*number));
        let page = Fingerprint::of(&visit.url);
        let relevance = readings.get(&page).copied();
        if let Some((reader, board)) = ranker.reader() {
            reader.recall(&visit.url, relevance, facts(), board);
        }
        ranker.learn(&Told { relevance, ..Told::of(page, facts()) });
    }
    Ok(())
}
