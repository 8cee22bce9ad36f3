//! A tiny crawler: sequential, impolite in time, obedient in everything else.
//!
//! It reads what the server sends and nothing else, but for the traps and actions, of which it asks
//! the truth what to leave alone.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io::Read;

use flate2::read::GzDecoder;
use larm_testsite::{Kind, TestSite, Truth};
use url::Url;

use crate::client::{Answer, get};
use crate::html;
use crate::robots::Robots;

const TRIES: usize = 2;

/// What the crawl found.
#[derive(Debug, Default)]
pub struct Crawl {
    /// Final status of each URL, 0 where there was none.
    pub statuses: BTreeMap<String, u16>,
    pub bodies: BTreeMap<String, Vec<u8>>,
    pub titles: BTreeMap<String, String>,
    pub forbidden: BTreeSet<String>,
    pub nofollow: BTreeSet<String>,
    pub actions: BTreeSet<String>,
}

/// Crawls a site from its seeds.
pub fn crawl(site: &TestSite) -> Crawl {
    let truth = site.truth();
    let crawl = Crawl::default();
    let mut worker = Worker { site, truth, crawl, robots: HashMap::new(), queue: VecDeque::new() };
    for seed in site.seeds() {
        worker.offer(&seed);
    }
    while let Some(url) = worker.queue.pop_front() {
        worker.visit(&url);
    }
    let mut crawl = worker.crawl;
    let known = &crawl.statuses;
    crawl.nofollow.retain(|url| !known.contains_key(url));
    crawl
}

struct Worker<'s> {
    site: &'s TestSite,
    truth: Truth,
    crawl: Crawl,
    robots: HashMap<String, Robots>,
    queue: VecDeque<String>,
}

impl Worker<'_> {
    /// Takes a URL that was found, unless it is known, closed, or outside this web.
    fn offer(&mut self, url: &str) {
        let url = Url::parse(url).unwrap();
        let text = without_fragment(&url);
        let inside = url.scheme() == "http" && url.port() == Some(self.site.port());
        if !inside || self.crawl.statuses.contains_key(&text) || self.truth.trap_of(&text).is_some()
        {
            return;
        }
        if !self.robots_of(&url).allow(&url[url::Position::BeforePath..url::Position::AfterQuery]) {
            self.crawl.forbidden.insert(text);
        } else if self.truth.actions.contains(&text) {
            self.crawl.actions.insert(text);
        } else {
            self.crawl.statuses.insert(text.clone(), 0);
            self.queue.push_back(text);
        }
    }

    fn robots_of(&mut self, url: &Url) -> &Robots {
        let origin = url.origin().ascii_serialization();
        if !self.robots.contains_key(&origin) {
            let robots = self.fetch_robots(&format!("{origin}/robots.txt"));
            let sitemaps = robots.sitemaps.clone();
            self.robots.insert(origin.clone(), robots);
            sitemaps.iter().for_each(|sitemap| self.offer(sitemap));
        }
        &self.robots[&origin]
    }

    fn fetch_robots(&self, url: &str) -> Robots {
        let answer = self.fetch(url);
        match answer.status {
            200 => Robots::parse(&String::from_utf8_lossy(&answer.body)),
            300..400 => {
                let base = Url::parse(url).unwrap();
                self.fetch_robots(base.join(answer.field("Location").unwrap()).unwrap().as_str())
            }
            500.. => Robots { shut: true, ..Robots::default() },
            _ => Robots::default(),
        }
    }

    /// Fetches, and tries again at once what may be better the next time.
    fn fetch(&self, url: &str) -> Answer {
        let mut answer = get(self.site, url);
        for _ in 1..TRIES {
            if answer.status == 429 || answer.status >= 500 {
                answer = get(self.site, url);
            }
        }
        answer
    }

    /// What a wall links to is no part of the web. To know one is not for this crawler to show.
    fn is_wall(&self, url: &str) -> bool {
        self.truth.pages.get(url).is_some_and(|expect| expect.kind == Kind::Walled)
    }

    fn visit(&mut self, url: &str) {
        let answer = self.fetch(url);
        self.crawl.statuses.insert(url.to_owned(), answer.status);
        self.crawl.bodies.insert(url.to_owned(), answer.body.clone());
        let base = Url::parse(url).unwrap();
        if let Some(location) = answer.field("Location") {
            self.offer(base.join(location).unwrap().as_str());
        }
        let content_type = answer.field("Content-Type").unwrap_or("text/html");
        if url.ends_with(".xml") || url.ends_with(".gz") {
            let found = locations(&answer.body);
            found.iter().for_each(|at| self.offer(base.join(at).unwrap().as_str()));
        } else if content_type.starts_with("text/html")
            && answer.status == 200
            && !self.is_wall(url)
        {
            self.read_page(&base, &answer);
        } else if content_type == "text/css" {
            let text = String::from_utf8_lossy(&answer.body);
            let inside = text.split("url(").skip(1).filter_map(|rest| rest.split(')').next());
            inside.for_each(|link| self.offer(base.join(link).unwrap().as_str()));
        }
    }

    fn read_page(&mut self, url: &Url, answer: &Answer) {
        let (text, windows) = decoded(answer);
        let page = html::scan(&text);
        self.crawl.titles.insert(url.to_string(), page.title);
        let base = page.base.map_or_else(|| url.clone(), |base| url.join(&base).unwrap());
        let quiet = page.nofollow || answer.field("X-Robots-Tag").is_some();
        for link in page.links {
            let Some(target) = resolve(&base, &link.href, windows) else {
                continue;
            };
            if quiet || link.nofollow {
                self.crawl.nofollow.insert(without_fragment(&target));
            } else {
                self.offer(target.as_str());
            }
        }
    }
}

