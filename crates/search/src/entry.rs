//! What the journal keeps of a visit: all that the index will hold of it, and the texts of its links.
//!
//! The encoder makes an entry in parallel, from the visit alone. The sink then takes the links out
//! that it has kept already, and appends the rest to the journal as it is.
//!
//! ```text
//! entry   bytes of the change (u32) · change (postcard; none: 0 bytes) · language (2) · anchor*
//! anchor  fingerprint of the target (u64) · bytes of the text (u16) · text
//! ```

use std::borrow::Cow;

use larm_core::parse::{Marks, Span, cut, pieces};
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_core::{Limits, Outcome, Via};
use larm_crawl::store::{Encoded, PageFacts, Visit};
use serde::{Deserialize, Serialize};

use crate::date;
use crate::language::Lang;

/// The fact that names the page which this one is nearly the same as.
const NEAR_FACT: &str = "near-duplicate";
/// The fact that a page does not want to be found.
const NOINDEX_FACT: &str = "noindex";
/// Fixed part of an anchor.
const ANCHOR_HEAD_BYTES: usize = 10;

/// What a visit changes in the index.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Change<'a> {
    /// A page is there, or there anew.
    #[serde(borrow)]
    Page(Box<PageEntry<'a>>),
    /// A URL brought the bytes of another page.
    Copy { url: Cow<'a, str>, original: u64, digest: u64 },
    /// Where a page may have been, there is none.
    Gone { url_key: u64 },
}

/// What is indexed of a page.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PageEntry<'a> {
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    #[serde(borrow)]
    pub title: Cow<'a, str>,
    /// The main part, or all of it where none is marked.
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    #[serde(borrow)]
    pub rest: Cow<'a, str>,
    #[serde(borrow)]
    pub headings: Cow<'a, str>,
    #[serde(borrow)]
    pub emphasis: Cow<'a, str>,
    #[serde(borrow)]
    pub description: Cow<'a, str>,
    #[serde(borrow)]
    pub media: Cow<'a, str>,
    pub date: u64,
    pub near: Option<u64>,
    pub digest: u64,
}

/// What a link says of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Anchor<'a> {
    pub target: u64,
    pub text: &'a str,
}

/// Everything that the index is to know of a visit; nothing for most that brought no page.
pub(crate) fn encode(visit: &Visit, limits: &Limits) -> Encoded {
    let change = change_of(visit);
    let lang = visit.page.as_ref().map_or(Lang::NONE, lang_of);
    let mut bytes = vec![0; 4];
    if let Some(change) = &change {
        bytes = postcard::to_extend(change, bytes).expect("text and numbers can be written");
    }
    let length = u32::try_from(bytes.len() - 4).expect("texts of pages are bounded");
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(lang.code().as_bytes());
    let anchors_at = bytes.len();
    anchors_of(visit, limits).for_each(|anchor| push_anchor(&mut bytes, anchor));
    if change.is_none() && bytes.len() == anchors_at {
        return Encoded::default();
    }
    Encoded { parts: vec![anchors_at as u64], bytes }
}

/// The change, the language of the links and the links of an entry; `None` if it is none.
pub(crate) fn decode(entry: &[u8]) -> Option<(Option<Change<'_>>, Lang, Anchors<'_>)> {
    let (length, rest) = entry.split_first_chunk::<4>()?;
    let (change, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (lang, anchors) = rest.split_first_chunk::<2>()?;
    let lang = Lang::of(std::str::from_utf8(lang).ok()?);
    if change.is_empty() {
        return Some((None, lang, Anchors(anchors)));
    }
    Some((Some(postcard::from_bytes(change).ok()?), lang, Anchors(anchors)))
}

/// The links at the end of an entry.
pub(crate) struct Anchors<'a>(pub &'a [u8]);

impl<'a> Iterator for Anchors<'a> {
    type Item = Anchor<'a>;

