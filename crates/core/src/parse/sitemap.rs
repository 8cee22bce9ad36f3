//! Sitemaps (XML, index, text) and feeds (RSS, RDF, Atom): the pages that they list.
//!
//! Elements are known by their local names: wrong and missing namespaces are common. Nothing is
//! expanded but characters: a doctype's entities, internal or external, are never resolved. XML that
//! breaks gives what stood before the fault, and a note. Compressed sitemaps are decoded by the caller.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::html::{decode_attribute, decode_text};
use super::page::{Links, NewLink, Note, Page, cut};
use super::prose::Prose;
use super::sniff::Kind;
use crate::{Limits, Via};

/// Elements that mean something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    UrlSet,
    SitemapIndex,
    Url,
    Sitemap,
    Loc,
    /// `rss`, `RDF`, and Atom's `feed`, which is a channel too.
    Rss,
    Channel,
    /// `item` or `entry`.
    Item,
    Link,
    Title,
    Enclosure,
    Other,
}

impl Element {
    fn of(local_name: &[u8]) -> Self {
        match local_name.to_ascii_lowercase().as_slice() {
            b"urlset" => Self::UrlSet,
            b"sitemapindex" => Self::SitemapIndex,
            b"url" => Self::Url,
            b"sitemap" => Self::Sitemap,
            b"loc" => Self::Loc,
            b"rss" | b"rdf" => Self::Rss,
            b"channel" | b"feed" => Self::Channel,
            b"item" | b"entry" => Self::Item,
            b"link" => Self::Link,
            b"title" => Self::Title,
            b"enclosure" => Self::Enclosure,
            _ => Self::Other,
        }
    }

    /// Entries too: some lists have their URLs there, without a `loc`.
    fn holds_text(self) -> bool {
        matches!(self, Self::Loc | Self::Link | Self::Title | Self::Url | Self::Sitemap)
    }

    /// What a document with this root is.
    fn kind(self) -> Kind {
        match self {
            Self::UrlSet => Kind::Sitemap,
            Self::SitemapIndex => Kind::SitemapIndex,
            Self::Rss | Self::Channel => Kind::Feed,
            _ => Kind::Xml,
        }
    }
}

/// Whether a body begins like XML.
pub(super) fn looks_like_xml(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    body.trim_ascii_start().first() == Some(&b'<')
}

/// Whether the root element is `html`.
pub(super) fn root_is_html(source: &str) -> bool {
    let mut reader = lenient(source);
    loop {
        match reader.read_event() {
            Ok(Event::Start(root) | Event::Empty(root)) => {
                return root.local_name().as_ref().eq_ignore_ascii_case("html");
            }
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

/// Reads a text sitemap: a URL per line.
pub(super) fn read_text(mut page: Page, source: &str, limits: &Limits) -> Page {
    let mut links = Links::default();
    for url in bounded(source, limits, &mut page).lines().map(str::trim).filter(|line| is_url(line))
    {
        links.push(NewLink::new(Via::Sitemap, url), limits.sitemap_urls_max, limits);
    }
    finish(page, links)
}

fn is_url(text: &str) -> bool {
    let has = |scheme: &str| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    has("http://") || has("https://")
}

/// Reads XML.
pub(super) fn read(mut page: Page, source: &str, limits: &Limits) -> Page {
    let source = bounded(source, limits, &mut page);
    let mut listing = Listing::new(page, limits);
    let mut reader = lenient(source);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => listing.start(&element, true),
            Ok(Event::Empty(element)) => listing.start(&element, false),
            Ok(Event::End(_)) => listing.end(),
            Ok(Event::Text(text)) => listing.text(&text),
            Ok(Event::CData(text)) => listing.text(&text),
            Ok(Event::GeneralRef(name)) => listing.reference(&name),
            Ok(Event::Eof) => break,
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
            Err(_) => {
                listing.page.note(Note::BrokenXml);
                break;
            }
        }
    }
    listing.finish()
}

fn lenient(source: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(source);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    reader
}

fn bounded<'a>(source: &'a str, limits: &Limits, page: &mut Page) -> &'a str {
    let kept = cut(source, limits.sitemap_bytes_max);
    if kept.len() < source.len() {
        page.note(Note::SitemapTruncated);
    }
    kept
}

fn finish(mut page: Page, links: Links) -> Page {
    page.set_links(links);
    if let Some(note) = page.notes.iter_mut().find(|note| **note == Note::LinksTruncated) {
        *note = Note::SitemapTruncated;
    }
    page
}

/// A document being read.
struct Listing<'l> {
    page: Page,
    limits: &'l Limits,
    links: Links,
    /// Open elements from the root, as far as `page_nesting_max` allows; and how many lie deeper.
    path: Vec<Element>,
    deeper: u64,
    has_root: bool,
    /// Text of the element that is being read, if it is one to keep.
    text: String,
    reads_text: bool,
}

