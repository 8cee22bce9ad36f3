//! What a page says of itself: description, dates, what it is in other languages, what robots may do.
//!
//! Everything is taken as the page has it, the first of each kind, cut at `page_meta_bytes_max`. A date
//! is anything that may hold a year: who needs a point in time parses it. Dates are looked for where
//! pages put them for machines: `meta`, `time` and JSON-LD, of which nothing else is read.

#[cfg(test)]
mod tests;

use memchr::memmem;

use super::attributes::Attributes;
use super::name::{Attr, Tag};
use super::reference::decode_attribute;
use crate::Limits;
use crate::parse::page::{Note, Page, cut, has_word};
use crate::parse::prose::Prose;

/// A date is no longer than this: what is longer is no date.
const DATE_BYTES_MAX: usize = 64;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Saying {
    Description,
    /// What is told to those who link to it.
    Summary,
    Published,
    Modified,
    Other,
}

impl Saying {
    /// By the name in lower case.
    fn of(name: &str) -> Self {
        match name {
            "description" => Self::Description,
            "og:description" => Self::Summary,
            "article:published_time"
            | "datepublished"
            | "date"
            | "pubdate"
            | "dc.date"
            | "dc.date.issued"
            | "dcterms.date"
            | "dcterms.issued" => Self::Published,
            "article:modified_time"
            | "og:updated_time"
            | "datemodified"
            | "last-modified"
            | "dc.date.modified"
            | "dcterms.modified" => Self::Modified,
            _ => Self::Other,
        }
    }
}

/// Takes what a page says of itself, tag by tag.
#[derive(Debug)]
pub(super) struct Sayings<'l> {
    limits: &'l Limits,
    name: String,
    value: String,
    /// What it tells those who link to it, for want of another description.
    summary: Option<String>,
    /// Whether the next script's text is data about the page.
    is_data: bool,
}

impl<'l> Sayings<'l> {
    pub fn new(limits: &'l Limits) -> Self {
        let (name, value) = (String::new(), String::new());
        Self { limits, name, value, summary: None, is_data: false }
    }

    pub fn finish(self, page: &mut Page) {
        if page.description.is_none() {
            page.description = self.summary;
        }
    }

    /// Takes a start tag.
    pub fn element(&mut self, tag: Tag, attributes: &Attributes<'_>, page: &mut Page) {
        match tag {
            Tag::Meta => self.meta(attributes, page),
            Tag::Link if attributes.has(Attr::Hreflang) => self.alternate(attributes, page),
            Tag::Time if attributes.has(Attr::Datetime) => self.time(attributes, page),
            Tag::Script => {
                let kind = attributes.get(Attr::Type).unwrap_or_default();
                self.is_data = kind.trim_ascii().eq_ignore_ascii_case("application/ld+json");
            }
            _ => {}
        }
    }

    /// Takes a script's text: two names are looked for in JSON-LD, wherever in it they stand.
    pub fn script(&mut self, text: &str, page: &mut Page) {
        if !std::mem::take(&mut self.is_data) {
            return;
        }
        if page.published.is_none() {
            page.published = json_date(text, b"\"datePublished\"");
        }
        if page.modified.is_none() {
            page.modified = json_date(text, b"\"dateModified\"");
        }
    }

    fn meta(&mut self, attributes: &Attributes<'_>, page: &mut Page) {
        let Some(content) = attributes.get(Attr::Content) else { return };
        for attr in [Attr::Name, Attr::Property, Attr::Itemprop] {
            let Some(raw) = attributes.get(attr) else { continue };
            decode(raw, &mut self.name);
            self.name.make_ascii_lowercase();
            let saying = Saying::of(self.name.trim_ascii());
            let is_name = attr == Attr::Name;
            // Any name may speak to robots; of the others few are of interest.
            if is_name || !matches!(saying, Saying::Description | Saying::Other) {
                decode(content, &mut self.value);
                self.take(saying, page);
            }
            if is_name && saying == Saying::Other {
                self.robots(page);
            }
        }
    }

    fn take(&mut self, saying: Saying, page: &mut Page) {
        match saying {
            Saying::Description if page.description.is_none() => {
                page.description = field(&self.value, page, self.limits);
            }
            Saying::Summary if self.summary.is_none() => {
                self.summary = field(&self.value, page, self.limits);
            }
            Saying::Published | Saying::Modified => set_date(saying, &self.value, page),
            _ => {}
        }
    }

