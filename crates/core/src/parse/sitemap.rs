//! Sitemaps (XML, index, text): the pages that they list, and what they say of each.
//!
//! Of the extensions, images and films become links of their own (`Via::Enclosure`), translations lead on
//! as alternates, and a news title is the text of its page's link. Compressed sitemaps are decoded by the
//! caller. How XML is read: see [`xml`].

use quick_xml::events::BytesStart;

use super::page::{Hint, Links, NewLink, Note, Page, cut};
use super::sniff::Kind;
use super::xml::{self, Listener, attribute, bounded, is_url, moment};
use crate::{Limits, Millis, Via};

/// Elements that mean something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    UrlSet,
    SitemapIndex,
    Url,
    Sitemap,
    Loc,
    LastMod,
    Priority,
    /// `image`, `video` and `news`: what belongs to a page.
    Extension,
    /// Where the file of an image or a film is.
    File,
    /// What a news article is called, and when it came out.
    Title,
    Published,
    Link,
    Other,
}

impl Element {
    fn of(local_name: &str) -> Self {
        match local_name {
            "urlset" => Self::UrlSet,
            "sitemapindex" => Self::SitemapIndex,
            "url" => Self::Url,
            "sitemap" => Self::Sitemap,
            "loc" => Self::Loc,
            "lastmod" => Self::LastMod,
            "priority" => Self::Priority,
            "image" | "video" | "news" => Self::Extension,
            "content_loc" | "thumbnail_loc" => Self::File,
            "title" => Self::Title,
            "publication_date" => Self::Published,
            "link" => Self::Link,
            _ => Self::Other,
        }
    }

    fn holds_text(self) -> bool {
        !matches!(self, Self::UrlSet | Self::SitemapIndex | Self::Extension | Self::Other)
    }

    /// What a document with this root is.
    fn kind(self) -> Kind {
        match self {
            Self::UrlSet => Kind::Sitemap,
            Self::SitemapIndex => Kind::SitemapIndex,
            _ => Kind::Xml,
        }
    }
}

/// Whether a body begins like XML.
pub(super) fn looks_like_xml(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    body.trim_ascii_start().first() == Some(&b'<')
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

/// Reads XML that is no feed.
pub(super) fn read(mut page: Page, source: &str, limits: &Limits) -> Page {
    let source = bounded(source, limits, &mut page);
    let mut listing = Listing::new(page, limits);
    if !xml::each_event(source, &mut listing) {
        listing.page.note(Note::BrokenXml);
    }
    listing.finish()
}

/// A list's links are cut where a sitemap's are.
pub(super) fn finish(mut page: Page, links: Links) -> Page {
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
    entry: Entry,
}

/// What is known of the `url` or `sitemap` that is being read.
#[derive(Default)]
struct Entry {
    location: String,
    title: String,
    modified: Option<Millis>,
    published: Option<Millis>,
    priority: Option<u8>,
    /// What belongs to it.
    others: Vec<(Via, String)>,
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
            entry: Entry::default(),
        }
    }

    fn finish(mut self) -> Page {
        if !self.path.is_empty() || !self.has_root {
            self.page.note(Note::BrokenXml);
        }
        // What was said of an entry before the fault counts.
        if let Some(entry) = self.path.iter().copied().rfind(|element| is_entry(*element)) {
            self.list(entry);
        }
        finish(self.page, self.links)
    }

    /// Takes what an element held. The parent tells a page's `loc` from an image's.
    fn close(&mut self, element: Element, parent: Option<Element>, text: &str) {
        match (element, parent) {
            (Element::Loc, Some(Element::Url | Element::Sitemap)) => {
                self.entry.location = text.to_owned();
            }
            (Element::Loc | Element::File, Some(Element::Extension)) => {
                self.also(Via::Enclosure, text.to_owned());
            }
            (Element::LastMod, _) => self.entry.modified = moment(text),
            (Element::Priority, _) => self.entry.priority = hundredths(text),
            (Element::Published, _) => self.entry.published = moment(text),
            (Element::Title, Some(Element::Extension)) => self.entry.title = text.to_owned(),
            (Element::Url, Some(Element::UrlSet))
            | (Element::Sitemap, Some(Element::SitemapIndex)) => {
                // Some lists have their URLs there, without a `loc`.
                if self.entry.location.is_empty() && is_url(text) {
                    self.entry.location = text.to_owned();
                }
                self.list(element);
            }
            _ => {}
        }
    }

    /// Puts an entry on the list.
    fn list(&mut self, element: Element) {
        let entry = std::mem::take(&mut self.entry);
        let via = if element == Element::Sitemap { Via::SitemapIndex } else { Via::Sitemap };
        let link = NewLink { text: entry.title.trim_ascii(), ..NewLink::new(via, &entry.location) };
        if let Some(id) = self.links.push(link, self.limits.sitemap_urls_max, self.limits) {
            let modified = entry.modified.or(entry.published);
            self.links.hint(id, Hint { modified, priority: entry.priority });
        }
        for (via, target) in &entry.others {
            let link = NewLink::new(*via, target);
            self.links.push(link, self.limits.sitemap_urls_max, self.limits);
        }
    }

    fn also(&mut self, via: Via, target: String) {
        if (self.entry.others.len() as u64) < self.limits.page_links_max {
            self.entry.others.push((via, target));
        } else {
            self.page.note(Note::SitemapTruncated);
        }
    }
}

impl Listener for Listing<'_> {
    fn start(&mut self, start: &BytesStart<'_>, has_content: bool) {
        let element = Element::of(&xml::local_name(start));
        if !self.has_root {
            self.has_root = true;
            self.page.kind = element.kind();
        }
        if element == Element::Link
            && self.path.last() == Some(&Element::Url)
            && let Some(href) = attribute(start, "href")
        {
            self.also(Via::Alternate, href);
        }
        if !has_content {
            return;
        }
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
        let held = if std::mem::take(&mut self.reads_text) { text.as_str() } else { "" };
        if let Some(element) = element {
            self.close(element, self.path.last().copied(), held);
        }
        self.text = text;
        self.text.clear();
    }

    fn text(&mut self, piece: &str) {
        // Longer than any URL may be: the rest makes no difference.
        if self.reads_text
            && self.deeper == 0
            && self.text.len() as u64 <= self.limits.url_bytes_max
        {
            let piece = if self.text.is_empty() { piece.trim_ascii_start() } else { piece };
            self.text.push_str(cut(piece, self.limits.url_bytes_max.saturating_mul(2)));
        }
    }
}

fn is_entry(element: Element) -> bool {
    matches!(element, Element::Url | Element::Sitemap)
}

/// `0.8` → 80. What lies outside of 0 to 1 means nothing.
fn hundredths(text: &str) -> Option<u8> {
    let value: f64 = text.trim().parse().ok()?;
    (0.0..=1.0).contains(&value).then(|| (value * 100.0).round() as u8)
}
