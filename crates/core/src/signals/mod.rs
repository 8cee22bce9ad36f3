//! What owners say about the use of their pages, beyond the yes and no of robots.txt.
//!
//! Read are `Content-Usage` (draft-ietf-aipref-vocab and -attach) and `Content-Signal`, each in
//! robots.txt and as a header; `tdm-reservation` and `tdm-policy` (TDM Reservation Protocol, 2024) as
//! header, `meta` element and in `/.well-known/tdmrep.json`; and the robots words `noai` and `noimageai`.
//! All of it comes to one value per page: for each [`Use`], allowed, reserved or not said.
//!
//! - Statements are combined as AIPREF does: who says no is heard, then who says yes. Of the statements
//!   about text mining the closest to the page counts: `meta` before header before file.
//! - What is no statement in its vocabulary says nothing, and is recorded all the same.
//! - A page without statements costs no allocation.
//! - Whatever an owner sends, at most `signals_max` statements of `signal_bytes_max` bytes are kept.
//!
//! Nothing here decides what a crawl does about it.

mod dictionary;
mod tdmrep;
#[cfg(test)]
mod tests;
mod uses;

use std::fmt;

use crate::robots::{Directives, UsageField, UsageLine};
use crate::{Fact, Limits};

pub use tdmrep::{TdmRep, TdmRule};
pub use uses::{Preference, Use, UseSet};

use uses::Says;

/// What is said of one page, by whom and with which words.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    statements: Vec<Statement>,
    /// The strictest that was said of each use, text mining aside.
    says: Says,
    /// What is said of text mining, and how close to the page that was said.
    mining: Option<(Source, Preference)>,
}

#[derive(Debug, Clone)]
struct Statement {
    fact: Fact,
    says: Says,
}

/// Where a statement stands; the closer to the page, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// In that line of robots.txt.
    Robots(u32),
    /// In `/.well-known/tdmrep.json`.
    File,
    /// In a header field of the answer.
    Header,
    /// In a `meta` element of the page.
    Meta,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Robots(line) => write!(f, "robots.txt line {line}"),
            Self::File => f.write_str("tdmrep.json"),
            Self::Header => f.write_str("header"),
            Self::Meta => f.write_str("meta"),
        }
    }
}

/// Who reads, and what the statements are about.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// Product token, for words that name an agent.
    pub agent: &'a str,
    /// The `Content-Type` of the answer: `noimageai` is about images.
    pub content_type: &'a str,
    /// The maxima in force.
    pub limits: &'a Limits,
}

impl Signals {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// What a line of robots.txt says.
    pub fn read_line(&mut self, line: &UsageLine<'_>, limits: &Limits) {
        let says = fitting(&line.words, limits).map(|words| usage(line.field, words));
        self.add(line.field.word(), &line.words, Source::Robots(line.line), says, limits);
    }

    /// What the rule of a tdmrep.json says that applies to the page.
    pub fn read_rule(&mut self, rule: &TdmRule, limits: &Limits) {
        let number = if rule.reserved { "1" } else { "0" };
        let said = format!("{number} for {}", rule.location);
        self.add("tdm-reservation", &said, Source::File, Some(mining(rule.reserved)), limits);
        if let Some(policy) = &rule.policy {
            self.add("tdm-policy", policy, Source::File, None, limits);
        }
    }

    /// What a header field says. Names are in lower case; most say nothing, and cost a comparison.
    pub fn read_field(&mut self, name: &str, value: &[u8], reader: &Reader<'_>) {
        let field = match name {
            "content-usage" => Some(UsageField::ContentUsage),
            "content-signal" => Some(UsageField::ContentSignal),
            "tdm-reservation" | "tdm-policy" | "x-robots-tag" => None,
            _ => return,
        };
        let value = String::from_utf8_lossy(value);
        let limits = reader.limits;
        match field {
            Some(field) => {
                let says = fitting(&value, limits).map(|words| usage(field, words));
                self.add(name, &value, Source::Header, says, limits);
            }
            None if name == "x-robots-tag" => {
                let words = Directives::from_header(&value, reader.agent);
                self.read_words(words, Source::Header, reader);
            }
            None => self.read_tdm(name, &value, Source::Header, limits),
        }
    }

    /// What a `meta` element says. Names are in lower case.
    pub fn read_meta(&mut self, name: &str, content: &str, reader: &Reader<'_>) {
        match name {
            "tdm-reservation" | "tdm-policy" => {
                self.read_tdm(name, content, Source::Meta, reader.limits);
            }
            _ => {
                let words = Directives::from_meta(name, content, reader.agent).unwrap_or_default();
                self.read_words(words, Source::Meta, reader);
            }
        }
    }

    /// What is said of a use, all statements together; nothing if nobody speaks of it.
    pub fn preference(&self, of: Use) -> Option<Preference> {
        match of {
            Use::TextMining => self.mining.map(|(_, preference)| preference),
            _ => self.says.get(of),
        }
    }

