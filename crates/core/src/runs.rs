//! Runs of letters and digits between the signs of ASCII, found 64 bytes at a time.
//!
//! A loop over bytes ends where a word does, and words are of all lengths: the processor guesses wrong once or
//! twice a word, which costs more than all the rest. Here 64 bytes become a number with a bit for each, and a
//! run begins and ends where a bit is not what the one before it is.

use std::ops::Range;

/// Bytes that are looked at together.
const BLOCK_BYTES: usize = 64;
/// Has the lowest bit of each byte of what it is multiplied by in the highest byte, the first one lowest.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// The runs of a text. What is not ASCII counts as a letter: whoever wants to know has to look into it.
#[derive(Debug)]
pub struct Runs<'t> {
    bytes: &'t [u8],
    /// Where the block at hand ends.
    block_end: usize,
    /// The bytes of the block that begin a run, or are the first ones behind one.
    edges: u64,
    /// Whether the last byte of the block is in a run: 0 or 1.
    open: u64,
}

impl<'t> Runs<'t> {
    /// Those of a text.
    pub fn of(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), block_end: 0, edges: 0, open: 0 }
    }

    #[inline]
    fn edge(&mut self) -> Option<usize> {
        while self.edges == 0 {
            self.read_block()?;
        }
        let at = self.block_end - BLOCK_BYTES + self.edges.trailing_zeros() as usize;
        self.edges &= self.edges - 1;
        Some(at)
    }

    fn read_block(&mut self) -> Option<()> {
        let rest = self.bytes.get(self.block_end..).filter(|rest| !rest.is_empty())?;
        let letters = match rest.first_chunk() {
            Some(block) => letters_of(block),
            None => {
                let mut block = [0; BLOCK_BYTES];
                block[..rest.len()].copy_from_slice(rest);
                letters_of(&block)
            }
        };
        self.edges = letters ^ (letters << 1 | self.open);
        self.open = letters >> (BLOCK_BYTES - 1);
        self.block_end += BLOCK_BYTES;
        Some(())
    }
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.edge()?;
        Some(start..self.edge().unwrap_or(self.bytes.len()))
    }
}

/// A bit for each byte, the first one lowest: whether it may be part of a word. The first step is one that the compiler
/// turns into vectors.
#[inline]
fn letters_of(block: &[u8; BLOCK_BYTES]) -> u64 {
    let letters = block.map(|byte| {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let is_digit = byte.wrapping_sub(b'0') < 10;
        u8::from(is_letter | is_digit | !byte.is_ascii())
    });
    letters.as_chunks().0.iter().rev().fold(0, |letters, eight| {
        letters << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_by_one(text: &str) -> Vec<&str> {
        let is_sign = |character: char| character.is_ascii() && !character.is_ascii_alphanumeric();
        text.split(is_sign).filter(|run| !run.is_empty()).collect()
    }

    fn runs(text: &str) -> Vec<&str> {
        Runs::of(text).map(|run| &text[run]).collect()
    }

    #[test]
    fn every_byte_is_what_it_is() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_alphanumeric() || !byte.is_ascii();
            for (before, after) in [(0, 0), (b'x', 0xff), (0xff, b' '), (b'~', b'~')] {
                let mut block = [before; BLOCK_BYTES];
                block[17] = byte;
                block[18] = after;
                assert_eq!(letters_of(&block) >> 17 & 1 == 1, expected, "{byte} {before} {after}");
            }
        }
    }

    #[test]
    fn runs_begin_and_end_wherever_blocks_do() {
        let text = "One, two - three/four.fünf 東京都 six_7 {} a b  c".repeat(4);
        for start in 0..text.len() {
            for end in (start..text.len()).filter(|end| text.is_char_boundary(*end)) {
                let Some(part) = text.get(start..end) else { continue };
                assert_eq!(runs(part), one_by_one(part), "{part}");
            }
        }
        let long = "x".repeat(200);
        assert_eq!(runs(&long), [&long]);
        assert_eq!(runs(&format!(" {long} ")), [&long]);
    }
}
