//! How like a page is to examples: what their common words are, and how many of them it has.
//!
//! There are examples of what is wanted and, if somebody has them, of what is not; of everything else only
//! what the crawl has seen, in which wanted pages are hidden. A classifier that takes these for
//! counter-examples unlearns what it is looking for (the better the crawl, the faster), so what the crawl has seen
//! is only used as a measure of how common a word is. Two profiles are made of the examples, and both
//! have to agree:
//!
//! - the words that make up most of them, by TF-IDF (Rocchio 1971), compared by the angle;
//! - the words that more of them have than pages of the crawl, by their log-odds, which
//!   counts how many of these a page has.
//!
//! A word of one example alone says nothing of what they have in common and is in neither.

use serde::{Deserialize, Serialize};

use super::bag::{BUCKETS, Background, Bag, place};
use super::query::saturation;

/// Words of the first profile.
const ANGLE_WORDS: usize = 64;
/// Words of the second.
const ODDS_WORDS: usize = 32;
/// How much of an example counts as page of the crawl where a word's commonness is measured.
const OWN_SHARE: f32 = 0.5;
/// Weight of what is not wanted against what is (Rocchio).
const AGAINST_SHARE: f32 = 0.5;
/// Words of the second profile that a link's text need have to be as good as an example.
const ENOUGH_WORDS: usize = 3;
/// What a word of the first profile promises as name of a list, if it is neither heavier nor lighter than others.
const LIST_SHARE: f32 = 0.7;

/// Pages like those that are wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Examples {
    pub wanted: Vec<Bag>,
    pub unwanted: Vec<Bag>,
}

/// What the examples have in common, as far as the crawl has shown what is common anyway.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Profile {
    terms: Vec<Term>,
    /// The number of a place's term, and one more; 0 for a place without.
    #[serde(skip)]
    index: Vec<u8>,
    odds_sum: f32,
    odds_enough: f32,
    angle_mean: f32,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Term {
    place: u16,
    angle: f32,
    odds: f32,
}

impl Profile {
    /// By the pages seen so far.
    pub fn of(examples: &Examples, background: &Background) -> Self {
        let with = Shares::of(&examples.wanted);
        let angles = angles(examples, background, &with);
        let odds = odds(examples, background, &with);
        let mut profile = Self {
            terms: Vec::with_capacity(angles.len() + odds.len()),
            index: vec![0; BUCKETS],
            odds_sum: odds.iter().map(|(_, odds)| odds).sum(),
            angle_mean: mean_of(&angles),
            odds_enough: odds.iter().take(ENOUGH_WORDS).map(|(_, odds)| odds).sum(),
        };
        for (place, angle) in angles {
            profile.term(place).angle = angle;
        }
        for (place, odds) in odds {
            profile.term(place).odds = odds;
        }
        profile
    }

    fn term(&mut self, place: u16) -> &mut Term {
        let index = &mut self.index[usize::from(place)];
        if *index == 0 {
            self.terms.push(Term { place, angle: 0.0, odds: 0.0 });
            *index = u8::try_from(self.terms.len()).expect("fewer words than 255 in both profiles");
        }
        &mut self.terms[usize::from(*index) - 1]
    }

    /// Whether it can be used once it is [`Profile::indexed`].
    pub fn is_sound(&self) -> bool {
        let mut numbers = self.terms.iter().flat_map(|term| [term.angle, term.odds]);
        self.terms.len() <= ANGLE_WORDS + ODDS_WORDS
            && numbers.all(f32::is_finite)
            && self.odds_sum.is_finite()
            && self.odds_enough.is_finite()
            && self.angle_mean.is_finite()
    }

    /// With the index that is not saved.
    pub fn indexed(mut self) -> Self {
        self.index = vec![0; BUCKETS];
        for (number, term) in (1..).zip(&self.terms) {
            self.index[usize::from(term.place)] = number;
        }
        self
    }

    fn find(&self, place: u16) -> Option<&Term> {
        self.terms.get(usize::from(self.index[usize::from(place)]).checked_sub(1)?)
    }

    /// From 0 to 1.
    pub fn likeness(&self, bag: &Bag, background: &Background) -> f32 {
        let room = saturation(background.length(bag));
        let (mut angle, mut squares, mut odds) = (0.0, 0.0, 0.0);
        for &(place, times) in &bag.words {
            let weight = weight(place, times, background);
            squares += weight * weight;
            if let Some(term) = self.find(place) {
                angle += weight * term.angle;
                odds += term.odds * f32::from(times) / (f32::from(times) + room);
            }
        }
        let angle = if squares > 0.0 { angle / f32::sqrt(squares) } else { 0.0 };
        let odds = if self.odds_sum > 0.0 { odds / self.odds_sum } else { 0.0 };
        f32::sqrt(angle.max(0.0) * odds)
    }

