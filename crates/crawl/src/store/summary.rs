//! `summary.json`: what a crawl came to, in stable keys.
//!
//! The engine counts; this is the form in which the counts are kept and shown. Maps are sorted, so that
//! two summaries of the same numbers are the same bytes. Keys may be added, never renamed.

use std::collections::BTreeMap;
use std::path::Path;

use larm_core::Millis;
use larm_core::gain::Tally;
use serde::{Deserialize, Serialize};

use super::durable;
use crate::{Error, Result};

/// What a crawl came to so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Where it stands.
    pub state: State,
    /// The limit that ended it, if one did.
    pub limit: Option<String>,
    /// First start, in milliseconds since 1970.
    pub started: Millis,
    /// End, or the time of writing while it runs.
    pub ended: Millis,
    /// Seeds given.
    pub seeds: u64,
    /// URLs settled, whatever became of them.
    pub urls: u64,
    /// Answers of any status that is not a redirect.
    pub fetched: u64,
    /// Redirects.
    pub redirects: u64,
    /// Refused by robots.txt.
    pub denied: u64,
    /// Settled URLs by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Answers by status.
    pub statuses: BTreeMap<String, u64>,
    /// Links rejected, by filter.
    pub rejected: BTreeMap<String, u64>,
    /// Failed for good, by class; URLs of hosts given up included.
    pub failed: BTreeMap<String, u64>,
    /// Links found.
    pub links: u64,
    /// Tries that failed and were repeated.
    pub retries: u64,
    /// robots.txt files fetched.
    pub robots: u64,
    /// Hosts asked for a path that cannot be there.
    pub probes: u64,
    /// Pages that are what their host answers to any path.
    pub soft_404: u64,
    /// URLs not asked for, or answers not kept, since their owner reserves a use that is to be respected.
    pub reserved: u64,
    /// Milliseconds spent crawling, over all runs.
    pub active_ms: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Answers whose body was known already.
    pub duplicates: u64,
    /// Pages that say nearly the same as another.
    pub near_duplicates: u64,
    /// Pages that were found first as the folder of another URL.
    pub ascents: u64,
    /// Origins that were found to be mirrors, and are not asked: each with the one that stands for it.
    pub mirrors: BTreeMap<String, String>,
    /// Hosts met.
    pub hosts: u64,
    /// Those of them that answered for at least one page.
    pub hosts_answered: u64,
    /// Pages made for search engines alone.
    pub spam: u64,
    /// URLs still waiting.
    pub queued: u64,
    /// Those of them that wait since pages like them bring nothing new.
    pub held: u64,
    /// How many of the last pages were good, where the crawl was to end if they are too few.
    pub gain: Option<Tally>,
    /// Pages that are kept, where the best alone are.
    pub kept: Option<u64>,
    /// Answers that are not kept any more for that.
    pub dropped: Option<u64>,
    /// Archive files.
    pub warc_files: u64,
    /// Their size.
    pub warc_bytes: u64,
}

/// Where a crawl stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It runs, or ended without a word.
    #[default]
    Running,
    /// Nothing was left to do.
    Finished,
    /// Someone asked it to stop.
    Stopped,
    /// A limit that was set ended it.
    Limit,
}

impl Summary {
    /// Whether anything was had. Pages that say that there is nothing, or nothing for us, are not something.
    pub fn has_something(&self) -> bool {
        self.statuses.keys().any(|status| status.starts_with('2'))
    }

    /// Adds what the archive of a crawl directory holds.
    pub fn with_archive(mut self, dir: &Path) -> Result<Self> {
        let path = dir.join("warc");
        let Ok(entries) = std::fs::read_dir(&path) else { return Ok(self) };
        (self.warc_files, self.warc_bytes) = (0, 0);
        for entry in entries {
            let meta = entry.and_then(|entry| entry.metadata()).map_err(Error::io(&path))?;
            self.warc_files += 1;
            self.warc_bytes += meta.len();
        }
        Ok(self)
    }

    /// Writes it to a file, as a whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(self).expect("maps of numbers are JSON");
        json.push(b'\n');
        durable::replace(path, |out| out.write_all(&json).map_err(Error::io(path)))
    }

    /// Reads one back.
    pub fn read(path: &Path) -> Result<Self> {
        let json = std::fs::read(path).map_err(Error::io(path))?;
        serde_json::from_slice(&json).map_err(|error| Error::Damaged {
            path: path.to_owned(),
            offset: 0,
            what: error.to_string(),
        })
    }
}
