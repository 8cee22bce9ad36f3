//! robots.txt against outside opinions: other programs' cases and answers, and real files.
//!
//! The data is not part of the repository; without it these tests say so and pass. Where larm
//! answers otherwise on purpose, the difference stands in a table here: a change of mind shows.

use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;

use serde_json::Value;

use super::{parse, path_of};
use crate::robots::{Robots, escape};

/// The bytes of one file of the outside data, decompressed if its name ends in `gz`.
fn testdata(name: &str) -> Option<Vec<u8>> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/testdata");
    let folder = std::env::var_os("LARM_TESTDATA").map_or(beside, PathBuf::from);
    let Ok(bytes) = std::fs::read(folder.join("robots").join(name)) else {
        println!("skipped: no testdata");
        return None;
    };
    if !name.ends_with("gz") {
        return Some(bytes);
    }
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut out).unwrap();
    Some(out)
}

fn json_lines(name: &str) -> Option<Vec<Value>> {
    let bytes = testdata(name)?;
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    Some(lines.map(|line| serde_json::from_slice(line).unwrap()).collect())
}

/// A robots.txt written as text, or as `{"hex": "…"}` where it is not UTF-8.
fn robots_bytes(value: &Value) -> Vec<u8> {
    match value.as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => data_encoding::HEXLOWER.decode(value["hex"].as_str().unwrap().as_bytes()).unwrap(),
    }
}

/// One question with its outside answer.
struct Case {
    set: String,
    flagged: bool,
    robots: Vec<u8>,
    agent: String,
    url: String,
    allowed: bool,
}

impl Case {
    fn read(value: &Value, set: &str, flag: &str) -> Self {
        let text = |key: &str| value[key].as_str().unwrap().to_owned();
        Self {
            set: text(set),
            flagged: value[flag].as_bool().unwrap(),
            robots: robots_bytes(&value["robots"]),
            agent: text("agent"),
            url: text("url"),
            allowed: value["allowed"].as_bool().unwrap(),
        }
    }

    fn larm_agrees(&self) -> bool {
        parse(&self.robots).judge(&self.agent, path_of(&self.url)).allowed == self.allowed
    }
}