    fn next(&mut self) -> Option<Anchor<'a>> {
        let (target, rest) = self.0.split_first_chunk::<8>()?;
        let (bytes, rest) = rest.split_first_chunk::<2>()?;
        let (text, rest) = rest.split_at_checked(u16::from_le_bytes(*bytes).into())?;
        self.0 = rest;
        let text = std::str::from_utf8(text).ok()?;
        Some(Anchor { target: u64::from_le_bytes(*target), text })
    }
}

pub(crate) fn push_anchor(bytes: &mut Vec<u8>, anchor: Anchor<'_>) {
    let length = u16::try_from(anchor.text.len()).unwrap_or(u16::MAX);
    let text = cut(anchor.text, length.into());
    bytes.reserve(ANCHOR_HEAD_BYTES + text.len());
    bytes.extend_from_slice(&anchor.target.to_le_bytes());
    bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

fn change_of(visit: &Visit) -> Option<Change<'_>> {
    match &visit.outcome {
        // What the crawl asked for its own sake is no page.
        _ if matches!(visit.via, Via::Robots | Via::Probe | Via::SitemapIndex) => None,
        // It may have been found before it said so.
        Outcome::Fetched { .. } if visit.facts.iter().any(|fact| &*fact.name == NOINDEX_FACT) => {
            Some(Change::Gone { url_key: visit.url.fingerprint().0 })
        }
        Outcome::Fetched { status: 200..=299 } => {
            let page = visit.page.as_ref().filter(|page| has_words(page))?;
            Some(copy_of(visit).unwrap_or_else(|| Change::Page(Box::new(entry_of(visit, page)))))
        }
        Outcome::Fetched { status: 404 | 410 } | Outcome::Redirected { .. } => {
            Some(Change::Gone { url_key: visit.url.fingerprint().0 })
        }
        _ => None,
    }
}

fn has_words(page: &PageFacts) -> bool {
    let is_code =
        ["css", "javascript", "ecmascript"].iter().any(|end| page.content_type.ends_with(end));
    let is_empty = page.title.is_empty() && page.text.trim().is_empty();
    !is_code && !is_empty
}

/// A page that has not changed since an earlier visit is no copy of itself.
fn copy_of(visit: &Visit) -> Option<Change<'_>> {
    let original = visit.same_as.as_ref().filter(|same| same.url != visit.url.as_str())?;
    let original = Fingerprint::of(&original.url).0;
    Some(Change::Copy { url: visit.url.as_str().into(), original, digest: digest_of(visit) })
}

fn entry_of<'a>(visit: &'a Visit, page: &'a PageFacts) -> PageEntry<'a> {
    let (text, rest) = parts_of(&page.text, &page.marks);
    PageEntry {
        url: visit.url.as_str().into(),
        title: page.title.as_str().into(),
        text,
        rest: rest.into(),
        headings: joined(&page.text, page.marks.headings.iter().map(|(_, span)| span)).into(),
        emphasis: joined(&page.text, page.marks.emphasis.iter()).into(),
        description: page.description.as_str().into(),
        media: page.content_type.as_str().into(),
        date: date_of(visit, page),
        near: near_of(visit),
        digest: digest_of(visit),
    }
}

/// The language that the text is written in, or else the one that it is said to be written in.
fn lang_of(page: &PageFacts) -> Lang {
    let told = [page.language.as_str(), page.lang.as_str()];
    told.into_iter().map(Lang::of).find(|lang| !lang.is_none()).unwrap_or(Lang::NONE)
}

/// When the page says that it was published or changed; else the server; else when it was fetched.
fn date_of(visit: &Visit, page: &PageFacts) -> u64 {
    let header = visit.exchange.as_ref().and_then(|exchange| exchange.header("last-modified"));
    let told = [page.published.as_deref(), page.modified.as_deref(), header];
    let now = visit.at.0;
    // A date to come is a mistake, or a lie to be found first.
    let told = told.into_iter().flatten().filter_map(date::millis_of);
    told.map(|told| told.0).find(|told| *told <= now).unwrap_or(now)
}

