//! The pages of WebKB with their classes and links, as a web that can be crawled without a network.
//!
//! What links to what is said by the index of the set. The texts of a link are those of the anchors of the
//! page that lead to the same URL; where a page has none such (a redirect lay between), they are empty.

use std::collections::HashMap;

use larm_core::Limits;
use larm_core::order::focus::BESIDE_BYTES;
use larm_core::parse::{Input, Page, parse};
use larm_core::url::{Base, CrawlUrl, UrlRules, canonicalise};
use url::Url;

use crate::testdata;

/// The university of pages that are not there.
pub const DEAD: &str = "none";

/// All pages, by their place in the index.
pub struct Web {
    pub pages: Vec<Sheet>,
}

/// One page, as far as a focused crawl needs it.
pub struct Sheet {
    pub url: CrawlUrl,
    pub class: String,
    pub university: String,
    pub title: String,
    pub text: String,
    pub links: Vec<Link>,
}

/// A link of a page.
pub struct Link {
    pub target: usize,
    pub text: String,
    pub before: String,
    pub behind: String,
}

/// A line of the index.
struct Row {
    url: CrawlUrl,
    class: String,
    university: String,
    file: String,
    header_bytes: usize,
    links: Vec<usize>,
}

impl Web {
    /// `None`, after saying so, where there is no test data.
    pub fn read() -> Option<Self> {
        Self::made_of(|_| None)
    }

    /// The same with the links that lead out of the set: behind its pages there is one without a word for each URL.
    pub fn read_with_dead() -> Option<Self> {
        Self::made_of(|urls| Some(Dead::beside(urls)))
    }

    fn made_of(dead: impl Fn(&[CrawlUrl]) -> Option<Dead>) -> Option<Self> {
        let index = testdata::gunzip(&testdata::file("topic/webkb-index.jsonl.gz")?);
        let files = testdata::archive("topic/webkb-pages.tar.gz")?;
        let files: HashMap<String, Vec<u8>> = files.into_iter().collect();
        let index = String::from_utf8(index).unwrap();
        let rows: Vec<Row> = index.lines().map(row).collect();
        let urls: Vec<CrawlUrl> = rows.iter().map(|row| row.url.clone()).collect();
        let mut dead = dead(&urls);
        let body = |row: &Row| files[&row.file][row.header_bytes..].to_vec();
        let mut pages: Vec<Sheet> =
            rows.iter().map(|row| sheet(row, &body(row), &urls, dead.as_mut())).collect();
        pages.extend(dead.into_iter().flat_map(|dead| dead.sheets));
        Some(Self { pages })
    }

    /// The pages that can be reached from some, by links within `within`.
    pub fn reach(&self, seeds: &[usize], within: &dyn Fn(&Sheet) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.pages.len()];
        let mut next = seeds.to_vec();
        seeds.iter().for_each(|&seed| reached[seed] = true);
        while let Some(page) = next.pop() {
            for link in &self.pages[page].links {
                if !reached[link.target] && within(&self.pages[link.target]) {
                    reached[link.target] = true;
                    next.push(link.target);
                }
            }
        }
        reached
    }
}

/// What lies outside of the set.
struct Dead {
    sheets: Vec<Sheet>,
    /// The number of every page, those of the set included.
    numbers: HashMap<CrawlUrl, usize>,
}

impl Dead {
    fn beside(urls: &[CrawlUrl]) -> Self {
        Self { sheets: Vec::new(), numbers: urls.iter().cloned().zip(0..).collect() }
    }

    /// The number of a URL.
    fn meet(&mut self, url: &CrawlUrl) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(url.clone()).or_insert_with(|| {
            let none = String::new;
            self.sheets.push(Sheet {
                url: url.clone(),
                class: none(),
                university: DEAD.to_owned(),
                title: none(),
                text: none(),
                links: Vec::new(),
            });
            next
        })
    }
}

fn row(line: &str) -> Row {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    let text = |key: &str| value[key].as_str().unwrap().to_owned();
    let number = |value: &serde_json::Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    Row {
        url: url(&text("url")),
        class: text("cls"),
        university: text("uni"),
        file: text("file"),
        header_bytes: number(&value["header_bytes"]),
        links: value["links"].as_array().unwrap().iter().map(number).collect(),
    }
}

/// The URL of a page. In the index `:` is written `_` after a scheme other than http, and before a port;
/// pages that came by another scheme are taken for pages of the web.
fn url(text: &str) -> CrawlUrl {
    let (_, rest) = text.split_once("//").unwrap();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.replace('_', ":");
    let url = format!("http://{}/{path}", if host.is_empty() { "localhost" } else { &host });
    canonicalise(Url::parse(&url).unwrap(), &UrlRules::default()).unwrap()
}

fn sheet(row: &Row, body: &[u8], urls: &[CrawlUrl], dead: Option<&mut Dead>) -> Sheet {
    let at = row.url.to_url();
    let input = Input { url: &at, content_type: Some("text/html"), body, text: true };
    let page = parse(&input, &Limits::default());
    Sheet {
        url: row.url.clone(),
        class: row.class.clone(),
        university: row.university.clone(),
        links: links(row, &at, &page, urls, dead),
        title: page.title.unwrap_or_default(),
        text: page.text,
    }
}

/// What the index says, each link with its texts.
fn links(
    row: &Row,
    url: &Url,
    page: &Page,
    urls: &[CrawlUrl],
    dead: Option<&mut Dead>,
) -> Vec<Link> {
    let base = page.base.as_ref().unwrap_or(url);
    let rules = UrlRules::default();
    let base = Base::new(base, page.encoding(), &rules);
    let found: Vec<Option<CrawlUrl>> =
        page.links().map(|link| base.link(link.target).ok()).collect();
    let mut links = Vec::new();
    let mut add = |target, at: Option<usize>| {
        let text = at.and_then(|at| page.links().nth(at)).map_or("", |link| link.text);
        let (before, behind) = at.map_or(("", ""), |at| page.beside(at, BESIDE_BYTES));
        let [text, before, behind] = [text, before, behind].map(str::to_owned);
        links.push(Link { target, text, before, behind });
    };
    for &target in row.links.iter().filter(|target| urls[**target] != row.url) {
        let at = found.iter().position(|url| url.as_ref() == Some(&urls[target]));
        add(target, at);
    }
    if let Some(dead) = dead {
        let others = found.iter().enumerate().filter_map(|(at, url)| Some((at, url.as_ref()?)));
        for (at, url) in others {
            let target = dead.meet(url);
            if target >= urls.len() {
                add(target, Some(at));
            }
        }
    }
    links
}
