//! Strings at places → lines of words.
//!
//! A PDF has no spaces and no lines, only strings at coordinates. Whether two of them are one word, two
//! words or two lines is told by where the next one begins, measured in the size of its letters and along
//! the direction in which it is written.

/// A matrix `[a b c d e f]`, as PDF writes them: x' = a·x + c·y + e, y' = b·x + d·y + f.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matrix(pub [f64; 6]);

impl Matrix {
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// First this, then `other`.
    pub fn then(&self, other: &Self) -> Self {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, other.0);
        Self([
            a * g + b * i,
            a * h + b * j,
            c * g + d * i,
            c * h + d * j,
            e * g + f * i + k,
            e * h + f * j + l,
        ])
    }

    /// Moved by (x, y) in its own coordinates.
    pub fn moved(&self, x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y]).then(self)
    }
}

/// From how wide a gap on, in letter sizes, the next string is another word.
const WORD_GAP: f64 = 0.15;
/// How far beside its line, in letter sizes, a string may stand: as much as a small number above it.
const LINE_GAP: f64 = 0.55;
/// How far back, in letter sizes, a string may begin: an accent does, a new column much more so.
const BACK_GAP: f64 = 0.9;

/// The text of one page.
pub struct Layout {
    text: String,
    bytes_max: usize,
    /// Where the last string ended, and how large it was.
    last: Option<(f64, f64, f64)>,
}

impl Layout {
    pub fn new(bytes_max: usize) -> Self {
        Self { text: String::new(), bytes_max, last: None }
    }

    /// A string begins at the origin of `place`, in letters of `size` there.
    pub fn begin(&mut self, place: &Matrix, size: f64) {
        let [a, b, c, d, x, y] = place.0;
        let (along_len, across_len) = (a.hypot(b), c.hypot(d));
        let size = (size * across_len).abs();
        if let Some((last_x, last_y, last_size)) = self.last
            && along_len > 0.0
        {
            let (dx, dy) = (x - last_x, y - last_y);
            let along = (dx * a + dy * b) / along_len;
            let across = (dy * a - dx * b) / along_len;
            let unit = size.max(last_size).max(f64::MIN_POSITIVE);
            if across.abs() > LINE_GAP * unit || along < -BACK_GAP * unit {
                self.push_line();
            } else if along > WORD_GAP * size.min(last_size) {
                self.push(" ");
            }
        }
        self.last = Some((x, y, size));
    }

    /// The string ended at the origin of `place`.
    pub fn end(&mut self, place: &Matrix) {
        if let Some((x, y, _)) = &mut self.last {
            (*x, *y) = (place.0[4], place.0[5]);
        }
    }

    /// Adds what a code means: ligatures as letters, control characters not at all.
    pub fn push(&mut self, text: &str) {
        for letter in text.chars() {
            if self.is_full() {
                return;
            }
            if letter.is_lowercase() {
                self.join_word();
            }
            match letter {
                '\u{fb00}' => self.text.push_str("ff"),
                '\u{fb01}' => self.text.push_str("fi"),
                '\u{fb02}' => self.text.push_str("fl"),
                '\u{fb03}' => self.text.push_str("ffi"),
                '\u{fb04}' => self.text.push_str("ffl"),
                '\u{fb05}' | '\u{fb06}' => self.text.push_str("st"),
                '\u{a0}' | '\t' => self.text.push(' '),
                '\u{ad}' => {}
                letter if letter.is_control() => {}
                letter => self.text.push(letter),
            }
        }
    }

    /// A word that was divided at the end of its line becomes one again.
    fn join_word(&mut self) {
        let Some(start) = self.text.strip_suffix("-\n") else { return };
        if start.ends_with(char::is_alphabetic) {
            self.text.truncate(start.len());
        }
    }

    fn push_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') && !self.is_full() {
            self.text.push('\n');
        }
    }

    pub fn is_full(&self) -> bool {
        self.text.len() >= self.bytes_max
    }

    pub fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A string with its place and width.
    type Shown = (&'static str, f64, f64, f64);

    /// Strings in letters of size 10.
    fn text(strings: &[Shown]) -> String {
        turned(&Matrix::IDENTITY, strings)
    }

    fn turned(turn: &Matrix, strings: &[Shown]) -> String {
        let mut layout = Layout::new(1_000);
        for (text, x, y, width) in strings {
            let place = Matrix::IDENTITY.moved(*x, *y);
            layout.begin(&place.then(turn), 10.0);
            layout.push(text);
            layout.end(&place.moved(*width, 0.0).then(turn));
        }
        layout.into_text()
    }

    #[test]
    fn gaps_make_words_and_lines() {
        let rows: &[(&[Shown], &str)] = &[
            (&[("ab", 0.0, 0.0, 10.0), ("cd", 10.5, 0.0, 10.0)], "abcd"),
            (&[("ab", 0.0, 0.0, 10.0), ("cd", 12.5, 0.0, 10.0)], "ab cd"),
            (&[("ab", 0.0, 20.0, 10.0), ("cd", 0.0, 8.0, 10.0)], "ab\ncd"),
            (&[("di-", 0.0, 20.0, 10.0), ("vided", 0.0, 8.0, 10.0)], "divided"),
            (&[("1-", 0.0, 20.0, 10.0), ("two", 0.0, 8.0, 10.0)], "1-\ntwo"),
            (&[("A-", 0.0, 20.0, 10.0), ("Team", 0.0, 8.0, 10.0)], "A-\nTeam"),
            (&[("x", 0.0, 0.0, 5.0), ("2", 5.0, 4.0, 3.0)], "x2"),
            (&[("e", 0.0, 0.0, 5.0), ("\u{301}", 1.0, 0.0, 0.0)], "e\u{301}"),
            (&[("right", 300.0, 0.0, 30.0), ("left", 0.0, 0.0, 30.0)], "right\nleft"),
            (&[("o\u{fb03}ce\u{ad}\u{0}", 0.0, 0.0, 5.0)], "office"),
        ];
        let quarter = Matrix([0.0, 1.0, -1.0, 0.0, 50.0, 50.0]);
        for (strings, expected) in rows {
            assert_eq!(text(strings), *expected);
            assert_eq!(turned(&quarter, strings), *expected, "turned");
        }
    }

    #[test]
    fn a_page_is_no_longer_than_allowed() {
        let mut layout = Layout::new(3);
        layout.push("abcdef");
        assert_eq!(layout.into_text(), "abc");
    }
}
