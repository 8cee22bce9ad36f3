//! HTML → Markdown that a person can read: headings, paragraphs, lists, links, emphasis, code, quotes,
//! pictures by their `alt`.
//!
//! Driven by the same scanner as the page, in one pass, and cut at `page_text_bytes_max`. It shows what
//! the page says, not how it looks: tables become lines, and everything that has no words is left out.
//! Bodies that are not HTML give their plain text.

use url::Url;

use super::html::{Attr, Attributes, Dialect, Event, Namespace, Scanner, Tag, Text};
use super::html::{decode_attribute, decode_text};
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
    let decoded = input.decode(kind, mime.as_ref());
    let mut scanner = Scanner::new(&decoded.text, dialect, limits.page_nesting_max);
    let mut writer = Writer::new(input.url, limits);
    while let Some(event) = scanner.next() {
        if writer.is_full() {
            break;
        }
        match event {
            Event::Text(text) if !scanner.in_template() => writer.text(text),
            Event::Start { tag, namespace: Namespace::Html } => {
                writer.start(tag, scanner.attributes())
            }
            Event::End { tag, namespace: Namespace::Html } => writer.end(tag),
            _ => {}
        }
    }
    writer.finish()
}

/// Something that is opened before and closed behind words.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mark {
    Strong,
    Emphasis,
    Code,
    Link(String),
}

impl Mark {
    fn opening(&self) -> &'static str {
        match self {
            Self::Strong => "**",
            Self::Emphasis => "*",
            Self::Code => "`",
            Self::Link(_) => "[",
        }
    }

    fn closing(&self) -> String {
        match self {
            Self::Link(target) => format!("]({target})"),
            _ => self.opening().to_owned(),
        }
    }

    fn is_of(&self, tag: Tag) -> bool {
        match tag {
            Tag::Strong | Tag::B => *self == Self::Strong,
            Tag::Em | Tag::I => *self == Self::Emphasis,
            Tag::Code | Tag::Tt | Tag::Kbd | Tag::Samp => *self == Self::Code,
            Tag::A => matches!(self, Self::Link(_)),
            _ => false,
        }
    }
}

struct Writer<'a> {
    out: String,
    base: Url,
    limits: &'a Limits,
    /// Line ends before the next word: 1 for a line, 2 for a paragraph.
    lines: usize,
    space: bool,
    /// What the first word of the line is preceded by: `## `, `- `.
    bullet: String,
    quotes: usize,
    /// Open lists: `None` for bullets, else the number of the last item.
    lists: Vec<Option<u32>>,
    /// Open marks, at most one of a kind; the last `unwritten` of them wait for a word.
    marks: Vec<Mark>,
    unwritten: usize,
    in_pre: bool,
    buffer: String,
}

impl<'a> Writer<'a> {
    fn new(base: &Url, limits: &'a Limits) -> Self {
        Self {
            out: String::new(),
            base: base.clone(),
            limits,
            lines: 0,
            space: false,
            bullet: String::new(),
            quotes: 0,
            lists: Vec::new(),
            marks: Vec::new(),
            unwritten: 0,
            in_pre: false,
            buffer: String::new(),
        }
    }

    fn is_full(&self) -> bool {
        self.out.len() as u64 >= self.limits.page_text_bytes_max
    }

    fn finish(mut self) -> String {
        self.block(2);
        let kept = cut(&self.out, self.limits.page_text_bytes_max).trim_end();
        format!("{kept}\n")
    }

