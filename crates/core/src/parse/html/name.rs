//! The elements and attributes that mean something to larm, by name.
//!
//! Names are compared without ASCII case; all that is not listed here is `Tag::Other` or
//! `Attr::Other`.

use super::packed::Table;

macro_rules! names {
    ($(#[$about:meta])* $type:ident in $places:literal { $($variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(in crate::parse) enum $type { $($variant,)+ Other }

        impl $type {
            pub const COUNT: usize = Self::Other as usize + 1;
            const NAMES: &'static Table<$type, $places> = {
                static NAMES: Table<$type, $places> =
                    Table::new(&[$(($name, $type::$variant),)+], $type::Other);
                &NAMES
            };

            /// The name that begins at `from`, and where it ends; see [`Table::read`].
            #[inline(always)]
            pub fn read(
                bytes: &[u8],
                from: usize,
                is_end: impl Fn(u8) -> bool,
                find_end: impl Fn(&[u8], usize) -> usize,
            ) -> (Self, usize) {
                Self::NAMES.read(bytes, from, is_end, find_end)
            }
        }
    };
}

names! {
    /// An element's name.
    Tag in 512 {
        A = "a", Address = "address", AnnotationXml = "annotation-xml", Applet = "applet", Area = "area",
        Article = "article", Aside = "aside", Audio = "audio", B = "b", Base = "base",
        Basefont = "basefont", Bgsound = "bgsound", Big = "big", Blockquote = "blockquote", Body = "body",
        Br = "br", Button = "button", Caption = "caption", Center = "center", Code = "code", Col = "col",
        Dd = "dd", Del = "del", Desc = "desc", Details = "details", Dialog = "dialog", Dir = "dir",
        Div = "div", Dl = "dl", Dt = "dt", Em = "em", Embed = "embed", FeImage = "feimage",
        Fieldset = "fieldset", Figcaption = "figcaption", Figure = "figure", Font = "font",
        Footer = "footer", ForeignObject = "foreignobject", Form = "form", Frame = "frame",
        Frameset = "frameset", H1 = "h1", H2 = "h2", H3 = "h3", H4 = "h4", H5 = "h5", H6 = "h6",
        Head = "head", Header = "header", Hgroup = "hgroup", Hr = "hr", Html = "html", I = "i",
        Iframe = "iframe", Image = "image", Img = "img", Input = "input", Ins = "ins", Kbd = "kbd",
        Keygen = "keygen", Legend = "legend", Li = "li", Link = "link", Listing = "listing",
        Main = "main", Malignmark = "malignmark", Mark = "mark", Marquee = "marquee", Math = "math", Menu = "menu",
        Meta = "meta", Mglyph = "mglyph", Mi = "mi", Mn = "mn", Mo = "mo", Ms = "ms", Mtext = "mtext",
        Nav = "nav", Nobr = "nobr", Noscript = "noscript", Noembed = "noembed", Noframes = "noframes", Object = "object",
        Ol = "ol", Optgroup = "optgroup", Option = "option", P = "p", Param = "param",
        Plaintext = "plaintext", Pre = "pre", Q = "q", Ruby = "ruby", S = "s", Samp = "samp",
        Script = "script", Search = "search", Section = "section", Select = "select", Small = "small",
        Source = "source", Span = "span", Strike = "strike", Strong = "strong", Style = "style",
        Sub = "sub", Summary = "summary", Sup = "sup", Svg = "svg", Table = "table", Tbody = "tbody",
        Td = "td", Template = "template", Textarea = "textarea", Tfoot = "tfoot", Th = "th",
        Thead = "thead", Time = "time", Title = "title", Tr = "tr", Track = "track", Tt = "tt", U = "u", Ul = "ul",
        Use = "use", Var = "var", Video = "video", Wbr = "wbr", Xmp = "xmp",
    }
}

names! {
    /// An attribute's name.
    Attr in 128 {
        Alt = "alt", AriaHidden = "aria-hidden", Background = "background", Charset = "charset", Cite = "cite", Class = "class",
        Color = "color", Content = "content", Data = "data", Datetime = "datetime", Encoding = "encoding", Face = "face", Hidden = "hidden", Href = "href", Hreflang = "hreflang",
        HttpEquiv = "http-equiv", Id = "id", Itemprop = "itemprop", Imagesrcset = "imagesrcset", Lang = "lang", Longdesc = "longdesc", Name = "name",
        Poster = "poster", Property = "property", Pubdate = "pubdate", Rel = "rel", Role = "role", Size = "size", Src = "src", Srcset = "srcset",
        Style = "style", Type = "type", XlinkHref = "xlink:href", XmlLang = "xml:lang",
    }
}