    /// A page may say as many things to robots as it may have links.
    fn robots(&self, page: &mut Page) {
        let name = self.name.trim_ascii();
        let has_room = has_room(page.robots_meta.len(), self.limits.page_links_max);
        if has_room && speaks_to_robots(name, &self.value) {
            let content = cut(&self.value, self.limits.page_meta_bytes_max);
            page.robots_meta.push((name.to_owned(), content.to_owned()));
        }
    }

    fn time(&mut self, attributes: &Attributes<'_>, page: &mut Page) {
        let Some(date) = attributes.get(Attr::Datetime) else { return };
        let name = match attributes.get(Attr::Itemprop) {
            Some(name) => name,
            None if attributes.has(Attr::Pubdate) => "pubdate",
            None => return,
        };
        decode(name, &mut self.name);
        self.name.make_ascii_lowercase();
        decode(date, &mut self.value);
        for name in self.name.split_ascii_whitespace() {
            set_date(Saying::of(name), &self.value, page);
        }
    }

    fn alternate(&mut self, attributes: &Attributes<'_>, page: &mut Page) {
        let (Some(language), Some(target)) =
            (attributes.get(Attr::Hreflang), attributes.get(Attr::Href))
        else {
            return;
        };
        decode(attributes.get(Attr::Rel).unwrap_or_default(), &mut self.value);
        if !has_word(&self.value, "alternate") {
            return;
        }
        decode(language, &mut self.name);
        decode(target, &mut self.value);
        let (language, target) = (self.name.trim_ascii(), self.value.trim_ascii());
        let fits = language.len() as u64 <= self.limits.page_meta_bytes_max
            && target.len() as u64 <= self.limits.url_bytes_max
            && has_room(page.alternates.len(), self.limits.page_marks_max);
        if !fits {
            page.note(Note::MarksTruncated);
        } else if !language.is_empty() && !target.is_empty() {
            page.alternates.push((language.to_owned(), target.to_owned()));
        }
    }
}

/// A text as a field of the page: white space collapsed, within the limit, not empty.
pub(super) fn field(text: &str, page: &mut Page, limits: &Limits) -> Option<String> {
    let mut prose = Prose::new(limits.page_meta_bytes_max);
    prose.words(text);
    if prose.is_cut() {
        page.note(Note::MetaTruncated);
    }
    Some(prose.into_string()).filter(|text| !text.is_empty())
}

fn decode(raw: &str, out: &mut String) {
    out.clear();
    decode_attribute(raw, out);
}

fn has_room(len: usize, max: u64) -> bool {
    (len as u64) < max
}

fn set_date(saying: Saying, value: &str, page: &mut Page) {
    let place = match saying {
        Saying::Published => &mut page.published,
        Saying::Modified => &mut page.modified,
        _ => return,
    };
    if place.is_none() {
        *place = date(value);
    }
}

/// A short text with the digits of a year.
fn date(value: &str) -> Option<String> {
    let value = value.trim();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    (digits >= 4 && value.len() <= DATE_BYTES_MAX).then(|| value.to_owned())
}

/// The date behind this name: `"datePublished" : "2024-05-06"`.
fn json_date(json: &str, name: &[u8]) -> Option<String> {
    let at = memmem::find(json.as_bytes(), name)? + name.len();
    let value = json.get(at..)?.trim_ascii_start().strip_prefix(':')?;
    let value = value.trim_ascii_start().strip_prefix('"')?;
    let end =
        value.bytes().take(DATE_BYTES_MAX + 1).position(|byte| matches!(byte, b'"' | b'\\'))?;
    date(&value[..end])
}

/// Words that tell a robot something. Any name may carry them: each crawler has its own.
const DIRECTIVES: &[&str] = &[
    "all",
    "none",
    "index",
    "noindex",
    "follow",
    "nofollow",
    "archive",
    "noarchive",
    "nosnippet",
    "noimageindex",
    "notranslate",
    "noai",
    "noimageai",
    "unavailable_after",
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
    "indexifembedded",
];

/// Names by which a page reserves text and data mining (TDM Reservation Protocol, 2024).
const RESERVATIONS: &[&str] = &["tdm-reservation", "tdm-policy"];

fn speaks_to_robots(name: &str, content: &str) -> bool {
    RESERVATIONS.contains(&name) || is_directives(content)
}

fn is_directives(content: &str) -> bool {
    let is_directive = |part: &str| {
        let word = part.trim_ascii().split([':', ' ']).next().unwrap_or_default();
        DIRECTIVES.iter().any(|directive| word.eq_ignore_ascii_case(directive))
    };
    content.split(',').any(is_directive)
}
