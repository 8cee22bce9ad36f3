//! The parts of a page's text: what is main, and what is left of it.

use larm_core::parse::{Marks, Span, pieces};

/// The spans of a text that are its main part, and those that are left. Where no main part is marked, all of it is.
pub(crate) fn main_and_rest(text: &str, marks: &Marks) -> (Vec<Span>, Vec<Span>) {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    if marks.main.is_empty() {
        let whole = Span { start: 0, end };
        return (vec![whole], Vec::new());
    }
    let mut rest = Vec::new();
    let mut at = 0;
    for span in &marks.main {
        if at < span.start {
            rest.push(at..span.start);
        }
        at = at.max(span.end);
    }
    if at < end {
        rest.push(at..end);
    }
    (marks.main.clone(), rest)
}

/// Parts of a text as one, each on a line of its own.
pub(crate) fn joined(text: &str, spans: &[Span]) -> String {
    let mut all = String::new();
    for piece in pieces(text, spans) {
        all.push_str(piece.trim());
        all.push('\n');
    }
    all.truncate(all.trim_end().len());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_part_is_what_is_marked_and_the_rest_is_what_is_not() {
        let text = "menu\nthe story\nfooter";
        let parts = |main: &[Span]| {
            let marks = Marks { main: main.to_vec(), ..Marks::default() };
            let (main, rest) = main_and_rest(text, &marks);
            (joined(text, &main), joined(text, &rest))
        };
        let story = Span { start: 5, end: 14 };
        assert_eq!(parts(&[story]), ("the story".to_owned(), "menu\nfooter".to_owned()));
        assert_eq!(parts(&[]), (text.to_owned(), String::new()));
        assert_eq!(parts(&[0..4, 2..9, 30..40]).0, "menu\nnu\nthe");
    }
}
