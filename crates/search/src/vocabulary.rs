//! Words → numbers of terms: what an index is written from.
//!
//! Every term has a number, counted from 1, by which it is gathered and sorted. Most words of a page
//! are on many others, so what became of a word lies beside its very letters, in one line of the
//! processor's cache: no stem is made, no term is looked at, and nothing is searched for. Of the words
//! a bounded number is remembered, two to a line. Terms stay until all are forgotten, which is up to
//! whoever watches [`Vocabulary::bytes`].

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::language::Lang;
use crate::words::{self, Terms, Word};

/// The number of what is no term.
pub(crate) const NO_TERM: u32 = 0;
/// Lines of words that are remembered while an index is written: a megabyte.
const INDEX_LINES: usize = 16_384;
/// And where a text or two are read.
const TEXT_LINES: usize = 256;
/// Words that are looked up together.
const BATCH_WORDS: usize = 32;
/// Letters of a word that stand beside its number.
const WORD_BYTES: usize = 24;
/// What an empty table begins with.
const SLOTS_MIN: usize = 1_024;

/// Terms by number, and words seen lately.
pub(crate) struct Vocabulary {
    maker: Terms,
    lines: Vec<Line>,
    terms: Dictionary,
    /// The term at hand.
    term: String,
}

/// Two words that share a place, the newer one first.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Line([Known; 2]);

/// A word, and the number of its term.
#[derive(Clone, Copy, Default)]
struct Known {
    key: Key,
    lang: [u8; 2],
    number: u32,
}

impl Known {
    #[inline]
    fn is(&self, key: &Key, lang: [u8; 2]) -> bool {
        let (Key([a, b, c]), Key([d, e, f])) = (&self.key, key);
        let languages = u16::from_le_bytes(self.lang) ^ u16::from_le_bytes(lang);
        (a ^ d) | (b ^ e) | (c ^ f) | u64::from(languages) == 0
    }
}

/// The letters of a word, filled up with zeros, which are no letters; of a long one their hash, and
/// bytes that no text has.
#[derive(Clone, Copy, Default)]
struct Key([u64; 3]);

impl Key {
    /// The key of a word of `text`.
    #[inline(always)]
    fn of(text: &str, word: Word) -> Self {
        let (bytes, length) = (&text.as_bytes()[word.start..], word.end - word.start);
        match bytes.first_chunk::<WORD_BYTES>() {
            _ if length > WORD_BYTES => {
                let hash = xxh3_128(&bytes[..length]);
                Self([hash as u64, (hash >> 64) as u64, u64::MAX])
            }
            Some(chunk) => Self::masked(chunk, length),
            None => {
                let mut chunk = [0; WORD_BYTES];
                chunk[..length].copy_from_slice(&bytes[..length]);
                Self::masked(&chunk, length)
            }
        }
    }

    #[inline]
    fn masked(chunk: &[u8; WORD_BYTES], length: usize) -> Self {
        let mut key = [0; 3];
        for (at, part) in chunk.as_chunks::<8>().0.iter().enumerate() {
            key[at] = u64::from_le_bytes(*part) & MASKS[length][at];
        }
        Self(key)
    }

