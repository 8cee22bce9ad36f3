//! HTML → tokens, any bytes of it, in one pass and without ever going back.
//!
//! Tags are told apart as HTML section 13.2.5 does, as far as that matters to whoever writes them anew. Comments,
//! processing instructions and CDATA are passed over. A tag that the page ends within is none.

use memchr::{memchr, memchr3};

/// Attributes of a tag that are looked at.
const ATTRIBUTES_MAX: usize = 256;

/// A piece of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token<'a> {
    /// Text with its character references as they are.
    Text(&'a str),
    /// A start tag.
    Start(Tag<'a>),
    /// An end tag, by name.
    End(&'a str),
    /// A document type.
    Doctype,
}

/// A start tag. Names are as the page has them; values have their character references as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its attributes, in order.
    pub attributes: Vec<(&'a str, &'a str)>,
    /// Whether it ends with `/>`.
    pub self_closing: bool,
}

/// The tokens of a page.
pub struct Tokens<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    /// Those of a source.
    pub fn new(source: &'a str) -> Self {
        Self { source, at: 0 }
    }

    /// The next one.
    pub fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = self.rest();
            let first = *rest.first()?;
            if first != b'<' {
                let end = memchr(b'<', rest).unwrap_or(rest.len());
                return Some(Token::Text(self.take(end)));
            }
            match rest.get(1) {
                Some(byte) if byte.is_ascii_alphabetic() => return self.start().map(Token::Start),
                Some(b'/') if rest.get(2).is_some_and(u8::is_ascii_alphabetic) => {
                    return self.end().map(Token::End);
                }
                Some(b'/' | b'?') => self.skip_to_angle(),
                Some(b'!') => {
                    if let Some(token) = self.declaration() {
                        return Some(token);
                    }
                }
                _ => return Some(Token::Text(self.take(1))),
            }
        }
    }

    /// The content of an element that holds nothing but text, up to its end tag, which is passed.
    pub fn raw(&mut self, name: &str) -> &'a str {
        let begin = self.at;
        loop {
            let Some(end) = memchr(b'<', self.rest()).map(|at| self.at + at) else {
                self.at = self.source.len();
                return &self.source[begin..];
            };
            self.at = end + 1;
            if self.closes(name) {
                self.skip_to_angle();
                return &self.source[begin..end];
            }
        }
    }

    /// Whether `/name` stands here, as an end tag has it.
    fn closes(&self, name: &str) -> bool {
        let rest = self.rest();
        let found = rest
            .get(1..=name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
        let ends = matches!(
            rest.get(name.len() + 1),
            None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/' | b'>')
        );
        rest.first() == Some(&b'/') && found && ends
    }

    fn rest(&self) -> &'a [u8] {
        &self.source.as_bytes()[self.at..]
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let begin = self.at;
        self.at += bytes;
        &self.source[begin..self.at]
    }

    fn skip_to_angle(&mut self) {
        let rest = self.rest();
        self.at += memchr(b'>', rest).map_or(rest.len(), |at| at + 1);
    }

    /// `<!…>`: a comment, which is passed over, or a document type.
    fn declaration(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        if rest.starts_with(b"<!--") {
            self.skip_comment();
            return None;
        }
        let is_doctype = rest.get(2..9).is_some_and(|word| word.eq_ignore_ascii_case(b"doctype"));
        self.skip_to_angle();
        is_doctype.then_some(Token::Doctype)
    }

    /// Section 13.2.5.43: `<!-->` and `<!--->` are whole, and `--!>` ends one as well.
    fn skip_comment(&mut self) {
        self.at += 4;
        let rest = self.rest();
        if rest.starts_with(b">") || rest.starts_with(b"->") {
            return self.skip_to_angle();
        }
        let mut from = 0;
        while let Some(at) = memchr(b'>', &rest[from..]).map(|at| from + at) {
            if rest[..at].ends_with(b"--") || rest[..at].ends_with(b"--!") {
                self.at += at + 1;
                return;
            }
            from = at + 1;
        }
        self.at = self.source.len();
    }

    fn end(&mut self) -> Option<&'a str> {
        self.at += 2;
        let name = self.name();
        let tag = self.attributes();
        tag.map(|_| name)
    }

    fn start(&mut self) -> Option<Tag<'a>> {
        self.at += 1;
        let name = self.name();
        let (attributes, self_closing) = self.attributes()?;
        Some(Tag { name, attributes, self_closing })
    }

    /// A tag's name goes to white space, a slash or an angle.
    fn name(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.iter().position(|byte| is_space(*byte) || matches!(byte, b'/' | b'>'));
        self.take(end.unwrap_or(rest.len()))
    }

    /// What stands between a tag's name and its angle; `None` if the page ends before.
    fn attributes(&mut self) -> Option<(Vec<(&'a str, &'a str)>, bool)> {
        let mut attributes = Vec::new();
        let mut self_closing = false;
        loop {
            self.skip_space();
            match *self.rest().first()? {
                b'>' => {
                    self.at += 1;
                    return Some((attributes, self_closing));
                }
                b'/' => {
                    self.at += 1;
                    self_closing = self.rest().first() == Some(&b'>');
                }
                _ => {
                    let attribute = self.attribute()?;
                    if attributes.len() < ATTRIBUTES_MAX {
                        attributes.push(attribute);
                    }
                }
            }
        }
    }

    fn attribute(&mut self) -> Option<(&'a str, &'a str)> {
        let rest = self.rest();
        // An equals sign at the beginning is part of the name.
        let is_end = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>' | b'=');
        let behind = first_char_bytes(&self.source[self.at..]);
        let end = rest[behind..].iter().position(is_end).map_or(rest.len(), |at| behind + at);
        let name = self.take(end);
        self.skip_space();
        if self.rest().first() != Some(&b'=') {
            return Some((name, ""));
        }
        self.at += 1;
        self.skip_space();
        Some((name, self.value()?))
    }

    fn value(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        match *rest.first()? {
            quote @ (b'"' | b'\'') => {
                let end = memchr(quote, &rest[1..])?;
                self.at += 1;
                let value = self.take(end);
                self.at += 1;
                Some(value)
            }
            b'>' => Some(""),
            _ => {
                let end = rest.iter().position(|byte| is_space(*byte) || *byte == b'>')?;
                Some(self.take(end))
            }
        }
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len());
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

fn first_char_bytes(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// A text in which nothing can be taken for a tag.
pub fn push_text(out: &mut String, text: &str) {
    push_escaped(out, text, |byte| match byte {
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        _ => None,
    });
}

/// A value between double quotes.
pub fn push_value(out: &mut String, value: &str) {
    push_escaped(out, value, |byte| match byte {
        b'"' => Some("&quot;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        _ => None,
    });
}

fn push_escaped(out: &mut String, text: &str, escape: impl Fn(u8) -> Option<&'static str>) {
    let mut rest = text;
    while let Some(at) = memchr3(b'"', b'<', b'>', rest.as_bytes()) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        out.push_str(escape(behind.as_bytes()[0]).unwrap_or(&behind[..1]));
        rest = &behind[1..];
    }
    out.push_str(rest);
}
