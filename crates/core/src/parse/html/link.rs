//! Which attributes of which elements are links, and of what kind.
//!
//! Forms are not links: sending one changes things. `ping` and `manifest` lead nowhere a reader goes,
//! and what `meta property` names is not looked at: larm takes what is a link, it does not guess.

use super::attributes::Attributes;
use super::foreign::Namespace;
use super::name::{Attr, Tag};
use super::reference::{decode_attribute, has_references};
use super::refresh;
use super::srcset;
use crate::parse::bytes;
use crate::parse::css;
use crate::parse::page::{LinkId, Links, NewLink, is_data};
use crate::{Limits, Via};

/// The room that a buffer begins with: most values are no longer.
pub(super) const BUFFER_BYTES: usize = 128;

/// Collects the links of a page.
#[derive(Debug)]
pub(super) struct Finder<'l> {
    links: Links,
    limits: &'l Limits,
    has_background: bool,
    /// Buffers for decoded values, so that no link allocates.
    value: String,
    rel: String,
    alt: String,
}

impl<'l> Finder<'l> {
    /// For a page of so many bytes.
    pub fn new(limits: &'l Limits, bytes: usize) -> Self {
        let [value, rel, alt] = [(); 3].map(|()| String::with_capacity(BUFFER_BYTES));
        Self { links: Links::with_room(bytes), limits, has_background: false, value, rel, alt }
    }

