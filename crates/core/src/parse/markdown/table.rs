//! Which tables of a page hold data, and which only arrange things.
//!
//! Judged before anything is written, in a pass of its own: a table of data has rows and columns, and
//! nothing in its cells but words. What lies in another table, or has headings, lists or code in it, is
//! written as paragraphs.

use crate::Limits;
use crate::parse::html::{Dialect, Event, Namespace, Scanner, Tag};

/// More columns than this are no table that a person reads as text.
const COLUMNS_MAX: u32 = 32;

#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    rows: u32,
    columns: u32,
    cells: u32,
    paragraphs: u32,
    arranges: bool,
}

impl Shape {
    fn is_data(&self) -> bool {
        !self.arranges
            && self.rows >= 2
            && (2..=COLUMNS_MAX).contains(&self.columns)
            && self.paragraphs <= self.rows * self.columns
    }
}

/// Whether each table is one of data, in the order of their start tags.
pub(super) fn data_tables(source: &str, dialect: Dialect, limits: &Limits) -> Vec<bool> {
    let mut scanner = Scanner::new(source, dialect, limits.page_nesting_max);
    let mut shapes: Vec<Shape> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    while let Some(event) = scanner.next() {
        match event {
            Event::Start { tag: Tag::Table, namespace: Namespace::Html }
                if !scanner.in_template() =>
            {
                if shapes.len() as u64 >= limits.page_blocks_max {
                    break;
                }
                // Tables within tables arrange things, both of them.
                if let Some(&outer) = open.last() {
                    shapes[outer].arranges = true;
                }
                shapes.push(Shape { arranges: !open.is_empty(), ..Shape::default() });
                if (open.len() as u64) < limits.page_nesting_max {
                    open.push(shapes.len() - 1);
                }
            }
            Event::Start { tag, namespace: Namespace::Html } => {
                if let Some(&inner) = open.last() {
                    shapes[inner].take(tag);
                }
            }
            Event::End { tag: Tag::Table, .. } => drop(open.pop()),
            _ => {}
        }
    }
    shapes.iter().map(Shape::is_data).collect()
}

impl Shape {
    fn take(&mut self, tag: Tag) {
        match tag {
            Tag::Tr => {
                self.rows += 1;
                self.cells = 0;
            }
            Tag::Td | Tag::Th => {
                self.cells += 1;
                self.columns = self.columns.max(self.cells);
            }
            Tag::P | Tag::Div => self.paragraphs += 1,
            Tag::Ul | Tag::Ol | Tag::Dl | Tag::Pre | Tag::Blockquote | Tag::Hr | Tag::Form => {
                self.arranges = true;
            }
            _ => self.arranges |= tag.heading().is_some(),
        }
    }
}
