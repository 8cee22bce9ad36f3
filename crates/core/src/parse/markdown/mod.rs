//! HTML → Markdown that a person can read: headings, paragraphs, lists, tables, links, emphasis, code,
//! quotes, pictures by their `alt`.
//!
//! Driven by the same scanner as the page, and cut at `page_text_bytes_max`. It shows what the page says,
//! not how it looks: tables that only arrange things become paragraphs, and everything that has no words
//! is left out. Whatever the nesting, what is opened is closed again within its block. Bodies that are not
//! HTML give their plain text.

mod code;
mod escape;
mod place;
mod table;
#[cfg(test)]
mod tests;
mod writer;

use encoding_rs::Encoding;
use url::Url;

use super::html::{Attr, Attributes, Dialect, Event, Namespace, Scanner, Tag, Text};
use super::html::{decode_attribute, decoded};
use super::marks::pieces;
use super::page::{Page, cut};
use super::sniff::{self, Kind};
use super::{Input, parse};
use crate::Limits;
use escape::escape;
use place::Place;
use writer::Writer;

/// How much of a page is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Its main part, under its title; everything where it has none.
    Main,
    /// All that a reader sees.
    Whole,
}

/// Writes a page as Markdown; links are absolute where they can be.
pub fn markdown(input: &Input<'_>, part: Part, limits: &Limits) -> String {
    let page = parse(&Input { text: true, ..*input }, limits);
    let dialect = match page.kind {
        Kind::Html => Dialect::Html,
        Kind::Xhtml => Dialect::Xhtml,
        _ => return page.text,
    };
    let mime = input.mime();
    let body = input.decode(sniff::kind(mime.as_ref(), input.body), mime.as_ref());
    let mut scanner = Scanner::new(&body.text, dialect, limits.page_nesting_max);
    let tables = table::data_tables(&body.text, dialect, limits);
    let target = Target { url: input.url, base: page.base.as_ref(), encoding: page.encoding() };
    let mut reader = Reader::new(&page, part, target, tables, limits);
    while let Some(event) = scanner.next().filter(|_| !reader.writer.is_full()) {
        match event {
            Event::Text(text) if !scanner.in_template() => reader.text(text),
            Event::Start { tag, namespace: Namespace::Html } => {
                reader.place.separate(tag);
                if !scanner.in_template() {
                    reader.start(tag, scanner.attributes());
                }
            }
            Event::End { tag, namespace } => {
                reader.place.separate(tag);
                if namespace == Namespace::Html && !scanner.in_template() {
                    reader.end(tag);
                }
            }
            _ => {}
        }
    }
    reader.writer.finish()
}

/// What links resolve against.
struct Target<'a> {
    url: &'a Url,
    base: Option<&'a Url>,
    encoding: &'static Encoding,
}

impl Target<'_> {
    /// The URL of an attribute, as it can stand in parentheses.
    fn of(&self, raw: Option<&str>) -> String {
        let mut value = String::new();
        decode_attribute(raw.unwrap_or_default(), &mut value);
        let base = self.base.unwrap_or(self.url);
        let resolved = crate::url::resolve(value.trim_ascii(), Some(base), Some(self.encoding));
        let target = resolved.map_or(value, String::from);
        let is_safe =
            |c: char| !c.is_ascii_whitespace() && !matches!(c, '(' | ')' | '<' | '>' | '\\');
        let mut safe = String::with_capacity(target.len());
        for c in target.chars() {
            if is_safe(c) { safe.push(c) } else { safe.push_str(&format!("%{:02X}", c as u32)) }
        }
        safe
    }
}

struct Reader<'a> {
    target: Target<'a>,
    place: Place<'a>,
    /// Whether each table of the page, in order, is one of data; taken from the front.
    tables: std::vec::IntoIter<bool>,
    writer: Writer,
    limits: &'a Limits,
    buffer: String,
}

