//! File URLs by table.

use super::super::tests::assert_idempotent;
use super::super::{Base, canonicalise, resolve, seed};
use super::*;

fn of(text: &str) -> Result<String, UrlError> {
    let url = resolve(text, None, None)?;
    canonicalise(url, &UrlRules::default()).map(|url| url.to_string())
}

#[test]
fn variants_of_one_file_become_one_url() {
    let rows = [
        ("as it is", "file:///srv/docs/", "file:///srv/docs/"),
        ("localhost", "file://localhost/srv", "file:///srv"),
        ("one slash", "file:/srv/a", "file:///srv/a"),
        ("case of the scheme", "FILE:///Srv/A", "file:///Srv/A"),
        ("the root", "file:///", "file:///"),
        ("nothing", "file:", "file:///"),
        ("query and fragment", "file:///a.html?v=1#top", "file:///a.html"),
        ("a query behind a directory", "file:///a/?C=N;O=D", "file:///a/"),
        ("a part of a listing", "file:///a/?from=b%2Ec", "file:///a/?from=b.c"),
        ("no listing of a file", "file:///a?from=b", "file:///a"),
        ("doubled slashes", "file:///srv//docs///a", "file:///srv/docs/a"),
        ("dot segments", "file:///srv/./docs/../a", "file:///srv/a"),
        ("escaped dot segments", "file:///srv/x/%2e%2E/.%2e/a", "file:///a"),
        ("above the root", "file:///../../a", "file:///a"),
        ("needless escapes", "file:///%61%21%2c(b)", "file:///a!,(b)"),
        ("escapes in capitals", "file:///%c3%a9", "file:///%C3%A9"),
        ("other letters", "file:///é", "file:///%C3%A9"),
        ("bytes that are no text", "file:///%ff%FE", "file:///%FF%FE"),
        ("a lone percent sign", "file:///100%", "file:///100%25"),
        ("an escaped escape", "file:///%252e%252e/a", "file:///%252e%252e/a"),
        ("a question mark in a name", "file:///what%3F", "file:///what%3F"),
        ("a hash in a name", "file:///c%23", "file:///c%23"),
        ("a line break in a name", "file:///a%0Ab", "file:///a%0Ab"),
        ("a backslash in a name", "file:///a%5cb", "file:///a%5Cb"),
        ("a drive letter", "file:///C:/Users/x", "file:///C:/Users/x"),
        ("above a drive", "file:///C:/../x", "file:///C:/x"),
        ("a session is a name here", "file:///a;jsessionid=1", "file:///a;jsessionid=1"),
    ];
    for (name, text, expected) in rows {
        assert_eq!(of(text).as_deref(), Ok(expected), "{name}");
        assert_idempotent(text, &UrlRules::default());
    }
}

#[test]
fn what_leads_elsewhere_is_refused_with_a_reason() {
    let rows = [
        ("file://server/share/a", "files of server"),
        ("file:////server/share/a/%2f", "an escaped slash"),
        ("file:///srv/a%2Fb", "an escaped slash"),
        ("file:///srv/..%2f..%2fetc", "an escaped slash"),
        ("file:///srv/a%00.html", "a zero byte"),
    ];
    for (text, why) in rows {
        let error = of(text).expect_err(text);
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
    let long = format!("file:///{}", "a".repeat(3_000));
    assert_eq!(of(&long), Err(UrlError::TooLong(3_008)));
}

#[test]
fn the_parts_of_a_file_url_are_those_of_no_host() {
    let url = seed("file:///srv/Docs/a.html", &UrlRules::default()).unwrap();
    assert!(url.is_file());
    assert_eq!((url.scheme(), url.origin(), url.port()), ("file", "file://", 0));
    assert_eq!((url.path(), url.query(), url.ip()), ("/srv/Docs/a.html", None, None));
    assert!(LANES.contains(&url.host()));
    assert_eq!(url.site(), url.host());
    assert_eq!(url.surt(), "file:///srv/Docs/a.html");
    assert_eq!(CrawlUrl::from_canonical(url.as_str()), Some(url.clone()));
    assert!(CrawlUrl::from_canonical("file://server/a").is_none());
    for lane in LANES {
        assert_ne!(seed(lane, &UrlRules::default()).unwrap().host(), lane, "no host has that name");
        let host = CrawlUrl::from_canonical(&format!("http://{lane}/")).map(|url| url.to_string());
        assert_eq!(host.as_deref(), Some(format!("http://{lane}/").as_str()), "as state names it");
    }
}

#[test]
fn files_are_spread_over_the_lanes() {
    let mut files = [0_u32; LANES.len()];
    for i in 0..16_000 {
        let lane = lane(&format!("file:///srv/{i}.html"));
        files[LANES.iter().position(|name| *name == lane).unwrap()] += 1;
    }
    assert!(files.iter().all(|count| (850..1150).contains(count)), "{files:?}");
}

#[test]
fn any_name_comes_back_from_its_escaped_form() {
    let names: [&[u8]; 7] =
        [b"a b", b"100%", b"what?", b"c#", b"two\nlines", b"\xff\xfe", b"a:b;c=d&e"];
    for name in names {
        let url = of(&format!("file:///dir/{}", escaped_name(name))).unwrap();
        let last = url.rsplit('/').next().unwrap();
        assert_eq!(Cow::from(percent_decode_str(last)), name);
        assert_eq!(last, escaped_name(name));
        let part = format!("file:///dir/?from={}", escaped_name(name));
        let part = seed(&part, &UrlRules::default()).unwrap();
        assert_eq!(listed_from(&part).as_deref(), Some(name));
    }
}

#[test]
fn links_of_a_file_are_those_of_its_directory() {
    let url = Url::parse("file:///srv/docs/a.html").unwrap();
    let rules = UrlRules::default();
    let base = Base::new(&url, encoding_rs::UTF_8, &rules);
    let rows = [
        ("b.html", "file:///srv/docs/b.html"),
        ("b%21.html?x=1", "file:///srv/docs/b!.html"),
        ("../c/", "file:///srv/c/"),
        ("../../../../etc/passwd", "file:///etc/passwd"),
        ("/abs", "file:///abs"),
        ("", "file:///srv/docs/a.html"),
        ("#top", "file:///srv/docs/a.html"),
        ("http://example.com/?utm_source=x", "http://example.com/"),
    ];
    for (link, expected) in rows {
        assert_eq!(base.link(link).unwrap().as_str(), expected, "{link}");
    }
    assert!(base.link("//example.com/a").is_err(), "another machine's file");
}
