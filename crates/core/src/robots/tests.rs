//! What robots.txt means to larm: tables by section of RFC 9309, and laws that hold for any bytes.

use proptest::prelude::*;

use super::*;

mod outside;

fn parse(bytes: &[u8]) -> Robots {
    Robots::parse(bytes, &Limits::default())
}

/// Path and query of a URL written out in full.
fn path_of(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or_default();
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url[host..].find(['/', '?']).map_or(url.len(), |at| host + at);
    &url[path..]
}

fn allows(robots: &str, agent: &str, path: &str) -> bool {
    parse(robots.as_bytes()).judge(agent, path).allowed
}

#[test]
fn an_agent_obeys_its_own_groups_or_else_those_of_everybody() {
    #[rustfmt::skip]
    let rows: &[(&str, &str, &str, bool)] = &[
        ("no file, no rules", "", "larm", true),
        ("a group for all", "User-agent: *\nDisallow: /", "larm", false),
        ("own group alone",
         "User-agent: *\nDisallow: /\nUser-agent: larm\nDisallow: /b", "larm", true),
        ("own group without rules", "User-agent: *\nDisallow: /\nUser-agent: larm\n", "larm", true),
        ("any case", "USER-AGENT: LARM\nDISALLOW: /", "Larm", false),
        ("spread over the file",
         "User-agent: larm\nAllow: /x\nUser-agent: b\nAllow: /\nUser-agent: larm\nDisallow: /",
         "larm", false),
        ("all for everybody count too",
         "User-agent: *\nAllow: /x\nUser-agent: b\nAllow: /\nUser-agent: *\nDisallow: /",
         "larm", false),
        ("two agents, one group", "User-agent: b\nUser-agent: larm\nDisallow: /", "larm", false),
        ("rules before any group", "Disallow: /\nUser-agent: larm\nAllow: /x", "larm", true),
        ("other lines end no list (2.2.4)",
         "User-agent: larm\nCrawl-delay: 1\nSitemap: /s\nFoo: bar\n\nUser-agent: b\nDisallow: /",
         "larm", false),
        ("an empty rule does",
         "User-agent: larm\nDisallow:\nUser-agent: b\nDisallow: /", "larm", true),
        ("version behind the token", "User-agent: larm/1.0 (crawler)\nDisallow: /", "larm", false),
        ("version behind our own", "User-agent: larm\nDisallow: /", "larm/1.0", false),
        ("not a beginning", "User-agent: lar\nDisallow: /", "larm", true),
        ("not an end", "User-agent: larm-news\nDisallow: /", "larm", true),
        ("nor one with digits", "User-agent: larm2\nDisallow: /", "larm", true),
        ("star with something behind", "User-agent: * everybody\nDisallow: /", "larm", false),
        ("star within a name", "User-agent: *bot\nDisallow: /", "larm", true),
        ("group for nobody", "User-agent:\nDisallow: /", "larm", true),
        ("no agent", "User-agent: larm\nDisallow: /", "", true),
    ];
    for &(name, robots, agent, allowed) in rows {
        assert_eq!(allows(robots, agent, "/a"), allowed, "{name}");
    }
}

#[test]
fn the_longest_match_decides_and_allow_wins_ties() {
    #[rustfmt::skip]
    let rows: &[(&str, &str, &str, bool)] = &[
        ("longest", "Allow: /a/b\nDisallow: /a", "/a/b/c", true),
        ("longest, other order", "Disallow: /a/b\nAllow: /a", "/a/b/c", false),
        ("tie", "Disallow: /a\nAllow: /a", "/a", true),
        ("a wildcard counts as written", "Allow: /page\nDisallow: /*.html", "/page.html", false),
        ("the dollar counts", "Allow: /$\nDisallow: /", "/", true),
        ("the query counts", "Disallow: /*?", "/a?b", false),
        ("empty path", "Disallow: /", "", false),
        ("no slash matches nothing", "Disallow: a", "/a", true),
        ("a whole URL matches nothing", "Disallow: http://h/a", "/a", true),
        ("empty rules", "Disallow:\nAllow:", "/a", true),
        ("comment behind", "Disallow: /a#/b", "/a", false),
        ("comment instead", "Disallow: #/a", "/a", true),
        ("escapes on both sides", "Disallow: /%7ejoe/ツ", "/~joe/%e3%83%84", false),
        ("verbatim star", "Disallow: /a%2Ab", "/a*b", false),
        ("verbatim star is no wildcard", "Disallow: /a%2Ab", "/axb", true),
        ("verbatim dollar", "Disallow: /a%24", "/a$b", false),
        ("a blank in a rule", "Disallow: /a b", "/a%20b", false),
        ("bare percent", "Disallow: /*%", "/%C3%A9", false),
        ("no colon", "Disallow /a", "/a", false),
        ("no colon, too many words", "Disallow /a please", "/a", true),
        ("blanks around the colon", "  Disallow \t:\t /a \t", "/a", false),
        ("robots.txt itself", "Disallow: /", "/robots.txt", true),
        ("robots.txt and more", "Disallow: /", "/robots.txt?a", false),
    ];
    for &(name, rules, path, allowed) in rows {
        let robots = format!("User-agent: larm\n{rules}\n");
        assert_eq!(allows(&robots, "larm", path), allowed, "{name}");
    }
}

