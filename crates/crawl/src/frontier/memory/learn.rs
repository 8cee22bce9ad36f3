//! What a robots.txt, or the lack of one, does to its origin in the model.

use larm_core::url::CrawlUrl;
use larm_core::workbench::{End, Health};
use larm_core::{FailureClass, Millis};

use super::MemoryFrontier;
use crate::frontier::record::Learnt;

impl MemoryFrontier {
    pub(super) fn learn(&mut self, learnt: Learnt, at: Millis) {
        let (pace, limits) = (self.pace, self.limits.clone());
        let origin = match &learnt {
            Learnt::Reservations(row) | Learnt::Probed(row) => {
                self.totals.probes += u64::from(matches!(learnt, Learnt::Probed(_)));
                self.robots.insert(row.origin.to_string(), row.clone());
                return;
            }
            Learnt::Rules { row, .. } => row.origin.clone(),
            Learnt::Elsewhere { origin } | Learnt::Unreachable { origin, .. } => origin.clone(),
        };
        let url = CrawlUrl::from_canonical(&format!("{origin}/")).expect("an origin");
        let host = self.hosts.entry(url.host().to_owned()).or_default();
        let origin = host.origin(&origin);
        origin.parked = matches!(learnt, Learnt::Elsewhere { .. });
        match learnt {
            Learnt::Rules { row, crawl_delay_ms } => {
                origin.crawl_delay_ms = crawl_delay_ms.filter(|d| *d <= limits.crawl_delay_ms_max);
                if origin.crawl_delay_ms != crawl_delay_ms {
                    origin.given_up = Some(FailureClass::CrawlDelayTooLong);
                }
                host.pace.crawl_delay_ms =
                    host.origins.iter().filter_map(|origin| origin.crawl_delay_ms).max();
                self.totals.robots += 1;
                self.robots.insert(row.origin.to_string(), row);
            }
            Learnt::Elsewhere { .. } | Learnt::Reservations(_) | Learnt::Probed(_) => {}
            Learnt::Unreachable { retry_after_ms, .. } => {
                let end = End::Failed { class: FailureClass::RobotsUnreachable, retry_after_ms };
                if let Health::GivenUp(class) = origin.health.end(end, at, &pace, &limits) {
                    origin.given_up = Some(class);
                }
            }
        }
    }
}
