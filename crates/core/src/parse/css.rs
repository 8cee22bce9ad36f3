//! Style sheets: what `url(…)` and `@import` name.
//!
//! Reads tokens as CSS Syntax (section 4) has them, as far as needed to know what is a URL, a string
//! or a comment. Everything found is `Via::Embed`. `@namespace` names no resource and is passed over.
//! One pass: each token is consumed whole, and an unclosed one ends with its line or with the sheet.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use super::page::{Links, NewLink, Page};
use crate::{Limits, Via};

/// Makes a page of a style sheet: links, no text.
pub(super) fn read(mut page: Page, source: &str, limits: &Limits) -> Page {
    let mut links = Links::default();
    each_url(source, |url| {
        links.push(NewLink::new(Via::Embed, url), limits.page_links_max, limits);
    });
    page.set_links(links);
    page
}

/// Calls `each` with every URL of a style sheet or a `style` attribute, escapes decoded.
pub(super) fn each_url(source: &str, mut each: impl FnMut(&str)) {
    let mut sheet = Sheet { source, at: 0 };
    while let Some(byte) = sheet.peek() {
        match byte {
            b'/' if sheet.starts_with(b"/*") => sheet.skip_comment(),
            b'"' | b'\'' => drop(sheet.string()),
            b'@' => {
                if let Some(url) = sheet.at_rule() {
                    each(&url);
                }
            }
            b'\\' => sheet.at += 2,
            _ if is_name(byte) => {
                if let Some(url) = sheet.word() {
                    each(&url);
                }
            }
            _ => sheet.at += 1,
        }
    }
}

struct Sheet<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Sheet<'a> {
    fn rest(&self) -> &'a [u8] {
        self.source.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    fn starts_with(&self, start: &[u8]) -> bool {
        self.rest().get(..start.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(start))
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_ascii_start().len();
    }

    fn skip_comment(&mut self) {
        let rest = self.rest();
        let end = memmem::find(&rest[2..], b"*/").map(|at| at + 4);
        self.at += end.unwrap_or(rest.len());
    }

    fn skip_space_and_comments(&mut self) {
        self.skip_space();
        while self.starts_with(b"/*") {
            self.skip_comment();
            self.skip_space();
        }
    }

    /// Passes a name and gives it.
    fn name(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let end = rest.iter().position(|&byte| !is_name(byte)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A name; with a URL behind it if it is `url(`.
    fn word(&mut self) -> Option<Cow<'a, str>> {
        let is_url = self.name().eq_ignore_ascii_case(b"url") && self.peek() == Some(b'(');
        if !is_url {
            return None;
        }
        self.at += 1;
        self.skip_space();
        match self.peek()? {
            b'"' | b'\'' => self.string(),
            _ => self.bare_url(),
        }
    }

    /// `@import "…"`; with `url(…)` the name is read as any other.
    fn at_rule(&mut self) -> Option<Cow<'a, str>> {
        self.at += 1;
        let name = self.name();
        if name.eq_ignore_ascii_case(b"namespace") {
            self.at += memchr(b';', self.rest()).unwrap_or(self.rest().len());
            return None;
        }
        if !name.eq_ignore_ascii_case(b"import") {
            return None;
        }
        self.skip_space_and_comments();
        matches!(self.peek()?, b'"' | b'\'').then(|| self.string())?
    }

    /// A string from its quote on; `None` where a line end breaks it.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let quote = self.peek()?;
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'\\') => self.at += 2,
                Some(b'\n' | b'\r' | 0x0c) => return None,
                Some(byte) if byte != quote => self.at += 1,
                _ => break,
            }
        }
        let value = self.unescaped(start);
        self.at += 1;
        value
    }

    /// `url(` without quotes: up to `)` or white space; quotes and parentheses spoil it.
    fn bare_url(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        let mut is_good = true;
        loop {
            match self.peek() {
                None | Some(b')') => break,
                Some(b'\\') => self.at += 2,
                Some(byte) => {
                    is_good &= !matches!(byte, b'"' | b'\'' | b'(');
                    self.at += 1;
                }
            }
        }
        let value = self.unescaped(start).filter(|_| is_good)?;
        let has_space = value.trim_ascii().bytes().any(|byte| byte.is_ascii_whitespace());
        (!has_space).then_some(value)
    }

    /// The source from `start` to here, escapes decoded.
    fn unescaped(&self, start: usize) -> Option<Cow<'a, str>> {
        let raw = self.source.get(start..self.at.min(self.source.len()))?;
        Some(if raw.contains('\\') { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) })
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || !byte.is_ascii()
}

/// Section 4.3.7: up to six hex digits and a space, a line end that vanishes, or the character itself.
fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let digits = escape.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        let (number, after) = escape.split_at(digits);
        rest = if digits > 0 {
            out.push(
                u32::from_str_radix(number, 16).ok().and_then(character).unwrap_or('\u{fffd}'),
            );
            strip_line_end(after).or(after.strip_prefix([' ', '\t'])).unwrap_or(after)
        } else {
            let first = after.chars().next();
            out.extend(first.filter(|c| !matches!(c, '\n' | '\r' | '\u{c}')));
            strip_line_end(after).unwrap_or(&after[first.map_or(0, char::len_utf8)..])
        };
    }
    out.push_str(rest);
    out
}

fn character(value: u32) -> Option<char> {
    char::from_u32(value).filter(|&c| c != '\0')
}

fn strip_line_end(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n").or(text.strip_prefix(['\n', '\r', '\u{c}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_imports_are_found_and_nothing_else() {
        let rows: &[(&str, &[&str])] = &[
            ("a{background:url(x.png)}", &["x.png"]),
            ("url( 'a b.png' ) URL(\"c\")", &["a b.png", "c"]),
            ("@import 'a.css'; @import url(b.css) screen;", &["a.css", "b.css"]),
            ("@IMPORT/**/\"a.css\"", &["a.css"]),
            ("/* url(no) */ url(yes)", &["yes"]),
            ("/* url(no)", &[]),
            ("content: \"url(no)\"; b: url(yes)", &["yes"]),
            ("content: \"broken\nurl(yes)", &["yes"]),
            ("my-url(no) xurl(no) url (no)", &[]),
            ("url(a\\29 b) url(\\61 .png) url('a\\\nb')", &["a)b", "a.png", "ab"]),
            ("url(a b) url(c'd) url(e", &["e"]),
            ("url()", &[""]),
            ("@namespace svg url(http://www.w3.org/2000/svg); url(yes)", &["yes"]),
            ("@font-face{src:url(a.woff2) format('woff2'),url(b.woff)}", &["a.woff2", "b.woff"]),
            ("\\", &[]),
            ("\"\\", &[]),
            ("url(\\", &[""]),
            ("url(é\\é.png)", &["éé.png"]),
            ("url(\\110000 x)", &["\u{fffd}x"]),
        ];
        for (source, expected) in rows {
            let mut urls = Vec::new();
            each_url(source, |url| urls.push(url.to_owned()));
            let urls: Vec<_> = urls.iter().map(|url| url.trim()).collect();
            assert_eq!(urls, *expected, "{source:?}");
        }
    }
}
