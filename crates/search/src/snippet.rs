//! The piece of a page's text that shows best why the page was found.
//!
//! The window with the rarest words of the query wins, the earlier one if two are equal. What is
//! shown is plain text on one line: white space is collapsed and control characters are left out, so
//! that no page can write to a terminal.

use std::collections::HashMap;
use std::ops::Range;

use larm_core::Limits;
use larm_core::parse::cut;

use crate::language::Lang;
use crate::vocabulary::Vocabulary;
use crate::words::Words;

/// Matches that are looked at.
const MATCHES_MAX: usize = 4_096;
/// Of the room, so much may be context before the first match.
const LEAD_SHARE: usize = 3;
/// A second occurrence is worth this much of the first.
const AGAIN: f32 = 0.1;

/// A piece of text, and where in it the words of the query stand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// One line of plain text.
    pub text: String,
    /// Bytes of it that are words of the query, in order.
    pub marks: Vec<Range<usize>>,
}

/// A word of the text that is looked for.
struct Match {
    range: Range<usize>,
    /// Which of the terms it is.
    term: usize,
    worth: f32,
}

/// The best piece of `text`, if any of the terms stands in it.
pub(crate) fn best(
    text: &str,
    lang: Lang,
    terms: &HashMap<String, f32>,
    limits: &Limits,
) -> Option<(Snippet, f32)> {
    let scanned = cut(text, limits.snippet_text_bytes_max);
    let matches = matches_in(scanned, lang, terms);
    let room = usize::try_from(limits.snippet_bytes_max).unwrap_or(usize::MAX);
    let (window, worth) = best_window(&matches, room)?;
    let span = span_around(scanned, &matches[window], room);
    Some((shown(scanned, span, &matches), worth))
}

/// The beginning of a text.
pub(crate) fn beginning(text: &str, limits: &Limits) -> Snippet {
    let room = usize::try_from(limits.snippet_bytes_max).unwrap_or(usize::MAX);
    let text = text.trim_start();
    shown(text, 0..end_within(text, room), &[])
}

/// A text on one line, for terminals and lists.
pub(crate) fn one_line(text: &str) -> String {
    shown(text, 0..text.len(), &[]).text
}

fn matches_in(text: &str, lang: Lang, terms: &HashMap<String, f32>) -> Vec<Match> {
    let numbers: HashMap<&str, usize> =
        terms.keys().enumerate().map(|(number, term)| (term.as_str(), number)).collect();
    let mut vocabulary = Vocabulary::of_a_text();
    vocabulary.set_lang(lang);
    let mut found = Vec::new();
    for word in Words::of(text) {
        let term = vocabulary.number_of(text, word);
        let term = vocabulary.term(term);
        if let Some(number) = numbers.get(term) {
            let worth = terms.get(term).copied().unwrap_or_default();
            found.push(Match { range: word.start..word.end, term: *number, worth });
            if found.len() == MATCHES_MAX {
                break;
            }
        }
    }
    found
}

/// The matches within `room` bytes that are worth most.
fn best_window(matches: &[Match], room: usize) -> Option<(Range<usize>, f32)> {
    let mut counts: HashMap<usize, u32> = HashMap::new();
    let (mut begin, mut worth) = (0, 0.0);
    let mut best: Option<(Range<usize>, f32)> = None;
    for (end, last) in matches.iter().enumerate() {
        let count = counts.entry(last.term).or_default();
        worth += if *count == 0 { last.worth } else { last.worth * AGAIN };
        *count += 1;
        while matches[begin].range.start + room < last.range.end && begin < end {
            let count = counts.entry(matches[begin].term).or_default();
            *count -= 1;
            worth -= matches[begin].worth * if *count == 0 { 1.0 } else { AGAIN };
            begin += 1;
        }
        if best.as_ref().is_none_or(|(_, known)| worth > known + f32::EPSILON) {
            best = Some((begin..end + 1, worth));
        }
    }
    best
}

/// What to show around some matches: from the beginning of their sentence, if that is near.
fn span_around(text: &str, matches: &[Match], room: usize) -> Range<usize> {
    let (first, last) = match (matches.first(), matches.last()) {
        (Some(first), Some(last)) => (first.range.start, last.range.end),
        _ => (0, 0),
    };
    let lead = (room / LEAD_SHARE).min(room.saturating_sub(last - first));
    let from = cut(text, first.saturating_sub(lead) as u64).len();
    let before = &text[from..first];
    let sentence = before
        .rfind(['\n', '.', '!', '?', '。'])
        .map(|at| from + text[from + at..].chars().next().map_or(1, char::len_utf8) + at);
    let word = before.find(char::is_whitespace).map(|at| from + at);
    let start = match (sentence, from) {
        (Some(start), _) => start,
        (None, 0) => 0,
        (None, _) => word.unwrap_or(first),
    };
    start..start + end_within(&text[start..], room).max(last.saturating_sub(start))
}

