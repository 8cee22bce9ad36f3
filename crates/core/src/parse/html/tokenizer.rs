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

use super::name::{Attr, Tag};
use crate::parse::bytes;

/// What comes next in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Token<'a> {
    /// Text in which character references count.
    Text(&'a str),
    /// Text in which nothing counts: raw text, scripts, CDATA.
    Raw(&'a str),
    Start {
        name: &'a str,
        self_closing: bool,
    },
    End {
        name: &'a str,
    },
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

/// The attributes of one tag that larm knows, values as written. The first of a name counts.
#[derive(Debug, Clone)]
pub(in crate::parse) struct Attributes<'a> {
    present: u64,
    /// Those that are kept.
    wanted: u64,
    values: [&'a str; Attr::COUNT],
}

const _: () = assert!(Attr::COUNT <= 64, "one bit each");

/// Attributes that tell what an element is to its page.
const HINTS: u64 = bits(&[Attr::AriaHidden, Attr::Class, Attr::Hidden, Attr::Id, Attr::Role]);

/// Attributes that tell something of the page, and never lead anywhere.
const FACTS: u64 =
    bits(&[Attr::Datetime, Attr::Hreflang, Attr::Itemprop, Attr::Property, Attr::Pubdate]);

const ALL: u64 = !bits(&[Attr::Other]);

const fn bits(names: &[Attr]) -> u64 {
    let (mut bits, mut at) = (0, 0);
    while at < names.len() {
        bits |= 1 << names[at] as u64;
        at += 1;
    }
    bits
}

impl<'a> Attributes<'a> {
    /// The value as written, references not yet decoded.
    pub fn get(&self, name: Attr) -> Option<&'a str> {
        let is_there = self.present & 1 << name as u64 != 0;
        is_there.then(|| self.values[name as usize])
    }

    pub fn has(&self, name: Attr) -> bool {
        self.get(name).is_some()
    }

    /// Whether the tag has nothing that may be a link.
    pub fn has_no_link(&self) -> bool {
        self.present & !(HINTS | FACTS) == 0
    }

    /// Whether the tag says nothing of how to read its element.
    pub fn has_no_hint(&self) -> bool {
        self.present & (HINTS | bits(&[Attr::Style, Attr::Itemprop])) == 0
    }

    fn keep_first(&mut self, name: Attr, value: &'a str) {
        let bit = 1 << name as u64;
        if self.wanted & !self.present & bit != 0 {
            self.present |= bit;
            self.values[name as usize] = value;
        }
    }
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
        let attributes = Attributes { present: 0, wanted: ALL, values: [""; Attr::COUNT] };
        Self { source, at: 0, mode: Mode::Data, tag_at: 0, attributes }
    }

    /// Leaves out attributes that tell what an element is to its page, for whoever wants only links.
    pub fn without_hints(mut self) -> Self {
        self.attributes.wanted &= !HINTS;
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
            let token = match self.mode {
                Mode::Data if byte == b'<' => self.markup(cdata),
                Mode::Data => Some(Token::Text(self.text())),
                Mode::Plaintext => Some(Token::Raw(self.take_to(self.source.len()))),
                Mode::Rcdata(tag) => self.text_until_end_tag(tag).map(Token::Text),
                Mode::Rawtext(tag) => self.text_until_end_tag(tag).map(Token::Raw),
                Mode::Script => self.script().map(Token::Raw),
            };
            if token.is_some() {
                return token;
            }
        }
        None
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
    fn text(&mut self) -> &'a str {
        // Most of all, that is the line break between two tags.
        let end = match self.byte(1) {
            Some(b'<') => Some(self.at + 1),
            _ => bytes::find(self.bytes(), self.at, b'<'),
        };
        self.take_to(end.unwrap_or(self.source.len()))
    }

    /// From a `<` on. `None` for what is passed over.
    #[inline(always)]
    fn markup(&mut self, cdata: bool) -> Option<Token<'a>> {
        match (self.byte(1), self.byte(2)) {
            (Some(b'a'..=b'z' | b'A'..=b'Z'), _) => self.start_tag(),
            (Some(b'/'), Some(b'a'..=b'z' | b'A'..=b'Z')) => self.end_tag(),
            (Some(b'/'), None) => Some(Token::Text(self.take_to(self.source.len()))),
            (Some(b'!'), _) => self.declaration(cdata),
            (Some(b'/' | b'?'), _) => self.pass(b'>'),
            _ => Some(Token::Text(self.take_to(self.at + 1))),
        }
    }

    #[inline(always)]
    fn start_tag(&mut self) -> Option<Token<'a>> {
        self.tag_at = self.at;
        let name = self.name(1);
        self.attributes.present = 0;
        if self.byte(0) == Some(b'>') {
            self.at += 1;
            return Some(Token::Start { name, self_closing: false });
        }
        let attributes = &mut self.attributes;
        let end = read_attributes(self.source, self.at, |name, value| {
            attributes.keep_first(Attr::of(name), value);
        });
        let end = self.pass_tag(end)?;
        Some(Token::Start { name, self_closing: end.self_closing })
    }

    #[inline(always)]
    fn end_tag(&mut self) -> Option<Token<'a>> {
        let name = self.name(2);
        if self.byte(0) == Some(b'>') {
            self.at += 1;
        } else {
            self.pass_tag(read_attributes(self.source, self.at, |_, _| {}))?;
        }
        Some(Token::End { name })
    }

    /// The tag's name, `ahead` bytes from here, and moves behind it.
    #[inline(always)]
    fn name(&mut self, ahead: usize) -> &'a str {
        self.at += ahead;
        self.take_to(find_any(self.bytes(), self.at, SPACE | SLASH | CLOSE))
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

