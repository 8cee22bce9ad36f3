//! `links/links.jsonl.gz`: every link of every page, and what became of it (step 11).
//!
//! One JSON line per page that has links. Lines are collected and become one gzip member at each sync,
//! or when enough of them came together: pages of one site share most of their links, so that a member
//! per page would take half as much space again. A file of whole members can be read at any time.

use std::sync::Arc;

use larm_core::via::Via;
use serde::Serialize;

use super::appender::Appender;
use super::durable;
use super::gzip::{Effort, append_member};
use super::plan::StorePlan;
use super::sink::{Encoded, Encoder, Kept, Position, Sink};
use super::visit::{LinkFact, Visit};
use crate::Result;

/// Writes `links/links.jsonl.gz` of a crawl directory.
pub struct LinksSink {
    plan: Arc<StorePlan>,
    /// Lines of the next member.
    lines: Vec<u8>,
    out: Appender,
}

impl LinksSink {
    /// The link log of this crawl.
    pub fn new(plan: Arc<StorePlan>) -> Self {
        let path = plan.dir.join("links").join("links.jsonl.gz");
        let out = Appender::new(path, plan.limits.sink_buffer_bytes_max);
        Self { plan, lines: Vec::new(), out }
    }

    fn pack(&mut self) -> Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let mut member = Vec::new();
        append_member(&self.lines, Effort::Packed, &mut member);
        self.lines.clear();
        self.out.append(&member).map(drop)
    }
}

impl Sink for LinksSink {
    fn name(&self) -> &str {
        "links"
    }

    fn encoder(&self) -> Encoder {
        Arc::new(|visit| links_line(visit).unwrap_or_default().into())
    }

    fn write(&mut self, _: &Visit, encoded: Encoded, _: &mut Kept) -> Result<()> {
        self.lines.extend_from_slice(&encoded.bytes);
        if self.lines.len() as u64 >= self.plan.limits.sink_buffer_bytes_max {
            self.pack()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<Position> {
        self.pack()?;
        Ok(Position { file: 0, offset: self.out.sync()? })
    }

    fn recover(&mut self, position: Option<Position>) -> Result<()> {
        durable::create_dir(&self.plan.dir.join("links"))?;
        self.lines.clear();
        self.out.recover(position.unwrap_or_default().offset)
    }

    fn finish(&mut self) -> Result<()> {
        self.sync().map(drop)
    }
}

#[derive(Serialize)]
struct LinksLine<'a> {
    from: &'a str,
    at: String,
    links: Vec<LinkLine<'a>>,
}

#[derive(Serialize)]
struct LinkLine<'a> {
    to: &'a str,
    via: Via,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    rel: &'a str,
    verdict: &'a str,
}

impl<'a> From<&'a LinkFact> for LinkLine<'a> {
    fn from(link: &'a LinkFact) -> Self {
        let LinkFact { to, via, text, rel, verdict } = link;
        Self { to, via: *via, text, rel, verdict }
    }
}

fn links_line(visit: &Visit) -> Option<Vec<u8>> {
    if visit.links.is_empty() {
        return None;
    }
    let line = LinksLine {
        from: visit.url.as_str(),
        at: visit.at.to_string(),
        links: visit.links.iter().map(LinkLine::from).collect(),
    };
    Some(super::json_line(&line))
}
