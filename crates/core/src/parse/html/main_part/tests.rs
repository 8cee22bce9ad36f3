//! What is taken for the main part, and what is marked in it.

use url::Url;

use crate::Limits;
use crate::parse::{Input, Note, Page, parse, pieces};

const LONG: &str = "Early in the morning, before anybody was awake, the whole harbour lay still, and \
    the boats, which had come in late, moved a little, as if they breathed. ";

fn page_within(source: &str, limits: &Limits) -> Page {
    let url = Url::parse("http://example.org/a").unwrap();
    let input =
        Input { url: &url, content_type: Some("text/html"), body: source.as_bytes(), text: true };
    parse(&input, limits)
}

fn page(source: &str) -> Page {
    page_within(source, &Limits::default())
}

fn main_of(page: &Page) -> Vec<&str> {
    pieces(&page.text, &page.marks.main).flat_map(str::lines).collect()
}

/// Whether the main part of a page has some words, and others not.
fn check(source: &str, has: &[&str], lacks: &[&str]) {
    let page = page(source);
    let main = main_of(&page).join("\n");
    for word in has {
        assert!(main.contains(word), "{word} is missing in {main:?} of {source}");
    }
    for word in lacks {
        assert!(page.text.contains(word), "{word} is not in the text");
        assert!(!main.contains(word), "{word} is in {main:?} of {source}");
    }
}

#[test]
fn the_frame_is_no_part_of_it_however_it_is_named() {
    let frames = [
        "<nav>FRAME</nav>",
        "<footer>FRAME</footer>",
        "<aside>FRAME, with a word or two, and even a third one, which is long</aside>",
        "<div role=navigation>FRAME</div>",
        "<div class='leftSidebar'>FRAME</div>",
        "<div id=site-footer>FRAME</div>",
        "<ul class=nav><li>FRAME</ul>",
        "<div class=cookie-notice>FRAME</div>",
        "<div hidden>FRAME</div>",
        "<div style='color: red; DISPLAY : none'>FRAME</div>",
        "<div aria-hidden=true>FRAME</div>",
        "<noscript>FRAME</noscript>",
        "<form><select><option>FRAME<option>b</select></form>",
        "<button>FRAME</button>",
        "<div><a href=1>FRAME</a> <a href=2>second</a> <a href=3>third</a></div>",
        "<ul><li><a href=1>FRAME</a><li><a href=2>second</a></ul>",
    ];
    for frame in frames {
        let article = format!("<div><p>{LONG}START<p>{LONG}<p>{LONG}END");
        check(&format!("{frame}{article}</div>{frame}"), &["START", "END"], &["FRAME"]);
        check(&format!("{article}{frame}<p>{LONG}LAST</div>"), &["START", "LAST"], &["FRAME"]);
    }
}

/// A list of links, as long as indices and tables of contents are, and a notice that is all prose there is.
fn list_and_notice(list: &str) -> String {
    let item = |n| format!("<li><a href={n}>entry{n}</a> (in module m{n})");
    let items: String = (0..200).map(item).collect();
    format!("<div>{list}<ul>{items}</ul></div></div><div class=footer>NOTICE {LONG}{LONG}</div>")
}

#[test]
fn what_a_page_calls_its_main_part_is_all_of_it_where_there_is_no_prose() {
    for tag in ["<main>", "<div role=main>", "<div class=document><div class=body role='Main'>"] {
        check(&list_and_notice(tag), &["entry0", "entry199", "(in module m7)"], &["NOTICE"]);
    }
}

#[test]
fn a_notice_is_not_the_main_part_of_a_list() {
    assert_eq!(main_of(&page(&list_and_notice("<div>"))), [""; 0]);
    let two = format!("{}<main>{LONG}</main>", list_and_notice("<main>"));
    assert_eq!(main_of(&page(&two)), [""; 0], "which of the two is not for us to say");
}

#[test]
fn a_notice_that_is_longer_than_the_page_is_not_all_of_it() {
    let code = "<pre>template &lt;class T&gt; void CODE(T const&amp; a, T&amp; b);</pre>";
    let page = |name| format!("<div>{code}</div><div class={name}><p>{LONG}<p>{LONG}</div>");
    check(&page("copyright-footer"), &["CODE"], &[]);
    let small = format!("<main><p>No USAGE of it.</main><footer><p>{LONG}<p>{LONG}</footer>");
    check(&small, &["USAGE"], &[]);
}

#[test]
fn a_main_element_that_waits_for_its_text_says_nothing() {
    let empty = format!("<main>Loading</main><div><p>{LONG}START<p>{LONG}<p>{LONG}</div>");
    check(&empty, &["START"], &["Loading"]);
}

