//! HTML text → tags and text, by the tokenizer of the HTML standard (section 13.2.5).
//!
//! Every state that decides where a tag, an attribute, a comment or raw text begins and ends is the
//! standard's. What larm has no use for is passed over: comments, doctypes, processing instructions,
//! parse errors. Character references stay as they are; see `reference`.
//!
//! Linear by construction: `at` only grows, each call looks at the bytes that it then passes, and a
//! search that finds no end (an open comment, quote or script) passes the rest of the source.
//!
//! What is done for every tag is inlined into the loop that reads a page, here and in `scanner`:
//! handing a token on in memory, twice, costs as much as finding it.

use memchr::{memchr, memchr2};

use super::attributes::{
    Attributes, CLOSE, NAME_END, SLASH, SPACE, TagEnd, find_any, means, read_attributes,
};
use super::name::Tag;
use crate::parse::bytes;

/// What comes next in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Token<'a> {
    /// White space, and nothing else.
    Blank(&'a str),
    /// Text in which character references count.
    Text(&'a str),
    /// Text in which nothing counts: raw text, scripts, CDATA.
    Raw(&'a str),
    Start {
        tag: Tag,
        name: Name<'a>,
        self_closing: bool,
    },
    End {
        tag: Tag,
        name: Name<'a>,
    },
}

/// A name as the source has it, for the few who ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) struct Name<'a> {
    source: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Name<'a> {
    pub fn as_str(self) -> &'a str {
        &self.source[self.start..self.end]
    }
}

/// How the source is to be read from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Mode {
    Data,
    /// Text up to the end tag; references count.
    Rcdata(Tag),
    /// Text up to the end tag.
    Rawtext(Tag),
    Script,
    Plaintext,
}

/// A position in the source.
#[derive(Debug)]
pub(in crate::parse) struct Tokenizer<'a> {
    source: &'a str,
    at: usize,
    mode: Mode,
    tag_at: usize,
    attributes: Attributes<'a>,
}

impl<'a> Tokenizer<'a> {
    pub fn new(source: &'a str) -> Self {
        let attributes = Attributes::new(source);
        Self { source, at: 0, mode: Mode::Data, tag_at: 0, attributes }
    }

    /// Leaves out attributes that tell what an element is to its page, for whoever wants only links.
    pub fn without_hints(mut self) -> Self {
        self.attributes = self.attributes.without_hints();
        self
    }

