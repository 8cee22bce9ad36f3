//! In which charset is a body written, and the body as text.
//!
//! Who is believed, in this order: a byte order mark, the `Content-Type`, a declaration in the body
//! (HTML's `meta`, the XML declaration, CSS's `@charset`), and at last a
//! guess from the bytes themselves. A body that is valid UTF-8 is never guessed to be anything else.
//! Labels mean what the WHATWG Encoding standard says; UTF-32 and other charsets outside it are not
//! known. Decoding never fails: what means nothing becomes U+FFFD.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use super::Input;
use super::html::{Attr, Attributes, Dialect, Event, Scanner, Tag, decode_attribute};
use super::sniff::Kind;

/// How much of a page may come before its charset declaration (HTML section 13.2.3.2).
const PRESCAN_BYTES: usize = 1_024;

/// How much of a head is searched for a declaration that comes later.
const HEAD_BYTES: usize = 32 * 1_024;

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
        Kind::Html => sixteen_bits(body).or_else(|| meta(body)).or_else(|| xml_declaration(body)),
        Kind::Xhtml => xml_declaration(body).or_else(|| meta(body)),
        Kind::Xml | Kind::Sitemap | Kind::SitemapIndex | Kind::Feed => {
            sixteen_bits(body).or_else(|| xml_declaration(body))
        }
        Kind::Css => css_charset(body),
        Kind::Text | Kind::Pdf | Kind::Other => None,
    }
}

/// `None` where nothing speaks against UTF-8.
fn guess(input: &Input<'_>) -> Option<&'static Encoding> {
    let body = input.body;
    let ascii = Encoding::ascii_valid_up_to(body);
    let escape = memchr::memchr(0x1b, body);
    // Most pages end here, so this is vectorised.
    if escape.is_none() && Encoding::utf8_valid_up_to(body) == body.len() {
        return None;
    }
    let start = escape.map_or(ascii, |escape| escape.min(ascii));
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

/// `<?x` in two bytes per character: the declaration behind it cannot be read as ASCII.
fn sixteen_bits(body: &[u8]) -> Option<&'static Encoding> {
    match body.get(..6)? {
        b"<\0?\0x\0" => Some(UTF_16LE),
        b"\0<\0?\0x" => Some(UTF_16BE),
        _ => None,
    }
}

/// A `meta` that begins in the first 1,024 bytes, or anywhere in the head.
///
/// The standard has a scan of raw bytes for the former (HTML section 13.2.3.2) and a second reading of
/// the page for the latter ("changing the encoding while parsing"). Browsers have come to agree on
/// this: tags are tags, also in those first bytes, so that comments, scripts and titles declare
/// nothing.
fn meta(body: &[u8]) -> Option<&'static Encoding> {
    // Markup is ASCII in every charset that can be declared this way.
    let source = encoding_rs::mem::decode_latin1(&body[..body.len().min(HEAD_BYTES)]);
    let mut scanner = Scanner::new(&source, Dialect::Html, 1);
    let mut in_head = true;
    while let Some(event) = scanner.next() {
        in_head &= stays_in_head(event);
        if !in_head && scanner.tag_at() >= PRESCAN_BYTES {
            return None;
        }
        let is_meta = matches!(event, Event::Start { tag: Tag::Meta, .. });
        if let Some(encoding) = declared_by(scanner.attributes()).filter(|_| is_meta) {
            return Some(encoding);
        }
    }
    None
}

fn stays_in_head(event: Event<'_>) -> bool {
    match event {
        Event::Start { tag, .. } => tag.is_of_head(),
        Event::End { tag, .. } => tag != Tag::Head,
        Event::Text(text) => text.within.is_some() || text.source.as_str().trim_ascii().is_empty(),
    }
}

fn declared_by(attributes: &Attributes<'_>) -> Option<&'static Encoding> {
    let value = |name| {
        let mut value = String::new();
        decode_attribute(attributes.get(name)?, &mut value);
        Some(value.to_ascii_lowercase())
    };
    if let Some(label) = value(Attr::Charset) {
        return Encoding::for_label(label.as_bytes()).map(as_read);
    }
    let is_pragma = value(Attr::HttpEquiv)? == "content-type";
    let content = value(Attr::Content).filter(|_| is_pragma)?;
    Encoding::for_label(label_in_content(content.as_bytes())?).map(as_read)
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
