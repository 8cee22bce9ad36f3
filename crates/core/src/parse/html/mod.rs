//! HTML → page: one pass of the scanner, and what each element adds to the page.
//!
//! The link set is that of a DOM built with scripting off (the tests compare with one); no tree is
//! built for it. Text is taken from where a reader would see it: not from scripts, styles, templates,
//! drawings or form fields.

mod foreign;
mod form;
mod link;
mod name;
mod packed;
mod reference;
mod refresh;
mod scanner;
mod srcset;
mod tokenizer;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use super::Input;
use super::bytes;
use super::page::{LinkId, Note, Page, cut};
use super::prose::{self, Prose};
use super::sniff::Kind;
use crate::{Limits, Via};
use link::Finder;

pub use form::{Form, forms};

pub(super) use foreign::Namespace;
pub(super) use name::{Attr, Tag};
pub(super) use reference::{decode_attribute, decode_text};
pub(super) use scanner::{Dialect, Event, Scanner, Text};
pub(super) use tokenizer::Attributes;

/// Reads a page.
pub(super) fn read(input: &Input<'_>, page: Page, source: &str, limits: &Limits) -> Page {
    let dialect = if page.kind == Kind::Xhtml { Dialect::Xhtml } else { Dialect::Html };
    let mut scanner = Scanner::new(source, dialect, limits.page_nesting_max);
    let mut reader = Reader::new(input, page, limits);
    while let Some(event) = scanner.next() {
        match event {
            Event::Start { tag, namespace } => reader.start(tag, namespace, &scanner),
            Event::End { tag, .. } => reader.end(tag),
            Event::Text(text) => reader.text(text, scanner.in_template()),
        }
    }
    if scanner.is_cut() {
        reader.page.note(Note::NestingTruncated);
    }
    reader.finish()
}

/// Where the first `title` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Title {
    NotYet,
    Open,
    Done,
}

struct Reader<'i, 'l> {
    input: &'i Input<'i>,
    limits: &'l Limits,
    page: Page,
    finder: Finder<'l>,
    text: Prose,
    title: Title,
    has_base: bool,
    /// The link whose text is being read.
    anchor: Option<LinkId>,
    anchor_text: Prose,
    buffer: String,
}

impl<'i, 'l> Reader<'i, 'l> {
    fn new(input: &'i Input<'i>, page: Page, limits: &'l Limits) -> Self {
        Self {
            input,
            limits,
            page,
            finder: Finder::new(limits),
            text: text(input, limits),
            title: Title::NotYet,
            has_base: false,
            anchor: None,
            anchor_text: Prose::new(limits.link_text_bytes_max),
            buffer: String::new(),
        }
    }

    fn finish(mut self) -> Page {
        self.close_anchor();
        self.page.set_text(self.text);
        self.page.set_links(self.finder.into_links());
        self.page.canonical = self.page.first_target(Via::Canonical).map(str::to_owned);
        self.page
    }

    fn start(&mut self, tag: Tag, namespace: Namespace, scanner: &Scanner<'_>) {
        let attributes = scanner.attributes();
        if tag == Tag::A {
            self.close_anchor();
        }
        if let Some(anchor) = self.finder.element(tag, namespace, attributes) {
            self.anchor = Some(anchor);
        }
        if namespace == Namespace::Html {
            self.separate(tag);
            self.picture(tag, attributes);
            if !scanner.in_template() {
                self.head(tag, attributes);
            }
        }
    }

    /// Elements that speak of the document as a whole.
    fn head(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        match tag {
            Tag::Html => self.lang(attributes),
            Tag::Base => self.base(attributes),
            Tag::Meta => self.meta(attributes),
            Tag::Title if self.title == Title::NotYet => self.title = Title::Open,
            Tag::Title => self.title = Title::Done,
            _ => {}
        }
    }

    fn end(&mut self, tag: Tag) {
        if tag == Tag::A {
            self.close_anchor();
        }
        self.separate(tag);
    }

    fn text(&mut self, text: Text<'_>, in_template: bool) {
        match text.within {
            Some(Tag::Style) => self.finder.style_sheet(text.source),
            Some(Tag::Title) => self.title(text.source, in_template),
            None | Some(Tag::Xmp | Tag::Plaintext) if !in_template => self.readable(text),
            _ => {}
        }
    }

    fn readable(&mut self, text: Text<'_>) {
        if text.namespace == Namespace::Svg {
            return;
        }
        // Two of three pieces are the line breaks and the indentation between tags.
        if prose::is_blank(text.source) {
            self.text.space();
            self.anchor_text.space();
            return;
        }
        if !self.input.text && self.anchor.is_none() {
            return;
        }
        let words = decoded(text, &mut self.buffer);
        if self.input.text {
            self.text.words(words);
        }
        if self.anchor.is_some() {
            self.anchor_text.words(words);
        }
    }

    /// What a picture shows is text of the link around it.
    fn picture(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        if self.anchor.is_none() || !matches!(tag, Tag::Img | Tag::Image) {
            return;
        }
        if let Some(alt) = attributes.get(Attr::Alt) {
            self.buffer.clear();
            decode_attribute(alt, &mut self.buffer);
            self.anchor_text.space();
            self.anchor_text.words(&self.buffer);
            self.anchor_text.space();
        }
    }

