//! `links/links.log`: every visit and its links, and what became of them (step 11).
//!
//! The form is that of [`larm_graph::log`]: within a chapter each different link is written once, since
//! pages of one site share most of theirs. A visit is added by the writer, in the order of the crawl, for
//! which links are known already depends on it; a block is packed at each commit, or when enough came
//! together. A log of whole blocks can be read at any time.

use std::sync::Arc;

use larm_core::via::Via;
use larm_graph::log::{self, LogWriter, VisitHead};

use super::appender::Appender;
use super::durable;
use super::plan::StorePlan;
use super::sink::{Encoded, Encoder, Flushed, Kept, Position, Sink};
use super::visit::Visit;
use crate::{Error, Result};

/// Writes `links/links.log` of a crawl directory.
pub struct LinksSink {
    plan: Arc<StorePlan>,
    log: LogWriter,
    /// Room for a block.
    block: Vec<u8>,
    out: Appender,
}

impl LinksSink {
    /// The link log of this crawl.
    pub fn new(plan: Arc<StorePlan>) -> Result<Self> {
        let path = log::path_in(&plan.dir);
        let log = LogWriter::new(plan.limits.links_chapter_bytes_max).map_err(Error::io(&path))?;
        let out = Appender::new(path, plan.limits.sink_buffer_bytes_max);
        Ok(Self { plan, log, block: Vec::new(), out })
    }

    fn pack(&mut self) -> Result<()> {
        self.block.clear();
        let packed = self.log.pack(self.out.end(), &mut self.block);
        packed.map_err(Error::io(self.out.path()))?;
        self.out.append(&self.block).map(drop)
    }
}

impl Sink for LinksSink {
    fn name(&self) -> &str {
        "link-log"
    }

    fn encoder(&self) -> Encoder {
        Arc::new(|_| Encoded::default())
    }

    fn reads_text(&self) -> bool {
        false
    }

    fn write(&mut self, visit: &Visit, _: Encoded, kept: &mut Kept) -> Result<()> {
        if is_errand(visit) {
            return Ok(());
        }
        let head = VisitHead {
            url: visit.url.as_str(),
            at: visit.at,
            ended: (&visit.outcome).into(),
            via: visit.via,
            depth: visit.depth,
        };
        kept.new_links = Some(self.log.add(&head, visit.links.iter()).to_vec());
        if self.log.waiting_bytes() >= self.plan.limits.sink_buffer_bytes_max {
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
        self.log.reset();
        self.out.recover(position.unwrap_or_default().offset)
    }

    fn finish(&mut self) -> Result<()> {
        self.pack()?;
        self.out.sync().map(drop)
    }
}

/// Whether it answers a question of the crawl's own, and leads nowhere.
fn is_errand(visit: &Visit) -> bool {
    matches!(visit.via, Via::Robots | Via::Probe) && visit.links.is_empty()
}
