//! SVG and MathML inside HTML: which namespace a tag is in (HTML sections 13.2.6 and 13.2.6.5).
//!
//! It matters to a crawler because the same words mean other things there: `<title>` and `<style>` are
//! ordinary markup, CDATA counts, `<image>` has an `href`. Outside foreign content nothing is kept but
//! counts; inside, a stack of open elements that is never higher than `page_nesting_max`. What would
//! lie deeper counts as a sibling.
//!
//! Nearly every tag is outside: that way through `start` and `end` is inlined and short.

use xxhash_rust::xxh3::xxh3_64;

use super::attributes::Attributes;
use super::name::{Attr, Tag};
use super::tokenizer::{Part, StartTag};

/// Whose element a tag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Namespace {
    Html,
    Svg,
    Math,
}

/// Where foreign elements hold HTML again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    None,
    /// "HTML integration point".
    Html,
    /// "MathML text integration point".
    MathText,
    /// `annotation-xml`, where `svg` is allowed.
    Annotation,
}

/// An open element, with what would otherwise take a walk down the stack to find out.
#[derive(Debug, Clone, Copy)]
struct Open {
    namespace: Namespace,
    point: Point,
    /// Where the foreign elements begin that reach up to here without HTML in between.
    run: usize,
    /// Whether one of those is a border.
    is_closed_in: bool,
    /// Behind the nearest border from here down.
    inner: usize,
}

impl Open {
    fn is_foreign(&self) -> bool {
        self.namespace != Namespace::Html
    }

    /// HTML end tags do not reach past these ("special", "has an element in scope").
    fn is_border(&self) -> bool {
        self.is_foreign() && self.point != Point::None
    }
}

const AROUND: usize = Tag::COUNT + 64;

/// The open elements that matter.
#[derive(Debug)]
pub(super) struct Foreign {
    /// From the outermost `svg` or `math` on; empty outside foreign content.
    stack: Vec<Open>,
    /// Hashes of their names in lower case: a search is a comparison of integers.
    names: Vec<u64>,
    /// How many HTML elements of each name are open around that; names that larm does not know share
    /// a few places by their hashes.
    around: [u32; AROUND],
    depth_max: usize,
    is_cut: bool,
}

impl Foreign {
    pub fn new(depth_max: u64) -> Self {
        let depth_max = usize::try_from(depth_max).unwrap_or(usize::MAX);
        let (stack, names) = (Vec::new(), Vec::new());
        Self { stack, names, around: [0; AROUND], depth_max, is_cut: false }
    }

    /// Whether something was nested too deeply to be tracked.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whose text stands here, and whether CDATA counts.
    #[inline(always)]
    pub fn namespace(&self) -> Namespace {
        self.stack.last().map_or(Namespace::Html, |open| open.namespace)
    }

    /// Whether this place is in the page's own HTML.
    pub fn is_outside(&self) -> bool {
        self.stack.is_empty()
    }

    /// Takes a start tag; gives the namespace of its element.
    #[inline(always)]
    pub fn start(&mut self, start: StartTag<'_, '_>) -> Namespace {
        let StartTag { tag, name, attributes, self_closing } = start;
        if self.is_outside() && !matches!(tag, Tag::Svg | Tag::Math) {
            if !tag.is_void() {
                self.around[place(tag, name)] += 1;
            }
            return Namespace::Html;
        }
        self.start_inside(tag, name.as_bytes(), attributes, self_closing)
    }

    /// The same within foreign content, and where it begins.
    fn start_inside(
        &mut self,
        tag: Tag,
        name: &[u8],
        attributes: &Attributes<'_>,
        self_closing: bool,
    ) -> Namespace {
        if !self.is_html_here(tag) {
            if !breaks_out(tag, attributes) {
                let namespace = self.namespace();
                if !self_closing {
                    self.push(name, namespace, point(namespace, tag, attributes));
                }
                return namespace;
            }
            self.break_out();
        }
        self.html_start(tag, name, self_closing)
    }

    /// Takes an end tag; gives the namespace of what it closed.
    #[inline(always)]
    pub fn end(&mut self, tag: Tag, name: Part<'_>) -> Namespace {
        if self.is_outside() {
            let open = &mut self.around[place(tag, name)];
            *open = open.saturating_sub(1);
            return Namespace::Html;
        }
        self.end_inside(tag, name.as_bytes())
    }

    /// The same within foreign content.
    fn end_inside(&mut self, tag: Tag, name: &[u8]) -> Namespace {
        let namespace = self.namespace();
        if namespace == Namespace::Html {
            self.close_html(self.stack.len(), hash(name));
        } else if matches!(tag, Tag::P | Tag::Br) {
            self.break_out();
        } else if self.foreign_end(tag, name) {
            return Namespace::Html;
        }
        namespace
    }

    /// Whether a start tag here follows the rules of HTML (section 13.2.6, "tree construction
    /// dispatcher").
    fn is_html_here(&self, tag: Tag) -> bool {
        let Some(open) = self.stack.last().filter(|open| open.is_foreign()) else {
            return true;
        };
        match open.point {
            Point::None => false,
            Point::Html => true,
            Point::MathText => !matches!(tag, Tag::Mglyph | Tag::Malignmark),
            Point::Annotation => tag == Tag::Svg,
        }
    }