    /// Changes how the source is read; for the tree's rules to call after a start tag.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// Attributes of the start tag that `next` gave last.
    pub fn attributes(&self) -> &Attributes<'a> {
        &self.attributes
    }

    /// Where the last start tag begins.
    pub fn tag_at(&self) -> usize {
        self.tag_at
    }

    /// The next token. `cdata` tells whether `<![CDATA[` counts here, as it does in foreign content.
    #[inline(always)]
    pub fn next(&mut self, cdata: bool) -> Option<Token<'a>> {
        while let Some(byte) = self.byte(0) {
            if self.mode != Mode::Data {
                if let Some(token) = self.text_alone() {
                    return Some(token);
                }
                continue;
            }
            if byte != b'<' {
                return Some(self.text());
            }
            if let Some(token) = self.markup(cdata) {
                return Some(token);
            }
        }
        None
    }

    /// What stands where there is text and nothing else.
    fn text_alone(&mut self) -> Option<Token<'a>> {
        match self.mode {
            Mode::Data => None,
            Mode::Plaintext => Some(Token::Raw(self.take_to(self.source.len()))),
            Mode::Rcdata(tag) => self.text_until_end_tag(tag).map(Token::Text),
            Mode::Rawtext(tag) => self.text_until_end_tag(tag).map(Token::Raw),
            Mode::Script => self.script().map(Token::Raw),
        }
    }

    /// The text of an element that holds nothing else, up to its end tag; for whoever has just set such a mode.
    pub fn raw(&mut self) -> Option<&'a str> {
        match self.mode {
            Mode::Rcdata(tag) | Mode::Rawtext(tag) => self.text_until_end_tag(tag),
            Mode::Script => self.script(),
            Mode::Data | Mode::Plaintext => None,
        }
    }

    fn bytes(&self) -> &'a [u8] {
        self.source.as_bytes()
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes().get(self.at + ahead).copied()
    }

    fn take_to(&mut self, end: usize) -> &'a str {
        let taken = &self.source[self.at..end];
        self.at = end;
        taken
    }

    /// Text up to the next `<`.
    #[inline(always)]
    fn text(&mut self) -> Token<'a> {
        // Two of three pieces are the line breaks and the indentation between tags.
        let words = bytes::space_end(self.bytes(), self.at);
        if self.bytes().get(words) == Some(&b'<') {
            return Token::Blank(self.take_to(words));
        }
        let end = bytes::find(self.bytes(), words, b'<');
        Token::Text(self.take_to(end.unwrap_or(self.source.len())))
    }

    /// From a `<` on. `None` for what is passed over.
    #[inline(always)]
    fn markup(&mut self, cdata: bool) -> Option<Token<'a>> {
        match self.byte(1) {
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.start_tag(),
            Some(b'/') => match self.byte(2) {
                Some(b'a'..=b'z' | b'A'..=b'Z') => self.end_tag(),
                Some(_) => self.pass(b'>'),
                None => Some(Token::Text(self.take_to(self.source.len()))),
            },
            Some(b'!') => self.declaration(cdata),
            Some(b'?') => self.pass(b'>'),
            _ => Some(Token::Text(self.take_to(self.at + 1))),
        }
    }

    #[inline(always)]
    fn start_tag(&mut self) -> Option<Token<'a>> {
        self.tag_at = self.at;
        let (tag, name) = self.name(1);
        if self.byte(0) == Some(b'>') {
            self.attributes.clear();
            self.at += 1;
            return Some(Token::Start { tag, name, self_closing: false });
        }
        let end = self.attributes.read(self.at);
        let end = self.pass_tag(end)?;
        Some(Token::Start { tag, name, self_closing: end.self_closing })
    }

    #[inline(always)]
    fn end_tag(&mut self) -> Option<Token<'a>> {
        let (tag, name) = self.name(2);
        if self.byte(0) == Some(b'>') {
            self.at += 1;
        } else {
            self.pass_tag(read_attributes(self.source, self.at, |_, _| {}))?;
        }
        Some(Token::End { tag, name })
    }

    /// The tag's name, `ahead` bytes from here, and moves behind it.
    #[inline(always)]
    fn name(&mut self, ahead: usize) -> (Tag, Name<'a>) {
        let start = self.at + ahead;
        let (tag, end) = Tag::read(
            self.bytes(),
            start,
            |byte| means(byte, NAME_END),
            |bytes, from| find_any(bytes, from, NAME_END),
        );
        self.at = end;
        (tag, Name { source: self.source, start, end })
    }

    /// A tag that the source ends in is none.
    fn pass_tag(&mut self, end: Option<TagEnd>) -> Option<TagEnd> {
        self.at = end.map_or(self.source.len(), |end| end.at);
        end
    }

    /// From `<!` on: a comment, CDATA, or something that ends at the next `>` (a doctype does, even
    /// within its quotes).
    fn declaration(&mut self, cdata: bool) -> Option<Token<'a>> {
        let rest = &self.bytes()[self.at..];
        if rest.starts_with(b"<!--") {
            self.at = comment_end(self.bytes(), self.at + 4);
            None
        } else if cdata && rest.starts_with(b"<![CDATA[") {
            self.at += 9;
            let end = memchr::memmem::find(&self.bytes()[self.at..], b"]]>");
            let text = self.take_to(end.map_or(self.source.len(), |end| self.at + end));
            self.at = self.source.len().min(self.at + 3);
            Some(Token::Raw(text))
        } else {
            self.pass(b'>')
        }
    }

    /// Moves behind the next `end`, or to the end of the source.
    fn pass(&mut self, end: u8) -> Option<Token<'a>> {
        let rest = &self.bytes()[self.at..];
        self.at += memchr(end, rest).map_or(rest.len(), |at| at + 1);
        None
    }

    fn text_until_end_tag(&mut self, tag: Tag) -> Option<&'a str> {
        let mut end = self.at;
        loop {
            match memchr(b'<', &self.bytes()[end..]) {
                None => return self.raw_text(self.source.len()),
                Some(step) => end += step,
            }
            if is_end_tag(self.source, end, tag) {
                return self.raw_text(end);
            }
            end += 1;
        }
    }

    fn script(&mut self) -> Option<&'a str> {
        self.raw_text(script_end(self.source, self.at))
    }

    /// Text up to `end`, where ordinary markup begins again; `None` when there is none.
    fn raw_text(&mut self, end: usize) -> Option<&'a str> {
        self.mode = Mode::Data;
        Some(self.take_to(end)).filter(|text| !text.is_empty())
    }
}

