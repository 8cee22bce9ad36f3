//! In which charset is a body written, and the body as text.
//!
//! Who is believed, in this order: a byte order mark, the `Content-Type`, a declaration in the body
//! (HTML's prescan of the first 1,024 bytes, the XML declaration, CSS's `@charset`), and at last a
//! guess from the bytes themselves. A body that is valid UTF-8 is never guessed to be anything else.
//! Labels mean what the WHATWG Encoding standard says; UTF-32 and other charsets outside it are not
//! known. Decoding never fails: what means nothing becomes U+FFFD.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use super::Input;
use super::sniff::Kind;

/// How much of a page may come before its charset declaration (HTML section 13.2.3.2).
const PRESCAN_BYTES: usize = 1_024;

/// How much the guess looks at, from the first byte that is not ASCII on: enough to be right, and a
/// twentieth of the cost of a large page.
const GUESS_BYTES: usize = 4_096;

/// A charset and who said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset {
    /// The charset.
    pub encoding: &'static Encoding,
    /// Where that is from.
    pub source: CharsetSource,
}

/// Who named a charset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CharsetSource {
    /// A byte order mark.
    Mark,
    /// The `Content-Type`.
    Header,
    /// The body, in words.
    Declared,
    /// Nobody: it was told from the bytes.
    Guessed,
    /// Nobody, and nothing speaks against UTF-8.
    Default,
}

impl Default for Charset {
    fn default() -> Self {
        Self { encoding: UTF_8, source: CharsetSource::Default }
    }
}

/// Finds the charset of a body. `label` is the charset parameter of its `Content-Type`.
pub(super) fn detect(input: &Input<'_>, kind: Kind, label: Option<&str>) -> Charset {
    let found = |source| move |encoding| Charset { encoding, source };
    let mark = Encoding::for_bom(input.body).map(|(encoding, _)| encoding);
    let header = || label.and_then(|label| Encoding::for_label(label.as_bytes()));
    mark.map(found(CharsetSource::Mark))
        .or_else(|| header().map(found(CharsetSource::Header)))
        .or_else(|| declared(input.body, kind).map(found(CharsetSource::Declared)))
        .or_else(|| guess(input).map(found(CharsetSource::Guessed)))
        .unwrap_or_default()
}

/// The body as text without its byte order mark, borrowed where it is UTF-8 already; and whether
/// some of it meant nothing.
pub(super) fn decode<'a>(body: &'a [u8], encoding: &'static Encoding) -> (Cow<'a, str>, bool) {
    encoding.decode_with_bom_removal(body)
}

fn declared(body: &[u8], kind: Kind) -> Option<&'static Encoding> {
    match kind {
        Kind::Html => prescan(body),
        Kind::Xhtml => xml_declaration(body).or_else(|| prescan(body)),
        Kind::Xml | Kind::Sitemap | Kind::SitemapIndex | Kind::Feed => {
            sixteen_bits(body).or_else(|| xml_declaration(body))
        }
        Kind::Css => css_charset(body),
        Kind::Text | Kind::Other => None,
    }
}

/// `None` where nothing speaks against UTF-8.
fn guess(input: &Input<'_>) -> Option<&'static Encoding> {
    let body = input.body;
    let odd = |byte: &u8| !byte.is_ascii() || *byte == 0x1b;
    let start = body.iter().position(odd)?;
    if !body.contains(&0x1b) && std::str::from_utf8(body).is_ok() {
        return None;
    }
    let window = &body[start..body.len().min(start + GUESS_BYTES)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(window, true);
    let encoding = detector.guess(top_level_domain(input), Utf8Detection::Allow);
    (encoding != UTF_8).then_some(encoding)
}

/// The host's last label, where it is one the guess can use.
fn top_level_domain<'a>(input: &Input<'a>) -> Option<&'a [u8]> {
    let label = input.url.domain()?.rsplit('.').next()?;
    let usable = !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_lowercase());
    usable.then_some(label.as_bytes())
}

/// "Prescan a byte stream to determine its encoding" (HTML section 13.2.3.3).
pub(super) fn prescan(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(PRESCAN_BYTES)];
    sixteen_bits(head).or_else(|| scan_tags(head)).or_else(|| xml_declaration(head))
}

/// `<?x` in two bytes per character: the declaration behind it cannot be read as ASCII.
fn sixteen_bits(body: &[u8]) -> Option<&'static Encoding> {
    match body.get(..6)? {
        b"<\0?\0x\0" => Some(UTF_16LE),
        b"\0<\0?\0x" => Some(UTF_16BE),
        _ => None,
    }
}

fn scan_tags(head: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    while let Some(step) = memchr::memchr(b'<', head.get(at..)?) {
        at += step;
        let rest = &head[at..];
        at = if rest.starts_with(b"<!--") {
            // The two dashes of the start may be those of the end: `<!-->`.
            at + 2 + memchr::memmem::find(&rest[2..], b"-->")? + 3
        } else if is_meta(rest) {
            let mut cursor = Cursor { bytes: head, at: at + 5 };
            if let Some(encoding) = meta_charset(&mut cursor) {
                return Some(encoding);
            }
            cursor.at
        } else if is_tag(rest) {
            skip_tag(head, at)
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            at + memchr::memchr(b'>', rest)? + 1
        } else {
            at + 1
        };
    }
    None
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"<meta"))
        && rest.get(5).is_some_and(|&byte| is_space(byte) || byte == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    let name = if rest.get(1) == Some(&b'/') { rest.get(2) } else { rest.get(1) };
    name.is_some_and(u8::is_ascii_alphabetic)
}