    #[inline]
    fn place(&self, lines: usize) -> usize {
        let Self([first, second, third]) = self;
        let sum = first ^ second.rotate_left(23) ^ third.rotate_left(47);
        // An odd number without a pattern: the upper bits of a product depend on all others.
        let mixed = (sum ^ (sum >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (lines - 1)
    }
}

/// Words that were read, and are about to be looked up where their lines are.
#[derive(Default)]
struct Batch {
    words: [(Word, Key, usize); BATCH_WORDS],
    count: usize,
}

/// What of three numbers belongs to a word of so many bytes.
const MASKS: [[u64; 3]; WORD_BYTES + 1] = {
    let mut masks = [[0; 3]; WORD_BYTES + 1];
    let mut length = 0;
    while length <= WORD_BYTES {
        let mut byte = 0;
        while byte < length {
            masks[length][byte / 8] |= 0xff << (byte % 8 * 8);
            byte += 1;
        }
        length += 1;
    }
    masks
};

impl Vocabulary {
    /// To write an index.
    pub fn of_an_index() -> Self {
        Self::new(INDEX_LINES)
    }

    /// To read a text or two.
    pub fn of_a_text() -> Self {
        Self::new(TEXT_LINES)
    }

    fn new(lines: usize) -> Self {
        assert!(lines.is_power_of_two());
        Self {
            maker: Terms::new(Lang::NONE),
            lines: vec![Line::default(); lines],
            terms: Dictionary::default(),
            term: String::new(),
        }
    }

    /// The language of the words to come.
    pub fn set_lang(&mut self, lang: Lang) {
        self.maker.set_lang(lang);
    }

    /// Calls `each` with every word of a text and the number of its term, in order.
    ///
    /// First some words are read, then their lines: so the processor waits for several lines at a time.
    pub fn read(&mut self, text: &str, mut each: impl FnMut(Word, u32)) {
        let mut batch = Batch::default();
        words::each(text, |word| {
            let key = Key::of(text, word);
            batch.words[batch.count % BATCH_WORDS] = (word, key, key.place(self.lines.len()));
            batch.count += 1;
            if batch.count == BATCH_WORDS {
                self.end_batch(text, &mut batch, &mut each);
            }
        });
        self.end_batch(text, &mut batch, &mut each);
    }

    #[inline]
    fn end_batch(&mut self, text: &str, batch: &mut Batch, each: &mut impl FnMut(Word, u32)) {
        for (word, key, place) in &batch.words[..batch.count] {
            each(*word, self.number_by(text, *word, key, *place));
        }
        batch.count = 0;
    }

    /// The number of the term of a word that stands in `text`.
    pub fn number_of(&mut self, text: &str, word: Word) -> u32 {
        let key = Key::of(text, word);
        self.number_by(text, word, &key, key.place(self.lines.len()))
    }

    #[inline]
    fn number_by(&mut self, text: &str, word: Word, key: &Key, place: usize) -> u32 {
        let lang = self.maker.lang().letters();
        let Line([first, second]) = &self.lines[place];
        // Which of the two it is cannot be foreseen; that it is one of them can.
        let (is_first, is_second) = (first.is(key, lang), second.is(key, lang));
        if is_first | is_second {
            return if is_first { first.number } else { second.number };
        }
        self.learn(text, word, key, place)
    }

    #[cold]
    fn learn(&mut self, text: &str, word: Word, key: &Key, place: usize) -> u32 {
        self.maker.put(text, word, &mut self.term);
        let number = self.terms.number_of(&self.term);
        let Line([first, second]) = &mut self.lines[place];
        let known = Known { key: *key, lang: self.maker.lang().letters(), number };
        *second = std::mem::replace(first, known);
        number
    }

    /// The number of a text that is a term as it stands.
    pub fn number_of_term(&mut self, term: &str) -> u32 {
        self.terms.number_of(term)
    }

    /// The term with a number.
    pub fn term(&self, number: u32) -> &str {
        self.terms.term(number)
    }

    /// All numbers are below this one.
    pub fn end(&self) -> usize {
        self.terms.ends.len()
    }

    /// What it takes in memory, about.
    pub fn bytes(&self) -> usize {
        let Dictionary { text, ends, slots } = &self.terms;
        text.len() + size_of_val(ends.as_slice()) + size_of_val(slots.as_slice())
    }

    /// Forgets all terms: their numbers begin anew.
    pub fn forget(&mut self) {
        self.lines.fill(Line::default());
        self.terms = Dictionary::default();
    }
}

/// Terms in the order of their numbers, and a table to find them.
struct Dictionary {
    text: String,
    /// Where each of them ends.
    ends: Vec<u32>,
    /// Numbers by hash, each in the first free place from its own on; none: [`NO_TERM`].
    slots: Vec<u32>,
}

impl Default for Dictionary {
    fn default() -> Self {
        Self { text: String::new(), ends: vec![0], slots: vec![NO_TERM; SLOTS_MIN] }
    }
}

impl Dictionary {
    fn term(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[number] as usize]
    }

    fn number_of(&mut self, term: &str) -> u32 {
        if term.is_empty() {
            return NO_TERM;
        }
        let slot = self.slot_of(term);
        match self.slots[slot] {
            NO_TERM => self.add(slot, term),
            number => number,
        }
    }

    /// Where a term is, or belongs.
    fn slot_of(&self, term: &str) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = xxh3_64(term.as_bytes()) as usize & last;
        while self.slots[slot] != NO_TERM && self.term(self.slots[slot]) != term {
            slot = (slot + 1) & last;
        }
        slot
    }

