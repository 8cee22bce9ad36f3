//! Pages that try to run, to leak or to break out; and pages that simply want to be seen.

use proptest::prelude::*;
use url::Url;

use super::place::{Mapper, Place, Use};
use super::{answer, css, html};

const PREFIX: &str = "/replay/CAP/id/7/";

fn mapper() -> Mapper {
    Mapper::new(PREFIX.to_owned(), Url::parse("https://h.test/dir/page?x=1").unwrap())
}

fn page(source: &str) -> String {
    html::rewrite(source, mapper(), 1 << 20)
}

fn sheet(source: &str) -> String {
    css::rewrite(source, &mapper())
}

#[test]
fn urls_become_paths_of_the_archive() {
    let rows = [
        ("a.png", Some("/replay/CAP/id/7/https://h.test/dir/a.png")),
        ("/b?c=d&e", Some("/replay/CAP/id/7/https://h.test/b?c=d&e")),
        ("//evil.test/x", Some("/replay/CAP/id/7/https://evil.test/x")),
        ("\\\\evil.test\\x", Some("/replay/CAP/id/7/https://evil.test/x")),
        ("/\t/evil.test/x", Some("/replay/CAP/id/7/https://evil.test/x")),
        (" HTTP://U:P@Evil.test:80/ ", Some("/replay/CAP/id/7/http://evil.test/")),
        ("../../../../api/v1/crawls", Some("/replay/CAP/id/7/https://h.test/api/v1/crawls")),
        ("#part", Some("#part")),
        ("#\"><script>", Some("#%22%3E%3Cscript%3E")),
        ("?q", Some("/replay/CAP/id/7/https://h.test/dir/page?q")),
        ("javascript:alert(1)", None),
        ("JaVa\nScRiPt:alert(1)", None),
        ("vbscript:x", None),
        ("data:text/html,<script>alert(1)</script>", None),
        ("blob:https://h.test/1", None),
        ("about:blank", None),
        ("mailto:a@b.test", None),
        ("ws://evil.test/", None),
        ("intent://x#Intent;end", None),
    ];
    for (text, path) in rows {
        assert_eq!(mapper().map(text, Use::Part).as_deref(), path, "{text}");
    }
    assert_eq!(
        mapper().map("data:image/png;base64,AA/+=", Use::Part).as_deref(),
        Some("data:image/png;base64,AA/+=")
    );
    assert_eq!(mapper().map("data:image/png;base64,AA", Use::Link), None);
}

#[test]
fn what_a_page_shows_stays_and_leads_into_the_archive() {
    let rows = [
        ("<!DOCTYPE html><p class=x>Hi &amp; ho", "<!doctype html><p class=\"x\">Hi &amp; ho"),
        (
            "<a href='/b?c&amp;d'>x</a>",
            "<a href=\"/replay/CAP/id/7/https://h.test/b?c&amp;d\">x</a>",
        ),
        (
            "<img src=a.png alt=\"a < b\">",
            "<img src=\"/replay/CAP/id/7/https://h.test/dir/a.png\" alt=\"a &lt; b\">",
        ),
        ("<IMG SRC=a SRC=b>", "<img src=\"/replay/CAP/id/7/https://h.test/dir/a\">"),
        (
            "<img srcset='a.png 1x, //e.test/b.png 2x,data:image/gif;base64,A 3x'>",
            "<img srcset=\"/replay/CAP/id/7/https://h.test/dir/a.png 1x, /replay/CAP/id/7/https://e.test/b.png 2x, data:image/gif;base64,A 3x\">",
        ),
        (
            "<base href=//cdn.test/x/><img src=y>",
            "<img src=\"/replay/CAP/id/7/https://cdn.test/x/y\">",
        ),
        (
            "<link rel=stylesheet href=s.css integrity=x crossorigin>",
            "<link rel=\"stylesheet\" href=\"/replay/CAP/id/7/https://h.test/dir/s.css\">",
        ),
        (
            "<p style=\"background:url(a.png)\">",
            "<p style=\"background:url(&quot;/replay/CAP/id/7/https://h.test/dir/a.png&quot;)\">",
        ),
        (
            "<form action=/buy method=post><input name=x></form>",
            "<form method=\"post\"><input name=\"x\"></form>",
        ),
        (
            "<video poster=p.jpg autoplay src=v.mp4>",
            "<video poster=\"/replay/CAP/id/7/https://h.test/dir/p.jpg\" src=\"/replay/CAP/id/7/https://h.test/dir/v.mp4\">",
        ),
        (
            "<svg viewBox='0 0 1 1'><use xlink:href='s.svg#i'/></svg>",
            "<svg viewbox=\"0 0 1 1\"><use xlink:href=\"/replay/CAP/id/7/https://h.test/dir/s.svg#i\"/></svg>",
        ),
        ("<title>a <b> &lt;</title>", "<title>a &lt;b&gt; &lt;</title>"),
        (
            "<iframe src=f.html><b></iframe>x",
            "<iframe src=\"/replay/CAP/id/7/https://h.test/dir/f.html\"></iframe>x",
        ),
        ("a<!-- c -->b<?php x ?>c<![CDATA[d]]>e", "abce"),
        ("1 < 2 <3", "1 &lt; 2 &lt;3"),
    ];
    for (source, expected) in rows {
        assert_eq!(page(source), expected, "{source}");
    }
}