impl<'a> Reader<'a> {
    fn new(
        page: &'a Page,
        part: Part,
        target: Target<'a>,
        tables: Vec<bool>,
        limits: &'a Limits,
    ) -> Self {
        let mut writer = Writer::new(limits);
        let place = match part {
            Part::Main if !page.marks.main.is_empty() => {
                writer.title(title(page).unwrap_or_default());
                Place::within(&page.marks.main, limits)
            }
            _ => Place::anywhere(limits),
        };
        Self { target, place, tables: tables.into_iter(), writer, limits, buffer: String::new() }
    }

    fn start(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        let writer = &mut self.writer;
        match tag {
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => writer.open_heading(tag),
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => writer.open_list(tag == Tag::Ol),
            Tag::Li => writer.item(),
            Tag::Dd => writer.definition(),
            Tag::Blockquote => writer.open_quote(),
            Tag::Pre | Tag::Listing => writer.open_pre(code::language(attributes)),
            Tag::Hr if self.place.is_inside() => writer.rule(),
            Tag::Table => writer.open_table(self.tables.next().unwrap_or(false)),
            Tag::Tr => writer.row(),
            Tag::Td | Tag::Th => writer.cell(),
            Tag::Br => writer.line_break(),
            Tag::Img | Tag::Image => self.picture(attributes),
            Tag::A if attributes.has(Attr::Href) => {
                writer.open_link(self.target.of(attributes.get(Attr::Href)));
            }
            Tag::A => writer.close_link(),
            Tag::Code | Tag::Tt | Tag::Kbd | Tag::Samp => {
                writer.open_code(tag, code::language(attributes));
            }
            _ if tag.is_block() => writer.block(2),
            _ if tag.is_cell() => writer.space(),
            _ => writer.open_mark(tag),
        }
    }

    fn end(&mut self, tag: Tag) {
        let writer = &mut self.writer;
        match tag {
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => writer.close_heading(),
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => writer.close_list(),
            Tag::Li | Tag::Dd => writer.close_item(),
            Tag::Blockquote => writer.close_quote(),
            Tag::Pre | Tag::Listing => writer.close_pre(),
            Tag::Table => writer.close_table(),
            Tag::Tr | Tag::Td | Tag::Th | Tag::Br => {}
            Tag::A => writer.close_link(),
            Tag::Code | Tag::Tt | Tag::Kbd | Tag::Samp => writer.close_code(tag),
            _ if tag.is_block() => writer.block(2),
            _ if tag.is_cell() => writer.space(),
            _ => writer.close_mark(tag),
        }
    }

    fn text(&mut self, text: Text<'_>) {
        let is_shown = matches!(text.within, None | Some(Tag::Xmp | Tag::Plaintext));
        if !is_shown || text.namespace == Namespace::Svg {
            return;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let source = text.source.as_str();
        let words = if text.references { decoded(source, &mut buffer) } else { source };
        // No text gives fewer bytes than it has: this much is enough.
        let words = cut(words, self.limits.page_text_bytes_max);
        if self.place.takes(words) {
            self.writer.text(words);
        } else {
            self.writer.forget();
        }
        self.buffer = buffer;
    }

    fn picture(&mut self, attributes: &Attributes<'_>) {
        let mut alt = String::new();
        decode_attribute(attributes.get(Attr::Alt).unwrap_or_default(), &mut alt);
        let alt = alt.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        if !alt.is_empty() && self.place.is_inside() {
            let source = self.target.of(attributes.get(Attr::Src));
            self.writer.picture(&format!("![{}]({source})", escape(&alt, false)));
        }
    }
}

/// The page's title, where its main part does not have it as a heading.
fn title(page: &Page) -> Option<&str> {
    let title = page.title.as_deref()?;
    let main = &page.marks.main;
    let is_in_main = |at: u32| main.iter().any(|span| span.contains(&at));
    let headings = page.marks.headings.iter().filter(|(_, span)| is_in_main(span.start));
    let says_it = |(level, span): &(u8, super::Span)| {
        let mut heading = pieces(&page.text, std::slice::from_ref(span));
        *level == 1 || heading.any(|heading| title.contains(heading))
    };
    let has_it = headings.take(2).any(says_it);
    (!has_it).then_some(title)
}
