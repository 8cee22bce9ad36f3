//! Evidence → score: how relevant a page will be, learnt while crawling.
//!
//! A logistic regression over a handful of figures and the words of links. It begins with weights that suit
//! any site, and each page that is fetched tells it how well it guessed, so it adapts to the
//! crawl: to what links to good pages are called here, and to whether text or place says more.

use super::bag::BUCKETS;
use super::evidence::Evidence;
use super::harvest::Harvests;
use super::topic::{logit, sigmoid};

/// How far one page moves the weights of figures, and those of words.
const FIGURE_RATE: f32 = 0.03;
const WORD_RATE: f32 = 0.1;
/// What is known of a link, words aside.
pub(super) const FIGURES: usize = 8;
/// Their weights before anything is learnt, in the order of [`figures`].
const AT_FIRST: [f32; FIGURES] = [0.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.1];

/// The weights.
#[derive(Debug, Clone)]
pub(super) struct Predictor {
    pub figures: [f32; FIGURES],
    pub words: Vec<f32>,
}

impl Default for Predictor {
    fn default() -> Self {
        Self { figures: AT_FIRST, words: vec![0.0; BUCKETS] }
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
    pub fn restore(figures: [f32; FIGURES], used: &[(u16, f32)]) -> Self {
        let mut predictor = Self { figures, ..Self::default() };
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
        let weighed = self.figures.iter().zip(figures).map(|(weight, figure)| weight * figure);
        let words: f32 = evidence.words.iter().map(|word| self.words[usize::from(*word)]).sum();
        sigmoid(logit(mean) + weighed.sum::<f32>() + words)
    }

    /// Takes what a page was worth for what it should have been expected to be.
    pub fn learn(&mut self, evidence: &Evidence, found: &Found<'_>, relevance: f32) {
        let figures = figures(evidence, found);
        let error = relevance - self.predict(evidence, &figures, found.mean);
        for (weight, figure) in self.figures.iter_mut().zip(figures) {
            *weight += FIGURE_RATE * error * figure;
        }
        let step = WORD_RATE * error;
        for word in &evidence.words {
            self.words[usize::from(*word)] += step;
        }
    }
}

/// Always one; the page with the link, the texts, the URL; places and hubs against all pages; how many links.
fn figures(evidence: &Evidence, found: &Found<'_>) -> [f32; FIGURES] {
    let expect = |around: f32, place: &u32| found.places.expect(*place, around);
    let places = evidence.places.iter().fold(found.mean, expect);
    let hubs = evidence.hubs.iter().map(|hub| found.hubs.expect(*hub, found.mean));
    let hubs = hubs.fold(found.mean, f32::max);
    [
        1.0,
        evidence.source,
        evidence.own,
        evidence.beside,
        evidence.url,
        logit(places) - logit(found.mean),
        logit(hubs) - logit(found.mean),
        f32::from(evidence.links).ln(),
    ]
}
