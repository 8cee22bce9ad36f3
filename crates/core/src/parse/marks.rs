//! Which parts of a page's text mean more than the rest: its main part, its headings, what it stresses.
//!
//! Marks are spans of [`Page::text`](super::Page::text), in order and on character borders, so that a
//! page's text is kept once, whoever reads which part of it. They say where, never what.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A part of a text, in bytes.
pub type Span = Range<u32>;

/// The parts of a text that were marked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Marks {
    /// The main part: what is left without navigation, notices and frame. Empty where none was found,
    /// and then the whole text is all there is.
    pub main: Vec<Span>,
    /// Headings, each with its level from 1 to 6.
    pub headings: Vec<(u8, Span)>,
    /// Emphasised words within the main part.
    pub emphasis: Vec<Span>,
}

/// The pieces of `text` that the spans name; a span that names none is left out.
pub fn pieces<'a>(text: &'a str, spans: &'a [Span]) -> impl Iterator<Item = &'a str> {
    spans.iter().filter_map(|span| text.get(span.start as usize..span.end as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_fit_no_text_name_nothing() {
        let text = "one\nzwölf";
        let found: Vec<_> = pieces(text, &[0..3, 4..6, 4..7, 4..99, 4..10]).collect();
        assert_eq!(found, ["one", "zw", "zwölf"]);
    }
}
