//! What people type → what is meant by it. There is no such thing as a wrong query.
//!
//! ```text
//! wing lift          pages with either word; those with both, and with rarer words, come first
//! "boundary layer"   only pages with these words next to each other
//! +wing -tail        only pages with the one and without the other
//! aero*              words that begin like this
//! title:wing         only pages with the word there: title, heading, text, url, anchor
//! host:example.org   only pages of a host; site: and all below it; type: lang: since: until:
//! ```
//!
//! Whatever does not fit, such as an unknown field or a quotation that is not ended, is taken for plain
//! words. `AND` and `NOT` are understood, `OR` is what words mean anyway.

pub(crate) mod meaning;
#[cfg(test)]
mod tests;
pub(crate) mod word;

use larm_core::parse::cut;
use larm_core::{Limits, Millis};

use crate::date;
use crate::words::Words;

/// A query, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// What pages are to say.
    pub clauses: Vec<Clause>,
    /// What pages are to be.
    pub filters: Vec<Filter>,
    /// Whether it was longer than what is looked at.
    pub is_cut: bool,
}

impl Query {
    /// Whether it has neither words nor filters, such as `?!`.
    pub fn asks_nothing(&self) -> bool {
        self.clauses.is_empty() && self.filters.is_empty()
    }
}

/// Something that pages say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause {
    /// How much it matters.
    pub need: Need,
    /// Where they say it; anywhere if nothing is said.
    pub part: Option<Part>,
    /// What it is.
    pub what: What,
}

/// How much a clause matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The more of these a page has, the better.
    May,
    /// No page without.
    Must,
    /// No page with.
    Not,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// One word.
    Word(String),
    /// Words next to each other.
    Phrase(String),
    /// The beginning of a word.
    Prefix(String),
}

impl What {
    /// As it was typed.
    pub fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Phrase(text) | Self::Prefix(text) => text,
        }
    }
}

/// A part of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The title.
    Title,
    /// Headings.
    Heading,
    /// Emphasised words.
    Emphasis,
    /// The text, its main part and the rest.
    Text,
    /// Texts of links to the page.
    Anchor,
    /// Words of the URL.
    Url,
}

/// Something that pages are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// What is asked for.
    pub by: By,
    /// Whether only pages are wanted of which it is not true.
    pub excludes: bool,
}

/// What pages can be chosen by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// The host, with a port or without.
    Host(String),
    /// A domain: all hosts that are it or lie below it.
    Site(String),
    /// The media type, whole (`text/html`) or what it is called (`html`, `pdf`).
    Type(String),
    /// The language, by its two letters.
    Lang(String),
    /// Not older than.
    Since(Millis),
    /// Not newer than.
    Until(Millis),
}

impl By {
    /// A filter by its name; `None` for one that there is not, or with a value that means nothing.
    pub fn named(name: &str, value: &str) -> Option<Self> {
        let lower = value.trim().to_lowercase();
        if lower.is_empty() {
            return None;
        }
        Some(match name {
            "host" => Self::Host(lower),
            "site" | "domain" => Self::Site(lower.trim_start_matches("*.").to_owned()),
            "type" | "filetype" => Self::Type(lower.trim_start_matches('.').to_owned()),
            "lang" | "language" => Self::Lang(lower.get(..2).unwrap_or(&lower).to_owned()),
            "since" | "after" => Self::Since(date::millis_of(value)?),
            "until" | "before" => Self::Until(date::end_of(value)?),
            _ => return None,
        })
    }
}

impl Part {
    /// A part by its name.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "title" | "intitle" => Self::Title,
            "heading" | "headings" => Self::Heading,
            "emphasis" => Self::Emphasis,
            "text" | "body" => Self::Text,
            "anchor" | "anchors" => Self::Anchor,
            "url" | "inurl" => Self::Url,
            _ => return None,
        })
    }
}

/// Takes a query apart.
pub fn parse(text: &str, limits: &Limits) -> Query {
    let words_max = usize::try_from(limits.query_words_max).unwrap_or(usize::MAX);
    let straight = text.replace(['“', '”', '„', '«', '»'], "\"");
    let kept = cut(&straight, limits.query_bytes_max);
    let mut reading = Reading { query: Query::default(), next: None, words_max };
    reading.query.is_cut = kept.len() < straight.len();
    let mut rest = kept;
    while let Some((item, after)) = Item::first(rest) {
        rest = after;
        reading.take(item);
    }
    reading.query
}

/// A piece of a query, between white space and quotes.
#[derive(Debug, Clone, Copy)]
struct Item<'q> {
    sign: Option<char>,
    name: Option<&'q str>,
    body: &'q str,
    is_quoted: bool,
}

