//! A text as a bag of words, and how many pages have each word: what TF-IDF is made of.
//!
//! Words are kept by the low bits of their feature, so tables have one size whatever a crawl meets
//! ([`BUCKETS`]). Two words in one place are taken for one, which among 65,536 of them is rare enough.

use serde::{Deserialize, Serialize};

use super::words;

/// Places in every table of words; a power of two.
pub(super) const BUCKETS: usize = 1 << 16;
/// Role of a word that stands in a title.
const TITLE: u32 = 1;
/// How often a word of the title counts as word of the text.
const TITLE_WEIGHT: u16 = 2;

/// Words of a page, each once, with how often it is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Bag {
    /// Place and times.
    pub words: Vec<(u16, u16)>,
    /// How many words there are, repeated ones included.
    pub length: u32,
}

/// The place of a feature.
pub(super) fn place(feature: u32) -> u16 {
    feature as u16
}

/// Where a word of the title stands.
pub(super) fn title_place(feature: u32) -> u16 {
    place(words::in_role(feature, TITLE))
}

/// Counts the words of one text after another, with one table for all.
#[derive(Debug, Clone)]
pub(super) struct Counter {
    counts: Vec<u16>,
    touched: Vec<u16>,
}

impl Default for Counter {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], touched: Vec::new() }
    }
}

impl Counter {
    /// The bag of a page, of which at most so many words are read.
    pub fn bag(&mut self, title: &str, text: &str, words_max: usize) -> Bag {
        let mut length = 0;
        words::each(beginning(text, words_max), |feature| {
            if length < words_max {
                self.add(place(feature), 1);
                length += 1;
            }
        });
        words::each(title, |feature| {
            self.add(place(feature), TITLE_WEIGHT);
            self.add(title_place(feature), 1);
        });
        self.take(length)
    }

    fn add(&mut self, place: u16, times: u16) {
        let count = &mut self.counts[usize::from(place)];
        if *count == 0 {
            self.touched.push(place);
        }
        *count = count.saturating_add(times);
    }

    fn take(&mut self, length: usize) -> Bag {
        let counts = &mut self.counts;
        let taken = |place: u16| (place, std::mem::take(&mut counts[usize::from(place)]));
        let words = self.touched.drain(..).map(taken).collect();
        Bag { words, length: u32::try_from(length).unwrap_or(u32::MAX) }
    }
}

/// As much of a text as so many words can be: what is behind it need not be looked at.
fn beginning(text: &str, words_max: usize) -> &str {
    let bytes = words_max.saturating_mul(16).min(text.len());
    let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or_default()]
}

/// How many of the pages seen have each word.
#[derive(Debug, Clone)]
pub(super) struct Background {
    pages: u32,
    words: u64,
    with: Vec<u32>,
}

impl Default for Background {
    fn default() -> Self {
        Self { pages: 0, words: 0, with: vec![0; BUCKETS] }
    }
}

impl Background {
    /// Counts a page.
    pub fn add(&mut self, bag: &Bag) {
        self.pages = self.pages.saturating_add(1);
        self.words = self.words.saturating_add(u64::from(bag.length));
        for (place, _) in &bag.words {
            let with = &mut self.with[usize::from(*place)];
            *with = with.saturating_add(1);
        }
    }

    /// Pages seen.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Words of all of them.
    pub fn words(&self) -> u64 {
        self.words
    }

    /// The words that there are, each with how many pages have it.
    pub fn used(&self) -> Vec<(u16, u32)> {
        let rows = (0..=u16::MAX).zip(&self.with).filter(|(_, with)| **with > 0);
        rows.map(|(place, with)| (place, *with)).collect()
    }

    /// What these came from.
    pub fn restore(pages: u32, words: u64, used: &[(u16, u32)]) -> Self {
        let mut background = Self { pages, words, ..Self::default() };
        for (place, with) in used {
            background.with[usize::from(*place)] = *with;
        }
        background
    }

    /// Pages that have a word.
    pub fn with(&self, place: u16) -> u32 {
        self.with[usize::from(place)]
    }

    /// How much a word tells: the rarer, the more.
    pub fn idf(&self, place: u16) -> f32 {
        (1.0 + (self.pages as f32 + 1.0) / (self.with(place) as f32 + 0.5)).ln()
    }

    /// How long a page is, compared with others.
    pub fn length(&self, bag: &Bag) -> f32 {
        let mean = self.words as f32 / self.pages.max(1) as f32;
        if mean > 0.0 { bag.length as f32 / mean } else { 1.0 }
    }
}
