//! A code for the symbols of a block, with all that is needed to write with it.
//!
//! A code is made once and used for many blocks, so every symbol that a page like the first may have
//! gets a code, and what begins a block is kept as it is written.

use super::bits::Bits;
use super::huffman;
use super::symbols::{
    DISTANCE_COUNT, DISTANCES, END, EXTRA_BITS, LENGTHS, LITERALS, PerSymbol, SYMBOLS, length_base,
};

/// Four bytes have to fit between two flushes, and a match: 56 bits each.
const BITS_MAX: usize = 12;
/// Bytes that not every text has. A code has all of a kind or none: the others of a kind that
/// a page has are likely in the next one.
const KINDS: [(usize, usize); 6] = [(0, 9), (11, 13), (14, 32), (127, 128), (128, 192), (192, 256)];
/// Most bits of a block's beginning: three, the counts, the lengths of 19 codes, and of all symbols.
const HEADER_WORDS: usize = 74;
/// Lengths of codes come in this order (RFC 1951 §3.2.7).
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Bits in the upper part, how many in the lowest byte.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry(u32);

impl Entry {
    fn new(bits: usize, count: usize) -> Self {
        Self((bits << 8 | count) as u32)
    }

    #[inline(always)]
    pub fn bits(self) -> u64 {
        u64::from(self.0 >> 8)
    }

    #[inline(always)]
    pub fn count(self) -> u32 {
        self.0 & 255
    }
}

/// Some of [`KINDS`], a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    pub fn of(counts: &PerSymbol) -> Self {
        let mut kinds = 0;
        for (kind, &(from, to)) in KINDS.iter().enumerate() {
            let any = counts[from..to].iter().fold(0, |any, count| any | count);
            kinds |= u8::from(any > 0) << kind;
        }
        Self(kinds)
    }

    fn has(self, kind: usize) -> bool {
        self.0 >> kind & 1 == 1
    }
}

pub struct Code {
    kinds: Kinds,
    /// What each symbol takes, with the bits that follow it.
    costs: PerSymbol,
    pub literals: [Entry; 256],
    pub end: Entry,
    /// By length, with the bits that follow the symbol.
    pub lengths: [Entry; 512],
    /// By symbol; the second is how many bits the symbol and what follows it take.
    pub distances: [(Entry, u32); 32],
    /// The beginning of a block, in pieces of 32 bits, and how many bits there are in all.
    header: [u32; HEADER_WORDS],
    header_bits: u32,
}

impl Code {
    /// The one that is known to all (RFC 1951 §3.2.6).
    pub fn fixed() -> Self {
        let mut lengths = [0; SYMBOLS];
        lengths[..144].fill(8);
        lengths[144..256].fill(9);
        lengths[256..280].fill(7);
        lengths[280..288].fill(8);
        lengths[DISTANCES..].fill(5);
        let mut code = Self::of(&lengths, Kinds((1 << KINDS.len()) - 1));
        code.header[0] = 1 << 1;
        code.header_bits = 3;
        code
    }

    /// The best for these counts, as far as one can be that has a code for more symbols than occur.
    pub fn for_counts(counts: &PerSymbol, kinds: Kinds) -> Self {
        let weights = weights(counts, kinds);
        let mut lengths = [0; SYMBOLS];
        huffman::lengths(&weights[..LITERALS], BITS_MAX, &mut lengths[..LITERALS]);
        huffman::lengths(&weights[DISTANCES..], BITS_MAX, &mut lengths[DISTANCES..]);
        let mut code = Self::of(&lengths, kinds);
        code.write_header(&lengths);
        code
    }

    fn of(lengths: &[u8; SYMBOLS], kinds: Kinds) -> Self {
        let mut codes = [0; SYMBOLS];
        huffman::codes(&lengths[..DISTANCES], &mut codes[..DISTANCES]);
        huffman::codes(&lengths[DISTANCES..], &mut codes[DISTANCES..]);
        let entry = |symbol: usize| Entry::new(codes[symbol].into(), lengths[symbol].into());
        let mut costs = [0; SYMBOLS];
        for ((cost, &length), &extra) in costs.iter_mut().zip(lengths).zip(&EXTRA_BITS) {
            *cost = u16::from(length + extra);
        }
        let mut long = [Entry::default(); 512];
        for slot in 0..LITERALS - LENGTHS {
            let (code, length) = (codes[LENGTHS + slot], lengths[LENGTHS + slot]);
            let same = 3 + length_base(slot);
            for extra in 0..1 << EXTRA_BITS[LENGTHS + slot] {
                let bits = usize::from(code) | extra << length;
                long[same + extra] = Entry::new(bits, costs[LENGTHS + slot].into());
            }
        }
        Self {
            kinds,
            literals: std::array::from_fn(entry),
            end: entry(END),
            lengths: long,
            distances: std::array::from_fn(|slot| {
                (entry(DISTANCES + slot), u32::from(costs[DISTANCES + slot]))
            }),
            costs,
            header: [0; HEADER_WORDS],
            header_bits: 0,
        }
    }

