//! `pages/pages.jsonl`: what the crawl was for, as WACZ lists pages (step 11).
//!
//! One header line, then one line per page that came with status 200: HTML and PDF, or, where content types
//! were asked for, whatever is of those. Everything else that happened is in the crawl log.

use std::sync::Arc;

use larm_core::Outcome;
use larm_core::scope::type_wanted;

use super::appender::Appender;
use super::durable;
use super::json::Object;
use super::plan::StorePlan;
use super::sink::{Encoded, Encoder, Flushed, Kept, Position, Sink};
use super::visit::{PageFacts, Visit};
use crate::Result;

/// About what a line takes beside the text.
const LINE_BYTES: usize = 512;

/// Writes `pages/pages.jsonl` of a crawl directory.
pub struct PagesSink {
    plan: Arc<StorePlan>,
    /// Whether each page comes with its text.
    text: bool,
    out: Appender,
}

impl PagesSink {
    /// The page list of this crawl, with the pages' texts or without.
    pub fn new(plan: Arc<StorePlan>, text: bool) -> Self {
        let path = plan.dir.join("pages").join("pages.jsonl");
        Self { out: Appender::new(path, plan.limits.sink_buffer_bytes_max), plan, text }
    }

    fn header(&self) -> String {
        let title = serde_json::Value::from(self.plan.title.as_str());
        format!("{{\"format\":\"json-pages-1.0\",\"id\":\"pages\",\"title\":{title}}}\n")
    }
}

impl Sink for PagesSink {
    fn name(&self) -> &str {
        "pages"
    }

    fn encoder(&self) -> Encoder {
        let (text, plan) = (self.text, self.plan.clone());
        Arc::new(move |visit| page_line(visit, text, &plan.accept).unwrap_or_default().into())
    }

    fn reads_text(&self) -> bool {
        self.text
    }

    fn write(&mut self, _: &Visit, encoded: Encoded, _: &mut Kept) -> Result<()> {
        self.out.append(&encoded.bytes).map(drop)
    }

    fn flush(&mut self) -> Result<Flushed> {
        self.out.flush()
    }

    fn recover(&mut self, position: Option<Position>) -> Result<()> {
        durable::create_dir(&self.plan.dir.join("pages"))?;
        self.out.recover(position.unwrap_or_default().offset)?;
        if self.out.end() == 0 {
            self.out.append(self.header().as_bytes())?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.out.sync().map(drop)
    }
}

/// The line of something that was there and is one for the list.
fn page_line(visit: &Visit, text: bool, accept: &[String]) -> Option<Vec<u8>> {
    let page = visit.page.as_ref().filter(|page| is_listed(page, accept))?;
    if visit.outcome != (Outcome::Fetched { status: 200 }) {
        return None;
    }
    let size = visit.exchange.as_ref().map_or(0, |exchange| exchange.payload().len());
    let text = if text { page.text.as_str() } else { "" };
    let mut line = Vec::with_capacity(text.len() + text.len() / 8 + LINE_BYTES);
    let mut object = Object::open(&mut line);
    object.text("id", &format!("{}-{}", visit.url.fingerprint(), visit.at.0));
    object.text("url", visit.url.as_str());
    object.plain("ts", visit.at.rfc3339());
    object.text("title", &page.title);
    object.text_if_any("text", text);
    object.text_if_any("lang", &page.lang);
    object.text_if_any("mime", if page.is_html() { "" } else { &page.content_type });
    object.number("size", size as u64);
    object.number("status", 200);
    object.number("depth", visit.depth.into());
    object.close();
    line.push(b'\n');
    Some(line)
}

/// Whether a page is for the list: of a type that was asked for, else one that a person would read.
fn is_listed(page: &PageFacts, accept: &[String]) -> bool {
    match accept {
        [] => page.is_html() || page.is_pdf(),
        _ => type_wanted(accept, &page.content_type),
    }
}
