//! Text → terms: the same for pages and for queries, or nothing would be found.
//!
//! A word is a run of letters and digits. It is put in lower case, stemmed by the language of its page,
//! and freed of its diacritics, in this order: stemmers know `ü`, people who search often leave it out.
//! Scripts without spaces between words (Chinese, Japanese, Thai, also Korean) become pairs of
//! neighbouring characters, so that any piece of a sentence can be found.
//!
//! Stemming costs more than all the rest, and most words of a page were seen before: a
//! [`Vocabulary`](crate::vocabulary::Vocabulary) has what became of them.

use std::ops::Range;

use frostem::Stemmer;
use larm_core::runs::Runs;
use unicode_normalization::UnicodeNormalization;

use crate::language::Lang;

/// Longer "words" are no words, but encoded data. Part of the format of the index, so no setting.
const WORD_BYTES_MAX: usize = 96;
/// Between the language of a text and the text.
const TAG_END: char = '\u{1f}';
/// Bytes of a tag: two letters and the end.
const TAG_BYTES: usize = 3;

/// Appends what stands before a text that is stored: the language that it is read in.
pub(crate) fn push_tag(lang: Lang, out: &mut String) {
    out.push_str(lang.code());
    out.push(TAG_END);
}

/// Language and text of what begins with what [`push_tag`] appends.
pub(crate) fn untagged(text: &str) -> (Lang, &str) {
    match text.split_at_checked(TAG_BYTES) {
        Some((tag, rest)) if tag.ends_with(TAG_END) => (Lang::of(&tag[..2]), rest),
        _ => (Lang::NONE, text),
    }
}

/// Where a word stands in a text. Two numbers, so that it is passed on in registers: it is made and read many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Word {
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
}

impl Word {
    /// The word as it stands in its text.
    pub fn of<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Of a script with spaces between its words.
    Spaced,
    /// Of a script without.
    Unspaced,
    /// Between words.
    Other,
    /// Part of a character of several bytes, which has to be looked at as a whole.
    Unread,
}

/// Calls `each` with every word of a text, in order. For a whole page this is quicker than to take one word after the
/// other out of [`Words`]: nothing has to be kept from word to word.
#[inline]
pub(crate) fn each(text: &str, mut each: impl FnMut(Word)) {
    let is_plain = text.is_ascii();
    for Range { start, end } in Runs::of(text) {
        if is_plain || text.as_bytes()[start..end].is_ascii() {
            each(Word { start, end });
        } else {
            let mut words = Words { at: start, run_end: end, ..Words::of(text) };
            while let Some(word) = words.word_of_run() {
                each(word);
            }
        }
    }
}

/// The words of a text, in order.
pub(crate) struct Words<'t> {
    text: &'t str,
    runs: Runs<'t>,
    /// How far the run at hand was read, and where it ends, if it has other letters.
    at: usize,
    run_end: usize,
    /// Where characters of a script without spaces end, while among them.
    pairs_end: usize,
}

impl<'t> Words<'t> {
    pub fn of(text: &'t str) -> Self {
        Self { text, runs: Runs::of(text), at: 0, run_end: 0, pairs_end: 0 }
    }

    fn class_at(&self, at: usize) -> Option<(Class, usize)> {
        let byte = *self.text.as_bytes().get(at)?;
        match CLASSES[usize::from(byte)] {
            Class::Unread => self.text[at..].chars().next().map(|c| (class_of(c), c.len_utf8())),
            class => Some((class, 1)),
        }
    }

    /// Behind the characters of one class that `at` is in. Most of most texts is ASCII.
    fn end_of_class(&self, mut at: usize, class: Class) -> usize {
        let bytes = self.text.as_bytes();
        loop {
            let is_other = |byte: &u8| CLASSES[usize::from(*byte)] != class;
            at += bytes[at..].iter().position(is_other).unwrap_or(bytes.len() - at);
            if bytes.get(at).is_none_or(u8::is_ascii) {
                return at;
            }
            match self.class_at(at) {
                Some((found, bytes)) if found == class => at += bytes,
                _ => return at,
            }
        }
    }

    /// The next pair of the characters that `at` is among, if there is one more.
    fn pair(&mut self) -> Option<Word> {
        let start = self.at;
        let first = self.class_at(start)?.1;
        self.at = start + first;
        if self.at >= self.pairs_end {
            return None;
        }
        let end = self.at + self.class_at(self.at)?.1;
        Some(Word { start, end })
    }

