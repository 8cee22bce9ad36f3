//! A small picture of a run in memory that says "surely not" to most keys it does not hold.
//!
//! A Bloom filter in blocks of one cache line. The block is chosen by the key's place in the order,
//! so that building from a sorted run and asking in sorted order both walk through memory once. It
//! relies on fingerprints being evenly spread; where they are not, it only says "surely not" less
//! often.

/// Bits for each key, when memory allows.
const KEY_BITS: u64 = 14;
/// Bits set for each key: good between 3.5 and 14 bits per key, so that a filter can be halved
/// twice.
const PROBES: u32 = 4;
const BLOCK_BITS: u64 = 512;
const BLOCK_BYTES: u64 = BLOCK_BITS / 8;
/// Blocks come in multiples of this, so that they can be halved until they are of no more use.
const HALVING_BLOCKS: u64 = 16;

/// Whether a run may hold a key.
#[derive(Debug)]
pub(super) struct Filter(Vec<[u64; 8]>);

impl Filter {
    /// An empty filter for so many keys, within so many bytes.
    pub(super) fn new(keys: u64, bytes_max: u64) -> Self {
        let wished = (keys * KEY_BITS).div_ceil(BLOCK_BITS).next_multiple_of(HALVING_BLOCKS);
        let most = bytes_max / BLOCK_BYTES / HALVING_BLOCKS * HALVING_BLOCKS;
        Self(vec![[0; 8]; wished.min(most) as usize])
    }

    /// Its size in memory.
    pub(super) fn bytes(&self) -> u64 {
        self.0.len() as u64 * BLOCK_BYTES
    }

    /// Adds a key.
    pub(super) fn insert(&mut self, key: u64) {
        let block = self.block(key);
        if let Some(block) = self.0.get_mut(block) {
            probes(key).for_each(|(word, bit)| block[word] |= bit);
        }
    }

    /// `false` is certain.
    pub(super) fn may_hold(&self, key: u64) -> bool {
        let Some(block) = self.0.get(self.block(key)) else {
            return true;
        };
        probes(key).all(|(word, bit)| block[word] & bit != 0)
    }

    /// Takes half the memory, for more false hopes. What cannot be halved is dropped: all is hope.
    pub(super) fn halve(&mut self) {
        if !self.0.len().is_multiple_of(2) {
            self.0.clear();
        }
        let pairs = self.0.chunks_exact(2);
        self.0 = pairs.map(|pair| std::array::from_fn(|at| pair[0][at] | pair[1][at])).collect();
    }

    /// Blocks are in the order of keys: two neighbours cover what one of half as many would.
    fn block(&self, key: u64) -> usize {
        ((u128::from(key) * self.0.len() as u128) >> 64) as usize
    }
}

/// The bits of a key inside its block, from its low end: the high end chose the block.
fn probes(key: u64) -> impl Iterator<Item = (usize, u64)> {
    (0..PROBES).map(move |probe| {
        let bit = (key >> (9 * probe)) % BLOCK_BITS;
        ((bit / 64) as usize, 1 << (bit % 64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::faulty::Dice;

    #[test]
    fn a_filter_never_denies_a_key_and_denies_most_others() {
        let mut dice = Dice(5);
        let keys: Vec<u64> = (0..20_000).map(|_| dice.roll()).chain([0, u64::MAX]).collect();
        let mut filter = Filter::new(keys.len() as u64, u64::MAX);
        keys.iter().for_each(|&key| filter.insert(key));
        let mut hopes_max = 300; // of 10,000; each halving allows for more
        loop {
            assert!(keys.iter().all(|&key| filter.may_hold(key)));
            let hopes = (0..10_000).filter(|_| filter.may_hold(dice.roll())).count();
            assert!(hopes <= hopes_max, "{hopes} of 10,000 with {} bytes", filter.bytes());
            if filter.bytes() == 0 {
                break;
            }
            filter.halve();
            hopes_max = (hopes_max * 5).min(10_000);
        }
    }

    #[test]
    fn a_filter_keeps_to_its_memory() {
        for bytes_max in [1, 1_000, 6_400, 100_000] {
            let mut filter = Filter::new(1_000_000, bytes_max);
            assert!(filter.bytes() <= bytes_max);
            filter.insert(9);
            assert!(filter.may_hold(9));
        }
    }
}
