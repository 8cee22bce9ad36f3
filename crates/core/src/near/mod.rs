//! Pages that say nearly the same (step 10): 64 bits that are nearly the same for texts that are.
//!
//! A [`Simhash`] is the vote of a text's features on 64 bits (Charikar 2002). A feature is three
//! neighbouring words, and has one vote however often it stands there: what is repeated is frame, or a
//! form that is filled in. A text in which one word in two hundred was exchanged has a few bits that
//! differ, one about something else has about half of them. What is near enough is [`BITS_MAX`], which
//! is also what the index of the crawl is built for (Manku, Jain and Das Sarma 2007). How this choice
//! of features compares with others is in `docs/duplicates.md`.
//!
//! A text of few words has no simhash: there, frame and chance decide. Words are read as bytes: letters
//! and digits, in small letters as far as they are ASCII; scripts that are written without spaces give
//! a word for each character. Any text is read in one pass, without a copy of it.

mod translation;
mod votes;
mod words;

#[cfg(test)]
mod outside_tests;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use translation::Translation;
pub(crate) use votes::Votes;

/// Bits of 64 in which texts may differ that say nearly the same.
pub const BITS_MAX: u32 = 3;
/// Words of one feature.
const FEATURE_WORDS: usize = 3;
/// Features that are known again: a place for each low bits, and the last one there is known, by some of its high
/// bits, so that all places fit into the first cache. In a text of far more, some that are repeated vote more than once.
const PLACES: usize = 1 << 12;

/// 64 bits that are nearly the same for texts that say nearly the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Simhash(pub u64);

impl Simhash {
    /// Of a text in pieces; `None` for one of fewer than `words_min` words.
    pub fn of<'a>(pieces: impl IntoIterator<Item = &'a str>, words_min: u64) -> Option<Self> {
        let (mut votes, mut count) = (Votes::default(), 0);
        let (mut last, mut known) = ([0; FEATURE_WORDS], [0; PLACES]);
        for piece in pieces {
            words::each(piece, |word| {
                last = [last[1], last[2], word];
                count += 1;
                let feature = feature(last);
                let (place, tag) = (&mut known[feature as usize % PLACES], tag(feature));
                // Which of them are new cannot be guessed, so there is nothing to guess.
                let is_new = (count >= FEATURE_WORDS as u64) & (*place != tag);
                *place = if is_new { tag } else { *place };
                votes.add_if(is_new, feature);
            });
        }
        (count >= words_min.max(FEATURE_WORDS as u64)).then(|| Self(votes.majority()))
    }

    /// Bits in which two of them differ.
    pub fn distance(self, other: Self) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    /// Whether two texts say nearly the same.
    pub fn is_near(self, other: Self) -> bool {
        self.distance(other) <= BITS_MAX
    }
}

impl fmt::Debug for Simhash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Simhash({self})")
    }
}

/// Sixteen hexadecimal digits.
impl fmt::Display for Simhash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Simhash {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

/// What a feature is known by: never what an empty place has.
fn tag(feature: u64) -> u16 {
    (feature >> 48) as u16 | 1
}

/// One number for neighbouring words in their order, each of its bits as good as thrown.
fn feature([first, second, third]: [u64; FEATURE_WORDS]) -> u64 {
    words::mix(first.rotate_left(42) ^ second.rotate_left(21) ^ third)
}
