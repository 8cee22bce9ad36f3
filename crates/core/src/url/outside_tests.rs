//! URLs against test data made by others, where that is at hand.

use std::path::PathBuf;

use serde_json::Value;

use super::*;

/// A file of the outside test data, or a note that it is not there.
fn testdata(name: &str) -> Option<String> {
    let folder = std::env::var_os("LARM_TESTDATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/testdata")),
        PathBuf::from,
    );
    let text = std::fs::read_to_string(folder.join("url").join(name)).ok();
    if text.is_none() {
        println!("skipped: no testdata");
    }
    text
}

/// The objects of a JSON list; the strings between them are comments.
fn json_cases(name: &str) -> Option<Vec<Value>> {
    let text = testdata(name)?;
    // Two cases hold half of a surrogate pair, which is no Unicode text. With U+FFFD in its place
    // they are as invalid as before.
    let halves = regex::Regex::new(
        r"(?i)(\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\ud[89a-f][0-9a-f]{2}",
    )
    .unwrap();
    let text = halves.replace_all(&text, |found: &regex::Captures<'_>| {
        found.get(1).map_or("\\ufffd".to_owned(), |pair| pair.as_str().to_owned())
    });
    let list: Vec<Value> = serde_json::from_str(&text).unwrap();
    Some(list.into_iter().filter(Value::is_object).collect())
}

/// Rows of a comma-separated file with `#` comments; fields are trimmed, quotes around one removed.
fn csv_rows(name: &str) -> Option<Vec<Vec<String>>> {
    let field = |text: &str| {
        let text = text.trim();
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        inner.map_or(text.to_owned(), |inner| inner.replace("\"\"", "\""))
    };
    let lines = testdata(name)?;
    let lines = lines.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    Some(lines.map(|line| line.split(',').map(field).collect()).collect())
}

#[test]
fn every_case_of_the_url_standard_resolves_as_it_says() {
    let cases = json_cases("wpt_urltestdata.json").unwrap_or_default();
    for case in &cases {
        let input = case["input"].as_str().unwrap();
        let base = case["base"].as_str().map(|base| resolve(base, None, None).unwrap());
        let found = resolve(input, base.as_ref(), None).ok();
        let found = found.as_ref().map(Url::as_str);
        let expected = case["href"].as_str();
        // What the parser does to other schemes does not matter: they are refused in the next step.
        let refused = |href: Option<&str>| href.is_some_and(|href| !href.starts_with("http"));
        if found != expected && !(refused(found) && refused(expected)) {
            assert!(is_strict_about_punycode(found, expected), "{case:#}, not {found:?}");
        }
    }
}

#[test]
fn host_names_become_ascii_as_the_url_standard_says() {
    for name in ["wpt_toascii.json", "wpt_IdnaTestV2.json"] {
        for case in json_cases(name).unwrap_or_default() {
            let input = case["input"].as_str().unwrap();
            // `https:///x` is the host `x`; and the parser's tables let one unassigned character through,
            // which gives a name that does not exist instead of an error.
            if input.is_empty() || input.contains('\u{3e8ac}') {
                continue;
            }
            let url = resolve(&format!("https://{input}/x"), None, None).ok();
            let (found, expected) = (url.as_ref().and_then(Url::host_str), case["output"].as_str());
            if found != expected {
                assert!(input.is_ascii() && is_strict_about_punycode(found, expected), "{case:#}");
            }
        }
    }
}

/// The known difference: a name in ASCII whose `xn--` label is not valid is refused. Such names cannot
/// be registered.
fn is_strict_about_punycode(found: Option<&str>, expected: Option<&str>) -> bool {
    found.is_none() && expected.is_some_and(|expected| expected.contains("xn--"))
}

#[test]
fn queries_are_written_in_the_charset_of_the_page() {
    for case in json_cases("wpt_percent-encoding.json").unwrap_or_default() {
        let input = case["input"].as_str().unwrap();
        for (label, expected) in case["output"].as_object().unwrap() {
            let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
            let url = resolve(&format!("http://h/?{input}"), None, Some(encoding)).unwrap();
            assert_eq!(url.query(), expected.as_str(), "{input:?} in {label}");
        }
    }
}

