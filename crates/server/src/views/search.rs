//! Full-text search: over one crawl, while it runs or after, and over all that are shown.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use larm_core::Limits;
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_graph::stored::Ranks;
use larm_search::query::{By, Filter};
use larm_search::{Hit as Page, Request, SearchError, SearchIndex, Snippet};
use serde::Serialize;
use utoipa::ToSchema;

use super::kept::Kept;
use crate::problem::Problem;

/// What a found word stands between in a snippet: two characters that no page can have there.
const MARK_BEGIN: char = '\u{e000}';
const MARK_END: char = '\u{e001}';

/// A page that was found.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Hit {
    /// Where it is.
    pub url: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// How well it fits; only good for comparing.
    pub score: f32,
    /// A piece of it, with each found word between U+E000 and U+E001.
    pub snippet: String,
    /// Its host.
    pub host: String,
    /// Its date, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<u64>,
    /// Its language, by two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// Its media type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// How many pages that say nearly the same are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<usize>,
    /// Other URLs with the very same bytes, some of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
    /// The crawl that it is from, where several are searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl: Option<String>,
    /// The archived copy as a path of this server, where several crawls are searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct Found {
    /// Pages that fit.
    pub total: u64,
    /// Pages that can be found at all.
    pub pages: u64,
    /// The best of them, or those from `offset` on.
    pub hits: Vec<Hit>,
    /// Words that no page has.
    pub missing: Vec<String>,
    /// What else should be known: that the query was cut, that the index lacks pages.
    pub notes: Vec<String>,
    /// Milliseconds that it took.
    pub ms: u64,
}

/// The indexes that are open.
pub struct Indexes {
    kept: Kept<Open>,
}

/// An index, and which commit of it is looked at.
pub struct Open {
    index: SearchIndex,
    ranks: Option<Ranks>,
    commit: Mutex<Option<SystemTime>>,
}

impl Indexes {
    /// None yet.
    pub fn new(limits: &Limits) -> Self {
        Self { kept: Kept::new(limits.server_views_max) }
    }

    /// Forgets the index of a crawl.
    pub fn forget(&self, dir: &Path) {
        self.kept.forget(dir);
    }

    /// The index of the crawl in `dir`, at its last commit.
    pub fn open(&self, dir: &Path, limits: &Limits) -> Result<Arc<Open>, SearchError> {
        if let Some(open) = self.kept.get(dir).filter(|open| open.go_on(dir)) {
            return Ok(open);
        }
        let commit = Mutex::new(committed(dir));
        let index = SearchIndex::open(dir, limits)?;
        let ranks = Ranks::open(dir).ok().flatten();
        Ok(self.kept.put(dir, Open { index, ranks, commit }))
    }
}

impl Open {
    /// Looks at the last commit, if there is a newer one. `false` if this index is gone.
    fn go_on(&self, dir: &Path) -> bool {
        let mut known = self.commit.lock().unwrap_or_else(PoisonError::into_inner);
        let last = committed(dir);
        if last.is_none() || (self.ranks.is_none() && larm_graph::stored::path_in(dir).exists()) {
            return false;
        }
        let is_current = *known == last || self.index.reload().is_ok();
        *known = last;
        is_current
    }

    /// Titles of pages, where they are known.
    pub fn titles(&self, urls: &[&str]) -> Vec<Option<String>> {
        let pages: Vec<_> = urls.iter().map(|url| Fingerprint::of(url)).collect();
        self.index.titles(&pages).unwrap_or_else(|_| vec![None; urls.len()])
    }

    /// Answers a query.
    pub fn search(&self, request: &Request) -> Result<Found, SearchError> {
        let importance = |page| {
            let ranks = self.ranks.as_ref()?;
            let rank = ranks.of(page).ok().flatten()?;
            Some(rank * ranks.len() as f32)
        };
        let found = self.index.search(request, &importance)?;
        let cut = found
            .is_cut
            .then(|| "The query is too long; only its beginning was looked at.".to_owned());
        let lacks = self
            .index
            .why_incomplete()
            .map(|why| format!("The index lacks pages of this crawl: {why}."));
        Ok(Found {
            total: found.total,
            pages: found.pages,
            hits: found.hits.into_iter().map(hit).collect(),
            missing: found.missing,
            notes: cut.into_iter().chain(lacks).collect(),
            ms: 0,
        })
    }
}

/// When the index was committed last.
fn committed(dir: &Path) -> Option<SystemTime> {
    std::fs::metadata(dir.join("search/index/meta.json")).ok()?.modified().ok()
}

fn hit(page: Page) -> Hit {
    let host = CrawlUrl::from_canonical(&page.url).map(|url| url.host().to_owned());
    Hit {
        host: host.unwrap_or_default(),
        snippet: marked(&page.snippet),
        url: page.url,
        title: page.title,
        score: page.score,
        date: Some(page.date).filter(|date| *date > 0),
        lang: Some(page.lang).filter(|lang| !lang.is_empty()),
        media: Some(page.media).filter(|media| !media.is_empty()),
        near: Some(page.similar).filter(|similar| *similar > 0),
        copies: page.copies,
        crawl: None,
        replay: None,
    }
}

/// The text of a snippet with marks around the found words. Marks that the page itself has are left out.
fn marked(snippet: &Snippet) -> String {
    let mut out = String::with_capacity(snippet.text.len() + 8 * snippet.marks.len());
    let mut at = 0;
    let push = |out: &mut String, text: &str| {
        out.extend(text.chars().filter(|&c| c != MARK_BEGIN && c != MARK_END));
    };
    for mark in &snippet.marks {
        push(&mut out, &snippet.text[at..mark.start]);
        out.push(MARK_BEGIN);
        push(&mut out, &snippet.text[mark.clone()]);
        out.push(MARK_END);
        at = mark.end;
    }
    push(&mut out, &snippet.text[at..]);
    out
}

/// A filter beside the query; nothing if the text is empty.
pub fn filter(name: &str, value: &str) -> Result<Option<Filter>, Problem> {
    if value.trim().is_empty() {
        return Ok(None);
    }
    let by = By::named(name, value.trim());
    by.map(|by| Some(Filter { by, excludes: false })).ok_or_else(|| {
        let shown = larm_core::parse::cut(value, 60);
        Problem::invalid(name, format!("`{shown}` is no value of `{name}`."))
    })
}

/// Why a crawl cannot be searched, in words.
pub fn problem(error: SearchError) -> Problem {
    match error {
        SearchError::NoIndex => Problem::not_found("This crawl has no search index: it runs without one, or has not begun yet.")
            .hint("Crawls keep an index unless `no-index = true` is set; `larm rebuild` makes one from the archive."),
        other => Problem::internal(format!("The crawl cannot be searched: {other}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_words_are_marked_and_no_page_can_forge_a_mark() {
        let text = "a \u{e000}red\u{e001} wing".to_owned();
        let at = text.find("wing").unwrap();
        let mark = at..at + 4;
        let snippet = Snippet { marks: Vec::from([mark]), text };
        assert_eq!(marked(&snippet), "a red \u{e000}wing\u{e001}");
    }
}
