//! Which blocks are the page's main part: the article without navigation, notices and frame.
//!
//! Where a page has one element `main`, or one with that role, only what is in it is looked at, and all of it is
//! the main part where little of it is prose: an index, a table of contents.
//!
//! Four steps over the blocks, each a loop or two. What says that it is frame, by its name, role or class,
//! is set aside, unless much of the page's prose would go with it. Then paragraphs speak for the block
//! they stand in and, less, for those around it: the block with the most voices holds the main part, or
//! a wider one that adds enough prose to it. Neighbours that are much like it join it, and clutter within
//! (lists of links, forms, bylines) goes.
//!
//! Nothing is certain here, so nothing is forced: where nothing speaks for any block, or too little text
//! would be left, a page has no main part. So a list of links is not taken for the notice that stands below it. The figures are rules of thumb; docs/text.md says how well
//! they do, and moving any of them by a fourth changes little.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::hint::Hints;
use super::name::Tag;
use super::outline::{Block, Outline, Piece};
use crate::parse::bytes;
use crate::parse::marks::Span;

/// Text shorter than this is no sentence, and speaks for nothing.
const SENTENCE_BYTES_MIN: u32 = 25;
/// A main part with less text is none, unless it is half of the page.
const MAIN_BYTES_MIN: u32 = 140;
/// The main part is at least one of so many parts of the text that is no frame.
const KEPT_PARTS: usize = 10;
/// How much of a paragraph's voice each block around it hears, from the innermost outwards.
const HEARD: [f32; 5] = [1.0, 0.5, 0.17, 0.11, 0.08];
/// With this share of all voices a block is no frame, whatever it is called.
const PROSE_SHARE: f32 = 0.25;
/// A block with a smaller share of all voices is one of many: then all of them are the main part.
const MAIN_SHARE_MIN: f32 = 0.2;
/// A wider block has to add so much to be taken for the main part.
const WIDER: f32 = 1.3;
/// The same for one that calls itself an article.
const WIDER_ARTICLE: f32 = 1.2;
/// What it adds may not have more link text than this.
const WIDER_LINKS_MAX: f32 = 0.3;
/// What a block's name adds to its voices, or takes away.
const NAME_WORTH: f32 = 25.0;

/// The spans of the text that make up the main part, in order; empty where there is none.
pub(super) fn main_part(outline: &Outline, text: &str) -> Vec<Span> {
    let mut judge = Judge::new(outline, text);
    judge.set_frame_aside();
    judge.hear_paragraphs();
    let field = judge.field();
    if let Some(top) = judge.top(&field) {
        judge.keep(top);
        let spans = judge.spans();
        if judge.is_enough(&spans, &field, text) {
            return spans;
        }
    }
    judge.whole(&field)
}

/// What stands in a block: alone, or with all blocks in it that were not set aside.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    bytes: u32,
    linked: u32,
    commas: u32,
    paragraphs: u32,
    fields: u32,
    /// How much its text speaks for being prose.
    voices: f32,
}

impl Sum {
    /// Text that is no link.
    fn plain(&self) -> u32 {
        self.bytes - self.linked
    }

    fn link_share(&self) -> f32 {
        if self.bytes == 0 { 0.0 } else { self.linked as f32 / self.bytes as f32 }
    }

    fn add(&mut self, inner: Self) {
        self.bytes += inner.bytes;
        self.linked += inner.linked;
        self.commas += inner.commas;
        self.paragraphs += inner.paragraphs;
        self.fields += inner.fields;
        self.voices += inner.voices;
    }
}

/// What is found out about a block.
#[derive(Debug, Clone, Copy)]
struct Judged {
    /// Apart from the blocks in it.
    own: Sum,
    sum: Sum,
    /// The voices that it hears.
    heard: f32,
    /// Whether it, or one around it, was set aside.
    is_aside: bool,
    /// Whether it is in one that calls itself frame, and yet has too much of the prose to be set aside; but
    /// for articles in it.
    is_framed: bool,
    is_kept: bool,
}

struct Judge<'o> {
    blocks: &'o [Block],
    pieces: &'o [Piece],
    judged: Vec<Judged>,
}

impl<'o> Judge<'o> {
    fn new(outline: &'o Outline, text: &str) -> Self {
        let (blocks, pieces) = (&outline.blocks[..], &outline.pieces[..]);
        let mut judge = Self { blocks, pieces, judged: judged(outline, text) };
        judge.add_up();
        judge
    }