/// Where to end a text so that it fits, between two words if there are any.
fn end_within(text: &str, room: usize) -> usize {
    if text.len() <= room {
        return text.len();
    }
    let end = cut(text, room as u64).len();
    text[..end].rfind(char::is_whitespace).filter(|at| *at > end / 2).unwrap_or(end)
}

/// Puts a span on one line, and says where its matches went.
fn shown(text: &str, span: Range<usize>, matches: &[Match]) -> Snippet {
    let mut snippet = Snippet::default();
    let mut inside =
        matches.iter().filter(|m| span.start <= m.range.start && m.range.end <= span.end);
    let mut next = inside.next();
    let mut begun = None;
    for (at, character) in text[span.clone()].char_indices().map(|(at, c)| (at + span.start, c)) {
        if next.is_some_and(|m| m.range.start == at) {
            begun = Some(snippet.text.len());
        }
        push_shown(&mut snippet.text, character);
        if let (Some(begin), Some(found)) = (begun, next)
            && found.range.end == at + character.len_utf8()
        {
            push_mark(&mut snippet.marks, begin..snippet.text.len());
            begun = None;
            next = inside.next();
        }
    }
    snippet.text.truncate(snippet.text.trim_end().len());
    add_dots(&mut snippet, span.start > 0, span.end < text.trim_end().len());
    snippet
}

/// Pairs of characters overlap: what they mark is one.
fn push_mark(marks: &mut Vec<Range<usize>>, mark: Range<usize>) {
    match marks.last_mut().filter(|last| mark.start < last.end) {
        Some(last) => last.end = last.end.max(mark.end),
        None => marks.push(mark),
    }
}

fn push_shown(text: &mut String, character: char) {
    if character.is_whitespace() {
        if !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
    } else if !is_unseemly(character) {
        text.push(character);
    }
}

/// Control characters, and those that turn the direction of what follows around.
fn is_unseemly(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn add_dots(snippet: &mut Snippet, before: bool, after: bool) {
    if before && !snippet.text.is_empty() {
        const DOTS: &str = "… ";
        snippet.text.insert_str(0, DOTS);
        for mark in &mut snippet.marks {
            *mark = mark.start + DOTS.len()..mark.end + DOTS.len();
        }
    }
    if after {
        snippet.text.push_str(" …");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snippet(text: &str, terms: &[(&str, f32)], room: u64) -> Option<Snippet> {
        let limits = Limits { snippet_bytes_max: room, ..Limits::default() };
        let terms = terms.iter().map(|(term, worth)| ((*term).to_owned(), *worth)).collect();
        best(text, Lang::of("en"), &terms, &limits).map(|(snippet, _)| snippet)
    }

    fn marked(snippet: &Snippet) -> Vec<&str> {
        snippet.marks.iter().map(|mark| &snippet.text[mark.clone()]).collect()
    }

    #[test]
    fn the_window_with_the_rarest_words_is_shown_and_marked() {
        let text =
            format!("wing wing wing. {} The slipstream of a wing.\nNext.", "and on ".repeat(60));
        let found = snippet(&text, &[("wing", 1.0), ("slipstream", 3.0)], 60).unwrap();
        assert_eq!(marked(&found), ["slipstream", "wing"]);
        assert!(found.text.starts_with("… ") && found.text.contains("The slipstream of a wing."));
    }

    #[test]
    fn stems_are_found_and_whole_words_marked() {
        let found = snippet("All houses here", &[("hous", 1.0)], 100).unwrap();
        assert_eq!((found.text.as_str(), marked(&found)), ("All houses here", vec!["houses"]));
        assert_eq!(snippet("nothing", &[("hous", 1.0)], 100), None);
    }

    #[test]
    fn nothing_that_a_page_says_reaches_a_terminal_as_a_command() {
        let found =
            snippet("a \u{1b}[31mred\u{7} \u{202e}wing\r\n\t b", &[("wing", 1.0)], 100).unwrap();
        assert_eq!(found.text, "a [31mred wing b");
        assert_eq!(marked(&found), ["wing"]);
    }

    #[test]
    fn it_is_bounded_whatever_the_text() {
        for text in ["wing".repeat(50), "wing ".repeat(5_000), "翼 wing 翼翼翼".repeat(500)] {
            for room in [1, 5, 40, 240] {
                if let Some(found) = snippet(&text, &[("wing", 1.0)], room) {
                    assert!(found.text.len() <= room as usize + 16, "{room}: {}", found.text.len());
                }
            }
        }
    }
}
