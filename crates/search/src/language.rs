//! Languages by their two letters, and the stemmer that each of them has.
//!
//! A page is stemmed by the language that it is written in, so `houses` finds `house` on an English
//! page and `Häuser` finds `Haus` on a German one. A language without a stemmer is indexed as written.

use frostem::Algorithm;

/// A language by its code of ISO 639-1, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lang([u8; 2]);

impl Lang {
    /// Not known.
    pub const NONE: Self = Self(*b"--");

    /// The language of a tag such as `en`, `en-GB` or `DE_at`.
    pub fn of(tag: &str) -> Self {
        let primary = tag.trim().split(['-', '_']).next().unwrap_or_default();
        match primary.as_bytes() {
            [a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                Self([a.to_ascii_lowercase(), b.to_ascii_lowercase()])
            }
            _ => Self::NONE,
        }
    }

    /// Its two letters; `--` for none.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).expect("made of ASCII letters")
    }

    /// The same, as bytes.
    pub(crate) fn letters(self) -> [u8; 2] {
        self.0
    }

    /// Whether it is not known.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// What makes stems of its words, if anything does.
    pub(crate) fn algorithm(self) -> Option<Algorithm> {
        Some(match &self.0 {
            b"ar" => Algorithm::Arabic,
            b"da" => Algorithm::Danish,
            b"de" => Algorithm::German,
            b"el" => Algorithm::Greek,
            b"en" => Algorithm::English,
            b"es" => Algorithm::Spanish,
            b"fi" => Algorithm::Finnish,
            b"fr" => Algorithm::French,
            b"hu" => Algorithm::Hungarian,
            b"it" => Algorithm::Italian,
            b"nb" | b"nn" | b"no" => Algorithm::Norwegian,
            b"nl" => Algorithm::Dutch,
            b"pt" => Algorithm::Portuguese,
            b"ro" => Algorithm::Romanian,
            b"ru" => Algorithm::Russian,
            b"sv" => Algorithm::Swedish,
            b"ta" => Algorithm::Tamil,
            b"tr" => Algorithm::Turkish,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_the_first_part_of_its_tag() {
        for (tag, code) in [
            ("en", "en"),
            ("EN-gb", "en"),
            (" de_AT", "de"),
            ("", "--"),
            ("zho", "--"),
            ("ü", "--"),
        ] {
            assert_eq!(Lang::of(tag).code(), code, "{tag:?}");
        }
    }
}
