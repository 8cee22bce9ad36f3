//! What parsing makes of a body: the `Page`, with its links in one arena.
//!
//! All link texts of a page lie in one `String`, and a link is three spans into it: a page with
//! thousands of links costs a handful of allocations. Spans always lie on character borders, because
//! they are only made by appending. Nothing here grows beyond the limits: what is over is left out,
//! and a note says so.

use std::fmt;

use encoding_rs::Encoding;
use url::Url;

use super::charset::Charset;
use super::marks::{Marks, pieces};
use super::prose::Prose;
use super::sniff::Kind;
use crate::{Limits, Millis, Via};

/// What larm knows of a body after reading it.
#[derive(Debug, Clone)]
pub struct Page {
    /// How it was read.
    pub kind: Kind,
    /// The charset it was read in, and who said so.
    pub charset: Charset,
    /// The first `title`, white space collapsed; `None` where it is empty.
    pub title: Option<String>,
    /// `lang` of the root element.
    pub lang: Option<String>,
    /// The first `base href`, resolved: what links resolve against instead of the page's URL.
    pub base: Option<Url>,
    /// The first `link rel=canonical`, as the page has it.
    pub canonical: Option<String>,
    /// The first `meta name=description`, else the first `og:description`.
    pub description: Option<String>,
    /// `meta` names (in lower case) and contents whose content has the form of robots directives, and
    /// those that reserve text and data mining.
    pub robots_meta: Vec<(String, String)>,
    /// Readable text: white space collapsed, blocks on lines of their own, no scripts, no styles.
    pub text: String,
    /// Which parts of it mean more than the rest.
    pub marks: Marks,
    /// The language that the text is written in, as an ISO 639-1 code; `None` where it cannot be told.
    pub language: Option<&'static str>,
    /// When the page says that it was published, as it says so.
    pub published: Option<String>,
    /// When the page says that it was last changed, as it says so.
    pub modified: Option<String>,
    /// The page in other languages: language and link, as the page has them.
    pub alternates: Vec<(String, String)>,
    /// What was cut or odd, each once.
    pub notes: Vec<Note>,
    links: Links,
}

impl Page {
    pub(super) fn new(kind: Kind, charset: Charset) -> Self {
        Self {
            kind,
            charset,
            title: None,
            lang: None,
            base: None,
            canonical: None,
            description: None,
            robots_meta: Vec::new(),
            text: String::new(),
            marks: Marks::default(),
            language: None,
            published: None,
            modified: None,
            alternates: Vec::new(),
            notes: Vec::new(),
            links: Links::default(),
        }
    }

    /// The main part of the text, and all of it where no main part was found.
    pub fn main_text(&self) -> String {
        if self.marks.main.is_empty() {
            return self.text.clone();
        }
        pieces(&self.text, &self.marks.main).collect::<Vec<_>>().join("\n")
    }

    /// What tells the page from others: its main part if that is half of the text, else all of it. A page that is
    /// made of lists may have little prose, and that may be the same on all of them.
    pub fn substance(&self) -> impl Iterator<Item = &str> {
        let main = &self.marks.main;
        let bytes: usize = main.iter().map(|span| span.len()).sum();
        let is_main = !main.is_empty() && bytes * 2 >= self.text.len();
        let whole = (!is_main).then_some(self.text.as_str());
        pieces(&self.text, if is_main { main } else { &[] }).chain(whole)
    }

    /// The links in the order of the page.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkRef<'_>> {
        self.links.spans.iter().map(|link| self.links.get(link))
    }

    /// How many links there are.
    pub fn link_count(&self) -> usize {
        self.links.spans.len()
    }

    /// The target of the first link of a kind.
    pub(super) fn first_target(&self, via: Via) -> Option<&str> {
        let link = self.links.spans.iter().find(|link| link.via == via)?;
        Some(self.links.slice(link.target))
    }

    /// The page's text beside a link: up to so many bytes before the link's own text, and behind it. Both
    /// are empty for a link that is none of the text, and where the text was not wanted.
    pub fn beside(&self, link: usize, bytes_max: usize) -> (&str, &str) {
        let Some(link) = self.links.spans.get(link) else { return ("", "") };
        let (own, end) = ((link.text.end - link.text.start) as usize, link.text_end as usize);
        match self.text.split_at_checked(end).filter(|_| end > 0) {
            Some((before, behind)) => {
                let before = before.get(..end.saturating_sub(own)).unwrap_or(before);
                (tail(before, bytes_max), cut(behind, bytes_max as u64))
            }
            None => ("", ""),
        }
    }

    /// The charset in which the queries of this page's links are written; see `url::resolve`.
    pub fn encoding(&self) -> &'static Encoding {
        self.charset.encoding
    }

    /// Notes something, once.
    pub(super) fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// What a list says of a link of its own, by the link's place among [`Page::links`].
    pub fn hint(&self, link: usize) -> Option<Hint> {
        let at = self.links.hints.binary_search_by_key(&link, |(of, _)| *of).ok()?;
        self.links.hints.get(at).map(|(_, hint)| *hint)
    }

    pub(super) fn set_text(&mut self, prose: Prose) {
        if prose.is_cut() {
            self.note(Note::TextTruncated);
        }
        self.text = prose.into_string();
    }

    pub(super) fn set_links(&mut self, links: Links) {
        for note in &links.notes {
            self.note(*note);
        }
        self.links = links;
    }
}

