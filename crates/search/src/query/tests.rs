//! Queries as people type them.

use super::*;

fn read(text: &str) -> Vec<String> {
    let query = parse(text, &Limits::default());
    let clauses = query.clauses.iter().map(|clause| {
        let sign = match clause.need {
            Need::May => "",
            Need::Must => "+",
            Need::Not => "-",
        };
        let part = clause.part.map(|part| format!("{part:?}:")).unwrap_or_default();
        match &clause.what {
            What::Word(word) => format!("{sign}{part}{word}"),
            What::Phrase(phrase) => format!("{sign}{part}\"{phrase}\""),
            What::Prefix(prefix) => format!("{sign}{part}{prefix}*"),
        }
    });
    let filters = query
        .filters
        .iter()
        .map(|filter| format!("{}{:?}", if filter.excludes { "-" } else { "" }, filter.by));
    clauses.chain(filters).collect()
}

#[test]
fn queries_mean_what_people_expect() {
    for (text, expected) in [
        ("wing lift", vec!["wing", "lift"]),
        ("\"boundary layer\" heat", vec!["+\"boundary layer\"", "heat"]),
        ("“boundary layer”", vec!["+\"boundary layer\""]),
        ("+wing -tail", vec!["+wing", "-tail"]),
        ("-\"no such\" a", vec!["-\"no such\"", "a"]),
        ("wing AND lift OR tail NOT nose", vec!["+wing", "+lift", "tail", "-nose"]),
        ("aero* -foo*", vec!["aero*", "-foo*"]),
        ("title:wing intitle:\"a b\" URL:docs", vec!["+Title:wing", "+Title:\"a b\"", "+Url:docs"]),
        ("host:Example.org -site:b.org", vec!["Host(\"example.org\")", "-Site(\"b.org\")"]),
        ("type:pdf lang:DE-at", vec!["Type(\"pdf\")", "Lang(\"de\")"]),
        ("since:2015-11-15", vec!["Since(Millis(1447545600000))"]),
        ("heat-transfer a/b", vec!["heat", "transfer", "a", "b"]),
        ("array_agg node.js o'neil", vec!["\"array_agg\"", "\"node.js\"", "\"o'neil\""]),
        ("+wi-fi", vec!["+\"wi-fi\""]),
        ("東京都", vec!["\"東京都\""]),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn what_does_not_fit_is_plain_words() {
    for (text, expected) in [
        ("foo:bar", vec!["foo", "bar"]),
        ("\"not ended", vec!["+\"not ended\""]),
        ("since:yesterday", vec!["since", "yesterday"]),
        ("http://h/a?b=c", vec!["http", "h", "a", "b", "c"]),
        ("title: wing", vec!["title", "wing"]),
        ("+ - \"\" * ( ) && :", vec![]),
        ("- wing + lift", vec!["wing", "lift"]),
        ("a\"b c\"d", vec!["a", "+\"b c\"", "d"]),
        ("NOT", vec![]),
        ("((wing)) [lift]", vec!["wing", "lift"]),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn a_query_is_bounded() {
    let limits = Limits { query_words_max: 3, query_bytes_max: 40, ..Limits::default() };
    let query = parse("a b c d", &limits);
    assert_eq!((query.clauses.len(), query.is_cut), (3, true));
    let query = parse(&"ü".repeat(1_000), &limits);
    assert!(query.is_cut && query.clauses[0].what.text().len() <= 40);
    assert!(!parse("a b c", &limits).is_cut);
}
