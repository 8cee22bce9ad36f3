//! Focused crawling: how relevant a page is to a topic, and how relevant one will be that nobody has seen.
//!
//! A [`Topic`] is a query, a set of example pages, or both. A [`Focus`] reads the pages of a crawl in the
//! order in which they come: it says how relevant each is, and what each of its links promises. A page is
//! judged by its text, with the crawl's own statistics as measure ([`Topic`]). A link is judged by what
//! surrounds it: the page, its text and the text beside it, the words of its URL, and how relevant the pages
//! were that lie beside its target or are linked to by the same page. How much each of these
//! says is learnt while crawling, from what became of links that were followed.
//!
//! A page counts for what it leads to as well as for what it is (`LEAD_SHARE`): else nobody would
//! go through a list of people to find the people (Rennie and McCallum 1999).
//!
//! - FOCUS-1: what is kept is bounded: tables of one size, `focus_links_max` links that wait,
//!   `focus_examples_max` examples, `focus_words_max` words of a page.
//! - FOCUS-2: the same pages in the same order give the same scores, also when the state was saved and
//!   restored in between.
//! - FOCUS-3: bytes that are no state, or a damaged one, are an error and nothing else.
//!
//! Nothing here fetches, queues or drops anything. A score is a place in an order, no verdict.

mod bag;
mod evidence;
mod fit;
pub mod fresh;
mod harvest;
mod likeness;
mod predict;
mod query;
mod state;
mod topic;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use self::bag::Counter;
use self::evidence::{Evidence, Hub, places};
use self::harvest::{Harvests, Mean};
use self::predict::{Found, Predictor};
use self::topic::Judge;
use crate::Limits;
use crate::url::{CrawlUrl, Fingerprint};

pub use evidence::Link;
pub use state::StateError;
pub use topic::Topic;

/// How much of what a page inherited its links inherit: the way through pages that are not relevant.
const INHERITED_SHARE: f32 = 0.5;
/// How much of what a page leads to counts as its own.
const LEAD_SHARE: f32 = 0.6;
/// Of a page's new links, how many of the best are what it leads to.
const LEAD_LINKS: usize = 3;
/// What is expected of any page before one was seen, and how many pages this guess is worth.
const MEAN_GUESS: Mean = Mean { sum: 0.4, pages: 4.0 };
/// Bytes of text on either side of a link that belong to it.
pub const BESIDE_BYTES: usize = 64;

/// What is looked for, what was found of it, and what speaks for the links that wait.
#[derive(Debug, Clone)]
pub struct Focus {
    judge: Judge,
    predictor: Predictor,
    /// By host, shape and directory of URLs.
    places: Harvests,
    /// By page that has the links.
    hubs: Harvests,
    mean: Mean,
    waiting: BTreeMap<Fingerprint, Evidence>,
    counter: Counter,
    words_max: usize,
    links_max: usize,
}

/// What a page came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// How relevant the page is, from 0 to 1. Also its weight where hubs are distilled.
    pub relevance: f32,
    /// What each of its links promises, from 0 to 1, in their order.
    pub links: Vec<f32>,
}

impl Focus {
    /// Looks for a topic; one that is empty makes every page as good as any other.
    pub fn new(topic: Topic, limits: &Limits) -> Self {
        Self {
            judge: Judge::new(topic),
            predictor: Predictor::default(),
            places: Harvests::new(limits.focus_places_max),
            hubs: Harvests::new(limits.focus_places_max),
            mean: MEAN_GUESS,
            waiting: BTreeMap::new(),
            counter: Counter::default(),
            words_max: at_most(limits.focus_words_max),
            links_max: at_most(limits.focus_links_max),
        }
    }

