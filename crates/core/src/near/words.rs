//! The words of a text, each as a number.
//!
//! A table says of each byte of UTF-8 what it is; a word is gathered eight bytes at a time and mixed.
//! Nothing is copied, no character is decoded.

use crate::runs::Runs;

/// What a byte is to a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    /// Between words: white space, punctuation, and characters that are punctuation for the most part.
    Gap,
    /// Part of a word.
    Letter,
    /// First byte of a character that is a word by itself, as scripts without spaces have it.
    Alone,
    /// A further byte of the character that began before.
    More,
}

const CLASSES: [Byte; 256] = classes();

const fn classes() -> [Byte; 256] {
    let mut classes = [Byte::Gap; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => Byte::Letter,
            0x80..=0xBF => Byte::More,
            // U+0080 to U+00BF, and U+2000 to U+2FFF: signs, spaces and arrows.
            0xC2 | 0xE2 => Byte::Gap,
            // Up to U+07FF, and U+1000 to U+1FFF: alphabets.
            0xC3..=0xDF | 0xE1 => Byte::Letter,
            // Scripts of South and East Asia; what is beyond the first plane.
            0xE0 | 0xE3..=0xF4 => Byte::Alone,
            _ => Byte::Gap,
        };
        byte += 1;
    }
    classes
}

/// Calls `each` with every word of a text, in order.
pub(super) fn each(text: &str, mut each: impl FnMut(u64)) {
    let bytes = text.as_bytes();
    let mut plain_end = ascii_end(bytes, 0);
    for run in Runs::of(text) {
        // Most words of most texts are ASCII, and need no look of their own.
        if run.end > plain_end {
            plain_end = ascii_end(bytes, run.start);
        }
        if run.end <= plain_end {
            each(plain_word(bytes, run.start, run.end));
        } else {
            careful(&bytes[..run.end], run.start, &mut each);
        }
    }
}

/// Where the next byte is that is not ASCII.
fn ascii_end(bytes: &[u8], from: usize) -> usize {
    let (blocks, _) = bytes[from..].as_chunks::<32>();
    let plain = blocks.iter().take_while(|block| block.is_ascii()).count() * 32;
    let rest = &bytes[from + plain..];
    let foreign = rest.iter().position(|byte| !byte.is_ascii());
    foreign.map_or(bytes.len(), |at| from + plain + at)
}

/// What [`Word`] makes of letters and digits of ASCII. One bit makes small letters of them all.
///
/// Words are shorter and longer than eight letters without a rule, so for those of up to fifteen both is computed
/// and one of it taken: a wrong guess costs more.
#[inline]
fn plain_word(bytes: &[u8], at: usize, end: usize) -> u64 {
    let letters = &bytes[at..end];
    let (first, last) = (bytes[at..].first_chunk(), bytes[..end].last_chunk());
    let (Some(first), Some(last), ..16) = (first, last, letters.len()) else {
        return plain_word_by_eights(letters);
    };
    let has_eight = u64::from(letters.len() >= 8).wrapping_neg();
    let whole = mix(u64::from_be_bytes(*first) | SMALL) & has_eight;
    let rest = (u64::from_be_bytes(*last) | SMALL) & LAST[letters.len() % 8];
    mix(whole ^ rest).wrapping_add(letters.len() as u64)
}

/// The bit of each letter that makes it small.
const SMALL: u64 = 0x2020_2020_2020_2020;
/// The last bytes of eight, so many.
const LAST: [u64; 8] = {
    let (mut masks, mut bytes) = ([0; 8], 0);
    while bytes < 8 {
        masks[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    masks
};

/// The same for a word of any length, wherever it stands.
fn plain_word_by_eights(letters: &[u8]) -> u64 {
    let (eights, rest) = letters.as_chunks::<8>();
    let whole =
        eights.iter().fold(0, |hash, eight| mix(hash ^ (u64::from_be_bytes(*eight) | SMALL)));
    let last = rest.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
    mix(whole ^ ((last | SMALL) & LAST[rest.len()])).wrapping_add(letters.len() as u64)
}

/// Reads on from `at` byte by byte, up to the next white space or sign of ASCII; returns what is behind it.
fn careful(bytes: &[u8], at: usize, each: &mut impl FnMut(u64)) -> usize {
    let mut word = Word::default();
    // What further bytes of a character are: what its first byte was.
    let mut character = Byte::Gap;
    for (offset, &byte) in bytes[at..].iter().enumerate() {
        let class = CLASSES[usize::from(byte)];
        match class {
            Byte::More if character == Byte::Gap => {}
            Byte::More => word.push(byte),
            Byte::Letter => {
                if character == Byte::Alone {
                    word.end(each);
                }
                word.push(byte.to_ascii_lowercase());
            }
            Byte::Alone => {
                word.end(each);
                word.push(byte);
            }
            Byte::Gap => {
                word.end(each);
                if byte.is_ascii() {
                    return at + offset + 1;
                }
            }
        }
        character = if class == Byte::More { character } else { class };
    }
    word.end(each);
    bytes.len()
}

/// A word being gathered.
#[derive(Default)]
struct Word {
    hash: u64,
    bytes: u64,
    /// How many of them there are, mixed or not.
    length: u32,
}

impl Word {
    fn push(&mut self, byte: u8) {
        self.bytes = self.bytes << 8 | u64::from(byte);
        self.length += 1;
        if self.length.is_multiple_of(8) {
            self.hash = mix(self.hash ^ self.bytes);
            self.bytes = 0;
        }
    }

    fn end(&mut self, each: &mut impl FnMut(u64)) {
        if self.length > 0 {
            each(mix(self.hash ^ self.bytes).wrapping_add(u64::from(self.length)));
            *self = Self::default();
        }
    }
}

/// Spreads every bit of a number over all bits of the result.
pub(super) fn mix(number: u64) -> u64 {
    let product =
        u128::from(number ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(0x9e37_79b9_7f4a_7c15_u64);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<u64> {
        let mut words = Vec::new();
        each(text, |word| words.push(word));
        words
    }

    fn one_by_one(text: &str) -> Vec<u64> {
        let (mut words, mut at) = (Vec::new(), 0);
        while at < text.len() {
            at = careful(text.as_bytes(), at, &mut |word| words.push(word));
        }
        words
    }

    #[test]
    fn the_short_way_gives_the_words_of_the_long_one() {
        for text in [
            "",
            "a",
            "  The Houses, BUILT in 1958.  ",
            "eightchr sixteencharacter internationalisation-ly 0123456789012345678901234",
            "naïve café über‐alles “quoted” words—dashes ÅngströmX",
            "東京都 is Tokyo日本abc def中 ไทย x",
            "a\u{a0}b\u{200b}c é",
        ] {
            assert_eq!(words(text), one_by_one(text), "{text}");
        }
        assert_eq!(words("House HOUSE house")[0], words("hOuSe")[0]);
    }
}
