//! Maps by keys that are hashes already: host keys and fingerprints.
//!
//! Such a key needs no strong hash, only one that nobody outside can foresee: a site could choose its
//! URLs so that their fingerprints agree in the bits that choose a place. So each map mixes a number of
//! its own into its keys.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};

/// Spreads every bit of a key over all bits of the product (the fraction of the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A map by keys that are hashes already.
pub type KeyMap<K, V> = HashMap<K, V, KeyState>;
/// A set of keys that are hashes already.
pub type KeySet<K> = HashSet<K, KeyState>;

/// What one map mixes into its keys.
#[derive(Debug, Clone, Copy)]
pub struct KeyState(u64);

impl Default for KeyState {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0_u64))
    }
}

impl BuildHasher for KeyState {
    type Hasher = KeyHasher;

    fn build_hasher(&self) -> KeyHasher {
        KeyHasher(self.0)
    }
}

/// Mixes a key, of eight bytes as a rule.
#[derive(Debug, Clone, Copy)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, key: u64) {
        let product = u128::from(self.0 ^ key) * u128::from(SPREAD);
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_agree_in_their_low_bits_are_spread() {
        let state = KeyState::default();
        let places: HashSet<u64> =
            (0..1_000_u64).map(|high| state.hash_one(high << 40) % 4_096).collect();
        assert!(places.len() > 700, "only {} places are used", places.len());
    }

    #[test]
    fn all_bytes_of_a_longer_key_count() {
        let state = KeyState::default();
        let mut keys: Vec<[u8; 20]> = vec![[0; 20]];
        keys.extend((0..20).map(|at| std::array::from_fn(|i| u8::from(i == at))));
        let hashes: HashSet<u64> = keys.iter().map(|key| state.hash_one(key)).collect();
        assert_eq!(hashes.len(), keys.len());
    }
}
