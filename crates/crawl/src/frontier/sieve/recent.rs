//! Fingerprints offered a moment ago: most links of a page were on the page before it.
//!
//! The sieve remembers here what it was asked to insert. Workers look here without holding the
//! frontier, and spare what is found the way through filters and sieve. The writer alone settles, so
//! whatever skips a URL is settled behind what offered it, and a crash that forgets the one forgets
//! the other. The table may forget, and never makes anything up: whoever overwrites an entry writes
//! one that is as true.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Places in the table: 4 MiB.
const PLACES: usize = 1 << 19;

/// A table with one place per low 19 bits; the last one there wins. It holds members of the set
/// only.
#[derive(Debug)]
pub struct Recent(Box<[AtomicU64]>);

impl Default for Recent {
    fn default() -> Self {
        let places: Box<[AtomicU64]> = (0..PLACES).map(|_| AtomicU64::new(0)).collect();
        // An empty place holds a key that belongs to another place, so that no key is ever found in
        // it.
        places[0].store(1, Relaxed);
        Self(places)
    }
}

impl Recent {
    /// `true` is certain, `false` says nothing.
    pub fn holds(&self, key: u64) -> bool {
        self.place(key).load(Relaxed) == key
    }

    /// Remembers a key that is in the set.
    pub(super) fn remember(&self, key: u64) {
        self.place(key).store(key, Relaxed);
    }

    fn place(&self, key: u64) -> &AtomicU64 {
        &self.0[key as usize % PLACES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_table_holds_no_key() {
        let recent = Recent::default();
        let places = PLACES as u64;
        let ends = [0, 1, 2, places - 1, places, places + 1, u64::MAX - 1, u64::MAX];
        assert!(ends.iter().all(|&key| !recent.holds(key)));
    }

    #[test]
    fn the_last_key_of_a_place_is_held() {
        let recent = Recent::default();
        for key in [0, u64::MAX, 7, 7 + PLACES as u64] {
            recent.remember(key);
            assert!(recent.holds(key));
        }
        assert!(recent.holds(0) && recent.holds(u64::MAX) && !recent.holds(7));
    }
}
