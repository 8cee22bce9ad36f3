//! A page, written anew: the same to look at, without what runs, asks or sends.

use larm_core::parse::{Markup, Piece, StartTag};

use super::attributes::kept;
use super::css;
use super::escape::{push_text, push_value};
use super::place::Mapper;

/// Elements that go with all that is in them; their content is text.
const GONE: [&str; 3] = ["script", "noembed", "noframes"];
/// Tags that go, while what is between them stays.
const BARE: [&str; 16] = [
    "object",
    "embed",
    "applet",
    "param",
    "base",
    "meta",
    "portal",
    "fencedframe",
    "plaintext",
    "animate",
    "set",
    "animatemotion",
    "animatetransform",
    "handler",
    "listener",
    "bgsound",
];
/// Links that a page is drawn with.
const DRAWN: [&str; 4] = ["stylesheet", "icon", "shortcut", "apple-touch-icon"];

/// The page, at most `bytes_max` bytes of it and a bit.
pub fn rewrite(source: &str, mapper: Mapper, bytes_max: usize) -> String {
    let out = String::with_capacity(source.len() / 2);
    let mut page = Page { markup: Markup::new(source), out, mapper, has_base: false };
    if page.markup.has_doctype() {
        page.out.push_str("<!doctype html>");
    }
    while page.out.len() < bytes_max {
        let Some(piece) = page.markup.next() else { break };
        page.put(piece);
    }
    page.out
}

struct Page<'a> {
    markup: Markup<'a>,
    out: String,
    mapper: Mapper,
    /// Only the first base counts.
    has_base: bool,
}

impl Page<'_> {
    fn put(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(text) => push_text(&mut self.out, text),
            Piece::End(name) => {
                let name = name.to_ascii_lowercase();
                if is_plain(&name)
                    && !GONE.contains(&name.as_str())
                    && !BARE.contains(&name.as_str())
                {
                    self.out.push_str(&format!("</{}>", shown(&name)));
                }
            }
            Piece::Start(tag) => self.start(&tag),
        }
    }

    fn start(&mut self, tag: &StartTag<'_>) {
        let name = tag.name.to_ascii_lowercase();
        match name.as_str() {
            name if GONE.contains(&name) => drop(self.markup.raw(name)),
            "base" => self.base(tag),
            name if BARE.contains(&name) => {}
            "link" if !is_drawn(tag) => {}
            name if !is_plain(name) => {}
            name => {
                self.open(name, tag);
                self.content(name);
            }
        }
    }

    /// What is in an element that holds nothing but text.
    fn content(&mut self, name: &str) {
        match name {
            "style" => {
                let sheet = css::rewrite(self.markup.raw(name), &self.mapper);
                push_sheet(&mut self.out, &sheet);
            }
            "title" | "textarea" | "xmp" => {
                let text = self.markup.raw(name);
                push_text(&mut self.out, text);
            }
            "iframe" => drop(self.markup.raw(name)),
            _ => {}
        }
    }

    fn open(&mut self, name: &str, tag: &StartTag<'_>) {
        self.out.push('<');
        self.out.push_str(shown(name));
        for (attribute, value) in tag.attributes() {
            if let Some(value) = kept(name, &attribute, &value, &self.mapper) {
                self.out.push_str(&format!(" {attribute}=\""));
                push_value(&mut self.out, &value.replace('&', "&amp;"));
                self.out.push('"');
            }
        }
        self.out.push_str(if tag.self_closing { "/>" } else { ">" });
    }

    fn base(&mut self, tag: &StartTag<'_>) {
        if let Some(href) = value(tag, "href").filter(|_| !self.has_base) {
            self.has_base = true;
            self.mapper.rebase(&href);
        }
    }
}

fn value(tag: &StartTag<'_>, name: &str) -> Option<String> {
    tag.attributes().into_iter().find(|(other, _)| other == name).map(|(_, value)| value)
}

/// A name that is written as it is. Case matters in drawings, but a browser sees to that. What is called a script
/// somewhere is none here.
fn is_plain(name: &str) -> bool {
    if name.contains("script") && name != "noscript" {
        return false;
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
    name.len() <= 100 && name.bytes().all(plain)
}

/// `xmp` would show our escapes as they are.
fn shown(name: &str) -> &str {
    if name == "xmp" { "pre" } else { name }
}

/// Whether a `link` belongs to how the page looks.
fn is_drawn(tag: &StartTag<'_>) -> bool {
    let rel = value(tag, "rel").unwrap_or_default().to_ascii_lowercase();
    let mut words = rel.split_ascii_whitespace();
    !rel.is_empty()
        && words.all(|word| DRAWN.contains(&word) || word == "alternate")
        && !rel.eq("alternate")
}

/// A style sheet between its tags. In a drawing a browser reads tags and character references in it, so there is
/// nothing like one.
fn push_sheet(out: &mut String, sheet: &str) {
    let mut rest = sheet;
    while let Some(at) = rest.find(['<', '&']) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let (mark, behind) = behind.split_at(1);
        let means_more = behind
            .starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '!' | '?' | '#'));
        out.push_str(match (mark, means_more) {
            ("<", true) => "\\3c ",
            ("&", true) => "\\26 ",
            _ => mark,
        });
        rest = behind;
    }
    out.push_str(rest);
}