/// One link of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkRef<'a> {
    /// The attribute's value: references decoded, white space at both ends removed. Not resolved.
    pub target: &'a str,
    /// What a reader sees: the anchor's text, or an image's `alt`.
    pub text: &'a str,
    /// The `rel` attribute.
    pub rel: &'a str,
    /// How it was found.
    pub via: Via,
    /// Whether `rel` has the word `nofollow`.
    pub nofollow: bool,
}

/// What a sitemap or a feed says of a page that it lists.
///
/// Whoever orders or refreshes a crawl can use it: the priority as a place among the pages of the same host,
/// and the moment to leave a page alone that was fetched after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hint {
    /// When the page was last changed.
    pub modified: Option<Millis>,
    /// How much it matters among its host's pages, in hundredths.
    pub priority: Option<u8>,
}

/// Something that a reader of the page should know of how it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Note {
    /// More links than `page_links_max`.
    LinksTruncated,
    /// A link longer than `url_bytes_max` was left out.
    LinkTooLong,
    /// An anchor's text was cut at `link_text_bytes_max`.
    AnchorTruncated,
    /// The text was cut at `page_text_bytes_max`.
    TextTruncated,
    /// The title or the description was cut at `page_meta_bytes_max`.
    MetaTruncated,
    /// More blocks than `page_blocks_max`, or more marks than `page_marks_max`.
    MarksTruncated,
    /// Deeper than `page_nesting_max`.
    NestingTruncated,
    /// More than `sitemap_urls_max` URLs or `sitemap_bytes_max` bytes.
    SitemapTruncated,
    /// XML that is not well-formed: what stands before the fault was read.
    BrokenXml,
    /// JSON that cannot be read.
    BrokenJson,
    /// Bytes that mean nothing in the page's charset.
    MalformedCharset,
    /// A PDF that nobody read.
    PdfUnread,
    /// A PDF that takes longer than `pdf_ms_max`: what was read until then is kept.
    PdfLate,
    /// The reader of a PDF ended before the PDF did: what it had read is kept.
    PdfReaderDied,
    /// More pages, text or links than may be read of a PDF.
    PdfTruncated,
    /// A PDF that wants a password.
    PdfLocked,
    /// A PDF that is none, or too damaged.
    PdfBroken,
}

