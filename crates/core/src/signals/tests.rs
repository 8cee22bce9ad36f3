//! Statements and what they come to.

use super::*;
use crate::robots::Robots;

fn reader(limits: &Limits) -> Reader<'_> {
    Reader { agent: "larm", content_type: "text/html", limits }
}

/// What is said of each use, as one text.
fn sum(signals: &Signals) -> String {
    let said = Use::ALL.into_iter().filter_map(|of| Some((of, signals.preference(of)?)));
    said.map(|(of, preference)| format!("{of}={}", preference.word())).collect::<Vec<_>>().join(" ")
}

fn of_field(name: &str, value: &str) -> String {
    let (mut signals, limits) = (Signals::default(), Limits::default());
    signals.read_field(name, value.as_bytes(), &reader(&limits));
    sum(&signals)
}

#[test]
fn header_fields_speak_in_their_own_vocabulary() {
    #[rustfmt::skip]
    let rows = [
        // draft-ietf-aipref-vocab, sections 6 to 6.3, and what breaks them.
        ("content-usage", "train-ai=n", "ai-train=reserved"),
        ("content-usage", "train-ai=y, search=n", "search=reserved ai-train=allowed"),
        ("content-usage", "ai-use=n;why=\"x, y\", search=y", "search=allowed ai-input=reserved"),
        ("content-usage", "train-ai=y, train-ai, search=n, search=\"n\"", ""),
        ("content-usage", "train-ai;allow=n, train-ai=y", "ai-train=allowed"),
        ("content-usage", "train-ai;has;parameters=\"?\";", ""),
        ("content-usage", "train-ai=y, train-ai=n", "ai-train=reserved"),
        ("content-usage", "Train-AI=n", ""),
        ("content-usage", "train-ai=N", ""),
        ("content-usage", "train-ai=n,", ""),
        ("content-usage", "train-ai=n search=n", ""),
        ("content-usage", "x=(1 2.5 \"a\");q, y=:YQ==:, z=?1, t=@12, d=%\"a%20\", train-ai=n", "ai-train=reserved"),
        ("content-usage", "unknown=n", ""),
        ("content-usage", "", ""),
        ("content-signal", "search=yes, ai-input=no, ai-train=no", "search=allowed ai-input=reserved ai-train=reserved"),
        ("content-signal", "SEARCH = Yes,ai-train=NO,,=,use=full", "search=allowed ai-train=reserved"),
        ("content-signal", "ai-train=no, ai-train=yes", "ai-train=reserved"),
        ("content-signal", "ai-train=maybe", ""),
        ("tdm-reservation", " 1 ", "tdm=reserved"),
        ("tdm-reservation", "0", "tdm=allowed"),
        ("tdm-reservation", "true", ""),
        ("tdm-policy", "https://h/policy.json", ""),
        ("x-robots-tag", "noai, noimageai", "ai-input=reserved ai-train=reserved"),
        ("x-robots-tag", "otherbot: noai", ""),
        ("x-robots-tag", "noimageai", ""),
        ("content-type", "train-ai=n", ""),
    ];
    for (name, value, expected) in rows {
        assert_eq!(of_field(name, value), expected, "{name}: {value}");
    }
}

#[test]
fn a_word_about_images_holds_for_images() {
    let (mut signals, limits) = (Signals::default(), Limits::default());
    let image = Reader { content_type: "image/png", ..reader(&limits) };
    signals.read_field("x-robots-tag", b"noimageai", &image);
    assert_eq!(sum(&signals), "ai-input=reserved ai-train=reserved");
}

#[test]
fn no_is_heard_before_yes_wherever_it_stands() {
    let (mut signals, limits) = (Signals::default(), Limits::default());
    signals.read_field("content-usage", b"train-ai=n, search=y", &reader(&limits));
    signals.read_field("content-signal", b"ai-train=yes, search=yes", &reader(&limits));
    assert_eq!(sum(&signals), "search=allowed ai-train=reserved");
    let (of, words) = signals.reserved([Use::Search, Use::AiTrain].into_iter().collect()).unwrap();
    assert_eq!(
        (of, words.as_str()),
        (Use::AiTrain, "content-usage: train-ai=n, search=y (header)")
    );
    assert_eq!(signals.reserved([Use::Search].into_iter().collect()), None);
    assert_eq!(signals.reserved(UseSet::default()), None);
}

