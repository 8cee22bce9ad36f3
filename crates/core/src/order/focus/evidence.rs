//! What is known of a page that nobody has seen yet: the links to it, and its URL.
//!
//! Of each link: how relevant the page is that has it, what its title, the link's own text and the text beside it
//! promise, and the words of all of these. Of the URL: its words, and the places that it lies in. Links to one page come
//! together in one piece of evidence, of bounded size.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::bag::place;
use super::topic::Judge;
use super::words::{distinct, distinct_forms, each, in_role};
use crate::url::CrawlUrl;

/// Words of all links to a page that are kept.
const WORDS_MAX: usize = 48;
/// Words of the title of a page with links that count as its links' words, and of its path.
const HUB_WORDS: usize = 8;
/// Links to a page whose texts are read.
const LINKS_READ: u16 = 8;
/// Pages that link to a page and are remembered with it.
const HUBS_MAX: usize = 4;
/// Roles of words: of the link's own text, of the text beside it, of the URL.
const OWN: u32 = 2;
const BESIDE: u32 = 3;
const URL: u32 = 4;
/// And of the page with the link: of its title, and of its path.
const HUB_TITLE: u32 = 5;
const HUB_PATH: u32 = 6;
/// Words beside a link that are kept, those nearest to it.
const BESIDE_WORDS: usize = 6;

/// A link as it was found.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Where it leads.
    pub url: &'a CrawlUrl,
    /// Its own text.
    pub text: &'a str,
    /// The text before it and behind it, as much of it as belongs to it: some ten words each.
    pub beside: (&'a str, &'a str),
}

/// A page with links, as far as it speaks for them.
pub(super) struct Hub<'a> {
    pub url: &'a CrawlUrl,
    /// What it is worth, with what it inherited.
    pub source: f32,
    /// What its title promises.
    title: f32,
    /// What the plurals in it promise.
    title_list: f32,
    /// How many links it has.
    links: u16,
    words: Vec<u16>,
}

impl<'a> Hub<'a> {
    /// With a title, or none, and so many links.
    pub fn of(
        url: &'a CrawlUrl,
        title: &str,
        source: f32,
        links: &[Link<'_>],
        judge: &Judge,
    ) -> Self {
        let ((title, plurals), path) = (distinct_forms(title), distinct(url.path()));
        let in_place = |role| move |feature: &u32| place(in_role(*feature, role));
        let words = title.iter().take(HUB_WORDS).map(in_place(HUB_TITLE));
        let words = words.chain(path.iter().take(HUB_WORDS).map(in_place(HUB_PATH))).collect();
        let links = u16::try_from(links.len()).unwrap_or(u16::MAX);
        let title_list = judge.promise_of_list(&plurals);
        Self { url, source, title: judge.promise(&title), title_list, links, words }
    }

    /// Its number among those that are remembered.
    pub fn id(&self) -> u32 {
        self.url.fingerprint().0 as u32
    }
}

/// What speaks for a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Evidence {
    /// The best page that links to it, with what that one inherited.
    pub source: f32,
    /// What the best title of a page that links to it promises.
    pub title: f32,
    /// What the plurals in the best such title promise: a list of what is looked for.
    pub title_list: f32,
    /// How many links the page has that was the first to link to it.
    pub listed: u16,
    /// What the best text of a link promises.
    pub own: f32,
    /// What the best text beside a link promises.
    pub beside: f32,
    /// What the words of the URL promise.
    pub url: f32,
    /// What the plurals in the best text of a link, or in the URL, promise.
    pub list: f32,
    /// Links to it.
    pub links: u16,
    /// Pages that link to it.
    pub hubs: Vec<u32>,
    /// Places that its URL lies in, the widest first.
    pub places: [u32; 3],
    /// Places of words in the weights.
    pub words: Vec<u16>,
}

impl Evidence {
    /// Of one link of a page.
    pub fn of(link: &Link<'_>, hub: &Hub<'_>, judge: &Judge) -> Self {
        let (own, own_plurals) = distinct_forms(link.text);
        let beside = beside_words(link.beside);
        let (url, url_plurals) = distinct_forms(link.url.path_and_query());
        let lists = [own_plurals, url_plurals].map(|plurals| judge.promise_of_list(&plurals));
        let mut words = Vec::with_capacity(own.len() + beside.len() + url.len());
        for (role, features) in [(OWN, &own), (URL, &url), (BESIDE, &beside)] {
            words.extend(features.iter().map(|feature| place(in_role(*feature, role))));
        }
        words.truncate(WORDS_MAX - hub.words.len());
        words.extend(&hub.words);
        Self {
            source: hub.source,
            title: hub.title,
            title_list: hub.title_list,
            listed: hub.links,
            own: judge.promise(&own),
            beside: judge.promise(&beside),
            url: judge.promise(&url),
            list: lists[0].max(lists[1]),
            links: 1,
            hubs: vec![hub.id()],
            places: places(link.url),
            words,
        }
    }

    /// What must be numbers.
    pub fn numbers(&self) -> [f32; 7] {
        let Self { source, title, title_list, own, beside, url, list, .. } = *self;
        [source, title, title_list, own, beside, url, list]
    }

    /// Whether so many links were read that further ones will say the same: most links of a site
    /// are on all of its pages.
    pub fn is_told(&self) -> bool {
        self.links >= LINKS_READ
    }

    /// Counts one more link, whose texts are not read; it is not the first.
    pub fn again(&mut self, hub: u32, source: f32) -> bool {
        self.source = self.source.max(source);
        self.links = self.links.saturating_add(1);
        if !self.hubs.contains(&hub) && self.hubs.len() < HUBS_MAX {
            self.hubs.push(hub);
        }
        false
    }

    /// Adds what another link to the same page says.
    pub fn join(&mut self, other: Self) {
        for hub in &other.hubs {
            self.again(*hub, other.source);
        }
        self.title = self.title.max(other.title);
        self.title_list = self.title_list.max(other.title_list);
        self.list = self.list.max(other.list);
        self.own = self.own.max(other.own);
        self.beside = self.beside.max(other.beside);
        for word in other.words {
            if !self.words.contains(&word) && self.words.len() < WORDS_MAX {
                self.words.push(word);
            }
        }
    }
}

/// The words nearest to a link on either side.
fn beside_words((before, behind): (&str, &str)) -> Vec<u32> {
    let (mut words, mut after) = (Vec::new(), Vec::new());
    each(before, |feature| words.push(feature));
    each(behind, |feature| after.push(feature));
    words.drain(..words.len().saturating_sub(BESIDE_WORDS));
    words.extend(after.into_iter().take(BESIDE_WORDS));
    words.sort_unstable();
    words.dedup();
    words
}

/// Host; URLs of the same first directory, depth and ending; directory.
pub(super) fn places(url: &CrawlUrl) -> [u32; 3] {
    let host = xxh3_64(url.host().as_bytes());
    let (directory, name) = url.path().rsplit_once('/').unwrap_or_default();
    let first = directory.split('/').nth(1).unwrap_or_default();
    let depth = directory.matches('/').count() as u64;
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let form = xxh3_64_with_seed(ending.as_bytes(), depth * 2 + u64::from(name.is_empty()));
    let shape = xxh3_64_with_seed(first.as_bytes(), host ^ form);
    [host, shape, xxh3_64_with_seed(directory.as_bytes(), host)].map(|hash| hash as u32)
}
