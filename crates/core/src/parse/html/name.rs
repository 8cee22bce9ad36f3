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

            pub fn of(name: &[u8]) -> Self {
                static NAMES: Table<$type, $places> =
                    Table::new(&[$(($name, $type::$variant),)+], $type::Other);
                NAMES.get(name)
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

impl Tag {
    /// HTML elements that have no content and no end tag.
    pub fn is_void(self) -> bool {
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

    /// Elements that stand on lines of their own.
    #[inline]
    pub fn is_block(self) -> bool {
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

    /// Elements next to each other, but not words of one text.
    #[inline]
    pub fn is_cell(self) -> bool {
        matches!(self, Self::Td | Self::Th | Self::Button | Self::Select | Self::Textarea)
    }

    /// Elements that stress their words.
    #[inline]
    pub fn is_emphasis(self) -> bool {
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

    /// Start tags after which a `frameset` comes too late (HTML section 13.2.6.4.7).
    pub fn refuses_frames(self) -> bool {
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
        assert_eq!(Attr::of(b"HTTP-Equiv"), Attr::HttpEquiv);
        for other in ["", "\0a", "a\0", "aa", "ſ", "foreignobjectforeignobject"] {
            assert_eq!(Tag::of(other.as_bytes()), Tag::Other, "{other:?}");
        }
    }
}