fn near_of(visit: &Visit) -> Option<u64> {
    let fact = visit.facts.iter().find(|fact| &*fact.name == NEAR_FACT)?;
    // `of URL, and how near`.
    let words = fact.value.split_whitespace().map(|word| word.strip_suffix(',').unwrap_or(word));
    let url = words.filter(|word| word.contains("://")).find_map(CrawlUrl::from_canonical)?;
    Some(url.fingerprint().0).filter(|near| *near != visit.url.fingerprint().0)
}

fn digest_of(visit: &Visit) -> u64 {
    let digest = visit.exchange.as_ref().map(|exchange| exchange.payload_digest());
    let first = digest.and_then(|digest| digest.as_bytes().first_chunk::<8>().copied());
    first.map_or(0, u64::from_le_bytes)
}

/// The main part of a text, and what is left of it.
fn parts_of<'a>(text: &'a str, marks: &Marks) -> (Cow<'a, str>, String) {
    if marks.main.is_empty() {
        return (text.into(), String::new());
    }
    let mut left = Vec::new();
    let mut at = 0;
    for span in &marks.main {
        if at < span.start {
            left.push(at..span.start);
        }
        at = at.max(span.end);
    }
    left.push(at..u32::try_from(text.len()).unwrap_or(u32::MAX));
    (joined(text, marks.main.iter()).into(), joined(text, left.iter()))
}

fn joined<'a>(text: &str, spans: impl Iterator<Item = &'a Span>) -> String {
    let mut all = String::new();
    for piece in spans.flat_map(|span| pieces(text, std::slice::from_ref(span))) {
        all.push_str(piece.trim());
        all.push('\n');
    }
    all.truncate(all.trim_end().len());
    all
}

/// The links that say something of another page that may be fetched.
fn anchors_of<'a>(visit: &'a Visit, limits: &Limits) -> impl Iterator<Item = Anchor<'a>> {
    let most = usize::try_from(limits.index_page_anchors_max).unwrap_or(usize::MAX);
    let own = visit.url.as_str();
    let links = visit.links.iter().filter(move |link| {
        link.via == Via::Anchor && !link.is_rejected() && !link.text.is_empty() && link.to != own
    });
    links.take(most).map(|link| Anchor { target: Fingerprint::of(link.to).0, text: link.text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_comes_back_as_it_was() {
        let page = PageEntry { url: "http://h/".into(), text: "ü".into(), ..PageEntry::default() };
        let change = Change::Page(Box::new(page));
        let mut bytes = postcard::to_extend(&change, vec![0; 4]).unwrap();
        let length = (bytes.len() - 4) as u32;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(b"en");
        let anchors = [Anchor { target: 7, text: "seven" }, Anchor { target: 8, text: "" }];
        anchors.iter().for_each(|anchor| push_anchor(&mut bytes, *anchor));
        let (found, lang, rest) = decode(&bytes).unwrap();
        assert_eq!((found, lang.code()), (Some(change), "en"));
        assert_eq!(rest.collect::<Vec<_>>(), anchors);
        for cut in 0..bytes.len() {
            // Whatever is missing, there is no panic.
            let _ = decode(&bytes[..cut]).map(|(_, _, anchors)| anchors.count());
        }
    }

    #[test]
    fn the_main_part_is_what_is_marked_and_the_rest_is_what_is_not() {
        let text = "menu\nthe story\nfooter";
        let parts =
            |main: &[Span]| parts_of(text, &Marks { main: main.to_vec(), ..Marks::default() });
        let story = Span { start: 5, end: 14 };
        assert_eq!(parts(&[story]), ("the story".into(), "menu\nfooter".into()));
        assert_eq!(parts(&[]), (text.into(), String::new()));
        let odd = parts(&[0..4, 2..9, 30..40]);
        assert_eq!(odd.0, "menu\nnu\nthe");
    }
}
