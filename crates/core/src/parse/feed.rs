//! Feeds (RSS of every version, RDF, Atom, CDF): the pages that they list, what they offer besides, and
//! their text.
//!
//! A page's link has its entry's title as its text, and a hint of when it was written. Enclosures, and what
//! other extensions offer as sound, film or image, are `Via::Enclosure`. `xml:base` counts where it stands:
//! that of the root for the document, one further in for what is inside. How XML is read: see [`xml`].

use quick_xml::events::BytesStart;
use url::Url;

use super::language::language;
use super::page::{Hint, Links, NewLink, Note, Page, cut};
use super::prose::Prose;
use super::sitemap::finish;
use super::sniff::Kind;
use super::xml::{self, Listener, attribute, bounded, is_url, moment};
use super::{Charset, Input, html};
use crate::{Limits, Millis, Via};

/// Elements that mean something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    /// `rss` and `RDF`.
    Root,
    /// `channel`, and Atom's `feed`.
    Channel,
    /// `item` or `entry`.
    Item,
    /// `image` of a channel, whose `url` is that of a file.
    Image,
    Field(Field),
    Other,
}

/// What a channel or an entry says in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Title,
    Link,
    /// A name that may be an address.
    Id,
    Comments,
    Summary,
    Content,
    Date,
    Language,
    /// `url` of an image; `icon` and `logo` of Atom.
    File,
}

impl Element {
    fn of(local_name: &str) -> Self {
        match local_name {
            "rss" | "rdf" => Self::Root,
            "channel" | "feed" => Self::Channel,
            "item" | "entry" => Self::Item,
            "image" => Self::Image,
            "title" => Self::Field(Field::Title),
            "link" => Self::Field(Field::Link),
            "guid" => Self::Field(Field::Id),
            "comments" => Self::Field(Field::Comments),
            "description" | "summary" | "subtitle" | "tagline" | "abstract" => {
                Self::Field(Field::Summary)
            }
            "encoded" | "content" | "body" => Self::Field(Field::Content),
            "updated" | "modified" | "pubdate" | "date" | "published" | "issued" => {
                Self::Field(Field::Date)
            }
            "language" => Self::Field(Field::Language),
            "url" | "icon" | "logo" => Self::Field(Field::File),
            _ => Self::Other,
        }
    }
}

/// Whether a root element is that of a feed.
pub(super) fn is_root(local_name: &str) -> bool {
    matches!(Element::of(local_name), Element::Root | Element::Channel)
}

/// Reads a feed.
pub(super) fn read(input: &Input<'_>, mut page: Page, source: &str, limits: &Limits) -> Page {
    let source = bounded(source, limits, &mut page);
    page.kind = Kind::Feed;
    let mut feed = Feed::new(input, page, limits);
    if !xml::each_event(source, &mut feed) {
        feed.page.note(Note::BrokenXml);
    }
    feed.finish()
}

/// An entry, or the channel itself, as far as it was read.
#[derive(Default)]
struct Entry {
    title: String,
    text: String,
    /// Where its page is; without one, its name or what it is about may be an address.
    links: Vec<(Via, String)>,
    id: String,
    modified: Option<Millis>,
}

/// The words of an element under way.
struct Capture {
    field: Field,
    /// How deep the element lies.
    depth: usize,
    /// Whether its characters are HTML.
    is_html: bool,
    text: String,
}

struct Feed<'i> {
    input: &'i Input<'i>,
    limits: &'i Limits,
    page: Page,
    links: Links,
    text: Prose,
    path: Vec<Element>,
    deeper: u64,
    /// Bases inside of the root's, each with its depth.
    bases: Vec<(usize, Url)>,
    capture: Option<Capture>,
    entry: Entry,
    /// Whether the channel's own links were listed.
    has_channel: bool,
}

impl<'i> Feed<'i> {
    fn new(input: &'i Input<'i>, page: Page, limits: &'i Limits) -> Self {
        Self {
            input,
            limits,
            page,
            links: Links::default(),
            text: Prose::new(limits.page_text_bytes_max),
            path: Vec::new(),
            deeper: 0,
            bases: Vec::new(),
            capture: None,
            entry: Entry::default(),
            has_channel: false,
        }
    }

