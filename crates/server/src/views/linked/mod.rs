//! What links lead to: URLs that are broken, URLs that are redirected, and links that were left out; each with the
//! pages that have the links.
//!
//! One pass over the link log makes all three, joined with the crawl log by fingerprint. Each different link of a
//! chapter of the log is looked at once, so the pass costs little more than reading. What it gives is kept, and made
//! anew when the logs have grown and the last pass is ten times as long ago as it took.
//!
//! LINKED-1: what is kept is bounded: groups, pages that are named, different URLs that are counted.

pub mod chains;
pub mod lines;
mod pass;
pub mod skipped;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use larm_core::{Limits, Millis};
use larm_crawl::clock::Clock;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Kept, Looked};
use crate::problem::Problem;

pub use pass::{Kind, target_kind};

/// How many times as long as a pass took it is good for, and how long at least.
const GOOD_FOR: u64 = 10;
const GOOD_MS_MIN: u64 = 2_000;

/// A page that has a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct From {
    /// The page.
    pub url: String,
    /// Text of the link.
    pub text: String,
}

/// A URL that links lead to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// Number of its row.
    pub row: u64,
    /// How many links lead to it.
    pub from_total: u64,
    /// Some of the pages that have them.
    pub from: Vec<From>,
}

/// What links lead to.
#[derive(Debug, Default)]
pub struct Linked {
    /// Broken URLs, those with most links first.
    pub broken: Vec<Target>,
    /// Redirected URLs, those with most links first.
    pub redirects: Vec<Target>,
    /// Links and URLs that were left out, by reason, most first.
    pub skipped: Vec<skipped::Group>,
    /// Why something may be missing, in sentences.
    pub notes: Vec<String>,
}

/// What was made for the crawls that were looked at last.
pub struct LinkedViews {
    kept: Kept<Mutex<Option<Made>>>,
}

#[derive(Clone)]
struct Made {
    linked: Arc<Linked>,
    /// Ends of the crawl log and of the link log.
    ends: (u64, u64),
    at: Millis,
    took_ms: u64,
}

impl LinkedViews {
    /// None yet.
    pub fn new(limits: &Limits) -> Self {
        Self { kept: Kept::new(limits.server_views_max) }
    }

    /// Forgets what was made for a crawl.
    pub fn forget(&self, dir: &Path) {
        self.kept.forget(dir);
    }

    /// What links of the crawl lead to, as the logs stand now or stood a moment ago.
    pub fn of(&self, looked: &Looked<'_>) -> Result<Arc<Linked>, Problem> {
        let slot = self.kept.get(&looked.dir);
        let slot = slot.unwrap_or_else(|| self.kept.put(&looked.dir, Mutex::new(None)));
        let mut made = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = ends(looked)?;
        let now = looked.views.clock.now();
        if let Some(known) = made.as_ref().filter(|known| known.is_good(ends, now)) {
            return Ok(known.linked.clone());
        }
        let clock = Clock::start();
        let begin = clock.now();
        let linked = Arc::new(pass::pass(looked)?);
        let took_ms = clock.now().since(begin);
        *made = Some(Made { linked: linked.clone(), ends, at: now.after(took_ms), took_ms });
        Ok(linked)
    }
}

impl Made {
    fn is_good(&self, ends: (u64, u64), now: Millis) -> bool {
        let good_ms = (GOOD_FOR * self.took_ms).max(GOOD_MS_MIN);
        // A log that was cut back is another log.
        let has_grown = ends.0 >= self.ends.0 && ends.1 >= self.ends.1;
        self.ends == ends || (has_grown && now.since(self.at) < good_ms)
    }
}

fn ends(looked: &Looked<'_>) -> Result<(u64, u64), Problem> {
    let log = larm_graph::log::path_in(&looked.dir);
    let log_bytes = std::fs::metadata(log).map_or(0, |meta| meta.len());
    Ok((looked.table(|table| Ok(table.end()))?, log_bytes))
}
