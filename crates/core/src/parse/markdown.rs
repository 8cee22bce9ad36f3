//! HTML → Markdown that a person can read: headings, paragraphs, lists, links, emphasis, code, quotes,
//! pictures by their `alt`.
//!
//! Driven by the same scanner as the page, in one pass, and cut at `page_text_bytes_max`. It shows what
//! the page says, not how it looks: tables become lines, and everything that has no words is left out.
//! Bodies that are not HTML give their plain text.

use encoding_rs::Encoding;
use url::Url;

use super::html::{Attr, Attributes, Dialect, Event, Namespace, Scanner, Tag, Text};
use super::html::{decode_attribute, decoded};
use super::page::cut;
use super::sniff::{self, Kind};
use super::{Input, parse};
use crate::Limits;

/// Writes a page as Markdown; links are absolute where they can be.
pub fn markdown(input: &Input<'_>, limits: &Limits) -> String {
    let mime = input.mime();
    let kind = sniff::kind(mime.as_ref(), input.body);
    let dialect = match kind {
        Kind::Html => Dialect::Html,
        Kind::Xhtml => Dialect::Xhtml,
        _ => return parse(input, limits).text,
    };
    let body = input.decode(kind, mime.as_ref());
    let mut scanner = Scanner::new(&body.text, dialect, limits.page_nesting_max);
    let target = Target { url: input.url, base: None, encoding: body.charset.encoding };
    let mut writer = Writer { target, limits, state: State::default() };
    while let Some(event) = scanner.next().filter(|_| !writer.is_full()) {
        match event {
            Event::Text(text) if !scanner.in_template() => writer.text(text),
            Event::Start { tag, namespace: Namespace::Html } => {
                writer.start(tag, scanner.attributes());
            }
            Event::End { tag, namespace: Namespace::Html } => writer.end(tag),
            _ => {}
        }
    }
    writer.finish()
}

/// Something that is opened before and closed behind words.
#[derive(Debug)]
struct Mark {
    opening: &'static str,
    closing: String,
}

/// How a mark of this element begins. There is never more than one of a kind open.
fn opening(tag: Tag) -> Option<&'static str> {
    match tag {
        Tag::Strong | Tag::B => Some("**"),
        Tag::Em | Tag::I => Some("*"),
        Tag::Code | Tag::Tt | Tag::Kbd | Tag::Samp => Some(CODE),
        Tag::A => Some("["),
        _ => None,
    }
}

const CODE: &str = "`";

/// What links resolve against.
struct Target<'a> {
    url: &'a Url,
    base: Option<Url>,
    encoding: &'static Encoding,
}

impl Target<'_> {
    /// The URL of an attribute, as it can stand in parentheses.
    fn of(&self, raw: Option<&str>) -> String {
        let mut value = String::new();
        decode_attribute(raw.unwrap_or_default(), &mut value);
        let base = self.base.as_ref().unwrap_or(self.url);
        let resolved = crate::url::resolve(value.trim_ascii(), Some(base), Some(self.encoding));
        let target = resolved.map_or(value, String::from);
        target.replace(' ', "%20").replace('(', "%28").replace(')', "%29")
    }
}

#[derive(Debug, Default)]
struct State {
    out: String,
    /// Line ends before the next word: 1 for a line, 2 for a paragraph.
    lines: usize,
    space: bool,
    /// What stands before the first word of the line: `## `, `- `.
    bullet: String,
    quotes: usize,
    /// Open lists: `None` for bullets, else the number of the last item.
    lists: Vec<Option<u32>>,
    /// Open marks; the last `unwritten` of them wait for a word.
    marks: Vec<Mark>,
    unwritten: usize,
    in_pre: bool,
    buffer: String,
}

struct Writer<'a> {
    target: Target<'a>,
    limits: &'a Limits,
    state: State,
}

