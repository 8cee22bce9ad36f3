//! Tokens → elements and text, with as much of HTML's tree as links need.
//!
//! No tree is built. What is kept of the rules of tree construction (HTML section 13.2.6) is what
//! changes which tags count and how the text behind them is read: raw text elements, foreign content,
//! templates, framesets. Scripting is off, as it is for a crawler: `noscript` is ordinary markup.

use super::attributes::Attributes;
use super::foreign::{Foreign, Namespace};
use super::name::Tag;
use super::tokenizer::{Mode, Part, StartTag, Tokenizer, Tokens};

/// How strictly tags are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Dialect {
    Html,
    /// `<script/>` is closed, and CDATA counts everywhere.
    Xhtml,
}

/// What takes the elements and the text of a page, in document order. `in_template` tells whether they are
/// inside a `template`, which is no part of the document.
pub(in crate::parse) trait Visitor<'a> {
    fn start(&mut self, element: Element, attributes: &Attributes<'a>, in_template: bool);
    fn end(&mut self, element: Element, in_template: bool);
    fn text(&mut self, text: Text<'a>, in_template: bool);
}

/// What an element is.
#[derive(Debug, Clone, Copy)]
pub(in crate::parse) struct Element {
    pub tag: Tag,
    pub namespace: Namespace,
}

/// The same, for whoever asks for one after the other.
#[derive(Debug, Clone, Copy)]
pub(in crate::parse) enum Event<'a> {
    /// Attributes are those of `Scanner::attributes` until the next event.
    Start {
        tag: Tag,
        namespace: Namespace,
    },
    End {
        tag: Tag,
        namespace: Namespace,
    },
    Text(Text<'a>),
}

/// A piece of text.
#[derive(Debug, Clone, Copy)]
pub(in crate::parse) struct Text<'a> {
    pub source: Part<'a>,
    /// Whether character references in it count.
    pub references: bool,
    /// Whether it is certain to be white space and nothing else.
    pub is_blank: bool,
    /// The element whose content is text and nothing else, if it is in one.
    pub within: Option<Tag>,
    pub namespace: Namespace,
}

/// Whether the page is a set of frames: then nothing but frames counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frames {
    Possible,
    /// Something to read came first.
    Refused,
    Inside,
}

#[derive(Debug)]
pub(in crate::parse) struct Scanner<'a> {
    tokens: Tokenizer<'a>,
    tree: Tree,
}

impl<'a> Scanner<'a> {
    pub fn new(source: &'a str, dialect: Dialect, depth_max: u64) -> Self {
        Self { tokens: Tokenizer::new(source), tree: Tree::new(dialect, depth_max) }
    }

    /// Without the attributes that tell what an element is to its page.
    pub fn without_hints(mut self) -> Self {
        self.tokens = self.tokens.without_hints();
        self
    }

    /// Attributes of the start tag that `next` gave last.
    pub fn attributes(&self) -> &Attributes<'a> {
        self.tokens.attributes()
    }

    /// Where in the source the last start tag begins.
    pub fn tag_at(&self) -> usize {
        self.tokens.tag_at()
    }

    /// Whether this place is inside a `template`, which is no part of the document.
    pub fn in_template(&self) -> bool {
        self.tree.in_template()
    }

    /// Whether elements were nested too deeply to be tracked.
    pub fn is_cut(&self) -> bool {
        self.tree.foreign.is_cut()
    }

    /// Hands on what comes next, if it counts. Tells whether there was anything.
    #[inline(always)]
    pub fn step(&mut self, visitor: &mut impl Visitor<'a>) -> bool {
        self.tokens.step(&mut Scan { tree: &mut self.tree, visitor })
    }

    /// The next event.
    pub fn next(&mut self) -> Option<Event<'a>> {
        let mut kept = Kept(None);
        while kept.0.is_none() && self.step(&mut kept) {}
        kept.0
    }
}

/// Keeps the event of one step.
struct Kept<'a>(Option<Event<'a>>);

impl<'a> Visitor<'a> for Kept<'a> {
    fn start(&mut self, Element { tag, namespace }: Element, _: &Attributes<'a>, _: bool) {
        self.0 = Some(Event::Start { tag, namespace });
    }

    fn end(&mut self, Element { tag, namespace }: Element, _: bool) {
        self.0 = Some(Event::End { tag, namespace });
    }

    fn text(&mut self, text: Text<'a>, _: bool) {
        self.0 = Some(Event::Text(text));
    }
}

/// From tokens to what they mean where they stand.
struct Scan<'t, V> {
    tree: &'t mut Tree,
    visitor: &'t mut V,
}

impl<'a, V: Visitor<'a>> Tokens<'a> for Scan<'_, V> {
    #[inline(always)]
    fn start(&mut self, start: StartTag<'_, 'a>) -> Mode {
        let (namespace, mode) = self.tree.start(start);
        if let Some(namespace) = namespace {
            let element = Element { tag: start.tag, namespace };
            self.visitor.start(element, start.attributes, self.tree.in_template());
        }
        mode
    }

    #[inline(always)]
    fn end(&mut self, tag: Tag, name: Part<'a>) {
        if let Some(namespace) = self.tree.end(tag, name) {
            self.visitor.end(Element { tag, namespace }, self.tree.in_template());
        }
    }