/// Pages that try to run something, or to ask somebody.
const ATTACKS: &[&str] = &[
    "<script>alert(1)</script>",
    "<SCRIPT src=//e.test/x></SCRIPT >",
    "<script><!--<script></script>--></script>",
    "<svg><script href=//e.test/x /></svg>",
    "<img src=x onerror=alert(1)>",
    "<body onload=alert(1)>",
    "<svg/onload=alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href='java&#x0A;script:alert(1)'>x</a>",
    "<a href=' &#1; javascript:alert(1)'>x</a>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src='data:text/html,<script>'></iframe>",
    "<object data=//e.test/x></object><embed src=//e.test/x><applet code=x>",
    "<meta http-equiv=refresh content='0;url=//e.test/'>",
    "<meta http-equiv=Content-Security-Policy content=''>",
    "<link rel=preconnect href=//e.test><link rel='dns-prefetch stylesheet' href=//e.test>",
    "<link rel=prefetch href=//e.test><link rel=preload as=script href=//e.test><link rel=import href=x>",
    "<link rel=manifest href=x><link href=//e.test/x>",
    "<a href=x ping=//e.test/p target=_top>x</a>",
    "<img attributionsrc=//e.test/ src=x>",
    "<button formaction=//e.test/>x</button><form action=//e.test/ target=x>",
    "<svg><animate attributeName=href values=javascript:alert(1) /><set attributeName=href to=//e.test/></svg>",
    "<<!-- -->script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>",
    "<style><img src=x onerror=alert(1)></style>",
    "<svg><style>@import u&#114;l(//e.test/x); b{background:&#117;rl(//e.test/x)}</style></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<textarea><img src=x onerror=alert(1)></textarea>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<plaintext><script>alert(1)</script>",
    "<xmp><script>alert(1)</script></xmp>",
    "<noembed><script>alert(1)</script></noembed><noframes><script>alert(1)</script></noframes>",
    "<img title='><script>alert(1)</script>' src=x>",
    "<p a\"<script>=x>",
    "<a\u{0}href=javascript:alert(1)>x",
    "<img src=x onerror\u{c}=alert(1)>",
    "<img/src=x/onerror=alert(1)>",
    "<img src=\"x\"onerror=alert(1)>",
    "<img x=`` src=x onerror=alert(1)>",
    "<div style=\"background:url('javascript:alert(1)')\">",
    "<bgsound src=//e.test/x><frame src=//e.test/x onload=alert(1)>",
    "<script",
    "<script>alert(1)",
    "<img src=//e.test/x onerror=alert(1)",
];

#[test]
fn what_runs_asks_or_sends_is_gone() {
    for source in ATTACKS {
        let shown = page(source);
        let lower = shown.to_ascii_lowercase();
        for bad in [
            "<script",
            "javascript:",
            "srcdoc",
            "<object",
            "<embed",
            "<meta",
            "<base",
            "ping=",
            "<animate",
            "<set",
            "formaction",
            " action=",
            "target=",
        ] {
            assert!(!lower.contains(bad), "{source}\n→ {shown}");
        }
        assert!(!has_handler(&shown), "{source}\n→ {shown}");
        assert!(leads_nowhere_else(&shown), "{source}\n→ {shown}");
    }
}

