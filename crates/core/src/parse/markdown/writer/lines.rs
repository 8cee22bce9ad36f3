//! Lines: where they begin and end, what stands before them.

use super::*;

impl Writer {
    pub(super) fn begin_line(&mut self) {
        let is_broken = std::mem::take(&mut self.is_broken) && self.lines == 1;
        for _ in 1..std::mem::take(&mut self.lines) {
            self.empty_line();
        }
        if self.out.is_empty() {
            self.indent();
        } else {
            self.new_line();
        }
        self.quotes_written = self.quotes;
        if is_broken {
            self.break_last_line();
        }
        self.out.push_str(&std::mem::take(&mut self.bullet));
        self.space = false;
    }

    /// Ends the line and leaves the next one empty, within the quotes of both its neighbours.
    pub(super) fn empty_line(&mut self) {
        self.end_line();
        self.out.push_str(&"> ".repeat(self.quotes.min(self.quotes_written)));
    }

    pub(super) fn end_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
    }

    /// Ends the line and indents the next one.
    pub(super) fn new_line(&mut self) {
        self.end_line();
        self.indent();
    }

    pub(super) fn indent(&mut self) {
        let lists = self.lists.len();
        let is_out = self.is_item && !self.bullet.is_empty();
        let inner = &self.lists[..lists.saturating_sub(usize::from(is_out))];
        self.out.push_str(&"> ".repeat(self.quotes));
        self.out.extend(inner.iter().map(|list| " ".repeat(list.indent)));
    }

    /// Two spaces at its end keep a line from being joined with the next one.
    pub(super) fn break_last_line(&mut self) {
        if let Some(end) = self.out.rfind('\n') {
            self.out.insert_str(end, "  ");
        }
    }
}