/// Behind a comment whose text begins at `from` (sections 13.2.5.43 to 52): `-->`, `--!>`, or the
/// hasty `<!-->` and `<!--->`.
pub(super) fn comment_end(bytes: &[u8], from: usize) -> usize {
    let text = &bytes[from..];
    if text.starts_with(b">") || text.starts_with(b"->") {
        return from + 1 + usize::from(text[0] == b'-');
    }
    let mut end = 0;
    while let Some(step) = memchr(b'>', &text[end..]) {
        end += step + 1;
        if text[..end].ends_with(b"-->") || text[..end].ends_with(b"--!>") {
            return from + end;
        }
    }
    bytes.len()
}

/// Whether the end tag of this element is at `at`: `</title` and a space, `/` or `>`.
fn is_end_tag(source: &str, at: usize, tag: Tag) -> bool {
    source.as_bytes().get(at + 1) == Some(&b'/') && word_at(source, at + 2) == Some(tag)
}

/// The tag name at `at`, if a space, `/` or `>` ends it. Looks at no more bytes than the longest
/// name has.
fn word_at(source: &str, at: usize) -> Option<Tag> {
    let rest = &source.as_bytes()[at.min(source.len())..];
    let end = rest.iter().take(16).position(|byte| !byte.is_ascii_alphabetic())?;
    means(rest[end], SPACE | SLASH | CLOSE).then(|| Tag::of(&rest[..end]))
}

/// Where a script ends: at its end tag, or at the end of the source (sections 13.2.5.15 to 31).
///
/// Within `<!--` and `-->` a `<script` hides the next `</script>`.
fn script_end(source: &str, from: usize) -> usize {
    let bytes = source.as_bytes();
    let (mut at, mut comment, mut inner) = (from, false, false);
    loop {
        // A dash matters only where it may end a comment, and scripts are full of them.
        let rest = &bytes[at..];
        let found = if comment { memchr2(b'<', b'-', rest) } else { memchr(b'<', rest) };
        let Some(step) = found else { return bytes.len() };
        at += step;
        let rest = &bytes[at..];
        let closes = rest[0] == b'<' && is_end_tag(source, at, Tag::Script);
        if closes && !inner {
            return at;
        } else if closes {
            inner = false;
        } else if comment && rest.starts_with(b"-->") {
            (comment, inner) = (false, false);
        } else if !comment && rest.starts_with(b"<!--") {
            comment = true;
            // Its dashes may also be those of its end: `<!-->`.
            at += 1;
        } else if comment && rest[0] == b'<' && word_at(source, at + 1) == Some(Tag::Script) {
            inner = true;
        }
        at += 1;
    }
}
