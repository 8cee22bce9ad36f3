//! XML as sitemaps and feeds have it: events of a lenient reader, and what both make of them.
//!
//! Elements are known by their local names: wrong and missing namespaces are common. Nothing is
//! expanded but characters: a doctype's entities, internal or external, are never resolved. XML that
//! breaks gives what stood before the fault.

use jiff::fmt::rfc2822;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::html::{decode_attribute, decode_text};
use super::page::{Note, Page, cut};
use crate::{Limits, Millis};

/// What takes the events of a document.
pub(super) trait Listener {
    /// An element begins, and ends at once where it has no content.
    fn start(&mut self, start: &BytesStart<'_>, has_content: bool);
    /// The innermost element ends.
    fn end(&mut self);
    /// Characters, references decoded.
    fn text(&mut self, piece: &str);
}

/// Tells a document's events in order; and whether it could be read to its end.
pub(super) fn each_event(source: &str, listener: &mut impl Listener) -> bool {
    let mut reader = lenient(source);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => listener.start(&element, true),
            Ok(Event::Empty(element)) => listener.start(&element, false),
            Ok(Event::End(_)) => listener.end(),
            Ok(Event::Text(text)) => listener.text(&text),
            Ok(Event::CData(text)) => listener.text(&text),
            Ok(Event::GeneralRef(name)) => listener.text(&reference(&name)),
            Ok(Event::Eof) => return true,
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
            Err(_) => return false,
        }
    }
}

fn lenient(source: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(source);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    reader
}

/// A reference by name or number. Only characters are known; all other names stay as written.
fn reference(name: &str) -> String {
    let mut character = String::new();
    decode_text(&format!("&{name};"), &mut character);
    character
}

/// The local name of the root element, in lower case.
pub(super) fn root_of(source: &str) -> Option<String> {
    let mut reader = lenient(source);
    loop {
        match reader.read_event() {
            Ok(Event::Start(root) | Event::Empty(root)) => return Some(local_name(&root)),
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

pub(super) fn local_name(start: &BytesStart<'_>) -> String {
    start.local_name().as_ref().to_ascii_lowercase()
}

/// An attribute's value by its name, prefix included; references decoded.
pub(super) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = start.html_attributes();
    let attributes = attributes.with_checks(false);
    let found = attributes.flatten().find(|each| each.key.as_ref().eq_ignore_ascii_case(name))?;
    let mut value = String::new();
    decode_attribute(&found.value, &mut value);
    Some(value.trim_ascii().to_owned())
}

/// As much of a list as may be read.
pub(super) fn bounded<'a>(source: &'a str, limits: &Limits, page: &mut Page) -> &'a str {
    let kept = cut(source, limits.sitemap_bytes_max);
    if kept.len() < source.len() {
        page.note(Note::SitemapTruncated);
    }
    kept
}

/// Whether a text is a URL as lists have them: whole.
pub(super) fn is_url(text: &str) -> bool {
    let has = |scheme: &str| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    has("http://") || has("https://")
}

/// The moment that a list names: of the W3C's form (`2024-01-31`, with a time or without, or a year and a
/// month alone) or of mail (`Wed, 31 Jan 2024 12:00:00 GMT`). A day is taken from its beginning, by UTC.
pub(super) fn moment(text: &str) -> Option<Millis> {
    let text = text.trim();
    let stamp = text
        .parse::<jiff::Timestamp>()
        .ok()
        .or_else(|| rfc2822::parse(text).ok().map(|zoned| zoned.timestamp()))
        .or_else(|| text.parse::<jiff::civil::DateTime>().ok().and_then(at_utc))
        .or_else(|| format!("{text}-01").parse::<jiff::civil::DateTime>().ok().and_then(at_utc))?;
    u64::try_from(stamp.as_millisecond()).ok().map(Millis)
}

fn at_utc(local: jiff::civil::DateTime) -> Option<jiff::Timestamp> {
    local.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_every_form_that_lists_have() {
        let rows = [
            ("2024-01-31T12:00:00Z", Some("2024-01-31T12:00:00.000Z")),
            ("2024-01-31T12:00:00+02:00", Some("2024-01-31T10:00:00.000Z")),
            (" 2024-01-31 ", Some("2024-01-31T00:00:00.000Z")),
            ("2024-01", Some("2024-01-01T00:00:00.000Z")),
            ("2024-01-31T12:00:00", Some("2024-01-31T12:00:00.000Z")),
            ("Wed, 31 Jan 2024 12:00:00 GMT", Some("2024-01-31T12:00:00.000Z")),
            ("Wed, 31 Jan 2024 12:00:00 +0200", Some("2024-01-31T10:00:00.000Z")),
            ("yesterday", None),
            ("", None),
            ("1890-01-01", None),
        ];
        for (text, expected) in rows {
            assert_eq!(moment(text).map(|at| at.to_string()).as_deref(), expected, "{text}");
        }
    }
}