/// Whether a tag has an attribute that runs. Tags are those that a reader of our output sees: it has no `<` but theirs.
fn has_handler(shown: &str) -> bool {
    tags(shown).any(|tag| {
        without_values(tag).split_ascii_whitespace().skip(1).any(|name| name.starts_with("on"))
    })
}

/// Whether every URL that a browser would follow stands in the archive.
fn leads_nowhere_else(shown: &str) -> bool {
    tags(shown).all(|tag| {
        ["src", "href", "poster", "background", "xlink:href"].iter().all(|name| {
            let begin = format!(" {name}=\"");
            let values = tag.split(&begin).skip(1).map(|rest| rest.split('"').next().unwrap());
            values.into_iter().all(|value| {
                value.starts_with(PREFIX)
                    || value.starts_with('#')
                    || value.starts_with("data:image/")
            })
        })
    })
}

fn tags(shown: &str) -> impl Iterator<Item = &str> {
    shown.split('<').skip(1).map(|tag| tag.split('>').next().unwrap())
}

fn without_values(tag: &str) -> String {
    tag.split('"').step_by(2).collect()
}

#[test]
fn style_sheets_ask_for_nothing_outside() {
    let image = "url(\"/replay/CAP/id/7/https://h.test/dir/a.png\")";
    let rows = [
        ("a{b:url(a.png)}", format!("a{{b:{image}}}")),
        ("a{b:url( \"a.png\" )}", format!("a{{b:{image}}}")),
        ("a{b:URL('a.png' foo(x)) c}", format!("a{{b:{image}) c}}")),
        ("a{b:u\\72l(a.png)}", format!("a{{b:{image}}}")),
        ("a{b:\\75 \\52\\4c(a.png)}", format!("a{{b:{image}}}")),
        ("a{b:url(a\\.png)}", format!("a{{b:{image}}}")),
        ("@import 'a.png';", format!("@import {image};")),
        ("@import/**/\"a.png\" screen;", format!("@import {image} screen;")),
        ("@\\69mport url(a.png);", format!("@import {image};")),
        ("a{b:image-set('a.png' 1x, \"a.png\" 2x);c:\"a.png\"}",
         "a{b:image-set(\"/replay/CAP/id/7/https://h.test/dir/a.png\" 1x, \"/replay/CAP/id/7/https://h.test/dir/a.png\" 2x);c:\"a.png\"}".to_owned()),
        ("a{b:url(//evil.test/x)}", "a{b:url(\"/replay/CAP/id/7/https://evil.test/x\")}".to_owned()),
        ("a{b:url(javascript:alert(1))}", "a{b:url(\"about:invalid\"))}".to_owned()),
        ("a{b:url(data:image/gif;base64,AA)}", "a{b:url(\"data:image/gif;base64,AA\")}".to_owned()),
        ("a{b:url(data:text/css,x)}", "a{b:url(\"about:invalid\")}".to_owned()),
        ("a{b:url(#c)}", "a{b:url(\"#c\")}".to_owned()),
        ("/* url(x) */a{}", "/**/a{}".to_owned()),
        ("a{content:\"url(x) \\\" </style>\"}", "a{content:\"url(x) \\22  \\3c /style\\3e \"}".to_owned()),
        ("@media (width <= 600px){}", "@media (width <= 600px){}".to_owned()),
        ("a{b:url(", "a{b:url(\"/replay/CAP/id/7/https://h.test/dir/page?x=1\")".to_owned()),
        ("a{b:url(\"x", "a{b:url(\"/replay/CAP/id/7/https://h.test/dir/x\")".to_owned()),
        (".\\32xl\\:flex{width:10px}", ".\\32 xl\\3a flex{width:10px}".to_owned()),
        ("a{color:red;margin:-1px}", "a{color:red;margin:-1px}".to_owned()),
    ];
    for (source, expected) in rows {
        assert_eq!(sheet(source), expected, "{source}");
    }
}

