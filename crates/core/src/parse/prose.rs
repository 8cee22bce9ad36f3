//! Text as a person reads it: white space collapsed, blocks on lines of their own, never longer than
//! allowed.
//!
//! Pieces come in document order. Between words there is one space, between blocks one line break,
//! and neither at the ends. Most text of a page is one space apart already, so a piece is taken in
//! runs as long as that holds and not word by word.

use super::bytes;
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

    /// With room for so much text, if it may become as long.
    pub fn with_room(mut self, bytes: usize) -> Self {
        self.text.reserve(bytes.min(self.bytes_max));
        self
    }

    /// Appends the words of a piece. White space at its ends separates it from its neighbours.
    pub fn words(&mut self, piece: &str) {
        let bytes = piece.as_bytes();
        let mut at = 0;
        while at < bytes.len() && !self.cut {
            let start = bytes::space_end(bytes, at);
            if start > at {
                self.widen(Gap::Space);
            }
            if start == bytes.len() {
                return;
            }
            at = start + run_end(&bytes[start..]);
            self.run(&piece[start..at]);
        }
    }

    /// The same for a plain one.
    #[inline(always)]
    pub fn plain(&mut self, piece: Plain<'_>) {
        if self.cut {
            return;
        }
        if piece.is_behind {
            self.widen(Gap::Space);
        }
        self.run(piece.words);
        if piece.is_before {
            self.widen(Gap::Space);
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

    /// Words that are one space apart.
    #[inline(never)]
    fn run(&mut self, run: &str) {
        let gap = if self.text.is_empty() { Gap::None } else { self.gap };
        self.gap = Gap::None;
        if run.len() >= self.bytes_max - self.text.len() {
            return self.last_run(gap, run);
        }
        match gap {
            Gap::None => {}
            Gap::Space => self.text.push(' '),
            Gap::Line => self.text.push('\n'),
        }
        self.text.push_str(run);
    }

    /// The same where not all may fit.
    #[cold]
    fn last_run(&mut self, gap: Gap, run: &str) {
        self.push(match gap {
            Gap::None => "",
            Gap::Space => " ",
            Gap::Line => "\n",
        });
        self.push(run);
    }

    /// Nothing more is taken once something did not fit.
    fn push(&mut self, piece: &str) {
        let room = self.bytes_max - self.text.len();
        if piece.len() <= room && !self.cut {
            self.text.push_str(piece);
        } else if !self.cut {
            self.cut = true;
            self.text.push_str(cut(piece, room as u64));
            self.text.truncate(self.text.trim_ascii_end().len());
        }
    }
}

/// A piece whose words are one space apart already, with nothing in it that means more than itself: no character
/// reference and no control character. Most are such, and one look tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain<'a> {
    words: &'a str,
    /// Whether white space comes before them.
    is_behind: bool,
    /// Whether white space comes behind them.
    is_before: bool,
}

impl<'a> Plain<'a> {
    pub fn of(piece: &'a str) -> Option<Self> {
        let bytes = piece.as_bytes();
        let start = bytes::space_end(bytes, 0);
        let end = bytes.len() - usize::from(bytes.last() == Some(&b' '));
        if !is_plain(bytes.get(start..end)?) {
            return None;
        }
        let words = &piece[start..end];
        Some(Self { words, is_behind: start > 0, is_before: end < bytes.len() })
    }
}

/// Whether this is one word or more, one space apart, and plain.
fn is_plain(words: &[u8]) -> bool {
    let Some(&last) = words.last() else { return false };
    if (last <= b' ') | (last == b'&') {
        return false;
    }
    match words.len() {
        ..9 => is_word(words) || words.windows(2).all(|two| !is_break(two[0], two[1])),
        9..=STRIDE => are_plain::<8>(words),
        _ => are_plain::<STRIDE>(words),
    }
}

fn is_word(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte > b' ' && byte != b'&')
}

/// Whether these are plain, the last one aside, which is seen as a neighbour. There are more than `N`.
#[inline(always)]
fn are_plain<const N: usize>(words: &[u8]) -> bool {
    let some = |at: usize| -> Option<&[u8; N]> { words.get(at..)?.first_chunk() };
    let last = words.len() - 1 - N;
    let mut at = 0;
    while let (Some(bytes), Some(next)) = (some(at), some(at + 1)) {
        let mut is_broken = false;
        for i in 0..N {
            is_broken |= is_break(bytes[i], next[i]);
        }
        if is_broken | (at == last) {
            return !is_broken;
        }
        // The last bytes are looked at twice where they fill no stride.
        at = last.min(at + N);
    }
    false
}

