//! What pages are worth, as the log tells it: the harvest of a page that was settled, and URLs that got
//! another place because pages like them bring nothing.

use larm_core::url::CrawlUrl;
use larm_core::url::file::is_lane;
use larm_core::worth::Purse;

use super::State;
use crate::error::Result;
use crate::frontier::host::{Host, host_key};
use crate::frontier::item::{HELD, Item, Place};
use crate::frontier::record::{Moved, Settled};

impl State {
    /// Takes a host into memory, and its site with it.
    pub(super) fn take_host(&mut self, host: Host) -> Result<()> {
        let (store, site, partition) = (&self.store, host.site, host.partition);
        self.sites.enter(site, partition, || store.site(partition, site))?;
        self.sites.hear(site, host.purse.domains);
        self.hosts.insert(host.key, host);
        Ok(())
    }

    /// What the site of a host has used and earned. A disk that cannot be read tells nothing here: the
    /// next who needs that site in memory gets the error.
    pub fn site_purse(&self, host: &Host) -> Purse {
        let resident = self.sites.get(host.site).copied();
        let read = || self.store.site(host.partition, host.site).ok().flatten();
        resident.or_else(read).unwrap_or_default()
    }

    /// Counts a page that was answered, for the crawl, its host and its site.
    pub(super) fn count_answer(&mut self, name: &str) -> Result<()> {
        self.totals.answered += 1;
        let host = self.host(name)?;
        let is_first = host.purse.pages == 0 && !is_lane(&host.name);
        host.purse.pages += 1;
        let site = host.site;
        self.totals.hosts_answered += u64::from(is_first);
        self.sites.count(site, 1, 0);
        Ok(())
    }

    /// Takes note of what a page brought. Where a shape of URLs that was cut off has brought something,
    /// all that is held is looked at once more.
    pub(super) fn note_harvest(&mut self, settled: &Settled, url: &str) -> Result<()> {
        let Some(harvest) = &settled.harvest else { return Ok(()) };
        let Some(url) = CrawlUrl::from_canonical(url) else { return Ok(()) };
        let (next_seq, limits) = (self.next_seq, self.limits.clone());
        let host = self.host(&settled.host)?;
        let key = host.key;
        let found = settled.offers.iter().filter(|packed| packed.host == key && packed.counts());
        let paths = found.map(|packed| &packed.url[packed.origin().len()..]);
        let worth = host.worth.get_or_insert_default();
        let noted = worth.note(url.path_and_query(), harvest, paths, &limits);
        let fruitful = u64::from(noted.fruitful);
        host.purse.fruitful += fruitful;
        host.review = if noted.healed { next_seq } else { host.review };
        let site = host.site;
        self.sites.count(site, 0, fruitful);
        Ok(())
    }

    /// Gives URLs another place, behind all that are there.
    pub(super) fn move_back(&mut self, moved: Moved) -> Result<()> {
        let Moved { host: name, origin, places, to, cut_at } = moved;
        let (key, next_seq) = (host_key(&name), self.next_seq);
        let host = self.host(&name)?;
        let index = host.origin_index(&origin);
        if to == HELD && cut_at > host.held_at {
            (host.review, host.held_at) = (next_seq, cut_at);
        }
        for place in places {
            match self.take_waiting(key, index, place)? {
                Some(item) => self.put_behind((&name, index), item, to, cut_at)?,
                None => debug_assert!(false, "STATE: what is moved was waiting: {place:?}"),
            }
        }
        self.touched.insert(key);
        Ok(())
    }

    fn put_behind(
        &mut self,
        (name, origin): (&str, u32),
        mut item: Item,
        to: u8,
        cut_at: u32,
    ) -> Result<()> {
        self.order.left(&item);
        let was_held = item.place.priority == HELD;
        item.place = Place { priority: to, seq: self.next_seq };
        self.next_seq += 1;
        let host = self.host(name)?;
        if to == HELD {
            let path = item.url.get(host.origin(origin).text.len()..).unwrap_or_default();
            host.worth.get_or_insert_default().hold(path, cut_at);
        }
        host.put(origin, &item);
        self.totals.held += u64::from(to == HELD && !was_held);
        self.changed(super::ITEM_BYTES + item.url.len() as u64);
        Ok(())
    }
}
