//! Evidence → score: how relevant a page will be, learnt while crawling.
//!
//! A logistic regression over a handful of figures and the words of links. It begins with weights that suit
//! any site, and each page that is fetched tells it how well it guessed, so it adapts to the
//! crawl: to what links to good pages are called here, and to whether text or place says more. Figures are few
//! and are fitted as well as can be ([`Fit`]); words are many, and each moves by a little.

use super::bag::BUCKETS;
use super::evidence::Evidence;
use super::fit::{FIGURES, Fit};
use super::harvest::Harvests;
use super::topic::{logit, sigmoid};

/// How far one page moves the weight of a word.
const WORD_RATE: f32 = 0.03;
/// Weights before anything is learnt, in the order of [`figures`].
const AT_FIRST: [f32; FIGURES] = [0.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.1, 1.0, 0.2, 2.0, 1.0];
/// The logarithm of how many links a page has that is neither a list nor none.
const LISTED_USUAL: f32 = 1.5;

/// The weights.
#[derive(Debug, Clone)]
pub(super) struct Predictor {
    pub fit: Fit,
    pub words: Vec<f32>,
}

impl Default for Predictor {
    fn default() -> Self {
        Self { fit: Fit::guess(AT_FIRST), words: vec![0.0; BUCKETS] }
    }
}

/// What was found so far.
pub(super) struct Found<'a> {
    pub places: &'a Harvests,
    pub hubs: &'a Harvests,
    /// Mean relevance of all pages.
    pub mean: f32,
}

impl Predictor {
    /// The weights of words that are not 0.
    pub fn used(&self) -> Vec<(u16, f32)> {
        let rows = (0..=u16::MAX).zip(&self.words).filter(|(_, weight)| **weight != 0.0);
        rows.map(|(place, weight)| (place, *weight)).collect()
    }

    /// What these came from.
    pub fn restore(fit: Fit, used: &[(u16, f32)]) -> Self {
        let mut predictor = Self { fit, ..Self::default() };
        for (place, weight) in used {
            predictor.words[usize::from(*place)] = *weight;
        }
        predictor
    }

    /// From 0 to 1.
    pub fn score(&self, evidence: &Evidence, found: &Found<'_>) -> f32 {
        self.predict(evidence, &figures(evidence, found), found.mean)
    }

    fn predict(&self, evidence: &Evidence, figures: &[f32; FIGURES], mean: f32) -> f32 {
        let words: f32 = evidence.words.iter().map(|word| self.words[usize::from(*word)]).sum();
        sigmoid(logit(mean) + self.fit.weigh(figures) + words)
    }

    /// Takes what a page was worth for what it should have been expected to be.
    pub fn learn(&mut self, evidence: &Evidence, found: &Found<'_>, relevance: f32) {
        let figures = figures(evidence, found);
        let expected = self.predict(evidence, &figures, found.mean);
        self.fit.learn(&figures, expected, relevance - expected);
        self.nudge(evidence, relevance - expected);
    }

    /// There was no page. That tells what dead links are called, and nothing of how to find a topic: most links
    /// may be dead, and all figures would be taken for signs of that.
    pub fn learn_lost(&mut self, evidence: &Evidence, found: &Found<'_>) {
        self.nudge(evidence, -self.score(evidence, found));
    }

    fn nudge(&mut self, evidence: &Evidence, error: f32) {
        for word in &evidence.words {
            self.words[usize::from(*word)] += WORD_RATE * error;
        }
    }
}

/// Always one; the page with the link, the texts, the URL; places and hubs against all pages; how many links; the
/// title of the page with the link, and how long a list that is; lists of what is looked for, by the names of the
/// target and of the page with the link.
fn figures(evidence: &Evidence, found: &Found<'_>) -> [f32; FIGURES] {
    let expect = |around: f32, place: &u32| found.places.expect(*place, around);
    let places = evidence.places.iter().fold(found.mean, expect);
    let hubs = evidence.hubs.iter().map(|hub| found.hubs.expect(*hub, found.mean));
    let hubs = hubs.fold(found.mean, f32::max);
    let against_all = |expected: f32| logit(expected) - logit(found.mean);
    [
        1.0,
        evidence.source,
        evidence.own,
        evidence.beside,
        evidence.url,
        against_all(places),
        against_all(hubs),
        f32::from(evidence.links).ln(),
        evidence.title,
        f32::from(evidence.listed).ln_1p() - LISTED_USUAL,
        evidence.list,
        evidence.title_list,
    ]
}
