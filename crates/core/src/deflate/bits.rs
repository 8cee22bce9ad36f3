//! Bits into bytes, lowest first, as deflate has them (RFC 1951 §3.1.1).

use super::code::Entry;

/// More bytes than one piece of the input becomes: it is stored if packing makes it larger.
const ROOM: usize = 1 << 16;
/// Written at once.
const WORD: usize = 8;

/// Bits of a piece, until [`Bits::drain`] takes them away.
pub struct Bits {
    // Its length is known to the compiler, so that writing needs no check.
    room: Box<[u8; ROOM + WORD]>,
    /// Where the next whole byte goes.
    at: usize,
    held: u64,
    /// How many bits of `held` count.
    count: u32,
}

impl Bits {
    pub fn new() -> Self {
        Self { room: Box::new([0; ROOM + WORD]), at: 0, held: 0, count: 0 }
    }

    /// Appends bits. Between two calls of [`Bits::flush`] there is room for 56.
    #[inline(always)]
    pub fn put(&mut self, bits: u64, count: u32) {
        self.held |= bits << self.count;
        self.count += count;
    }

    /// The same with an entry of a code.
    #[inline(always)]
    pub fn put_entry(&mut self, entry: Entry) {
        self.put(entry.bits(), entry.count());
    }

    /// Lets whole bytes go.
    #[inline(always)]
    pub fn flush(&mut self) {
        debug_assert!(self.count < 64 && self.at < ROOM);
        let at = self.at & (ROOM - 1);
        self.room[at..at + WORD].copy_from_slice(&self.held.to_le_bytes());
        self.at += (self.count >> 3) as usize;
        self.held >>= self.count & 56;
        self.count &= 7;
    }

    /// Fills up the last byte with zeros.
    pub fn align(&mut self) {
        self.count = self.count.next_multiple_of(8);
        self.flush();
    }

    /// Appends whole bytes, after those that are whole already.
    pub fn bytes(&mut self, bytes: &[u8]) {
        debug_assert!(self.count == 0);
        self.room[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Moves the whole bytes to the end of `out`.
    pub fn drain(&mut self, out: &mut Vec<u8>) {
        self.flush();
        out.extend_from_slice(&self.room[..self.at]);
        self.at = 0;
    }
}
