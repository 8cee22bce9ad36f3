//! URLs that were offered a moment ago: most links of a page were on the page before it.
//!
//! A link to one of them need not be judged, made a candidate and offered again. The writer remembers a
//! URL once the settlement that offers it is done, so whatever skips it is settled later, and a crash
//! that forgets the one forgets the other. It remembers only what the seen set has from then on: not where
//! a robots.txt redirects to. All workers share the table without a lock. It may forget, and never makes
//! anything up: whoever overwrites an entry writes one that is as true.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use larm_core::url::Fingerprint;

/// Places in the table: 512 KiB.
const PLACES: usize = 1 << 16;

/// A table with one place per low 16 bits of a fingerprint; the last one there wins.
#[derive(Debug)]
pub struct Known(Box<[AtomicU64]>);

impl Default for Known {
    fn default() -> Self {
        let places: Box<[AtomicU64]> = (0..PLACES).map(|_| AtomicU64::new(0)).collect();
        // An empty place holds what belongs to another one, so that nothing is ever found in it.
        places[0].store(1, Relaxed);
        Self(places)
    }
}

impl Known {
    /// `true` is certain, `false` says nothing.
    pub fn holds(&self, url: Fingerprint) -> bool {
        self.place(url).load(Relaxed) == url.0
    }

    /// Remembers a URL that was offered and whose offer is settled.
    pub fn remember(&self, url: Fingerprint) {
        self.place(url).store(url.0, Relaxed);
    }

    fn place(&self, url: Fingerprint) -> &AtomicU64 {
        &self.0[url.0 as usize % PLACES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_remembered_is_held() {
        let known = Known::default();
        let some = [0, 1, 7, 65_535, 65_536, u64::MAX].map(Fingerprint);
        assert!(some.iter().all(|&url| !known.holds(url)));
        for url in some {
            known.remember(url);
            assert!(known.holds(url));
        }
        assert!(!known.holds(Fingerprint(0)), "65,536 has the same place");
    }
}
