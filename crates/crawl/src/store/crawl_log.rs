//! `logs/crawl.jsonl`: one line per URL, with the reason that decided (step 11).
//!
//! Every visit gives a line, whatever became of it. Keys without a value are left out; the order of
//! keys is fixed. The place in the archive comes last, since only the writer knows it.

use std::borrow::Cow;
use std::sync::Arc;

use larm_core::Outcome;

use super::appender::Appender;
use super::durable;
use super::json::{Object, push_number, push_string};
use super::plan::StorePlan;
use super::sink::{Encoded, Encoder, Flushed, Kept, Position, Sink};
use super::visit::Visit;
use crate::Result;

/// About what a line takes.
const LINE_BYTES: usize = 512;

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

    fn reads_text(&self) -> bool {
        false
    }

    fn write(&mut self, _: &Visit, encoded: Encoded, kept: &mut Kept) -> Result<()> {
        let mut line = encoded.bytes;
        if let Some(place) = &kept.warc {
            // Names of archive files need no escapes.
            for piece in [",\"warc\":\"", &*place.name, "\",\"offset\":"] {
                line.extend_from_slice(piece.as_bytes());
            }
            push_number(&mut line, place.offset);
        }
        line.extend_from_slice(b"}\n");
        self.out.append(&line).map(drop)
    }

    fn flush(&mut self) -> Result<Flushed> {
        self.out.flush()
    }

    fn recover(&mut self, position: Option<Position>) -> Result<()> {
        durable::create_dir(&self.plan.dir.join("logs"))?;
        self.out.recover(position.unwrap_or_default().offset)
    }

    fn finish(&mut self) -> Result<()> {
        self.out.sync().map(drop)
    }
}

/// The line without its end: the brace is left open.
fn open_line(visit: &Visit) -> Vec<u8> {
    let mut json = Vec::with_capacity(LINE_BYTES);
    let mut line = Object::open(&mut json);
    line.plain("at", visit.at.rfc3339());
    line.text("url", visit.url.as_str());
    line.text("outcome", visit.outcome.word());
    let exchange = visit.exchange.as_ref();
    let wire = exchange.map(|exchange| exchange.wire());
    line.some_number("status", visit.outcome.status().or(wire.map(|wire| wire.status)));
    line.text_if_any("reason", &reason(&visit.outcome));
    line.number("depth", visit.depth.into());
    line.text("via", visit.via.word());
    line.text_if_any("from", visit.parent.as_deref().unwrap_or_default());
    line.number("tries", visit.tries.into());
    line.some_number("bytes", wire.map(|wire| wire.response.len() as u64));
    line.text_if_any(
        "type",
        wire.and_then(|wire| wire.content_type.as_deref()).unwrap_or_default(),
    );
    line.number("ms", visit.timings.total_ms);
    line.some_number("connect_ms", visit.timings.connect_ms);
    line.some_number("first_byte_ms", visit.timings.first_byte_ms);
    if let Some(exchange) = exchange {
        line.plain("digest", exchange.payload_digest().labelled());
        line.text_if_any("truncated", exchange.wire().truncated.map_or("", |why| why.word()));
    }
    line.text_if_any("same_as", visit.same_as.as_ref().map_or("", |original| &original.url));
    line.number("links", visit.links.len() as u64);
    if !visit.facts.is_empty() {
        line.object("facts", |facts| {
            visit.facts.iter().for_each(|fact| facts.text(&fact.name, &fact.value));
        });
    }
    if !visit.notes.is_empty() {
        line.list("notes", &visit.notes, |out, note| push_string(out, note));
    }
    json
}

/// What decided, in words; nothing for a plain answer.
fn reason(outcome: &Outcome) -> Cow<'_, str> {
    match outcome {
        Outcome::Fetched { .. } => Cow::Borrowed(""),
        Outcome::Redirected { to, .. } => Cow::Borrowed(to),
        Outcome::Denied { rule } => Cow::Borrowed(rule),
        Outcome::Rejected { filter, detail } => format!("{filter}: {detail}").into(),
        Outcome::Failed { class, detail } => format!("{class}: {detail}").into(),
        Outcome::HostUnreachable { class } => {
            format!("{class}: the host was given up, and this URL not asked for").into()
        }
    }
}
