//! Fingerprints offered a moment ago: most links of a page were on the page before it.

/// Places in the table: 4 MiB.
const PLACES: usize = 1 << 19;

/// A table with one place per low 19 bits; the last one there wins. It holds members of the set
/// only.
#[derive(Debug)]
pub(super) struct Recent(Box<[u64]>);

impl Default for Recent {
    fn default() -> Self {
        let mut places = vec![0; PLACES].into_boxed_slice();
        // An empty place holds a key that belongs to another place, so that no key is ever found in
        // it.
        places[0] = 1;
        Self(places)
    }
}

impl Recent {
    /// `true` is certain, `false` says nothing.
    pub(super) fn holds(&self, key: u64) -> bool {
        self.0[place(key)] == key
    }

    /// Remembers a key that is in the set.
    pub(super) fn remember(&mut self, key: u64) {
        self.0[place(key)] = key;
    }
}

fn place(key: u64) -> usize {
    key as usize % PLACES
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
        let mut recent = Recent::default();
        for key in [0, u64::MAX, 7, 7 + PLACES as u64] {
            recent.remember(key);
            assert!(recent.holds(key));
        }
        assert!(recent.holds(0) && recent.holds(u64::MAX) && !recent.holds(7));
    }
}
