//! The first pass: what stands there already becomes a match, the rest stays as it is.
//!
//! A table remembers where five bytes were seen, two places for each hash. It is never cleared. After
//! another member began, hashes are others, so hardly any place seems to be one of the same bytes; and a match
//! counts only if its bytes are the same, wherever the place came from.

use super::symbols::{
    DISTANCE_MASKS, DISTANCE_MAX, DISTANCES, LENGTH_MAX, LENGTH_SLOTS, LENGTHS, PerSymbol, SYMBOLS,
    distance_slot,
};

/// Twice as far as a match can be, and a table of all places in it fits 16 bits.
pub const WINDOW: usize = 2 * DISTANCE_MAX;
/// What may be read after the last byte, and counts for nothing.
pub const BEYOND: usize = LENGTH_MAX + 2 * READ_WIDE;

/// The shortest match that is looked for. Shorter ones save next to nothing.
const MATCH_MIN: usize = 5;
/// A match of this length is not compared with another.
const LENGTH_GOOD: usize = 64;
/// No fewer than half a window can have, if each has a match or a run of the longest.
const TOKENS: usize = 8_192;
/// Half as many places, which the first cache would hold, are 3 % faster and make pages half a percent larger.
const TABLE_BITS: u32 = 13;
const TABLE: usize = 1 << TABLE_BITS;
/// Bytes that are read at once.
const READ: usize = 8;
const READ_WIDE: usize = 16;

/// A run of bytes as they are, then a match or none: 5 bits for the run, 9 for the length, 5 for the
/// symbol of the distance, 13 for what follows it.
#[derive(Debug, Clone, Copy)]
pub struct Token(u32);

impl Token {
    pub const RUN_MAX: usize = 31;

    #[inline(always)]
    fn new(run: usize, length: usize, slot: usize, extra: usize) -> Self {
        Self((run << 27 | length << 18 | slot << 13 | extra) as u32)
    }

    #[inline(always)]
    pub fn run(self) -> usize {
        (self.0 >> 27) as usize
    }

    /// Zero where there is no match.
    #[inline(always)]
    pub fn length(self) -> usize {
        (self.0 >> 18 & 511) as usize
    }

    #[inline(always)]
    pub fn slot(self) -> usize {
        (self.0 >> 13 & 31) as usize
    }

    #[inline(always)]
    pub fn extra(self) -> u64 {
        u64::from(self.0 & 0x1fff)
    }
}

/// The bytes that are packed, and those before them. Its length is known to the compiler, so that reading
/// needs no check.
pub type Window = [u8; WINDOW + BEYOND];

/// What a piece of the input consists of.
pub struct Piece {
    tokens: Box<[Token; TOKENS]>,
    count: usize,
    pub counts: PerSymbol,
}

/// Where bytes were seen: for each of two places, 16 bits of where, and above them 16 of the hash as a tag,
/// which spares most looks at the place itself. The one seen last is in the lower half.
type Pair = u64;

pub struct Matcher {
    table: Box<[Pair; TABLE]>,
    /// Part of each hash.
    salt: u32,
}

impl Matcher {
    pub fn new() -> Self {
        Self { table: Box::new([0; TABLE]), salt: 0 }
    }

    /// What was seen before is forgotten: hashes are others from now on.
    pub fn forget(&mut self) {
        self.salt = self.salt.wrapping_add(0x6c07_8965);
    }

    /// The window slid by half: so do all places.
    pub fn slide(&mut self) {
        self.table.iter_mut().for_each(|pair| *pair ^= 0x8000_0000_8000);
    }

    /// Any places and tags there may be.
    #[cfg(test)]
    pub fn fill_for_test(&mut self, seed: u64) {
        let mut random = crate::random::Random(seed);
        self.table.iter_mut().for_each(|pair| *pair = random.next());
        self.salt = random.next() as u32;
    }

    /// Takes the window apart from `start` to `end`.
    #[inline(never)]
    pub fn split(&mut self, window: &Window, start: usize, end: usize, piece: &mut Piece) {
        piece.count = 0;
        piece.counts = [0; SYMBOLS];
        let salt = self.salt;
        let (mut at, mut from) = (start, start);
        while at < end {
            let here = read(window, at);
            let (pair, tag) = self.see(here, at, salt);
            if let Some(found) = longer(window, at, here, pair, tag) {
                let length = found.length.min(end - at);
                if length >= MATCH_MIN && found.less_one < at.min(DISTANCE_MAX) {
                    piece.add(at - from, length, found.less_one);
                    // Of the places within a match, the second and the last are those that pay.
                    self.see(here >> 8, at + 1, salt);
                    at += length;
                    from = at;
                    self.see(read(window, at - 1), at - 1, salt);
                    continue;
                }
            }
            piece.counts[usize::from(here as u8)] += 1;
            at += 1;
        }
        let rest = piece.run(at - from);
        piece.push(Token::new(rest, 0, 0, 0));
    }

