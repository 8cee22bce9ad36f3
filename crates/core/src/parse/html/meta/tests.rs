//! What pages say of themselves, in the ways they say it.

use url::Url;

use crate::Limits;
use crate::parse::{Input, Note, Page, parse};

fn page_within(source: &str, limits: &Limits) -> Page {
    let url = Url::parse("http://example.org/a").unwrap();
    let input =
        Input { url: &url, content_type: Some("text/html"), body: source.as_bytes(), text: false };
    parse(&input, limits)
}

fn page(source: &str) -> Page {
    page_within(source, &Limits::default())
}

#[test]
fn dates_are_found_where_pages_put_them() {
    let rows = [
        (
            "<meta property='article:published_time' content=' 2024-05-06 '>",
            Some("2024-05-06"),
            None,
        ),
        ("<meta property='Article:Modified_Time' content='2024-05-07'>", None, Some("2024-05-07")),
        ("<meta property=og:updated_time content=1714953600>", None, Some("1714953600")),
        ("<meta name=DC.date content='6 May 2024'>", Some("6 May 2024"), None),
        ("<meta itemprop=datePublished content=2024-05-06>", Some("2024-05-06"), None),
        (
            "<time itemprop='datePublished dateModified' datetime=2024>x</time>",
            Some("2024"),
            Some("2024"),
        ),
        ("<time pubdate datetime=2024-05-06T07:08Z>x</time>", Some("2024-05-06T07:08Z"), None),
        ("<time datetime=2024-05-06>of anything</time>", None, None),
        (
            "<script type='application/ld+json'>{\"a\":1, \"datePublished\" : \"2024-05-06\",\n\
             \"dateModified\":\"2024-05-07\"}</script>",
            Some("2024-05-06"),
            Some("2024-05-07"),
        ),
        ("<script>{\"datePublished\":\"2024-05-06\"}</script>", None, None),
        ("<script type='application/ld+json'>{\"datePublished\":\"20", None, None),
        ("<script type='application/ld+json'>\"datePublished\"é:\"2024\"", None, None),
        ("<meta name=date content=soon><meta name=date content=2024>", Some("2024"), None),
        ("<meta name=date content=2024><meta name=date content=2025>", Some("2024"), None),
        ("<template><meta name=date content=2024></template>", None, None),
    ];
    for (source, published, modified) in rows {
        let page = page(source);
        let found = (page.published.as_deref(), page.modified.as_deref());
        assert_eq!(found, (published, modified), "{source}");
    }
    let long = "2".repeat(70);
    assert_eq!(page(&format!("<meta name=date content={long}>")).published, None);
}

#[test]
fn a_page_in_other_languages_is_an_alternate_with_a_language() {
    let page = page(
        "<link rel='alternate' hreflang=de href=' /de?a&amp;b '><link rel=alternate href=/feed>\
         <link hreflang=fr href=/fr><link rel='x ALTERNATE' hreflang=x-default href=/>\
         <link rel=alternate hreflang='' href=/none><link rel=alternate hreflang=it>",
    );
    let expected = [("de", "/de?a&b"), ("x-default", "/")];
    assert_eq!(page.alternates, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert!(page.notes.is_empty());
}

#[test]
fn alternates_over_the_limit_are_left_out_with_a_note() {
    let limits = Limits { page_marks_max: 2, ..Limits::default() };
    let page = page_within(&"<link rel=alternate hreflang=de href=/de>".repeat(3), &limits);
    assert_eq!((page.alternates.len(), &page.notes[..]), (2, &[Note::MarksTruncated][..]));
}

#[test]
fn what_is_told_to_others_describes_a_page_that_has_no_description() {
    let other = "<meta property='og:description' content='for others'>";
    assert_eq!(page(other).description.as_deref(), Some("for others"));
    let both = format!("{other}<meta name=description content=own>");
    assert_eq!(page(&both).description.as_deref(), Some("own"));
}