    /// Sums from the innermost blocks outwards: a block comes after the one that it is in.
    fn add_up(&mut self) {
        for at in (1..self.blocks.len()).rev() {
            let Judged { sum, is_aside, .. } = self.judged[at];
            if !is_aside {
                self.judged[self.blocks[at].parent as usize].sum.add(sum);
            }
        }
    }

    fn set_frame_aside(&mut self) {
        for at in 1..self.blocks.len() {
            let is_in_frame = self.judged[self.blocks[at].parent as usize].is_aside;
            self.judged[at].is_aside = is_in_frame || self.is_frame(at);
        }
        for judged in &mut self.judged {
            judged.sum = judged.own;
        }
        self.add_up();
    }

    fn is_frame(&self, at: usize) -> bool {
        let (block, sum, all) = (&self.blocks[at], &self.judged[at].sum, &self.judged[0].sum);
        let hints = block.hints;
        let is_most = sum.plain() > all.plain() / 2;
        if is_control(block.tag) || hints.has(Hints::HIDDEN) {
            return !is_most;
        }
        if hints.has(Hints::TALK) {
            // There may be more talk than article: it is enough that there is one.
            let rest = all.voices - sum.voices;
            return rest > all.voices * 0.1 && rest > 10.0;
        }
        if hints.has(Hints::BODY) || matches!(block.tag, Tag::Article | Tag::Main) {
            return false;
        }
        if is_frame_tag(block.tag) || hints.has(Hints::ROLE) {
            return !is_most;
        }
        let is_named = hints.has(Hints::FRAME) && !hints.has(Hints::MAIN);
        is_named && !is_sentence(block.tag) && sum.voices <= all.voices * PROSE_SHARE
    }

    fn hear_paragraphs(&mut self) {
        for at in 1..self.blocks.len() {
            let voice = self.judged[at].own.voices;
            if self.judged[at].is_aside || voice <= 0.0 {
                continue;
            }
            // Text beside other blocks speaks for the block itself.
            let block = &self.blocks[at];
            let mut hearer = if block.has_blocks { at } else { block.parent as usize };
            for share in HEARD {
                self.judged[hearer].heard += voice * share;
                if hearer == 0 {
                    break;
                }
                hearer = self.blocks[hearer].parent as usize;
            }
        }
    }

    /// The blocks among which the main part is: those of the one that the page itself calls so, else all.
    fn field(&self) -> Range<usize> {
        let all = 0..self.blocks.len();
        let mut declared =
            all.clone().filter(|&at| !self.judged[at].is_aside && self.is_declared(at));
        let Some(first) = declared.next() else { return all };
        let end = (first + 1..all.end).find(|&at| (self.blocks[at].parent as usize) < first);
        let field = first..end.unwrap_or(all.end);
        let is_only = declared.all(|at| field.contains(&at));
        if is_only && self.judged[first].sum.bytes >= MAIN_BYTES_MIN { field } else { all }
    }

    fn is_declared(&self, at: usize) -> bool {
        let block = &self.blocks[at];
        block.tag == Tag::Main || block.hints.has(Hints::DECLARED)
    }

    /// The block that holds the main part.
    fn top(&mut self, field: &Range<usize>) -> Option<usize> {
        self.find_framed();
        let candidates =
            field.clone().filter(|&at| !self.judged[at].is_aside && self.judged[at].heard > 0.0);
        let candidates = candidates.filter(|&at| !self.judged[at].is_framed);
        let candidates = candidates.map(|at| (at, self.worth(at)));
        let (top, _) = candidates.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let top = self.widen(self.lift(top)).max(field.start);
        let all = &self.judged[field.start].sum;
        let is_one_of_many = self.judged[top].sum.voices < all.voices * MAIN_SHARE_MIN;
        Some(if is_one_of_many { field.start } else { top })
    }

    fn find_framed(&mut self) {
        for at in 1..self.blocks.len() {
            let is_within = self.judged[self.blocks[at].parent as usize].is_framed;
            let is_framed = !self.is_article(at) && (is_within || self.claims_frame(at));
            self.judged[at].is_framed = is_framed;
        }
    }

    fn claims_frame(&self, at: usize) -> bool {
        let (block, sum) = (&self.blocks[at], &self.judged[at].sum);
        let is_named = block.hints.has(Hints::FRAME) && !block.hints.has(Hints::MAIN);
        // What holds nearly all of a page is named after one of its parts.
        let is_part = sum.bytes < self.judged[0].sum.bytes / 5 * 4;
        let is_named = is_named && is_part && !is_sentence(block.tag);
        is_named || is_frame_tag(block.tag) || block.hints.has(Hints::ROLE)
    }