/// A question that larm answers otherwise, on purpose: set, URL (its first 40 characters), reason.
type Difference = (&'static str, &'static str, &'static str);

const RAW_IN_URL: &str = "RFC 9309 2.2.2: a raw character is its escape, on both sides";
const UNRESERVED: &str = "RFC 9309 2.2.2, last row of the table: %62%61%7A is baz";
const INDEX_HTML: &str = "a folder is not its index.html; the RFC knows no such thing";
const LONG_LINE: &str = "lines are not cut: a rule of 16 KiB is a rule, and costs no more";

#[rustfmt::skip]
const GOOGLE_DIFFERENCES: &[Difference] = &[
    ("ID_Encoding", "http://foo.bar/foo/bar/ツ", RAW_IN_URL),
    ("ID_Encoding", "http://foo.bar/foo/bar/ツ", RAW_IN_URL),
    ("ID_Encoding", "http://foo.bar/foo/bar/baz", UNRESERVED),
    ("GoogleOnly_IndexHTMLisDirectory", "http://foo.com/allowed-slash/", INDEX_HTML),
    ("GoogleOnly_LineTooLong", "http://foo.bar/x/aaaaaaaaaaaaaaaaaaaaaaa", LONG_LINE),
    ("GoogleOnly_LineTooLong", "http://foo.bar/x/bbbbbbbbbbbbbbbbbbbbbbb", LONG_LINE),
];

#[rustfmt::skip]
const COMPLIANCE_DIFFERENCES: &[Difference] = &[
    ("index-page.textproto", "http://foo.com/allowed-slash/", INDEX_HTML),
    ("non-ascii-paths.textproto", "http://foo.bar/foo/bar/ツ", RAW_IN_URL),
    ("non-ascii-paths.textproto", "http://foo.bar/foo/bar/ツ", RAW_IN_URL),
    ("non-ascii-paths.textproto", "http://foo.bar/foo/bar/baz", UNRESERVED),
];

/// Fails unless larm answers `cases` as given, the table's rows aside, and otherwise in all of
/// those.
fn check(cases: &[Case], differences: &[Difference]) {
    let short = |url: &str| url.chars().take(40).collect::<String>();
    let differing = cases.iter().filter(|case| !case.larm_agrees());
    let found: Vec<_> = differing.map(|case| (case.set.clone(), short(&case.url))).collect();
    let known = differences.iter().map(|(set, url, _)| ((*set).to_owned(), (*url).to_owned()));
    assert_eq!(found, known.collect::<Vec<_>>());
}

#[test]
fn googles_cases_are_answered_alike_but_for_the_known_ones() {
    let Some(bytes) = testdata("google_robots_cases.json") else {
        return;
    };
    let all: Value = serde_json::from_slice(&bytes).unwrap();
    let matcher = all["matcher"].as_array().unwrap();
    let cases: Vec<_> =
        matcher.iter().map(|value| Case::read(value, "test", "google_only")).collect();
    let published = cases.iter().filter(|case| case.set == "GoogleOnly_DocumentationChecks");
    assert_eq!((cases.len(), published.count()), (145, 58));
    assert_eq!(cases.iter().filter(|case| !case.flagged).count(), 72);
    check(&cases, GOOGLE_DIFFERENCES);
}

#[test]
fn googles_checks_of_escapes_and_sitemaps_hold() {
    let Some(bytes) = testdata("google_robots_cases.json") else {
        return;
    };
    let all: Value = serde_json::from_slice(&bytes).unwrap();
    let mut seen = 0;
    for row in all["other"].as_array().unwrap() {
        let Some(arg) = row["args"][0].as_str() else {
            continue;
        };
        let found = match row["fn"].as_str().unwrap() {
            "TestEscape" => escape::normal_pattern(arg.as_bytes()).into_owned(),
            "parse:sitemap" => parse(arg.as_bytes()).sitemaps().collect::<String>().into_bytes(),
            _ => continue,
        };
        assert_eq!(String::from_utf8(found).unwrap(), row["expect"].as_str().unwrap());
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn the_compliance_cases_are_answered_alike_but_for_the_known_ones() {
    let Some(bytes) = testdata("rep_compliance_cases.json") else {
        return;
    };
    let all: Value = serde_json::from_slice(&bytes).unwrap();
    let rows = all.as_array().unwrap().iter();
    let cases: Vec<_> = rows.map(|value| Case::read(value, "file", "google_specific")).collect();
    assert_eq!(cases.len(), 146);
    assert_eq!(cases.iter().filter(|case| !case.flagged).count(), 124);
    check(&cases, COMPLIANCE_DIFFERENCES);
}

const ITSELF: &str = "RFC 9309 2.2.2: /robots.txt is implicitly allowed";
const NOT_IN_URLS: &str =
    "a character that no URL holds raw is its escape: the rule could match nothing";

/// Where two outside programs differ, larm sides with Google's but here.
#[rustfmt::skip]
const REAL_DIFFERENCES: &[Difference] = &[
    ("r0087", "/blog/%22http.a/b/", NOT_IN_URLS),
    ("r0087", "/blog/%22http.x", NOT_IN_URLS),
    ("r0237", "/%5Cd%7B8%7D//a/b/c", NOT_IN_URLS),
    ("r0286", "/robots.txt", ITSELF),
    ("r0286", "/robots.txt", ITSELF),
    ("r3484", "/robots.txt", ITSELF),
    ("r3484", "/robots.txt", ITSELF),
];

#[test]
fn questions_on_real_files_are_answered_as_two_programs_agree() {
    let Some(files) = json_lines("real_robots.jsonl.gz") else {
        return;
    };
    let Some(questions) = json_lines("real_robots_questions.jsonl.gz") else {
        return;
    };
    let text = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
    let parsed =
        files.iter().map(|file| (text(file, "id"), parse(text(file, "robots").as_bytes())));
    let parsed: HashMap<String, Robots> = parsed.collect();
    let mut agreed = 0;
    let mut differing = Vec::new();
    for question in &questions {
        let (id, url) = (text(question, "robots"), text(question, "url"));
        let verdict = parsed[&id].judge(&text(question, "agent"), path_of(&url));
        let same = verdict.allowed == question["google"].as_bool().unwrap();
        if question["agree"].as_bool().unwrap() {
            assert!(same, "{question}: {verdict:?}");
            agreed += 1;
        } else if !same {
            differing.push((id, path_of(&url).to_owned()));
        }
    }
    let known = REAL_DIFFERENCES.iter().map(|(id, path, _)| ((*id).to_owned(), (*path).to_owned()));
    assert_eq!(differing, known.collect::<Vec<_>>());
    assert_eq!((questions.len(), agreed), (42_504, 41_994));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a slip into quadratic time is what this looks for")]
fn real_files_are_parsed_quickly_and_into_little() {
    let Some(files) = json_lines("real_robots.jsonl.gz") else {
        return;
    };
    let texts: Vec<_> = files.iter().map(|file| file["robots"].as_str().unwrap()).collect();
    let start = std::time::Instant::now();
    let parsed: Vec<_> = texts.iter().map(|text| parse(text.as_bytes())).collect();
    // An unoptimised build takes about 0.3 s.
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    assert_eq!(parsed.len(), 3_542);
    let file_bytes: usize = texts.iter().map(|text| text.len()).sum();
    let heap_bytes: usize = parsed.iter().map(Robots::heap_bytes).sum();
    assert!(heap_bytes < 2 * file_bytes, "{file_bytes} became {heap_bytes}");
}

/// Names and contents of the files in a tar archive with short names.
fn tar_files(mut bytes: &[u8]) -> Vec<(String, &[u8])> {
    let mut files = Vec::new();
    while let Some((header, rest)) =
        bytes.split_at_checked(512).filter(|(header, _)| header[0] != 0)
    {
        let field = |from: usize, len: usize| {
            let text = header[from..from + len].split(|&byte| byte == 0 || byte == b' ').next();
            String::from_utf8(text.unwrap().to_vec()).unwrap()
        };
        let size = usize::from_str_radix(&field(124, 12), 8).unwrap();
        if header[156] == b'0' {
            files.push((field(0, 100).trim_start_matches("./").to_owned(), &rest[..size]));
        }
        bytes = &rest[size.next_multiple_of(512)..];
    }
    files
}

/// Answers written by hand: RFC 9309 sections 2.2.1, 5.1 and 5.2, and the comments in the files.
#[rustfmt::skip]
const CRAWLER_COMMONS: &[(&str, &str, &str, bool)] = &[
    // Section 5.1: "foobot" may fetch two pages, everyone else all but …
    ("rfc9309-example-simple-robots.txt", "anybot", "/example/page.html", false),
    ("rfc9309-example-simple-robots.txt", "anybot", "/images/a.gif", false),
    ("rfc9309-example-simple-robots.txt", "anybot", "/images/a.gif?x", true),
    ("rfc9309-example-simple-robots.txt", "anybot", "/publications/a.html", true),
    ("rfc9309-example-simple-robots.txt", "anybot", "/publications/a.gif", true),
    ("rfc9309-example-simple-robots.txt", "anybot", "/other", true),
    ("rfc9309-example-simple-robots.txt", "foobot", "/", false),
    ("rfc9309-example-simple-robots.txt", "foobot", "/example/page.html", true),
    ("rfc9309-example-simple-robots.txt", "foobot", "/example/allowed.gif", true),
    ("rfc9309-example-simple-robots.txt", "foobot", "/example/other.gif", false),
    ("rfc9309-example-simple-robots.txt", "barbot", "/example/page.html", false),
    ("rfc9309-example-simple-robots.txt", "bazbot", "/example/page.html", false),
    ("rfc9309-example-simple-robots.txt", "bazbot", "/example/a.gif", true),
    ("rfc9309-example-simple-robots.txt", "quxbot", "/example/page.html", true),
    // Section 5.2.
    ("rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/", true),
    ("rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/disallowed.gif", false),
    // Section 2.2.1, figure 2.
    ("rfc9309-example-rule-group-merging.txt", "examplebot", "/foo", false),
    ("rfc9309-example-rule-group-merging.txt", "examplebot", "/bar", false),
    ("rfc9309-example-rule-group-merging.txt", "examplebot", "/baz", false),
    ("rfc9309-example-rule-group-merging.txt", "bazbot", "/foo", true),
    ("rfc9309-example-rule-group-merging.txt", "bazbot", "/baz", false),
    ("rfc9309-example-rule-group-merging.txt", "anybot", "/bar", false),
    ("rfc9309-example-rule-group-merging.txt", "anybot", "/baz", true),
    // Other records end no group.
    ("crawl-delay-group-merging.txt", "mybot", "/private/", false),
    ("crawl-delay-group-merging.txt", "yourbot", "/private/", false),
    ("crawl-delay-group-merging.txt", "yourbot", "/login/", false),
    ("crawl-delay-group-merging.txt", "anybot", "/private/", true),
    ("extensions-group-merging.txt", "mybot", "/private/", false),
    ("extensions-group-merging.txt", "anybot", "/private/", false),
    ("extensions-group-merging.txt", "anybot", "/llms.txt", true),
    // Section 2.2.2: the longest match, allow before disallow.
    ("merge-rules.txt", "wget", "/foo/bar", true),
    ("merge-rules.txt", "wget", "/tmp/bar", false),
    ("merge-rules.txt", "anybot", "/foo/bar", false),
    ("precedence-of-rules.txt", "testy", "/foo/bar", true),
    ("precedence-of-rules.txt", "testy", "/foo/baz", false),
    ("precedence-of-rules.txt", "wget", "/index.html", true),
    ("precedence-of-rules.txt", "wget", "/other", false),
    // Of misspellings only those in real files; a guess more could open what was closed.
    ("directive-typos-robots.txt", "bot1", "/desallow/", true),
    ("directive-typos-robots.txt", "bot2", "/useragent/", false),
    ("directive-typos-robots.txt", "bot4", "/useragent-no-colon/", false),
    ("format-errors-robots.txt", "bot1", "/whitespace-before-colon/", false),
    ("format-errors-robots.txt", "bot1", "/no-colon/", false),
    ("format-errors-robots.txt", "bot2", "/no-colon-useragent/", false),
    ("format-errors-robots.txt", "bot3", "/whitespace-before-colon", true),
    ("format-errors-robots.txt", "bot3", "/other", false),
    ("malformed-path.txt", "anybot", "/wiki/Wikipedia_talk%3Mediation_Committee/", false),
    ("many-user-agents.txt", "foobot", "/home.php", false),
    ("many-user-agents.txt", "wget", "/bot-trap/", false),
    ("wildcards.txt", "anybot", "/gp/registry/wishlist/x/reserve", false),
    ("wildcards.txt", "anybot", "/wishlist/universal-x", true),
    ("many-user-agents.txt", "anybot", "/lang/de/icons/x", false),
    ("robots-with-utf8-bom.txt", "anybot", "/profile", false),
    // The RFC has UTF-8 and nothing else.
    ("robots-with-utf16le-bom.txt", "anybot", "/profile", true),
    ("robots-with-utf16be-bom.txt", "anybot", "/profile", true),
];

/// Agent and crawl-delay in milliseconds.
#[rustfmt::skip]
const CRAWLER_COMMONS_DELAYS: &[(&str, &str, Option<u64>)] = &[
    ("crawl-delay-group-merging.txt", "mybot", Some(10_000)),
    ("crawl-delay-group-merging.txt", "yourbot", None),
    ("crawl-delay-group-merging.txt", "anybot", Some(30_000)),
    ("astore.amazon.com-robots.txt", "anybot", Some(5_000)),
    ("dos-line-endings.txt", "anybot", Some(1_000)),
    ("twitter.com-robots.txt", "Slurp", Some(1_000)),
    ("twitter.com-robots.txt", "msnbot", Some(10_000)),
    ("twitter.com-robots.txt", "Googlebot", None),
];

#[test]
fn crawler_commons_files_mean_what_their_comments_say() {
    let Some(archive) = testdata("crawler-commons-robots.tar.gz") else {
        return;
    };
    let files = tar_files(&archive).into_iter().map(|(name, bytes)| (name, parse(bytes)));
    let files: HashMap<String, Robots> = files.collect();
    assert_eq!(files.len(), 24);
    for &(file, agent, path, allowed) in CRAWLER_COMMONS {
        assert_eq!(files[file].judge(agent, path).allowed, allowed, "{file}: {agent} on {path}");
    }
    for &(file, agent, delay) in CRAWLER_COMMONS_DELAYS {
        assert_eq!(files[file].crawl_delay_ms(agent), delay, "{file}: {agent}");
    }
    let sitemaps = |file: &str| files[file].sitemaps().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(sitemaps("relative-sitemap-robots.txt"), ["/sitemap.xml"]);
    assert_eq!(
        sitemaps("sitemap-robots.txt"),
        ["http://domain.com/sitemap.xml", "http://domain.com/dir/MixedCased-sitemap.xml"]
    );
}
