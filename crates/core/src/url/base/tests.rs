//! The short way from a link to its URL against the long one.

use proptest::prelude::*;

use super::*;
use crate::url::UrlList;

/// What `Base::link` stands for.
fn long_way(text: &str, base: &Url, rules: &UrlRules) -> Result<CrawlUrl, UrlError> {
    canonicalise(resolve(text, Some(base), Some(encoding_rs::UTF_8))?, rules)
}

/// The same answer both ways, parts included; and the parts are those of the URL standard.
pub fn assert_short_way_is_right(text: &str, url: &Url, rules: &UrlRules) {
    let base = Base::new(url, encoding_rs::UTF_8, rules);
    let short = base.link(text);
    assert_eq!(short, long_way(text, url, rules), "{text:?} on {url}");
    let list = UrlList::of(&base, [text, "", text].into_iter());
    let listed: Vec<_> =
        list.iter().map(|url| url.map(|url| url.to_url()).map_err(Clone::clone)).collect();
    assert_eq!(listed, [short.clone(), base.link(""), short.clone()], "{text:?} on {url}");
    let Ok(short) = short else { return };
    let parsed = short.to_url();
    assert_eq!(short.as_str(), parsed.as_str(), "{text:?} on {url}");
    // A file has neither.
    let host = parsed.host_str().unwrap_or_else(|| crate::url::file::lane(parsed.as_str()));
    assert_eq!(short.host(), host, "{short}");
    assert_eq!(short.port(), parsed.port_or_known_default().unwrap_or_default(), "{short}");
    assert_eq!(
        (short.scheme(), short.path(), short.query()),
        (parsed.scheme(), parsed.path(), parsed.query())
    );
    assert_eq!(CrawlUrl::from_canonical(short.as_str()), Some(short));
}

const BASES: &[&str] = &[
    "https://example.org/",
    "https://example.org/a/b/page.html?x=1#top",
    "http://user:secret@example.org:8080/a;jsessionid=1/b",
    "http://example.org./folder/",
    "http://[::1]:81/a%2fb/c",
    "http://10.0.0.1/d^/e",
    "http://h/%41/b",
    "file:///a/b",
    "mailto:a@b",
];

#[rustfmt::skip]
const LINKS: &[&str] = &[
    "", "#", "#top", "?", "?a=1", "?&", "/", "//", "//h/x", "///h/x", "/a/b", "/a//b", "/a/./b",
    "/a/../b", "/.", "/.well-known/x", "/a.b/c..d", "a", "a/b?c=d#e", "a:b", "a/b:c", "./a", "../a",
    "../../../a?b", "../", "../.", "..//a", "../a:b", "../?a", "../../", "a/../b", "..", ".", "a/.",
    "a/..", "a/.b", "/%41", "/%2E%2E/a", "/%2e", "/%C3%A9", "/%c3%a9", "/%", "/%4", "/%zz", "/%20a",
    "/a b", "/ü", "/a?ü", "/a?b='c'", "/a'b", "/a;b", "/a;jsessionid=1", "/a?b;c", "/a?utm_source=x",
    "/a?x=1&utm_a=2", "/a?&x", "/a?x&&y", "/a?x&", "/a?sid=9682993c8daa2c5497996114facdc805",
    "/a?sid=1", "/a?UTM_x", "/a?%75tm_x", "/a?*", "/a^b", "/a|b", "/a\\b", "\\a", "/a\tb", " /a", "/a ",
    "/{a}", "/[a]", "/a?[b]", "/a\"b", "/a`b", "http://example.org", "http://example.org/",
    "https://example.org?x", "https://example.org/a#b", "https://example.org#b", "http://EXAMPLE.org/",
    "HTTP://example.org/", "http:/a", "http:a", "https:a", "http://", "http:///a", "http://a.b-c.d/e",
    "http://a..b/", "http://.a/", "http://a./", "http://-a-.b/", "http://a.1/", "http://1.2.3.4/",
    "http://1.2.3/", "http://0x7f.1/", "http://a.0x1/", "http://a.b1/", "http://a.1b/",
    "http://xn--bcher-kva.example/", "http://xn--a/", "http://ab--c.example/", "http://a_b.c/",
    "http://h:80/", "http://h:8080/", "https://h:80/", "https://h:443/", "http://h:/", "http://h:080/",
    "http://h:0/", "http://h:65535/", "http://h:65536/", "http://h:1:2/", "http://h:8a/", "http://h:+1/",
    "http://1.2.3.4:81/a", "http://1.2.3.256/", "http://01.2.3.4/", "http://0.0.0.0:9/", "http://1.2.3.4.5/", "http://u@h/", "http://h%41/", "http://[::1]/",
    "http://ü.example/", "mailto:a@b", "javascript:void(0)", "data:,x", "tel:1", "ftp://h/",
    "//example.org/a",
];

#[test]
fn links_of_every_shape_come_out_the_same_both_ways() {
    let rules = UrlRules::default();
    for base in BASES.iter().map(|base| Url::parse(base).unwrap()) {
        for link in LINKS {
            assert_short_way_is_right(link, &base, &rules);
        }
    }
}

#[test]
fn the_rules_of_a_crawl_hold_on_the_short_way() {
    let base = Url::parse("https://example.org/a/").unwrap();
    let rules = [
        UrlRules { sort_query: true, ..UrlRules::default() },
        UrlRules { bytes_max: 24, ..UrlRules::default() },
        UrlRules { drop_params: vec!["*".to_owned()], ..UrlRules::default() },
        UrlRules { drop_params: vec!["_x".to_owned(), "2".to_owned()], ..UrlRules::default() },
        UrlRules { drop_params: Vec::new(), ..UrlRules::default() },
    ];
    for rules in &rules {
        for link in ["/b?b=1&a=2", "/b?_x=1&y", "/b?2=3", "?utm_a=1", "/long/and/longer", "/"] {
            assert_short_way_is_right(link, &base, rules);
        }
    }
}

#[test]
fn most_links_take_the_short_way() {
    let (base, rules) = (Url::parse("https://example.org/a/b.html").unwrap(), UrlRules::default());
    let base = Base::new(&base, encoding_rs::WINDOWS_1252, &rules);
    for link in [
        "/x/y?z=1&a",
        "x.html#top",
        "https://example.org/",
        "https://other.example",
        "http://other.example:8080/x",
        "http://127.0.0.1:8080/x",
        "#",
        "/%C3%A9",
    ] {
        assert!(base.plain_link(link).is_some(), "{link}");
    }
}

proptest! {
    #[test]
    fn any_text_comes_out_the_same_both_ways(
        text in "((https?:)?//?[a-z0-9.-]{0,9}(:[0-9]{0,5})?)?([/a-cA-C0-9.?&=%#;:@'^|\\\\ \\tü_~+-]|%[0-9A-Fa-f]{2}|utm_|\\.\\./){0,12}",
        base in proptest::sample::select(BASES),
    ) {
        assert_short_way_is_right(&text, &Url::parse(base).unwrap(), &UrlRules::default());
    }
}
