//! HTML text → tags and text, by the tokenizer of the HTML standard (section 13.2.5).
//!
//! Every state that decides where a tag, an attribute, a comment or raw text begins and ends is the
//! standard's. What larm has no use for is passed over: comments, doctypes, processing instructions,
//! parse errors. Character references stay as they are; see `reference`.
//!
//! Linear by construction: `at` only grows, each call looks at the bytes that it then passes, and a
//! search that finds no end (an open comment, quote or script) passes the rest of the source.
//!
//! Tokens are handed on by calls, which are inlined into the loop that reads a page, here and in
//! `scanner`: handing them on in memory, twice, costs as much as finding them.

use memchr::{memchr, memchr2};

use super::attributes::{
    Attributes, CLOSE, NAME_END, SLASH, SPACE, TagEnd, find_any, means, read_attributes,
};
use super::name::Tag;
use crate::parse::bytes;

/// What takes the tokens of a source, in order.
pub(in crate::parse) trait Tokens<'a> {
    /// Takes a start tag; tells how the source is to be read behind it.
    fn start(&mut self, start: StartTag<'_, 'a>) -> Mode;
    fn end(&mut self, tag: Tag, name: Part<'a>);
    /// Takes white space, and nothing else.
    fn blank(&mut self, text: Part<'a>);
    /// Takes text in which character references count.
    fn text(&mut self, text: Part<'a>);
    /// Takes text in which nothing counts: raw text, scripts, CDATA.
    fn raw(&mut self, text: Part<'a>);
    /// Whether `<![CDATA[` counts here, as it does in foreign content.
    fn takes_cdata(&self) -> bool;
}

/// A start tag.
#[derive(Debug, Clone, Copy)]
pub(in crate::parse) struct StartTag<'t, 'a> {
    pub tag: Tag,
    pub name: Part<'a>,
    pub attributes: &'t Attributes<'a>,
    pub self_closing: bool,
}

/// A part of the source, looked at only where somebody asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) struct Part<'a> {
    source: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Part<'a> {
    #[inline]
    pub fn as_str(self) -> &'a str {
        &self.source[self.start..self.end]
    }

    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        &self.source.as_bytes()[self.start..self.end]
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

    /// Hands on the next token, if what comes next is one. Tells whether there was anything.
    #[inline(always)]
    pub fn step(&mut self, tokens: &mut impl Tokens<'a>) -> bool {
        let Some(byte) = self.byte(0) else { return false };
        if self.mode != Mode::Data {
            self.text_alone(tokens);
        } else if byte == b'<' {
            self.markup(tokens);
        } else {
            self.text(tokens);
        }
        true
    }

    /// What stands where there is text and nothing else.
    fn text_alone(&mut self, tokens: &mut impl Tokens<'a>) {
        let start = self.at;
        let (end, counts) = match self.mode {
            Mode::Data => return,
            Mode::Plaintext => (self.source.len(), false),
            Mode::Rcdata(tag) => (self.text_end(tag), true),
            Mode::Rawtext(tag) => (self.text_end(tag), false),
            Mode::Script => (script_end(self.source, start), false),
        };
        self.at = end;
        if self.mode != Mode::Plaintext {
            self.mode = Mode::Data;
        }
        let text = self.part(start, end);
        match counts {
            _ if start == end => {}
            true => tokens.text(text),
            false => tokens.raw(text),
        }
    }

    /// The text of an element that holds nothing else, up to its end tag; for whoever has just set such a mode.
    pub fn raw(&mut self) -> &'a str {
        let end = match self.mode {
            Mode::Rcdata(tag) | Mode::Rawtext(tag) => self.text_end(tag),
            Mode::Script => script_end(self.source, self.at),
            Mode::Data | Mode::Plaintext => return "",
        };
        self.mode = Mode::Data;
        let text = self.part(self.at, end);
        self.at = end;
        text.as_str()
    }

    fn bytes(&self) -> &'a [u8] {
        self.source.as_bytes()
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes().get(self.at + ahead).copied()
    }

    fn part(&self, start: usize, end: usize) -> Part<'a> {
        Part { source: self.source, start, end }
    }

    /// Moves to `end`, and gives what is passed.
    fn take_to(&mut self, end: usize) -> Part<'a> {
        let start = self.at;
        self.at = end;
        self.part(start, end)
    }

    /// Text up to the next `<`.
    #[inline(always)]
    fn text(&mut self, tokens: &mut impl Tokens<'a>) {
        // Two of three pieces are the line breaks and the indentation between tags.
        let words = bytes::space_end(self.bytes(), self.at);
        if self.bytes().get(words) == Some(&b'<') {
            return tokens.blank(self.take_to(words));
        }
        let end = bytes::find(self.bytes(), words, b'<');
        tokens.text(self.take_to(end.unwrap_or(self.source.len())));
    }

    /// From a `<` on.
    #[inline(always)]
    fn markup(&mut self, tokens: &mut impl Tokens<'a>) {
        match self.byte(1) {
            Some(b'/') => self.end(tokens),
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.start_tag(tokens),
            Some(b'!') => self.declaration(tokens),
            Some(b'?') => self.pass(b'>'),
            _ => tokens.text(self.take_to(self.at + 1)),
        }
    }

    /// From a `</` on.
    #[inline(always)]
    fn end(&mut self, tokens: &mut impl Tokens<'a>) {
        match self.byte(2) {
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.end_tag(tokens),
            Some(_) => self.pass(b'>'),
            None => tokens.text(self.take_to(self.source.len())),
        }
    }

    #[inline(always)]
    fn start_tag(&mut self, tokens: &mut impl Tokens<'a>) {
        self.tag_at = self.at;
        let (tag, name) = self.name(1);
        let mut self_closing = false;
        if self.byte(0) == Some(b'>') {
            self.attributes.clear();
            self.at += 1;
        } else {
            let end = self.attributes.read(self.at);
            let Some(end) = self.pass_tag(end) else { return };
            self_closing = end.self_closing;
        }
        let attributes = &self.attributes;
        self.mode = tokens.start(StartTag { tag, name, attributes, self_closing });
    }

    #[inline(always)]
    fn end_tag(&mut self, tokens: &mut impl Tokens<'a>) {
        let (tag, name) = self.name(2);
        if self.byte(0) == Some(b'>') {
            self.at += 1;
        } else if self.pass_tag(read_attributes(self.source, self.at, |_, _| {})).is_none() {
            return;
        }
        tokens.end(tag, name);
    }

    /// The tag's name, `ahead` bytes from here, and moves behind it.
    #[inline(always)]
    fn name(&mut self, ahead: usize) -> (Tag, Part<'a>) {
        let start = self.at + ahead;
        let (tag, end) = Tag::read(
            self.bytes(),
            start,
            |byte| means(byte, NAME_END),
            |bytes, from| find_any(bytes, from, NAME_END),
        );
        self.at = end;
        (tag, self.part(start, end))
    }

    /// A tag that the source ends in is none.
    fn pass_tag(&mut self, end: Option<TagEnd>) -> Option<TagEnd> {
        self.at = end.map_or(self.source.len(), |end| end.at);
        end
    }

    /// From `<!` on: a comment, CDATA, or something that ends at the next `>` (a doctype does, even
    /// within its quotes).
    fn declaration(&mut self, tokens: &mut impl Tokens<'a>) {
        let rest = &self.bytes()[self.at..];
        if rest.starts_with(b"<!--") {
            self.at = comment_end(self.bytes(), self.at + 4);
        } else if rest.starts_with(b"<![CDATA[") && tokens.takes_cdata() {
            self.at += 9;
            let end = memchr::memmem::find(&self.bytes()[self.at..], b"]]>");
            let text = self.take_to(end.map_or(self.source.len(), |end| self.at + end));
            self.at = self.source.len().min(self.at + 3);
            tokens.raw(text);
        } else {
            self.pass(b'>');
        }
    }

    /// Moves behind the next `end`, or to the end of the source.
    fn pass(&mut self, end: u8) {
        let rest = &self.bytes()[self.at..];
        self.at += memchr(end, rest).map_or(rest.len(), |at| at + 1);
    }

    /// Where the text of this element ends that holds nothing else.
    fn text_end(&self, tag: Tag) -> usize {
        let mut end = self.at;
        loop {
            match memchr(b'<', &self.bytes()[end..]) {
                None => return self.source.len(),
                Some(step) => end += step,
            }
            if is_end_tag(self.source, end, tag) {
                return end;
            }
            end += 1;
        }
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
