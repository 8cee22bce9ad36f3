//! `summary.json`: what a crawl came to, in stable keys.
//!
//! The engine counts; this is the form in which the counts are kept and shown. Maps are sorted, so that
//! two summaries of the same numbers are the same bytes. Keys may be added, never renamed.

use std::collections::BTreeMap;
use std::path::Path;

use larm_core::{Millis, Outcome};
use serde::{Deserialize, Serialize};

use super::durable;
use super::visit::Visit;
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
    /// Answers by class of status: `2xx`, `3xx`, …
    pub statuses: BTreeMap<String, u64>,
    /// Rejected at fetch time, by filter.
    pub rejected: BTreeMap<String, u64>,
    /// Failed for good, by class; URLs of hosts given up included.
    pub failed: BTreeMap<String, u64>,
    /// Links found, by verdict: `new`, `seen`, or the reason against.
    pub links: BTreeMap<String, u64>,
    /// Bytes received.
    pub bytes: u64,
    /// Answers whose body was known already.
    pub duplicates: u64,
    /// Hosts met.
    pub hosts: u64,
    /// URLs still waiting.
    pub queued: u64,
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
    /// A signal ended it; it can go on.
    Interrupted,
}

impl Summary {
    /// Counts one visit.
    pub fn add(&mut self, visit: &Visit) {
        self.urls += 1;
        count(&mut self.outcomes, visit.outcome.word());
        self.add_outcome(&visit.outcome);
        if let Some(status) = visit.outcome.status() {
            count(&mut self.statuses, &format!("{}xx", status / 100));
        }
        for link in &visit.links {
            count(&mut self.links, &link.verdict);
        }
        self.duplicates += u64::from(visit.same_as.is_some());
        let exchange = visit.exchange.as_ref();
        self.bytes += exchange.map_or(0, |exchange| exchange.wire().response.len() as u64);
    }

    fn add_outcome(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Fetched { .. } => self.fetched += 1,
            Outcome::Redirected { .. } => self.redirects += 1,
            Outcome::Denied { .. } => self.denied += 1,
            Outcome::Rejected { filter, .. } => count(&mut self.rejected, filter),
            Outcome::Failed { class, .. } | Outcome::HostUnreachable { class } => {
                count(&mut self.failed, class.word());
            }
        }
    }

    /// The same, with what the archive of a crawl directory takes up now.
    pub fn with_archive(self, dir: &Path) -> Result<Self> {
        let folder = dir.join("warc");
        let (mut warc_files, mut warc_bytes) = (0, 0);
        for entry in std::fs::read_dir(&folder).map_err(Error::io(&folder))? {
            let entry = entry.map_err(Error::io(&folder))?;
            if entry.path().extension().is_some_and(|ending| ending == "gz") {
                warc_files += 1;
                warc_bytes += entry.metadata().map_err(Error::io(entry.path()))?.len();
            }
        }
        Ok(Self { warc_files, warc_bytes, ..self })
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

fn count(counts: &mut BTreeMap<String, u64>, word: &str) {
    match counts.get_mut(word) {
        Some(count) => *count += 1,
        None => drop(counts.insert(word.to_owned(), 1)),
    }
}