#[test]
fn a_verdict_names_the_line_that_decided() {
    let robots = "\u{feff}User-agent: *\r\n\r\n  disallow :/private  # ours\rAllow: /ex%70ort$\n";
    let robots = parse(robots.as_bytes());
    let named = |path| {
        let verdict = robots.judge("larm", path);
        (verdict.allowed, verdict.rule.map(Cow::into_owned), verdict.line)
    };
    assert_eq!(named("/private/a"), (false, Some("disallow :/private".to_owned()), Some(3)));
    assert_eq!(named("/export"), (true, Some("Allow: /ex%70ort$".to_owned()), Some(4)));
    assert_eq!(named("/other"), (true, None, None));
    let binary = parse(b"User-agent: *\nDisallow: /\xFF");
    assert_eq!(binary.judge("larm", "/%FFx").rule.unwrap(), "Disallow: /\u{fffd}");
}

#[test]
fn a_site_without_rules_allows_and_one_that_cannot_be_asked_does_not() {
    assert_eq!(Robots::allow_all().judge("larm", "/a"), RobotsVerdict::ALLOWED);
    let closed = Robots::disallow_all("robots.txt: status 503");
    let verdict = closed.judge("larm", "/a");
    assert_eq!((verdict.allowed, verdict.line), (false, None));
    assert_eq!(verdict.rule.unwrap(), "robots.txt: status 503");
    assert!(closed.judge("larm", "/robots.txt").allowed);
}

#[test]
fn crawl_delay_is_a_number_of_seconds_for_the_agents_above_it() {
    #[rustfmt::skip]
    let rows: &[(&str, Option<u64>)] = &[
        ("User-agent: larm\nCrawl-delay: 10", Some(10_000)),
        ("User-agent: larm\nCrawl-delay: 0.25", Some(250)),
        ("User-agent: larm\nCrawl-delay: .5", Some(500)),
        ("User-agent: larm\nCrawl-delay: 0", Some(0)),
        ("User-agent: larm\ncrawl-delay:1 # s", Some(1_000)),
        ("User-agent: larm\nCrawl-delay: -1", None),
        ("User-agent: larm\nCrawl-delay: 5 s", None),
        ("User-agent: larm\nCrawl-delay: 1e3", None),
        ("User-agent: larm\nCrawl-delay: inf", None),
        ("User-agent: larm\nCrawl-delay: NaN", None),
        ("User-agent: larm\nCrawl-delay: 1.2.3", None),
        ("User-agent: larm\nCrawl-delay: .", None),
        ("User-agent: larm\nCrawl-delay:", None),
        ("User-agent: larm\nCrawl-delay: 99999999999999999999999999", Some(u64::MAX)),
        ("User-agent: larm\nDisallow: /a\nCrawl-delay: 2\nCrawl-delay: 1", Some(2_000)),
        ("User-agent: larm\nCrawl-delay: 2\nUser-agent: b\nDisallow: /", Some(2_000)),
        ("User-agent: b\nCrawl-delay: 2\nUser-agent: larm\nDisallow: /", None),
        ("User-agent: larm\nUser-agent: b\nCrawl-delay: 2", Some(2_000)),
        ("User-agent: *\nCrawl-delay: 2", Some(2_000)),
        ("User-agent: *\nCrawl-delay: 2\nDisallow:\nUser-agent: larm\nDisallow:", None),
        ("Crawl-delay: 2\nUser-agent: larm", None),
    ];
    for (robots, expected) in rows {
        assert_eq!(parse(robots.as_bytes()).crawl_delay_ms("larm"), *expected, "{robots}");
    }
}