impl Writer<'_> {
    fn is_full(&self) -> bool {
        self.state.out.len() as u64 >= self.limits.page_text_bytes_max
    }

    fn finish(mut self) -> String {
        self.state.block(2);
        let kept = cut(&self.state.out, self.limits.page_text_bytes_max).trim_end();
        format!("{kept}\n")
    }

    fn start(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        let has_room = |open: usize| (open as u64) < self.limits.page_nesting_max;
        let state = &mut self.state;
        match tag {
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
                state.block(2);
                state.bullet = "#".repeat(tag as usize - Tag::H1 as usize + 1) + " ";
            }
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => {
                state.block(if state.lists.is_empty() { 2 } else { 1 });
                if has_room(state.lists.len()) {
                    state.lists.push((tag == Tag::Ol).then_some(0));
                }
            }
            Tag::Li => state.item(),
            Tag::Blockquote => {
                state.block(2);
                state.quotes += usize::from(has_room(state.quotes));
            }
            Tag::Pre | Tag::Listing => state.fence(true),
            Tag::Hr => {
                state.block(2);
                state.word("---");
                state.block(2);
            }
            Tag::Td | Tag::Th => state.space = true,
            Tag::Br => state.lines = state.lines.max(1),
            Tag::Img | Tag::Image => self.picture(attributes),
            Tag::Base if self.target.base.is_none() && attributes.has(Attr::Href) => {
                self.target.base = Url::parse(&self.target.of(attributes.get(Attr::Href))).ok();
            }
            _ if tag.is_block() => state.block(lines_around(tag)),
            _ => self.open_mark(tag, attributes),
        }
    }

    fn end(&mut self, tag: Tag) {
        let state = &mut self.state;
        match tag {
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => {
                state.lists.pop();
                state.block(if state.lists.is_empty() { 2 } else { 1 });
            }
            Tag::Blockquote => {
                state.block(2);
                state.quotes = state.quotes.saturating_sub(1);
            }
            Tag::Pre | Tag::Listing => state.fence(false),
            _ if tag.is_block() => state.block(lines_around(tag)),
            _ => state.close_mark(tag),
        }
    }

    fn text(&mut self, text: Text<'_>) {
        let is_shown = matches!(text.within, None | Some(Tag::Xmp | Tag::Plaintext));
        if !is_shown || text.namespace == Namespace::Svg {
            return;
        }
        let mut buffer = std::mem::take(&mut self.state.buffer);
        // No text gives fewer bytes than it has: this much is enough.
        let words = cut(decoded(text, &mut buffer), self.limits.page_text_bytes_max);
        if self.state.in_pre {
            self.code_lines(words)
        } else {
            self.state.words(words)
        }
        self.state.buffer = buffer;
    }

    fn code_lines(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 && !self.is_full() {
                self.state.new_line();
            }
            self.state.out.push_str(line.trim_end_matches('\r'));
        }
    }

    fn open_mark(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        let Some(opening) = opening(tag).filter(|_| !self.state.in_pre) else { return };
        let href = attributes.get(Attr::Href);
        let is_open = self.state.marks.iter().any(|mark| mark.opening == opening);
        if is_open || (tag == Tag::A && href.is_none()) {
            return;
        }
        let closing = match tag {
            Tag::A => format!("]({})", self.target.of(href)),
            _ => opening.to_owned(),
        };
        self.state.marks.push(Mark { opening, closing });
        self.state.unwritten += 1;
    }

    fn picture(&mut self, attributes: &Attributes<'_>) {
        let mut alt = String::new();
        decode_attribute(attributes.get(Attr::Alt).unwrap_or_default(), &mut alt);
        let alt = alt.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        if !alt.is_empty() && !self.state.in_pre {
            let source = self.target.of(attributes.get(Attr::Src));
            self.state.word(&format!("![{}]({source})", escape(&alt, false)));
        }
    }
}

impl State {
    fn words(&mut self, text: &str) {
        let is_code = self.marks.iter().any(|mark| mark.opening == CODE);
        self.space |= text.starts_with(|c: char| c.is_ascii_whitespace());
        for word in text.split_ascii_whitespace() {
            if is_code {
                self.word(word)
            } else {
                self.word(&escape(word, self.begins_line()))
            }
            self.space = true;
        }
        let ends_in_space = text.ends_with(|c: char| c.is_ascii_whitespace());
        self.space = ends_in_space || (text.is_empty() && self.space);
    }

    fn begins_line(&self) -> bool {
        self.lines > 0 || self.out.is_empty()
    }

    /// Writes what has to stand before a word, and the word.
    fn word(&mut self, word: &str) {
        if self.begins_line() {
            self.begin_line();
        } else if self.space {
            self.out.push(' ');
        }
        self.space = false;
        let written = self.marks.len() - std::mem::take(&mut self.unwritten);
        for mark in &self.marks[written..] {
            self.out.push_str(mark.opening);
        }
        self.out.push_str(word);
    }

    fn begin_line(&mut self) {
        if self.out.is_empty() {
            self.out.push_str(&"> ".repeat(self.quotes));
        }
        for _ in 0..std::mem::take(&mut self.lines) {
            self.new_line();
        }
        self.out.push_str(&std::mem::take(&mut self.bullet));
    }

    /// Ends the line and indents the next one; an item's bullet stands further out than its lines.
    fn new_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        let depth = self.lists.len().saturating_sub(usize::from(!self.bullet.is_empty()));
        self.out.push('\n');
        self.out.push_str(&"> ".repeat(self.quotes));
        self.out.push_str(&"  ".repeat(depth));
    }

    /// Ends a block: marks do not reach across it.
    fn block(&mut self, lines: usize) {
        self.close_marks(0);
        self.lines = if self.out.is_empty() { 0 } else { self.lines.max(lines) };
        self.space = false;
    }

    fn item(&mut self) {
        self.block(1);
        self.bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{number}. ")
            }
            _ => "- ".to_owned(),
        };
    }

    fn fence(&mut self, opens: bool) {
        if self.in_pre == opens {
            return;
        }
        self.block(if opens { 2 } else { 1 });
        self.word("```");
        self.in_pre = opens;
        self.lines = if opens { 0 } else { 2 };
        if opens {
            self.new_line();
        }
    }

    fn close_mark(&mut self, tag: Tag) {
        let is_of = |mark: &Mark| Some(mark.opening) == opening(tag);
        self.close_marks(self.marks.iter().position(is_of).unwrap_or(self.marks.len()));
    }

    /// Closes the marks from `first` on. Those without a word vanish.
    fn close_marks(&mut self, first: usize) {
        for mark in self.marks.drain(first..).rev() {
            if self.unwritten > 0 {
                self.unwritten -= 1;
            } else {
                self.out.push_str(&mark.closing);
            }
        }
    }
}

fn lines_around(tag: Tag) -> usize {
    match tag {
        Tag::Tr | Tag::Dt | Tag::Dd | Tag::Li | Tag::Option | Tag::Div | Tag::Br => 1,
        _ => 2,
    }
}

/// Keeps characters of a text from being taken for markup.
fn escape(word: &str, begins_line: bool) -> String {
    let is_bullet = matches!(word, "-" | "+" | ">") || word.starts_with('#');
    let mut out = String::from(if begins_line && is_bullet { "\\" } else { "" });
    for c in word.chars() {
        if matches!(c, '\\' | '`' | '*' | '<' | '[' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