    /// The first of these uses that is reserved, and by which words.
    pub fn reserved(&self, uses: UseSet) -> Option<(Use, String)> {
        let reserved = |of: &Use| self.preference(*of) == Some(Preference::Reserved);
        let of = uses.iter().find(reserved)?;
        let says_so = |said: &&Statement| said.says.get(of) == Some(Preference::Reserved);
        let by = self.statements.iter().rev().find(says_so);
        let words = by.map(|said| format!("{}: {}", said.fact.name, said.fact.value));
        Some((of, words.unwrap_or_else(|| "one of its many statements".to_owned())))
    }

    /// Every statement with its source, and what they come to in one line.
    pub fn into_facts(self) -> impl Iterator<Item = Fact> {
        let said = Use::ALL.into_iter().filter_map(|of| Some((of, self.preference(of)?)));
        let said: Vec<String> =
            said.map(|(of, preference)| format!("{of}={}", preference.word())).collect();
        let sum = (!said.is_empty()).then(|| Fact::new("usage", said.join(", ")));
        self.statements.into_iter().map(|said| said.fact).chain(sum)
    }

    fn read_tdm(&mut self, name: &str, value: &str, source: Source, limits: &Limits) {
        let says = match (name, value.trim()) {
            ("tdm-reservation", "1") => Some(mining(true)),
            ("tdm-reservation", "0") => Some(mining(false)),
            _ => None,
        };
        self.add(name, value, source, says, limits);
    }

    fn read_words(&mut self, words: Directives, source: Source, reader: &Reader<'_>) {
        let is_image = reader.content_type.trim_start().starts_with("image/");
        let no_ai = Says::default()
            .with(Use::AiInput, Some(Preference::Reserved))
            .with(Use::AiTrain, Some(Preference::Reserved));
        if words.noai {
            self.add("robots", "noai", source, Some(no_ai), reader.limits);
        }
        if words.noimageai {
            let says = is_image.then_some(no_ai);
            self.add("robots", "noimageai", source, says, reader.limits);
        }
    }

    fn add(&mut self, name: &str, said: &str, source: Source, says: Option<Says>, limits: &Limits) {
        let says = says.unwrap_or_default();
        self.says = self.says.strictest(says);
        if let Some(preference) = says.get(Use::TextMining) {
            self.mine(source, preference);
        }
        if (self.statements.len() as u64) < limits.signals_max {
            let fact = Fact::new(name, format!("{} ({source})", shortened(said, limits)));
            self.statements.push(Statement { fact, says });
        }
    }

    /// Of several at the same distance, no is heard first.
    fn mine(&mut self, source: Source, preference: Preference) {
        let newest = (source, preference);
        self.mining = Some(self.mining.map_or(newest, |known| known.max(newest)));
    }
}

/// The text, if it is not longer than what is read.
fn fitting<'a>(text: &'a str, limits: &Limits) -> Option<&'a str> {
    Some(text).filter(|text| text.len() as u64 <= limits.signal_bytes_max)
}

/// At most so much of a text as is kept, white space at its ends taken off.
fn shortened<'a>(text: &'a str, limits: &Limits) -> &'a str {
    let max = usize::try_from(limits.signal_bytes_max).unwrap_or(usize::MAX);
    let end = (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default().trim()
}

fn usage(field: UsageField, words: &str) -> Says {
    match field {
        UsageField::ContentUsage => content_usage(words),
        UsageField::ContentSignal => content_signal(words),
    }
}

/// AIPREF vocabulary, section 6.3: tokens `y` and `n`; anything else says nothing, and where the
/// dictionary as a whole is broken, nothing of it does. Of a label that stands twice the last counts.
fn content_usage(words: &str) -> Says {
    let mut says = Says::default();
    let sound = dictionary::read(words.as_bytes(), |label, token| {
        let preference = match token {
            Some(b"y") => Some(Preference::Allowed),
            Some(b"n") => Some(Preference::Reserved),
            _ => None,
        };
        if let Some(of) = Use::from_label(label) {
            says = says.with(of, preference);
        }
    });
    if sound { says } else { Says::default() }
}

/// Content Signals are looser: `name=yes|no` with commas between. Of a name that stands twice, no counts.
fn content_signal(words: &str) -> Says {
    let pairs = words.split(',').filter_map(|pair| pair.split_once('='));
    pairs.fold(Says::default(), |says, (name, value)| {
        let preference = match value.trim() {
            value if value.eq_ignore_ascii_case("yes") => Preference::Allowed,
            value if value.eq_ignore_ascii_case("no") => Preference::Reserved,
            _ => return says,
        };
        match Use::from_signal(name.trim()) {
            Some(of) => says.strictest(Says::default().with(of, Some(preference))),
            None => says,
        }
    })
}

fn mining(is_reserved: bool) -> Says {
    let preference = if is_reserved { Preference::Reserved } else { Preference::Allowed };
    Says::default().with(Use::TextMining, Some(preference))
}
