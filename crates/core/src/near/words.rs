//! The words of a text, each as a number.
//!
//! A table says of each byte of UTF-8 what it is; a word is gathered eight bytes at a time and mixed.
//! Nothing is copied, no character is decoded.

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
    let mut word = Word::default();
    // What further bytes of a character are: what its first byte was.
    let mut character = Byte::Gap;
    for byte in text.bytes() {
        let class = CLASSES[usize::from(byte)];
        match class {
            Byte::More if character == Byte::Gap => {}
            Byte::More => word.push(byte),
            Byte::Letter => {
                if character == Byte::Alone {
                    word.end(&mut each);
                }
                word.push(byte.to_ascii_lowercase());
            }
            Byte::Alone => {
                word.end(&mut each);
                word.push(byte);
            }
            Byte::Gap => word.end(&mut each),
        }
        character = if class == Byte::More { character } else { class };
    }
    word.end(&mut each);
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
