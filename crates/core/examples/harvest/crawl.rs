//! A crawl without a network: pages in the order in which a crawler would fetch them.

use std::collections::VecDeque;

use larm_core::Limits;
use larm_core::order::focus::{Focus, Link, Topic};

use crate::live::{LINKS_PER_PAGE, PAGES_MIN};
use crate::random::Random;
use crate::web::{Sheet, Web};

/// What a crawl may fetch, and where it begins.
pub struct Start<'a> {
    pub web: &'a Web,
    pub seeds: &'a [usize],
    pub within: &'a dyn Fn(&Sheet) -> bool,
    /// Links that lead out of there are followed as well, in vain.
    pub is_live: bool,
}

impl Start<'_> {
    fn follows(&self, page: usize) -> bool {
        self.is_live || self.is_there(page)
    }

    /// Whether there is a page, and not a dead link.
    pub fn is_there(&self, page: usize) -> bool {
        (self.within)(&self.web.pages[page])
    }

    pub fn new_links(&self, page: usize, known: &mut [bool]) -> Vec<usize> {
        let targets = self.web.pages[page].links.iter().map(|link| link.target);
        let new = targets.filter(|&target| {
            let is_new = !known[target] && self.follows(target);
            known[target] |= is_new;
            is_new
        });
        new.collect()
    }

    pub fn known(&self) -> Vec<bool> {
        let mut known = vec![false; self.web.pages.len()];
        self.seeds.iter().for_each(|&seed| known[seed] = true);
        known
    }

    /// First come, first served.
    pub fn breadth_first(&self) -> Vec<usize> {
        let (mut known, mut fetched) = (self.known(), Vec::new());
        let mut waiting: VecDeque<usize> = self.seeds.iter().copied().collect();
        while let Some(page) = waiting.pop_front() {
            if self.is_there(page) {
                fetched.push(page);
            }
            waiting.extend(self.new_links(page, &mut known));
        }
        fetched
    }

    /// Any of those that wait.
    pub fn random(&self, seed: u64) -> Vec<usize> {
        let (mut known, mut fetched) = (self.known(), Vec::new());
        let (mut waiting, mut random) = (self.seeds.to_vec(), Random(seed));
        while !waiting.is_empty() {
            let at = random.below(waiting.len() as u64) as usize;
            let page = waiting.swap_remove(at);
            fetched.push(page);
            waiting.extend(self.new_links(page, &mut known));
        }
        fetched
    }

    /// The seeds, then always the link that promises most.
    pub fn focused(&self, topic: &Topic, when: Scoring) -> Vec<usize> {
        let mut focus = Focus::new(topic.clone(), &Limits::default());
        let (mut known, mut fetched) = (self.known(), Vec::new());
        let mut scores = vec![0.0_f32; self.web.pages.len()];
        let (mut waiting, mut since) = (self.seeds.to_vec(), 0);
        waiting.iter().for_each(|&seed| scores[seed] = 2.0);
        while let Some(at) = best(&waiting, &scores) {
            let page = waiting.swap_remove(at);
            fetched.push(page);
            self.read(page, &mut focus, &mut scores);
            waiting.extend(self.new_links(page, &mut known));
            since += 1;
            if since >= when.pages(waiting.len()) {
                since = 0;
                for &page in &waiting {
                    let now = focus.score(self.web.pages[page].url.fingerprint());
                    scores[page] = now.unwrap_or(scores[page]);
                }
            }
        }
        fetched
    }

    pub fn read(&self, page: usize, focus: &mut Focus, scores: &mut [f32]) {
        let sheet = &self.web.pages[page];
        let links = sheet.links.iter().filter(|link| self.follows(link.target));
        let found: Vec<(usize, Link<'_>)> = links
            .map(|link| {
                let url = &self.web.pages[link.target].url;
                let beside = (link.before.as_str(), link.behind.as_str());
                (link.target, Link { url, text: &link.text, beside })
            })
            .collect();
        let links: Vec<Link<'_>> = found.iter().map(|(_, found)| *found).collect();
        let reading = focus.read(&sheet.url, &sheet.title, &sheet.text, &links);
        for ((target, _), score) in found.iter().zip(reading.links) {
            scores[*target] = scores[*target].max(score);
        }
    }
}

/// When it is looked up what a waiting link promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scoring {
    /// When a link to it is found.
    Once,
    /// And again after every sixteen pages.
    InBatches,
    /// And again as often as a live crawl looks it up.
    AsLive,
}

impl Scoring {
    fn pages(self, waiting: usize) -> usize {
        match self {
            Self::Once => usize::MAX,
            Self::InBatches => 16,
            Self::AsLive => PAGES_MIN + waiting / LINKS_PER_PAGE,
        }
    }
}

/// The first of the best.
fn best(waiting: &[usize], scores: &[f32]) -> Option<usize> {
    let by_score = |&one: &usize, &other: &usize| {
        let (one, other) = (waiting[one], waiting[other]);
        scores[one].total_cmp(&scores[other]).then(other.cmp(&one))
    };
    (0..waiting.len()).max_by(by_score)
}
