//! Orders by text (`query`, `like`): what pages are about, and what links promise.
//!
//! The line tells what a page says ([`PageText`]); a [`Focus`] reads it on the ranker's thread, and its links'
//! promises become what they are worth. Each page that is read teaches how to judge those that wait, so what
//! they promise is looked up again as the crawl goes on, rarer the more of them there are.
//!
//! An earlier run's pages are not read again: of them, the link log knows what their links say, and the
//! readings how relevant each was. What stood beside links, and which words are common, is learnt anew.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use larm_core::Limits;
use larm_core::order::focus::{Focus, Link, Topic};
use larm_core::order::{Facts, Leads, Score};
use larm_core::url::CrawlUrl;
use larm_graph::LinkFact;

use crate::frontier::Board;

/// Pages that are read before promises are looked up again, at least.
const PAGES_MIN: usize = 1;
/// Waiting links for one page more in between: looking them all up costs little for each page then.
const LINKS_PER_PAGE: usize = 1_024;
/// Promises are from 0 to 1, and an average link promises about a tenth; worth is 1 for an average page.
const WORTH_OF_PROMISE: f32 = 10.0;
/// What is promised at least, and of what nothing is known.
const PROMISE_MIN: f32 = 0.001;
const PROMISE_UNKNOWN: f32 = 0.02;

/// What a page says, and what it says of its links.
#[derive(Debug, Clone, PartialEq)]
pub struct PageText {
    /// The page.
    pub url: CrawlUrl,
    /// Its title.
    pub title: Box<str>,
    /// As much of its text as is read.
    pub text: Box<str>,
    /// Links that may be followed.
    pub links: Vec<LinkText>,
}

/// A link, and what stands around it.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkText {
    /// Where it leads.
    pub url: CrawlUrl,
    /// Its own text.
    pub text: Box<str>,
    /// What stands before it, and behind it.
    pub beside: (Box<str>, Box<str>),
}

impl PageText {
    /// Of a URL that gave no page, or one that was read elsewhere.
    pub fn none(url: &CrawlUrl) -> Self {
        Self { url: url.clone(), title: "".into(), text: "".into(), links: Vec::new() }
    }

    fn is_none(&self) -> bool {
        self.title.is_empty() && self.text.is_empty() && self.links.is_empty()
    }

    fn links(&self) -> Vec<Link<'_>> {
        self.links.iter().map(LinkText::as_link).collect()
    }
}

impl LinkText {
    fn as_link(&self) -> Link<'_> {
        Link { url: &self.url, text: &self.text, beside: (&self.beside.0, &self.beside.1) }
    }
}

/// What links promise, by number, and what pages have shown: the ranker writes it, and as a score it is read.
#[derive(Debug, Clone, Default)]
pub struct Promises(Arc<Mutex<Vec<Promise>>>);

#[derive(Debug, Clone, Copy)]
struct Promise {
    /// From 0 to 1.
    of: f32,
    /// The page was read: what links to it say does not count any more.
    is_kept: bool,
}

const UNKNOWN: Promise = Promise { of: PROMISE_UNKNOWN, is_kept: false };

impl Promises {
    fn hold(&self) -> MutexGuard<'_, Vec<Promise>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a link says of a page that nobody has read.
    fn set(&self, page: u32, of: f32) {
        self.change(page, |known| match known.is_kept {
            true => known,
            false => Promise { of, is_kept: false },
        });
    }

    fn change(&self, page: u32, to: impl FnOnce(Promise) -> Promise) {
        let (mut promises, page) = (self.hold(), page as usize);
        if page >= promises.len() {
            promises.resize(page + 1, UNKNOWN);
        }
        promises[page] = to(promises[page]);
    }
}

impl Score for Promises {
    fn found(&mut self, page: u32, _: &Facts<'_>) {
        self.change(page, |_| UNKNOWN);
    }

    fn fetched(&mut self, leads: &Leads<'_>, changed: &mut Vec<u32>) {
        changed.extend_from_slice(leads.links);
    }

    fn worth(&self, page: u32) -> f32 {
        let promise = self.hold().get(page as usize).copied().unwrap_or(UNKNOWN);
        promise.of.max(PROMISE_MIN) * WORTH_OF_PROMISE
    }
}

/// A topic that is looked for, and what its links promise.
pub struct Reader {
    focus: Focus,
    promises: Promises,
    /// Pages read since promises were looked up.
    read: usize,
}

impl Reader {
    /// Looks for a topic, and says what it finds in `promises`.
    pub fn new(topic: &Topic, promises: Promises, limits: &Limits) -> Self {
        Self { focus: Focus::new(topic.clone(), limits), promises, read: 0 }
    }

    /// Reads a page. How relevant it is, from 0 to 1.
    pub fn read(&mut self, page: &PageText, board: &Board) -> f32 {
        self.read += 1;
        if page.is_none() {
            self.focus.lost(&page.url);
            return 0.0;
        }
        let links = page.links();
        let reading = self.focus.read(&page.url, &page.title, &page.text, &links);
        self.promise(&links, &reading.links, board);
        reading.relevance
    }

    /// A page of an earlier run, of which its links are left, what they say, and perhaps how relevant it was.
    pub fn recall<'a>(
        &mut self,
        page: &str,
        relevance: Option<f32>,
        facts: impl Iterator<Item = LinkFact<'a>>,
        board: &Board,
    ) {
        let Some(page) = CrawlUrl::from_canonical(page) else { return };
        self.read += 1;
        let followed = facts.filter(|fact| fact.is_arc() && !fact.is_rejected());
        let links =
            followed.filter_map(|fact| Some((CrawlUrl::from_canonical(fact.to)?, fact.text)));
        let links: Vec<(CrawlUrl, &str)> = links.collect();
        let links = links.iter().map(|(url, text)| Link { url, text, beside: ("", "") });
        let links: Vec<Link<'_>> = links.collect();
        let promises = match relevance {
            Some(relevance) => self.focus.recall(&page, relevance, &links),
            None => self.focus.list(&page, &links),
        };
        self.promise(&links, &promises, board);
    }

    /// What a page promised it has shown by now.
    pub fn keep_promise(&self, page: u32, relevance: f32) {
        self.promises.change(page, |_| Promise { of: relevance, is_kept: true });
    }

    fn promise(&self, links: &[Link<'_>], promises: &[f32], board: &Board) {
        for (link, promise) in links.iter().zip(promises) {
            if let Some(number) = board.number(link.url.fingerprint()) {
                self.promises.set(number, *promise);
            }
        }
    }

    /// Looks up what waiting links promise by now, if enough has been read since. Tells whether it did.
    pub fn look_up(&mut self, board: &Board) -> bool {
        if self.read < PAGES_MIN + self.focus.waiting() / LINKS_PER_PAGE {
            return false;
        }
        self.read = 0;
        for (number, url) in board.waiting() {
            if let Some(promise) = self.focus.score(url) {
                self.promises.set(number, promise);
            }
        }
        true
    }
}
