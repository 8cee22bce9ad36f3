//! Text → features: a number for each word, the same for words of one stem by and large.
//!
//! No language is known here, so that a query or an example in any of them works. A word is a run of
//! letters and digits, in lower case; a final `s` is taken off, and what comes behind the first
//! [`STEM_CHARACTERS`] does not count: a stemmer that most languages with endings can live with (McNamee
//! and Mayfield 2004). A word with digits in it is also given with `#` for them: `cs101` is a `cs#`.
//! Scripts without spaces between words give pairs of neighbouring characters.

use xxhash_rust::xxh3::xxh3_64;

/// Characters of a word that tell it from others.
const STEM_CHARACTERS: usize = 7;
/// Bytes that so many characters can have.
const STEM_BYTES: usize = STEM_CHARACTERS * 4;
/// Letters that a word has at least.
const CHARACTERS_MIN: usize = 2;
/// Letters that a plural has at least: `was` and `its` are none.
const PLURAL_CHARACTERS: usize = 4;

/// Calls `each` with every word of a text, in order.
pub(super) fn each(text: &str, mut each: impl FnMut(u32)) {
    each_form(text, |feature, _| each(feature));
}

/// The same, with whether it looks like a plural.
fn each_form(text: &str, mut each: impl FnMut(u32, bool)) {
    let mut word = Word::default();
    let mut neighbour = None;
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            word.push(character.to_ascii_lowercase());
        } else if character.is_ascii() {
            word.end(&mut each);
        } else if is_unspaced(character) {
            word.end(&mut each);
            if let Some(before) = neighbour.replace(character) {
                each(pair(before, character), false);
            }
            continue;
        } else if character.is_alphanumeric() {
            character.to_lowercase().for_each(|lower| word.push(lower));
        } else {
            word.end(&mut each);
        }
        neighbour = None;
    }
    word.end(&mut each);
}

/// The features of a short text, each once.
pub(super) fn distinct(text: &str) -> Vec<u32> {
    let mut features = Vec::new();
    each(text, |feature| features.push(feature));
    features.sort_unstable();
    features.dedup();
    features
}

/// The same, and which of them look like plurals.
pub(super) fn distinct_forms(text: &str) -> (Vec<u32>, Vec<u32>) {
    let (mut features, mut plurals) = (Vec::new(), Vec::new());
    each_form(text, |feature, is_plural| {
        features.push(feature);
        plurals.extend(is_plural.then_some(feature));
    });
    for some in [&mut features, &mut plurals] {
        some.sort_unstable();
        some.dedup();
    }
    (features, plurals)
}

/// Another feature for the same word in another role, such as that of a title.
pub(super) fn in_role(feature: u32, role: u32) -> u32 {
    (feature ^ role.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b).rotate_left(13)
}

/// The beginning of a word, how long it is, and how it ends.
struct Word {
    bytes: [u8; STEM_BYTES],
    length: usize,
    characters: usize,
    last: char,
    last_but_one: char,
    has_letter: bool,
    has_digit: bool,
}

impl Default for Word {
    fn default() -> Self {
        Self {
            bytes: [0; STEM_BYTES],
            length: 0,
            characters: 0,
            last: ' ',
            last_but_one: ' ',
            has_letter: false,
            has_digit: false,
        }
    }
}

impl Word {
    fn push(&mut self, character: char) {
        let is_digit = character.is_ascii_digit();
        self.has_digit |= is_digit;
        self.has_letter |= !is_digit;
        if self.characters < STEM_CHARACTERS {
            self.keep(character);
        }
        self.characters += 1;
        self.last_but_one = std::mem::replace(&mut self.last, character);
    }

    fn keep(&mut self, character: char) {
        match u8::try_from(character).ok().filter(u8::is_ascii) {
            Some(byte) => {
                self.bytes[self.length] = byte;
                self.length += 1;
            }
            None => self.length += character.encode_utf8(&mut self.bytes[self.length..]).len(),
        }
    }

    fn end(&mut self, each: &mut impl FnMut(u32, bool)) {
        if self.characters >= CHARACTERS_MIN {
            each(hash(self.stem()), self.is_plural());
            if self.has_digit && self.has_letter {
                each(self.numbered(), false);
            }
        }
        if self.characters > 0 {
            *self = Self::default();
        }
    }

    fn stem(&self) -> &[u8] {
        match &self.bytes[..self.length] {
            [stem @ .., _] if self.is_plural() && self.characters <= STEM_CHARACTERS => stem,
            bytes => bytes,
        }
    }

    /// `courses`, and not `class`.
    fn is_plural(&self) -> bool {
        let is_long = self.characters >= PLURAL_CHARACTERS;
        is_long && self.last == 's' && self.last_but_one != 's'
    }

    /// The word with one sign for each run of digits.
    fn numbered(&self) -> u32 {
        let mut shape = [0; STEM_BYTES];
        let mut length = 0;
        for &byte in &self.bytes[..self.length] {
            let sign = if byte.is_ascii_digit() { b'#' } else { byte };
            if sign != b'#' || length == 0 || shape[length - 1] != b'#' {
                shape[length] = sign;
                length += 1;
            }
        }
        hash(&shape[..length])
    }
}

fn hash(bytes: &[u8]) -> u32 {
    xxh3_64(bytes) as u32
}

fn pair(first: char, second: char) -> u32 {
    hash(&((u64::from(u32::from(first)) << 32) | u64::from(u32::from(second))).to_le_bytes())
}

fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}