    #[inline(always)]
    fn blank(&mut self, source: Part<'a>) {
        if let Some(text) = self.tree.blank(source) {
            self.visitor.text(text, self.tree.in_template());
        }
    }

    #[inline(always)]
    fn text(&mut self, source: Part<'a>) {
        if let Some(text) = self.tree.text(source, true) {
            self.visitor.text(text, self.tree.in_template());
        }
    }

    fn raw(&mut self, source: Part<'a>) {
        if let Some(text) = self.tree.text(source, false) {
            self.visitor.text(text, self.tree.in_template());
        }
    }

    fn takes_cdata(&self) -> bool {
        self.tree.dialect == Dialect::Xhtml || self.tree.foreign.namespace() != Namespace::Html
    }
}

/// What is kept of the tree.
#[derive(Debug)]
struct Tree {
    dialect: Dialect,
    foreign: Foreign,
    frames: Frames,
    templates: u32,
    within: Option<Tag>,
}

impl Tree {
    fn new(dialect: Dialect, depth_max: u64) -> Self {
        let (foreign, frames) = (Foreign::new(depth_max), Frames::Possible);
        Self { dialect, foreign, frames, templates: 0, within: None }
    }

    fn in_template(&self) -> bool {
        self.templates > 0
    }

    #[inline(always)]
    fn blank<'a>(&self, source: Part<'a>) -> Option<Text<'a>> {
        let (namespace, within) = (self.foreign.namespace(), self.within);
        let text = Text { source, references: false, is_blank: true, within, namespace };
        (self.frames != Frames::Inside).then_some(text)
    }

    #[inline(always)]
    fn text<'a>(&mut self, source: Part<'a>, references: bool) -> Option<Text<'a>> {
        let namespace = self.foreign.namespace();
        if self.frames == Frames::Inside {
            return None;
        }
        if self.frames == Frames::Possible
            && self.within.is_none()
            && !source.as_str().trim_ascii().is_empty()
        {
            self.frames = Frames::Refused;
        }
        let within = self.within;
        Some(Text { source, references, is_blank: false, within, namespace })
    }

    /// The namespace of a start tag's element, if it counts; and how to read on behind it.
    #[inline(always)]
    fn start(&mut self, start: StartTag<'_, '_>) -> (Option<Namespace>, Mode) {
        self.within = None;
        if self.frames == Frames::Inside {
            return self.start_among_frames(start.tag);
        }
        let namespace = self.foreign.start(start);
        if namespace == Namespace::Html && start.tag.changes_reading() {
            return self.html_start(start.tag, start.self_closing);
        }
        (Some(namespace), Mode::Data)
    }

    /// Section 13.2.6.4.20.
    fn start_among_frames(&mut self, tag: Tag) -> (Option<Namespace>, Mode) {
        let counts = matches!(tag, Tag::Frame | Tag::Frameset | Tag::Noframes | Tag::Html);
        let mode = if tag == Tag::Noframes { self.read_as_text(tag) } else { Mode::Data };
        (counts.then_some(Namespace::Html), mode)
    }

    fn html_start(&mut self, tag: Tag, self_closing: bool) -> (Option<Namespace>, Mode) {
        let is_closed = self_closing && self.dialect == Dialect::Xhtml;
        match tag {
            Tag::Frame => return (None, Mode::Data),
            Tag::Frameset => {
                return (self.enter_frames().then_some(Namespace::Html), Mode::Data);
            }
            Tag::Template if !is_closed => self.templates += 1,
            _ if tag.refuses_frames() && self.frames == Frames::Possible => {
                self.frames = Frames::Refused;
            }
            _ => {}
        }
        let holds_text = tag.holds_text_alone() && !is_closed;
        let mode = if holds_text { self.read_as_text(tag) } else { Mode::Data };
        (Some(Namespace::Html), mode)
    }

    fn enter_frames(&mut self) -> bool {
        let enters =
            self.frames == Frames::Possible && self.templates == 0 && self.foreign.is_outside();
        if enters {
            self.frames = Frames::Inside;
        }
        enters
    }

    /// Elements whose content is text (section 13.2.6.4, "generic raw text" and "RCDATA element
    /// parsing algorithm").
    fn read_as_text(&mut self, tag: Tag) -> Mode {
        self.within = Some(tag);
        match tag {
            Tag::Title | Tag::Textarea => Mode::Rcdata(tag),
            Tag::Style | Tag::Xmp | Tag::Iframe | Tag::Noembed | Tag::Noframes => {
                Mode::Rawtext(tag)
            }
            Tag::Script => Mode::Script,
            Tag::Plaintext => Mode::Plaintext,
            _ => Mode::Data,
        }
    }

    #[inline(always)]
    fn end(&mut self, tag: Tag, name: Part<'_>) -> Option<Namespace> {
        self.within = None;
        if self.frames == Frames::Inside {
            return None;
        }
        let namespace = self.foreign.end(tag, name);
        if tag == Tag::Template && namespace == Namespace::Html {
            self.templates = self.templates.saturating_sub(1);
        }
        Some(namespace)
    }
}
