//! A row as it is shown: what one line of the crawl log says.

use std::collections::BTreeMap;

use larm_core::Millis;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What became of one URL.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Row {
    /// Its number within the crawl.
    pub row: u64,
    /// The URL, canonical.
    pub url: String,
    /// When it was asked for, in milliseconds since 1970.
    pub at: u64,
    /// `fetched`, `redirected`, `denied`, `rejected`, `failed` or `host-unreachable`.
    pub outcome: String,
    /// HTTP status, if there was an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What decided: rule of robots.txt, filter and what it found, class of failure and details.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `Content-Type` of the answer.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// Hops from a seed.
    pub depth: u32,
    /// Length of the answer, head included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Milliseconds from the request to the end of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Title of the page, where the search index knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it is redirected to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// URL whose body was the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The page that says nearly the same, and how near it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    /// The page on which it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How it was found: `seed`, `anchor`, `redirect`, …
    pub via: String,
    /// Tries it took; 0 if the server was not asked.
    pub tries: u32,
    /// Whether it is in the archive.
    pub archived: bool,
}

/// A row, and what else its line says.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// What is shown.
    pub row: Row,
    /// What else is known of the answer, by name.
    pub facts: BTreeMap<String, String>,
    /// Oddities.
    pub notes: Vec<String>,
    /// Payload digest, as in the archive.
    pub digest: Option<String>,
    /// Archive file and place of the record.
    pub place: Option<(String, u64)>,
}

/// A line as it stands in the log.
#[derive(Deserialize)]
struct Line {
    at: String,
    url: String,
    outcome: String,
    status: Option<u16>,
    reason: Option<String>,
    #[serde(default)]
    depth: u32,
    #[serde(default)]
    via: String,
    from: Option<String>,
    #[serde(default)]
    tries: u32,
    bytes: Option<u64>,
    #[serde(rename = "type")]
    media: Option<String>,
    ms: Option<u64>,
    digest: Option<String>,
    same_as: Option<String>,
    #[serde(default)]
    facts: BTreeMap<String, String>,
    #[serde(default)]
    notes: Vec<String>,
    warc: Option<String>,
    offset: Option<u64>,
}

impl Whole {
    /// Reads a line of the crawl log; `None` if it is damaged.
    pub fn read(number: u64, line: &[u8]) -> Option<Self> {
        let line: Line = serde_json::from_slice(line).ok()?;
        let is_redirect = line.outcome == "redirected";
        let (redirect, reason) =
            if is_redirect { (line.reason, None) } else { (None, line.reason) };
        let place = line.warc.zip(line.offset);
        let row = Row {
            row: number,
            at: Millis::parse(&line.at).unwrap_or_default().0,
            url: line.url,
            outcome: line.outcome,
            status: line.status,
            reason,
            media: line.media,
            depth: line.depth,
            bytes: line.bytes,
            ms: line.ms,
            title: None,
            redirect,
            same_as: line.same_as,
            near: line.facts.get("near-duplicate").cloned(),
            from: line.from,
            via: line.via,
            tries: line.tries,
            archived: place.is_some(),
        };
        Some(Self { row, facts: line.facts, notes: line.notes, digest: line.digest, place })
    }
}