    /// Puts a place into the table, by five of its bytes. Returns the pair that was there, and the tag
    /// that a place of the same bytes has.
    #[inline(always)]
    fn see(&mut self, bytes: u64, at: usize, salt: u32) -> (Pair, u32) {
        let hash = ((bytes << 24).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
        let hash = hash.wrapping_add(salt);
        let pair = &mut self.table[(hash >> (32 - TABLE_BITS)) as usize];
        let before = *pair;
        let tag = hash & 0xffff;
        *pair = before << 32 | u64::from(tag << 16 | at as u32 & 0xffff);
        (before, tag)
    }
}

impl Piece {
    pub fn new() -> Self {
        Self { tokens: Box::new([Token(0); TOKENS]), count: 0, counts: [0; SYMBOLS] }
    }

    pub fn tokens(&self) -> &[Token] {
        &self.tokens[..self.count]
    }

    #[inline(always)]
    fn push(&mut self, token: Token) {
        self.tokens[self.count & (TOKENS - 1)] = token;
        self.count += 1;
    }

    #[inline(always)]
    fn add(&mut self, mut run: usize, length: usize, less_one: usize) {
        if run > Token::RUN_MAX {
            run = self.run(run);
        }
        let slot = distance_slot(less_one);
        let extra = less_one & usize::from(DISTANCE_MASKS[slot]);
        self.counts[LENGTHS + usize::from(LENGTH_SLOTS[(length - 3) & 255])] += 1;
        self.counts[DISTANCES + slot] += 1;
        self.push(Token::new(run, length, slot, extra));
    }

    /// Tokens for a long run, and what is left of it for the last.
    #[cold]
    #[inline(never)]
    fn run(&mut self, mut run: usize) -> usize {
        while run > Token::RUN_MAX {
            self.push(Token::new(Token::RUN_MAX, 0, 0, 0));
            run -= Token::RUN_MAX;
        }
        run
    }
}

/// Eight bytes of the window.
#[inline(always)]
pub fn read(window: &Window, at: usize) -> u64 {
    let at = at & (WINDOW - 1);
    u64::from_le_bytes(window[at..at + READ].try_into().expect("eight bytes"))
}

/// Sixteen, not wrapped around.
#[inline(always)]
fn read_wide(window: &Window, at: usize) -> u128 {
    u128::from_le_bytes(window[at..at + READ_WIDE].try_into().expect("sixteen bytes"))
}

/// A match: its length, and its distance less one.
struct Found {
    length: usize,
    less_one: usize,
}

/// The longer match at the places of a pair that have the tag, if one has. Its distance may be one that
/// there is not.
#[inline(always)]
fn longer(window: &Window, at: usize, here: u64, pair: Pair, tag: u32) -> Option<Found> {
    let (is_near, is_far) = (pair as u32 >> 16 == tag, (pair >> 48) as u32 == tag);
    if !(is_near | is_far) {
        return None;
    }
    let mut found = Found { length: 0, less_one: 0 };
    if is_near {
        found.less_one = back(at, pair);
        found.length = same(window, at, found.less_one, here);
    }
    if is_far && found.length < LENGTH_GOOD {
        let less_one = back(at, pair >> 32);
        let length = same(window, at, less_one, here);
        if length > found.length {
            found = Found { length, less_one };
        }
    }
    Some(found)
}

/// How far back a place is that 16 bits name, less one.
#[inline(always)]
fn back(at: usize, place: u64) -> usize {
    usize::from((at as u16).wrapping_sub(place as u16).wrapping_sub(1))
}

/// How many bytes are the same so far back.
#[inline(always)]
fn same(window: &Window, at: usize, less_one: usize, here: u64) -> usize {
    let place = at.wrapping_sub(less_one).wrapping_sub(1);
    match here ^ read(window, place) {
        0 => extend(window, at, place),
        differs => (differs.trailing_zeros() >> 3) as usize,
    }
}

/// The same, where the first eight are.
#[inline(never)]
fn extend(window: &Window, at: usize, place: usize) -> usize {
    let (at, place) = (at & (WINDOW - 1), place & (WINDOW - 1));
    let mut same = READ;
    while same < LENGTH_MAX {
        let differs = read_wide(window, at + same) ^ read_wide(window, place + same);
        if differs != 0 {
            same += (differs.trailing_zeros() >> 3) as usize;
            break;
        }
        same += READ_WIDE;
    }
    same.min(LENGTH_MAX)
}