    fn html_start(&mut self, tag: Tag, name: &[u8], self_closing: bool) -> Namespace {
        let namespace = match tag {
            Tag::Svg => Namespace::Svg,
            Tag::Math => Namespace::Math,
            _ => Namespace::Html,
        };
        let is_foreign = namespace != Namespace::Html;
        let is_closed = if is_foreign { self_closing } else { tag.is_void() };
        if is_closed {
            return namespace;
        }
        if is_foreign || !self.is_outside() {
            self.push(name, namespace, Point::None);
        } else {
            self.around[place_of(tag, name)] += 1;
        }
        namespace
    }

    /// Closes the HTML element of that name below `top`, if no border is in between.
    fn close_html(&mut self, top: usize, name: u64) -> bool {
        let inner = top.checked_sub(1).map_or(0, |at| self.stack[at].inner);
        let is_wanted = |&at: &usize| self.names[at] == name && !self.stack[at].is_foreign();
        let found = (inner..top).rev().find(is_wanted);
        self.truncate(found.unwrap_or(self.stack.len()));
        found.is_some()
    }

    /// Section 13.2.6.5, "any other end tag": the nearest foreign element of that name; else the
    /// HTML around may close, and everything in it. Tells whether it was that.
    fn foreign_end(&mut self, tag: Tag, name: &[u8]) -> bool {
        let Some(&Open { run, is_closed_in, .. }) = self.stack.last() else { return false };
        let hashed = hash(name);
        if let Some(found) = self.names[run..].iter().rposition(|&open| open == hashed) {
            self.truncate(run + found);
            return false;
        }
        match run {
            _ if is_closed_in => false,
            0 => self.close_around(tag, name),
            _ => self.close_html(run, hashed),
        }
    }

    fn close_around(&mut self, tag: Tag, name: &[u8]) -> bool {
        let open = &mut self.around[place_of(tag, name)];
        // The ends of the body and the page close nothing yet.
        let closes = *open > 0 && !matches!(tag, Tag::Body | Tag::Html);
        if closes {
            *open -= 1;
            self.truncate(0);
        }
        closes
    }

    /// Closes foreign elements until HTML may stand here.
    fn break_out(&mut self) {
        let allows_html =
            |open: &Open| !open.is_foreign() || matches!(open.point, Point::Html | Point::MathText);
        let keep = self.stack.iter().rposition(allows_html).map_or(0, |at| at + 1);
        self.truncate(keep);
    }

    fn truncate(&mut self, len: usize) {
        self.stack.truncate(len);
        self.names.truncate(len);
    }

    fn push(&mut self, name: &[u8], namespace: Namespace, point: Point) {
        if self.stack.len() >= self.depth_max {
            self.is_cut = true;
            return;
        }
        let (at, below) = (self.stack.len(), self.stack.last());
        let mut open = Open {
            namespace,
            point,
            run: at + 1,
            is_closed_in: false,
            inner: below.map_or(0, |below| below.inner),
        };
        if open.is_border() {
            open.inner = at + 1;
        }
        if open.is_foreign() {
            open.run = below.map_or(0, |below| below.run);
            let is_below = below.is_some_and(|below| below.is_foreign() && below.is_closed_in);
            open.is_closed_in = is_below || open.is_border();
        }
        self.stack.push(open);
        self.names.push(hash(name));
    }
}

#[inline(always)]
fn place(tag: Tag, name: Part<'_>) -> usize {
    if tag == Tag::Other { place_of(tag, name.as_bytes()) } else { tag as usize }
}

fn place_of(tag: Tag, name: &[u8]) -> usize {
    match tag {
        Tag::Other => Tag::COUNT + hash(name) as usize % (AROUND - Tag::COUNT),
        _ => tag as usize,
    }
}

fn breaks_out(tag: Tag, attributes: &Attributes<'_>) -> bool {
    let has = |name| attributes.has(name);
    let styled = has(Attr::Color) || has(Attr::Face) || has(Attr::Size);
    tag.breaks_out() || (tag == Tag::Font && styled)
}

fn point(namespace: Namespace, tag: Tag, attributes: &Attributes<'_>) -> Point {
    match (namespace, tag) {
        (Namespace::Svg, Tag::ForeignObject | Tag::Desc | Tag::Title) => Point::Html,
        (Namespace::Math, Tag::Mi | Tag::Mo | Tag::Mn | Tag::Ms | Tag::Mtext) => Point::MathText,
        (Namespace::Math, Tag::AnnotationXml) if holds_html(attributes) => Point::Html,
        (Namespace::Math, Tag::AnnotationXml) => Point::Annotation,
        _ => Point::None,
    }
}

fn holds_html(attributes: &Attributes<'_>) -> bool {
    let encoding = attributes.get(Attr::Encoding).unwrap_or_default();
    let is = |value: &str| encoding.eq_ignore_ascii_case(value);
    is("text/html") || is("application/xhtml+xml")
}

fn hash(name: &[u8]) -> u64 {
    let mut lower = [0; 32];
    match lower.get_mut(..name.len()) {
        Some(lower) => {
            lower.copy_from_slice(name);
            lower.make_ascii_lowercase();
            xxh3_64(lower)
        }
        None => xxh3_64(&name.to_ascii_lowercase()),
    }
}