#[test]
fn relative_references_resolve_as_crawler_commons_says() {
    let Some(rows) = csv_rows("crawler-commons_resolve.csv") else {
        return;
    };
    assert_eq!(rows.len(), 22);
    for row in rows {
        let base = resolve(&row[1], None, None).ok();
        let url = resolve(&row[0], base.as_ref(), None).unwrap();
        assert_eq!(url.as_str(), row[2], "{row:?}");
    }
}

#[test]
fn what_crawler_commons_calls_invalid_is_refused() {
    for row in csv_rows("crawler-commons_invalid.csv").unwrap_or_default() {
        assert!(resolve(&row[0], None, None).is_err(), "{row:?}");
    }
}

/// Where larm's canonical form differs from crawler-commons' on purpose, and why.
const NOT_AS_CRAWLER_COMMONS: &[(&str, &[&str])] = &[
    (
        "characters that browsers send as they are in a query are left alone",
        &[
            "http://x.com/?x[y]=1",
            "http://www.example.com/a/c/../b/search?q=foobar^",
            "http://www.example.com/a/c/../b/search?q=foobar`",
            "http://www.example.com/a/c/../b/search?q=foobar|",
        ],
    ),
    (
        "a doubled slash can name something else",
        &[
            "http://foo.com//aa/bb/foo.html",
            "http://foo.com/aa//bb/foo.html",
            "http://foo.com/aa/bb//foo.html",
            "http://foo.com//aa//bb//foo.html",
            "http://foo.com////aa////bb//foo.html",
            "http://foo.com////aa////bb////foo.html",
        ],
    ),
    (
        "a % that begins no escape is sent as browsers send it",
        &[
            "https://www.last.fm/music/Prefuse+73/_/90%+of+My+Mind+Is+With+You",
            "http://www.example.com/a/c/../b/search?q=foobar%",
            "http://www.example.com/p%zz%77%v",
            "http://www.example.com/search?q=foobar%",
            "http://www.example.com/search?q=foobar%2",
        ],
    ),
    (
        "some servers tell `b=` from `b`, and a pair without a name from none",
        &[
            "http://foo.com/index?a=1&b=",
            "http://foo.com/index?b=&a=1",
            "http://foo.com/index?&=1&a=1",
            "http://foo.com/index?=1&b=1&a=1",
        ],
    ),
    (
        "not http or https, or no host: nothing to fetch",
        &[
            "ftp:/",
            "http:////",
            "http:///////",
            "ftp://foo.com/index.html",
            "file:/path/index.html",
            "file:/var/www/html/////./bar/index.html",
            "file:/var/www/html/foo/../bar/index.html",
        ],
    ),
    ("only a seed may lack its scheme", &["foo.com/index.html"]),
];

/// The same for w3lib.
const NOT_AS_W3LIB: &[(&str, &[&str])] = &[
    (
        "pairs are sorted by name only: the order of equal names can matter",
        &["http://www.example.com/do?c=3&b=5&b=2&a=50"],
    ),
    ("some servers tell `c=` from `c`", &["http://www.example.com/do?b=&c&a=2"]),
    (
        "characters that browsers send as they are in a query are left alone",
        &[
            "http://www.example.com/do?1750,4",
            "http://www.example.com/do?q=a space&a=1",
            "http://www.example.com/do?q=a%20space&a=1",
        ],
    ),
    (
        "user info is never part of what is asked for",
        &[
            "http://user:pass@www.example.com:81/do?now=1",
            "http://user:pass@www.example.com/do?a=1#frag",
            "http://user@例え.jp/path",
            "http://user:pass@例え.jp:8080/p",
        ],
    ),
    (
        "a character that the charset lacks is written as the URL standard says",
        &[
            "http://www.example.com/résumé?currency=€",
            "http://www.example.com/résumé?country=Россия",
        ],
    ),
    (
        "relative, not http or https, or no host name: nothing to fetch",
        &[
            "a#frag",
            "a?b=1#frag",
            "?b=1",
            "sftp://UsEr:PaSsWoRd@www.EXAMPLE.com/",
            "http://.éxamplé.com/résumé?q=résumé",
        ],
    ),
];

