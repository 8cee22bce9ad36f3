//! Canonical URLs, seeds and SURTs by table, and what must hold for any text at all.

use proptest::prelude::*;

use super::*;

fn canonical(text: &str) -> String {
    canonicalise(Url::parse(text).unwrap(), &UrlRules::default()).unwrap().to_string()
}

/// URL-1, for whatever comes in.
pub(super) fn assert_idempotent(text: &str, rules: &UrlRules) {
    let base = Url::parse("http://base.example/dir/page?q").unwrap();
    let Ok(url) = resolve(text, Some(&base), None) else {
        return;
    };
    let Ok(once) = canonicalise(url, rules) else {
        return;
    };
    let again = Url::parse(once.as_str()).unwrap();
    assert_eq!(again.as_str(), once.as_str(), "{text:?} does not parse back to itself");
    assert_eq!(canonicalise(again, rules).as_ref(), Ok(&once), "{text:?}");
    assert_eq!(CrawlUrl::from_canonical(once.as_str()).as_ref(), Some(&once));
    assert_eq!(host_of_canonical(once.as_str()), Some(once.host()));
}

#[test]
fn variants_of_one_page_become_one_url() {
    let rows = [
        ("empty path", "http://h?id=1", "http://h/?id=1"),
        ("case of scheme and host", "HTTP://ExAmple.COM/Path", "http://example.com/Path"),
        ("default port", "https://h:443/", "https://h/"),
        ("empty port", "https://h:/", "https://h/"),
        ("another scheme's port stays", "http://h:443/", "http://h:443/"),
        ("dot segments", "http://h/a/./b/../c", "http://h/a/c"),
        ("fragment", "http://h/a#top", "http://h/a"),
        ("user info", "http://user:secret@h/a", "http://h/a"),
        ("password alone", "http://:secret@h/a", "http://h/a"),
        ("unreserved escapes", "http://h/%7Euser/%41", "http://h/~user/A"),
        ("escapes in capitals", "http://h/%c3%a9", "http://h/%C3%A9"),
        ("reserved escapes stay", "http://h/a%2fb?c%3dd", "http://h/a%2Fb?c%3Dd"),
        ("empty query", "http://h/?", "http://h/"),
        ("empty pairs", "http://h/?&a=1&&b&", "http://h/?a=1&b"),
        ("tracking", "http://h/?a=1&utm_source=x&b=2", "http://h/?a=1&b=2"),
        ("only tracking", "http://h/?fbclid=x", "http://h/"),
        ("tracking without case", "http://h/?UTM_Source=x", "http://h/"),
        ("not quite tracking", "http://h/?utm=x&gclids=y", "http://h/?utm=x&gclids=y"),
        (
            "session by name and value",
            "http://h/t.php?t=1&sid=9682993c8daa2c5497996114facdc805",
            "http://h/t.php?t=1",
        ),
        ("not quite a session", "http://h/?sid=05/12/17", "http://h/?sid=05/12/17"),
        ("session in the path", "http://h/a;jsessionid=1F?b", "http://h/a?b"),
        ("session in a folder", "http://h/a;JSESSIONID=1F/b;v=1", "http://h/a/b;v=1"),
        ("session behind dots", "http://h/a/..;jsessionid=1/b", "http://h/b"),
        ("dot behind the host", "http://example.com./", "http://example.com/"),
        ("dot behind an address", "http://127.0.0.1./", "http://127.0.0.1/"),
        ("odd forms of an address", "http://0x7f.1/", "http://127.0.0.1/"),
        ("international name", "http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
        ("order of the query is kept", "http://h/?b=1&a=2", "http://h/?b=1&a=2"),
        ("doubled slashes are kept", "http://h//a//b", "http://h//a//b"),
    ];
    for (name, text, expected) in rows {
        assert_eq!(canonical(text), expected, "{name}");
    }
}

#[test]
fn links_resolve_as_browsers_have_it() {
    let base = Url::parse("https://base.example/dir/page?q").unwrap();
    let rows = [
        ("next", "https://base.example/dir/next"),
        ("", "https://base.example/dir/page?q"),
        ("?p=2", "https://base.example/dir/page?p=2"),
        ("//other.example/x", "https://other.example/x"),
        ("///other.example/x", "https://other.example/x"),
        (" \\\\\\other.example\\x ", "https://other.example/x"),
        ("ne\nxt ", "https://base.example/dir/next"),
        ("https:next", "https://base.example/dir/next"),
        ("/a^b?c^d", "https://base.example/a%5Eb?c^d"),
    ];
    for (text, expected) in rows {
        assert_eq!(resolve(text, Some(&base), None).unwrap().as_str(), expected, "{text:?}");
    }
}

#[test]
fn a_query_is_written_in_the_charset_of_its_page() {
    let rows = [
        (encoding_rs::UTF_8, "http://h/é?é=†", "http://h/%C3%A9?%C3%A9=%E2%80%A0"),
        (encoding_rs::WINDOWS_1252, "http://h/é?é=†", "http://h/%C3%A9?%E9=%86"),
        (encoding_rs::BIG5, "http://h/é?†", "http://h/%C3%A9?%26%238224%3B"),
        (encoding_rs::UTF_16LE, "http://h/?é", "http://h/?%C3%A9"),
    ];
    for (encoding, text, expected) in rows {
        let url = resolve(text, None, Some(encoding)).unwrap();
        assert_eq!(url.as_str(), expected, "{}", encoding.name());
    }
}

#[test]
fn the_query_is_sorted_by_name_where_asked_for() {
    let rules = UrlRules { sort_query: true, ..UrlRules::default() };
    let url = canonicalise(Url::parse("http://h/?b=2&c&b=1&a").unwrap(), &rules).unwrap();
    assert_eq!(url.as_str(), "http://h/?a&b=2&b=1&c");
}

#[test]
fn what_cannot_be_fetched_is_refused_with_a_word() {
    let long_label = format!("http://{}.example/", "a".repeat(64));
    let long_name = format!("http://{}example/", "a.".repeat(130));
    let long_path = format!("http://h/{}", "a".repeat(5_000));
    let rows = [
        ("mailto:someone@example.com", "scheme"),
        ("javascript:void(0)", "scheme"),
        ("data:text/plain,x", "scheme"),
        ("ftp://h/", "scheme"),
        ("file://server/etc/passwd", "file-host"),
        ("http://a..b/", "invalid"),
        ("http://a../", "invalid"),
        ("http://.a/", "invalid"),
        ("http://./", "invalid"),
        (long_label.as_str(), "invalid"),
        (long_name.as_str(), "invalid"),
        (long_path.as_str(), "length"),
    ];
    for (text, word) in rows {
        let error = canonicalise(Url::parse(text).unwrap(), &UrlRules::default()).unwrap_err();
        assert_eq!(error.word(), word, "{text}: {error}");
    }
    for text in ["http://", "http://h:99999/", "http://h:x/", "http://a b/", "http://[::1/", "x"] {
        assert!(resolve(text, None, None).is_err(), "{text}");
    }
    let longest = format!("http://{}.{}/", "a".repeat(63), "b".repeat(63));
    assert_eq!(canonical(&longest), longest);
}

#[test]
fn an_escape_behind_a_bare_percent_stays() {
    let rows = [
        ("http://h/%%34%31", "http://h/%%341"),
        ("http://h/%4%31", "http://h/%4%31"),
        ("http://h/%4%31%32", "http://h/%4%312"),
        ("http://h/?100%", "http://h/?100%"),
        ("http://h/%", "http://h/%"),
    ];
    for (text, expected) in rows {
        assert_eq!(canonical(text), expected, "{text}");
        assert_eq!(canonical(expected), expected, "{text}");
    }
}

#[test]
fn a_seed_needs_no_scheme() {
    let rows = [
        ("example.com", "https://example.com/"),
        (" h:8080/x ", "https://h:8080/x"),
        ("example.com:8080", "https://example.com:8080/"),
        ("example.com:80/?q", "https://example.com:80/?q"),
        ("example.com/?to=http://x/", "https://example.com/?to=http://x/"),
        ("//example.com/x", "https://example.com/x"),
        ("93.184.216.34", "https://93.184.216.34/"),
        ("[2001:db8::1]:8080", "https://[2001:db8::1]:8080/"),
        ("localhost", "http://localhost/"),
        ("localhost:8080", "http://localhost:8080/"),
        ("localhost:443", "http://localhost:443/"),
        ("app.localhost:3000/a", "http://app.localhost:3000/a"),
        ("127.0.0.1:9000/x", "http://127.0.0.1:9000/x"),
        ("192.168.1.2", "http://192.168.1.2/"),
        ("10.0.0.1:80", "http://10.0.0.1/"),
        ("[::1]:8080/x", "http://[::1]:8080/x"),
        ("[fd00::1]", "http://[fd00::1]/"),
        ("https://localhost/", "https://localhost/"),
        ("http://example.com", "http://example.com/"),
        ("HTTP:example.com", "http://example.com/"),
        ("localhost.example.com", "https://localhost.example.com/"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
    ];
    for (text, expected) in rows {
        let url = seed(text, &UrlRules::default());
        assert_eq!(url.as_ref().map(CrawlUrl::as_str), Ok(expected), "{text}");
    }
}

#[test]
fn a_seed_that_cannot_be_fetched_says_why() {
    let scheme = |name: &str| UrlError::Scheme(name.to_owned());
    let rows = [
        ("", UrlError::Empty),
        (" \n", UrlError::Empty),
        ("ftp://example.com/", scheme("ftp")),
        ("mailto:someone@example.com", scheme("mailto")),
        ("file://tmp/x", UrlError::OtherMachine("tmp".to_owned())),
        ("javascript:alert(1)", scheme("javascript")),
        ("ht!tp://example.com/", scheme("ht!tp")),
        ("://example.com/", scheme("")),
    ];
    for (text, error) in rows {
        assert_eq!(seed(text, &UrlRules::default()), Err(error), "{text}");
    }
    for text in ["exa mple.com", "h:99999", "http://"] {
        assert!(seed(text, &UrlRules::default()).is_err(), "{text}");
    }
}

#[test]
fn parts_of_a_url() {
    let url = seed("http://a.b.example.co.uk:8080/p/q?r=s", &UrlRules::default()).unwrap();
    assert_eq!(url.scheme(), "http");
    assert_eq!(url.origin(), "http://a.b.example.co.uk:8080");
    assert_eq!(url.host(), "a.b.example.co.uk");
    assert_eq!(url.site(), "example.co.uk");
    assert_eq!(url.path(), "/p/q");
    assert_eq!(url.query(), Some("r=s"));
    assert_eq!(url.path_and_query(), "/p/q?r=s");
    assert_eq!(url.port(), 8080);
    assert_eq!(url.ip(), None);
}

#[test]
fn the_host_of_a_canonical_text_is_found_without_the_rest() {
    for text in [
        "http://example.com/a:b/[c]?d=http://x/",
        "https://example.com:8443/",
        "http://[2001:db8::1]/",
        "http://[2001:db8::1]:81/:",
        "http://10.0.0.1:8080/x",
        "file:///a/b/",
    ] {
        let url = CrawlUrl::from_canonical(text).unwrap();
        assert_eq!(host_of_canonical(text), Some(url.host()), "{text}");
        assert_eq!(site_of_host(url.host()), url.site(), "{text}");
    }
    assert_eq!(host_of_canonical("mailto:a@b.example"), None);
}

#[test]
fn the_site_is_what_can_be_registered() {
    let rows = [
        ("http://www.example.com/", "example.com"),
        ("http://example.com/", "example.com"),
        ("http://a.b.example.co.uk/", "example.co.uk"),
        ("http://co.uk/", "co.uk"),
        ("http://someone.github.io/", "someone.github.io"),
        ("http://localhost/", "localhost"),
        ("http://intra.corp/", "intra.corp"),
        ("http://192.168.1.2/", "192.168.1.2"),
        ("http://[::1]/", "[::1]"),
    ];
    for (text, site) in rows {
        assert_eq!(seed(text, &UrlRules::default()).unwrap().site(), site, "{text}");
    }
}

#[test]
fn fingerprints_on_disk_never_change() {
    // Computed with another implementation of XXH3-64.
    let rows = [
        ("http://example.com/", "b97a010e03af1e2b"),
        ("https://example.com/a?b=c", "cc090d952073c9f8"),
        ("http://bücher.example/é", "e8efa67fc315283b"),
        ("http://[::1]:8080/x", "fa2dbe449d43d246"),
    ];
    for (text, expected) in rows {
        let url = seed(text, &UrlRules::default()).unwrap();
        assert_eq!(url.fingerprint().to_string(), expected, "{text}");
    }
}

/// Every row is what the Python package `surt` 0.3.1 gives.
#[test]
fn a_surt_is_the_key_that_replay_tools_look_for() {
    let rows = [
        ("http://www.Example.com/", "com,example)/"),
        ("https://www23.example.com:8443/A/B/", "com,example:8443)/a/b"),
        ("http://wwwx.example.com/", "com,example,wwwx)/"),
        ("http://h/a//b/?c=2&a&C=1&b=", "h)/a/b?a&b=&c=1&c=2"),
        ("http://h/%25%32%35/%C3%A9%20%2F", "h)/%25/%c3%a9%20"),
        ("http://h/?q=%2526x%23", "h)/?q=&x%23"),
        ("http://127.0.0.1:8080/x", "1,0,0,127:8080)/x"),
        ("http://[::1]:8080/x", "::1:8080)/x"),
        ("http://h:0/", "h)/"),
        ("http://h/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx", "h)/mileg.aspx"),
        ("http://h/(4hqa0555fwsecu455xqckv45)/mileg.aspx?x", "h)/mileg.aspx?x"),
        ("http://h/(4hqa)/mileg.aspx", "h)/(4hqa)/mileg.aspx"),
        ("http://h/?sid=9682993c8daa2c5497996114facdc805&x=y", "h)/?x=y"),
        ("http://h/?a=1&sid=9682993c8daa2c5497996114facdc805", "h)/?&a=1"),
        ("http://h/?CFID=1&CFTOKEN=2&z=3", "h)/?z=3"),
        ("http://h/?sid=9682993c8daa2c5497996114facdc805", "h)/"),
    ];
    for (text, expected) in rows {
        assert_eq!(CrawlUrl::from_canonical(text).unwrap().surt(), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn canonicalising_twice_is_canonicalising_once_for_junk(text in ".{0,60}") {
        assert_idempotent(&text, &UrlRules::default());
    }

    #[test]
    fn canonicalising_twice_is_canonicalising_once_for_urls(
        host in "([a-z%.é]{1,9}|[0-9.x]{1,9})",
        path in "[a-zA-Z%0-9./;=&?+\\\\ é]{0,30}",
        query in "[%a-fA-F0-9&=;utm_sid+' ]{0,30}",
        sort_query: bool,
    ) {
        let rules = UrlRules { sort_query, ..UrlRules::default() };
        assert_idempotent(&format!("http://{host}/{path}?{query}"), &rules);
        assert_idempotent(&format!("http://h/a;jsessionid=1/{path};utm_x?{query}"), &rules);
    }

    #[test]
    fn no_seed_panics_and_each_is_canonical(text in "[a-z:/.0-9\\[\\]%@ ]{0,30}") {
        let rules = UrlRules::default();
        if let Ok(url) = seed(&text, &rules) {
            prop_assert_eq!(canonicalise(url.to_url(), &rules), Ok(url.clone()));
            prop_assert!(url.surt().contains(')'));
        }
    }
}

#[test]
fn a_url_is_in_every_folder_of_its_path() {
    for (text, folders) in [
        ("http://h/a/b/c.html?q=/x/", vec!["http://h/a/b/", "http://h/a/", "http://h/"]),
        ("http://h:81/a/b/", vec!["http://h:81/a/", "http://h:81/"]),
        ("http://h/a", vec!["http://h/"]),
        ("http://h/", vec![]),
        ("http://h/a//b/c", vec!["http://h/a//b/", "http://h/a/", "http://h/"]),
        ("file:///srv/web/x", vec!["file:///srv/web/", "file:///srv/", "file:///"]),
    ] {
        let url = CrawlUrl::from_canonical(text).unwrap();
        let found: Vec<CrawlUrl> = url.folders().collect();
        assert_eq!(found.iter().map(CrawlUrl::as_str).collect::<Vec<_>>(), folders, "{text}");
        // Each is the very URL that its text is.
        for folder in found {
            assert_eq!(CrawlUrl::from_canonical(folder.as_str()), Some(folder));
        }
    }
}
