//! `logs/crawl.jsonl`: one line per URL, with the reason that decided (step 11).
//!
//! Every visit gives a line, whatever became of it. Keys without a value are left out; the order of
//! keys is fixed. The place in the archive comes last, since only the writer knows it.

use std::sync::Arc;

use larm_core::Outcome;
use serde::Serialize;

use super::appender::Appender;
use super::durable;
use super::plan::StorePlan;
use super::sink::{Encoded, Encoder, Kept, Position, Sink};
use super::visit::Visit;
use crate::Result;

/// Writes `logs/crawl.jsonl` of a crawl directory.
pub struct CrawlLogSink {
    plan: Arc<StorePlan>,
    out: Appender,
}

impl CrawlLogSink {
    /// The log of this crawl. It comes last in a chain, to tell where the others put a visit.
    pub fn new(plan: Arc<StorePlan>) -> Self {
        let path = plan.dir.join("logs").join("crawl.jsonl");
        Self { out: Appender::new(path, plan.limits.sink_buffer_bytes_max), plan }
    }
}

impl Sink for CrawlLogSink {
    fn name(&self) -> &str {
        "log"
    }

    fn encoder(&self) -> Encoder {
        Arc::new(|visit| open_line(visit).into())
    }

    fn write(&mut self, _: &Visit, encoded: Encoded, kept: &mut Kept) -> Result<()> {
        let mut line = encoded.bytes;
        if let Some(place) = &kept.warc {
            // Names of archive files need no escapes.
            let place = format!(",\"warc\":\"{}\",\"offset\":{}", place.name, place.offset);
            line.extend_from_slice(place.as_bytes());
        }
        line.extend_from_slice(b"}\n");
        self.out.append(&line).map(drop)
    }

    fn sync(&mut self) -> Result<Position> {
        Ok(Position { file: 0, offset: self.out.sync()? })
    }

    fn recover(&mut self, position: Option<Position>) -> Result<()> {
        durable::create_dir(&self.plan.dir.join("logs"))?;
        self.out.recover(position.unwrap_or_default().offset)
    }

    fn finish(&mut self) -> Result<()> {
        self.out.sync().map(drop)
    }
}

#[derive(Serialize)]
struct LogLine<'a> {
    at: String,
    url: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    depth: u32,
    via: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    tries: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none", rename = "type")]
    content_type: Option<&'a str>,
    ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    connect_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_byte_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as: Option<&'a str>,
    links: usize,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

/// The line without its end: the brace is left open.
fn open_line(visit: &Visit) -> Vec<u8> {
    let exchange = visit.exchange.as_ref();
    let wire = exchange.map(|exchange| exchange.wire());
    let line = LogLine {
        at: visit.at.to_string(),
        url: visit.url.as_str(),
        outcome: visit.outcome.word(),
        status: visit.outcome.status().or(wire.map(|wire| wire.status)),
        reason: reason(&visit.outcome),
        depth: visit.depth,
        via: visit.via.word(),
        from: visit.parent.as_deref(),
        tries: visit.tries,
        bytes: wire.map(|wire| wire.response.len()),
        content_type: wire.and_then(|wire| wire.content_type.as_deref()),
        ms: visit.timings.total_ms,
        connect_ms: visit.timings.connect_ms,
        first_byte_ms: visit.timings.first_byte_ms,
        digest: exchange.map(|exchange| exchange.payload_digest().to_string()),
        truncated: wire.and_then(|wire| wire.truncated).map(|why| why.word()),
        same_as: visit.same_as.as_ref().map(|original| original.url.as_str()),
        links: visit.links.len(),
        notes: &visit.notes,
    };
    let mut json = serde_json::to_vec(&line).expect("strings and numbers are JSON");
    let brace = json.pop();
    assert_eq!(brace, Some(b'}'), "a struct is written as an object");
    json
}

/// What decided, in words; nothing for a plain answer.
fn reason(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Fetched { .. } => None,
        Outcome::Redirected { to, .. } => Some(to.clone()),
        Outcome::Denied { rule } => Some(rule.clone()),
        Outcome::Rejected { filter, detail } => Some(format!("{filter}: {detail}")),
        Outcome::Failed { class, detail } => Some(format!("{class}: {detail}")),
        Outcome::HostUnreachable { class } => Some(class.to_string()),
    }
}