#[test]
fn sitemaps_stand_anywhere_and_are_given_as_written() {
    let robots = parse(b"Sitemap: /a.xml\nUser-agent: b\nSITEMAP:http://h:8/B.xml\nSitemap:\n");
    assert_eq!(robots.sitemaps().collect::<Vec<_>>(), ["/a.xml", "http://h:8/B.xml"]);
    assert_eq!(Robots::allow_all().sitemaps().count(), 0);
}

#[test]
fn bytes_beyond_the_limit_do_not_count_and_no_rule_is_cut() {
    let limits = |bytes| Limits { robots_bytes_max: bytes, ..Limits::default() };
    let text = b"User-agent: *\nDisallow: /a\nDisallow: /b";
    let judge = |bytes, path| Robots::parse(text, &limits(bytes)).judge("larm", path).allowed;
    assert!(!judge(39, "/b"), "all of it");
    assert!(judge(38, "/b") && !judge(38, "/a"), "`Disallow: /` is not what the site wrote");
    assert!(!judge(26, "/a"), "the line end may be the first byte beyond");
    assert!(judge(25, "/a"));
    assert!(judge(1, "/a"));
}

#[test]
fn what_is_no_robots_txt_has_no_rules() {
    #[rustfmt::skip]
    let rows: &[&[u8]] = &[
        b"<!DOCTYPE html>\n<html><body style='color: red'>Disallow everything: /</body></html>",
        b"\0\0\0\0",
        b"User-agent: *\0\nDis\0allow: /\n",
        b"\xFF\xFEU\0s\0e\0r\0-\0a\0g\0e\0n\0t\0:\0*\0\n\0",
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
        b":\n::\n #\n\t:\t\n",
    ];
    for bytes in rows {
        assert_eq!(parse(bytes).judge("larm", "/"), RobotsVerdict::ALLOWED);
    }
}

/// ROBOTS-1: each of these fills the limit and would take minutes if anything were quadratic.
#[test]
fn hostile_files_are_read_and_answered_in_bounded_time() {
    let fill = |line: &str| "User-agent: larm\n".to_owned() + &line.repeat(500 * 1024 / line.len());
    let path = "/".to_owned() + &"a".repeat(2_000);
    let files = [
        fill("User-agent: larm\n"),
        fill("User-agent: larm\nAllow: /b\n"),
        fill("User-agent: larm\nCrawl-delay: 1\n"),
        fill("Crawl-delay: 1\n"),
        fill("Allow:*ab\n"),
        fill("Sitemap:a\n"),
        format!("User-agent: larm\nDisallow: {}b", "*a".repeat(250_000)),
        format!("User-agent: larm\nDisallow: /{}", "*".repeat(500_000)),
    ];
    for file in &files[..7] {
        let robots = parse(file.as_bytes());
        assert!(robots.judge("larm", &path).allowed);
        assert!(robots.heap_bytes() < 6 * file.len(), "{}", robots.heap_bytes());
    }
    assert!(!allows(&files[7], "larm", &path));
}

