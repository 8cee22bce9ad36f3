//! What is worth a host's turn (step 5): budgets, and URLs like those that bring nothing new.
//!
//! A URL is judged when its turn has come, not when it is found: by then more is known, and what waits is
//! judged as well as what comes. One that is not worth it gets another place, behind the others or among
//! those that are held, as a record of its own: recovery does the very same, whatever the settings are by then
//! (STATE-2). Nothing is dropped: who allows more frees what waits.

use larm_core::Millis;
use larm_core::url::CrawlUrl;
use larm_core::workbench::HostKey;
use larm_core::worth::{Finding, Verdict};

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::host::Host;
use crate::frontier::item::{HELD, Place, SLOW};
use crate::frontier::record::{Moved, Record};
use crate::frontier::shelf::ShelfId;
use crate::frontier::status::Budget;

/// URLs that are moved by one call, about, so that nobody waits for the frontier for long.
pub(super) const MOVES_MAX: usize = 1_024;
/// URLs that one record moves.
const MOVES_AT_ONCE: usize = 64;
/// Front queues of pages that a person named: those are always worth it.
const NAMED: u8 = 2;
/// Shapes that are told of a host.
const FINDINGS_MAX: usize = 5;

impl DiskFrontier {
    /// Whether a host has had its share, or its site.
    pub(super) fn is_over_budget(&self, host: &Host) -> bool {
        let budgets = &self.budgets;
        budgets.host_pages_max.is_some_and(|max| host.purse.pages >= max)
            || host.purse.is_spent(budgets.host_base)
            || budgets.site_base.is_some()
                && self.state.site_purse(host).is_spent(budgets.site_base)
    }

    /// Has hosts seated anew whose site has had its share, or has earned more.
    pub(super) fn touch_sites(&mut self) {
        for before in self.state.sites.take_changes() {
            let base = self.budgets.site_base;
            let now = self.state.sites.get(before.site).copied().unwrap_or_default();
            if before.purse.is_spent(base) == now.is_spent(base) {
                continue;
            }
            let hosts = self.state.hosts.values().filter(|host| host.site == before.site);
            self.state.touched.extend(hosts.map(|host| host.key));
            for shelf in ShelfId::all_of(before.partition) {
                if !self.state.shelves.is_whole(shelf) {
                    self.state.shelves.look_by(shelf, Some(Millis(0)));
                }
            }
        }
    }

    /// Moves the URL at a place, and those behind it that share its lot, if it is not worth the turn that
    /// has come. Says how many.
    pub(super) fn move_unworthy(
        &mut self,
        key: HostKey,
        origin: u32,
        place: Place,
    ) -> Result<usize> {
        let Some(cut_at) = self.budgets.cut_at else { return Ok(0) };
        let Some(host) = self.state.hosts.get(&key) else { return Ok(0) };
        let Some((places, to)) = unworthy(host, origin, place, cut_at) else { return Ok(0) };
        let Some(at) = host.origins.get(origin as usize) else { return Ok(0) };
        let (host, origin) = (host.name.clone(), at.text.clone());
        let count = places.len();
        let moved = Moved { host, origin, places, to, cut_at };
        #[cfg(test)]
        self.moved.push(moved.clone());
        self.record(Record::Moved(moved))?;
        Ok(count)
    }

    /// What is thought of URLs like this one, if they are not simply good.
    pub(super) fn find(&self, url: &CrawlUrl) -> Option<Finding> {
        let cut_at = self.budgets.cut_at?;
        let key = crate::frontier::host_key(url.host());
        let finding = |host: &Host| host.worth.as_ref()?.judge(url.path_and_query(), cut_at).1;
        match self.state.hosts.get(&key) {
            Some(host) => finding(host),
            None => self.state.look_at_host(url.host()).ok().flatten().as_ref().and_then(finding),
        }
        .filter(|finding| finding.verdict != Verdict::Good)
    }

    pub(super) fn findings_of(&self, host: &Host) -> Vec<Finding> {
        let worth = host.worth.as_ref().zip(self.budgets.cut_at);
        worth.map(|(worth, cut_at)| worth.findings(cut_at, FINDINGS_MAX)).unwrap_or_default()
    }

    pub(super) fn budget_of(&self, host: &Host) -> Option<Budget> {
        let (host_base, site_base) = (self.budgets.host_base, self.budgets.site_base);
        host_base.or(site_base)?;
        let site = self.state.site_purse(host);
        Some(Budget {
            fruitful: host.purse.fruitful,
            allowed: host_base.map(|base| host.purse.allowed(base)),
            site_pages: site.pages,
            site_allowed: site_base.map(|base| site.allowed(base)),
            domains: site.domains.count(),
        })
    }
}

/// The places, from one on, of URLs that are not worth their turn for the same reason, and the front queue
/// that they belong into.
fn unworthy(host: &Host, origin: u32, place: Place, cut_at: u32) -> Option<(Vec<Place>, u8)> {
    let origin = host.origins.get(origin as usize)?;
    let better = |place: Place, url: &str| {
        if place.priority <= NAMED {
            return None;
        }
        let path = url.get(origin.text.len()..)?;
        match host.worth.as_ref()?.judge(path, cut_at).0 {
            Verdict::Slow if place.priority < SLOW => Some(SLOW),
            Verdict::Cut => Some(HELD),
            Verdict::Good | Verdict::Slow | Verdict::Try => None,
        }
    };
    let mut urls = origin.queue.urls_from(place);
    let (first, url) = urls.next()?;
    let to = better(first, url)?;
    let same =
        urls.take_while(|(at, url)| at.priority == first.priority && better(*at, url) == Some(to));
    let places = std::iter::once(first).chain(same.map(|(at, _)| at)).take(MOVES_AT_ONCE);
    Some((places.collect(), to))
}
