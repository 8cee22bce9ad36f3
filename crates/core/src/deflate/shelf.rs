//! The codes that were of use lately, and which of them to use now.
//!
//! To make a code costs more than to write a small record with it, and pages of a crawl are alike. So
//! codes are kept, and a new one is made only where the best of them would make a block larger by more than
//! a little.

use super::code::{Code, Kinds};
use super::symbols::{DISTANCES, EXTRA_BITS, PerSymbol};

/// HTML in some languages, styles, scripts, JSON, requests, metadata.
const CODES_MAX: usize = 8;
/// About what the beginning of a block takes, in bits.
const HEADER_BITS: u32 = 600;
/// One part in so many is the most that a block may be larger for want of a code of its own, and so many bits besides:
/// to make a code takes as long for a small page as for a large one.
const SLACK: u32 = 50;
const SLACK_BITS: u32 = 300;

/// How a block is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// As it is.
    Stored,
    Fixed,
    /// By the code at this place.
    Kept(usize),
}

pub struct Shelf {
    fixed: Code,
    kept: Vec<Kept>,
    /// Counts the choices.
    now: u64,
}

struct Kept {
    code: Code,
    used: u64,
}

impl Shelf {
    pub fn new() -> Self {
        Self { fixed: Code::fixed(), kept: Vec::new(), now: 0 }
    }

    pub fn code(&self, way: Way) -> &Code {
        match way {
            Way::Kept(place) => &self.kept[place].code,
            Way::Stored | Way::Fixed => &self.fixed,
        }
    }

    /// The best way for these counts. A block that is `open` in some way needs no beginning.
    pub fn choose(&mut self, counts: &PerSymbol, open: Option<Way>, stored_bits: u32) -> Way {
        self.now += 1;
        let (mut best, mut bits) = (Way::Fixed, self.bits(Way::Fixed, counts, open));
        let kinds = Kinds::of(counts);
        for place in (0..self.kept.len()).filter(|&place| self.kept[place].code.covers(kinds)) {
            let these = self.bits(Way::Kept(place), counts, open);
            if these < bits {
                (best, bits) = (Way::Kept(place), these);
            }
        }
        let least = least(counts) + HEADER_BITS;
        if bits > least + least / SLACK + SLACK_BITS && stored_bits > least {
            let made = Code::for_counts(counts, kinds);
            let these = made.cost(counts) + made.header_bits();
            if these < bits {
                (best, bits) = (Way::Kept(self.keep(made, open)), these);
            }
        }
        if let Way::Kept(place) = best {
            self.kept[place].used = self.now;
        }
        if stored_bits < bits { Way::Stored } else { best }
    }

    fn bits(&self, way: Way, counts: &PerSymbol, open: Option<Way>) -> u32 {
        let code = self.code(way);
        let header = if open == Some(way) { 0 } else { code.header_bits() };
        code.cost(counts) + header
    }

    /// Puts a code in the place of the one that was not used for longest. The one of an open block stays.
    fn keep(&mut self, code: Code, open: Option<Way>) -> usize {
        let kept = Kept { code, used: self.now };
        if self.kept.len() < CODES_MAX {
            self.kept.push(kept);
            return self.kept.len() - 1;
        }
        let others = (0..CODES_MAX).filter(|&place| open != Some(Way::Kept(place)));
        let oldest = others.min_by_key(|&place| self.kept[place].used).unwrap_or(0);
        self.kept[oldest] = kept;
        oldest
    }
}

/// The bits that any code takes at the least for symbols that occur so often.
fn least(counts: &PerSymbol) -> u32 {
    let extra = counts.iter().zip(&EXTRA_BITS);
    let extra: u32 = extra.map(|(&count, &bits)| u32::from(count) * u32::from(bits)).sum();
    extra + entropy(&counts[..DISTANCES]) + entropy(&counts[DISTANCES..])
}

fn entropy(counts: &[u16]) -> u32 {
    let all: u32 = counts.iter().map(|&count| u32::from(count)).sum();
    let mut bits = u64::from(all) * u64::from(log2(all));
    for &count in counts.iter().filter(|count| **count > 0) {
        bits -= u64::from(count) * u64::from(log2(count.into()));
    }
    (bits >> 8) as u32
}

/// The logarithm to base 2, in 256ths; a straight line between powers, and a bend.
fn log2(number: u32) -> u32 {
    debug_assert!(number < 1 << 24);
    if number == 0 {
        return 0;
    }
    let whole = 31 - number.leading_zeros();
    let part = ((number << 8) >> whole) & 0xff;
    // log2(1 + x) is nearly x + 0.344 x (1 - x).
    let bend = (part * (256 - part) * 88) >> 16;
    (whole << 8) + part + bend
}