    /// The next word of a run with other letters than those of ASCII, if there is one more.
    fn word_of_run(&mut self) -> Option<Word> {
        while self.at < self.pairs_end {
            if let Some(pair) = self.pair() {
                return Some(pair);
            }
        }
        self.at = self.end_of_class(self.at, Class::Other);
        let start = self.at;
        if start >= self.run_end {
            return None;
        }
        let (class, first) = self.class_at(start)?;
        let end = self.end_of_class(start + first, class);
        if class == Class::Unspaced && start + first < end {
            self.pairs_end = end;
            return self.pair();
        }
        self.at = end;
        Some(Word { start, end })
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    #[inline]
    fn next(&mut self) -> Option<Word> {
        loop {
            if self.at < self.run_end
                && let Some(word) = self.word_of_run()
            {
                return Some(word);
            }
            let Range { start, end } = self.runs.next()?;
            if self.text.as_bytes()[start..end].is_ascii() {
                return Some(Word { start, end });
            }
            (self.at, self.run_end) = (start, end);
        }
    }
}

/// The class of each byte.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Unread; 256];
    let mut byte = 0;
    while byte < 128 {
        let is_letter = (byte as u8).is_ascii_alphanumeric();
        classes[byte] = if is_letter { Class::Spaced } else { Class::Other };
        byte += 1;
    }
    classes
};

fn class_of(character: char) -> Class {
    if is_unspaced(character) {
        Class::Unspaced
    } else if character.is_alphanumeric() || is_mark(character) {
        Class::Spaced
    } else {
        Class::Other
    }
}

/// Marks that stand within words, but are no letters.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}'
        | '\u{900}'..='\u{963}' | '\u{966}'..='\u{df3}' | '\u{200c}' | '\u{200d}')
}

fn is_unspaced(character: char) -> bool {
    let of_such_a_script = matches!(character, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{318f}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}');
    // Of these scripts, marks count as letters: they belong to what stands before them.
    of_such_a_script
        && !matches!(character, '\u{e2f}' | '\u{e3f}' | '\u{e4f}' | '\u{e5a}' | '\u{e5b}'
        | '\u{104a}'..='\u{104f}' | '\u{17d4}'..='\u{17da}' | '\u{30fb}')
}

/// Makes terms of words, by the rules of one language.
pub(crate) struct Terms {
    lang: Lang,
    stemmer: Option<Stemmer>,
    lower: String,
}

impl Terms {
    pub fn new(lang: Lang) -> Self {
        Self { lang, stemmer: lang.algorithm().map(Stemmer::new), lower: String::new() }
    }

    pub fn lang(&self) -> Lang {
        self.lang
    }

    pub fn set_lang(&mut self, lang: Lang) {
        if self.lang != lang {
            self.stemmer = lang.algorithm().map(Stemmer::new);
            self.lang = lang;
        }
    }

    /// Puts the term of a word of `text` in the place of what `term` holds; an empty one is no term.
    pub fn put(&mut self, text: &str, word: Word, term: &mut String) {
        term.clear();
        if word.end - word.start <= WORD_BYTES_MAX {
            self.make(word.of(text), term);
        }
    }

    fn make(&mut self, word: &str, term: &mut String) {
        // All characters of a word are of one class.
        let class = word.chars().next().map_or(Class::Spaced, class_of);
        let mut lower = std::mem::take(&mut self.lower);
        lower.clear();
        match (word.is_ascii(), class) {
            (true, _) => lower.extend(word.chars().map(|c| c.to_ascii_lowercase())),
            (_, Class::Unspaced) => lower.extend(word.nfkc()),
            _ => lower.extend(word.nfc().flat_map(char::to_lowercase)),
        }
        match &self.stemmer {
            Some(stemmer) if class == Class::Spaced => fold(&stemmer.stem(&lower), term),
            _ => fold(&lower, term),
        }
        self.lower = lower;
    }
}

/// Takes diacritics off, and brings letters that only look different together.
fn fold(word: &str, term: &mut String) {
    if word.is_ascii() || word.chars().any(is_unspaced) {
        return term.push_str(word);
    }
    for character in word.nfkd().filter(|character| !is_stripped(*character)) {
        match character {
            'ß' => term.push_str("ss"),
            'æ' => term.push_str("ae"),
            'œ' => term.push_str("oe"),
            'ø' => term.push('o'),
            'đ' => term.push('d'),
            'ł' => term.push('l'),
            'ı' => term.push('i'),
            'ς' => term.push('σ'),
            other => term.push(other),
        }
    }
}