    fn finish(mut self) -> Page {
        if !self.path.is_empty() {
            self.page.note(Note::BrokenXml);
        }
        self.list();
        self.page.language = language(self.text.as_str(), &[]);
        self.page.set_text(self.text);
        finish(self.page, self.links)
    }

    /// The innermost channel or entry.
    fn holder(&self) -> Option<Element> {
        let holds = |element: &&Element| matches!(element, Element::Channel | Element::Item);
        self.path.iter().rev().find(holds).copied()
    }

    /// Whether the innermost element is a channel or an entry itself: what stands in one of its parts, such
    /// as the `source` of an entry or a channel's `image`, is said of that.
    fn is_own(&self) -> bool {
        matches!(self.path.last(), Some(Element::Channel | Element::Item))
    }

    fn in_item(&self) -> bool {
        self.holder() == Some(Element::Item)
    }

    fn base(&self) -> &Url {
        let inner = self.bases.last().map(|(_, base)| base);
        inner.or(self.page.base.as_ref()).unwrap_or(self.input.url)
    }

    fn enter_base(&mut self, start: &BytesStart<'_>) {
        let said = attribute(start, "xml:base").or_else(|| attribute(start, "base"));
        let Some(base) = said.and_then(|base| self.base().join(&base).ok()) else { return };
        if self.path.is_empty() {
            self.page.base = Some(base);
        } else {
            self.bases.push((self.path.len(), base));
        }
    }

    /// Notes where something leads. Under a base of its own it is made whole at once.
    fn lead(&mut self, via: Via, target: &str) {
        let target = target.trim();
        if target.is_empty() || self.entry.links.len() as u64 >= self.limits.page_links_max {
            return;
        }
        let whole = (!self.bases.is_empty()).then(|| self.base().join(target).ok()).flatten();
        let target = whole.map_or_else(|| target.to_owned(), String::from);
        self.entry.links.push((via, target));
    }

    /// What an element says in its attributes.
    fn attributes(&mut self, name: &str, start: &BytesStart<'_>) {
        let get = |name: &str| attribute(start, name);
        match name {
            "link" | "a" => {
                let rel = get("rel").unwrap_or_default().to_ascii_lowercase();
                if let (Some(href), Some(via)) = (get("href"), via_of(&rel))
                    && (self.is_own() || via != Via::Sitemap)
                {
                    self.lead(via, &href);
                }
            }
            "enclosure" => {
                self.lead(Via::Enclosure, &get("url").or(get("rdf:resource")).unwrap_or_default())
            }
            "thumbnail" | "player" | "peerlink" => {
                self.lead(Via::Enclosure, &get("url").unwrap_or_default());
            }
            "content" => {
                // Of Media RSS, or Atom's content that lies elsewhere.
                self.lead(Via::Enclosure, &get("url").unwrap_or_default());
                self.lead(Via::Link, &get("src").unwrap_or_default());
            }
            "image" | "logo" => self.lead(Via::Enclosure, &get("href").unwrap_or_default()),
            "item" | "channel" => {
                // CDF has its addresses here; RDF says here what an item is about.
                self.lead(Via::Sitemap, &get("href").unwrap_or_default());
                self.entry.id = get("rdf:about").unwrap_or_default();
            }
            _ => {}
        }
    }

    /// What an element said in words.
    fn close(&mut self, Capture { field, is_html, text, .. }: Capture) {
        let parent = self.path.last().copied();
        match field {
            Field::Title if self.is_own() && self.entry.title.is_empty() => {
                self.entry.title = self.words(&text, is_html);
            }
            Field::Link if self.is_own() => self.lead(Via::Sitemap, &text),
            Field::Id if is_url(text.trim()) => self.entry.id = text.trim().to_owned(),
            Field::Comments if is_url(text.trim()) => self.lead(Via::Link, &text),
            Field::File if matches!(parent, Some(Element::Image | Element::Channel)) => {
                self.lead(Via::Enclosure, &text);
            }
            Field::Date if self.is_own() => {
                self.entry.modified = self.entry.modified.max(moment(&text))
            }
            Field::Language if self.page.lang.is_none() => {
                self.page.lang = Some(cut(text.trim(), self.limits.page_meta_bytes_max).to_owned());
            }
            Field::Summary | Field::Content => {
                let words = self.words(&text, is_html);
                // Where there is the whole and its beginning, the whole.
                if words.len() > self.entry.text.len() {
                    self.entry.text = words;
                }
            }
            _ => {}
        }
    }

