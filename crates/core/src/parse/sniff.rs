//! Which kind of body is this: by `Content-Type`, and by its first bytes where that says nothing.
//!
//! A server that names a type is believed, and XML always is. The exceptions are "plain text" full of
//! binary bytes, which is what servers say that know nothing, and "HTML" that begins as a feed does. Where there is no type, or one that says
//! nothing, the byte patterns of the WHATWG MIME Sniffing standard (section 7) decide. At most the first
//! 1,445 bytes are looked at.
//!
//! Two steps further than the standard, which protects browsers from running what they sniff (nothing is
//! run here): `application/octet-stream` says nothing, too, and a byte order mark does not hide HTML.

use super::mime::Mime;

/// How a body is read. Closed: a new kind is a new arm in `parse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// HTML.
    Html,
    /// XHTML, read leniently.
    Xhtml,
    /// A style sheet.
    Css,
    /// XML that is none of the next three.
    Xml,
    /// A list of pages.
    Sitemap,
    /// A list of sitemaps.
    SitemapIndex,
    /// RSS, RDF, Atom, CDF or JSON Feed.
    Feed,
    /// Plain text.
    Text,
    /// A PDF, which is read elsewhere.
    Pdf,
    /// Anything else: nothing is read.
    Other,
}

impl Kind {
    /// One stable word for logs and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Xhtml => "xhtml",
            Self::Css => "css",
            Self::Xml => "xml",
            Self::Sitemap => "sitemap",
            Self::SitemapIndex => "sitemap-index",
            Self::Feed => "feed",
            Self::Text => "text",
            Self::Pdf => "pdf",
            Self::Other => "other",
        }
    }
}

/// The standard's "resource header": no more than this is looked at.
const SNIFFED_BYTES: usize = 1_445;

pub(super) fn kind(mime: Option<&Mime>, body: &[u8]) -> Kind {
    let head = &body[..body.len().min(SNIFFED_BYTES)];
    let Some(essence) = mime.map(Mime::essence) else {
        return by_content(head);
    };
    match essence {
        "text/html" if begins_feed(head) => Kind::Xml,
        "text/html" => Kind::Html,
        "application/feed+json" => Kind::Feed,
        "application/json" if begins_json_feed(head) => Kind::Feed,
        "application/xhtml+xml" => Kind::Xhtml,
        "text/css" => Kind::Css,
        "text/xml" | "application/xml" => Kind::Xml,
        "application/pdf" | "application/x-pdf" => Kind::Pdf,
        "application/octet-stream" | "unknown/unknown" | "application/unknown" | "*/*" => {
            by_content(head)
        }
        "text/javascript" | "text/ecmascript" | "text/jscript" => Kind::Other,
        "image/svg+xml" => Kind::Other,
        _ if essence.ends_with("+xml") => Kind::Xml,
        _ if essence.starts_with("text/") && is_wide(mime) => Kind::Text,
        _ if essence.starts_with("text/") => text_or_other(head),
        _ => Kind::Other,
    }
}

/// Whether the charset is one in which plain text is full of zeros.
fn is_wide(mime: Option<&Mime>) -> bool {
    let charset = mime.and_then(|mime| mime.parameter("charset")).unwrap_or_default();
    charset.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("utf-16"))
}

fn by_content(head: &[u8]) -> Kind {
    // The standard's white space, which is that of ASCII.
    let start = head.trim_ascii_start();
    let past_mark = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    if past_mark.starts_with(b"<?xml") || begins_feed(head) {
        Kind::Xml
    } else if begins_json_feed(head) {
        Kind::Feed
    } else if begins_html(past_mark) {
        Kind::Html
    } else if begins_pdf(head) {
        Kind::Pdf
    } else if begins_document_or_media(head) {
        Kind::Other
    } else {
        text_or_other(head)
    }
}

/// Feeds are often sent as HTML: the first element shows what they are (section 8.1).
fn begins_feed(head: &[u8]) -> bool {
    let mut rest = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    // Behind a declaration, comments and a doctype.
    while rest.starts_with(b"<?") || rest.starts_with(b"<!") {
        let close: &[u8] = if rest.starts_with(b"<!--") { b"-->" } else { b">" };
        let Some(end) = memchr::memmem::find(rest, close) else { return false };
        rest = rest[end + close.len()..].trim_ascii_start();
    }
    let is_start = |tag: &[u8]| {
        let ends_tag = rest.get(tag.len()).is_some_and(|b| b.is_ascii_whitespace() || *b == b'>');
        ends_tag && rest.starts_with(tag)
    };
    [&b"<rss"[..], b"<feed", b"<rdf:RDF"].iter().any(|tag| is_start(tag))
}

/// A JSON Feed names its version, and mostly begins with it.
fn begins_json_feed(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.trim_ascii_start().starts_with(b"{")
        && [&b"jsonfeed.org/version/"[..], b"jsonfeed.org\\/version\\/"]
            .iter()
            .any(|mark| memchr::memmem::find(head, mark).is_some())
}

/// What begins HTML (section 7.1); a space or `>` has to follow.
const HTML_STARTS: &[&[u8]] = &[
    b"<!doctype html",
    b"<html",
    b"<head",
    b"<script",
    b"<iframe",
    b"<h1",
    b"<div",
    b"<font",
    b"<table",
    b"<a",
    b"<style",
    b"<title",
    b"<b",
    b"<body",
    b"<br",
    b"<p",
    b"<!--",
];

fn begins_html(head: &[u8]) -> bool {
    let is_start = |tag: &[u8]| {
        let ends_tag = matches!(head.get(tag.len()), Some(b' ' | b'>'));
        ends_tag && head[..tag.len()].eq_ignore_ascii_case(tag)
    };
    HTML_STARTS.iter().any(|tag| is_start(tag))
}

