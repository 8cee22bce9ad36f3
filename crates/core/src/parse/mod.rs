//! Bytes → page (step 9 of the line).
//!
//! `parse` takes a body, already free of its content coding, and gives what a crawler wants to know of
//! it: links, text, title, directives. It never fails, never recurses and reads its input once; what
//! is odd or too much becomes a [`Note`]. It follows nothing, resolves no external entity and runs no
//! script. Links stay as the page has them: resolving and judging them is for `url` and `scope`.

mod bytes;
mod charset;
mod css;
mod feed;
mod html;
mod json_feed;
mod language;
mod markdown;
mod marks;
mod mime;
mod page;
pub mod pdf;
mod prose;
mod sitemap;
mod sniff;
#[cfg(test)]
pub(crate) mod testdata;
#[cfg(test)]
mod tests;
mod xml;

use std::borrow::Cow;

use url::Url;

use crate::Limits;

pub use charset::{Charset, CharsetSource};
pub use html::{Form, Markup, Piece, StartTag, each_candidate, forms};
pub use markdown::{Part, markdown};
pub use marks::{Marks, Span, pieces};
pub use mime::Mime;
pub use page::{Hint, LinkRef, Note, Page, cut};
pub use sniff::Kind;

/// What is to be parsed.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Where the body is from: `base href` resolves against it, and its top-level domain helps to
    /// guess a charset.
    pub url: &'a Url,
    /// The `Content-Type` field as received.
    pub content_type: Option<&'a str>,
    /// The body, content coding removed.
    pub body: &'a [u8],
    /// Whether somebody will read [`Page::text`]. Otherwise it stays empty, and a fourth of the work is
    /// saved.
    pub text: bool,
}

impl<'a> Input<'a> {
    fn mime(&self) -> Option<Mime> {
        self.content_type.and_then(Mime::parse)
    }

    /// The body as text, in the charset that `kind`'s rules find.
    fn decode(&self, kind: Kind, mime: Option<&Mime>) -> Decoded<'a> {
        let label = mime.and_then(|mime| mime.parameter("charset"));
        let charset = charset::detect(self, kind, label);
        let (text, malformed) = charset::decode(self.body, charset.encoding);
        Decoded { text, charset, malformed }
    }
}

struct Decoded<'a> {
    text: Cow<'a, str>,
    charset: Charset,
    malformed: bool,
}

impl Decoded<'_> {
    fn page(&self, kind: Kind) -> Page {
        let mut page = Page::new(kind, self.charset);
        if self.malformed {
            page.note(Note::MalformedCharset);
        }
        page
    }
}

/// A body as text, in its charset, and what kind of text it is. Nothing of a PDF or of what is no text at all.
pub fn text_of<'a>(input: &Input<'a>) -> (Kind, Cow<'a, str>) {
    let mime = input.mime();
    match sniff::kind(mime.as_ref(), input.body) {
        kind @ (Kind::Pdf | Kind::Other) => (kind, Cow::Borrowed("")),
        kind => (kind, input.decode(kind, mime.as_ref()).text),
    }
}

/// Makes a page of any bytes. The kind is that of the `Content-Type`; where that is missing or says
/// nothing, the first bytes decide. Of a PDF nothing is read here: see [`pdf`].
pub fn parse(input: &Input<'_>, limits: &Limits) -> Page {
    let mime = input.mime();
    let kind = sniff::kind(mime.as_ref(), input.body);
    if matches!(kind, Kind::Pdf | Kind::Other) {
        return Page::new(kind, Charset::default());
    }
    let decoded = input.decode(kind, mime.as_ref());
    match kind {
        Kind::Html | Kind::Xhtml => html::read(input, decoded.page(kind), &decoded.text, limits),
        Kind::Css => css::read(decoded.page(kind), &decoded.text, limits),
        Kind::Text if input.text => text(decoded.page(kind), &decoded.text, limits),
        Kind::Feed => json_feed::read(input, decoded.page(kind), &decoded.text, limits),
        Kind::Xml | Kind::Sitemap | Kind::SitemapIndex => xml(input, &decoded, limits),
        Kind::Text | Kind::Pdf | Kind::Other => decoded.page(kind),
    }
}

/// The same for a body that was asked for as a sitemap: plain text is then a list of URLs, and what
/// cannot be told by its type is looked at for XML.
pub fn parse_sitemap(input: &Input<'_>, limits: &Limits) -> Page {
    let mime = input.mime();
    match sniff::kind(mime.as_ref(), input.body) {
        Kind::Text if !sitemap::looks_like_xml(input.body) => {
            let decoded = input.decode(Kind::Text, mime.as_ref());
            sitemap::read_text(decoded.page(Kind::Sitemap), &decoded.text, limits)
        }
        Kind::Text | Kind::Other if sitemap::looks_like_xml(input.body) => {
            xml(input, &input.decode(Kind::Xml, mime.as_ref()), limits)
        }
        _ => parse(input, limits),
    }
}

/// What XML is, its root says.
fn xml(input: &Input<'_>, decoded: &Decoded<'_>, limits: &Limits) -> Page {
    let source = &decoded.text;
    match xml::root_of(source).as_deref() {
        Some("html") => html::read(input, decoded.page(Kind::Xhtml), source, limits),
        Some(root) if feed::is_root(root) => {
            feed::read(input, decoded.page(Kind::Feed), source, limits)
        }
        _ => sitemap::read(decoded.page(Kind::Xml), source, limits),
    }
}

/// Plain text: text only. What looks like a URL in it is no link; nobody marked it as one.
fn text(mut page: Page, source: &str, limits: &Limits) -> Page {
    let mut prose = prose::Prose::new(limits.page_text_bytes_max);
    for line in source.lines() {
        prose.words(line);
        prose.line();
        if prose.is_cut() {
            break;
        }
    }
    page.language = language::language(prose.as_str(), &[]);
    page.set_text(prose);
    page
}
