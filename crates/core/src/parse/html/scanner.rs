//! Tokens → elements and text, with as much of HTML's tree as links need.
//!
//! No tree is built. What is kept of the rules of tree construction (HTML section 13.2.6) is what
//! changes which tags count and how the text behind them is read: raw text elements, foreign content,
//! templates, framesets. Scripting is off, as it is for a crawler: `noscript` is ordinary markup.

use super::attributes::Attributes;
use super::foreign::{Foreign, Namespace, StartTag};
use super::name::Tag;
use super::tokenizer::{Mode, Name, Token, Tokenizer};

/// How strictly tags are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Dialect {
    Html,
    /// `<script/>` is closed, and CDATA counts everywhere.
    Xhtml,
}

/// What a reader of the page needs to know, in document order.
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
    pub source: &'a str,
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
    dialect: Dialect,
    foreign: Foreign,
    frames: Frames,
    templates: u32,
    within: Option<Tag>,
}

impl<'a> Scanner<'a> {
    pub fn new(source: &'a str, dialect: Dialect, depth_max: u64) -> Self {
        Self {
            tokens: Tokenizer::new(source),
            dialect,
            foreign: Foreign::new(depth_max),
            frames: Frames::Possible,
            templates: 0,
            within: None,
        }
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
        self.templates > 0
    }

    /// Whether elements were nested too deeply to be tracked.
    pub fn is_cut(&self) -> bool {
        self.foreign.is_cut()
    }

    /// The next event.
    #[inline(always)]
    pub fn next(&mut self) -> Option<Event<'a>> {
        loop {
            let is_foreign = self.foreign.namespace() != Namespace::Html;
            let token = self.tokens.next(is_foreign || self.dialect == Dialect::Xhtml)?;
            // Each kind of event has a way out of its own, which leads to where it is taken.
            match token {
                Token::Blank(source) => {
                    if let Some(text) = self.blank(source) {
                        return Some(Event::Text(text));
                    }
                }
                Token::Text(source) => {
                    if let Some(text) = self.text(source, true) {
                        return Some(Event::Text(text));
                    }
                }
                Token::Raw(source) => {
                    if let Some(text) = self.text(source, false) {
                        return Some(Event::Text(text));
                    }
                }
                Token::Start { tag, name, self_closing } => {
                    if let Some(namespace) = self.start(tag, name, self_closing) {
                        return Some(Event::Start { tag, namespace });
                    }
                }
                Token::End { tag, name } => {
                    if let Some(namespace) = self.end(tag, name) {
                        return Some(Event::End { tag, namespace });
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn blank(&self, source: &'a str) -> Option<Text<'a>> {
        let (namespace, within) = (self.foreign.namespace(), self.within);
        let text = Text { source, references: false, is_blank: true, within, namespace };
        (self.frames != Frames::Inside).then_some(text)
    }

    #[inline(always)]
    fn text(&mut self, source: &'a str, references: bool) -> Option<Text<'a>> {
        let namespace = self.foreign.namespace();
        if self.frames == Frames::Inside {
            return None;
        }
        if self.frames == Frames::Possible
            && self.within.is_none()
            && !source.trim_ascii().is_empty()
        {
            self.frames = Frames::Refused;
        }
        let within = self.within;
        Some(Text { source, references, is_blank: false, within, namespace })
    }

    #[inline(always)]
    fn start(&mut self, tag: Tag, name: Name<'a>, self_closing: bool) -> Option<Namespace> {
        self.within = None;
        if self.frames == Frames::Inside {
            return self.start_among_frames(tag);
        }
        let attributes = self.tokens.attributes();
        let namespace = self.foreign.start(StartTag { tag, name, attributes, self_closing });
        if namespace == Namespace::Html && !self.html_start(tag, self_closing) {
            return None;
        }
        Some(namespace)
    }

    /// Section 13.2.6.4.20.
    fn start_among_frames(&mut self, tag: Tag) -> Option<Namespace> {
        let counts = matches!(tag, Tag::Frame | Tag::Frameset | Tag::Noframes | Tag::Html);
        if tag == Tag::Noframes {
            self.read_as_text(tag);
        }
        counts.then_some(Namespace::Html)
    }

    /// Whether the tag counts; and reads on as it demands.
    #[inline(always)]
    fn html_start(&mut self, tag: Tag, self_closing: bool) -> bool {
        let is_closed = self_closing && self.dialect == Dialect::Xhtml;
        match tag {
            Tag::Frame => return false,
            Tag::Frameset => return self.enter_frames(),
            Tag::Template if !is_closed => self.templates += 1,
            _ if tag.refuses_frames() && self.frames == Frames::Possible => {
                self.frames = Frames::Refused;
            }
            _ => {}
        }
        if tag.holds_text_alone() && !is_closed {
            self.read_as_text(tag);
        }
        true
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
    fn read_as_text(&mut self, tag: Tag) {
        let mode = match tag {
            Tag::Title | Tag::Textarea => Mode::Rcdata(tag),
            Tag::Style | Tag::Xmp | Tag::Iframe | Tag::Noembed | Tag::Noframes => {
                Mode::Rawtext(tag)
            }
            Tag::Script => Mode::Script,
            Tag::Plaintext => Mode::Plaintext,
            _ => return,
        };
        self.tokens.set_mode(mode);
        self.within = Some(tag);
    }

    #[inline(always)]
    fn end(&mut self, tag: Tag, name: Name<'a>) -> Option<Namespace> {
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
