//! Filters as written in `larm.toml` → filters at work.
//!
//! ```toml
//! [[filters]]
//! filter = "known-paths"
//! lists = ["directory-index", "actions"]
//! extra = ["^/print/"]
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Filter;
use super::assets::Assets;
use super::blocklist::Blocklist;
use super::depth::Depth;
use super::known_paths::{KnownList, KnownPaths};
use super::length::Length;
use super::pattern::{Exclude, Include, Patterns};
use super::ports::Ports;
use super::reach::{Reach, ScopeMode};
use super::redirects::Redirects;
use super::scheme::Scheme;
use super::targets::Targets;
use super::traps::Traps;
use super::types::Types;
use crate::Limits;
use crate::url::CrawlUrl;

/// One filter and its parameters. A key that the filter does not know is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "filter", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FilterSpec {
    /// http, https and file, or the ones named.
    Scheme {
        /// Schemes to follow; none named means all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        allow: Vec<String>,
    },
    /// Ports on which something else than the web answers.
    Ports {},
    /// The only hosts that may be asked.
    Targets {
        /// Names, names with all below them, addresses, networks.
        hosts: Vec<String>,
    },
    /// The longest URL.
    Length {},
    /// Redirects in a row.
    Redirects {},
    /// Hops from a seed.
    Depth {},
    /// Hosts that are left alone.
    Blocklist {
        /// Further hosts, beside those of the crawl.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hosts: Vec<String>,
    },
    /// What pages embed.
    Assets {},
    /// How far from the seeds.
    Scope {},
    /// Patterns of which one must match.
    Include {
        /// Further patterns, beside those of the crawl.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        patterns: Vec<String>,
    },
    /// Patterns of which none may match.
    Exclude {
        /// Further patterns, beside those of the crawl.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        patterns: Vec<String>,
    },
    /// Views and links that are of no use to a crawler.
    KnownPaths {
        /// Lists to use; all where the key is left out.
        #[serde(default = "all_lists")]
        lists: Vec<KnownList>,
        /// Patterns of one's own, matched against path and query.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        extra: Vec<String>,
    },
    /// Shapes of endless supplies.
    Traps {
        /// First year of calendars that make sense.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        year_min: Option<u32>,
        /// Last year of calendars that make sense.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        year_max: Option<u32>,
    },
    /// Files that are certainly not of a type asked for.
    Types {},
}

fn all_lists() -> Vec<KnownList> {
    KnownList::ALL.to_vec()
}

/// Years of a calendar around the year of the crawl that are taken for real: a calendar has no end, and
/// its pages are mostly empty.
const CALENDAR_YEARS: (u32, u32) = (12, 2);

/// The years in question, generous where the year of the crawl is not known.
fn calendar_years(year: u32) -> (u32, u32) {
    match year {
        0 => (1990, 2100),
        year => (year.saturating_sub(CALENDAR_YEARS.0), year.saturating_add(CALENDAR_YEARS.1)),
    }
}

/// Every filter, the cheap and the telling ones first.
pub fn default_specs() -> Vec<FilterSpec> {
    vec![
        FilterSpec::Scheme { allow: Vec::new() },
        FilterSpec::Ports {},
        FilterSpec::Length {},
        FilterSpec::Redirects {},
        FilterSpec::Depth {},
        FilterSpec::Blocklist { hosts: Vec::new() },
        FilterSpec::Assets {},
        FilterSpec::Scope {},
        FilterSpec::Include { patterns: Vec::new() },
        FilterSpec::Exclude { patterns: Vec::new() },
        FilterSpec::Traps { year_min: None, year_max: None },
        FilterSpec::KnownPaths { lists: all_lists(), extra: Vec::new() },
        FilterSpec::Types {},
    ]
}

/// What the filters of one crawl are made from, beside their own parameters.
#[derive(Debug, Clone, Default)]
pub struct ScopeInput<'a> {
    /// Where the crawl begins.
    pub seeds: &'a [CrawlUrl],
    /// What a seed stands for.
    pub mode: ScopeMode,
    /// Patterns of which one must match, if there are any.
    pub include: Vec<String>,
    /// Patterns of which none may match.
    pub exclude: Vec<String>,
    /// Hops from a seed, if the user set any number below the limit.
    pub depth_max: Option<u32>,
    /// Whether to fetch what pages embed.
    pub assets: bool,
    /// Content types asked for; none means all.
    pub accept: Vec<String>,
    /// Lines of a list of hosts that are left alone.
    pub blocked_hosts: Vec<String>,
    /// The year in which the crawl runs; 0 if that is not known.
    pub year: u32,
    /// The maxima in force.
    pub limits: Limits,
}

/// A filter that cannot be built as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeError {
    /// Not a regular expression, or one that is too large.
    Pattern {
        /// The pattern as written.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// Not a host.
    Host {
        /// The entry as written.
        entry: String,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for ScopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern { pattern, why } => {
                write!(f, "cannot use the pattern `{pattern}`: {why}")
            }
            Self::Host { entry, why } => write!(f, "`{entry}` is no host: {why}"),
        }
    }
}

impl std::error::Error for ScopeError {}

impl FilterSpec {
    /// The filter at work.
    pub(super) fn build(&self, input: &ScopeInput<'_>) -> Result<Box<dyn Filter>, ScopeError> {
        let limits = &input.limits;
        let patterns = |general: &[String], own: &[String]| {
            Patterns::new(&[general, own].concat(), limits.patterns_bytes_max)
        };
        Ok(match self {
            Self::Scheme { allow } => Box::new(Scheme { allow: allow.clone() }),
            Self::Ports {} => Box::new(Ports::new(input.seeds)),
            Self::Targets { hosts } => Box::new(Targets::new(hosts)?),
            Self::Length {} => Box::new(Length { bytes_max: limits.url_bytes_max }),
            Self::Redirects {} => Box::new(Redirects { max: limits.redirects_max }),
            Self::Depth {} => Box::new(Depth { hops_max: hops_max(input) }),
            Self::Blocklist { hosts } => {
                let lines = input.blocked_hosts.iter().chain(hosts);
                Box::new(Blocklist::new(lines.map(String::as_str))?)
            }
            Self::Assets {} => {
                Box::new(Assets { follow: input.assets, accept: input.accept.clone() })
            }
            Self::Scope {} => Box::new(Reach::new(input.mode, input.seeds, input.assets)),
            Self::Include { patterns: own } => Box::new(Include(patterns(&input.include, own)?)),
            Self::Exclude { patterns: own } => Box::new(Exclude(patterns(&input.exclude, own)?)),
            Self::Traps { year_min, year_max } => {
                let (from, to) = calendar_years(input.year);
                Box::new(Traps::new(limits, year_min.unwrap_or(from), year_max.unwrap_or(to)))
            }
            Self::KnownPaths { lists, extra } => {
                Box::new(KnownPaths::new(lists, extra, limits.patterns_bytes_max)?)
            }
            Self::Types {} => {
                Box::new(Types { accept: input.accept.clone(), assets: input.assets })
            }
        })
    }
}

/// What the user set, within the limit.
fn hops_max(input: &ScopeInput<'_>) -> u32 {
    let limit = u32::try_from(input.limits.depth_hops_max).unwrap_or(u32::MAX);
    input.depth_max.map_or(limit, |hops| hops.min(limit))
}
