//! The form in which paths and patterns are compared (RFC 9309 section 2.2.2).
//!
//! - An escape of an unreserved character is that character; any other escape has capital digits.
//! - A byte that no URL may hold raw (blank, control character, `"`, `<`, non-ASCII and the like)
//!   is its escape. So is `'`, which canonical URLs escape in queries.
//! - A reserved character and its escape stay two things, as RFC 3986 section 2.2 has it, but for
//!   the two that mean something in patterns: `%24` is `$`, and the `*` of a path is `%2A`, so that
//!   a pattern can name them verbatim (section 2.2.3).
//! - A `%` that begins no escape stays: `Disallow: /*%` is in use, and means what it says.
//!
//! Each character is treated by itself, so that escaping a character of a path needlessly never
//! changes the result.

use std::borrow::Cow;

/// The path and query of a URL in the form for comparison; borrowed if it has it already.
pub(crate) fn normal_path(path: &[u8]) -> Cow<'_, [u8]> {
    normal(path, Star::Literal)
}

/// The same for the path of a rule, in which `*` stays.
pub(crate) fn normal_pattern(pattern: &[u8]) -> Cow<'_, [u8]> {
    normal(pattern, Star::Wildcard)
}

/// What a raw `*` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Star {
    Literal,
    Wildcard,
}

fn normal(text: &[u8], star: Star) -> Cow<'_, [u8]> {
    // Nearly all paths end here, or with the second look: plain, or escaped as it should be.
    if text.iter().all(|&byte| STAYS_RAW[usize::from(byte)] && byte != b'%') {
        return Cow::Borrowed(text);
    }
    if Pieces(text).all(|piece| piece.is_normal(star)) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len() + 16);
    Pieces(text).for_each(|piece| piece.write(star, &mut out));
    Cow::Owned(out)
}

/// One byte of what a text means: raw, or from an escape.
struct Piece<'a> {
    byte: u8,
    written: &'a [u8],
}

impl Piece<'_> {
    fn is_escape(&self) -> bool {
        self.written.len() > 1
    }

    /// Whether the normal form has the byte itself, rather than an escape.
    fn is_raw_in_normal_form(&self, star: Star) -> bool {
        if self.is_escape() { decodes(self.byte) } else { stays_raw(self.byte, star) }
    }

    fn is_normal(&self, star: Star) -> bool {
        match self.is_raw_in_normal_form(star) {
            true => !self.is_escape(),
            false => self.is_escape() && !self.written.iter().any(u8::is_ascii_lowercase),
        }
    }

    fn write(&self, star: Star, out: &mut Vec<u8>) {
        if self.is_raw_in_normal_form(star) {
            return out.push(self.byte);
        }
        const HEX: &[u8; 16] = b"0123456789ABCDEF";
        let digit = |value: u8| HEX[usize::from(value & 15)];
        out.extend([b'%', digit(self.byte >> 4), digit(self.byte)]);
    }
}

/// Walks over the characters and escapes of a text.
struct Pieces<'a>(&'a [u8]);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let escaped = match self.0 {
            [b'%', high, low, ..] => byte_of(*high, *low),
            _ => None,
        };
        let (written, rest) = self.0.split_at_checked(if escaped.is_some() { 3 } else { 1 })?;
        self.0 = rest;
        Some(Piece { byte: escaped.unwrap_or(written[0]), written })
    }
}

fn byte_of(high: u8, low: u8) -> Option<u8> {
    let value = char::from(high).to_digit(16)? * 16 + char::from(low).to_digit(16)?;
    u8::try_from(value).ok()
}

/// Whether an escape of this byte is the same as the byte.
fn decodes(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'$')
}

/// Whether this byte, found raw, stays so.
fn stays_raw(byte: u8, star: Star) -> bool {
    STAYS_RAW[usize::from(byte)] || (byte == b'*' && star == Star::Wildcard)
}

/// The bytes, `*` aside, that a URL may hold raw.
const STAYS_RAW: [bool; 256] = {
    let mut stays = [false; 256];
    let mut byte = 0;
    while byte < stays.len() {
        stays[byte] = match byte as u8 {
            b'*' => false,
            b'"' | b'\'' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => false,
            byte => byte.is_ascii_graphic(),
        };
        byte += 1;
    }
    stays
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_patterns_meet_in_one_form() {
        #[rustfmt::skip]
        let rows: &[(&str, &str, &str)] = &[
            ("RFC 9309, table of 2.2.2, row 1", "/foo/bar?baz=quz", "/foo/bar?baz=quz"),
            ("row 3: raw", "/foo/bar/ツ", "/foo/bar/%E3%83%84"),
            ("row 4: escaped", "/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
            ("row 5: needless escapes", "/foo/bar/%62%61%7A", "/foo/bar/baz"),
            ("capital digits", "/%c3%a1%2f", "/%C3%A1%2F"),
            ("reserved stays as written", "/a:b%3Ab?c=d/%2F", "/a:b%3Ab?c=d/%2F"),
            ("no URL has these raw", "/a b\"<>{}|\\^`", "/a%20b%22%3C%3E%7B%7D%7C%5C%5E%60"),
            ("apostrophe", "/it's?it%27s", "/it%27s?it%27s"),
            ("dollar", "/a%24b$", "/a$b$"),
            ("no escape", "/100%/%4/%zz/%", "/100%/%4/%zz/%"),
            ("an escape made by decoding is none", "/%%34%31", "/%41"),
        ];
        for (name, text, expected) in rows {
            let path = normal_path(text.as_bytes());
            assert_eq!(String::from_utf8_lossy(&path), *expected, "{name}");
            assert_eq!(path, normal_pattern(text.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_star_is_a_wildcard_in_patterns_alone() {
        assert_eq!(*normal_path(b"/a*b%2a"), *b"/a%2Ab%2A");
        assert_eq!(*normal_pattern(b"/a*b%2a"), *b"/a*b%2A");
    }

    #[test]
    fn a_path_in_normal_form_costs_no_allocation() {
        for path in ["/", "/a/b?c=d&e=f;g", "/%C3%A9/%20x", "/100%", "/%2F%27"] {
            assert!(matches!(normal_path(path.as_bytes()), Cow::Borrowed(_)), "{path}");
        }
    }
}
