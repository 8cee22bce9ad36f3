//! What is offered, sifted (step 4): new or seen, and whether its host has room.

use std::collections::{BTreeMap, HashMap};

use larm_core::workbench::HostKey;

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::host::host_key;
use crate::frontier::item::{Errand, Item, Place};
use crate::frontier::lease::Lease;
use crate::frontier::record::{Fate, Learnt};
use crate::frontier::{Candidate, Offered};

/// An offer, sifted.
#[derive(Default)]
pub(super) struct Sifted {
    /// New, and with room.
    pub(super) items: Vec<Item>,
    /// How many had no room, by limit.
    pub(super) refused: Vec<(String, u32)>,
    pub(super) offered: Offered,
    /// Whether a robots.txt errand had no room.
    errand_refused: bool,
}

impl DiskFrontier {
    /// Keeps of the candidates those that are new and fit, as items, and counts the others.
    ///
    /// A URL without room counts as seen from here on. A crash before the next checkpoint may forget
    /// that, and the URL gets another chance.
    pub(super) fn sift(&mut self, candidates: Vec<Candidate>) -> Result<Sifted> {
        let sieved = candidates.iter().filter(|candidate| goes_through_sieve(&candidate.errand));
        let fingerprints: Vec<u64> = sieved.map(|one| one.url.fingerprint().0).collect();
        let mut fresh = self.sieve.insert(&fingerprints)?.into_iter();
        let mut ahead: HashMap<HostKey, u64> = HashMap::new();
        let mut refused: BTreeMap<&str, u32> = BTreeMap::new();
        let mut sifted = Sifted::default();
        for candidate in candidates {
            let new = !goes_through_sieve(&candidate.errand) || fresh.next().unwrap_or_default();
            if !new {
                sifted.offered.seen += 1;
                continue;
            }
            let ahead = ahead.entry(host_key(candidate.url.host())).or_default();
            if let Some(limit) = self.state.refusal(&candidate.url, *ahead)? {
                sifted.offered.full += 1;
                sifted.errand_refused |= !goes_through_sieve(&candidate.errand);
                *refused.entry(limit).or_default() += 1;
            } else {
                sifted.offered.new += 1;
                *ahead += 1;
                sifted.items.push(item_of(candidate));
            }
        }
        let refused = refused.into_iter().map(|(limit, count)| (limit.to_owned(), count));
        Ok(Sifted { refused: refused.collect(), ..sifted })
    }
}

/// FRONT-4: what a settlement has to say of a robots.txt, so that nobody waits for it in vain.
pub(super) fn learnt(
    lease: &Lease,
    fate: &Fate,
    said: Option<Learnt>,
    sifted: &Sifted,
) -> Option<Learnt> {
    let lost = |origin| Some(Learnt::Unreachable { origin, retry_after_ms: None });
    match (said, lease.errand(), fate) {
        (Some(Learnt::Elsewhere { origin }), ..) if sifted.errand_refused => lost(origin),
        (None, Errand::Robots { origin, .. }, Fate::Done(_) | Fate::Errand) => lost(origin.clone()),
        (said, ..) => said,
    }
}

/// robots.txt errands are the crawl's own, and may be needed more than once.
pub(super) fn goes_through_sieve(errand: &Errand) -> bool {
    !matches!(errand, Errand::Robots { .. })
}

fn item_of(candidate: Candidate) -> Item {
    let priority = Place::breadth_first(&candidate.errand, candidate.depth);
    Item {
        url: candidate.url.as_str().into(),
        depth: candidate.depth,
        via: candidate.via,
        parent: candidate.parent,
        redirects: candidate.redirects,
        tries: 0,
        errand: candidate.errand,
        place: Place { priority, seq: 0 },
    }
}