/// The canonical form with sorted queries, which both projects want and larm makes on request.
fn sorted(text: &str, encoding: Option<&str>) -> Option<String> {
    let rules = UrlRules { sort_query: true, ..UrlRules::default() };
    let encoding = encoding.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()));
    Some(canonicalise(resolve(text, None, encoding).ok()?, &rules).ok()?.to_string())
}

/// Every difference is a decision in the list, and every decision in the list is a difference.
fn assert_decided(differing: &[String], decisions: &[(&str, &[&str])]) {
    let decided: Vec<&str> = decisions.iter().flat_map(|(_, urls)| urls.iter().copied()).collect();
    for url in differing {
        assert!(decided.contains(&url.as_str()), "undecided: {url}");
    }
    for url in decided {
        assert!(differing.iter().any(|differing| differing == url), "no difference: {url}");
    }
}

#[test]
fn differences_from_crawler_commons_are_decisions() {
    let Some(rows) = csv_rows("crawler-commons_normalize.csv") else {
        return;
    };
    let differs = |row: &Vec<String>| sorted(&row[0], None).as_deref() != Some(row[1].as_str());
    let differing: Vec<String> =
        rows.into_iter().filter(differs).map(|row| row[0].clone()).collect();
    assert_decided(&differing, NOT_AS_CRAWLER_COMMONS);
}

#[test]
fn differences_from_w3lib_are_decisions() {
    let Some(cases) = json_cases("w3lib_url.json") else {
        return;
    };
    let mut differing = Vec::new();
    for case in cases.iter().filter(|case| case["fn"] == "canonicalize_url") {
        let options = case["kwargs"].as_object().unwrap();
        // larm keeps no fragments, has one separator and one view on blank values.
        let comparable = options.keys().all(|option| option == "encoding");
        if let (true, Some(input)) = (comparable, case["args"][0].as_str()) {
            let found = sorted(input, case["kwargs"]["encoding"].as_str());
            if found.as_deref() != case["expect"].as_str() {
                differing.push(input.to_owned());
            }
        }
    }
    assert_decided(&differing, NOT_AS_W3LIB);
}

#[test]
fn canonicalising_twice_is_canonicalising_once_for_all_outside_urls() {
    for text in all_texts() {
        for text in [
            text.clone(),
            format!("http://{text}/"),
            format!("http://h/{text}"),
            format!("http://h/?{text}"),
        ] {
            super::tests::assert_idempotent(&text, &UrlRules::default());
        }
    }
}

/// Every string in every file, URL or not.
fn all_texts() -> Vec<String> {
    let mut out = Vec::new();
    for name in ["wpt_urltestdata", "wpt_toascii", "wpt_IdnaTestV2", "wpt_percent-encoding"] {
        json_strings(name, &mut out);
    }
    for name in ["w3lib_url", "w3lib_html", "w3lib_encoding"] {
        json_strings(name, &mut out);
    }
    for name in ["normalize", "resolve", "invalid"] {
        let rows = csv_rows(&format!("crawler-commons_{name}.csv")).unwrap_or_default();
        out.extend(rows.into_iter().flatten());
    }
    out
}

fn json_strings(name: &str, out: &mut Vec<String>) {
    let cases = json_cases(&format!("{name}.json")).unwrap_or_default();
    cases.iter().for_each(|case| collect_strings(case, out));
}

fn collect_strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| collect_strings(value, out)),
        Value::Object(map) => map.values().for_each(|value| collect_strings(value, out)),
        _ => {}
    }
}

#[test]
fn every_case_of_the_url_standard_is_the_same_link_by_the_short_way() {
    let rules = UrlRules::default();
    for case in json_cases("wpt_urltestdata.json").unwrap_or_default() {
        let base = case["base"].as_str().unwrap_or("http://base.example/dir/page?q");
        let base = resolve(base, None, None).unwrap();
        base::tests::assert_short_way_is_right(case["input"].as_str().unwrap(), &base, &rules);
    }
}
