//! Where in the page's text a reader of its markup is, and whether that is in the wanted part.
//!
//! Marks are spans of the text, and Markdown needs the markup between: so the text is put together once
//! more, by the same rules, and only its length is looked at.

use crate::Limits;
use crate::parse::html::{Tag, separate};
use crate::parse::marks::Span;
use crate::parse::prose::{Prose, is_blank};

#[derive(Debug)]
pub(super) struct Place<'a> {
    prose: Prose,
    /// The wanted spans from here on; `None` for everything.
    wanted: Option<&'a [Span]>,
}

impl<'a> Place<'a> {
    pub fn anywhere(limits: &Limits) -> Self {
        Self { prose: Prose::new(limits.page_text_bytes_max), wanted: None }
    }

    pub fn within(spans: &'a [Span], limits: &Limits) -> Self {
        Self { wanted: Some(spans), ..Self::anywhere(limits) }
    }

    /// Passes a tag.
    pub fn separate(&mut self, tag: Tag) {
        separate(tag, &mut self.prose);
    }

    /// Passes a piece of text; tells whether it is wanted.
    pub fn takes(&mut self, piece: &str) -> bool {
        if is_blank(piece) {
            self.prose.space();
            return true;
        }
        let before = self.prose.as_str().len();
        self.prose.words(piece);
        let rest = &self.prose.as_str()[before..];
        let start = self.prose.as_str().len() - rest.trim_ascii_start().len();
        let is_cut = self.prose.is_cut() && rest.is_empty();
        self.wanted.is_none() || (!is_cut && self.is_wanted(start))
    }

    /// Whether something without text here stands in or at the wanted part.
    pub fn is_inside(&self) -> bool {
        let at = self.prose.as_str().len();
        let Some(wanted) = self.wanted else { return true };
        wanted.iter().take(2).any(|span| (span.start as usize..=span.end as usize).contains(&at))
    }

    fn is_wanted(&mut self, start: usize) -> bool {
        let Some(wanted) = &mut self.wanted else { return true };
        while wanted.first().is_some_and(|span| span.end as usize <= start) {
            *wanted = &wanted[1..];
        }
        wanted.first().is_some_and(|span| span.start as usize <= start)
    }
}
