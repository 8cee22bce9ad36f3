//! Markdown under construction: what has to stand before a word, and what behind it.
//!
//! Everything is written late. Line ends, bullets, quotes, borders of cells and the openings of marks
//! wait for a word, so that what has no words leaves no trace. There is never more than one mark of a
//! kind open, and none reaches across the end of its block.

mod lines;

use super::code;
use super::escape::escape;
use crate::Limits;
use crate::parse::html::Tag;
use crate::parse::page::cut;

/// Something that is opened before and closed behind words.
#[derive(Debug)]
struct Mark {
    opening: &'static str,
    closing: String,
}

const LINK: &str = "[";

/// How a mark of this element begins.
fn opening(tag: Tag) -> Option<&'static str> {
    match tag {
        Tag::Strong | Tag::B => Some("**"),
        Tag::Em | Tag::I => Some("*"),
        Tag::Del | Tag::S | Tag::Strike => Some("~~"),
        _ => None,
    }
}

/// An open list.
#[derive(Debug)]
struct List {
    /// The number of the last item, where items have one.
    number: Option<u32>,
    /// How far the text of its items stands in.
    indent: usize,
}

/// The open row of a table of data.
#[derive(Debug, Default)]
struct Row {
    cells: usize,
    written: usize,
}

#[derive(Debug, Default)]
struct Table {
    rows: usize,
    row: Row,
}

/// Code in lines of its own, before it is written: its fence depends on all of it.
#[derive(Debug)]
struct Pre {
    language: Option<String>,
    text: String,
}

#[derive(Debug, Default)]
pub(super) struct Writer {
    out: String,
    bytes_max: u64,
    nesting_max: u64,
    /// Line ends before the next word: 1 for a line, 2 for a paragraph.
    lines: usize,
    /// Whether the line ends where the page says so, and not where a block does.
    is_broken: bool,
    space: bool,
    /// What stands before the first word of the line: `## `, `- `.
    bullet: String,
    /// Whether that is an item's, which stands further out than its text.
    is_item: bool,
    quotes: usize,
    /// How many there were around the last word.
    quotes_written: usize,
    lists: Vec<List>,
    table: Option<Table>,
    /// Open marks; the last `unwritten` of them wait for a word.
    marks: Vec<Mark>,
    unwritten: usize,
    pre: Option<Pre>,
    /// The open element of code within a line, and its text so far.
    code: Option<(Tag, String)>,
}

impl Writer {
    pub fn new(limits: &Limits) -> Self {
        let (bytes_max, nesting_max) = (limits.page_text_bytes_max, limits.page_nesting_max);
        Self { bytes_max, nesting_max, ..Self::default() }
    }

    pub fn is_full(&self) -> bool {
        self.out.len() as u64 >= self.bytes_max
    }

    pub fn finish(mut self) -> String {
        self.close_pre();
        self.end_row();
        self.block(2);
        let kept = cut(&self.out, self.bytes_max).trim_end();
        format!("{kept}\n")
    }

    /// A title above everything else.
    pub fn title(&mut self, title: &str) {
        if !title.is_empty() {
            self.bullet = "# ".to_owned();
            self.words(title);
            self.block(2);
        }
    }

    pub fn open_heading(&mut self, tag: Tag) {
        self.block(2);
        self.bullet = "#".repeat(usize::from(tag.heading().unwrap_or(1))) + " ";
        self.is_item = false;
    }

    pub fn close_heading(&mut self) {
        self.block(2);
        self.bullet.clear();
    }

    pub fn open_list(&mut self, is_numbered: bool) {
        self.block(if self.lists.is_empty() { 2 } else { 1 });
        if (self.lists.len() as u64) < self.nesting_max {
            self.lists.push(List { number: is_numbered.then_some(0), indent: 2 });
        }
    }

    pub fn close_list(&mut self) {
        self.block(1);
        self.lists.pop();
        self.bullet.clear();
        self.block(if self.lists.is_empty() { 2 } else { 1 });
    }

    pub fn item(&mut self) {
        self.block(1);
        if self.in_row() {
            return;
        }
        self.bullet = match self.lists.last_mut() {
            Some(List { number: Some(number), .. }) => {
                *number += 1;
                format!("{number}. ")
            }
            _ => "- ".to_owned(),
        };
        if let Some(list) = self.lists.last_mut() {
            list.indent = self.bullet.len();
        }
        self.is_item = true;
    }

    pub fn close_item(&mut self) {
        self.block(1);
        self.bullet.clear();
    }

