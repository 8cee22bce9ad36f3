//! HTML → page: one pass of the scanner, and what each element adds to the page.
//!
//! The link set is that of a DOM built with scripting off (the tests compare with one); no tree is
//! built for it. Text is taken from where a reader would see it: not from scripts, styles, templates,
//! drawings or form fields.

mod attributes;
mod foreign;
mod form;
mod hint;
mod link;
mod main_part;
mod markup;
mod meta;
mod name;
mod outline;
mod packed;
mod reference;
mod refresh;
mod scanner;
mod srcset;
mod token;
mod tokenizer;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use super::Input;
use super::bytes;
use super::language;
use super::page::{LinkId, Note, Page, cut};
use super::prose::{Plain, Prose};
use super::sniff::Kind;
use crate::{Limits, Via};
use link::{BUFFER_BYTES, Finder};
use meta::Sayings;
use outline::Outline;
use scanner::{Element, Visitor};

pub use form::{Form, forms};
pub use markup::{Markup, Piece, StartTag};
pub use srcset::each_candidate;

pub(super) use attributes::Attributes;
pub(super) use foreign::Namespace;
pub(super) use name::{Attr, Tag};
pub(super) use reference::{decode_attribute, decode_text};
pub(super) use scanner::{Dialect, Event, Scanner, Text};