    /// What a few words promise: from 0 to 1.
    pub fn promise(&self, features: &[u32]) -> f32 {
        if self.odds_enough <= 0.0 {
            return 0.0;
        }
        let found = features.iter().filter_map(|feature| self.find(place(*feature)));
        (found.map(|term| term.odds).sum::<f32>() / self.odds_enough).min(1.0)
    }

    /// What words in the plural promise: from 0 to 1. Here counts what the examples speak of, and not what
    /// sets them apart from the crawl: on the pages of a university students are no rare word, and still
    /// they are listed where it says so.
    pub fn promise_of_list(&self, plurals: &[u32]) -> f32 {
        let found = plurals.iter().filter_map(|feature| self.find(place(*feature)));
        let angle = found.map(|term| term.angle).sum::<f32>();
        if angle > 0.0 { (LIST_SHARE * angle / self.angle_mean).min(1.0) } else { 0.0 }
    }
}

/// In how many of some texts each word is.
struct Shares {
    with: Vec<u16>,
    texts: usize,
}

impl Shares {
    fn of(bags: &[Bag]) -> Self {
        let mut with = vec![0; BUCKETS];
        for (place, _) in bags.iter().flat_map(|bag| &bag.words) {
            with[usize::from(*place)] += 1;
        }
        Self { with, texts: bags.len() }
    }

    fn with(&self, place: u16) -> f32 {
        f32::from(self.with[usize::from(place)])
    }

    /// Whether a word is in more than one text, or there is but one text.
    fn is_common(&self, place: u16) -> bool {
        self.with[usize::from(place)] > 1 || self.texts == 1
    }

    fn common(&self) -> impl Iterator<Item = u16> {
        let places = 0..=u16::MAX;
        places.filter(|place| self.with[usize::from(*place)] > 0 && self.is_common(*place))
    }
}

fn mean_of(weighed: &[(u16, f32)]) -> f32 {
    weighed.iter().map(|(_, weight)| weight).sum::<f32>() / weighed.len().max(1) as f32
}

/// TF-IDF of a word.
fn weight(place: u16, times: u16, background: &Background) -> f32 {
    (1.0 + f32::from(times).ln()) * background.idf(place)
}

/// The middle of the examples, as far as they agree; its length is 1.
fn angles(examples: &Examples, background: &Background, with: &Shares) -> Vec<(u16, f32)> {
    let mut middle = vec![0.0; BUCKETS];
    add_up(&examples.wanted, 1.0, background, &mut middle);
    add_up(&examples.unwanted, -AGAINST_SHARE, background, &mut middle);
    let weighed = with.common().map(|place| (place, middle[usize::from(place)]));
    let mut angles = best(weighed, ANGLE_WORDS);
    let length = angles.iter().map(|(_, angle)| angle * angle).sum::<f32>().sqrt();
    angles.iter_mut().for_each(|(_, angle)| *angle /= length);
    angles
}

fn add_up(bags: &[Bag], share: f32, background: &Background, middle: &mut [f32]) {
    for bag in bags {
        let weights = || bag.words.iter().map(|&(p, times)| (p, weight(p, times, background)));
        let length = weights().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
        for (place, weight) in weights() {
            middle[usize::from(place)] += share * weight / (length * bags.len() as f32);
        }
    }
}

/// By how much more examples have a word than pages of the crawl, and than what is not wanted.
fn odds(examples: &Examples, background: &Background, with: &Shares) -> Vec<(u16, f32)> {
    let (unwanted, texts) = (Shares::of(&examples.unwanted), with.texts as f32);
    let pages = background.pages() as f32 + OWN_SHARE * texts + 2.0;
    let weighed = with.common().map(|place| {
        let share = with.with(place) / (texts + 1.0);
        let seen = background.with(place) as f32 + OWN_SHARE * with.with(place) + 1.0;
        let against = unwanted.with(place) / (unwanted.texts as f32 + 1.0);
        (place, share * (share / f32::max(seen / pages, against)).ln())
    });
    best(weighed, ODDS_WORDS)
}

/// The highest of them that are above 0, the highest first.
fn best(weighed: impl Iterator<Item = (u16, f32)>, most: usize) -> Vec<(u16, f32)> {
    let mut weighed: Vec<(u16, f32)> = weighed.filter(|(_, weight)| *weight > 0.0).collect();
    weighed.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    weighed.truncate(most);
    weighed
}
