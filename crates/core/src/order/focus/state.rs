//! What was learnt, as bytes: for a crawl that goes on where it was stopped.
//!
//! `larmfocus`, one byte for the version, the state as postcard writes it, and the xxh3 of all that. Tables
//! are written without their empty rows. What is read back is checked before it is used: damaged
//! bytes, and numbers that are none, are an error (FOCUS-3). Limits are those of the day: a table that is smaller
//! now keeps what fits.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::Focus;
use super::bag::{Background, Counter};
use super::evidence::Evidence;
use super::fit::{FIGURES, Fit};
use super::harvest::{Harvest, Harvests, Mean};
use super::likeness::Profile;
use super::predict::Predictor;
use super::topic::{Judge, Scale, Topic};
use crate::Limits;
use crate::url::Fingerprint;

const NAME: &[u8; 9] = b"larmfocus";
const VERSION: u8 = 3;
const CHECK_BYTES: usize = 8;

/// Why bytes are no state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateError {
    /// Something else.
    NotOurs,
    /// Of another version.
    Version(u8),
    /// Cut off or changed.
    Damaged,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs => f.write_str("this is not the state of a focused crawl"),
            Self::Version(version) => {
                write!(f, "the state of a focused crawl of version {version}, not {VERSION}")
            }
            Self::Damaged => f.write_str("the state of a focused crawl is damaged"),
        }
    }
}

impl std::error::Error for StateError {}

/// Everything but what can be made of it.
#[derive(Serialize, Deserialize)]
struct Saved<'a> {
    topic: Cow<'a, Topic>,
    pages: u32,
    words: u64,
    with: Vec<(u16, u32)>,
    profile: Option<Cow<'a, Profile>>,
    renewed_at: u32,
    by_query: Scale,
    by_example: Scale,
    figures: [f32; FIGURES],
    covariance: [[f32; FIGURES]; FIGURES],
    link_words: Vec<(u16, f32)>,
    places: Vec<Harvest>,
    hubs: Vec<Harvest>,
    mean: Mean,
    waiting: Cow<'a, BTreeMap<Fingerprint, Evidence>>,
}

impl Focus {
    /// All that was learnt.
    pub fn to_bytes(&self) -> Vec<u8> {
        let saved = self.saved();
        let head = [NAME.as_slice(), &[VERSION]].concat();
        let mut bytes = postcard::to_extend(&saved, head).expect("writing to memory does not fail");
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    /// What [`Focus::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8], limits: &Limits) -> Result<Self, StateError> {
        let rest = bytes.strip_prefix(NAME).ok_or(StateError::NotOurs)?;
        let (version, _) = rest.split_first().ok_or(StateError::Damaged)?;
        if *version != VERSION {
            return Err(StateError::Version(*version));
        }
        let checked =
            bytes.len().checked_sub(CHECK_BYTES).and_then(|at| bytes.split_at_checked(at));
        let (state, check) = checked.ok_or(StateError::Damaged)?;
        if xxh3_64(state).to_le_bytes() != check {
            return Err(StateError::Damaged);
        }
        let state = state.get(NAME.len() + 1..).ok_or(StateError::Damaged)?;
        let saved: Saved<'_> = postcard::from_bytes(state).map_err(|_| StateError::Damaged)?;
        if saved.is_sound() { Ok(saved.restore(limits)) } else { Err(StateError::Damaged) }
    }

    fn saved(&self) -> Saved<'_> {
        let (judge, background) = (&self.judge, &self.judge.background);
        Saved {
            topic: Cow::Borrowed(&judge.topic),
            pages: background.pages(),
            words: background.words(),
            with: background.used(),
            profile: judge.profile.as_ref().map(Cow::Borrowed),
            renewed_at: judge.renewed_at,
            by_query: judge.by_query,
            by_example: judge.by_example,
            figures: self.predictor.fit.weights,
            covariance: self.predictor.fit.covariance,
            link_words: self.predictor.used(),
            places: self.places.used(),
            hubs: self.hubs.used(),
            mean: self.mean,
            waiting: Cow::Borrowed(&self.waiting),
        }
    }
}

impl Saved<'_> {
    /// Whether every number is one, and nothing was renewed after the last page.
    fn is_sound(&self) -> bool {
        let scales =
            [self.by_query.high, self.by_query.low, self.by_example.high, self.by_example.low];
        let means = scales.iter().chain([&self.mean]).flat_map(|mean| [mean.sum, mean.pages]);
        let words = self.link_words.iter().map(|(_, weight)| *weight);
        let rows = self.places.iter().chain(&self.hubs).flat_map(Harvest::numbers);
        let evidence = self.waiting.values().flat_map(Evidence::numbers);
        let mut all = means
            .chain(self.figures)
            .chain(self.covariance.into_iter().flatten())
            .chain(words)
            .chain(rows)
            .chain(evidence);
        all.all(f32::is_finite)
            && self.profile.as_ref().is_none_or(|profile| profile.is_sound())
            && self.renewed_at <= self.pages
    }

    fn restore(self, limits: &Limits) -> Focus {
        let mut judge = Judge {
            topic: self.topic.into_owned(),
            background: Background::restore(self.pages, self.words, &self.with),
            profile: self.profile.map(|profile| profile.into_owned().indexed()),
            renewed_at: self.renewed_at,
            by_query: self.by_query,
            by_example: self.by_example,
        };
        judge.weigh();
        let fit = Fit { weights: self.figures, covariance: self.covariance };
        let mut focus = Focus {
            judge,
            predictor: Predictor::restore(fit, &self.link_words),
            places: Harvests::restore(limits.focus_places_max, &self.places),
            hubs: Harvests::restore(limits.focus_places_max, &self.hubs),
            mean: self.mean,
            waiting: self.waiting.into_owned(),
            counter: Counter::default(),
            words_max: super::at_most(limits.focus_words_max),
            links_max: super::at_most(limits.focus_links_max),
        };
        focus.forget();
        focus
    }
}
