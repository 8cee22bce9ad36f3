//! A page, written anew: the same to look at, without what runs, asks or sends.

use std::borrow::Cow;

use super::attributes::kept;
use super::css;
use super::place::Mapper;
use super::tokens::{Tag, Token, Tokens, push_text, push_value};

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
    let mut page = Page {
        tokens: Tokens::new(source),
        out: String::with_capacity(source.len() / 2),
        mapper,
        has_base: false,
    };
    while page.out.len() < bytes_max {
        let Some(token) = page.tokens.next() else { break };
        page.put(token);
    }
    page.out
}

struct Page<'a> {
    tokens: Tokens<'a>,
    out: String,
    mapper: Mapper,
    /// Only the first base counts.
    has_base: bool,
}

impl Page<'_> {
    fn put(&mut self, token: Token<'_>) {
        match token {
            Token::Text(text) => push_text(&mut self.out, text),
            Token::Doctype => self.out.push_str("<!doctype html>"),
            Token::End(name) => {
                let name = name.to_ascii_lowercase();
                if is_plain(&name)
                    && !GONE.contains(&name.as_str())
                    && !BARE.contains(&name.as_str())
                {
                    self.out.push_str(&format!("</{}>", shown(&name)));
                }
            }
            Token::Start(tag) => self.start(&tag),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let name = tag.name.to_ascii_lowercase();
        match name.as_str() {
            name if GONE.contains(&name) => drop(self.tokens.raw(name)),
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

    /// Elements whose content is text are written with their end.
    fn content(&mut self, name: &str) {
        match name {
            "style" => {
                let sheet = css::rewrite(self.tokens.raw(name), &self.mapper);
                push_sheet(&mut self.out, &sheet);
            }
            "title" | "textarea" | "xmp" => {
                let text = self.tokens.raw(name);
                push_text(&mut self.out, text);
            }
            "iframe" => drop(self.tokens.raw(name)),
            _ => return,
        }
        self.out.push_str(&format!("</{}>", shown(name)));
    }

    fn open(&mut self, name: &str, tag: &Tag<'_>) {
        self.out.push('<');
        self.out.push_str(shown(name));
        let mut seen: Vec<String> = Vec::new();
        for (attribute, value) in &tag.attributes {
            let attribute = attribute.to_ascii_lowercase();
            // Of two of the same name, a browser takes the first.
            if seen.contains(&attribute) {
                continue;
            }
            if let Some(value) = kept(name, &attribute, &decoded(value), &self.mapper) {
                self.out.push_str(&format!(" {attribute}=\""));
                push_value(&mut self.out, &value.replace('&', "&amp;"));
                self.out.push('"');
            }
            seen.push(attribute);
        }
        self.out.push_str(if tag.self_closing { "/>" } else { ">" });
    }

    fn base(&mut self, tag: &Tag<'_>) {
        let href = tag.attributes.iter().find(|(name, _)| name.eq_ignore_ascii_case("href"));
        if let Some((_, href)) = href.filter(|_| !self.has_base) {
            self.has_base = true;
            self.mapper.rebase(&decoded(href));
        }
    }
}

fn decoded(value: &str) -> Cow<'_, str> {
    htmlize::unescape_attribute(value)
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
fn is_drawn(tag: &Tag<'_>) -> bool {
    let rel = tag.attributes.iter().find(|(name, _)| name.eq_ignore_ascii_case("rel"));
    let rel = rel.map(|(_, rel)| decoded(rel).to_ascii_lowercase()).unwrap_or_default();
    let mut words = rel.split_ascii_whitespace();
    !rel.is_empty()
        && words.all(|word| DRAWN.contains(&word) || word == "alternate")
        && !rel.eq("alternate")
}

/// A style sheet between its tags. In a drawing a browser reads tags in it, so there is nothing like one.
fn push_sheet(out: &mut String, sheet: &str) {
    let mut rest = sheet;
    while let Some(at) = rest.find('<') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let is_tag = behind[1..]
            .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        out.push_str(if is_tag { "\\3c " } else { "<" });
        rest = &behind[1..];
    }
    out.push_str(rest);
}
