//! Bytes to deflate (RFC 1951), for many short inputs that are alike.
//!
//! Two things that other compressors do for every input are not done here: tables are not cleared, and a
//! code is not made where one that was made for an earlier input is nearly as good. So what a
//! [`Packer`] makes of an input depends on what it packed before; that all of it can be read
//! back does not.
//!
//! An input is taken in pieces of half a window. Each is split into bytes and matches (`matches`), a
//! code is chosen for them (`shelf`), and they are written with it (`code`, `bits`).

mod bits;
mod code;
mod huffman;
mod matches;
mod shelf;
mod symbols;
#[cfg(test)]
mod tests;

use bits::Bits;
use code::Code;
use matches::{BEYOND, Matcher, Piece, Token, WINDOW, Window, read};
use shelf::{Shelf, Way};
use symbols::END;

/// How much of the input is looked at before a code is chosen for it.
const PIECE_BYTES: usize = WINDOW / 2;
/// Most bytes of a stored block.
const STORED_BYTES_MAX: usize = 65_535;
/// What a stored block takes beside its bytes, at most.
const STORED_BITS: u32 = 3 + 7 + 32;

/// Packs one run of bytes after the other, and knows from each what may do for the next.
pub struct Packer {
    window: Box<Window>,
    matcher: Matcher,
    piece: Piece,
    shelf: Shelf,
    bits: Bits,
}

impl Default for Packer {
    fn default() -> Self {
        Self {
            window: Box::new([0; WINDOW + BEYOND]),
            matcher: Matcher::new(),
            piece: Piece::new(),
            shelf: Shelf::new(),
            bits: Bits::new(),
        }
    }
}

impl Packer {
    /// Appends a deflate stream that holds all of `parts`, one behind the other.
    pub fn pack(&mut self, parts: &[&[u8]], out: &mut Vec<u8>) {
        self.matcher.forget();
        let (mut parts, mut start, mut open) = (Parts::of(parts), 0, None);
        loop {
            if start == WINDOW {
                self.window.copy_within(PIECE_BYTES..WINDOW, 0);
                self.matcher.slide();
                start = PIECE_BYTES;
            }
            let end = start + parts.fill(&mut self.window[start..start + PIECE_BYTES]);
            open = self.pack_piece(start, end, open, parts.are_done());
            self.bits.drain(out);
            start = end;
            if parts.are_done() {
                break;
            }
        }
        if let Some(way) = open {
            self.end(way);
            // The block was begun as one that others follow, so one has to.
            self.shelf.code(Way::Fixed).begin(true, &mut self.bits);
            self.end(Way::Fixed);
        }
        self.bits.align();
        self.bits.drain(out);
    }

    /// Packs a piece of the window, and returns in which way a block is left open. One that is open goes
    /// on, if no other way is better.
    fn pack_piece(
        &mut self,
        start: usize,
        end: usize,
        open: Option<Way>,
        is_last: bool,
    ) -> Option<Way> {
        self.matcher.split(&self.window, start, end, &mut self.piece);
        self.piece.counts[END] = 1;
        let stored_bits = (end - start) as u32 * 8 + STORED_BITS;
        let way = self.shelf.choose(&self.piece.counts, open, stored_bits);
        if let Some(open) = open.filter(|&open| open != way) {
            self.end(open);
        }
        let bits = &mut self.bits;
        if way == Way::Stored {
            bits.put(is_last.into(), 3);
            bits.align();
            bits.bytes(&stored_sizes(end - start));
            bits.bytes(&self.window[start..end]);
            return None;
        }
        let code = self.shelf.code(way);
        if open != Some(way) {
            code.begin(is_last, bits);
        }
        write(&self.window, start, self.piece.tokens(), code, bits);
        if is_last && open != Some(way) {
            self.end(way);
            return None;
        }
        Some(way)
    }

    /// Ends a block that is open in some way.
    fn end(&mut self, way: Way) {
        let end = self.shelf.code(way).end;
        self.bits.put_entry(end);
        self.bits.flush();
    }
}

/// Appends a deflate stream that holds all of `parts` as they are.
pub fn store(parts: &[&[u8]], out: &mut Vec<u8>) {
    let mut parts = Parts::of(parts);
    loop {
        let now = parts.next_up_to(STORED_BYTES_MAX);
        out.push(parts.are_done().into());
        out.extend_from_slice(&stored_sizes(now.len()));
        out.extend_from_slice(now);
        if parts.are_done() {
            break;
        }
    }
}

/// What is left of an input that comes in parts.
struct Parts<'a> {
    now: &'a [u8],
    later: &'a [&'a [u8]],
}

impl<'a> Parts<'a> {
    fn of(parts: &'a [&'a [u8]]) -> Self {
        let mut parts = Self { now: &[], later: parts };
        parts.advance();
        parts
    }

    fn are_done(&self) -> bool {
        self.now.is_empty()
    }

    /// Goes to the next part that has anything.
    fn advance(&mut self) {
        while let (true, [next, later @ ..]) = (self.now.is_empty(), self.later) {
            (self.now, self.later) = (next, later);
        }
    }

    /// The next bytes of the part at hand.
    fn next_up_to(&mut self, bytes_max: usize) -> &'a [u8] {
        let (now, left) = self.now.split_at(self.now.len().min(bytes_max));
        self.now = left;
        self.advance();
        now
    }

    /// Fills `room` as far as there is anything, and says how far.
    fn fill(&mut self, room: &mut [u8]) -> usize {
        let mut filled = 0;
        while !self.are_done() && filled < room.len() {
            let now = self.next_up_to(room.len() - filled);
            room[filled..filled + now.len()].copy_from_slice(now);
            filled += now.len();
        }
        filled
    }
}

/// The length of a stored block, and its complement.
fn stored_sizes(length: usize) -> [u8; 4] {
    let [low, high] = (length as u16).to_le_bytes();
    [low, high, !low, !high]
}

/// The second pass: tokens to bits.
///
/// Codes have at most 12 bits: four bytes fit between two flushes, and so does a match.
#[inline(never)]
fn write(window: &Window, start: usize, tokens: &[Token], code: &Code, bits: &mut Bits) {
    let mut at = start;
    for &token in tokens {
        let (mut run, length) = (token.run(), token.length());
        let mut bytes = read(window, at);
        let end = at + run;
        while run >= 4 {
            for _ in 0..4 {
                bits.put_entry(code.literals[usize::from(bytes as u8)]);
                bytes >>= 8;
            }
            bits.flush();
            run -= 4;
            bytes = read(window, end - run);
        }
        while run > 0 {
            bits.put_entry(code.literals[usize::from(bytes as u8)]);
            bytes >>= 8;
            run -= 1;
        }
        bits.flush();
        if length > 0 {
            bits.put_entry(code.lengths[length]);
            let (entry, count) = code.distances[token.slot()];
            bits.put(entry.bits() | token.extra() << entry.count(), count);
            bits.flush();
        }
        at = end + length;
    }
}