/// What is asked of every tag, a bit each: one look into a table instead of a comparison with dozens of names.
type Traits = u16;

const VOID: Traits = 1;
const BLOCK: Traits = 2;
const CELL: Traits = 4;
const EMPHASIS: Traits = 8;
const REFUSES_FRAMES: Traits = 16;
const TEXT_ALONE: Traits = 32;
const OF_DOCUMENT: Traits = 64;
const SHAPES: Traits = 128;
const CHANGES_READING: Traits = 256;

static TRAITS: [Traits; Tag::COUNT] = {
    let mut traits = [0; Tag::COUNT];
    let mut at = 0;
    while at < Tag::NAMES.names().len() {
        let tag = Tag::NAMES.names()[at].1;
        let all = [
            (VOID, tag.is_among_void()),
            (BLOCK, tag.is_among_blocks()),
            (CELL, tag.is_among_cells()),
            (EMPHASIS, tag.is_among_emphasis()),
            (REFUSES_FRAMES, tag.is_among_refusing()),
            (TEXT_ALONE, tag.is_among_texts()),
            (OF_DOCUMENT, tag.is_among_sayings()),
            (CHANGES_READING, tag.is_among_changing()),
            (SHAPES, tag.is_among_blocks() || tag.is_among_cells() || matches!(tag, Tag::Noscript)),
        ];
        let mut each = 0;
        while each < all.len() {
            traits[tag as usize] |= if all[each].1 { all[each].0 } else { 0 };
            each += 1;
        }
        at += 1;
    }
    traits
};

impl Tag {
    pub fn of(name: &[u8]) -> Self {
        Self::NAMES.get(name)
    }

    #[inline(always)]
    fn has(self, traits: Traits) -> bool {
        TRAITS[self as usize] & traits != 0
    }

    /// HTML elements that have no content and no end tag.
    #[inline(always)]
    pub fn is_void(self) -> bool {
        self.has(VOID)
    }

    /// Elements that stand on lines of their own.
    #[inline(always)]
    pub fn is_block(self) -> bool {
        self.has(BLOCK)
    }

    /// Elements next to each other, but not words of one text.
    #[inline(always)]
    pub fn is_cell(self) -> bool {
        self.has(CELL)
    }

    /// Elements that stress their words.
    #[inline(always)]
    pub fn is_emphasis(self) -> bool {
        self.has(EMPHASIS)
    }

    /// Start tags after which a `frameset` comes too late (HTML section 13.2.6.4.7).
    #[inline(always)]
    pub fn refuses_frames(self) -> bool {
        self.has(REFUSES_FRAMES)
    }

    /// Elements whose content is text and nothing else.
    #[inline(always)]
    pub fn holds_text_alone(self) -> bool {
        self.has(TEXT_ALONE)
    }

    /// Elements that speak of the document as a whole.
    #[inline(always)]
    pub fn is_of_document(self) -> bool {
        self.has(OF_DOCUMENT)
    }

    /// Elements that shape a page: blocks, cells, and what is there instead of something.
    #[inline(always)]
    pub fn shapes(self) -> bool {
        self.has(SHAPES)
    }

    /// Start tags that may change how the rest of the page is read: all those of which `scanner` knows something.
    #[inline(always)]
    pub fn changes_reading(self) -> bool {
        self.has(CHANGES_READING)
    }

    const fn is_among_changing(self) -> bool {
        self.is_among_refusing()
            || self.is_among_texts()
            || matches!(self, Self::Frame | Self::Frameset | Self::Template)
    }

    const fn is_among_texts(self) -> bool {
        matches!(
            self,
            Self::Title
                | Self::Textarea
                | Self::Style
                | Self::Xmp
                | Self::Iframe
                | Self::Noembed
                | Self::Noframes
                | Self::Script
                | Self::Plaintext
        )
    }

    const fn is_among_sayings(self) -> bool {
        matches!(
            self,
            Self::Html
                | Self::Base
                | Self::Title
                | Self::Meta
                | Self::Link
                | Self::Time
                | Self::Script
        )
    }

    const fn is_among_void(self) -> bool {
        matches!(
            self,
            Self::Area
                | Self::Base
                | Self::Basefont
                | Self::Bgsound
                | Self::Br
                | Self::Col
                | Self::Embed
                | Self::Frame
                | Self::Hr
                | Self::Image
                | Self::Img
                | Self::Input
                | Self::Keygen
                | Self::Link
                | Self::Meta
                | Self::Param
                | Self::Source
                | Self::Track
                | Self::Wbr
        )
    }

