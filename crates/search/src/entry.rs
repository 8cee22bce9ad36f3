//! What the journal keeps of a visit: all that the index will hold of it, and the texts of its links.
//!
//! The encoder makes the beginning of an entry in parallel, from the visit alone. The sink then says where the page's
//! words are, adds the links that it has not kept already, and appends all of it to the journal.
//!
//! ```text
//! entry    bytes of the change (u32) · change (postcard; none: 0 bytes) · language (2)
//!          · bytes of the wording (u32) · wording (postcard; none: 0 bytes) · anchor*
//! anchor   fingerprint of the target (u64) · bytes of the text (u16) · text
//! ```

use std::borrow::Cow;

use larm_core::parse::{Marks, Page, cut};
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_core::{Limits, Outcome, Via};
use larm_crawl::store::{Encoded, Kept, PageFacts, Visit, WarcRef};
use serde::{Deserialize, Serialize};

use crate::date;
use crate::language::Lang;

/// The fact that names the page which this one is nearly the same as.
const NEAR_FACT: &str = "near-duplicate";
/// The fact that a page does not want to be found.
const NOINDEX_FACT: &str = "noindex";
/// More than most entries take without words and links.
const ENTRY_BYTES: usize = 256;
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

/// What is indexed of a page beside its words.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PageEntry<'a> {
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    #[serde(borrow)]
    pub media: Cow<'a, str>,
    pub date: u64,
    pub near: Option<u64>,
    pub digest: u64,
}

/// Where the words of a page are.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Wording<'a> {
    /// Here; and perhaps also in the archive.
    Here {
        #[serde(borrow)]
        text: Text<'a>,
        #[serde(borrow)]
        place: Option<Place<'a>>,
    },
    /// In the record at this place of the archive.
    #[serde(borrow)]
    Archived(Place<'a>),
}

/// The words of a page.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Text<'a> {
    pub title: &'a str,
    pub description: &'a str,
    pub text: &'a str,
    /// Which of them mean more than the rest.
    pub marks: Cow<'a, Marks>,
}

impl<'a> From<&'a PageFacts> for Text<'a> {
    fn from(page: &'a PageFacts) -> Self {
        let PageFacts { title, description, text, marks, .. } = page;
        Self { title, description, text, marks: Cow::Borrowed(marks) }
    }
}

impl<'a> From<&'a Page> for Text<'a> {
    fn from(page: &'a Page) -> Self {
        let Page { title, description, text, marks, .. } = page;
        let of = |text: &'a Option<String>| text.as_deref().unwrap_or_default();
        Self { title: of(title), description: of(description), text, marks: Cow::Borrowed(marks) }
    }
}

/// A record of the archive: the name of its file, and where in it the record begins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Place<'a> {
    pub name: &'a str,
    pub offset: u64,
}

impl<'a> From<&'a WarcRef> for Place<'a> {
    fn from(place: &'a WarcRef) -> Self {
        Self { name: &place.name, offset: place.offset }
    }
}

/// What a link says of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Anchor<'a> {
    pub target: u64,
    pub text: &'a str,
}

/// What the sink has to know of an entry: whether this is a page, with words. `None` if there is none.
pub(crate) fn is_page(encoded: &Encoded) -> Option<bool> {
    encoded.parts.first().map(|is_page| *is_page == 1)
}

/// Everything that the index is to know of a visit but for its words and its links; nothing for most that brought no page.
pub(crate) fn encode(visit: &Visit) -> Encoded {
    let change = change_of(visit);
    if change.is_none() && visit.links.is_empty() {
        return Encoded::default();
    }
    let lang = visit.page.as_ref().map_or(Lang::NONE, |page| lang_of(page));
    let mut bytes = Vec::with_capacity(ENTRY_BYTES);
    push_sized(&mut bytes, change.as_ref());
    bytes.extend_from_slice(lang.code().as_bytes());
    let is_page = matches!(change, Some(Change::Page(_)));
    Encoded { parts: vec![is_page.into()], bytes }
}

