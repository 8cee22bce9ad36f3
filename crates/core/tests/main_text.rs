//! How close the main text is to what a browser's reader mode shows, on real pages.
//!
//! Words are compared as bags: precision is the share of our words that are wanted, recall the share of
//! the wanted words that are ours, F1 their harmonic mean. The floors stand a little under what is reached:
//! they catch a change that makes it worse. They are no aim, since what is expected there is one program's
//! opinion. Run with `--nocapture` for the figures; docs/text.md has them beside those of others.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::collections::HashMap;

use larm_core::Limits;
use larm_core::parse::{Input, Page, parse};
use url::Url;

#[path = "../src/parse/testdata.rs"]
mod testdata;

#[derive(Debug, Clone, Copy)]
struct Score {
    precision: f64,
    recall: f64,
    f1: f64,
}

fn read(body: &[u8]) -> Page {
    let url = Url::parse("https://example.org/articles/page.html").unwrap();
    let content_type = Some("text/html; charset=utf-8");
    parse(&Input { url: &url, content_type, body, text: true }, &Limits::default())
}

/// Words in lower case; a character of a script without spaces counts as one.
fn words(text: &str) -> Vec<String> {
    let is_word = |c: char| matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{9fff}');
    let mut spaced = String::new();
    for c in text.chars() {
        match c {
            c if is_word(c) => spaced.extend([' ', c, ' ']),
            c if c.is_alphanumeric() => spaced.extend(c.to_lowercase()),
            _ => spaced.push(' '),
        }
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

fn score(got: &str, wanted: &str) -> Score {
    let (got, wanted) = (words(got), words(wanted));
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in &wanted {
        *left.entry(word).or_default() += 1;
    }
    let mut common = 0.0;
    for word in &got {
        if let Some(count) = left.get_mut(word.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            common += 1.0;
        }
    }
    let share = |of: usize| if of == 0 { 1.0 } else { common / of as f64 };
    let (precision, recall) = (share(got.len()), share(wanted.len()));
    let sum = precision + recall;
    Score { precision, recall, f1: if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum } }
}

/// The text between tags, scripts and styles left out: what a simple program does.
fn stripped(source: &str) -> String {
    let lower = source.to_ascii_lowercase();
    let (mut text, mut rest) = (String::new(), source);
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push(' ');
        rest = &rest[at..];
        let name = rest.get(1..7).unwrap_or_default().to_ascii_lowercase();
        for element in ["script", "style"] {
            if name.starts_with(element) {
                let lower = &lower[source.len() - rest.len()..];
                rest = &rest[lower.find(&format!("</{element}")).unwrap_or(rest.len())..];
            }
        }
        rest = rest.find('>').map_or("", |end| &rest[end + 1..]);
    }
    text + rest
}

fn mean(scores: &[(String, Score)], value: fn(&Score) -> f64) -> f64 {
    scores.iter().map(|(_, score)| value(score)).sum::<f64>() / scores.len() as f64
}

fn report(name: &str, scores: &mut [(String, Score)]) -> f64 {
    scores.sort_by(|a, b| a.1.f1.total_cmp(&b.1.f1));
    let (precision, recall) = (mean(scores, |s| s.precision), mean(scores, |s| s.recall));
    let (f1, median) = (mean(scores, |s| s.f1), scores[scores.len() / 2].1.f1);
    println!(
        "{name}: precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}, median {median:.3}"
    );
    f1
}

#[test]
fn the_main_text_is_close_to_that_of_a_reader_mode() {
    let Some(files) = testdata::archive("html/readability-pages.tar.gz") else { return };
    let files: HashMap<String, Vec<u8>> = files.into_iter().collect();
    let (mut main, mut naive) = (Vec::new(), Vec::new());
    for (name, source) in &files {
        let Some(folder) = name.strip_suffix("/source.html") else { continue };
        let wanted = read(&files[&format!("{folder}/expected.html")]).text;
        let page = read(source);
        main.push((folder.to_owned(), score(&page.main_text(), &wanted)));
        let all = stripped(&String::from_utf8_lossy(source));
        naive.push((folder.to_owned(), score(&all, &wanted)));
    }
    assert!(main.len() > 100, "{} pages", main.len());
    let f1 = report("main text", &mut main);
    let naive_f1 = report("tags stripped", &mut naive);
    for (name, score) in &main[..10] {
        let Score { precision, recall, f1 } = score;
        println!("  {name}: precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}");
    }
    let (precision, recall) = (mean(&main, |s| s.precision), mean(&main, |s| s.recall));
    assert!(f1 > 0.96 && precision > 0.955 && recall > 0.97, "{precision} {recall} {f1}");
    assert!(f1 > naive_f1 + 0.15, "hardly better than no judgement at all");
}