    #[inline(always)]
    fn separate(&mut self, tag: Tag) {
        if tag.is_block() {
            self.text.line();
            self.anchor_text.space();
        } else if tag.is_cell() {
            self.text.space();
            self.anchor_text.space();
        }
    }

    fn close_anchor(&mut self) {
        if let Some(anchor) = self.anchor.take() {
            self.finder.links_mut().set_text(anchor, &self.anchor_text);
        }
        self.anchor_text.clear();
    }

    fn title(&mut self, raw: &str, in_template: bool) {
        if self.title == Title::Open && !in_template {
            self.title = Title::Done;
            self.buffer.clear();
            decode_text(raw, &mut self.buffer);
            self.page.title = self.field();
        }
    }

    fn lang(&mut self, attributes: &Attributes<'_>) {
        let xml = attributes.get(Attr::XmlLang).filter(|_| self.page.kind == Kind::Xhtml);
        let Some(raw) = attributes.get(Attr::Lang).or(xml) else {
            return;
        };
        if self.page.lang.is_none() {
            self.attribute(raw);
            let lang = cut(self.buffer.trim_ascii(), self.limits.page_meta_bytes_max);
            self.page.lang = Some(lang.to_owned());
        }
    }

    /// The first `base` with an `href` counts, even if that is no URL (HTML section 4.2.3).
    fn base(&mut self, attributes: &Attributes<'_>) {
        let Some(raw) = attributes.get(Attr::Href).filter(|_| !self.has_base) else {
            return;
        };
        self.has_base = true;
        self.attribute(raw);
        let base =
            crate::url::resolve(&self.buffer, Some(self.input.url), Some(self.page.encoding()));
        let is_usable = |base: &url::Url| !matches!(base.scheme(), "data" | "javascript");
        self.page.base = base.ok().filter(is_usable);
    }

    fn meta(&mut self, attributes: &Attributes<'_>) {
        let (Some(name), Some(content)) =
            (attributes.get(Attr::Name), attributes.get(Attr::Content))
        else {
            return;
        };
        self.attribute(name);
        let name = self.buffer.trim_ascii().to_ascii_lowercase();
        self.attribute(content);
        if name == "description" && self.page.description.is_none() {
            self.page.description = self.field();
        } else if speaks_to_robots(&name, &self.buffer) && self.has_room_for_robots() {
            let content = cut(&self.buffer, self.limits.page_meta_bytes_max).to_owned();
            self.page.robots_meta.push((name, content));
        }
    }

    /// A page may say as many things to robots as it may have links.
    fn has_room_for_robots(&self) -> bool {
        (self.page.robots_meta.len() as u64) < self.limits.page_links_max
    }

    fn attribute(&mut self, raw: &str) {
        self.buffer.clear();
        decode_attribute(raw, &mut self.buffer);
    }

    /// The buffer as a field of the page: white space collapsed, within the limit, not empty.
    fn field(&mut self) -> Option<String> {
        let mut prose = Prose::new(self.limits.page_meta_bytes_max);
        prose.words(&self.buffer);
        if prose.is_cut() {
            self.page.note(Note::MetaTruncated);
        }
        Some(prose.into_string()).filter(|text| !text.is_empty())
    }
}

/// Room for the text, if it is wanted. More than half of a page's bytes are rarely text.
fn text(input: &Input<'_>, limits: &Limits) -> Prose {
    let room = if input.text { input.body.len() / 2 } else { 0 };
    Prose::new(limits.page_text_bytes_max).with_room(room)
}

/// The text with its references decoded, borrowed where there are none.
pub(super) fn decoded<'t>(text: Text<'t>, buffer: &'t mut String) -> &'t str {
    let is_plain = || !bytes::any(text.source.as_bytes(), |byte| (byte == b'&') | (byte == 0));
    if !text.references || is_plain() {
        return text.source;
    }
    buffer.clear();
    decode_text(text.source, buffer);
    buffer
}

/// Words that tell a robot something. Any name may carry them: each crawler has its own.
const DIRECTIVES: &[&str] = &[
    "all",
    "none",
    "index",
    "noindex",
    "follow",
    "nofollow",
    "archive",
    "noarchive",
    "nosnippet",
    "noimageindex",
    "notranslate",
    "noai",
    "noimageai",
    "unavailable_after",
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
    "indexifembedded",
];

/// Names by which a page reserves text and data mining (TDM Reservation Protocol, 2024).
const RESERVATIONS: &[&str] = &["tdm-reservation", "tdm-policy"];

fn speaks_to_robots(name: &str, content: &str) -> bool {
    RESERVATIONS.contains(&name) || is_directives(content)
}

fn is_directives(content: &str) -> bool {
    let is_directive = |part: &str| {
        let word = part.trim_ascii().split([':', ' ']).next().unwrap_or_default();
        DIRECTIVES.iter().any(|directive| word.eq_ignore_ascii_case(directive))
    };
    content.split(',').any(is_directive)
}