    /// What is said of a term.
    pub fn definition(&mut self) {
        self.block(1);
        if !self.in_row() {
            self.bullet = ": ".to_owned();
            self.is_item = false;
        }
    }

    pub fn open_quote(&mut self) {
        self.block(2);
        self.quotes += usize::from((self.quotes as u64) < self.nesting_max);
    }

    pub fn close_quote(&mut self) {
        self.block(2);
        self.quotes = self.quotes.saturating_sub(1);
    }

    pub fn rule(&mut self) {
        self.block(2);
        if self.pre.is_none() && !self.in_row() {
            self.begin_line();
            self.out.push_str("---");
            self.block(2);
        }
    }

    /// A table of data gets rows and cells; another one is a matter of looks.
    pub fn open_table(&mut self, is_data: bool) {
        self.block(2);
        self.table = is_data.then(Table::default);
    }

    pub fn close_table(&mut self) {
        self.end_row();
        self.table = None;
        self.block(2);
    }

    pub fn row(&mut self) {
        self.end_row();
        if self.table.is_none() {
            self.block(2);
        }
    }

    pub fn cell(&mut self) {
        let Some(table) = &mut self.table else { return self.block(2) };
        table.row.cells += 1;
        self.flush_code();
        self.close_written();
        self.space = false;
    }

    /// Drops the marks without words: those were for text that is left out.
    pub fn forget(&mut self) {
        let written = self.marks.len() - std::mem::take(&mut self.unwritten);
        self.marks.truncate(written);
    }

    /// What comes next is a word of its own.
    pub fn space(&mut self) {
        self.space = true;
    }

    /// `br`: once for a line, twice for a paragraph.
    pub fn line_break(&mut self) {
        if let Some(pre) = &mut self.pre {
            pre.text.push('\n');
        } else if self.in_row() || self.bullet.starts_with('#') {
            self.space = true;
        } else if !self.begins_line() {
            (self.lines, self.is_broken) = (1, true);
            self.space = false;
        } else if self.is_broken {
            self.block(2);
        }
    }

    pub fn picture(&mut self, picture: &str) {
        if self.pre.is_none() && self.code.is_none() {
            self.word(picture);
        }
    }

    pub fn open_pre(&mut self, language: Option<String>) {
        self.close_pre();
        self.block(2);
        self.pre = Some(Pre { language, text: String::new() });
    }

    pub fn close_pre(&mut self) {
        let Some(pre) = self.pre.take() else { return };
        let text = pre.text.strip_prefix('\n').unwrap_or(&pre.text).trim_end();
        if text.trim().is_empty() {
            return;
        }
        let fence = code::fence(text, 3);
        self.begin_line();
        self.out.push_str(&fence);
        self.out.push_str(pre.language.as_deref().unwrap_or_default());
        for line in text.split('\n') {
            if self.is_full() {
                break;
            }
            self.new_line();
            self.out.push_str(line.trim_end_matches('\r'));
        }
        self.new_line();
        self.out.push_str(&fence);
        self.block(2);
    }

    /// Code within a line; in lines of its own it may name the language.
    pub fn open_code(&mut self, tag: Tag, language: Option<String>) {
        if let Some(pre) = &mut self.pre {
            if pre.text.trim().is_empty() {
                pre.language = pre.language.take().or(language);
            }
        } else if self.code.is_none() {
            self.code = Some((tag, String::new()));
        }
    }

    pub fn close_code(&mut self, tag: Tag) {
        if self.code.as_ref().is_some_and(|(open, _)| *open == tag) {
            self.flush_code();
            self.code = None;
        }
    }

    pub fn open_link(&mut self, target: String) {
        self.close_link();
        if self.pre.is_none() {
            self.flush_code();
            self.marks.push(Mark { opening: LINK, closing: format!("]({target})") });
            self.unwritten += 1;
        }
    }

    pub fn close_link(&mut self) {
        self.flush_code();
        self.close_from(|mark| mark.opening == LINK);
    }

    pub fn open_mark(&mut self, tag: Tag) {
        let Some(opening) = opening(tag) else { return };
        let is_open = self.marks.iter().any(|mark| mark.opening == opening);
        if !is_open && self.pre.is_none() && self.code.is_none() {
            self.marks.push(Mark { opening, closing: opening.to_owned() });
            self.unwritten += 1;
        }
    }

    pub fn close_mark(&mut self, tag: Tag) {
        if let Some(opening) = opening(tag).filter(|_| self.code.is_none()) {
            self.close_from(|mark| mark.opening == opening);
        }
    }