    fn add(&mut self, slot: usize, term: &str) -> u32 {
        let number = u32::try_from(self.ends.len()).expect("terms are bounded by memory");
        self.text.push_str(term);
        self.ends.push(u32::try_from(self.text.len()).expect("terms are bounded by memory"));
        self.slots[slot] = number;
        if self.ends.len() * 2 > self.slots.len() {
            self.slots = vec![NO_TERM; self.slots.len() * 2];
            for number in 1..=number {
                let slot = self.slot_of(self.term(number));
                self.slots[slot] = number;
            }
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::terms_of;

    fn terms(vocabulary: &mut Vocabulary, text: &str) -> Vec<String> {
        let mut numbers = Vec::new();
        vocabulary.read(text, |_, number| numbers.push(number));
        numbers.iter().map(|number| vocabulary.term(*number).to_owned()).collect()
    }

    #[test]
    fn what_is_remembered_is_what_was_made() {
        let long = "Donaudampfschifffahrtsgesellschaften";
        let text =
            format!("run Running {long} läuft 走る Run {long}er {long} a ab abc RUNNING run");
        // With one line nearly everything is forgotten at once, with many nothing is.
        for lines in [1, 2, 1_024] {
            let mut vocabulary = Vocabulary::new(lines);
            for lang in ["en", "--", "de", "en"].map(Lang::of) {
                vocabulary.set_lang(lang);
                let made: Vec<_> =
                    terms_of(&text, lang).into_iter().map(|(_, term)| term).collect();
                assert_eq!(terms(&mut vocabulary, &text), made, "{lines} {}", lang.code());
            }
        }
    }

    #[test]
    fn a_word_that_begins_like_another_is_another() {
        let all = "abcdefghijklmnopqrstuvwxyz";
        let text: String = (1..=all.len()).map(|length| format!("{} ", &all[..length])).collect();
        let mut vocabulary = Vocabulary::new(1);
        let mut numbers = Vec::new();
        (0..3).for_each(|_| vocabulary.read(&text, |_, number| numbers.push(number)));
        let expected: Vec<u32> = (1..=all.len() as u32).collect();
        assert!(numbers.chunks(all.len()).all(|part| part == expected), "{numbers:?}");
    }

    #[test]
    fn numbers_stay_while_the_table_grows_and_begin_anew_when_all_is_forgotten() {
        let mut vocabulary = Vocabulary::of_a_text();
        let words: Vec<String> = (0..5_000).map(|n| format!("w{n}")).collect();
        for _ in 0..2 {
            for (n, word) in words.iter().enumerate() {
                assert_eq!(vocabulary.number_of_term(word), n as u32 + 1);
                assert_eq!(vocabulary.term(n as u32 + 1), word);
            }
        }
        assert_eq!((vocabulary.end(), vocabulary.number_of_term("")), (5_001, NO_TERM));
        let bytes = vocabulary.bytes();
        vocabulary.forget();
        assert!(vocabulary.bytes() < bytes / 4);
        assert_eq!(terms(&mut vocabulary, "w7 w7 w8"), ["w7", "w7", "w8"]);
        assert_eq!(vocabulary.end(), 3);
    }

    #[test]
    fn encoded_data_has_no_number() {
        let mut numbers = Vec::new();
        let text = format!("one {} two", "x".repeat(97));
        Vocabulary::of_a_text().read(&text, |_, number| numbers.push(number));
        assert_eq!(numbers, [1, NO_TERM, 2]);
    }
}
