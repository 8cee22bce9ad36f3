//! Searching: opens the index of a crawl, whether it runs or not, and answers queries.
//!
//! Opening takes no lock of the crawl's and changes nothing. What is seen is the last commit of the
//! index; [`SearchIndex::reload`] looks for a later one.
//!
//! Ranking goes in three steps. The text decides which pages are candidates (`search_ranked_max` of
//! them). Links change their order: a page that much leads to is preferred among those that say the same.
//! Then near-duplicates are put behind the best of them.

use std::path::Path;

use larm_core::Limits;
use larm_core::url::Fingerprint;
use tantivy::collector::{Count, TopDocs};
use tantivy::schema::{Field, Value};
use tantivy::{DocAddress, IndexReader, ReloadPolicy, Searcher, TantivyDocument};

use crate::anchored::{docs_with, links_to};
use crate::archive::{self, Archive};
use crate::explanation::{Explanation, explain};
use crate::language::Lang;
use crate::layout::Layout;
use crate::parts::{joined, main_and_rest};
use crate::query::meaning::{Meaning, Vocabulary};
use crate::query::{Filter, Query, parse};
use crate::rank::{Candidate, Links, rank};
use crate::schema::{self, Fields};
use crate::snippet::{self, Snippet};
use crate::words::untagged;

/// How important a page is, by its URL: 1 is the average page. `None`: not known.
pub type Importance<'a> = dyn Fn(Fingerprint) -> Option<f32> + 'a;

/// Copies of a page that are named.
const COPIES_MAX: usize = 100;
/// Links with different texts that an average page has, about: what counts of links are held against.
const USUAL_LINKS: f32 = 4.0;
/// How much more of the query the frame of a page has to say than its main part, to be shown in its place: tables of
/// contents have all words close together, and tell nothing.
const REST_TIMES: f32 = 2.5;

/// Why a crawl cannot be searched.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// No index was kept.
    #[error("there is no search index")]
    NoIndex,
    /// The index is of another version of larm, or damaged.
    #[error("the search index cannot be read: {0}")]
    Unreadable(String),
    /// Something failed while searching.
    #[error("the search failed: {0}")]
    Failed(#[from] tantivy::TantivyError),
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// As typed.
    pub query: String,
    /// Filters beside those in the query.
    pub filters: Vec<Filter>,
    /// Hits wanted.
    pub limit: usize,
    /// Hits that were shown already.
    pub offset: usize,
    /// Whether near-duplicates are to be hits of their own.
    pub similar: bool,
    /// Whether hits are to have snippets, which take most of the time.
    pub snippets: bool,
    /// Whether scores are to be explained.
    pub explain: bool,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Pages that match, near-duplicates of ranked ones aside.
    pub total: u64,
    /// The best of them, or the next ones.
    pub hits: Vec<Hit>,
    /// Words that no page has.
    pub missing: Vec<String>,
    /// Whether the query was longer than what is looked at.
    pub is_cut: bool,
    /// Pages in the index.
    pub pages: u64,
}

/// A page that was found.
#[derive(Debug, Clone, Default)]
pub struct Hit {
    /// Where it is.
    pub url: String,
    /// Its title, on one line; empty if it has none.
    pub title: String,
    /// How well it fits; only good for comparing.
    pub score: f32,
    /// Why it was found.
    pub snippet: Snippet,
    /// Whether the archive could not be read for that, so that the snippet is what the page says of itself at best.
    pub is_unread: bool,
    /// Its date, in milliseconds since 1970.
    pub date: u64,
    /// Its media type.
    pub media: String,
    /// Its language; empty if it is not known.
    pub lang: String,
    /// Other URLs with the same bytes, some of them.
    pub copies: Vec<String>,
    /// How many pages that are nearly the same are not shown.
    pub similar: usize,
    /// Where its score comes from, if that was asked for.
    pub explanation: Option<Explanation>,
}

/// The index of a crawl, to be searched.
pub struct SearchIndex {
    reader: IndexReader,
    fields: Fields,
    limits: Limits,
    layout: Layout,
    archive: Archive,
}

impl SearchIndex {
    /// Opens the index of the crawl in `dir`.
    pub fn open(dir: &Path, limits: &Limits) -> Result<Self, SearchError> {
        let layout = Layout::new(dir);
        if !layout.index().join("meta.json").exists() {
            return Err(SearchError::NoIndex);
        }
        let unreadable = |error: tantivy::TantivyError| SearchError::Unreadable(error.to_string());
        let index = schema::open_to_read(&layout.index()).map_err(unreadable)?;
        let (schema, fields) = schema::schema();
        if index.schema() != schema {
            return Err(SearchError::Unreadable("it is of another version of larm".to_owned()));
        }
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader = reader.try_into().map_err(unreadable)?;
        let archive = layout.archive(limits);
        Ok(Self { reader, fields, limits: limits.clone(), layout, archive })
    }

