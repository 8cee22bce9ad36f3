//! What the end of a lease does to the state (step 12): the item, its host's pace, the counts.

use larm_core::partition::{PARTITIONS, partition};
use larm_core::url::CrawlUrl;
use larm_core::workbench::{End, Health, HostKey};

use super::{ROW_BYTES, State};
use crate::error::Result;
use crate::frontier::host::host_key;
use crate::frontier::item::{Item, Place};
use crate::frontier::queue::Taken;
use crate::frontier::record::{Fate, Learnt, Settled};
use crate::frontier::row::PageRow;
use crate::frontier::store::BlockKey;
use crate::store::SameAs;

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
        settled.offers.into_iter().try_for_each(|item| self.enqueue(item))
    }

    /// The item of a lease: held by its host while the crawl runs, still in its queue in recovery.
    fn take_leased(&mut self, settled: &Settled) -> Result<Option<Item>> {
        let host = self.host(&settled.host)?;
        host.changed = true;
        let is_it = |(_, taken): &mut (u16, Taken)| taken.item.place == settled.place;
        if let Some((_, taken)) = host.leased.take_if(is_it) {
            return Ok(Some(taken.item));
        }
        let index = host.origin_index(&settled.origin);
        if let Some(taken) = host.origin(index).queue.take(settled.place) {
            return Ok(Some(taken.item));
        }
        self.take_from_blocks(host_key(&settled.host), index, settled.place)
    }

    fn take_from_blocks(
        &mut self,
        key: HostKey,
        origin: u16,
        place: Place,
    ) -> Result<Option<Item>> {
        let Some(host) = self.hosts.get_mut(&key) else { return Ok(None) };
        let partition = host.partition;
        let queue = &mut host.origin(origin).queue;
        for block in queue.blocks_before(place) {
            let items = self.store.block(BlockKey { partition, host: key, origin, block })?;
            queue.load(block, items);
            if let Some(taken) = queue.take(place) {
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
                self.waiting -= 1;
                let answered = u64::from(item.errand.counts() && row.outcome.answered());
                self.totals.answered += answered;
                self.host(&settled.host)?.answered += answered;
                self.keep(row);
            }
            Fate::Errand => self.waiting -= 1,
            Fate::Again(at) => {
                self.totals.retries += 1;
                item.tries = item.tries.saturating_add(1);
                let limits = self.limits.clone();
                let host = self.host(&settled.host)?;
                let index = host.origin_index(&settled.origin);
                host.origin(index).queue.defer(item, *at, &limits);
            }
            Fate::Back => {
                let host = self.host(&settled.host)?;
                let index = host.origin_index(&settled.origin);
                host.origin(index).queue.push(item);
            }
        }
        Ok(())
    }

    fn keep(&mut self, row: &PageRow) {
        self.totals.count(row);
        let url = CrawlUrl::from_canonical(&row.url).expect("STATE: rows hold canonical URLs");
        if let (Some(digest), Some(payload_digest), None) =
            (&row.digest, row.payload_digest, &row.same_as)
        {
            let original = SameAs { url: row.url.to_string(), at: row.at, payload_digest };
            self.digests.entry(*digest).or_insert(original);
        }
        self.changed(row.url.len() as u64 + ROW_BYTES);
        let partition = partition(url.site(), PARTITIONS);
        self.pages.insert(url.fingerprint(), (partition, row.clone()));
    }
}
