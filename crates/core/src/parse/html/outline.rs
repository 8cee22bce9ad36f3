//! The blocks of a page: which element stands in which, and which text stands where.
//!
//! Filled in the same pass as the text, and only where the text is wanted; `main_part` judges it at the
//! end. Only elements that shape a page are kept, each with its parent, and of the rules by which HTML
//! closes elements only those that pages rely on. Pieces are spans of the text in document order: they
//! never overlap, and they begin and end with a word.
//!
//! Bounded: no more open elements than `page_nesting_max`, no more blocks than `page_blocks_max` and no
//! more marks than `page_marks_max`. What is beyond that counts as part of what is around it.

use super::attributes::Attributes;
use super::hint::{Hints, Known};
use super::main_part::main_part;
use super::name::Tag;
use crate::Limits;
use crate::parse::marks::{Marks, Span};

/// An element that shapes the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Its place among the blocks; the first block is its own parent.
    pub parent: u32,
    pub tag: Tag,
    pub hints: Hints,
    /// Whether another block stands in it.
    pub has_blocks: bool,
    /// How many things to fill in stand in it.
    pub fields: u16,
}

/// Text that stands in one block, with no other block in between.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub span: Span,
    pub block: u32,
    /// How many of its bytes are link text.
    pub linked: u32,
}

/// An open element.
#[derive(Debug, Clone, Copy)]
struct Open {
    tag: Tag,
    block: u32,
}

/// An end tag does not reach further up than this: what is misnested so badly stays as it is.
const REACH: usize = 64;

/// For so many bytes a page is likely to have no more than one block.
const BYTES_PER_BLOCK: usize = 128;

#[derive(Debug)]
pub(super) struct Outline {
    pub blocks: Vec<Block>,
    pub pieces: Vec<Piece>,
    /// Words that are emphasised, wherever they stand.
    pub emphasis: Vec<Span>,
    open: Vec<Open>,
    known: Known,
    /// How many elements are open of those that were too many.
    beyond: u64,
    /// Where the open emphasis began, and by which element. It ends with its block: what goes on
    /// across blocks is a look, and no stress.
    emphasised: Option<(Tag, usize)>,
    nesting_max: u64,
    blocks_max: u64,
    marks_max: u64,
    is_cut: bool,
}

impl Outline {
    /// For a page of so many bytes.
    pub fn new(limits: &Limits, bytes: usize) -> Self {
        let root = Block::new(0, Tag::Body, Hints::default());
        let room = bytes / BYTES_PER_BLOCK;
        let mut blocks = Vec::with_capacity(room + 1);
        blocks.push(root);
        let mut open = Vec::with_capacity(REACH);
        open.push(Open { tag: Tag::Body, block: 0 });
        Self {
            blocks,
            pieces: Vec::with_capacity(room),
            emphasis: Vec::new(),
            open,
            known: Known::default(),
            beyond: 0,
            emphasised: None,
            nesting_max: limits.page_nesting_max,
            blocks_max: limits.page_blocks_max,
            marks_max: limits.page_marks_max,
            is_cut: false,
        }
    }

    /// Whether something was left out.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The parts of the text that mean more than the rest.
    pub fn marks(self, text: &str) -> Marks {
        let main = main_part(&self, text);
        let headings = self.headings();
        let mut emphasis = self.emphasis;
        emphasis.retain(|span| holds(&main, span));
        Marks { main, headings, emphasis }
    }

    fn headings(&self) -> Vec<(u8, Span)> {
        // A heading's text may stand in a block of its own, which only shapes it.
        let level = |piece: &Piece| {
            let block = &self.blocks[piece.block as usize];
            let around = &self.blocks[block.parent as usize];
            block.tag.heading().or(around.tag.heading().filter(|_| block.tag == Tag::Div))
        };
        let headings =
            self.pieces.iter().filter_map(|piece| Some((level(piece)?, piece.span.clone())));
        headings.take(usize::try_from(self.marks_max).unwrap_or(usize::MAX)).collect()
    }

    /// Takes a start tag; `text` is all that stands before it.
    #[inline(always)]
    pub fn start(&mut self, tag: Tag, attributes: &Attributes<'_>, text: &str) {
        if tag.shapes() {
            self.end_emphasis(text);
            self.start_block(tag, attributes);
        } else if tag.is_emphasis() {
            self.emphasised.get_or_insert((tag, text.len()));
        } else if tag == Tag::Input {
            let here = self.here().block as usize;
            let block = &mut self.blocks[here];
            block.fields = block.fields.saturating_add(1);
        }
    }

    /// Takes an end tag.
    #[inline(always)]
    pub fn end(&mut self, tag: Tag, text: &str) {
        if tag.is_emphasis() {
            if self.emphasised.is_some_and(|(open, _)| open == tag) {
                self.end_emphasis(text);
            }
        } else if tag.shapes() {
            self.end_emphasis(text);
            self.end_block(tag);
        }
    }

