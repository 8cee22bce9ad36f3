//! What became of words seen before: most words of a page are on many others.
//!
//! Each word has one place, and the last one there is known. So it is bounded, and nothing has to be
//! searched for.

use xxhash_rust::xxh3::xxh3_64;

use crate::language::Lang;

/// Words and their terms.
pub(crate) struct Memory {
    /// None until the first is learnt: many a text is a word or two.
    places: Vec<Option<Known>>,
    places_max: usize,
}

/// The one place of a word.
#[derive(Clone, Copy)]
pub(crate) struct At(usize);

/// A word and its term, as one text.
#[derive(Clone)]
struct Known {
    text: Box<str>,
    word_bytes: u8,
    lang: Lang,
}

impl Memory {
    /// One of so many places, a power of two.
    pub fn new(places_max: usize) -> Self {
        assert!(places_max.is_power_of_two());
        Self { places: Vec::new(), places_max }
    }

    pub fn place_of(&self, word: &str) -> At {
        At(xxh3_64(word.as_bytes()) as usize & (self.places_max - 1))
    }

    /// The term of a word of a language, if it is known.
    pub fn term_of(&self, at: At, word: &str, lang: Lang) -> Option<&str> {
        let known = self.places.get(at.0)?.as_ref().filter(|known| known.lang == lang)?;
        let (found, term) = known.text.split_at_checked(known.word_bytes.into())?;
        (found == word).then_some(term)
    }

    /// Remembers a word in the place of another, unless it is too long for one.
    pub fn learn(&mut self, at: At, word: &str, lang: Lang, term: &str) {
        let Ok(word_bytes) = u8::try_from(word.len()) else { return };
        self.places.resize(self.places_max, None);
        self.places[at.0] = Some(Known { text: [word, term].concat().into(), word_bytes, lang });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_until_another_takes_its_place() {
        let mut memory = Memory::new(16);
        let (at, en) = (memory.place_of("houses"), Lang::of("en"));
        assert_eq!(memory.term_of(at, "houses", en), None);
        memory.learn(at, "houses", en, "hous");
        assert_eq!(memory.term_of(at, "houses", en), Some("hous"));
        assert_eq!(memory.term_of(at, "house", en), None, "it only begins like it");
        assert_eq!(memory.term_of(at, "houses", Lang::NONE), None, "another language");
        memory.learn(at, "Häuser", Lang::of("de"), "haus");
        assert_eq!(memory.term_of(at, "Häuser", Lang::of("de")), Some("haus"));
        assert_eq!(memory.term_of(at, "houses", en), None);
    }

    #[test]
    fn what_is_too_long_is_not_remembered() {
        let mut memory = Memory::new(1);
        for (bytes, is_known) in [(255, true), (256, false)] {
            let word = "w".repeat(bytes);
            let at = memory.place_of(&word);
            memory.learn(at, &word, Lang::NONE, &word);
            assert_eq!(memory.term_of(at, &word, Lang::NONE).is_some(), is_known, "{bytes}");
        }
    }
}