    /// Whether so much was found that the rest is no loss. Of a list of links, a notice below it may be
    /// all the prose there is.
    fn is_enough(&self, spans: &[Span], field: &Range<usize>, text: &str) -> bool {
        let kept: usize = spans.iter().map(|span| span.len()).sum();
        let all = self.judged[field.start].sum.bytes as usize;
        kept * 2 > text.len() || (kept >= MAIN_BYTES_MIN as usize && kept * KEPT_PARTS >= all)
    }

    /// All of what the page calls its main part; nothing, if it does not say so.
    fn whole(&mut self, field: &Range<usize>) -> Vec<Span> {
        let (start, is_all) = (field.start, field.start == 0);
        for at in 0..self.blocks.len() {
            let is_within = at == start || (at > start && field.contains(&at));
            self.judged[at].is_kept = is_within && !is_all && !self.judged[at].is_aside;
        }
        self.spans()
    }

    fn worth(&self, at: usize) -> f32 {
        let hints = self.blocks[at].hints;
        let mut worth = self.judged[at].heard + tag_worth(self.blocks[at].tag);
        for (hint, times) in NAMES {
            if hints.has(hint) {
                worth += NAME_WORTH * times;
            }
        }
        worth * (1.0 - self.judged[at].sum.link_share())
    }

    /// Rows and lists are parts of something: what holds them is meant.
    fn lift(&self, mut at: usize) -> usize {
        while is_text(self.blocks[at].tag) && self.blocks[at].tag != Tag::Td {
            at = self.blocks[at].parent as usize;
        }
        at
    }

    /// The widest block around `top` that adds enough to it.
    fn widen(&self, top: usize) -> usize {
        let (mut best, mut at) = (top, top);
        while at != 0 {
            at = self.blocks[at].parent as usize;
            let (inner, outer) = (&self.judged[best].sum, &self.judged[at].sum);
            let (bytes, linked) = (outer.bytes - inner.bytes, outer.linked - inner.linked);
            let factor = if self.is_article(at) { WIDER_ARTICLE } else { WIDER };
            let adds = outer.voices > inner.voices * factor;
            if adds && (linked as f32) < bytes as f32 * WIDER_LINKS_MAX {
                best = at;
            }
        }
        best
    }

    fn is_article(&self, at: usize) -> bool {
        let block = &self.blocks[at];
        matches!(block.tag, Tag::Article | Tag::Main) || block.hints.has(Hints::BODY)
    }

    /// Keeps what is in `top` and beside it.
    fn keep(&mut self, top: usize) {
        self.judged[0].is_kept = top == 0;
        let around = self.blocks[top].parent as usize;
        let least = (self.worth(top) * 0.2).max(10.0);
        for at in 1..self.blocks.len() {
            let parent = self.blocks[at].parent as usize;
            let is_beside = parent == around && top != 0;
            let joins = at == top || (is_beside && self.joins(at, least));
            let is_within = self.judged[parent].is_kept && !self.is_clutter(at);
            self.judged[at].is_kept = !self.judged[at].is_aside && (joins || is_within);
        }
    }

    /// Whether a neighbour of the main part is much like it.
    fn joins(&self, at: usize, least: f32) -> bool {
        let sum = &self.judged[at].sum;
        let is_prose = self.blocks[at].tag == Tag::P && sum.bytes > 80 && sum.link_share() < 0.25;
        is_prose || (self.judged[at].heard > 0.0 && self.worth(at) >= least)
    }

    /// Whether a block within the main part is none of it.
    fn is_clutter(&self, at: usize) -> bool {
        let (block, sum) = (&self.blocks[at], &self.judged[at].sum);
        let is_named = block.hints.has(Hints::MAIN);
        if block.hints.has(Hints::ASIDE) && !is_named && sum.bytes < 200 {
            return true;
        }
        // Who makes lists with so many commas writes sentences.
        if !is_container(block.tag) || sum.commas >= 10 {
            return false;
        }
        let share = sum.link_share();
        let is_list = matches!(block.tag, Tag::Ul | Tag::Ol | Tag::Dl);
        let has_links = share > 0.5 || (share > 0.2 && !is_named && !is_list && sum.bytes > 25);
        has_links || (sum.fields > 0 && sum.fields * 3 > sum.paragraphs && sum.bytes < 500)
    }

    fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        let mut was_kept = false;
        for piece in self.pieces {
            let is_kept = self.judged[piece.block as usize].is_kept;
            match spans.last_mut().filter(|_| was_kept && is_kept) {
                Some(last) => last.end = piece.span.end,
                None if is_kept => spans.push(piece.span.clone()),
                None => {}
            }
            was_kept = is_kept;
        }
        spans
    }
}

/// What stands in each block.
fn judged(outline: &Outline, text: &str) -> Vec<Judged> {
    let judged = |block: &Block| {
        let paragraphs = u32::from(block.tag == Tag::P);
        let own = Sum { paragraphs, fields: u32::from(block.fields), ..Sum::default() };
        let (is_aside, is_framed, is_kept) = (false, false, false);
        Judged { own, sum: own, heard: 0.0, is_aside, is_framed, is_kept }
    };
    let mut judged: Vec<Judged> = outline.blocks.iter().map(judged).collect();
    for piece in &outline.pieces {
        let own = &mut judged[piece.block as usize].own;
        let words = &text.as_bytes()[piece.span.start as usize..piece.span.end as usize];
        own.bytes += words.len() as u32;
        own.linked += piece.linked;
        if words.len() >= SENTENCE_BYTES_MIN as usize {
            own.commas += bytes::count(words, b',') as u32;
        }
    }
    for (judged, block) in judged.iter_mut().zip(&outline.blocks) {
        judged.own.voices = voice(&judged.own, block);
        judged.sum = judged.own;
    }
    judged
}

/// How much a text speaks for being prose: longer sentences do, and commas, but no links.
fn voice(own: &Sum, block: &Block) -> f32 {
    let plain = own.bytes - own.linked;
    if plain < SENTENCE_BYTES_MIN {
        return 0.0;
    }
    let weight = match block.tag {
        Tag::Li | Tag::Dt | Tag::Dd if !block.has_blocks => 0.3,
        tag if tag.heading().is_some() => 0.5,
        _ => 1.0,
    };
    let length = (own.bytes as f32 / 100.0).min(3.0);
    weight * (plain as f32 / own.bytes as f32) * (1.0 + own.commas as f32 + length)
}

/// How many times `NAME_WORTH` a name is worth.
const NAMES: [(Hints, f32); 5] = [
    (Hints::MAIN, 1.0),
    (Hints::BODY, 2.0),
    (Hints::FRAME, -1.0),
    (Hints::TALK, -1.0),
    (Hints::ASIDE, -1.0),
];

fn tag_worth(tag: Tag) -> f32 {
    match tag {
        Tag::Article | Tag::Main => 10.0,
        Tag::Div | Tag::Section => 5.0,
        Tag::Pre | Tag::Td | Tag::Blockquote => 3.0,
        Tag::Ol | Tag::Ul | Tag::Dl | Tag::Dd | Tag::Dt | Tag::Li | Tag::Form | Tag::Address => {
            -3.0
        }
        Tag::Th => -5.0,
        _ => 0.0,
    }
}

/// Elements that are there to be used, not to be read.
fn is_control(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Select | Tag::Option | Tag::Optgroup | Tag::Button | Tag::Textarea | Tag::Noscript
    )
}

/// Elements that stand around a page's content by definition.
fn is_frame_tag(tag: Tag) -> bool {
    matches!(tag, Tag::Nav | Tag::Aside | Tag::Footer | Tag::Dialog | Tag::Search | Tag::Menu)
}

/// Elements that hold sentences: what they are called says how they look.
fn is_sentence(tag: Tag) -> bool {
    matches!(tag, Tag::P | Tag::Pre | Tag::Td | Tag::Th)
}

/// Elements that hold text and are parts of something.
fn is_text(tag: Tag) -> bool {
    tag.is_of_table()
        || matches!(
            tag,
            Tag::P
                | Tag::Pre
                | Tag::Blockquote
                | Tag::Ul
                | Tag::Ol
                | Tag::Li
                | Tag::Dl
                | Tag::Dd
                | Tag::Dt
        )
}

/// Elements that may hold clutter.
fn is_container(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Div
            | Tag::Section
            | Tag::Ul
            | Tag::Ol
            | Tag::Dl
            | Tag::Table
            | Tag::Form
            | Tag::Fieldset
            | Tag::Header
    )
}