    /// Elements that may stand in a head.
    pub fn is_of_head(self) -> bool {
        matches!(
            self,
            Self::Html
                | Self::Head
                | Self::Title
                | Self::Meta
                | Self::Link
                | Self::Base
                | Self::Script
                | Self::Style
                | Self::Noscript
        )
    }

    const fn is_among_blocks(self) -> bool {
        matches!(
            self,
            Self::Address
                | Self::Article
                | Self::Aside
                | Self::Blockquote
                | Self::Body
                | Self::Br
                | Self::Caption
                | Self::Center
                | Self::Dd
                | Self::Details
                | Self::Dialog
                | Self::Dir
                | Self::Div
                | Self::Dl
                | Self::Dt
                | Self::Fieldset
                | Self::Figcaption
                | Self::Figure
                | Self::Footer
                | Self::Form
                | Self::H1
                | Self::H2
                | Self::H3
                | Self::H4
                | Self::H5
                | Self::H6
                | Self::Header
                | Self::Hgroup
                | Self::Hr
                | Self::Legend
                | Self::Li
                | Self::Listing
                | Self::Main
                | Self::Menu
                | Self::Nav
                | Self::Ol
                | Self::Optgroup
                | Self::Option
                | Self::P
                | Self::Plaintext
                | Self::Pre
                | Self::Search
                | Self::Section
                | Self::Summary
                | Self::Table
                | Self::Tbody
                | Self::Tfoot
                | Self::Thead
                | Self::Tr
                | Self::Ul
                | Self::Xmp
        )
    }

    const fn is_among_cells(self) -> bool {
        matches!(self, Self::Td | Self::Th | Self::Button | Self::Select | Self::Textarea)
    }

    const fn is_among_emphasis(self) -> bool {
        matches!(self, Self::B | Self::Strong | Self::Em | Self::I | Self::Mark)
    }

    /// A heading's level.
    pub fn heading(self) -> Option<u8> {
        matches!(self, Self::H1 | Self::H2 | Self::H3 | Self::H4 | Self::H5 | Self::H6)
            .then(|| self as u8 - Self::H1 as u8 + 1)
    }

    /// Tables and their parts.
    pub fn is_of_table(self) -> bool {
        matches!(
            self,
            Self::Table
                | Self::Caption
                | Self::Thead
                | Self::Tbody
                | Self::Tfoot
                | Self::Tr
                | Self::Td
                | Self::Th
        )
    }

    /// HTML start tags that end foreign content (HTML section 13.2.6.5), `font` aside.
    pub fn breaks_out(self) -> bool {
        matches!(
            self,
            Self::B
                | Self::Big
                | Self::Blockquote
                | Self::Body
                | Self::Br
                | Self::Center
                | Self::Code
                | Self::Dd
                | Self::Div
                | Self::Dl
                | Self::Dt
                | Self::Em
                | Self::Embed
                | Self::H1
                | Self::H2
                | Self::H3
                | Self::H4
                | Self::H5
                | Self::H6
                | Self::Head
                | Self::Hr
                | Self::I
                | Self::Img
                | Self::Li
                | Self::Listing
                | Self::Menu
                | Self::Meta
                | Self::Nobr
                | Self::Ol
                | Self::P
                | Self::Pre
                | Self::Ruby
                | Self::S
                | Self::Small
                | Self::Span
                | Self::Strong
                | Self::Strike
                | Self::Sub
                | Self::Sup
                | Self::Table
                | Self::Tt
                | Self::U
                | Self::Ul
                | Self::Var
        )
    }

    const fn is_among_refusing(self) -> bool {
        matches!(
            self,
            Self::Applet
                | Self::Area
                | Self::Br
                | Self::Button
                | Self::Dd
                | Self::Dt
                | Self::Embed
                | Self::Hr
                | Self::Iframe
                | Self::Image
                | Self::Img
                | Self::Input
                | Self::Keygen
                | Self::Li
                | Self::Listing
                | Self::Marquee
                | Self::Object
                | Self::Plaintext
                | Self::Pre
                | Self::Select
                | Self::Table
                | Self::Textarea
                | Self::Wbr
                | Self::Xmp
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_without_case_and_nothing_else_is() {
        assert_eq!(Tag::of(b"A"), Tag::A);
        assert_eq!(Tag::of(b"foreignObject"), Tag::ForeignObject);
        assert_eq!(Tag::of(b"annotation-xml"), Tag::AnnotationXml);
        assert_eq!(Attr::NAMES.get(b"HTTP-Equiv"), Attr::HttpEquiv);
        for other in ["", "\0a", "a\0", "aa", "ſ", "foreignobjectforeignobject"] {
            assert_eq!(Tag::of(other.as_bytes()), Tag::Other, "{other:?}");
        }
    }
}