/// How a tag ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct TagEnd {
    /// Behind its `>`.
    pub at: usize,
    pub self_closing: bool,
}

/// Reads attributes from `at`, behind a tag's name, to the end of the tag (sections 13.2.5.32 to 40).
/// `None` when the source ends first: then there is no tag.
pub(super) fn read_attributes<'a>(
    source: &'a str,
    mut at: usize,
    mut each: impl FnMut(&'a [u8], &'a str),
) -> Option<TagEnd> {
    let bytes = source.as_bytes();
    loop {
        at = skip_space(bytes, at);
        match *bytes.get(at)? {
            b'>' => {
                return Some(TagEnd { at: at + 1, self_closing: false });
            }
            b'/' if *bytes.get(at + 1)? == b'>' => {
                return Some(TagEnd { at: at + 2, self_closing: true });
            }
            b'/' => at += 1,
            _ => {
                // A `=` here is the first character of a name.
                let name_end = find_any(bytes, at + 1, SPACE | SLASH | CLOSE | EQUALS);
                let (value, end) = read_value(source, skip_space(bytes, name_end))?;
                each(&bytes[at..name_end], value);
                at = end;
            }
        }
    }
}

/// The value behind a name, if `at` is at a `=`; and where it ends, closing quote included.
#[inline(always)]
fn read_value(source: &str, at: usize) -> Option<(&str, usize)> {
    let bytes = source.as_bytes();
    if *bytes.get(at)? != b'=' {
        return Some(("", at));
    }
    let start = skip_space(bytes, at + 1);
    match *bytes.get(start)? {
        b'>' => Some(("", start)),
        quote @ (b'"' | b'\'') => {
            let end = bytes::find(bytes, start + 1, quote)?;
            Some((&source[start + 1..end], end + 1))
        }
        _ => {
            let end = find_any(bytes, start, SPACE | CLOSE);
            (end < bytes.len()).then(|| (&source[start..end], end))
        }
    }
}

/// What a byte can mean within a tag: bits, so that one look tells whether it is one of several.
const SPACE: u8 = 1;
const SLASH: u8 = 2;
const CLOSE: u8 = 4;
const EQUALS: u8 = 8;

const MEANINGS: [u8; 256] = {
    let mut meanings = [0; 256];
    meanings[b'\t' as usize] = SPACE;
    meanings[b'\n' as usize] = SPACE;
    meanings[0x0c] = SPACE;
    // A carriage return counts, since it is read as a line feed.
    meanings[b'\r' as usize] = SPACE;
    meanings[b' ' as usize] = SPACE;
    meanings[b'/' as usize] = SLASH;
    meanings[b'>' as usize] = CLOSE;
    meanings[b'=' as usize] = EQUALS;
    meanings
};

fn means(byte: u8, meanings: u8) -> bool {
    MEANINGS[usize::from(byte)] & meanings != 0
}

/// The first byte from `from` on that means one of these, or the end.
#[inline]
fn find_any(bytes: &[u8], from: usize, meanings: u8) -> usize {
    let mut at = from;
    loop {
        // Nothing that means something has this bit, and all letters have: they are passed together.
        if let Some(eight) = bytes::eight(bytes, at) {
            let others = !eight & (0x40 * bytes::EACH);
            at += others.trailing_zeros() as usize / 8;
            if others == 0 {
                continue;
            }
        }
        match bytes.get(at) {
            Some(&byte) if !means(byte, meanings) => at += 1,
            _ => return at,
        }
    }
}

#[inline]
fn skip_space(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while bytes.get(at).is_some_and(|&byte| means(byte, SPACE)) {
        at += 1;
    }
    at
}

/// Behind a comment whose text begins at `from` (sections 13.2.5.43 to 52): `-->`, `--!>`, or the
/// hasty `<!-->` and `<!--->`.
fn comment_end(bytes: &[u8], from: usize) -> usize {
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
