//! Simhashes against the exact likeness of real pages: three versions of one documentation.
//!
//! The truth is the exact Jaccard likeness of the pages' word triples. "The same path in two versions" is
//! no truth, since some pages were rewritten; and pages of a documentation share so much frame that
//! different ones look alike, which is counted. The figures are in `docs/duplicates.md`.

use std::collections::BTreeSet;

use url::Url;

use super::*;
use crate::Limits;
use crate::parse::testdata::archive;
use crate::parse::{Input, parse};

struct Page {
    path: String,
    body: Vec<u8>,
    features: BTreeSet<u64>,
    simhash: Option<Simhash>,
}

impl Page {
    fn read(path: String, body: Vec<u8>) -> Self {
        let limits = Limits::default();
        let url = Url::parse("http://example.com/page.html").unwrap();
        let input = Input { url: &url, content_type: Some("text/html"), body: &body, text: true };
        let page = parse(&input, &limits);
        let text: Vec<&str> = page.substance().collect();
        let simhash = Simhash::of(text.iter().copied(), limits.near_words_min);
        Self { path, features: features_of(&text.join("\n")), simhash, body }
    }

    fn is_near(&self, other: &Self) -> bool {
        self.simhash.zip(other.simhash).is_some_and(|(one, other)| one.is_near(other))
    }

    /// How much of both is in both.
    fn likeness(&self, other: &Self) -> f64 {
        let both = self.features.intersection(&other.features).count();
        both as f64 / (self.features.len() + other.features.len() - both).max(1) as f64
    }

    fn has_path_of(&self, other: &Self) -> bool {
        self.path[2..] == other.path[2..]
    }
}

/// The triples of words, by means of their own.
fn features_of(text: &str) -> BTreeSet<u64> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    words.windows(3).map(|three| xxhash_rust::xxh3::xxh3_64(three.join(" ").as_bytes())).collect()
}

/// Of the pairs of one path that are at least so alike: how many were found, of how many.
fn recall(pairs: &[(&Page, &Page)], likeness_min: f64) -> (usize, usize) {
    let alike = pairs.iter().filter(|(one, other)| one.likeness(other) >= likeness_min);
    let found = alike.clone().filter(|(one, other)| one.is_near(other));
    (found.count(), alike.count())
}

#[test]
fn near_pages_of_a_documentation_are_found_and_others_are_not() {
    let Some(files) = archive("neardup/kafka-docs-20-21-24.tar.gz") else { return };
    let html = files.into_iter().filter(|(path, _)| path.ends_with(".html"));
    let pages: Vec<Page> = html.map(|(path, body)| Page::read(path, body)).collect();
    let mut same_path = Vec::new();
    let mut found = Vec::new();
    for (at, one) in pages.iter().enumerate() {
        for other in &pages[at + 1..] {
            if one.has_path_of(other) {
                same_path.push((one, other));
            }
            if one.is_near(other) {
                found.push((one, other));
            }
        }
    }
    assert_eq!(same_path.len(), 674 + 689 + 673);
    let identical = same_path.iter().filter(|(one, other)| one.body == other.body);
    assert_eq!(identical.clone().count(), 18 + 8 + 4);
    assert!(identical.clone().all(|(one, other)| one.simhash == other.simhash));

    let right = |min: f64| found.iter().filter(|(one, other)| one.likeness(other) >= min).count();
    let (all, at_80, at_90, at_95) = (found.len(), right(0.8), right(0.9), right(0.95));
    println!("found {all} pairs; likeness of 0.95 and more: {at_95}, 0.90: {at_90}, 0.80: {at_80}");
    let by_frame = found.iter().filter(|(one, other)| !one.has_path_of(other));
    let by_frame = by_frame.filter(|(one, other)| one.likeness(other) < 0.8).count();
    println!("different pages taken for alike because of their frame: {by_frame}");
    let compared: Vec<(&Page, &Page)> = same_path
        .into_iter()
        .filter(|(one, other)| one.simhash.is_some() && other.simhash.is_some())
        .collect();
    for likeness in [0.98, 0.95, 0.90, 0.80] {
        let (found, of) = recall(&compared, likeness);
        println!("of {of} pairs of one path with {likeness} and more, {found} are found");
    }
    assert!(at_80 as f64 >= 0.95 * all as f64, "precision");
    assert!(by_frame <= 5, "{by_frame} false alarms");
    let (found, of) = recall(&compared, 0.98);
    assert!(found as f64 >= 0.95 * of as f64, "{found} of {of}");
    let (found, of) = recall(&compared, 0.95);
    assert!(found as f64 >= 0.75 * of as f64, "{found} of {of}");
}