    /// Looks at the last commit from now on.
    pub fn reload(&self) -> Result<(), SearchError> {
        Ok(self.reader.reload()?)
    }

    /// Why pages of the crawl are missing in the index, if they are.
    pub fn why_incomplete(&self) -> Option<String> {
        self.layout.why_incomplete()
    }

    /// Titles of pages by the fingerprints of their URLs, on one line each; `None` for what is no page of the
    /// index, or has no title.
    pub fn titles(&self, pages: &[Fingerprint]) -> Result<Vec<Option<String>>, SearchError> {
        let searcher = self.reader.searcher();
        let titles = pages.iter().map(|page| self.title(&searcher, *page));
        Ok(titles.collect::<tantivy::Result<_>>()?)
    }

    fn title(&self, searcher: &Searcher, page: Fingerprint) -> tantivy::Result<Option<String>> {
        for (segment_ord, reader) in (0..).zip(searcher.segment_readers()) {
            for doc_id in docs_with(reader, self.fields.url_key, page.0)? {
                let document: TantivyDocument = searcher.doc(DocAddress { segment_ord, doc_id })?;
                let title = document.get_first(self.fields.title).and_then(|title| title.as_str());
                let title = title.map(|title| snippet::one_line(untagged(title).1));
                if let Some(title) = title.filter(|title| !title.is_empty()) {
                    return Ok(Some(title));
                }
            }
        }
        Ok(None)
    }

    /// Answers a query. Importance comes from a graph, where there is one; without, links that were
    /// gathered with the pages are counted.
    pub fn search(
        &self,
        request: &Request,
        importance: &Importance<'_>,
    ) -> Result<Found, SearchError> {
        let mut query = parse(&request.query, &self.limits);
        query.filters.extend(request.filters.iter().cloned());
        let searcher = self.reader.searcher();
        let search = Search { index: self, searcher: &searcher, importance };
        Ok(search.run(&query, request)?)
    }
}

/// One search.
struct Search<'a> {
    index: &'a SearchIndex,
    searcher: &'a Searcher,
    importance: &'a Importance<'a>,
}