impl<'q> Item<'q> {
    /// The first item of a text, and what follows it.
    fn first(text: &'q str) -> Option<(Self, &'q str)> {
        let text = text.trim_start();
        let sign = text.chars().next()?;
        let sign = Some(sign).filter(|sign| "+-".contains(*sign) && is_followed(&text[1..]));
        let text = if sign.is_some() { &text[1..] } else { text };
        let (name, text) = match name_of(text) {
            Some((name, value)) => (Some(name), value),
            None => (None, text),
        };
        let (body, is_quoted, rest) = body_of(text);
        Some((Self { sign, name, body, is_quoted }, rest))
    }
}

/// Whether a sign belongs to what follows.
fn is_followed(text: &str) -> bool {
    text.chars().next().is_some_and(|next| !next.is_whitespace())
}

/// A name that we know and what stands behind its colon.
fn name_of(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    let is_known = Part::named(&name.to_ascii_lowercase()).is_some()
        || matches!(
            name.to_ascii_lowercase().as_str(),
            "host"
                | "site"
                | "domain"
                | "type"
                | "filetype"
                | "lang"
                | "language"
                | "since"
                | "after"
                | "until"
                | "before"
        );
    (is_known && is_followed(value)).then_some((name, value))
}

fn body_of(text: &str) -> (&str, bool, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted.find('"').unwrap_or(quoted.len());
        let rest = quoted.get(end + 1..).unwrap_or_default();
        return (&quoted[..end], true, rest);
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
    (&text[..end], false, &text[end..])
}

/// A query that is being read.
struct Reading {
    query: Query,
    /// What `AND` or `NOT` says of what comes next.
    next: Option<Need>,
    words_max: usize,
}

impl Reading {
    fn take(&mut self, item: Item<'_>) {
        let is_bare = item.sign.is_none() && item.name.is_none() && !item.is_quoted;
        match item.body {
            "AND" if is_bare => self.and(),
            "NOT" if is_bare => self.next = Some(Need::Not),
            "OR" if is_bare => {}
            _ => self.say(item),
        }
    }

    fn and(&mut self) {
        if let Some(last) = self.query.clauses.last_mut().filter(|last| last.need == Need::May) {
            last.need = Need::Must;
        }
        self.next = Some(Need::Must);
    }

    fn say(&mut self, item: Item<'_>) {
        let name = item.name.map(str::to_ascii_lowercase).unwrap_or_default();
        let told = self.next.take().or(match item.sign {
            Some('+') => Some(Need::Must),
            Some(_) => Some(Need::Not),
            None => None,
        });
        if let Some(by) = By::named(&name, item.body) {
            return self.push_filter(Filter { by, excludes: told == Some(Need::Not) });
        }
        let part = Part::named(&name);
        if part.is_none() && !name.is_empty() {
            // A date that is none.
            self.words(&name, told);
        }
        let restricts = item.is_quoted || part.is_some();
        let need = told.or(restricts.then_some(Need::Must));
        match need.is_some() {
            true => self.push(need, part, what_of(item.body, item.is_quoted)),
            false => self.words(item.body, None),
        }
    }

    /// Words that people join are often written apart on pages: each counts for itself. What is joined
    /// by signs that only names have, such as `array_agg` or `node.js`, stays together.
    fn words(&mut self, body: &str, need: Option<Need>) {
        let joins = |c: char| c.is_alphanumeric() || "_.'’@&*".contains(c) || !c.is_ascii();
        for piece in body.split(|c: char| !joins(c)) {
            self.push(need, None, what_of(piece, false));
        }
    }

    fn push(&mut self, need: Option<Need>, part: Option<Part>, what: Option<What>) {
        let Some(what) = what.filter(|_| self.has_room()) else { return };
        let need = need.unwrap_or(Need::May);
        self.query.clauses.push(Clause { need, part, what });
    }

    fn push_filter(&mut self, filter: Filter) {
        if self.has_room() {
            self.query.filters.push(filter);
        }
    }

    fn has_room(&mut self) -> bool {
        let is_full = self.query.clauses.len() + self.query.filters.len() >= self.words_max;
        self.query.is_cut |= is_full;
        !is_full
    }
}

/// What a piece of text asks for; nothing if there is no word in it.
fn what_of(text: &str, is_quoted: bool) -> Option<What> {
    let words = Words::of(text).take(2).count();
    let is_prefix = !is_quoted && text.len() > 1 && text.ends_with('*');
    match words {
        0 => None,
        1 if is_prefix => Some(What::Prefix(text.trim_end_matches('*').to_owned())),
        1 => Some(What::Word(text.to_owned())),
        _ => Some(What::Phrase(text.to_owned())),
    }
}