/// Appends a value with its length in front.
pub(crate) fn push_sized<T: Serialize>(bytes: &mut Vec<u8>, value: Option<&T>) {
    let at = bytes.len();
    bytes.extend_from_slice(&[0; 4]);
    if let Some(value) = value {
        let written = postcard::to_extend(value, std::mem::take(bytes));
        *bytes = written.expect("text and numbers can be written");
    }
    let length = u32::try_from(bytes.len() - at - 4).expect("texts of pages are bounded");
    bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// An entry, taken apart.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub change: Option<Change<'a>>,
    pub lang: Lang,
    pub wording: Option<Wording<'a>>,
    pub anchors: Anchors<'a>,
}

impl<'a> Entry<'a> {
    /// `None` if these bytes are no entry.
    pub fn read(entry: &'a [u8]) -> Option<Self> {
        let (change, rest) = take_sized(entry)?;
        let (lang, rest) = rest.split_first_chunk::<2>()?;
        let (wording, anchors) = take_sized(rest)?;
        let lang = Lang::of(std::str::from_utf8(lang).ok()?);
        Some(Self { change, lang, wording, anchors: Anchors(anchors) })
    }
}

/// The value at the beginning, if there is one, and what follows.
fn take_sized<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<(Option<T>, &'a [u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (value, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    if value.is_empty() {
        return Some((None, rest));
    }
    Some((Some(postcard::from_bytes(value).ok()?), rest))
}

/// The links at the end of an entry.
#[derive(Debug)]
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

/// Whether an archived answer is read as it was read when it came: a PDF is not, without a process to read it, and
/// neither is what stands for another answer.
pub(crate) fn can_be_read_again(visit: &Visit, page: &PageFacts) -> bool {
    page.is_html() && visit.exchange.is_some() && visit.same_as.is_none() && !visit.url.is_file()
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
    PageEntry {
        url: visit.url.as_str().into(),
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

/// The links that say something of another page that may be fetched, without those that were met lately.
pub(crate) fn anchors_of<'a>(
    visit: &'a Visit,
    kept: &'a Kept,
    limits: &Limits,
) -> impl Iterator<Item = Anchor<'a>> {
    let most = usize::try_from(limits.index_page_anchors_max).unwrap_or(usize::MAX);
    let own = visit.url.as_str();
    let links = visit.links.some(kept.new_links.as_deref()).filter(move |link| {
        link.via == Via::Anchor && !link.is_rejected() && !link.text.is_empty() && link.to != own
    });
    links.take(most).map(|link| Anchor { target: Fingerprint::of(link.to).0, text: link.text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_comes_back_as_it_was() {
        let marks =
            Marks { main: vec![0..1, 1..2], headings: vec![(2, 0..2)], emphasis: Vec::new() };
        let text = Text { text: "ü", title: "t", marks: Cow::Owned(marks), ..Text::default() };
        let place = Wording::Archived(Place { name: "a.warc.gz", offset: 7_000_000_000 });
        for wording in [None, Some(Wording::Here { text, place: None }), Some(place)] {
            let page = PageEntry { url: "http://h/".into(), near: Some(3), ..PageEntry::default() };
            let change = Change::Page(Box::new(page));
            let mut bytes = Vec::new();
            push_sized(&mut bytes, Some(&change));
            bytes.extend_from_slice(b"en");
            push_sized(&mut bytes, wording.as_ref());
            let anchors = [Anchor { target: 7, text: "seven" }, Anchor { target: 8, text: "" }];
            anchors.iter().for_each(|anchor| push_anchor(&mut bytes, *anchor));
            let entry = Entry::read(&bytes).unwrap();
            assert_eq!((entry.change, entry.lang.code()), (Some(change), "en"));
            assert_eq!(entry.wording, wording);
            assert_eq!(entry.anchors.collect::<Vec<_>>(), anchors);
            for cut in 0..bytes.len() {
                // Whatever is missing, there is no panic.
                let _ = Entry::read(&bytes[..cut]).map(|entry| entry.anchors.count());
            }
        }
    }
}