#[inline(always)]
fn is_break(byte: u8, next: u8) -> bool {
    (byte < b' ') | (byte == b'&') | ((byte == b' ') & (next == b' '))
}

/// Whether a piece has no words. An empty one has some: it separates nothing.
pub(super) fn is_blank(piece: &str) -> bool {
    !piece.is_empty() && bytes::space_end(piece.as_bytes(), 0) == piece.len()
}

/// How many bytes are looked at together. A loop over so many without a way out in between is one
/// that the compiler turns into a few vector instructions.
const STRIDE: usize = 16;

/// Where the words at the start of a text are no longer one space apart: at white space that is no
/// space, has more of it behind it, or ends the text.
fn run_end(text: &[u8]) -> usize {
    let Some(last) = text.len().checked_sub(STRIDE + 1) else { return closer_run_end(text, 0) };
    let mut at = 0;
    while let Some(bytes) = text[at..].first_chunk() {
        if may_end_run(bytes) {
            return closer_run_end(text, at);
        }
        if at == last {
            break;
        }
        // The last bytes are looked at twice where they fill no stride.
        at = last.min(at + STRIDE);
    }
    closer_run_end(text, text.len() - 1)
}

/// Whether a run may end at one of these bytes, the last one aside, which is seen as a neighbour.
fn may_end_run(bytes: &[u8; STRIDE + 1]) -> bool {
    let mut may = false;
    for i in 0..STRIDE {
        may |= (bytes[i] < b' ') | ((bytes[i] == b' ') & (bytes[i + 1] <= b' '));
    }
    may
}

fn closer_run_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(step) = text[at..].iter().position(|&byte| byte <= b' ') {
        at += step;
        if ends_run(text, at) {
            return at;
        }
        at += 1;
    }
    text.len()
}

fn ends_run(text: &[u8], at: usize) -> bool {
    match text[at] {
        b' ' => text.get(at + 1).is_none_or(u8::is_ascii_whitespace),
        byte => byte.is_ascii_whitespace(),
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

    /// Word by word, and then cut: what the runs stand for.
    fn plain(bytes_max: u64, pieces: &[String]) -> String {
        let all = pieces.concat();
        let words = all.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        cut(&words, bytes_max).trim_ascii_end().to_owned()
    }

    proptest::proptest! {
        #[test]
        fn runs_give_what_single_words_would(
            pieces in proptest::collection::vec("([a-z]{1,9}| {1,3}|\\PC|[\t\n\r\x0b\x0c\x01]){0,30}", 0..4),
            bytes_max in 0_u64..400,
        ) {
            let mut prose = Prose::new(bytes_max);
            pieces.iter().for_each(|piece| prose.words(piece));
            proptest::prop_assert_eq!(prose.as_str(), plain(bytes_max, &pieces));
        }
    }

    /// What a plain piece is, byte by byte.
    fn means_itself(piece: &str) -> bool {
        let words = piece.trim_ascii_start();
        let words = words.strip_suffix(' ').unwrap_or(words);
        let is_odd = |byte: u8| byte < b' ' || byte == b'&';
        !words.is_empty() && !format!("{words} ").contains("  ") && !words.bytes().any(is_odd)
    }

    proptest::proptest! {
        #[test]
        fn plain_pieces_give_what_their_words_would(
            pieces in proptest::collection::vec(" ?([a-z]{1,9} |é|[&\n!] ?){0,9}[a-z]{0,9} ?", 0..4),
            bytes_max in 0_u64..100,
        ) {
            let (mut plain, mut words) = (Prose::new(bytes_max), Prose::new(bytes_max));
            for piece in &pieces {
                words.words(piece);
                match Plain::of(piece) {
                    Some(piece) => plain.plain(piece),
                    None => plain.words(piece),
                }
                proptest::prop_assert_eq!(Plain::of(piece).is_some(), means_itself(piece), "{:?}", piece);
            }
            proptest::prop_assert_eq!(plain.as_str(), words.as_str());
            proptest::prop_assert_eq!(plain.is_cut(), words.is_cut());
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
