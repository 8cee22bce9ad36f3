//! What is looked for, and how relevant a page is to it: a number from 0 to 1.
//!
//! How like a page is to a query or to examples is a number without a scale: what counts as much goes by
//! the query, the examples and the web. So two groups of pages are kept in view, those that count and
//! those that do not, and the mean of each. By a query, a page is relevant by half that lies half way between both.
//! By examples it has to be as like them as those that count are in the mean: nearly all pages of a site
//! share some words with examples, and what is learnt of links is only as good as what is called relevant.

use serde::{Deserialize, Serialize};

use super::bag::{Background, Bag, Counter};
use super::harvest::Mean;
use super::likeness::{Examples, Profile};
use super::query::Query;
use crate::Limits;

/// Pages after which the profile of the examples is made anew, as a part of those seen.
const RENEWAL_SHARE: u32 = 4;
/// How many pages the first guess of a group's mean is worth.
const GUESS_PAGES: f32 = 8.0;
/// What a page that answers a query has, at first guess, and what any other has.
const QUERY_GUESS: (f32, f32) = (0.40, 0.10);
/// Of the likeness that examples have to their own profile: what a page that they did not make has, and
/// what any other has.
const LIKE_GUESS: (f32, f32) = (0.60, 0.20);
/// Where between the two groups, from 0 to 1, a page is relevant by half: by a query, and by examples.
const QUERY_HALF: f32 = 0.5;
const LIKE_HALF: f32 = 1.0;
/// How steep relevance rises between the two groups.
const STEEPNESS: f32 = 6.0;
/// How close both groups may come.
const GAP_MIN: f32 = 0.05;

/// What somebody looks for: a query, examples, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    pub(super) query: Option<Query>,
    pub(super) examples: Option<Examples>,
}

impl Topic {
    /// Pages that answer a query.
    pub fn query(text: &str, limits: &Limits) -> Self {
        let words_max = usize::try_from(limits.query_words_max).unwrap_or(usize::MAX);
        Self { query: Query::of(text, words_max), examples: None }
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.query.is_none() && self.examples.is_none()
    }

    /// Adds a page like which others are wanted. Tells whether there was room for it, and a word in it.
    pub fn like(&mut self, title: &str, text: &str, limits: &Limits) -> bool {
        add(&mut self.examples_mut().wanted, title, text, limits)
    }

    /// Adds a page like which others are not wanted. It says something beside examples of what is wanted only.
    pub fn unlike(&mut self, title: &str, text: &str, limits: &Limits) -> bool {
        add(&mut self.examples_mut().unwanted, title, text, limits)
    }

    fn examples_mut(&mut self) -> &mut Examples {
        self.examples.get_or_insert(Examples { wanted: Vec::new(), unwanted: Vec::new() })
    }
}

fn add(bags: &mut Vec<Bag>, title: &str, text: &str, limits: &Limits) -> bool {
    let words_max = usize::try_from(limits.focus_words_max).unwrap_or(usize::MAX);
    let bag = Counter::default().bag(title, text, words_max);
    let has_room = (bags.len() as u64) < limits.focus_examples_max && !bag.words.is_empty();
    if has_room {
        bags.push(bag);
    }
    has_room
}

/// Judges pages by a topic, and learns from each what is common.
#[derive(Debug, Clone)]
pub(super) struct Judge {
    pub topic: Topic,
    pub background: Background,
    pub profile: Option<Profile>,
    /// Pages seen when that was made.
    pub renewed_at: u32,
    pub by_query: Scale,
    pub by_example: Scale,
}

impl Judge {
    /// Before the first page.
    pub fn new(topic: Topic) -> Self {
        let mut judge = Self {
            topic,
            background: Background::default(),
            profile: None,
            renewed_at: 0,
            by_query: Scale::guess(QUERY_GUESS, 1.0),
            by_example: Scale::default(),
        };
        judge.weigh();
        judge.renew();
        judge
    }

    /// How relevant a page is. It is also one more page to compare others with.
    pub fn judge(&mut self, bag: &Bag) -> f32 {
        self.background.add(bag);
        self.weigh();
        let pages = self.background.pages();
        if pages - self.renewed_at > self.renewed_at / RENEWAL_SHARE {
            self.renew();
        }
        let query = self.topic.query.as_ref().map(|query| query.likeness(bag, &self.background));
        let query = query.map(|likeness| self.by_query.judge(likeness, QUERY_HALF));
        let like = self.profile.as_ref().map(|profile| profile.likeness(bag, &self.background));
        let like = like.map(|likeness| self.by_example.judge(likeness, LIKE_HALF));
        both(query, like)
    }

    /// What a few words promise.
    pub fn promise(&self, features: &[u32]) -> f32 {
        let query = self.topic.query.as_ref();
        let query = query.map(|query| query.promise(features));
        both(query, self.profile.as_ref().map(|profile| profile.promise(features)))
    }

    /// What words in the plural promise: that there is a list of what is looked for.
    pub fn promise_of_list(&self, plurals: &[u32]) -> f32 {
        if plurals.is_empty() {
            return 0.0;
        }
        let query = self.topic.query.as_ref();
        let query = query.map(|query| query.promise_of_list(plurals));
        both(query, self.profile.as_ref().map(|profile| profile.promise_of_list(plurals)))
    }

    /// Weighs the words of the query by what was seen so far.
    pub fn weigh(&mut self) {
        if let Some(query) = &mut self.topic.query {
            query.weigh(&self.background);
        }
    }

    /// Makes the profile of the examples anew: what is common has changed.
    fn renew(&mut self) {
        self.renewed_at = self.background.pages();
        let Some(examples) = self.topic.examples.as_ref().filter(|all| !all.wanted.is_empty())
        else {
            return;
        };
        let profile = Profile::of(examples, &self.background);
        let own = examples.wanted.iter().map(|bag| profile.likeness(bag, &self.background));
        let own = own.sum::<f32>() / examples.wanted.len() as f32;
        // Likenesses by another profile have another scale, so it is guessed anew.
        self.by_example = Scale::guess(LIKE_GUESS, own);
        self.profile = Some(profile);
    }
}

/// The mean of what there is.
fn both(one: Option<f32>, other: Option<f32>) -> f32 {
    match (one, other) {
        (Some(one), Some(other)) => f32::midpoint(one, other),
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

/// The means of two groups of pages: those that count, and those that do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Scale {
    pub high: Mean,
    pub low: Mean,
}

impl Scale {
    fn guess((high, low): (f32, f32), unit: f32) -> Self {
        let mean = |value: f32| Mean { sum: value * unit * GUESS_PAGES, pages: GUESS_PAGES };
        Self { high: mean(high), low: mean(low) }
    }

    /// The relevance of a page, which moves the mean of its group; one half at `half` between the groups.
    fn judge(&mut self, likeness: f32, half: f32) -> f32 {
        let (high, low) = (self.high.value(), self.low.value());
        let place = (likeness - low) / f32::max(high - low, GAP_MIN);
        let relevance = sigmoid(STEEPNESS * (place - half));
        self.high.add(likeness, relevance);
        self.low.add(likeness, 1.0 - relevance);
        relevance
    }
}

/// A number of any size → between 0 and 1.
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The other way round, away from both ends.
pub(super) fn logit(p: f32) -> f32 {
    let p = p.clamp(0.001, 0.999);
    (p / (1.0 - p)).ln()
}
