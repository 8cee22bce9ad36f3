//! Which prints a host has shown: two bit maps of bounded size, the younger taking over from the older.
//!
//! Each print sets two bits. A map that is full is kept as the older one while the next, larger if it may be,
//! fills up; so what a host showed lately is known, and what it showed long ago is forgotten. That errs
//! on the side of the host: what was forgotten counts as new. The other error, new text that is taken for
//! known, stays below one in ten, as a map is full when an eighth as many prints as bits went into it.

use serde::{Deserialize, Serialize};

/// Words of the first map.
const WORDS_MIN: usize = 64;
/// How much larger each further map is.
const GROWTH: usize = 4;
/// Bits for each print.
const BITS_PER_PRINT: usize = 8;

/// The prints that were seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    young: Vec<u64>,
    old: Vec<u64>,
    /// Prints in the younger map.
    prints: u32,
}

impl Sketch {
    /// Takes note of a print; whether it is new. Both maps together take at most `bytes_max`, or the
    /// least that is of use.
    pub fn insert(&mut self, print: u32, bytes_max: u64) -> bool {
        if holds(&self.young, print) {
            return false;
        }
        // What is still shown moves on to the younger map.
        let is_new = !holds(&self.old, print);
        if self.prints as usize * BITS_PER_PRINT >= self.young.len() * 64 {
            self.begin_map(bytes_max);
        }
        for bit in bits(print, self.young.len()) {
            self.young[bit / 64] |= 1 << (bit % 64);
        }
        self.prints += 1;
        is_new
    }

    /// What it takes in memory.
    pub fn bytes(&self) -> u64 {
        ((self.young.len() + self.old.len()) * 8) as u64
    }

    fn begin_map(&mut self, bytes_max: u64) {
        let words_max = usize::try_from(bytes_max / 16).unwrap_or(usize::MAX).max(WORDS_MIN);
        let words = (self.young.len() * GROWTH).clamp(WORDS_MIN, words_max);
        self.old = std::mem::replace(&mut self.young, vec![0; words]);
        self.prints = 0;
    }
}

fn holds(map: &[u64], print: u32) -> bool {
    !map.is_empty() && bits(print, map.len()).iter().all(|bit| map[bit / 64] >> (bit % 64) & 1 == 1)
}

/// The bits of a print in a map of so many words.
fn bits(print: u32, words: usize) -> [usize; 2] {
    let mixed = u64::from(print).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    [mixed as usize % (words * 64), (mixed >> 32) as usize % (words * 64)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn what_was_seen_lately_is_known_and_what_was_not_is_new() {
        let (mut sketch, mut random) = (Sketch::default(), Random(7));
        let mut taken_for_known = 0;
        let mut last = Vec::new();
        for n in 0..50_000 {
            let print = random.next() as u32;
            taken_for_known += u32::from(!sketch.insert(print, 8_192));
            last.push(print);
            if n % 100 == 0 {
                let lately = last.iter().rev().take(500);
                assert!(lately.clone().all(|print| !sketch.clone().insert(*print, 8_192)), "{n}");
            }
        }
        assert!(sketch.bytes() <= 8_192, "{}", sketch.bytes());
        assert!(taken_for_known < 5_000, "{taken_for_known} of 50,000");
    }

    #[test]
    fn a_host_with_little_text_takes_little_memory() {
        let mut sketch = Sketch::default();
        (0..40).for_each(|print| assert!(sketch.insert(print, 8_192)));
        assert!(sketch.bytes() <= 512, "{}", sketch.bytes());
    }
}