#[test]
fn of_text_mining_the_closest_statement_counts() {
    let limits = Limits::default();
    let file = TdmRep::parse(br#"[{"location": "/", "tdm-reservation": 1}]"#, &limits);
    let mut signals = Signals::default();
    signals.read_rule(file.rule_for("/a").unwrap(), &limits);
    assert_eq!(sum(&signals), "tdm=reserved");
    signals.read_field("tdm-reservation", b"0", &reader(&limits));
    assert_eq!(sum(&signals), "tdm=allowed");
    signals.read_meta("tdm-reservation", "1", &reader(&limits));
    assert_eq!(sum(&signals), "tdm=reserved");
    signals.read_meta("tdm-reservation", "0", &reader(&limits));
    assert_eq!(sum(&signals), "tdm=reserved", "two of the same kind: the stricter one");
}

#[test]
fn facts_name_their_source_and_the_sum() {
    let (mut signals, limits) = (Signals::default(), Limits::default());
    signals.read_field("content-usage", b"train-ai=n", &reader(&limits));
    signals.read_meta("robots", "noai", &reader(&limits));
    let facts: Vec<_> = signals.into_facts().map(|f| format!("{}: {}", f.name, f.value)).collect();
    assert_eq!(
        facts,
        [
            "content-usage: train-ai=n (header)",
            "robots: noai (meta)",
            "usage: ai-input=reserved, ai-train=reserved",
        ]
    );
}

#[test]
fn what_an_owner_sends_is_kept_within_the_limits() {
    let limits = Limits { signals_max: 2, signal_bytes_max: 12, ..Limits::default() };
    let mut signals = Signals::default();
    for value in ["train-ai=y", "train-ai=y, ai-use=n", "search=n"] {
        signals.read_field("content-usage", value.as_bytes(), &reader(&limits));
    }
    assert_eq!(sum(&signals), "search=reserved ai-train=allowed", "too long is not read");
    let (_, words) = signals.reserved([Use::Search].into_iter().collect()).unwrap();
    assert_eq!(words, "one of its many statements");
    let facts: Vec<_> = signals.into_facts().map(|fact| fact.value).collect();
    assert_eq!(facts[1].as_ref(), "train-ai=y, (header)");
    assert_eq!(facts.len(), 3);
}

/// The words that apply to a path, by line.
fn of_robots(file: &str, agent: &str, path: &str) -> Vec<String> {
    let robots = Robots::parse(file.as_bytes(), &Limits::default());
    let lines = robots.signals(agent, path);
    lines.iter().map(|line| format!("{} {}", line.line, line.words)).collect()
}

#[test]
fn robots_txt_speaks_for_paths_and_agents() {
    // The example of draft-ietf-aipref-attach, section 3.4.
    let file = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: / train-ai=n\n\
                Content-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\n\
                Content-Usage: / train-ai=y\n";
    assert_eq!(of_robots(file, "larm", "/test"), ["4 train-ai=n"]);
    assert_eq!(of_robots(file, "larm", "/ai-ok/test"), ["5 train-ai=y"]);
    assert_eq!(of_robots(file, "ExampleBot", "/test"), ["9 train-ai=y"]);
    let signals = "User-agent: *\nContent-Signal: search=yes,ai-train=no # why not\nAllow: /\n\
                   Content-signal: /open/*.html$ ai-train=yes\nContent-Signal:\n";
    assert_eq!(of_robots(signals, "larm", "/a"), ["2 search=yes,ai-train=no"]);
    assert_eq!(of_robots(signals, "larm", "/open/a.html"), ["4 ai-train=yes"]);
    assert_eq!(of_robots(signals, "larm", "/open/a.html?b"), ["2 search=yes,ai-train=no"]);
    let twice = "user-agent: a\nuser-agent: larm\nContent-Usage: /x search=n\ncontent-usage: /x search=y\n\
                 content-usage: /x\n";
    assert_eq!(of_robots(twice, "larm", "/x"), ["3 search=n", "4 search=y", "5 "]);
    assert_eq!(of_robots("Content-Usage: / search=n\n", "larm", "/"), [""; 0], "for nobody");
}

#[test]
fn lines_about_use_change_nothing_about_access() {
    let with = "user-agent: larm\ncontent-usage: / train-ai=n\nuser-agent: other\ndisallow: /\n";
    let without = "user-agent: larm\nuser-agent: other\ndisallow: /\n";
    for file in [with, without] {
        let robots = Robots::parse(file.as_bytes(), &Limits::default());
        assert!(!robots.judge("larm", "/a").allowed, "{file}");
    }
}

#[test]
fn a_file_of_reservations_is_read_in_its_order() {
    // The example of the protocol, section 6.1.2, with mistakes that are met.
    let file = br#"[
        {"location": "/directory-a/", "tdm-reservation": 1},
        {"location": "/directory-b/html/", "tdm-reservation": "1", "tdm-policy": "https://h/p.json"},
        {"location": "/directory-b/images/*.jpg$", "tdm-reservation": 0},
        {"location": "/x"}, {"tdm-reservation": 1}, 7, {"location": "/y", "tdm-reservation": 2}
    ]"#;
    let read = TdmRep::parse(file, &Limits::default());
    let reserved = |path: &str| read.rule_for(path).map(|rule| rule.reserved);
    assert_eq!(reserved("/directory-a/b"), Some(true));
    assert_eq!(
        read.rule_for("/directory-b/html/x").unwrap().policy.as_deref(),
        Some("https://h/p.json")
    );
    assert_eq!(reserved("/directory-b/images/x.jpg"), Some(false));
    assert_eq!(reserved("/directory-b/images/x.jpg?y"), None);
    assert_eq!((reserved("/x"), reserved("/y"), reserved("/")), (None, None, None));
    assert!(read.heap_bytes() > 100);
}

#[test]
fn what_is_no_file_of_reservations_reserves_nothing() {
    let limits = Limits { tdmrep_bytes_max: 64, tdmrep_rules_max: 1, ..Limits::default() };
    for file in ["", "<html>", "[", "null", "[[[[", "{}", "[{}]", "\"1\""] {
        assert!(TdmRep::parse(file.as_bytes(), &limits).is_empty(), "{file}");
    }
    let one = br#"{"location": "/", "tdm-reservation": 1}"#;
    assert!(!TdmRep::parse(one, &limits).is_empty());
    assert!(TdmRep::parse(&[&one[..], &[b' '; 64]].concat(), &limits).is_empty(), "too long");
    let deep = "[".repeat(60);
    assert!(TdmRep::parse(deep.as_bytes(), &limits).is_empty());
}