    pub fn text(&mut self, text: &str) {
        if let Some(pre) = &mut self.pre {
            let room = self.bytes_max.saturating_sub(pre.text.len() as u64);
            pre.text.push_str(cut(text, room));
        } else if let Some((_, code)) = &mut self.code {
            let room = self.bytes_max.saturating_sub(code.len() as u64);
            code.push_str(cut(text, room));
        } else {
            self.words(text);
        }
    }

    /// Ends a block, which words of it do not reach across.
    pub fn block(&mut self, lines: usize) {
        if let Some(pre) = &mut self.pre {
            let is_begun = !pre.text.is_empty() && !pre.text.ends_with('\n');
            return pre.text.push_str(if is_begun { "\n" } else { "" });
        }
        self.flush_code();
        self.close_written();
        if self.in_row() {
            self.space = true;
            return;
        }
        self.lines = if self.out.is_empty() { 0 } else { self.lines.max(lines) };
        (self.space, self.is_broken) = (false, false);
    }

    fn words(&mut self, text: &str) {
        self.space |= text.starts_with(|c: char| c.is_ascii_whitespace());
        for word in text.split_ascii_whitespace() {
            self.word(&escape(word, self.begins_line()));
            self.space = true;
        }
        let ends_in_space = text.ends_with(|c: char| c.is_ascii_whitespace());
        self.space = ends_in_space || (text.is_empty() && self.space);
    }

    fn begins_line(&self) -> bool {
        self.lines > 0 || self.out.is_empty()
    }

    fn in_row(&self) -> bool {
        self.table.as_ref().is_some_and(|table| table.row.cells > 0)
    }

    /// Writes what has to stand before a word, and the word.
    fn word(&mut self, word: &str) {
        if self.in_row() {
            self.begin_cell();
        } else if self.begins_line() {
            self.begin_line();
        }
        if std::mem::take(&mut self.space) && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        self.open_unwritten();
        if self.in_row() {
            self.out.push_str(&word.replace('|', "\\|"));
        } else {
            self.out.push_str(word);
        }
    }

    fn open_unwritten(&mut self) {
        let written = self.marks.len() - std::mem::take(&mut self.unwritten);
        for mark in &self.marks[written..] {
            // Where the same mark has just been closed, it goes on.
            let goes_on = mark.opening != LINK && self.out.ends_with(mark.opening);
            match self.out.len().checked_sub(mark.opening.len()).filter(|_| goes_on) {
                Some(len) if !self.out[..len].ends_with(['*', '~', '\\', ' ', '\n']) => {
                    self.out.truncate(len)
                }
                _ => self.out.push_str(mark.opening),
            }
        }
    }

    fn begin_cell(&mut self) {
        let is_first = self.table.as_ref().is_some_and(|table| table.row.written == 0);
        if is_first {
            self.begin_line();
        }
        let Some(Table { row, .. }) = &mut self.table else { return };
        while row.written < row.cells {
            self.out.push_str(if row.written == 0 { "| " } else { " | " });
            row.written += 1;
            self.space = false;
        }
    }

    /// Ends a row; behind the first one stands what makes it a table.
    fn end_row(&mut self) {
        self.flush_code();
        self.close_written();
        let Some(table) = &mut self.table else { return };
        let row = std::mem::take(&mut table.row);
        if row.written == 0 {
            return;
        }
        table.rows += 1;
        let is_head = table.rows == 1;
        self.out.push_str(&" |".repeat(1 + row.cells - row.written));
        if is_head {
            self.new_line();
            self.out.push('|');
            self.out.push_str(&" --- |".repeat(row.cells));
        }
        (self.lines, self.space) = (1, false);
    }

    fn flush_code(&mut self) {
        let Some((tag, code)) = self.code.take() else { return };
        let text = code.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            self.space |= code.starts_with(|c: char| c.is_ascii_whitespace());
            self.word(&code::span(&text));
        }
        self.space |= code.ends_with(|c: char| c.is_ascii_whitespace());
        self.code = Some((tag, String::new()));
    }

    /// Closes all marks that have words. Those without wait for the next block's.
    fn close_written(&mut self) {
        let written = self.marks.len() - self.unwritten;
        for mark in self.marks.drain(..written).rev() {
            self.out.push_str(&mark.closing);
        }
    }

    /// Closes the first mark that is wanted, and those within it. Marks without a word vanish.
    fn close_from(&mut self, is_wanted: impl Fn(&Mark) -> bool) {
        let Some(first) = self.marks.iter().position(is_wanted) else { return };
        for mark in self.marks.drain(first..).rev() {
            if self.unwritten > 0 {
                self.unwritten -= 1;
            } else {
                self.out.push_str(&mark.closing);
            }
        }
    }
}