    pub fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }

    pub fn into_links(self) -> Links {
        self.links
    }

    /// Takes the links of one element. Gives the anchor's, whose text is still to come.
    #[inline(always)]
    pub fn element(
        &mut self,
        tag: Tag,
        namespace: Namespace,
        attributes: &Attributes<'_>,
    ) -> Option<LinkId> {
        if attributes.has_no_link() { None } else { self.links_of(tag, namespace, attributes) }
    }

    fn links_of(
        &mut self,
        tag: Tag,
        namespace: Namespace,
        attributes: &Attributes<'_>,
    ) -> Option<LinkId> {
        self.rel.clear();
        self.alt.clear();
        if let Some(style) = attributes.get(Attr::Style) {
            self.inline_style(style);
        }
        match namespace {
            Namespace::Html => self.html(tag, attributes),
            Namespace::Svg => self.svg(tag, attributes),
            Namespace::Math => None,
        }
    }

    /// Takes the links of a `style` element's text.
    pub fn style_sheet(&mut self, source: &str) {
        let (links, limits) = (&mut self.links, self.limits);
        css::each_url(source, |url| {
            links.push(NewLink::new(Via::Embed, url), limits.page_links_max, limits);
        });
    }

    fn html(&mut self, tag: Tag, attributes: &Attributes<'_>) -> Option<LinkId> {
        match tag {
            Tag::A => {
                decode_opt(attributes.get(Attr::Rel), &mut self.rel);
                return self.attribute(Via::Anchor, attributes.get(Attr::Href));
            }
            Tag::Area => {
                decode_opt(attributes.get(Attr::Rel), &mut self.rel);
                decode_opt(attributes.get(Attr::Alt), &mut self.alt);
                self.attribute(Via::Anchor, attributes.get(Attr::Href));
            }
            Tag::Link => self.link(attributes),
            Tag::Meta => self.refresh(attributes),
            Tag::Iframe | Tag::Frame => {
                self.attribute(Via::Frame, attributes.get(Attr::Src));
                self.attribute(Via::Link, attributes.get(Attr::Longdesc));
            }
            Tag::Blockquote | Tag::Q | Tag::Ins | Tag::Del => {
                self.attribute(Via::Link, attributes.get(Attr::Cite));
            }
            _ => self.embeds(tag, attributes),
        }
        None
    }

    fn embeds(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        match tag {
            Tag::Img | Tag::Image => {
                decode_opt(attributes.get(Attr::Alt), &mut self.alt);
                self.attribute(Via::Embed, attributes.get(Attr::Src));
                self.sources(attributes.get(Attr::Srcset));
                self.attribute(Via::Link, attributes.get(Attr::Longdesc));
            }
            Tag::Source => {
                self.attribute(Via::Embed, attributes.get(Attr::Src));
                self.sources(attributes.get(Attr::Srcset));
            }
            Tag::Video => {
                self.attribute(Via::Embed, attributes.get(Attr::Src));
                self.attribute(Via::Embed, attributes.get(Attr::Poster));
            }
            Tag::Audio | Tag::Track | Tag::Embed | Tag::Script | Tag::Bgsound => {
                self.attribute(Via::Embed, attributes.get(Attr::Src));
            }
            Tag::Input => self.image_button(attributes),
            Tag::Object => {
                self.attribute(Via::Embed, attributes.get(Attr::Data));
            }
            Tag::Body => self.background(attributes),
            Tag::Table | Tag::Thead | Tag::Tbody | Tag::Tfoot | Tag::Tr | Tag::Td | Tag::Th => {
                self.attribute(Via::Embed, attributes.get(Attr::Background));
            }
            _ => {}
        }
    }

    /// A second `body` adds only what the first has not.
    fn background(&mut self, attributes: &Attributes<'_>) {
        let raw = attributes.get(Attr::Background).filter(|_| !self.has_background);
        self.has_background |= raw.is_some();
        self.attribute(Via::Embed, raw);
    }

    fn image_button(&mut self, attributes: &Attributes<'_>) {
        self.value.clear();
        decode_opt(attributes.get(Attr::Type), &mut self.value);
        if self.value.eq_ignore_ascii_case("image") {
            decode_opt(attributes.get(Attr::Alt), &mut self.alt);
            self.attribute(Via::Embed, attributes.get(Attr::Src));
        }
    }

    fn svg(&mut self, tag: Tag, attributes: &Attributes<'_>) -> Option<LinkId> {
        let href = attributes.get(Attr::Href).or(attributes.get(Attr::XlinkHref));
        match tag {
            Tag::A => {
                decode_opt(attributes.get(Attr::Rel), &mut self.rel);
                self.attribute(Via::Anchor, href)
            }
            Tag::Image | Tag::Use | Tag::FeImage | Tag::Script => {
                self.attribute(Via::Embed, href);
                None
            }
            _ => None,
        }
    }

    fn link(&mut self, attributes: &Attributes<'_>) {
        decode_opt(attributes.get(Attr::Rel), &mut self.rel);
        let Some(via) = link_via(&self.rel) else {
            return;
        };
        self.attribute(via, attributes.get(Attr::Href));
        self.sources(attributes.get(Attr::Imagesrcset));
    }

    fn refresh(&mut self, attributes: &Attributes<'_>) {
        self.value.clear();
        decode_opt(attributes.get(Attr::HttpEquiv), &mut self.value);
        if !self.value.eq_ignore_ascii_case("refresh") {
            return;
        }
        self.value.clear();
        decode_opt(attributes.get(Attr::Content), &mut self.value);
        if let Some(target) = refresh::target(&self.value) {
            let link = NewLink::new(Via::Refresh, target);
            self.links.push(link, self.limits.page_links_max, self.limits);
        }
    }

    fn inline_style(&mut self, raw: &str) {
        // What names a URL has one of these, or a reference that may stand for one.
        let may_have = |byte| (byte == b'(') | (byte == b'@') | (byte == b'&');
        if !bytes::any(raw.as_bytes(), may_have) {
            return;
        }
        self.value.clear();
        decode_attribute(raw, &mut self.value);
        let (links, limits) = (&mut self.links, self.limits);
        css::each_url(&self.value, |url| {
            links.push(NewLink::new(Via::Embed, url), limits.page_links_max, limits);
        });
    }

    fn sources(&mut self, raw: Option<&str>) {
        self.value.clear();
        decode_opt(raw, &mut self.value);
        let (links, limits, alt) = (&mut self.links, self.limits, self.alt.as_str());
        srcset::each_candidate(&self.value, |target, _| {
            let link = NewLink { via: Via::Embed, target, rel: "", text: alt };
            links.push(link, limits.page_links_max, limits);
        });
    }

    fn attribute(&mut self, via: Via, raw: Option<&str>) -> Option<LinkId> {
        let raw = raw?;
        // Pictures that are written out here are long.
        if is_data(raw.trim_ascii_start()) {
            return None;
        }
        let target = if has_references(raw) {
            self.value.clear();
            decode_attribute(raw, &mut self.value);
            &self.value
        } else {
            raw
        };
        let link = NewLink { via, target, rel: &self.rel, text: self.alt.trim_ascii() };
        self.links.push(link, self.limits.page_links_max, self.limits)
    }
}

fn decode_opt(raw: Option<&str>, out: &mut String) {
    if let Some(raw) = raw {
        decode_attribute(raw, out);
    }
}

/// What the page needs to look right.
const EMBEDDED: &[&str] = &[
    "stylesheet",
    "icon",
    "apple-touch-icon",
    "apple-touch-icon-precomposed",
    "mask-icon",
    "preload",
    "modulepreload",
    "prefetch",
    "manifest",
    "image_src",
];

/// What names a host to be ready for, and no resource.
const HINTS: &[&str] = &["dns-prefetch", "preconnect"];

/// What kind of link a `link` is by its `rel`, strongest word first. Without a word it is none.
pub(in crate::parse) fn link_via(rel: &str) -> Option<Via> {
    let words = || rel.split_ascii_whitespace();
    let has =
        |list: &[&str]| words().any(|word| list.iter().any(|each| word.eq_ignore_ascii_case(each)));
    if has(EMBEDDED) {
        Some(Via::Embed)
    } else if has(&["canonical"]) {
        Some(Via::Canonical)
    } else if has(&["alternate"]) {
        Some(Via::Alternate)
    } else {
        let leads = words().any(|word| !HINTS.iter().any(|hint| word.eq_ignore_ascii_case(hint)));
        leads.then_some(Via::Link)
    }
}
