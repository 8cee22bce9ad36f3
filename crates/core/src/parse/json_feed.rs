//! JSON Feed, versions 1.0 and 1.1: the same from a feed in JSON.
//!
//! Only what is known is kept while reading, and of a list no more than so many entries: a feed of many
//! millions of empty ones costs no memory. What has a type that it should not have counts as not there.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::language::language;
use super::page::{Hint, Links, NewLink, Note, Page, cut};
use super::prose::Prose;
use super::sitemap::finish;
use super::sniff::Kind;
use super::xml::{bounded, moment};
use super::{Charset, Input, html};
use crate::{Limits, Via};

/// As many entries are kept while reading, whatever the limits say of their links.
const ENTRIES_MAX: usize = 50_000;
/// As many files of one entry.
const FILES_MAX: usize = 64;

#[derive(Deserialize, Default)]
#[serde(default)]
struct JsonFeed {
    title: Loose,
    description: Loose,
    language: Loose,
    home_page_url: Loose,
    next_url: Loose,
    icon: Loose,
    favicon: Loose,
    items: Few<Item, ENTRIES_MAX>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Item {
    id: Loose,
    url: Loose,
    external_url: Loose,
    title: Loose,
    summary: Loose,
    content_text: Loose,
    content_html: Loose,
    image: Loose,
    banner_image: Loose,
    date_published: Loose,
    date_modified: Loose,
    attachments: Few<Attachment, FILES_MAX>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Attachment {
    url: Loose,
}

/// A text, or something else that counts as none.
#[derive(Deserialize, Default)]
#[serde(untagged)]
enum Loose {
    Text(String),
    Other(IgnoredAny),
    #[default]
    None,
}

impl Loose {
    fn get(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_str()).filter(|text| !text.trim().is_empty()),
            Self::Other(_) | Self::None => None,
        }
    }
}

/// The first entries of a list.
struct Few<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> Default for Few<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Few<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FewVisitor::<T, MAX>(PhantomData)).map(Self)
    }
}

struct FewVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for FewVisitor<T, MAX> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut few = Vec::new();
        while few.len() < MAX {
            let Some(entry) = list.next_element()? else { return Ok(few) };
            few.push(entry);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(few)
    }
}

/// Reads a feed in JSON.
pub(super) fn read(input: &Input<'_>, mut page: Page, source: &str, limits: &Limits) -> Page {
    let source = bounded(source, limits, &mut page);
    let Ok(feed) = serde_json::from_str::<JsonFeed>(source) else {
        page.note(Note::BrokenJson);
        return page;
    };
    page.title = feed.title.get().map(|title| short(title, limits.page_meta_bytes_max));
    page.lang = feed.language.get().map(|lang| short(lang, limits.page_meta_bytes_max));
    page.description = feed.description.get().map(|text| short(text, limits.page_meta_bytes_max));
    let mut links = Links::default();
    let mut push = |via, target: &Loose| {
        let target = NewLink::new(via, target.get().unwrap_or_default());
        links.push(target, limits.sitemap_urls_max, limits);
    };
    push(Via::Sitemap, &feed.home_page_url);
    push(Via::Link, &feed.next_url);
    push(Via::Enclosure, &feed.icon);
    push(Via::Enclosure, &feed.favicon);
    let mut text = Prose::new(limits.page_text_bytes_max);
    for item in &feed.items.0 {
        list(item, &mut links, limits);
        if input.text {
            tell(item, input, &mut text, limits);
        }
    }
    page.language = language(text.as_str(), &[]);
    page.set_text(text);
    finish(page, links)
}

fn list(item: &Item, links: &mut Links, limits: &Limits) {
    let title = item.title.get().map(|title| short(title, limits.link_text_bytes_max));
    let title = title.as_deref().unwrap_or_default();
    let named = item.id.get().filter(|id| super::xml::is_url(id));
    let page = item.url.get().or_else(|| item.external_url.get()).or(named).unwrap_or_default();
    let dates = [&item.date_modified, &item.date_published];
    let modified = dates.into_iter().find_map(|date| date.get().and_then(moment));
    let link = NewLink { text: title, ..NewLink::new(Via::Sitemap, page) };
    if let Some(id) = links.push(link, limits.sitemap_urls_max, limits) {
        links.hint(id, Hint { modified, priority: None });
    }
    let external = item.external_url.get().filter(|_| item.url.get().is_some()).unwrap_or_default();
    links.push(NewLink::new(Via::Link, external), limits.sitemap_urls_max, limits);
    let files = item.attachments.0.iter().map(|attachment| &attachment.url);
    for file in files.chain([&item.image, &item.banner_image]) {
        let link = NewLink::new(Via::Enclosure, file.get().unwrap_or_default());
        links.push(link, limits.sitemap_urls_max, limits);
    }
}

/// The words of an entry: its title, and its content or what stands for it.
fn tell(item: &Item, input: &Input<'_>, text: &mut Prose, limits: &Limits) {
    let html = item.content_html.get().map(|content| {
        let page = Page::new(Kind::Html, Charset::default());
        html::read(&Input { text: true, ..*input }, page, content, limits).text
    });
    let plain = item.content_text.get().or(item.summary.get());
    let words = html.as_deref().or(plain).unwrap_or_default();
    for line in item.title.get().unwrap_or_default().lines().chain(words.lines()) {
        text.words(line);
        text.line();
    }
}

fn short(text: &str, bytes_max: u64) -> String {
    let mut words = Prose::new(bytes_max);
    words.words(cut(text, bytes_max.saturating_mul(4)));
    words.into_string()
}