/// Pieces that make a file reach into every corner of the parser.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let words = "User-agent:|user-agent larm|*|larm|other|Allow: |Disallow: |disallow|/|/a|a|%|\
        %2A|%61|$|*a|é|:|#| |\t|\r|\n|\r\n|\n\n|\0|\u{feff}|Crawl-delay: |1.5|-|Sitemap: |\\|?";
    let words: Vec<Vec<u8>> = words.split('|').map(|word| word.as_bytes().to_vec()).collect();
    let piece = prop_oneof![
        8 => proptest::sample::select(words),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Groups, each with at least one rule, over so few letters that rules match.
fn groups() -> impl Strategy<Value = String> {
    let agent = proptest::sample::select(vec!["larm", "LARM", "*", "b", "larm/2"]);
    let rule = ("(Allow|Disallow)", "(/[ab*%$é ~]{0,6}\\$?)").prop_map(|(kind, path)| (kind, path));
    let group = (proptest::collection::vec(agent, 1..3), proptest::collection::vec(rule, 1..5));
    proptest::collection::vec(group, 0..4).prop_map(|groups| {
        let mut text = String::new();
        for (agents, rules) in groups {
            agents.iter().for_each(|agent| text += &format!("User-agent: {agent}\n"));
            rules.iter().for_each(|(kind, path)| text += &format!("{kind}: {path}\n"));
        }
        text
    })
}

fn path() -> impl Strategy<Value = String> {
    "/([ab*$é~?]|%2A|%61|%7e|%c3%a9|%){0,8}"
}

/// Escapes unreserved characters that need no escape, where `which` says so.
fn with_needless_escapes(path: &str, which: &[bool]) -> String {
    let mut out = String::new();
    let mut which = which.iter().cycle();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let is_escape = first == '%'
            && rest.get(1..3).is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let (piece, behind) = rest.split_at(if is_escape { 3 } else { first.len_utf8() });
        let needless = first.is_ascii_alphanumeric() || "-._~".contains(first);
        match which.next() {
            Some(true) if needless => out += &format!("%{:02x}", u32::from(first)),
            _ => out += piece,
        }
        rest = behind;
    }
    out
}

/// The matcher as one would write it without a thought for time.
fn matches_slowly(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|at| matches_slowly(rest, &path[at..])),
        [first, rest @ ..] => path.first() == Some(first) && matches_slowly(rest, &path[1..]),
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in soup(), path in ".*", agent in "[a-z*/]{0,5}|larm") {
        let robots = parse(&bytes);
        let verdict = robots.judge(&agent, &path);
        prop_assert!(verdict.allowed || verdict.rule.is_some());
        prop_assert_eq!(verdict.rule.is_some(), verdict.line.is_some());
        prop_assert!(robots.judge(&agent, "/robots.txt").allowed);
        prop_assert!(robots.sitemaps().all(|sitemap| !sitemap.contains(['\n', '\r'])));
        robots.crawl_delay_ms(&agent);
    }

    #[test]
    fn a_group_for_others_changes_nothing(
        file in groups(),
        path in path(),
        rules in "((Allow|Disallow): /[ab*]{0,3}\n){1,3}",
    ) {
        let other = format!("User-agent: other\nCrawl-delay: 9\n{rules}");
        let plain = parse(file.as_bytes());
        for file in [format!("{file}{other}"), format!("{other}{file}")] {
            let with_other = parse(file.as_bytes());
            let (before, after) = (plain.judge("larm", &path), with_other.judge("larm", &path));
            prop_assert_eq!((before.allowed, before.rule), (after.allowed, after.rule));
            prop_assert_eq!(plain.crawl_delay_ms("larm"), with_other.crawl_delay_ms("larm"));
        }
    }

    #[test]
    fn needless_escapes_change_nothing(
        file in groups(),
        path in path(),
        which in proptest::collection::vec(any::<bool>(), 1..9),
    ) {
        let robots = parse(file.as_bytes());
        let escaped = with_needless_escapes(&path, &which);
        prop_assert_eq!(robots.judge("larm", &path), robots.judge("larm", &escaped), "{}", escaped);
    }

    #[test]
    fn the_order_of_rules_changes_nothing(
        rules in proptest::collection::vec("(Allow|Disallow): /[ab*]{0,4}\n", 1..6),
        path in "/[ab]{0,6}",
    ) {
        let judge = |rules: &[String]| {
            allows(&format!("User-agent: larm\n{}", rules.concat()), "larm", &path)
        };
        let backwards: Vec<_> = rules.iter().rev().cloned().collect();
        prop_assert_eq!(judge(&rules), judge(&backwards));
    }

    #[test]
    fn the_fast_matcher_agrees_with_the_slow_one(
        pattern in "/[ab*]{0,8}\\$?",
        path in "/[ab]{0,10}",
    ) {
        let (bare, anchored) = match pattern.strip_suffix('$') {
            Some(bare) => (bare, true),
            None => (pattern.as_str(), false),
        };
        let fast = matcher::matches(bare.as_bytes(), anchored, path.as_bytes());
        prop_assert_eq!(fast, matches_slowly(pattern.as_bytes(), path.as_bytes()));
    }
}