#[test]
fn a_name_alone_does_not_set_much_prose_aside() {
    let section = |id: &str| format!("<div id={id}><h2>{id}</h2><p>{LONG}<p>{LONG}<p>{LONG}</div>");
    let ids = ["sharing-with-others", "related-work", "the-cookie-jar"];
    let source: String = ids.iter().map(|id| section(id)).collect();
    check(&format!("<div>{source}</div>"), &ids, &[]);
    check(&format!("<div class=has-sidebar>{}</div>", section("one")), &["one"], &[]);
}

#[test]
fn talk_goes_where_there_is_an_article_and_stays_where_there_is_none() {
    let talk = format!("<div class=comments><p>TALK {LONG}<p>{LONG}<p>{LONG}<p>{LONG}</div>");
    check(&format!("<div><p>{LONG}<p>{LONG}<p>{LONG}</div>{talk}"), &["harbour"], &["TALK"]);
    check(&talk, &["TALK"], &[]);
}

#[test]
fn an_article_in_several_blocks_is_whole() {
    let block = |name: &str| format!("<section><div><p>{name} {LONG}<p>{LONG}</div></section>");
    let source = format!("<div>{}{}{}</div>", block("ONE"), block("TWO"), block("THREE"));
    check(&source, &["ONE", "TWO", "THREE"], &[]);
    let source = format!("<article><h1>HEAD</h1><p>{LONG}<p>{LONG}<ul><li>ITEM</ul></article>");
    check(&source, &["HEAD", "ITEM"], &[]);
    let rows = format!("<tr><td>ROW<td>{LONG}").repeat(5);
    check(&format!("<div><p>{LONG}FIRST<table>{rows}</table></div>"), &["FIRST", "ROW"], &[]);
}

#[test]
fn end_tags_may_be_missing_or_too_many() {
    let article = format!("<p>{LONG}START<p>{LONG}<ul><li>ITEM, and one more<li>b</ul>");
    check(&format!("<nav><ul><li>FRAME<li>b</nav><div>{article}"), &["START", "ITEM"], &["FRAME"]);
    let table = format!("<table><tr><td class=menu>FRAME<td>{article}</div></div><p>{LONG}END");
    check(&table, &["START", "END"], &[]);
}

#[test]
fn a_page_without_prose_has_no_main_part() {
    let links = "<li><a href=x>Here is a link to some other page</a>".repeat(30);
    for source in ["", "Hello", &format!("<ul>{links}</ul>"), "<nav>a</nav><p>b"] {
        let page = page(source);
        let is_all = main_of(&page).join("\n") == page.text;
        assert!(page.marks.main.is_empty() || is_all, "{:?} of {source}", page.marks.main);
        assert_eq!(page.main_text(), page.text);
    }
}

#[test]
fn headings_have_their_levels_and_emphasis_is_of_the_main_part() {
    let source = format!(
        "<nav><h3>Menu <b>now</b></h3></nav><div><h1>The <i>title</i></h1><p>{LONG}<em> this </em>and \
         <b></b><strong>that<p>not this</strong> {LONG}<h2><div>Two</div></h2><p>{LONG}</div>"
    );
    let page = page(&source);
    let heading = |(level, span): &(u8, crate::parse::Span)| {
        (*level, page.text[span.start as usize..span.end as usize].to_owned())
    };
    let headings: Vec<_> = page.marks.headings.iter().map(heading).collect();
    let expected = [(3, "Menu now"), (1, "The title"), (2, "Two")];
    assert_eq!(headings, expected.map(|(level, text)| (level, text.to_owned())));
    let emphasis: Vec<_> = pieces(&page.text, &page.marks.emphasis).collect();
    assert_eq!(emphasis, ["title", "this", "that"]);
}

#[test]
fn what_is_over_a_limit_is_left_out_with_a_note() {
    let limits = Limits { page_marks_max: 2, ..Limits::default() };
    let source =
        format!("<div><p>{LONG}<p>{LONG}<b>a</b> <b>b</b> <b>c</b><h2>d</h2><h2>e</h2><h2>f</h2>");
    let page = page_within(&source, &limits);
    assert_eq!((page.marks.headings.len(), page.marks.emphasis.len()), (2, 2));
    assert!(page.notes.contains(&Note::MarksTruncated));
    let limits = Limits { page_blocks_max: 3, ..Limits::default() };
    let page = page_within(&format!("<div><p>{LONG}<p>{LONG}<p>{LONG}"), &limits);
    assert!(page.notes.contains(&Note::MarksTruncated));
    assert_eq!(page.main_text(), page.text);
}
