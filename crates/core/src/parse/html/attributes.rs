//! The attributes of a tag: where they begin and end, and those that larm knows (HTML sections 13.2.5.32 to 40).
//!
//! Values are kept as places in the source, and looked at by whoever asks for them: most nobody does.

use std::ops::Range;

use super::name::Attr;
use crate::parse::bytes;

/// The attributes of one tag that larm knows, values as written. The first of a name counts.
#[derive(Debug, Clone)]
pub(in crate::parse) struct Attributes<'a> {
    source: &'a str,
    present: u64,
    /// Those that are kept.
    wanted: u64,
    /// Where in the source the values begin and end: most are never asked for.
    values: [(usize, usize); Attr::COUNT],
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
    pub fn new(source: &'a str) -> Self {
        Self { source, present: 0, wanted: ALL, values: [(0, 0); Attr::COUNT] }
    }

    /// Leaves out attributes that tell what an element is to its page.
    pub fn without_hints(mut self) -> Self {
        self.wanted &= !HINTS;
        self
    }

    /// Reads those of a tag from `at`, behind its name, to its end.
    #[inline(always)]
    pub(super) fn read(&mut self, at: usize) -> Option<TagEnd> {
        self.present = 0;
        walk_attributes(self.source.as_bytes(), at, |name, value| self.keep_first(name, value))
    }

    /// For a tag that has none.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.present = 0;
    }

    /// The value as written, references not yet decoded.
    pub fn get(&self, name: Attr) -> Option<&'a str> {
        let (start, end) = self.values[name as usize];
        self.has(name).then(|| &self.source[start..end])
    }

    pub fn has(&self, name: Attr) -> bool {
        self.present & 1 << name as u64 != 0
    }

    /// Whether the tag has nothing that may be a link.
    pub fn has_no_link(&self) -> bool {
        self.present & !(HINTS | FACTS) == 0
    }

    /// Whether the tag says nothing of how to read its element.
    pub fn has_no_hint(&self) -> bool {
        self.present & (HINTS | bits(&[Attr::Style, Attr::Itemprop])) == 0
    }

    #[inline(always)]
    fn keep_first(&mut self, name: Attr, value: Range<usize>) {
        let bit = 1 << name as u64;
        if self.wanted & !self.present & bit != 0 {
            self.present |= bit;
            self.values[name as usize] = (value.start, value.end);
        }
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
    at: usize,
    mut each: impl FnMut(&'a [u8], &'a str),
) -> Option<TagEnd> {
    let bytes = source.as_bytes();
    let mut each = |name: Range<usize>, value| each(&bytes[name], &source[value]);
    walk_attributes(bytes, at, &mut each)
}

/// What may be kept of an attribute's name.
trait Name: Sized {
    /// The name that begins at `at`, and where it ends.
    fn read(bytes: &[u8], at: usize) -> (Self, usize);
}

/// Names as they are mostly written, the first byte lowest, and which bits of eight bytes they take.
const CLASS: (u64, u64) = (u64::from_le_bytes(*b"class=\0\0"), u64::MAX >> 16);
const HREF: (u64, u64) = (u64::from_le_bytes(*b"href=\0\0\0"), u64::MAX >> 24);

impl Name for Attr {
    #[inline(always)]
    fn read(bytes: &[u8], at: usize) -> (Self, usize) {
        // Half of all attributes are one of these two.
        let eight = bytes::eight(bytes, at).unwrap_or_default();
        if eight & CLASS.1 == CLASS.0 {
            return (Self::Class, at + 5);
        }
        if eight & HREF.1 == HREF.0 {
            return (Self::Href, at + 4);
        }
        let is_end = |byte| means(byte, ATTR_END);
        Self::read(bytes, at, is_end, |bytes, from| find_any(bytes, from, ATTR_END))
    }
}

/// Its place.
impl Name for Range<usize> {
    fn read(bytes: &[u8], at: usize) -> (Self, usize) {
        let end = find_any(bytes, at + 1, ATTR_END);
        (at..end, end)
    }
}

/// The same, with the names as `N` keeps them, and where the values are.
#[inline(always)]
fn walk_attributes<N: Name>(
    bytes: &[u8],
    mut at: usize,
    mut each: impl FnMut(N, Range<usize>),
) -> Option<TagEnd> {
    loop {
        let byte = *bytes.get(at)?;
        // What is between most attributes, before a search among all cases.
        if byte == b' ' {
            at += 1;
            continue;
        }
        match byte {
            b'\t' | b'\n' | 0x0c | b'\r' => at += 1,
            b'>' => {
                return Some(TagEnd { at: at + 1, self_closing: false });
            }
            b'/' if *bytes.get(at + 1)? == b'>' => {
                return Some(TagEnd { at: at + 2, self_closing: true });
            }
            b'/' => at += 1,
            _ => {
                // A `=` here is the first character of a name.
                let (name, name_end) = <N as Name>::read(bytes, at);
                let (value, end) = read_value(bytes, name_end)?;
                each(name, value);
                at = end;
            }
        }
    }
}

/// The value behind a name that ends at `at`, if there is a `=`; and where it ends, closing quote included.
#[inline(always)]
fn read_value(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    // Nearly all values are written like this.
    if bytes.get(at..)?.starts_with(b"=\"") {
        let start = at + 2;
        let end = bytes::find(bytes, start, b'"')?;
        return Some((start..end, end + 1));
    }
    read_any_value(bytes, at)
}

fn read_any_value(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    let at = skip_space(bytes, at);
    if *bytes.get(at)? != b'=' {
        return Some((at..at, at));
    }
    let start = skip_space(bytes, at + 1);
    match *bytes.get(start)? {
        b'>' => Some((start..start, start)),
        quote @ (b'"' | b'\'') => {
            let end = bytes::find(bytes, start + 1, quote)?;
            Some((start + 1..end, end + 1))
        }
        _ => {
            let end = find_any(bytes, start, SPACE | CLOSE);
            (end < bytes.len()).then_some((start..end, end))
        }
    }
}

/// What a byte can mean within a tag: bits, so that one look tells whether it is one of several.
pub(super) const SPACE: u8 = 1;
pub(super) const SLASH: u8 = 2;
pub(super) const CLOSE: u8 = 4;
const EQUALS: u8 = 8;

/// What ends the name of a tag, and that of an attribute.
pub(super) const NAME_END: u8 = SPACE | SLASH | CLOSE;
const ATTR_END: u8 = NAME_END | EQUALS;

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

pub(super) fn means(byte: u8, meanings: u8) -> bool {
    MEANINGS[usize::from(byte)] & meanings != 0
}

/// The first byte from `from` on that means one of these, or the end.
#[inline]
pub(super) fn find_any(bytes: &[u8], from: usize, meanings: u8) -> usize {
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
