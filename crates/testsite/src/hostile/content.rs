//! Good HTTP with a body that is hard to read, or that is not what it says.
//!
//! Each page links to [`LINKED`], so that it shows whether the page was read; below [`BAD`](super::BAD)
//! everything is a small page.

use std::fmt::Write;
use std::io;

use super::{family, page};
use crate::exchange::Exchange;

/// Linked from every one of these pages.
const LINKED: &str = "/bad/linked";
/// Links of the page that has too many.
const LINKS: usize = 1_000_000;

family! {
    /// Bodies that are hard to read.
    Content {
        /// A page of a million links.
        MillionLinks = "million-links",
        /// A link of a megabyte.
        MegabyteLink = "megabyte-link",
        /// A host name of a thousand labels.
        ThousandLabels = "thousand-labels",
        /// Elements in elements, two hundred thousand deep.
        DeepMarkup = "deep-markup",
        /// An element with fifty thousand attributes.
        ManyAttributes = "many-attributes",
        /// A comment that never ends, with most of the page in it.
        OpenComment = "open-comment",
        /// A title of a megabyte.
        LongTitle = "long-title",
        /// Zero bytes, thousands of them, before, in and behind the markup.
        ZeroBytes = "zero-bytes",
        /// Nothing at all.
        Empty = "empty-page",
        /// Says UTF-8, and is windows-1252.
        WrongCharset = "wrong-charset",
        /// UTF-8, windows-1252 and UTF-16 in one page.
        MixedCharsets = "mixed-charsets",
        /// A charset that there is not.
        UnknownCharset = "unknown-charset",
        /// A page without any type.
        NoType = "no-type",
        /// A page whose type says that the server does not know.
        UnknownType = "unknown-type",
        /// An image that says it is a page.
        ImageAsPage = "image-as-page",
        /// A page that says it is an image.
        PageAsImage = "page-as-image",
        /// A type that is no type.
        NonsenseType = "nonsense-type",
        /// Bytes without any type that are no text.
        BinaryWithoutType = "binary-without-type",
    }
}

/// Sends the page, or one that it links to.
pub(super) async fn send(
    exchange: &mut Exchange<'_>,
    content: Content,
    path: &str,
) -> io::Result<()> {
    if path != super::BAD {
        let behind = format!("<title>Behind</title><p>{} {path}", content.word());
        return page(exchange, behind.as_bytes()).await;
    }
    let body = body(content);
    let head =
        format!("HTTP/1.1 200 OK\r\n{}Content-Length: {}\r\n\r\n", kind(content), body.len());
    exchange.send(head.as_bytes()).await?;
    exchange.last(&body).await
}

/// The field that names the type.
fn kind(content: Content) -> &'static str {
    match content {
        Content::NoType | Content::BinaryWithoutType => "",
        Content::UnknownType => "Content-Type: application/octet-stream\r\n",
        Content::PageAsImage => "Content-Type: image/png\r\n",
        Content::NonsenseType => "Content-Type: ;;=hello\r\n",
        Content::UnknownCharset => "Content-Type: text/html; charset=klingon\r\n",
        Content::MixedCharsets => "Content-Type: text/html\r\n",
        _ => "Content-Type: text/html; charset=utf-8\r\n",
    }
}

fn body(content: Content) -> Vec<u8> {
    let link = format!("<a href=\"{LINKED}\">on</a>");
    let start = format!("<!DOCTYPE html><title>Hard to read</title>{link}");
    let behind = |text: String| format!("{start}{text}").into_bytes();
    match content {
        Content::MillionLinks => behind(million_links()),
        Content::MegabyteLink => behind(format!("<a href=\"/{}\">x</a>", "a".repeat(1_000_000))),
        Content::ThousandLabels => {
            behind(format!("<a href=\"http://{}test/\">x</a>", "a.".repeat(1_000)))
        }
        Content::DeepMarkup => behind(format!("{}<p>Deep.", "<div><b>".repeat(100_000))),
        Content::ManyAttributes => behind(format!("<p {}>x</p>", attributes(50_000))),
        Content::OpenComment => behind(format!("<!-- {}", "<a href=/fake/comment>".repeat(10_000))),
        Content::LongTitle => format!("<title>{}</title>{link}", "Long ".repeat(200_000)).into(),
        Content::ZeroBytes => [&[0; 5_000], start.as_bytes(), &[0; 50_000]].concat(),
        Content::Empty => Vec::new(),
        Content::WrongCharset => [start.as_bytes(), b"<p>caf\xe9, na\xefve, \x80 5"].concat(),
        Content::MixedCharsets => mixed(&start),
        Content::ImageAsPage => png(),
        Content::BinaryWithoutType => {
            b"\x7fELF\x02\x01\x01\x00<a href=\"/fake/binary\">x</a>".into()
        }
        Content::UnknownCharset
        | Content::NoType
        | Content::UnknownType
        | Content::PageAsImage
        | Content::NonsenseType => behind(format!("<p>{}</p>", content.word())),
    }
}

/// In base 36, so that all of them fit into twenty megabytes.
fn million_links() -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digit = |n: usize, place: u32| char::from(DIGITS[n / 36_usize.pow(place) % 36]);
    let mut out = String::with_capacity(LINKS * 18);
    for n in 0..LINKS {
        out.push_str("<a href=/bad/");
        (0..4).rev().for_each(|place| out.push(digit(n, place)));
        out.push('>');
    }
    out
}

fn attributes(count: usize) -> String {
    let mut out = String::new();
    for n in 0..count {
        let _ = write!(out, "data-{n}={n} ");
    }
    out
}

fn mixed(start: &str) -> Vec<u8> {
    let utf16: Vec<u8> = "<p>caf\u{e9}</p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    [start.as_bytes(), "<p>caf\u{e9}</p>".as_bytes(), b"<p>caf\xe9</p>", &utf16].concat()
}

/// The first bytes of an image, and noise.
fn png() -> Vec<u8> {
    let noise = (0..5_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8);
    b"\x89PNG\r\n\x1a\n".iter().copied().chain(noise).collect()
}