    /// Readable text of what may be HTML.
    fn words(&self, text: &str, is_html: bool) -> String {
        if !is_html || !text.contains(['<', '&']) {
            return text.to_owned();
        }
        let input = Input { text: true, ..*self.input };
        let page = Page::new(Kind::Html, Charset::default());
        html::read(&input, page, text, self.limits).text
    }

    /// Puts the entry that was read, or the channel, on the list.
    fn list(&mut self) {
        let mut entry = std::mem::take(&mut self.entry);
        if !entry.links.iter().any(|(via, _)| *via == Via::Sitemap) && is_url(&entry.id) {
            entry.links.push((Via::Sitemap, std::mem::take(&mut entry.id)));
        }
        let mut title = Prose::new(self.limits.link_text_bytes_max);
        title.words(&entry.title);
        for (via, target) in &entry.links {
            let text = if *via == Via::Sitemap { title.as_str() } else { "" };
            let link = NewLink { text, ..NewLink::new(*via, target) };
            let id = self.links.push(link, self.limits.sitemap_urls_max, self.limits);
            if let Some(id) = id.filter(|_| *via == Via::Sitemap) {
                self.links.hint(id, Hint { modified: entry.modified, priority: None });
            }
        }
        if self.input.text {
            for words in [&entry.title, &entry.text] {
                for line in words.lines() {
                    self.text.words(line);
                    self.text.line();
                }
            }
        }
    }

    /// What the channel said of itself is listed before its first entry.
    fn list_channel(&mut self) {
        if std::mem::replace(&mut self.has_channel, true) {
            return;
        }
        let mut title = Prose::new(self.limits.page_meta_bytes_max);
        title.words(&self.entry.title);
        self.page.title = Some(title.into_string()).filter(|title| !title.is_empty());
        self.list();
    }
}

impl Listener for Feed<'_> {
    fn start(&mut self, start: &BytesStart<'_>, has_content: bool) {
        if let Some(capture) = &mut self.capture {
            // XHTML inside: its words are words.
            capture.text.push(' ');
        }
        let name = xml::local_name(start);
        let element = Element::of(&name);
        if element == Element::Item && !self.in_item() {
            self.list_channel();
        }
        self.enter_base(start);
        let is_inside = self.capture.is_none() && self.deeper == 0;
        if is_inside {
            self.attributes(&name, start);
        }
        if !has_content {
            if element == Element::Item {
                self.list();
            }
            self.leave_base();
            return;
        }
        if self.path.len() as u64 >= self.limits.page_nesting_max {
            self.page.note(Note::NestingTruncated);
            self.deeper += 1;
            return;
        }
        if let Element::Field(field) = element
            && is_inside
            && self.holder().is_some()
        {
            let is_html = attribute(start, "type").is_none_or(|kind| !kind.starts_with("text"));
            let depth = self.path.len();
            self.capture = Some(Capture { field, depth, is_html, text: String::new() });
        }
        if self.path.is_empty() {
            self.page.lang = attribute(start, "xml:lang");
        }
        self.path.push(element);
    }

    fn end(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let element = self.path.pop();
        if let Some(capture) = self.capture.take_if(|capture| capture.depth >= self.path.len()) {
            self.close(capture);
        }
        if element == Some(Element::Item) && !self.in_item() {
            self.list();
        } else if element == Some(Element::Channel) {
            self.list_channel();
        }
        self.leave_base();
    }

    fn text(&mut self, piece: &str) {
        let bytes_max = self.limits.page_text_bytes_max;
        if let Some(capture) = &mut self.capture {
            let room = bytes_max.saturating_sub(capture.text.len() as u64);
            capture.text.push_str(cut(piece, room));
        }
    }
}

impl Feed<'_> {
    fn leave_base(&mut self) {
        while self.bases.last().is_some_and(|(depth, _)| *depth >= self.path.len()) {
            self.bases.pop();
        }
    }
}

/// What a link of this relation is; `None` for what is not for readers (RFC 4287 section 4.2.7.2).
fn via_of(rel: &str) -> Option<Via> {
    Some(match rel {
        "" | "alternate" => Via::Sitemap,
        "enclosure" => Via::Enclosure,
        "next" | "prev" | "previous" | "first" | "last" | "related" | "via" | "replies"
        | "next-archive" | "prev-archive" | "current" => Via::Link,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
