//! Any bytes under any content type give a page within the limits, and Markdown.
#![no_main]

use larm_core::Limits;
use larm_core::parse::{Input, Marks, Part, Span, markdown, parse};
use libfuzzer_sys::fuzz_target;

const TYPES: [Option<&str>; 8] = [
    None,
    Some("text/html"),
    Some("text/html; charset=shift_jis"),
    Some("application/xhtml+xml"),
    Some("text/css"),
    Some("application/xml"),
    Some("text/plain"),
    Some("application/octet-stream"),
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, body)) = bytes.split_first() else { return };
    let url = url::Url::parse("http://h/a/b?c").expect("a URL");
    let content_type = TYPES[usize::from(*first) % TYPES.len()];
    let input = Input { url: &url, content_type, body, text: true };
    let limits = Limits::default();
    let page = parse(&input, &limits);
    assert!(page.link_count() as u64 <= limits.page_links_max);
    assert!(page.text.len() as u64 <= limits.page_text_bytes_max);
    check_marks(&page.marks, &page.text, &limits);
    for part in [Part::Main, Part::Whole] {
        let markdown = markdown(&input, part, &limits);
        assert!(markdown.len() as u64 <= limits.page_text_bytes_max + 1);
    }
});

fn check_marks(marks: &Marks, text: &str, limits: &Limits) {
    check_spans(marks.main.iter(), text);
    check_spans(marks.headings.iter().map(|(_, span)| span), text);
    check_spans(marks.emphasis.iter(), text);
    assert!(marks.headings.len() as u64 <= limits.page_marks_max);
    assert!(marks.emphasis.len() as u64 <= limits.page_marks_max);
}

/// In order, apart from each other, not empty, on character borders.
fn check_spans<'a>(spans: impl Iterator<Item = &'a Span>, text: &str) {
    let mut end = 0;
    for span in spans {
        assert!(end <= span.start && span.start < span.end);
        assert!(text.get(span.start as usize..span.end as usize).is_some());
        end = span.end;
    }
}
