//! Randomness that a seed fixes for good: the same numbers on every machine and in every version.
//!
//! Each page throws its own dice, seeded by what the page is, so that no page depends on the order
//! in which pages are asked for.

/// A stream of numbers that its seed decides (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice for the thing that these numbers name.
    pub fn of(parts: &[u64]) -> Self {
        let mut dice = Self(0x6c61_726d);
        for part in parts {
            dice.0 ^= *part;
            dice.0 = dice.next();
        }
        dice
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, not including, `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % (end.max(1) as u64)) as usize
    }

    /// True once in `n` throws.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several.
    pub fn pick<'a, T: ?Sized>(&mut self, among: &[&'a T]) -> &'a T {
        among[self.below(among.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_throws_the_same_numbers() {
        let throw = |parts: &[u64]| {
            let mut dice = Dice::of(parts);
            [dice.next(), dice.next(), dice.next()]
        };
        assert_eq!(throw(&[1, 2]), throw(&[1, 2]));
        assert_ne!(throw(&[1, 2]), throw(&[2, 1]));
    }
}
