//! What is kept of a URL, of a body and of a robots.txt, and what is counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use larm_core::alias::Content;
use larm_core::digest::{BodyDigest, Sha1Digest};
use larm_core::near::Simhash;
use larm_core::via::Via;
use larm_core::worth::spam::SPAM;
use larm_core::{Fact, FailureClass, Millis, Outcome};
use serde::{Deserialize, Serialize};

use crate::store::{SameAs, WarcRef};

/// Name of the fact about a page that is what its host answers to any path.
pub const SOFT_404: &str = "soft-404";
/// The fact of a page whose answer was kept once, and is not any more.
pub const DROPPED: &str = "dropped";
/// Name of the fact about a page that says nearly the same as another, and of the reason why its links
/// are not followed.
pub const NEAR_DUPLICATE: &str = "near-duplicate";
/// Name of the fact about a page that names another URL as its canonical one.
pub const CANONICAL: &str = "canonical";
/// The fact of a URL where a sitemap was looked for that nobody had named, and none is.
pub const NO_SITEMAP: &str = "no-sitemap";
/// Name of the filter that rejects what its owner reserves.
pub const SIGNALS: &str = "signals";

/// One settled URL: the page table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRow {
    /// Canonical text.
    pub url: Box<str>,
    /// What became of it.
    pub outcome: Outcome,
    /// When.
    pub at: Millis,
    /// Hops from a seed.
    pub depth: u32,
    /// How it was found first.
    pub via: Via,
    /// Where it was found first.
    pub parent: Option<Arc<str>>,
    /// Requests that failed before.
    pub tries: u8,
    /// Bytes of the body as sent.
    pub bytes: u64,
    /// Type that the server gave.
    pub content_type: Option<Box<str>>,
    /// Identity of the body.
    pub digest: Option<BodyDigest>,
    /// Digest of the payload as archived, which may be chunked.
    pub payload_digest: Option<Sha1Digest>,
    /// The page that has the same body and was kept first.
    pub same_as: Option<SameAs>,
    /// What its words are like.
    pub likeness: Option<Likeness>,
    /// Where it lies in the archive.
    pub warc: Option<WarcRef>,
    /// What else is known of the answer.
    pub facts: Vec<Fact>,
    /// Oddities worth telling.
    pub notes: Vec<String>,
}

impl PageRow {
    /// Whether a fact of this name is known of it.
    pub fn has_fact(&self, name: &str) -> bool {
        self.fact(name).is_some()
    }

    /// Whether it was fetched, and there.
    pub fn is_page(&self) -> bool {
        self.outcome == Outcome::Fetched { status: 200 }
    }

    /// The value of its fact of that name.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|fact| &*fact.name == name).map(|fact| &*fact.value)
    }

    /// What it shows, to be compared with another.
    pub fn content(&self) -> Content {
        Content { digest: self.digest, simhash: self.likeness.as_ref().map(|like| like.simhash) }
    }
}

/// What the words of a page are like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Likeness {
    /// In 64 bits.
    pub simhash: Simhash,
    /// The URL of an earlier page that says the same or nearly the same.
    pub of: Option<Box<str>>,
}

/// The robots.txt of one origin, as it was answered; or the answer to another question of the crawl's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsRow {
    /// Whose rules these are: an origin; a tdmrep.json has its URL here, a probe `probe` and its host.
    pub origin: Box<str>,
    /// When they were fetched.
    pub at: Millis,
    /// What was answered.
    pub rules: RobotsRules,
}

/// What an origin's robots.txt came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RobotsRules {
    /// A file, to be parsed.
    Text(Vec<u8>),
    /// There is none (4xx, or redirects without end): everything is allowed.
    Absent {
        /// Why we take it so.
        why: Box<str>,
    },
}

impl RobotsRules {
    /// Bytes of the file.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(bytes) => bytes.len(),
            Self::Absent { .. } => 0,
        }
    }

    /// Whether there is no file, or nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Numbers of the whole crawl, across all its runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// URLs accepted into the frontier, ever.
    pub known: u64,
    /// URLs settled, by the word of their outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Pages answered: what `--max-pages` counts.
    pub answered: u64,
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Links rejected, by filter.
    pub rejected: BTreeMap<String, u64>,
    /// URLs given up, by class.
    pub failed: BTreeMap<FailureClass, u64>,
    /// Tries that failed and were, or will be, repeated.
    pub retries: u64,
    /// robots.txt files fetched.
    pub robots: u64,
    /// Hosts that answered for at least one page.
    pub hosts_answered: u64,
    /// Hosts asked for a path that cannot be there.
    pub probes: u64,
    /// Pages that are what their host answers to any path.
    pub soft_404: u64,
    /// URLs not asked for, or answers not kept, since their owner reserves a use that is to be respected.
    pub reserved: u64,
    /// Pages made for search engines alone.
    pub spam: u64,
    /// URLs that wait since pages like them bring nothing new.
    pub held: u64,
    /// Bytes of bodies as sent.
    pub bytes: u64,
    /// Pages with the body of another.
    pub duplicates: u64,
    /// Pages that say nearly the same as another.
    pub near_duplicates: u64,
    /// Pages that were found first as the folder of another URL.
    pub ascents: u64,
    /// Hosts with at least one URL; the lanes of files are none.
    pub hosts: u64,
    /// Links found.
    pub links: u64,
    /// Time spent crawling, over all runs.
    pub active_ms: u64,
    /// Start of the first run.
    pub started: Option<Millis>,
}

impl Totals {
    /// URLs settled.
    pub fn settled(&self) -> u64 {
        self.outcomes.values().sum()
    }

    /// Counts one settled page. A sitemap that nobody spoke of is not missing.
    pub fn count(&mut self, row: &PageRow) {
        if row.has_fact(NO_SITEMAP) {
            return;
        }
        *self.outcomes.entry(row.outcome.word().to_owned()).or_default() += 1;
        if let Some(status) = row.outcome.status() {
            *self.statuses.entry(status).or_default() += 1;
        }
        if let Outcome::Failed { class, .. } | Outcome::HostUnreachable { class } = &row.outcome {
            *self.failed.entry(*class).or_default() += 1;
        }
        let is_reserved =
            matches!(&row.outcome, Outcome::Rejected { filter, .. } if filter == SIGNALS);
        self.reserved += u64::from(is_reserved);
        self.soft_404 += u64::from(row.has_fact(SOFT_404));
        self.near_duplicates += u64::from(row.has_fact(NEAR_DUPLICATE));
        self.ascents += u64::from(row.via == Via::Ascent && row.is_page());
        self.spam += u64::from(row.has_fact(SPAM));
        self.bytes += row.bytes;
        self.duplicates += u64::from(row.same_as.is_some());
    }
}