/// Reads a page.
pub(super) fn read(input: &Input<'_>, page: Page, source: &str, limits: &Limits) -> Page {
    let dialect = if page.kind == Kind::Xhtml { Dialect::Xhtml } else { Dialect::Html };
    let scanner = Scanner::new(source, dialect, limits.page_nesting_max);
    let mut scanner = if input.text { scanner } else { scanner.without_hints() };
    let mut reader = Reader::new(input, page, limits);
    while scanner.step(&mut reader) {}
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
    sayings: Sayings<'l>,
    text: Prose,
    /// The blocks that the text stands in, where it is wanted.
    outline: Option<Outline>,
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
            finder: Finder::new(limits, input.body.len()),
            sayings: Sayings::new(limits),
            text: text(input, limits),
            outline: input.text.then(|| Outline::new(limits, input.body.len())),
            title: Title::NotYet,
            has_base: false,
            anchor: None,
            anchor_text: Prose::new(limits.link_text_bytes_max).with_room(BUFFER_BYTES),
            buffer: String::with_capacity(BUFFER_BYTES),
        }
    }

    fn finish(mut self) -> Page {
        self.close_anchor();
        self.sayings.finish(&mut self.page);
        if let Some(outline) = self.outline {
            if outline.is_cut() {
                self.page.note(Note::MarksTruncated);
            }
            self.page.marks = outline.marks(self.text.as_str());
            self.page.language = language::language(self.text.as_str(), &self.page.marks.main);
        }
        self.page.set_text(self.text);
        self.page.set_links(self.finder.into_links());
        self.page.canonical = self.page.first_target(Via::Canonical).map(str::to_owned);
        self.page
    }

    /// Elements that speak of the document as a whole.
    fn document(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        match tag {
            Tag::Html => self.lang(attributes),
            Tag::Base => self.base(attributes),
            Tag::Title if self.title == Title::NotYet => self.title = Title::Open,
            Tag::Title => self.title = Title::Done,
            Tag::Meta | Tag::Link | Tag::Time | Tag::Script => {
                self.sayings.element(tag, attributes, &mut self.page);
            }
            _ => {}
        }
    }

    /// The text of an element that holds nothing else.
    fn text_alone(&mut self, tag: Tag, source: &str, in_template: bool) {
        match tag {
            Tag::Script => self.sayings.script(source, &mut self.page),
            Tag::Style => self.finder.style_sheet(source),
            Tag::Title => self.title(source, in_template),
            Tag::Xmp | Tag::Plaintext if !in_template => self.readable(source, false),
            _ => {}
        }
    }

    /// `references` tells whether they count in it.
    fn readable(&mut self, source: &str, references: bool) {
        if !self.input.text && self.anchor.is_none() {
            return;
        }
        if let Some(plain) = Plain::of(source) {
            return self.append(plain, Prose::plain);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let words = if references { decoded(source, &mut buffer) } else { source };
        self.append(words, Prose::words);
        self.buffer = buffer;
    }

    /// Appends a text, as `append` does it, to the page's and to that of the link around it.
    #[inline(always)]
    fn append<T: Copy>(&mut self, text: T, append: impl Fn(&mut Prose, T)) {
        if let Some(outline) = &mut self.outline {
            let from = self.text.as_str().len();
            append(&mut self.text, text);
            outline.text(self.text.as_str(), from, self.anchor.is_some());
        }
        if self.anchor.is_some() {
            append(&mut self.anchor_text, text);
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
        if separate(tag, &mut self.text) {
            self.anchor_text.space();
        }
    }

    #[inline(always)]
    fn close_anchor(&mut self) {
        if let Some(anchor) = self.anchor.take() {
            let text_end = self.text.as_str().len();
            self.finder.links_mut().set_text(anchor, &self.anchor_text, text_end);
        }
        self.anchor_text.clear();
    }

    fn title(&mut self, raw: &str, in_template: bool) {
        if self.title == Title::Open && !in_template {
            self.title = Title::Done;
            self.buffer.clear();
            decode_text(raw, &mut self.buffer);
            self.page.title = meta::field(&self.buffer, &mut self.page, self.limits);
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

    fn attribute(&mut self, raw: &str) {
        self.buffer.clear();
        decode_attribute(raw, &mut self.buffer);
    }
}

impl<'a> Visitor<'a> for Reader<'_, '_> {
    #[inline(always)]
    fn start(&mut self, element: Element, attributes: &Attributes<'a>, in_template: bool) {
        let Element { tag, namespace } = element;
        if tag == Tag::A {
            self.close_anchor();
        }
        if let Some(anchor) = self.finder.element(tag, namespace, attributes) {
            self.anchor = Some(anchor);
        }
        if namespace == Namespace::Html {
            self.separate(tag);
            self.picture(tag, attributes);
            if !in_template {
                if tag.is_of_document() {
                    self.document(tag, attributes);
                }
                if let Some(outline) = &mut self.outline {
                    outline.start(tag, attributes, self.text.as_str());
                }
            }
        }
    }

    #[inline(always)]
    fn end(&mut self, Element { tag, namespace }: Element, in_template: bool) {
        if tag == Tag::A {
            self.close_anchor();
        }
        if let Some(outline) = &mut self.outline
            && namespace == Namespace::Html
            && !in_template
        {
            outline.end(tag, self.text.as_str());
        }
        self.separate(tag);
    }

    #[inline(always)]
    fn text(&mut self, text: Text<'a>, in_template: bool) {
        match text.within {
            Some(tag) => self.text_alone(tag, text.source.as_str(), in_template),
            None if in_template || text.namespace == Namespace::Svg => {}
            None if text.is_blank => {
                self.text.space();
                self.anchor_text.space();
            }
            None => self.readable(text.source.as_str(), text.references),
        }
    }
}

/// What a tag puts between the words before and behind it; tells whether it is anything.
#[inline(always)]
pub(super) fn separate(tag: Tag, text: &mut Prose) -> bool {
    if tag.is_block() {
        text.line();
        true
    } else if tag.is_cell() {
        text.space();
        true
    } else {
        false
    }
}

/// Room for the text, if it is wanted. More than half of a page's bytes are rarely text.
fn text(input: &Input<'_>, limits: &Limits) -> Prose {
    let room = if input.text { input.body.len() / 2 } else { 0 };
    Prose::new(limits.page_text_bytes_max).with_room(room)
}

/// The text with its references decoded, borrowed where there are none.
pub(super) fn decoded<'t>(source: &'t str, buffer: &'t mut String) -> &'t str {
    if !bytes::any(source.as_bytes(), |byte| (byte == b'&') | (byte == 0)) {
        return source;
    }
    buffer.clear();
    decode_text(source, buffer);
    buffer
}
