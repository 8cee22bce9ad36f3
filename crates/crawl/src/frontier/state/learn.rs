//! What a robots.txt, or the lack of one, does to the state of its origin (step 6); and the answers to
//! the crawl's other questions, which are kept beside it.
//!
//! An origin whose robots.txt redirects is parked until the errand that was sent after it comes back;
//! whatever the errand brings, rules or none, the origin is free again.

use larm_core::url::CrawlUrl;
use larm_core::workbench::{End, Health};
use larm_core::{FailureClass, Millis};

use super::{ROW_BYTES, State};
use crate::error::Result;
use crate::frontier::host::{Host, host_key};
use crate::frontier::record::Learnt;
use crate::frontier::row::RobotsRow;
use crate::frontier::store::encode;

impl State {
    pub(super) fn learn(&mut self, learnt: Learnt, at: Millis) -> Result<()> {
        match learnt {
            Learnt::Rules { row, crawl_delay_ms } => {
                self.totals.robots += 1;
                self.note_answer(&row);
                self.rules_known(&row.origin, crawl_delay_ms)
            }
            Learnt::Elsewhere { origin } => {
                self.with_origin(&origin, |host, index| host.origin(index).parked = true)
            }
            Learnt::Unreachable { origin, retry_after_ms } => {
                self.robots_unreachable(&origin, at, retry_after_ms)
            }
            Learnt::Reservations(row) => {
                self.note_answer(&row);
                Ok(())
            }
            Learnt::Probed(row) => {
                self.totals.probes += 1;
                self.note_answer(&row);
                Ok(())
            }
        }
    }

    fn note_answer(&mut self, row: &RobotsRow) {
        self.change_bytes += row.rules.len() as u64 + ROW_BYTES;
        self.robots.insert(row.origin.clone(), encode(row));
    }

    fn rules_known(&mut self, origin: &str, crawl_delay_ms: Option<u64>) -> Result<()> {
        let delay_max = self.limits.crawl_delay_ms_max;
        self.with_origin(origin, |host, index| {
            // One that is too long keeps us away from this origin, and is not waited for elsewhere.
            let waited_for = crawl_delay_ms.filter(|delay| *delay <= delay_max);
            host.set_crawl_delay(index, waited_for);
            let origin = host.origin(index);
            origin.parked = false;
            if crawl_delay_ms != waited_for {
                origin.given_up = Some(FailureClass::CrawlDelayTooLong);
            }
        })
    }

    fn robots_unreachable(
        &mut self,
        origin: &str,
        at: Millis,
        retry_after_ms: Option<u64>,
    ) -> Result<()> {
        let (pace, limits) = (self.pace, self.limits.clone());
        self.with_origin(origin, |host, index| {
            let origin = host.origin(index);
            origin.parked = false;
            let end = End::Failed { class: FailureClass::RobotsUnreachable, retry_after_ms };
            if let Health::GivenUp(class) = origin.health.end(end, at, &pace, &limits) {
                origin.given_up = Some(class);
            }
        })
    }

    fn with_origin(&mut self, origin: &str, change: impl FnOnce(&mut Host, u32)) -> Result<()> {
        let Some(url) = CrawlUrl::from_canonical(&format!("{origin}/")) else { return Ok(()) };
        let host = self.host(url.host())?;
        let index = host.origin_index(origin);
        change(host, index);
        self.touched.insert(host_key(url.host()));
        Ok(())
    }
}