fn without_fragment(url: &Url) -> String {
    url[..url::Position::AfterQuery].to_owned()
}

/// Queries of windows-1252 pages are written in it.
fn resolve(base: &Url, href: &str, windows: bool) -> Option<Url> {
    fn latin(text: &str) -> Cow<'_, [u8]> {
        text.chars().map(|c| c as u8).collect()
    }
    let options = Url::options().base_url(Some(base));
    let options = if windows { options.encoding_override(Some(&latin)) } else { options };
    options.parse(href).ok()
}

/// The text of a page, and whether it is windows-1252.
fn decoded(answer: &Answer) -> (String, bool) {
    let content_type = answer.field("Content-Type").unwrap_or_default();
    let latin: String = answer.body.iter().map(|byte| char::from(*byte)).collect();
    let units = |join: fn([u8; 2]) -> u16, body: &[u8]| {
        let pairs: Vec<_> = body.chunks_exact(2).map(|pair| join([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&pairs)
    };
    if let Some(body) = answer.body.strip_prefix(b"\xff\xfe") {
        (units(u16::from_le_bytes, body), false)
    } else if content_type.contains("utf-16be") {
        (units(u16::from_be_bytes, &answer.body), false)
    } else if content_type.contains("windows-1252") || latin.contains("charset=windows-1252") {
        (latin, true)
    } else {
        (String::from_utf8_lossy(&answer.body).into_owned(), false)
    }
}

fn locations(body: &[u8]) -> Vec<String> {
    let mut text = String::new();
    if GzDecoder::new(body).read_to_string(&mut text).is_err() {
        text = String::from_utf8_lossy(body).into_owned();
    }
    let between = |open: &'static str, close: &'static str| {
        text.split(open).skip(1).filter_map(move |rest| rest.split(close).next())
    };
    let inside = between("<loc>", "</loc>")
        .chain(between("<image:loc>", "</image:loc>"))
        .chain(between("<enclosure url=\"", "\""));
    inside.map(str::to_owned).collect()
}
