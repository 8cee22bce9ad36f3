//! What the end of a lease does to the state (step 12): the item, its host's pace, the counts.

use larm_core::Fact;
use larm_core::alias::Ruling;
use larm_core::partition::{PARTITIONS, partition};
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_core::workbench::{End, Health, HostKey};

use super::{ROW_BYTES, State, load};
use crate::error::Result;
use crate::frontier::host::host_key;
use crate::frontier::item::{HELD, Item, Place};
use crate::frontier::near::{Entry, PageKey};
use crate::frontier::queue::Taken;
use crate::frontier::record::{Adopted, AliasNews, Fate, Learnt, Settled, is_counted};
use crate::frontier::row::{DROPPED, PageRow};
use crate::frontier::store::{BlockKey, encode};
use crate::store::{SameAs, WarcRef};

impl State {
    pub(super) fn settle(&mut self, settled: Settled) -> Result<()> {
        self.changed(ROW_BYTES);
        self.totals.links += u64::from(settled.links);
        self.count_rejected(&settled.rejected);
        let item = self.take_leased(&settled)?;
        self.end_lease(&settled)?;
        match item {
            Some(item) => self.decide(&settled, item)?,
            None => debug_assert!(false, "STATE: what is settled was waiting: {settled:?}"),
        }
        if let Some(learnt) = settled.robots {
            self.learn(learnt, settled.at)?;
        }
        self.enqueue_all(&settled.offers)?;
        settled.aliases.into_iter().try_for_each(|news| self.hear_of_alias(news))
    }

    /// Takes note of what a page says of two names. Names of one thing have one budget.
    fn hear_of_alias(&mut self, news: AliasNews) -> Result<()> {
        if let AliasNews::Ruled(_, Ruling::Mirror { from, of, .. }) = &news
            && let Some((from, of)) = other_hosts(from, of)
        {
            let pages = self.host(&from)?.purse.pages;
            let host = self.host(&of)?;
            host.purse.pages += pages;
            host.changed = true;
            self.touched.insert(host_key(&of));
        }
        self.aliases.hear(news);
        Ok(())
    }

    /// A page that never waited.
    pub(super) fn adopt(&mut self, adopted: Adopted) -> Result<()> {
        self.changed(ROW_BYTES);
        self.totals.links += u64::from(adopted.links);
        self.count_rejected(&adopted.rejected);
        self.totals.known += 1;
        if adopted.row.outcome.answered() {
            self.count_answer(&adopted.host)?;
        }
        let host = self.host(&adopted.host)?;
        host.changed = true;
        let partition = host.partition;
        self.keep(&adopted.row, partition);
        self.enqueue_all(&adopted.offers)
    }

    /// A page lies elsewhere in the archive, or is no longer kept.
    pub(super) fn relocate(&mut self, url: &str, warc: Option<WarcRef>) -> Result<()> {
        let url = CrawlUrl::from_canonical(url);
        let row = url.as_ref().map(|url| self.page(url)).transpose()?.flatten();
        let Some((url, mut row)) = url.zip(row) else {
            debug_assert!(false, "STATE: what lies elsewhere was settled");
            return Ok(());
        };
        if warc.is_none() {
            row.facts
                .push(Fact::new(DROPPED, "it is not among the best pages, and no longer kept"));
        }
        let encoded = encode(&PageRow { warc, ..row });
        self.changed(encoded.len() as u64 + ROW_BYTES);
        let partition = partition(url.site(), PARTITIONS);
        self.pages.insert(url.fingerprint(), (partition, encoded));
        Ok(())
    }

    /// The item of a lease: held by its host while the crawl runs, still in its queue in recovery.
    fn take_leased(&mut self, settled: &Settled) -> Result<Option<Item>> {
        let host = self.host(&settled.host)?;
        host.changed = true;
        let is_it = |(_, taken): &mut (u32, Taken)| taken.item.place == settled.place;
        if let Some((_, taken)) = host.leased.take_if(is_it) {
            return Ok(Some(taken.item));
        }
        let index = host.origin_index(&settled.origin);
        self.take_waiting(host_key(&settled.host), index, settled.place)
    }

    /// An item from the queue of an origin, in memory or on disk.
    pub(super) fn take_waiting(
        &mut self,
        key: HostKey,
        origin: u32,
        place: Place,
    ) -> Result<Option<Item>> {
        let Some(host) = self.hosts.get_mut(&key) else { return Ok(None) };
        if let Some(taken) = host.origin(origin).queue.take(place) {
            return Ok(Some(taken.item));
        }
        self.take_from_blocks(key, origin, place)
    }