impl Note {
    /// One stable word for logs and counters.
    pub fn word(self) -> &'static str {
        match self {
            Self::LinksTruncated => "links-truncated",
            Self::LinkTooLong => "link-too-long",
            Self::AnchorTruncated => "anchor-truncated",
            Self::TextTruncated => "text-truncated",
            Self::MetaTruncated => "meta-truncated",
            Self::MarksTruncated => "marks-truncated",
            Self::NestingTruncated => "nesting-truncated",
            Self::SitemapTruncated => "sitemap-truncated",
            Self::BrokenXml => "broken-xml",
            Self::BrokenJson => "broken-json",
            Self::MalformedCharset => "malformed-charset",
            Self::PdfUnread => "pdf-unread",
            Self::PdfLate => "pdf-late",
            Self::PdfReaderDied => "pdf-reader-died",
            Self::PdfTruncated => "pdf-truncated",
            Self::PdfLocked => "pdf-locked",
            Self::PdfBroken => "pdf-broken",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The arena: every string of every link, and where each lies.
#[derive(Debug, Clone, Default)]
pub(super) struct Links {
    arena: String,
    spans: Vec<Link>,
    /// By the link's place, in order.
    hints: Vec<(usize, Hint)>,
    notes: Vec<Note>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Span {
    start: u32,
    end: u32,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    target: Span,
    text: Span,
    rel: Span,
    /// Where in the page's text that of an anchor ends; 0 where that is not known.
    text_end: u32,
    via: Via,
    nofollow: bool,
}

/// A link as a parser hands it over.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewLink<'a> {
    pub via: Via,
    pub target: &'a str,
    pub rel: &'a str,
    pub text: &'a str,
}

impl<'a> NewLink<'a> {
    pub fn new(via: Via, target: &'a str) -> Self {
        Self { via, target, rel: "", text: "" }
    }
}

/// A place in the arena, for the text that comes after the link.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkId(usize);

impl Links {
    /// With room for the links that a page of so many bytes is likely to have.
    pub fn with_room(bytes: usize) -> Self {
        let (arena, spans) = (String::with_capacity(bytes / 4), Vec::with_capacity(bytes / 192));
        Self { arena, spans, ..Self::default() }
    }

    /// Keeps a link, within the limits. An empty target is kept for anchors alone: there it leads to
    /// the page (or its base) itself, elsewhere it means nothing. `data:` carries its content with it
    /// and is no link.
    pub fn push(&mut self, link: NewLink<'_>, links_max: u64, limits: &Limits) -> Option<LinkId> {
        let target = link.target.trim_ascii();
        if target.is_empty() && link.via != Via::Anchor || is_data(target) {
            return None;
        }
        if self.spans.len() as u64 >= links_max {
            self.note(Note::LinksTruncated);
            return None;
        }
        let Some(target) = fitting(target, limits.url_bytes_max) else {
            self.note(Note::LinkTooLong);
            return None;
        };
        let rel = cut(link.rel, limits.link_text_bytes_max);
        let text = cut(link.text, limits.link_text_bytes_max);
        if text.len() < link.text.len() {
            self.note(Note::AnchorTruncated);
        }
        let link = Link {
            target: self.store(target)?,
            text: self.store(text)?,
            rel: self.store(rel)?,
            text_end: 0,
            via: link.via,
            nofollow: !link.rel.is_empty() && has_word(link.rel, "nofollow"),
        };
        self.spans.push(link);
        Some(LinkId(self.spans.len() - 1))
    }

    /// Keeps what a list says of the link that was kept last.
    pub fn hint(&mut self, id: LinkId, hint: Hint) {
        if hint != Hint::default() {
            self.hints.push((id.0, hint));
        }
    }

    /// Gives a link the text that was found after it, which ends at `text_end` of the page's.
    pub fn set_text(&mut self, id: LinkId, text: &Prose, text_end: usize) {
        if text.is_cut() {
            self.note(Note::AnchorTruncated);
        }
        if let Some(span) = self.store(text.as_str()) {
            self.spans[id.0].text = span;
            self.spans[id.0].text_end = u32::try_from(text_end).unwrap_or_default();
        }
    }

    fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// `None` when the arena is full: 4 GiB of links are more than any page has.
    fn store(&mut self, text: &str) -> Option<Span> {
        if text.is_empty() {
            return Some(Span::default());
        }
        let start = u32::try_from(self.arena.len()).ok()?;
        let end = u32::try_from(self.arena.len() + text.len()).ok()?;
        self.arena.push_str(text);
        Some(Span { start, end })
    }

    fn get(&self, link: &Link) -> LinkRef<'_> {
        LinkRef {
            target: self.slice(link.target),
            text: self.slice(link.text),
            rel: self.slice(link.rel),
            via: link.via,
            nofollow: link.nofollow,
        }
    }

    fn slice(&self, span: Span) -> &str {
        &self.arena[span.start as usize..span.end as usize]
    }
}

pub(super) fn is_data(target: &str) -> bool {
    let is_data = |start: &[u8; 5]| start[0] | 0x20 == b'd' && start.eq_ignore_ascii_case(b"data:");
    target.as_bytes().first_chunk().is_some_and(is_data)
}

/// The target if it may become a URL within the limit; its fragment, which no server sees, is given
/// up first.
fn fitting(target: &str, bytes_max: u64) -> Option<&str> {
    let fits = |text: &str| text.len() as u64 <= bytes_max;
    let without_fragment = || target.split('#').next().filter(|text| fits(text));
    if fits(target) { Some(target) } else { without_fragment() }
}

/// At most `bytes_max` bytes of a text, whole characters only.
pub fn cut(text: &str, bytes_max: u64) -> &str {
    let max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    if text.len() <= max {
        return text;
    }
    let border = (0..=max).rev().find(|&at| text.is_char_boundary(at));
    &text[..border.unwrap_or(0)]
}

/// At most the last `bytes_max` bytes of a text, whole characters only.
fn tail(text: &str, bytes_max: usize) -> &str {
    let from = text.len().saturating_sub(bytes_max);
    let border = (from..=text.len()).find(|&at| text.is_char_boundary(at));
    &text[border.unwrap_or(text.len())..]
}

/// Whether a list of words, as in `rel`, has this one.
pub(super) fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|each| each.eq_ignore_ascii_case(word))
}
