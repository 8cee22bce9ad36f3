//! How well a page answers a driving query: TF-IDF by the statistics of the crawl itself.
//!
//! A word counts the more the rarer it is among the pages seen, and the oftener it stands on the page, with
//! less for each further time and for a page that is longer than others (BM25; Robertson and Zaragoza 2009).
//! In a title it counts half as much again.

use serde::{Deserialize, Serialize};

use super::bag::{Background, Bag, place, title_place};
use super::words;

/// How soon further times of a word stop to count.
const SATURATION: f32 = 1.2;
/// How much of it goes by the length of the page.
const LENGTH_SHARE: f32 = 0.75;
/// What a word in the title is worth, against one that fills the text.
const TITLE_SHARE: f32 = 0.5;
/// Words of a query that a link's text need have to be as good as the query.
const ENOUGH_WORDS: usize = 2;

/// What was typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Query {
    features: Vec<u32>,
    /// How much each word tells, and what is enough of it in the text of a link.
    #[serde(skip)]
    idfs: Vec<f32>,
    #[serde(skip)]
    enough: f32,
}

impl Query {
    /// `None` without a word in it. Of a longer one the first so many words count.
    pub fn of(text: &str, words_max: usize) -> Option<Self> {
        let mut features = Vec::new();
        words::each(text, |feature| {
            if features.len() < words_max && !features.contains(&feature) {
                features.push(feature);
            }
        });
        (!features.is_empty()).then_some(Self { features, idfs: Vec::new(), enough: 0.0 })
    }

    /// Weighs the words by the pages seen so far.
    pub fn weigh(&mut self, background: &Background) {
        let idfs = self.features.iter().map(|feature| background.idf(place(*feature)));
        self.idfs = idfs.collect();
        let mut sorted = self.idfs.clone();
        sorted.sort_by(|one, other| other.total_cmp(one));
        self.enough = sorted.iter().take(ENOUGH_WORDS).sum();
    }

    /// From 0, no word, to 1, full of all words.
    pub fn likeness(&self, bag: &Bag, background: &Background) -> f32 {
        let room = saturation(background.length(bag));
        let (mut sum, mut all) = (0.0, f32::MIN_POSITIVE);
        for (feature, idf) in self.features.iter().zip(&self.idfs) {
            let (text, title) = times(bag, *feature);
            sum += idf * (text / (text + room) + TITLE_SHARE * title.min(1.0));
            all += idf;
        }
        sum / ((1.0 + TITLE_SHARE) * all)
    }

    /// What a few words, such as a link's text, promise: from 0 to 1.
    pub fn promise(&self, features: &[u32]) -> f32 {
        self.share_of(self.enough, features)
    }

    /// What words in the plural promise: one word of the query is enough, as lists have short names.
    pub fn promise_of_list(&self, plurals: &[u32]) -> f32 {
        self.share_of(self.idfs.iter().copied().fold(0.0, f32::max), plurals)
    }

    fn share_of(&self, enough: f32, features: &[u32]) -> f32 {
        let words = self.features.iter().zip(&self.idfs);
        let found = words.filter(|(feature, _)| features.contains(feature));
        let sum: f32 = found.map(|(_, idf)| idf).sum();
        if sum > 0.0 { (sum / enough).min(1.0) } else { 0.0 }
    }
}

/// How often a word must stand on a page of this length, compared with others, to count half.
pub(super) fn saturation(length: f32) -> f32 {
    SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length)
}

/// How often a word stands in the text and in the title.
fn times(bag: &Bag, feature: u32) -> (f32, f32) {
    let of = |wanted| bag.words.iter().find(|(place, _)| *place == wanted);
    let count = |wanted| of(wanted).map_or(0.0, |(_, times)| f32::from(*times));
    (count(place(feature)), count(title_place(feature)))
}
