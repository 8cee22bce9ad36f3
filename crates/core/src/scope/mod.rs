//! Which canonical URLs a crawl wants (step 2 of the line).
//!
//! A pipeline of small filters, each in its own file. They look at one URL and at how it was found,
//! know nothing of the frontier or the network, and answer without waiting. The first that says no
//! decides, with a reason that the owner of a site understands. A library user adds a filter by
//! implementing [`Filter`] and pushing it.

use std::borrow::Cow;
use std::fmt;

use crate::Via;
use crate::url::CrawlUrl;

mod assets;
mod blocklist;
mod depth;
mod files;
mod known_paths;
mod length;
mod pattern;
mod ports;
mod reach;
mod redirects;
mod scheme;
mod spec;
mod targets;
mod traps;
mod types;

#[cfg(test)]
mod tests;

pub use blocklist::blocked_host;
pub use known_paths::KnownList;
pub use reach::ScopeMode;
pub use spec::{FilterSpec, ScopeError, ScopeInput, default_specs};
pub use targets::Target;
pub use types::type_wanted;

/// What a filter looks at.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The URL in question.
    pub url: &'a CrawlUrl,
    /// Hops from a seed to this URL; each link counts one, whatever its kind.
    pub depth: u32,
    /// How it was found.
    pub via: Via,
    /// The page that it was found on, if any.
    pub from: Option<&'a CrawlUrl>,
    /// Redirects in a row that led here, this one included.
    pub redirects: u32,
}

/// A filter's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No objection.
    Pass,
    /// Not part of this crawl.
    Reject(Reason),
}

/// Why a URL is not part of the crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Name of the filter that decided.
    pub filter: Cow<'static, str>,
    /// What it found, for people.
    pub detail: String,
}

impl Reason {
    /// A reason in the name of a filter, or of another step that says no.
    pub fn new(filter: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self { filter: filter.into(), detail: detail.into() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.filter, self.detail)
    }
}

impl Verdict {
    /// A rejection in the name of a filter.
    pub fn reject(filter: &'static str, detail: String) -> Self {
        Self::Reject(Reason { filter: Cow::Borrowed(filter), detail })
    }
}

/// One rule about URLs. It answers the same for the same subject, always.
pub trait Filter: Send + Sync {
    /// The name in `larm.toml`, reasons and counters.
    fn name(&self) -> &str;

    /// Whether it says what must never be asked, for whatever purpose. Such a filter is heard for a
    /// robots.txt that lies elsewhere, too, which no scope speaks of.
    fn is_about_safety(&self) -> bool {
        false
    }

    /// Whether it looks at the URL alone, and not at how it was found. Such a filter can be asked again about a URL that
    /// waits.
    fn is_about_url(&self) -> bool {
        false
    }

    /// Whether the URL may stay.
    fn judge(&self, subject: &Subject<'_>) -> Verdict;
}

/// The filters of a crawl, in order.
#[derive(Default)]
pub struct Filters(Vec<Box<dyn Filter>>);

impl Filters {
    /// Builds the filters that are written down, in that order, for this crawl, behind the one that
    /// keeps the web from the files of this machine.
    pub fn build(specs: &[FilterSpec], input: &ScopeInput<'_>) -> Result<Self, ScopeError> {
        let files: Box<dyn Filter> = Box::new(files::Files::new(input.seeds));
        let written = specs.iter().map(|spec| spec.build(input));
        std::iter::once(Ok(files)).chain(written).collect::<Result<_, _>>().map(Self)
    }

    /// Adds a filter at the end.
    pub fn push(&mut self, filter: Box<dyn Filter>) {
        self.0.push(filter);
    }

    /// The first objection, or none.
    pub fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let mut verdicts = self.0.iter().map(|filter| filter.judge(subject));
        verdicts.find(|verdict| *verdict != Verdict::Pass).unwrap_or(Verdict::Pass)
    }

    /// The first objection of those that are about safety, or none.
    pub fn judge_safety(&self, subject: &Subject<'_>) -> Verdict {
        let heard = self.0.iter().filter(|filter| filter.is_about_safety());
        let mut verdicts = heard.map(|filter| filter.judge(subject));
        verdicts.find(|verdict| *verdict != Verdict::Pass).unwrap_or(Verdict::Pass)
    }

    /// The first objection of those that look at the URL alone, or none.
    pub fn judge_url(&self, url: &CrawlUrl) -> Verdict {
        let subject = Subject { url, depth: 0, via: Via::Anchor, from: None, redirects: 0 };
        let heard = self.0.iter().filter(|filter| filter.is_about_url());
        let mut verdicts = heard.map(|filter| filter.judge(&subject));
        verdicts.find(|verdict| *verdict != Verdict::Pass).unwrap_or(Verdict::Pass)
    }

    /// Names of the filters, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|filter| filter.name())
    }
}

impl From<Vec<Box<dyn Filter>>> for Filters {
    fn from(filters: Vec<Box<dyn Filter>>) -> Self {
        Self(filters)
    }
}

impl fmt::Debug for Filters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