    /// Reads a page that was fetched, and those of its links that may be followed. Each page once: it is
    /// also what others are compared with from now on, and what the link to it is judged by.
    pub fn read(&mut self, url: &CrawlUrl, title: &str, text: &str, links: &[Link<'_>]) -> Reading {
        let bag = self.counter.bag(title, text, self.words_max);
        let relevance = self.judge.judge(&bag);
        Reading { relevance, links: self.take_in(url, title, relevance, links) }
    }

    /// Learns from how relevant a page is, and gives what its links promise.
    fn take_in(
        &mut self,
        url: &CrawlUrl,
        title: &str,
        relevance: f32,
        links: &[Link<'_>],
    ) -> Vec<f32> {
        let followed = self.waiting.remove(&url.fingerprint());
        let inherited = followed.as_ref().map_or(0.0, |evidence| evidence.source);
        let source = relevance + (1.0 - relevance) * INHERITED_SHARE * inherited;
        let hub = Hub::of(url, title, source, links, &self.judge);
        let (links, lead) = self.find(&hub, links);
        self.learn(url, followed.as_ref(), relevance, lead);
        links
    }

    /// A page of which is left how relevant it was, and its links without what stood beside them. What it said is
    /// not what others are compared with; what became of the link to it is learnt. Gives what its links promise.
    pub fn recall(&mut self, url: &CrawlUrl, relevance: f32, links: &[Link<'_>]) -> Vec<f32> {
        self.take_in(url, "", relevance, links)
    }

    /// Takes links that stand in no text: of a sitemap, of a feed. Gives what each promises.
    pub fn list(&mut self, url: &CrawlUrl, links: &[Link<'_>]) -> Vec<f32> {
        let hub = Hub::of(url, "", self.mean.value(), links, &self.judge);
        self.find(&hub, links).0
    }

    /// A URL gave no page: an error, a copy, a type that has no text. That speaks against what led to it.
    pub fn lost(&mut self, url: &CrawlUrl) {
        let followed = self.waiting.remove(&url.fingerprint());
        if let Some(evidence) = &followed {
            let found = Found { places: &self.places, hubs: &self.hubs, mean: self.mean.value() };
            self.predictor.learn_lost(evidence, &found);
        }
        self.count(url, followed.as_ref(), 0.0);
    }

    /// A URL leads on to another: what spoke for it speaks for that one. Gives what that one promises.
    pub fn moved(&mut self, from: &CrawlUrl, to: &CrawlUrl) -> Option<f32> {
        let mut evidence = self.waiting.remove(&from.fingerprint())?;
        evidence.places = places(to);
        self.wait(to.fingerprint(), evidence);
        self.score(to.fingerprint())
    }

    /// What a URL that waits promises by all that is known now; `None` for one of which nothing is kept.
    pub fn score(&self, url: Fingerprint) -> Option<f32> {
        Some(self.predictor.score(self.waiting.get(&url)?, &self.found()))
    }

    /// How many links wait of which is kept what speaks for them.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What each link promises, and what the new ones among them promise together.
    fn find(&mut self, hub: &Hub<'_>, links: &[Link<'_>]) -> (Vec<f32>, f32) {
        let mut leads = Vec::new();
        let mut scores = Vec::with_capacity(links.len());
        for link in links {
            let target = link.url.fingerprint();
            let is_new = match self.waiting.get_mut(&target).filter(|known| known.is_told()) {
                Some(known) => known.again(hub.id(), hub.source),
                None => self.wait(target, Evidence::of(link, hub, &self.judge)),
            };
            let score = self.score(target).unwrap_or_default();
            leads.extend(is_new.then_some(score));
            scores.push(score);
        }
        self.forget();
        leads.sort_by(|one, other| other.total_cmp(one));
        (scores, leads.iter().take(LEAD_LINKS).sum::<f32>() / LEAD_LINKS as f32)
    }

    /// Keeps what speaks for a URL; tells whether it is the first link to it.
    fn wait(&mut self, url: Fingerprint, evidence: Evidence) -> bool {
        if let Some(known) = self.waiting.get_mut(&url) {
            known.join(evidence);
            return false;
        }
        self.waiting.insert(url, evidence).is_none()
    }

    /// Keeps the better half of what waits when there is too much of it.
    fn forget(&mut self) {
        if self.waiting.len() <= self.links_max {
            return;
        }
        let all = self.waiting.keys().map(|url| (self.score(*url).unwrap_or_default(), *url));
        let mut all: Vec<(f32, Fingerprint)> = all.collect();
        all.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        for (_, url) in &all[..all.len() - self.links_max / 2] {
            self.waiting.remove(url);
        }
    }

    /// Learns from what became of a URL, `followed` if there was a link to it.
    fn learn(&mut self, url: &CrawlUrl, followed: Option<&Evidence>, relevance: f32, lead: f32) {
        if let Some(evidence) = followed {
            let worth = relevance + (1.0 - relevance) * LEAD_SHARE * lead;
            let found = Found { places: &self.places, hubs: &self.hubs, mean: self.mean.value() };
            self.predictor.learn(evidence, &found, worth);
        }
        self.count(url, followed, relevance);
    }

    /// Counts a page for the places that it lies in, and for the pages that link to it.
    fn count(&mut self, url: &CrawlUrl, followed: Option<&Evidence>, relevance: f32) {
        let hubs = followed.iter().flat_map(|evidence| &evidence.hubs);
        hubs.for_each(|hub| self.hubs.add(*hub, relevance));
        places(url).iter().for_each(|place| self.places.add(*place, relevance));
        self.mean.add(relevance, 1.0);
    }

    fn found(&self) -> Found<'_> {
        Found { places: &self.places, hubs: &self.hubs, mean: self.mean.value() }
    }
}

fn at_most(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