proptest! {
    #[test]
    fn any_page_is_written_anew_without_scripts(source in "(<[/!?]?(script|img|a|style|svg|iframe|title|x)?|[ \"'=>/]|on(error|x)|src|href|java|script:|//e\\.test|\\\\|url\\(|&#?x?[0-9a]*;?|\\PC){0,60}") {
        let shown = page(&source);
        prop_assert!(!shown.to_ascii_lowercase().contains("<script"), "{}", shown);
        prop_assert!(!has_handler(&shown), "{}", shown);
        prop_assert!(leads_nowhere_else(&shown), "{}", shown);
        // Written anew once more, nothing is found that was hidden before.
        let again = html::rewrite(&shown, mapper(), 1 << 20);
        prop_assert!(!has_handler(&again) && leads_nowhere_else(&again), "{}", again);
    }

    #[test]
    fn any_style_sheet_is_written_anew(source in "(url|\\\\75|u\\\\|[(){}'\"@\\\\;:/*]|import|image-set|//e\\.test|\\PC){0,40}") {
        let shown = sheet(&source);
        let lower = shown.to_ascii_lowercase();
        for (at, _) in lower.match_indices("url(") {
            let is_mapped = ["url(\"/replay/", "url(\"about:invalid", "url(\"#", "url(\"data:"].iter().any(|start| lower[at..].starts_with(start));
            // Within a string it is a text, and at the end of a longer name no function of ours.
            let is_longer = ends_in_a_name(&lower[..at]);
            let quotes = lower[..at].matches('"').count();
            prop_assert!(is_mapped || is_longer || quotes % 2 == 1, "{}\n→ {}", source, shown);
        }
    }

    #[test]
    fn any_path_is_a_place_or_none(path in "/replay/\\PC*") {
        let _ = Place::parse(&path).map(|place| place.address());
    }
}

/// Whether what follows belongs to the same name, or to that of an at-rule; an escape ends with a space.
fn ends_in_a_name(sheet: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii();
    let escape = sheet.strip_suffix(' ').unwrap_or_default();
    let escape = escape.trim_end_matches(|c: char| c.is_ascii_hexdigit());
    sheet.ends_with(is_name) || sheet.ends_with('@') || escape.ends_with('\\')
}

#[test]
fn a_page_that_grows_is_cut() {
    let many = "<a href=x>".repeat(100_000);
    assert!(html::rewrite(&many, mapper(), 10_000).len() < 20_000);
    let attributes = format!("<p {}>", (0..100_000).map(|n| format!("a{n} ")).collect::<String>());
    assert!(page(&attributes).len() < 10_000);
}

#[test]
fn paths_are_read_as_they_are_made() {
    let path = Place::path("c", "id", 5, "https://h.test/a b?c=\"d\"#e");
    assert_eq!(path, "/replay/c/id/5/https://h.test/a%20b?c=%22d%22#e");
    let place = Place::parse("/replay/c/id/5/https://h.test/a?b=/c").unwrap();
    assert_eq!(
        (place.capability, place.id, place.at, place.url),
        ("c", "id", 5, "https://h.test/a?b=/c")
    );
    assert_eq!(Place::parse("/replay/c/id/5/https:/h.test/").unwrap().address(), "https://h.test/");
    for path in [
        "/replay/",
        "/replay/c/id/5",
        "/replay/c/id/x/u",
        "/replay/c/id/-1/u",
        "/replay/c/id//u",
        "/other/c/id/5/u",
    ] {
        assert_eq!(Place::parse(path), None, "{path}");
    }
}

#[test]
fn the_policy_lets_a_page_reach_its_own_crawl_and_nothing_else() {
    let place = Place::parse("/replay/c/id/5/u").unwrap();
    let policy = answer::policy(Some("127.0.0.1:7878"), &place);
    assert!(
        policy
            .starts_with("sandbox; default-src 'none'; img-src 127.0.0.1:7878/replay/c/id/ data:;"),
        "{policy}"
    );
    assert!(!policy.contains("allow-") && !policy.contains("script-src"), "{policy}");
    for host in ["192.0.2.1", "[::1]:7878", "a b", "x;script-src *", "", "a,b"] {
        let policy = answer::policy(Some(host), &place);
        assert!(policy.contains("img-src 'self' data:"), "{host}: {policy}");
    }
}