fn is_stripped(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{65f}' | '\u{200c}' | '\u{200d}')
}

/// The terms of a whole text, each with its position: for queries, which are short.
pub(crate) fn terms_of(text: &str, lang: Lang) -> Vec<(usize, String)> {
    let mut terms = Terms::new(lang);
    let mut found = Vec::new();
    for (position, word) in Words::of(text).enumerate() {
        let mut term = String::new();
        terms.put(text, word, &mut term);
        if !term.is_empty() {
            found.push((position, term));
        }
    }
    found
}

/// A word in lower case and without diacritics, but not stemmed: the beginning of terms.
pub(crate) fn plain(word: &str) -> String {
    terms_of(word, Lang::NONE).into_iter().map(|(_, term)| term).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str, tag: &str) -> Vec<String> {
        terms_of(text, Lang::of(tag)).into_iter().map(|(_, term)| term).collect()
    }

    #[test]
    fn words_are_lowered_stemmed_and_freed_of_diacritics() {
        for (text, tag, expected) in [
            ("The Houses, built in 1958.", "en", vec!["the", "hous", "built", "in", "1958"]),
            ("Die schönen Häuser", "de", vec!["die", "schon", "haus"]),
            ("Les élèves étudiaient", "fr", vec!["le", "elev", "etudi"]),
            ("Straße Ærø Łódź", "", vec!["strasse", "aero", "lodz"]),
            ("don't wi-fi foo_bar a.b", "", vec!["don", "t", "wi", "fi", "foo", "bar", "a", "b"]),
            ("u\u{308}ber über", "", vec!["uber", "uber"]),
        ] {
            assert_eq!(terms(text, tag), expected, "{text}");
        }
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        assert_eq!(terms("東京都 (Tokyo) は", "ja"), ["東京", "京都", "tokyo", "は"]);
        assert_eq!(terms("한국어 abc中文", "ko"), ["한국", "국어", "abc", "中文"]);
        assert_eq!(terms("ไทย", "th").len(), 2);
    }

    #[test]
    fn words_of_scripts_with_marks_stay_whole() {
        assert_eq!(terms("हिन्दी में", "hi").len(), 2);
    }

    /// The words of a text, character by character.
    fn one_by_one(text: &str) -> Vec<&str> {
        let classes: Vec<_> = text.char_indices().map(|(at, c)| (at, class_of(c))).collect();
        let end_of = |next: usize| classes.get(next).map_or(text.len(), |(at, _)| *at);
        let mut words = Vec::new();
        let mut from = 0;
        for run in classes.chunk_by(|one, next| one.1 == next.1) {
            let to = from + run.len();
            match run[0].1 {
                Class::Unspaced if run.len() > 1 => {
                    words.extend((from + 2..=to).map(|n| &text[classes[n - 2].0..end_of(n)]));
                }
                Class::Spaced | Class::Unspaced => words.push(&text[run[0].0..end_of(to)]),
                _ => {}
            }
            from = to;
        }
        words
    }

    #[test]
    fn words_are_found_in_runs_as_they_are_character_by_character() {
        let text = "Straße—“quoted”, x…  naïve東京都は… は, a\u{a0}b 東 abc中文def é\u{301} हिन्दी \
            – – end.ไทย\n3½ m² 東京"
            .repeat(3);
        for start in (0..text.len()).filter(|start| text.is_char_boundary(*start)) {
            for end in (start..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                let part = &text[start..end];
                let words: Vec<_> = Words::of(part).map(|word| word.of(part)).collect();
                assert_eq!(words, one_by_one(part), "{part}");
                let mut words = Vec::new();
                each(part, |word| words.push(word.of(part)));
                assert_eq!(words, one_by_one(part), "{part}");
            }
        }
    }

    #[test]
    fn encoded_data_is_no_word_but_takes_a_position() {
        let text = format!("one {} three", "x".repeat(WORD_BYTES_MAX + 1));
        assert_eq!(terms_of(&text, Lang::NONE), [(0, "one".to_owned()), (2, "three".to_owned())]);
    }

    #[test]
    fn a_stored_text_begins_with_its_language() {
        for (tag, expected) in [("en", "en"), ("", "--")] {
            let mut text = String::new();
            push_tag(Lang::of(tag), &mut text);
            text.push_str("houses");
            assert_eq!(untagged(&text), (Lang::of(expected), "houses"));
        }
        assert_eq!(untagged("no tag"), (Lang::NONE, "no tag"));
    }
}