impl Search<'_> {
    fn run(&self, query: &Query, request: &Request) -> tantivy::Result<Found> {
        let index = self.index;
        let vocabulary = Vocabulary::new(self.searcher, index.fields, &index.limits)?;
        let meaning = vocabulary.meaning_of(query)?;
        let most = usize::try_from(index.limits.search_ranked_max).unwrap_or(usize::MAX);
        let best = TopDocs::with_limit(most).order_by_score();
        let (best, count) = self.searcher.search(&meaning.query, &(best, Count))?;
        let found = best.into_iter().map(|(score, doc)| self.candidate(score, doc, request));
        let found: Vec<Candidate> = found.collect::<tantivy::Result<_>>()?;
        let ranked = rank(found);
        let shown = ranked.shown.iter().skip(request.offset).take(request.limit);
        let hits = shown.map(|shown| self.hit(shown, &meaning, request));
        Ok(Found {
            total: (count - ranked.similar) as u64,
            hits: hits.collect::<tantivy::Result<_>>()?,
            missing: meaning.missing,
            is_cut: query.is_cut,
            pages: vocabulary.pages,
        })
    }

    fn candidate(
        &self,
        text: f32,
        doc: DocAddress,
        request: &Request,
    ) -> tantivy::Result<Candidate> {
        let numbers = self.searcher.segment_reader(doc.segment_ord).fast_fields();
        let url_key = numbers.u64("url_key")?.first(doc.doc_id).unwrap_or_default();
        Ok(Candidate {
            doc,
            url_key,
            near: numbers.u64("near")?.first(doc.doc_id).filter(|_| !request.similar),
            text,
            links: self.links_of(url_key)?,
            similar: 0,
        })
    }

    fn links_of(&self, url_key: u64) -> tantivy::Result<Links> {
        if let Some(importance) = (self.importance)(Fingerprint(url_key)) {
            return Ok(Links { importance: importance.max(0.0), counted: None });
        }
        let counted = links_to(self.searcher, &self.index.fields, url_key)?;
        Ok(Links { importance: counted as f32 / USUAL_LINKS, counted: Some(counted) })
    }

    fn hit(&self, found: &Candidate, meaning: &Meaning, request: &Request) -> tantivy::Result<Hit> {
        let fields = &self.index.fields;
        let document: TantivyDocument = self.searcher.doc(found.doc)?;
        let text_of = |field| text_of(&document, field);
        let numbers = self.searcher.segment_reader(found.doc.segment_ord).fast_fields();
        let explanation = match request.explain {
            true => Some(explain(self.searcher, found, &meaning.scored)?),
            false => None,
        };
        let (snippet, is_unread) = match request.snippets {
            true => self.snippet(&document, meaning),
            false => Default::default(),
        };
        Ok(Hit {
            url: text_of(fields.url).to_owned(),
            title: snippet::one_line(untagged(text_of(fields.title)).1),
            score: found.score(),
            snippet,
            is_unread,
            date: numbers.u64("date")?.first(found.doc.doc_id).unwrap_or_default(),
            media: text_of(fields.media).to_owned(),
            lang: text_of(fields.lang).to_owned(),
            copies: self.copies_of(found)?,
            similar: found.similar,
            explanation,
        })
    }

    /// From the main part, unless the rest says far more; else what the page says of itself. And whether its text could
    /// not be read.
    fn snippet(&self, document: &TantivyDocument, meaning: &Meaning) -> (Snippet, bool) {
        let (fields, limits) = (&self.index.fields, &self.index.limits);
        let Texts { lang, main, rest, is_unread } = self.texts(document);
        let best_in = |text: &str| snippet::best(text, lang, &meaning.shown, limits);
        let best = match (best_in(&main), best_in(&rest)) {
            (Some(main), Some(rest)) if rest.1 > main.1 * REST_TIMES => Some(rest),
            (main, rest) => main.or(rest),
        };
        let told = text_of(document, fields.description);
        let told = if told.is_empty() { &main } else { told };
        let snippet = best.map(|(snippet, _)| snippet);
        (snippet.unwrap_or_else(|| snippet::beginning(told, limits)), is_unread)
    }

    /// From the archive, or as they are stored where it does not have them. What can be read nowhere is not shown.
    fn texts(&self, document: &TantivyDocument) -> Texts {
        let fields = &self.index.fields;
        let place = archive::place_of(text_of(document, fields.place));
        let url = text_of(document, fields.url);
        let page = place.map(|place| self.index.archive.page(url, place));
        let is_unread = page.as_ref().is_some_and(Result::is_err);
        if let Some(Ok(page)) = page {
            let (main, rest) = main_and_rest(&page.text, &page.marks);
            let lang = Lang::of(text_of(document, fields.lang));
            let [main, rest] = [main, rest].map(|part| joined(&page.text, &part));
            return Texts { lang, main, rest, is_unread };
        }
        let (lang, main) = untagged(text_of(document, fields.text));
        let (_, rest) = untagged(text_of(document, fields.rest));
        Texts { lang, main: main.to_owned(), rest: rest.to_owned(), is_unread }
    }

    /// URLs that brought the same bytes, as long as the page has not changed since.
    fn copies_of(&self, found: &Candidate) -> tantivy::Result<Vec<String>> {
        let fields = &self.index.fields;
        let digest_of = |doc: DocAddress| -> tantivy::Result<Option<u64>> {
            let numbers = self.searcher.segment_reader(doc.segment_ord).fast_fields();
            Ok(numbers.u64("digest")?.first(doc.doc_id))
        };
        let digest = digest_of(found.doc)?;
        let mut copies = Vec::new();
        for (segment_ord, reader) in (0..).zip(self.searcher.segment_readers()) {
            for doc_id in docs_with(reader, fields.original, found.url_key)? {
                let doc = DocAddress { segment_ord, doc_id };
                if copies.len() < COPIES_MAX && digest_of(doc)? == digest {
                    let document: TantivyDocument = self.searcher.doc(doc)?;
                    let url = document.get_first(fields.url).and_then(|url| url.as_str());
                    copies.extend(url.map(str::to_owned));
                }
            }
        }
        copies.sort_unstable();
        Ok(copies)
    }
}

/// What a page says.
struct Texts {
    lang: Lang,
    main: String,
    rest: String,
    /// Whether it should be in the archive, and could not be read there.
    is_unread: bool,
}

/// What is stored of a field; empty if nothing is.
fn text_of(document: &TantivyDocument, field: Field) -> &str {
    document.get_first(field).and_then(|value| value.as_str()).unwrap_or_default()
}
