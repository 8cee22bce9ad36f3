//! Pages that an archive holds already: kept in the page table without having waited.
//!
//! Their leases are outside of all order: nobody is asked, so no host is held, and there may be many of
//! one host at a time.

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::host::host_key;
use crate::frontier::item::{Item, Place};
use crate::frontier::lease::{Lease, Turn};
use crate::frontier::record::{Adopted, Fate, Record};
use crate::frontier::{Candidate, Offered, Settlement};

impl DiskFrontier {
    pub(super) fn lease_archived(&mut self, candidate: Candidate) -> Lease {
        let Candidate { url, depth, via, parent, redirects, errand } = candidate;
        self.leases += 1;
        self.leased_pages += u64::from(errand.counts());
        let place = Place::default();
        let text = url.as_str().into();
        let item = Item { url: text, depth, via, parent, redirects, tries: 0, errand, place };
        Lease { host: host_key(url.host()), url, item, turn: Turn::Archived, others: Vec::new() }
    }

    /// What is settled already stays as it is: an archive knows no more of it than its own crawl did.
    pub(super) fn settle_archived(
        &mut self,
        lease: &Lease,
        settlement: Settlement,
    ) -> Result<Offered> {
        self.leases -= 1;
        self.leased_pages -= u64::from(lease.item.errand.counts());
        let Fate::Done(row) = settlement.fate else { return Ok(Offered::default()) };
        if self.state.page(&lease.url)?.is_some() {
            return Ok(Offered::default());
        }
        self.sieve.insert(&[lease.url.fingerprint().0])?;
        let sifted = self.sift(&settlement.offers, settlement.is_spam)?;
        let offered = sifted.offered;
        let mut rejected = settlement.rejected;
        rejected.extend(sifted.refused);
        self.record(Record::Adopted(Box::new(Adopted {
            host: lease.url.host().into(),
            row: *row,
            offers: sifted.items,
            links: settlement.links,
            rejected,
        })))?;
        self.sort_out()?;
        self.seat_touched();
        Ok(offered)
    }
}