    /// Takes what was appended to the text from `from` on.
    #[inline]
    pub fn text(&mut self, text: &str, from: usize, is_linked: bool) {
        let bytes = text.as_bytes();
        // A word is set apart from the one before it when it comes.
        let start = from + usize::from(bytes.get(from).is_some_and(u8::is_ascii_whitespace));
        if start >= bytes.len() {
            return;
        }
        let (start, end) = (place(start), place(bytes.len()));
        let linked = if is_linked { end - start } else { 0 };
        let block = self.here().block;
        match self.pieces.last_mut().filter(|last| last.block == block) {
            Some(last) => {
                last.span.end = end;
                last.linked += linked;
            }
            None => self.pieces.push(Piece { span: start..end, block, linked }),
        }
    }

    fn start_block(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        if tag.is_void() || tag == Tag::Body {
            return;
        }
        self.close_implied(tag);
        let open = self.open.len() as u64;
        if self.beyond > 0
            || open >= self.nesting_max
            || self.blocks.len() as u64 >= self.blocks_max
        {
            self.beyond += 1;
            self.is_cut = true;
            return;
        }
        let parent = self.here().block;
        let block = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        self.blocks[parent as usize].has_blocks = true;
        let hints = Hints::of(tag, attributes, &mut self.known);
        self.blocks.push(Block::new(parent, tag, hints));
        self.open.push(Open { tag, block });
    }

    fn end_block(&mut self, tag: Tag) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        // An end tag in a cell means nothing outside of it (HTML section 13.2.4.2, "scope").
        let is_border = |open: Tag| {
            matches!(open, Tag::Td | Tag::Th | Tag::Table | Tag::Caption) && !tag.is_of_table()
        };
        self.close_nearest(|open| open == tag, is_border);
    }

    /// Closes what this start tag ends, where pages leave out end tags (section 13.1.2.4).
    fn close_implied(&mut self, tag: Tag) {
        let is_between = |open: Tag| matches!(open, Tag::Div | Tag::Address | Tag::P);
        if self.here().tag == Tag::P {
            self.open.pop();
        }
        match tag {
            Tag::Li => self.close_nearest(|open| open == Tag::Li, |open| !is_between(open)),
            Tag::Dd | Tag::Dt => {
                let is_entry = |open| matches!(open, Tag::Dd | Tag::Dt);
                self.close_nearest(is_entry, |open| !is_between(open));
            }
            Tag::Td | Tag::Th => {
                let is_cell = |open| matches!(open, Tag::Td | Tag::Th);
                self.close_nearest(is_cell, |open| matches!(open, Tag::Tr | Tag::Table));
            }
            Tag::Tr => self.close_nearest(|open| open == Tag::Tr, |open| open == Tag::Table),
            Tag::Tbody | Tag::Thead | Tag::Tfoot => {
                let is_part = |open| matches!(open, Tag::Tbody | Tag::Thead | Tag::Tfoot);
                self.close_nearest(is_part, |open| open == Tag::Table);
            }
            Tag::Option => {
                self.close_nearest(|open| open == Tag::Option, |open| open != Tag::Optgroup);
            }
            _ => {}
        }
    }

    /// Closes the innermost element that is wanted, and all in it, unless a border comes first.
    fn close_nearest(&mut self, is_wanted: impl Fn(Tag) -> bool, is_border: impl Fn(Tag) -> bool) {
        let open = self.open.iter().enumerate().skip(1).rev().take(REACH);
        for (at, open) in open {
            if is_wanted(open.tag) {
                return self.open.truncate(at);
            }
            if is_border(open.tag) {
                return;
            }
        }
    }

    #[inline(always)]
    fn end_emphasis(&mut self, text: &str) {
        if let Some((_, began)) = self.emphasised.take() {
            self.mark_emphasis(began, text);
        }
    }

    fn mark_emphasis(&mut self, began: usize, text: &str) {
        let rest = text.get(began..).unwrap_or_default();
        let start = text.len() - rest.trim_ascii_start().len();
        if start == text.len() {
            return;
        }
        if self.emphasis.len() as u64 >= self.marks_max {
            self.is_cut = true;
            return;
        }
        self.emphasis.push(place(start)..place(text.len()));
    }

    fn here(&self) -> Open {
        *self.open.last().expect("the root is never closed")
    }
}

impl Block {
    fn new(parent: u32, tag: Tag, hints: Hints) -> Self {
        Self { parent, tag, hints, has_blocks: false, fields: 0 }
    }
}

/// A place in the text, which is never as long as 4 GiB: its limit has a ceiling far below.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Whether one of the spans, which are in order, holds all of this one.
fn holds(spans: &[Span], wanted: &Span) -> bool {
    let behind = spans.partition_point(|span| span.end < wanted.end);
    spans.get(behind).is_some_and(|span| span.start <= wanted.start)
}