/// The mark of a PDF stands at its start, or somewhere behind a mail header or an empty line: readers look
/// for it in the first KiB.
fn begins_pdf(head: &[u8]) -> bool {
    let head = head.get(..1_024).unwrap_or(head);
    head.starts_with(b"%PDF-") || memchr::memmem::find(head, b"\n%PDF-1.").is_some()
}

/// Documents, images, sound, films and archives (sections 6.1, 6.2, 6.4 and 7.1): what stands at the
/// start, and what further on at which byte.
const BINARY_STARTS: &[(&[u8], usize, &[u8])] = &[
    (b"%!PS-Adobe-", 0, b""),
    (b"\x00\x00\x01\x00", 0, b""),
    (b"\x00\x00\x02\x00", 0, b""),
    (b"BM", 0, b""),
    (b"GIF87a", 0, b""),
    (b"GIF89a", 0, b""),
    (b"RIFF", 8, b"WEBPVP"),
    (b"\x89PNG\r\n\x1a\n", 0, b""),
    (b"\xff\xd8\xff", 0, b""),
    (b"FORM", 8, b"AIFF"),
    (b"ID3", 0, b""),
    (b"OggS\x00", 0, b""),
    (b"MThd\x00\x00\x00\x06", 0, b""),
    (b"RIFF", 8, b"AVI "),
    (b"RIFF", 8, b"WAVE"),
    (b"", 4, b"ftyp"),
    (b"\x1a\x45\xdf\xa3", 0, b""),
    (b"\x1f\x8b\x08", 0, b""),
    (b"PK\x03\x04", 0, b""),
    (b"Rar \x1a\x07\x00", 0, b""),
];

fn begins_document_or_media(head: &[u8]) -> bool {
    let further =
        |at: usize, what: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(what));
    BINARY_STARTS.iter().any(|(start, at, what)| head.starts_with(start) && further(*at, what))
}

fn text_or_other(head: &[u8]) -> Kind {
    let has_mark =
        [&b"\xfe\xff"[..], b"\xff\xfe", b"\xef\xbb\xbf"].iter().any(|m| head.starts_with(m));
    if has_mark || !head.iter().copied().any(is_binary) { Kind::Text } else { Kind::Other }
}

/// The standard's "binary data byte" (section 3).
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_decides_and_the_bytes_where_it_is_silent() {
        let rows: &[(Option<&str>, &[u8], Kind)] = &[
            (Some("text/html; charset=x"), b"\x00", Kind::Html),
            (Some("TEXT/HTML"), b"", Kind::Html),
            (Some("application/xhtml+xml"), b"", Kind::Xhtml),
            (Some("application/rss+xml"), b"", Kind::Xml),
            (Some("text/css"), b"", Kind::Css),
            (Some("text/plain"), b"<html>", Kind::Text),
            (Some("text/plain"), b"\x00\x01", Kind::Other),
            (Some("text/plain"), b"\xff\xfea\x00", Kind::Text),
            (Some("text/javascript"), b"a", Kind::Other),
            (Some("image/png"), b"<html>", Kind::Other),
            (Some("application/octet-stream"), b"<!DOCTYPE HTML>", Kind::Html),
            (Some("nonsense"), b"<p>", Kind::Html),
            (None, b"\n\t <HTML lang=en>", Kind::Html),
            (None, b"\xef\xbb\xbf<html>", Kind::Html),
            (None, b"<htmlx>", Kind::Text),
            (None, b"<!-- x", Kind::Html),
            (None, b"<!--x", Kind::Text),
            (None, b"<p", Kind::Text),
            (None, b"\x0c<BODY>", Kind::Html),
            (None, b"GIF89a, it begins", Kind::Other),
            (None, b"GIF is a format", Kind::Text),
            (None, b"RIFF....WAVEfmt", Kind::Other),
            (None, b"RIFF raff", Kind::Text),
            (None, b"....ftypisom", Kind::Other),
            (Some("*/*"), b"<title>x", Kind::Html),
            (Some("unknown/unknown"), b"\xff\xd8\xff", Kind::Other),
            (Some("text/html"), b"<?xml version='1.0'?><!-- x --><rss version=2>", Kind::Xml),
            (Some("text/html"), b"<rss version=2>", Kind::Xml),
            (Some("text/html"), b"<p><rss version=2>", Kind::Html),
            (Some("text/html"), b"<feedback>", Kind::Html),
            (None, b"<feed xmlns='x'>", Kind::Xml),
            (Some("text/plain"), b"<rss version=2>", Kind::Text),
            (
                Some("application/json"),
                b"{\"version\": \"https://jsonfeed.org/version/1\"",
                Kind::Feed,
            ),
            (Some("application/json"), b"{\"version\": 1}", Kind::Other),
            (Some("application/feed+json"), b"", Kind::Feed),
            (Some("text/plain; charset=UTF-16LE"), b"a\x00b\x00", Kind::Text),
            (Some("text/csv"), b"\x00\x01", Kind::Other),
            (None, b" <?xml version='1.0'?>", Kind::Xml),
            (None, b"%PDF-1.7", Kind::Pdf),
            (None, b"\n\n%PDF-1.2", Kind::Pdf),
            (None, b"see %PDF-1.2", Kind::Text),
            (Some("application/pdf"), b"", Kind::Pdf),
            (Some("application/octet-stream"), b"%PDF-2.0", Kind::Pdf),
            (None, b"plain words", Kind::Text),
            (None, b"", Kind::Text),
            (None, b"\x7fELF\x02\x01", Kind::Other),
        ];
        for (content_type, body, expected) in rows {
            let mime = content_type.and_then(Mime::parse);
            assert_eq!(kind(mime.as_ref(), body), *expected, "{content_type:?} {body:?}");
        }
    }
}
