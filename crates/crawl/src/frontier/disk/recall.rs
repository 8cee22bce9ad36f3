//! All that waits, told to somebody who was not there when it came: a new run's ranker, or whoever wants to know
//! what a new rule would remove.
//!
//! Reads the blocks and rows of all hosts, and the arrivals of those that are not in memory; it changes nothing,
//! and takes as long as there is to read, up to a maximum.

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::board::Waits;
use crate::frontier::host::Host;
use crate::frontier::item::Place;
use crate::frontier::pack::{self, Packed};
use crate::frontier::shelf::ShelfId;
use crate::frontier::state::waits;
use crate::frontier::store::BlockKey;

/// Who is told, and how many more. It says whether a URL counts.
struct Listener<'a> {
    hear: &'a mut dyn FnMut(u64, &Packed<'_>) -> bool,
    left: u64,
}

impl Listener<'_> {
    fn hear(&mut self, seq: u64, packed: &Packed<'_>) {
        if self.left > 0 && (self.hear)(seq, packed) {
            self.left -= 1;
        }
    }
}

impl DiskFrontier {
    pub(super) fn tell_waiting(&self, most: u64, tell: &mut dyn FnMut(&Waits)) -> Result<()> {
        let needs_urls = self.state.order.board().is_some_and(|board| board.needs_urls);
        let mut hear = |seq, packed: &Packed<'_>| {
            let waits = waits(seq, packed, needs_urls);
            waits.inspect(&mut *tell).is_some()
        };
        self.tell_all(Listener { hear: &mut hear, left: most })
    }

    pub(super) fn tell_waiting_urls(&self, most: u64, tell: &mut dyn FnMut(&str)) -> Result<()> {
        let mut hear = |_, packed: &Packed<'_>| {
            tell(packed.url);
            true
        };
        self.tell_all(Listener { hear: &mut hear, left: most })
    }

    fn tell_all(&self, mut listener: Listener<'_>) -> Result<()> {
        for host in self.state.hosts.values() {
            self.tell_of_host(host, &mut listener)?;
        }
        for row in self.store.hosts() {
            let host = Host::from_row(row?);
            if listener.left == 0 {
                return Ok(());
            }
            if !self.state.hosts.contains_key(&host.key) {
                self.tell_of_host(&host, &mut listener)?;
            }
        }
        ShelfId::all().try_for_each(|shelf| self.tell_of_arrivals(shelf, &mut listener))
    }

    fn tell_of_host(&self, host: &Host, listener: &mut Listener<'_>) -> Result<()> {
        for (origin, at) in (0..).zip(&host.origins) {
            at.queue.each_in_memory(|seq, packed| listener.hear(seq, packed));
            for stored in at.queue.stored() {
                if listener.left == 0 {
                    return Ok(());
                }
                let (partition, host, block) = (host.partition, host.key, stored.id);
                let list = self.store.block(BlockKey { partition, host, origin, block })?;
                for (seq, packed) in pack::entries(&list).flatten() {
                    if stored.counts(Place { priority: packed.priority, seq }) {
                        listener.hear(seq, &packed);
                    }
                }
            }
        }
        Ok(())
    }

    fn tell_of_arrivals(&self, shelf: ShelfId, listener: &mut Listener<'_>) -> Result<()> {
        if listener.left == 0 {
            return Ok(());
        }
        for list in self.state.shelves.arrivals(shelf)? {
            let strangers = pack::entries(&list).flatten();
            let strangers = strangers.filter(|(_, one)| !self.state.hosts.contains_key(&one.host));
            strangers.for_each(|(seq, packed)| listener.hear(seq, &packed));
        }
        Ok(())
    }
}