    fn start(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        match tag {
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
                self.block(2);
                let level = tag as usize - Tag::H1 as usize + 1;
                self.bullet = format!("{} ", "#".repeat(level));
            }
            Tag::Ul | Tag::Menu | Tag::Dir => self.open_list(None),
            Tag::Ol => self.open_list(Some(0)),
            Tag::Li => self.item(),
            Tag::Blockquote => {
                self.block(2);
                self.quotes += usize::from((self.quotes as u64) < self.limits.page_nesting_max);
            }
            Tag::Pre | Tag::Listing => self.fence(true),
            Tag::Hr => {
                self.block(2);
                self.word("---");
                self.block(2);
            }
            Tag::Td | Tag::Th => self.space = true,
            Tag::Br => self.lines = self.lines.max(1),
            Tag::Img | Tag::Image => self.picture(attributes),
            Tag::Base => self.set_base(attributes),
            _ if tag.is_block() => self.block(paragraph(tag)),
            _ => self.open_mark(tag, attributes),
        }
    }

    fn end(&mut self, tag: Tag) {
        match tag {
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => {
                self.lists.pop();
                self.block(if self.lists.is_empty() { 2 } else { 1 });
            }
            Tag::Li => self.block(1),
            Tag::Blockquote => {
                self.block(2);
                self.quotes = self.quotes.saturating_sub(1);
            }
            Tag::Pre | Tag::Listing => self.fence(false),
            _ if tag.is_block() => self.block(paragraph(tag)),
            _ => self.close_mark(tag),
        }
    }

    fn text(&mut self, text: Text<'_>) {
        let is_shown = matches!(text.within, None | Some(Tag::Xmp | Tag::Plaintext));
        if !is_shown || text.namespace == Namespace::Svg {
            return;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        if text.references {
            decode_text(text.source, &mut buffer);
        } else {
            buffer.push_str(text.source);
        }
        if self.in_pre {
            self.code_lines(&buffer)
        } else {
            self.words(&buffer)
        }
        self.buffer = buffer;
    }

    fn words(&mut self, text: &str) {
        let is_code = self.marks.contains(&Mark::Code);
        self.space |= text.starts_with(|c: char| c.is_ascii_whitespace());
        for word in text.split_ascii_whitespace() {
            if is_code {
                self.word(word)
            } else {
                self.word(&escape(word, self.begins_line()))
            }
            self.space = true;
        }
        self.space =
            text.is_empty() && self.space || text.ends_with(|c: char| c.is_ascii_whitespace());
    }

    fn code_lines(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.new_line();
            }
            self.out.push_str(line);
        }
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
            self.out.push_str(mark.opening());
        }
        self.out.push_str(word);
    }

    fn begin_line(&mut self) {
        let lines = if self.out.is_empty() { 0 } else { std::mem::take(&mut self.lines) };
        for _ in 0..lines {
            self.new_line();
        }
        if lines == 0 {
            self.out.push_str(&"> ".repeat(self.quotes));
        }
        self.lines = 0;
        self.out.push_str(&std::mem::take(&mut self.bullet));
    }

    /// Ends the line and indents the next one.
    fn new_line(&mut self) {
        let end = self.out.trim_end_matches(' ').len();
        self.out.truncate(end);
        self.out.push('\n');
        self.out.push_str(&"> ".repeat(self.quotes));
        let outer = self.lists.len().saturating_sub(usize::from(!self.bullet.is_empty()));
        self.out.push_str(&"  ".repeat(outer));
    }

    /// Ends a block: marks do not reach across it.
    fn block(&mut self, lines: usize) {
        while let Some(mark) = self.marks.pop() {
            self.write_closing(&mark);
        }
        self.lines = if self.out.is_empty() { 0 } else { self.lines.max(lines) };
        self.space = false;
    }

    fn open_list(&mut self, number: Option<u32>) {
        self.block(if self.lists.is_empty() { 2 } else { 1 });
        if (self.lists.len() as u64) < self.limits.page_nesting_max {
            self.lists.push(number);
        }
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

    fn open_mark(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        let mark = match tag {
            Tag::Strong | Tag::B => Mark::Strong,
            Tag::Em | Tag::I => Mark::Emphasis,
            Tag::Code | Tag::Tt | Tag::Kbd | Tag::Samp => Mark::Code,
            Tag::A => match attributes.get(Attr::Href) {
                Some(raw) => Mark::Link(self.target(raw)),
                None => return,
            },
            _ => return,
        };
        if !self.in_pre && !self.marks.iter().any(|open| open.is_of(tag)) {
            self.marks.push(mark);
            self.unwritten += 1;
        }
    }

    /// Closes a mark and those inside it.
    fn close_mark(&mut self, tag: Tag) {
        let Some(at) = self.marks.iter().position(|mark| mark.is_of(tag)) else {
            return;
        };
        while self.marks.len() > at {
            if let Some(mark) = self.marks.pop() {
                self.write_closing(&mark);
            }
        }
    }

    fn write_closing(&mut self, mark: &Mark) {
        if self.unwritten > 0 {
            self.unwritten -= 1;
        } else {
            self.out.push_str(&mark.closing());
        }
    }

    fn picture(&mut self, attributes: &Attributes<'_>) {
        let mut alt = String::new();
        decode_attribute(attributes.get(Attr::Alt).unwrap_or_default(), &mut alt);
        let alt = alt.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        if alt.is_empty() || self.in_pre {
            return;
        }
        let source = self.target(attributes.get(Attr::Src).unwrap_or_default());
        self.word(&format!("![{}]({source})", escape(&alt, false)));
    }

    fn set_base(&mut self, attributes: &Attributes<'_>) {
        let base = attributes.get(Attr::Href).map(|raw| self.target(raw));
        if let Some(base) = base.and_then(|base| Url::parse(&base).ok()) {
            self.base = base;
        }
    }

    /// The URL as it can stand in parentheses.
    fn target(&self, raw: &str) -> String {
        let mut value = String::new();
        decode_attribute(raw, &mut value);
        let resolved = crate::url::resolve(value.trim_ascii(), Some(&self.base), None);
        let target = resolved.map_or(value, String::from);
        target.replace(' ', "%20").replace('(', "%28").replace(')', "%29")
    }
}

/// Lines around a block element.
fn paragraph(tag: Tag) -> usize {
    let is_line = matches!(tag, Tag::Tr | Tag::Dt | Tag::Dd | Tag::Option | Tag::Div | Tag::Br);
    if is_line { 1 } else { 2 }
}

/// Keeps characters of a text from being taken for markup.
fn escape(word: &str, begins_line: bool) -> String {
    let mut out = String::with_capacity(word.len());
    if begins_line && (matches!(word, "-" | "+" | ">") || word.starts_with('#')) {
        out.push('\\');
    }
    for c in word.chars() {
        if matches!(c, '\\' | '`' | '*' | '<' | '[' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