impl<'l> Listing<'l> {
    fn new(page: Page, limits: &'l Limits) -> Self {
        Self {
            page,
            limits,
            links: Links::default(),
            path: Vec::new(),
            deeper: 0,
            has_root: false,
            text: String::new(),
            reads_text: false,
        }
    }

    fn finish(mut self) -> Page {
        if !self.path.is_empty() || !self.has_root {
            self.page.note(Note::BrokenXml);
        }
        finish(self.page, self.links)
    }

    fn start(&mut self, start: &BytesStart<'_>, has_content: bool) {
        let element = Element::of(start.local_name().as_ref().as_bytes());
        if !self.has_root {
            self.root(element, start);
        }
        match element {
            Element::Link => self.link(start),
            Element::Enclosure => {
                if let Some(url) = attribute(start, "url") {
                    self.push(Via::Embed, &url);
                }
            }
            _ => {}
        }
        if has_content {
            self.open(element);
        }
    }

    fn root(&mut self, element: Element, start: &BytesStart<'_>) {
        self.has_root = true;
        self.page.kind = element.kind();
        self.page.base = attribute(start, "xml:base").and_then(|base| url::Url::parse(&base).ok());
    }

    fn open(&mut self, element: Element) {
        if self.path.len() as u64 >= self.limits.page_nesting_max {
            self.page.note(Note::NestingTruncated);
            self.deeper += 1;
            return;
        }
        self.text.clear();
        self.reads_text = element.holds_text();
        self.path.push(element);
    }

    fn end(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let element = self.path.pop();
        let text = std::mem::take(&mut self.text);
        if std::mem::take(&mut self.reads_text) {
            self.close(element, self.path.last().copied(), &text);
        }
        self.text = text;
        self.text.clear();
    }

    /// Takes what an element held. The parent tells a page's `loc` from an image's.
    fn close(&mut self, element: Option<Element>, parent: Option<Element>, text: &str) {
        match (element, parent) {
            (Some(Element::Loc), Some(Element::Url)) => self.push(Via::Sitemap, text),
            (Some(Element::Loc), Some(Element::Sitemap)) => self.push(Via::SitemapIndex, text),
            (Some(Element::Url), Some(Element::UrlSet)) if is_url(text) => {
                self.push(Via::Sitemap, text);
            }
            (Some(Element::Sitemap), Some(Element::SitemapIndex)) if is_url(text) => {
                self.push(Via::SitemapIndex, text);
            }
            (Some(Element::Link), Some(Element::Item | Element::Channel)) => {
                self.push(Via::Sitemap, text);
            }
            (Some(Element::Title), Some(Element::Channel)) if self.page.title.is_none() => {
                let mut title = Prose::new(self.limits.page_meta_bytes_max);
                title.words(text);
                self.page.title = Some(title.into_string()).filter(|title| !title.is_empty());
            }
            _ => {}
        }
    }

    /// A link that has its target in an attribute: Atom's, or a translation in a sitemap.
    fn link(&mut self, start: &BytesStart<'_>) {
        let Some(href) = attribute(start, "href") else {
            return;
        };
        let rel = attribute(start, "rel").unwrap_or_default().to_ascii_lowercase();
        let via = match (self.path.last(), rel.as_str()) {
            (Some(Element::Url), _) => Via::Alternate,
            (Some(Element::Item | Element::Channel), "" | "alternate") => Via::Sitemap,
            (_, "enclosure") => Via::Embed,
            (
                _,
                "next" | "prev" | "previous" | "first" | "last" | "related" | "via" | "replies",
            ) => Via::Link,
            _ => return,
        };
        self.push(via, &href);
    }

    fn text(&mut self, piece: &str) {
        // Longer than any URL may be: the rest makes no difference.
        if self.reads_text && self.text.len() as u64 <= self.limits.url_bytes_max {
            let piece = if self.text.is_empty() { piece.trim_ascii_start() } else { piece };
            self.text.push_str(cut(piece, self.limits.url_bytes_max.saturating_mul(2)));
        }
    }

    /// A reference by name or number. Only characters are known; all other names stay as written.
    fn reference(&mut self, name: &str) {
        if self.reads_text && self.deeper == 0 {
            let mut character = String::new();
            decode_text(&format!("&{name};"), &mut character);
            self.text(&character);
        }
    }

    fn push(&mut self, via: Via, target: &str) {
        if !target.trim_ascii().is_empty() {
            self.links.push(NewLink::new(via, target), self.limits.sitemap_urls_max, self.limits);
        }
    }
}

/// An attribute's value by its name, prefix included; references decoded.
fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = start.html_attributes();
    let attributes = attributes.with_checks(false);
    let found = attributes.flatten().find(|each| each.key.as_ref().eq_ignore_ascii_case(name))?;
    let mut value = String::new();
    decode_attribute(&found.value, &mut value);
    Some(value.trim_ascii().to_owned())
}