    /// Whether there is a code for all symbols of texts with these kinds of bytes.
    pub fn covers(&self, kinds: Kinds) -> bool {
        kinds.0 & !self.kinds.0 == 0
    }

    /// The bits that symbols take which occur so often, if all of them have a code.
    pub fn cost(&self, counts: &PerSymbol) -> u32 {
        // Signed, since there is an instruction for that. Half a window has fewer than 32,768 of
        // each symbol: so many of a byte alone would be matches.
        let pairs = self.costs.iter().zip(counts);
        let bits = pairs.map(|(&cost, &count)| i32::from(cost as i16) * i32::from(count as i16));
        bits.sum::<i32>() as u32
    }

    /// The bits of a block's beginning.
    pub fn header_bits(&self) -> u32 {
        self.header_bits
    }

    pub fn begin(&self, is_last: bool, bits: &mut Bits) {
        let mut left = self.header_bits;
        let mut last = u64::from(is_last);
        for &word in &self.header {
            let count = left.min(32);
            bits.put(u64::from(word) | last, count);
            bits.flush();
            (left, last) = (left - count, 0);
            if left == 0 {
                break;
            }
        }
    }

    fn push(&mut self, value: usize, count: usize) {
        let (word, bit) = (self.header_bits as usize / 32, self.header_bits % 32);
        let bits = (value as u64) << bit;
        self.header[word] |= bits as u32;
        self.header[word + 1] |= (bits >> 32) as u32;
        self.header_bits += count as u32;
    }

    /// RFC 1951 §3.2.7.
    fn write_header(&mut self, lengths: &[u8; SYMBOLS]) {
        let mut all = [0; LITERALS + DISTANCE_COUNT];
        all[..LITERALS].copy_from_slice(&lengths[..LITERALS]);
        all[LITERALS..].copy_from_slice(&lengths[DISTANCES..][..DISTANCE_COUNT]);
        let (runs, count) = runs(&all);
        let runs = &runs[..count];
        let mut weights = [0; 19];
        runs.iter().for_each(|run| weights[usize::from(run.symbol)] += 1);
        // A code of one symbol is none.
        weights[0] = weights[0].max(1);
        weights[18] = weights[18].max(1);
        let (mut lengths, mut codes) = ([0; 19], [0; 19]);
        huffman::lengths(&weights, 7, &mut lengths);
        huffman::codes(&lengths, &mut codes);
        let named = ORDER.iter().rposition(|&symbol| lengths[symbol] > 0).unwrap_or(0).max(3) + 1;
        self.push(2 << 1, 3);
        self.push(LITERALS - 257, 5);
        self.push(DISTANCE_COUNT - 1, 5);
        self.push(named - 4, 4);
        for &symbol in &ORDER[..named] {
            self.push(lengths[symbol].into(), 3);
        }
        for run in runs {
            let symbol = usize::from(run.symbol);
            self.push(codes[symbol].into(), lengths[symbol].into());
            self.push(run.extra.into(), run.extra_bits.into());
        }
    }
}

/// Twice the counts, and 1 for what did not occur this time but may the next.
fn weights(counts: &PerSymbol, kinds: Kinds) -> PerSymbol {
    let mut weights = counts.map(|count| count.saturating_mul(2).max(1));
    for (kind, &(from, to)) in KINDS.iter().enumerate().filter(|(kind, _)| !kinds.has(*kind)) {
        debug_assert!(counts[from..to].iter().all(|count| *count == 0), "kind {kind}");
        weights[from..to].fill(0);
    }
    weights[LITERALS..DISTANCES].fill(0);
    weights[DISTANCES + DISTANCE_COUNT..].fill(0);
    weights
}

/// Some lengths of codes in a row, as a block's beginning has them.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    symbol: u8,
    extra: u8,
    extra_bits: u8,
}

fn runs(lengths: &[u8]) -> ([Run; LITERALS + DISTANCE_COUNT], usize) {
    let mut runs = [Run::default(); LITERALS + DISTANCE_COUNT];
    let mut count = 0;
    let mut rest = lengths;
    while let Some(&length) = rest.first() {
        let same = rest.iter().take_while(|&&other| other == length).count();
        let previous =
            rest.len() < lengths.len() && lengths[lengths.len() - rest.len() - 1] == length;
        let (run, taken) = match (length, same) {
            (0, 11..) => (
                Run { symbol: 18, extra: (same.min(138) - 11) as u8, extra_bits: 7 },
                same.min(138),
            ),
            (0, 3..) => (Run { symbol: 17, extra: (same - 3) as u8, extra_bits: 3 }, same),
            (1.., 3..) if previous => {
                (Run { symbol: 16, extra: (same.min(6) - 3) as u8, extra_bits: 2 }, same.min(6))
            }
            _ => (Run { symbol: length, extra: 0, extra_bits: 0 }, 1),
        };
        runs[count] = run;
        count += 1;
        rest = &rest[taken..];
    }
    (runs, count)
}
