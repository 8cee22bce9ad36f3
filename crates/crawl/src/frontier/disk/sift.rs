//! What is offered, sifted (step 4): new or seen, and whether its host has room.

use std::collections::BTreeMap;

use larm_core::workbench::HostKey;

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::host::host_key;
use crate::frontier::item::{Errand, SLOW};
use crate::frontier::keyed::{KeyMap, KeyState};
use crate::frontier::lease::Lease;
use crate::frontier::pack::{Contents, Packs};
use crate::frontier::record::{Fate, Learnt};
use crate::frontier::{Candidate, Offered};

/// An offer, sifted.
#[derive(Default)]
pub(super) struct Sifted {
    /// New, and with room as far as is known.
    pub(super) items: Packs,
    /// How many had no room, by limit.
    pub(super) refused: Vec<(String, u32)>,
    pub(super) offered: Offered,
    /// Whether a robots.txt errand had no room.
    errand_refused: bool,
}

impl DiskFrontier {
    /// Keeps of the candidates those that are new and fit, as items, and counts the others. What was found
    /// on spam comes after everything else of its host.
    ///
    /// A URL without room counts as seen from here on. A crash before the next checkpoint may forget
    /// that, and the URL gets another chance.
    pub(super) fn sift(&mut self, candidates: &[Candidate], from_spam: bool) -> Result<Sifted> {
        let fresh = self.insert(candidates)?;
        let new = fresh.iter().filter(|new| **new).count();
        let mut fresh = fresh.into_iter();
        let mut ahead: KeyMap<HostKey, u64> =
            KeyMap::with_capacity_and_hasher(new, KeyState::default());
        let mut refused: BTreeMap<&str, u32> = BTreeMap::new();
        let mut sifted = Sifted { items: Packs::with_capacity(new), ..Sifted::default() };
        for candidate in candidates {
            let sieved = candidate.errand.is_sieved();
            if sieved && !fresh.next().unwrap_or_default() {
                sifted.offered.seen += 1;
                continue;
            }
            let key = host_key(candidate.url.host());
            if !sieved {
                // An errand that has no room must be known of at once (FRONT-4).
                self.state.host(candidate.url.host())?;
            }
            let ahead = ahead.entry(key).or_default();
            match self.state.room(&candidate.url, key, *ahead) {
                Err(limit) => {
                    sifted.offered.full += 1;
                    sifted.errand_refused |= !sieved;
                    *refused.entry(limit).or_default() += 1;
                    #[cfg(test)]
                    self.refused.push(candidate.url.to_string());
                }
                Ok(partition) => {
                    sifted.offered.new += 1;
                    *ahead += 1;
                    let mut contents = Contents::from(candidate);
                    if from_spam && candidate.errand.counts() {
                        contents.priority = SLOW;
                    }
                    sifted.items.push(contents, partition, key);
                }
            }
        }
        let refused = refused.into_iter().map(|(limit, count)| (limit.to_owned(), count));
        Ok(Sifted { refused: refused.collect(), ..sifted })
    }

    /// Puts what goes there into the seen set; which of it was new.
    fn insert(&mut self, candidates: &[Candidate]) -> Result<Vec<bool>> {
        let sieved = candidates.iter().filter(|candidate| candidate.errand.is_sieved());
        let fingerprints: Vec<u64> = sieved.map(|one| one.url.fingerprint().0).collect();
        self.sieve.insert(&fingerprints)
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