fn skip_tag(head: &[u8], at: usize) -> usize {
    let name_end = head[at..].iter().position(|&byte| is_space(byte) || byte == b'>');
    let mut cursor = Cursor { bytes: head, at: name_end.map_or(head.len(), |end| at + end) };
    while cursor.attribute().is_some() {}
    cursor.at
}

/// The charset that a `meta` tag declares, the cursor being behind its name.
fn meta_charset(cursor: &mut Cursor<'_>) -> Option<&'static Encoding> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    let (mut is_pragma, mut needs_pragma, mut charset) = (false, None, None);
    while let Some((name, value)) = cursor.attribute() {
        if names.contains(&name) {
            continue;
        }
        match name.as_slice() {
            b"http-equiv" => is_pragma |= value == b"content-type",
            b"content" if charset.is_none() => {
                charset = label_in_content(&value).and_then(Encoding::for_label);
                needs_pragma = charset.map(|_| true);
            }
            b"charset" => {
                charset = Encoding::for_label(&value);
                needs_pragma = Some(false);
            }
            _ => {}
        }
        names.push(name);
    }
    let valid = needs_pragma.is_some_and(|needed| is_pragma || !needed);
    charset.filter(|_| valid).map(as_read)
}

/// A declaration that could be read as ASCII cannot mean UTF-16, and `x-user-defined` is never meant.
fn as_read(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16BE || encoding == UTF_16LE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    }
}

/// "Extracting a character encoding from a meta element" (HTML section 2.4.5), on lower case.
fn label_in_content(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content;
    loop {
        let at = memchr::memmem::find(rest, b"charset")?;
        rest = rest[at + 7..].trim_ascii_start();
        if let Some(value) = rest.strip_prefix(b"=") {
            return label_value(value.trim_ascii_start());
        }
    }
}

fn label_value(value: &[u8]) -> Option<&[u8]> {
    match *value.first()? {
        quote @ (b'"' | b'\'') => {
            let end = memchr::memchr(quote, &value[1..])?;
            Some(&value[1..=end])
        }
        _ => value.split(|&byte| is_space(byte) || byte == b';').next(),
    }
}

/// "Get an XML encoding" (HTML section 13.2.3.4).
fn xml_declaration(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(PRESCAN_BYTES)];
    let rest = head.strip_prefix(b"<?xml")?;
    let declaration = &rest[..memchr::memchr(b'>', rest)?];
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value = skip_low(&declaration[at + 8..]).strip_prefix(b"=")?;
    let value = skip_low(value);
    let quote = *value.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let label = &value[1..=memchr::memchr(quote, &value[1..])?];
    let label = label.iter().all(|&byte| byte > b' ').then_some(label)?;
    Encoding::for_label(label).map(as_read)
}

fn skip_low(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|&byte| byte > b' ').unwrap_or(bytes.len());
    &bytes[start..]
}

/// `@charset "…";`, byte for byte at the start (CSS Syntax section 3.2).
fn css_charset(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(PRESCAN_BYTES)];
    let rest = head.strip_prefix(b"@charset \"")?;
    let end = memchr::memchr(b'"', rest)?;
    rest[end..].starts_with(b"\";").then(|| Encoding::for_label(&rest[..end]).map(as_read))?
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

/// A position among the attributes of a tag.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// "Get an attribute" (HTML section 13.2.3.3): name and value in lower case; `None` at the end of
    /// the tag or of the bytes.
    fn attribute(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        self.skip(|byte| is_space(byte) || byte == b'/');
        self.peek().filter(|&byte| byte != b'>')?;
        let start = self.at;
        self.at += 1;
        self.skip(|byte| !is_space(byte) && !matches!(byte, b'=' | b'/' | b'>'));
        let name = self.lower(start);
        self.skip(is_space);
        if self.peek()? != b'=' {
            return Some((name, Vec::new()));
        }
        self.at += 1;
        self.skip(is_space);
        Some((name, self.value()?))
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let first = self.peek()?;
        if matches!(first, b'"' | b'\'') {
            self.at += 1;
            let start = self.at;
            self.skip(|byte| byte != first);
            let value = self.lower(start);
            self.peek()?;
            self.at += 1;
            return Some(value);
        }
        let start = self.at;
        self.skip(|byte| !is_space(byte) && byte != b'>');
        self.peek()?;
        Some(self.lower(start))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        self.at += rest.iter().position(|&byte| !wanted(byte)).unwrap_or(rest.len());
    }

    fn lower(&self, start: usize) -> Vec<u8> {
        self.bytes[start..self.at].to_ascii_lowercase()
    }
}
