//! `links/links.jsonl.zst`: every link of every page, and what became of it (step 11).
//!
//! One JSON line per page that has links. Lines are collected and become one zstd frame at each sync,
//! or when enough of them came together: pages of one site share most of their links, so that a frame
//! per page would take half as much space again. A file of whole frames can be read at any time.
//!
//! The archive is gzip because its readers expect that. Nobody expects anything of this file, and zstd
//! packs it in a third of the time and to three quarters of the size.

use std::sync::Arc;

use larm_core::via::Via;
use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

use super::appender::Appender;
use super::durable;
use super::json::Object;
use super::link_facts::LinkFact;
use super::plan::StorePlan;
use super::sink::{Encoded, Encoder, Flushed, Kept, Position, Sink};
use super::visit::Visit;
use crate::{Error, Result};

/// About what a link takes.
const LINK_BYTES: usize = 128;
/// The higher ones cost more than they save.
const LEVEL: i32 = 1;

/// Writes `links/links.jsonl.zst` of a crawl directory.
pub struct LinksSink {
    plan: Arc<StorePlan>,
    /// Lines of the next frame.
    lines: Vec<u8>,
    packer: Compressor<'static>,
    /// Room for a frame.
    frame: Vec<u8>,
    out: Appender,
}

impl LinksSink {
    /// The link log of this crawl.
    pub fn new(plan: Arc<StorePlan>) -> Result<Self> {
        let path = plan.dir.join("links").join("links.jsonl.zst");
        let packer = Compressor::new(LEVEL).map_err(Error::io(&path))?;
        let out = Appender::new(path, plan.limits.sink_buffer_bytes_max);
        Ok(Self { plan, lines: Vec::new(), packer, frame: Vec::new(), out })
    }

    fn pack(&mut self) -> Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.frame.clear();
        self.frame.reserve(compress_bound(self.lines.len()));
        let packed = self.packer.compress_to_buffer(&self.lines, &mut self.frame);
        packed.map_err(Error::io(self.out.path()))?;
        self.lines.clear();
        self.out.append(&self.frame).map(drop)
    }
}

impl Sink for LinksSink {
    fn name(&self) -> &str {
        "links"
    }

    fn encoder(&self) -> Encoder {
        Arc::new(|visit| links_line(visit).unwrap_or_default().into())
    }

    fn reads_text(&self) -> bool {
        false
    }

    fn write(&mut self, _: &Visit, encoded: Encoded, _: &mut Kept) -> Result<()> {
        self.lines.extend_from_slice(&encoded.bytes);
        if self.lines.len() as u64 >= self.plan.limits.sink_buffer_bytes_max {
            self.pack()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<Flushed> {
        self.pack()?;
        self.out.flush()
    }

    fn recover(&mut self, position: Option<Position>) -> Result<()> {
        durable::create_dir(&self.plan.dir.join("links"))?;
        self.lines.clear();
        self.out.recover(position.unwrap_or_default().offset)
    }

    fn finish(&mut self) -> Result<()> {
        self.pack()?;
        self.out.sync().map(drop)
    }
}

fn links_line(visit: &Visit) -> Option<Vec<u8>> {
    if visit.links.is_empty() {
        return None;
    }
    let mut line = Vec::with_capacity(LINK_BYTES * (visit.links.len() + 1));
    let mut page = Object::open(&mut line);
    page.text("from", visit.url.as_str());
    page.text("at", &visit.at.to_string());
    page.list("links", visit.links.iter(), push_link);
    page.close();
    line.push(b'\n');
    Some(line)
}

fn push_link(line: &mut Vec<u8>, fact: LinkFact<'_>) {
    let mut link = Object::open(line);
    link.text("to", fact.to);
    if fact.via != Via::Anchor {
        link.text("via", fact.via.word());
    }
    link.text_if_any("text", fact.text);
    link.text_if_any("rel", fact.rel);
    if fact.is_rejected() {
        link.text("verdict", fact.verdict);
    }
    link.close();
}