    fn take_from_blocks(
        &mut self,
        key: HostKey,
        origin: u32,
        place: Place,
    ) -> Result<Option<Item>> {
        let Some(host) = self.hosts.get_mut(&key) else { return Ok(None) };
        let partition = host.partition;
        let at = host.origin(origin);
        for block in at.queue.blocks_before(place) {
            load(&self.store, at, BlockKey { partition, host: key, origin, block })?;
            if let Some(taken) = at.queue.take(place) {
                return Ok(Some(taken.item));
            }
        }
        Ok(None)
    }

    /// The gap is the host's; a failure is held against the origin.
    fn end_lease(&mut self, settled: &Settled) -> Result<()> {
        let (pace, limits) = (self.pace, self.limits.clone());
        let host = self.host(&settled.host)?;
        let gap = match settled.end {
            End::Failed { .. } => End::Answered { response_ms: host.pace.response_ms },
            other => other,
        };
        host.pace.end(gap, settled.at, &pace, &limits);
        // A robots.txt that is elsewhere says nothing yet about the origin's health; the errand that is
        // sent after it will. Else an origin that redirects to nowhere would get new chances for ever.
        if !matches!(settled.robots, Some(Learnt::Elsewhere { .. })) {
            let index = host.origin_index(&settled.origin);
            let origin = host.origin(index);
            let health = origin.health.end(settled.end, settled.at, &pace, &limits);
            if let Health::GivenUp(class) = health {
                origin.given_up = Some(class);
            }
        }
        self.touched.insert(host_key(&settled.host));
        Ok(())
    }

    fn decide(&mut self, settled: &Settled, mut item: Item) -> Result<()> {
        match &settled.fate {
            Fate::Done(row) => {
                self.leave_queue(&item);
                if is_counted(&item, row, &settled.end) {
                    self.count_answer(&settled.host)?;
                }
                if item.errand.counts() {
                    self.note_harvest(settled, &item.url)?;
                }
                let partition = self.host(&settled.host)?.partition;
                self.keep(row, partition);
            }
            Fate::Errand => self.leave_queue(&item),
            Fate::Again(at) => {
                self.totals.retries += 1;
                item.tries = item.tries.saturating_add(1);
                let limits = self.limits.clone();
                let host = self.host(&settled.host)?;
                let index = host.origin_index(&settled.origin);
                if let Err(item) = host.origin(index).queue.defer(item, *at, &limits) {
                    host.put(index, &item);
                    let at = (host.key, &*settled.origin);
                    self.order.hear_back(at, &item);
                }
            }
            Fate::Back => {
                let host = self.host(&settled.host)?;
                let index = host.origin_index(&settled.origin);
                host.put(index, &item);
                let at = (host.key, &*settled.origin);
                self.order.hear_back(at, &item);
            }
        }
        Ok(())
    }

    fn leave_queue(&mut self, item: &Item) {
        self.waiting -= 1;
        self.totals.held -= u64::from(item.place.priority == HELD);
    }

    fn keep(&mut self, row: &PageRow, partition: u16) {
        self.totals.count(row);
        if let (Some(digest), Some(payload_digest), None) =
            (&row.digest, row.payload_digest.filter(|_| row.warc.is_some()), &row.same_as)
            && self.originals.young(digest).is_none()
        {
            let first = SameAs { url: row.url.to_string(), at: row.at, payload_digest };
            self.originals.insert(*digest, encode(&first));
            self.change_bytes += row.url.len() as u64 + ROW_BYTES;
        }
        self.near.release(&row.url);
        let fingerprint = Fingerprint::of(&row.url);
        if let Some(likeness) = row.likeness.as_ref().filter(|likeness| likeness.of.is_none()) {
            let page = PageKey { partition, fingerprint };
            self.near.insert(Entry { simhash: likeness.simhash.0, page });
        }
        let encoded = encode(row);
        self.changed(encoded.len() as u64 + ROW_BYTES);
        self.pages.insert(fingerprint, (partition, encoded));
    }
}

/// The hosts of two origins, where these are two.
fn other_hosts(from: &str, of: &str) -> Option<(String, String)> {
    let host = |origin: &str| {
        CrawlUrl::from_canonical(&format!("{origin}/")).map(|url| url.host().to_owned())
    };
    host(from).zip(host(of)).filter(|(from, of)| from != of)
}
