//! Text as a person reads it: white space collapsed, blocks on lines of their own, never longer than
//! allowed.
//!
//! Pieces come in document order. Between words there is one space, between blocks one line break,
//! and neither at the ends.

use super::page::cut;

/// A text under construction.
#[derive(Debug)]
pub(super) struct Prose {
    text: String,
    bytes_max: usize,
    gap: Gap,
    cut: bool,
}

/// What stands between the text so far and the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

impl Prose {
    pub fn new(bytes_max: u64) -> Self {
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        Self { text: String::new(), bytes_max, gap: Gap::None, cut: false }
    }

    /// Appends the words of a piece. White space at its ends separates it from its neighbours.
    pub fn words(&mut self, piece: &str) {
        if self.cut {
            return;
        }
        if piece.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.widen(Gap::Space);
        }
        for word in piece.split_ascii_whitespace() {
            self.word(word);
            self.gap = Gap::Space;
        }
        if !piece.ends_with(|c: char| c.is_ascii_whitespace()) && !piece.is_empty() {
            self.gap = Gap::None;
        }
    }

    /// Whatever comes next begins a new line.
    pub fn line(&mut self) {
        self.widen(Gap::Line);
    }

    /// Whatever comes next is a word of its own.
    pub fn space(&mut self) {
        self.widen(Gap::Space);
    }

    /// Whether something did not fit.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn into_string(self) -> String {
        self.text
    }

    /// Begins anew and keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.gap = Gap::None;
        self.cut = false;
    }

    fn widen(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    fn word(&mut self, word: &str) {
        match self.gap {
            _ if self.text.is_empty() => {}
            Gap::None => {}
            Gap::Space => self.push(" "),
            Gap::Line => self.push("\n"),
        }
        self.push(word);
    }

    /// Nothing more is taken once something did not fit.
    fn push(&mut self, piece: &str) {
        if self.cut {
            return;
        }
        let kept = cut(piece, (self.bytes_max - self.text.len()) as u64);
        self.text.push_str(kept);
        if kept.len() < piece.len() {
            self.cut = true;
            self.text.truncate(self.text.trim_ascii_end().len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(bytes_max: u64, pieces: &[&str]) -> Prose {
        let mut prose = Prose::new(bytes_max);
        for &piece in pieces {
            if piece == "\n" { prose.line() } else { prose.words(piece) }
        }
        prose
    }

    #[test]
    fn words_are_one_space_apart_and_blocks_one_line() {
        let rows: &[(&[&str], &str)] = &[
            (&["a", "b"], "ab"),
            (&["a ", " b"], "a b"),
            (&["  a  b\t\r\nc "], "a b c"),
            (&["a", "\n", "\n", " b"], "a\nb"),
            (&["\n", "a", "\n"], "a"),
            (&["a", " ", "b"], "a b"),
            (&["", "a", "", "b"], "ab"),
            (&["\u{a0}a"], "\u{a0}a"),
        ];
        for (pieces, expected) in rows {
            assert_eq!(prose(100, pieces).as_str(), *expected, "{pieces:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_cut_on_a_character_border() {
        let cut = prose(3, &["aé", "é"]);
        assert_eq!((cut.as_str(), cut.is_cut()), ("aé", true));
        let whole = prose(3, &["aé"]);
        assert_eq!((whole.as_str(), whole.is_cut()), ("aé", false));
        assert_eq!(prose(2, &["a", " b", "c"]).as_str(), "a");
    }
}
