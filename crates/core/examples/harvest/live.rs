//! A crawl as it goes live: most links are dead, several pages are on their way at once, and what a page says is
//! read late.
//!
//! On a busy machine the reader of pages stands still for a while, and the crawl goes on by what it knew before.
//! What comes when is drawn from a seed, so one start gives many crawls.

use std::collections::HashMap;

use larm_core::Limits;
use larm_core::order::focus::{Focus, Topic};

use crate::crawl::Start;
use crate::random::Random;

/// Pages on their way at once.
const UNDER_WAY: usize = 2;
/// Once in so many pages the reader stands still.
const STILL_ONE_IN: u64 = 8;
/// For so many pages in the mean.
const STILL_PAGES: f64 = 12.0;
/// Pages that are read before links are scored anew, at least, and waiting links for one page more.
pub const PAGES_MIN: usize = 1;
pub const LINKS_PER_PAGE: usize = 1_024;
/// What a link promises that nobody has read yet.
const UNREAD: f32 = 0.02;
/// Of so many turns one is for the host that waits longest, and of so many one for the page that does.
const FAIR_HOSTS: usize = 8;
const FAIR_PLACES: usize = 32;
/// Requests for each page that is wanted in the end: most are in vain.
const REQUESTS_PER_PAGE: usize = 8;

/// What waits, what is on its way, and what has come and was not read.
pub struct Live<'a> {
    start: &'a Start<'a>,
    focus: Focus,
    random: Random,
    scores: Vec<f32>,
    known: Vec<bool>,
    waiting: Vec<usize>,
    under_way: Vec<usize>,
    unread: Vec<usize>,
    /// Pages for which the reader will stand still.
    still: usize,
    /// Pages read since links were scored.
    read: usize,
    turns: usize,
    hosts: Vec<usize>,
    /// By host: its last turn.
    last_turns: Vec<usize>,
}

impl<'a> Live<'a> {
    pub fn new(start: &'a Start<'a>, topic: &Topic, seed: u64) -> Self {
        let (hosts, count) = hosts(start);
        let mut live = Self {
            start,
            focus: Focus::new(topic.clone(), &Limits::default()),
            random: Random(seed),
            scores: vec![UNREAD; start.web.pages.len()],
            known: start.known(),
            waiting: start.seeds.to_vec(),
            under_way: Vec::new(),
            unread: Vec::new(),
            still: 0,
            read: 0,
            turns: 0,
            hosts,
            last_turns: vec![0; count],
        };
        start.seeds.iter().for_each(|seed| live.scores[*seed] = 2.0);
        live
    }

    /// The pages that there were, in order, until there are enough of them.
    pub fn crawl(mut self, enough: usize) -> Vec<usize> {
        let mut fetched = Vec::new();
        let requests_max = enough * REQUESTS_PER_PAGE;
        while fetched.len() < enough && self.turns < requests_max && self.lease() {
            let at = self.random.below(self.under_way.len() as u64) as usize;
            let page = self.under_way.swap_remove(at);
            if self.start.is_there(page) {
                fetched.push(page);
                let new = self.start.new_links(page, &mut self.known);
                self.waiting.extend(new);
            }
            self.unread.push(page);
            self.read_some();
        }
        fetched
    }

    /// Sends for pages; whether any is on its way.
    fn lease(&mut self) -> bool {
        while self.under_way.len() < UNDER_WAY && !self.waiting.is_empty() {
            self.turns += 1;
            let at = self.next();
            let page = self.waiting.remove(at);
            self.last_turns[self.hosts[page]] = self.turns;
            self.under_way.push(page);
        }
        !self.under_way.is_empty()
    }

    fn next(&self) -> usize {
        let all = 0..self.waiting.len();
        let last_turn = |at: &usize| self.last_turns[self.hosts[self.waiting[*at]]];
        if self.turns.is_multiple_of(FAIR_PLACES) {
            return all.min_by_key(last_turn).unwrap();
        }
        let is_fair = self.turns.is_multiple_of(FAIR_HOSTS);
        let oldest = all.clone().map(|at| last_turn(&at)).min().unwrap();
        let may = all.filter(|at| !is_fair || last_turn(at) == oldest);
        let score = |at: usize| self.scores[self.waiting[at]];
        may.max_by(|&one, &other| score(one).total_cmp(&score(other)).then(other.cmp(&one)))
            .unwrap()
    }

    fn read_some(&mut self) {
        if self.still > 0 {
            self.still -= 1;
            return;
        }
        if self.random.one_in(STILL_ONE_IN) {
            self.still = (STILL_PAGES * self.random.exponential()) as usize;
            return;
        }
        for page in std::mem::take(&mut self.unread) {
            self.read += 1;
            if self.start.is_there(page) {
                self.start.read(page, &mut self.focus, &mut self.scores);
            } else {
                self.focus.lost(&self.start.web.pages[page].url);
            }
        }
        if self.read >= PAGES_MIN + self.focus.waiting() / LINKS_PER_PAGE {
            self.read = 0;
            for &page in &self.waiting {
                let now = self.focus.score(self.start.web.pages[page].url.fingerprint());
                self.scores[page] = now.unwrap_or(self.scores[page]);
            }
        }
    }
}

/// The number of each page's host, and how many there are.
fn hosts(start: &Start<'_>) -> (Vec<usize>, usize) {
    let mut numbers = HashMap::new();
    let number = |host| {
        let next = numbers.len();
        *numbers.entry(host).or_insert(next)
    };
    let hosts = start.web.pages.iter().map(|sheet| sheet.url.host()).map(number).collect();
    (hosts, numbers.len())
}
