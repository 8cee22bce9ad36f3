//! Settings that can be changed while a crawl runs: `larm set DIR KEY=VALUE`.
//!
//! Each is kept as its key and value ([`changes`](crate::changes)), and applied again on top of the plan when the
//! crawl goes on later.

use std::fmt;

use larm_core::scope::blocked_host;
use larm_core::url::CrawlUrl;

use crate::frontier::Budgets;

/// One change of a running crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Gap per host, in milliseconds.
    Delay(u64),
    /// Requests per second of the whole crawl; `None` for no such limit.
    Rate(Option<u32>),
    /// Fetches at a time; `None` to find the best number.
    Concurrency(Option<u64>),
    /// Pages in all; `None` for no such limit.
    MaxPages(Option<u64>),
    /// Pages of a host before it has shown that it is worth more; `None` for no such limit.
    HostBudget(Option<u64>),
    /// The same for a site.
    SiteBudget(Option<u64>),
    /// Pages with nothing new that cut a shape of URLs off; `None` to cut off none.
    PatternBudget(Option<u64>),
    /// A pattern to exclude, waiting URLs included.
    Exclude(String),
    /// A pattern that excludes nothing any more.
    Unexclude(String),
    /// A host to leave alone, with everything below it.
    Block(String),
    /// A host that is left alone no longer.
    Unblock(String),
    /// A URL to take as one more seed.
    Seed(String),
    /// The gap of one host, in milliseconds; `None` for that of the settings.
    HostDelay(String, Option<u64>),
    /// Whether a host is paused.
    HostPause(String, bool),
}

/// Why a change was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeError(pub String);

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChangeError {}

/// The keys, for messages.
pub const KEYS: &str = "delay, rate, concurrency, max-pages, host-budget, \
    site-budget, pattern-budget, exclude, unexclude, block, unblock, host-delay, host-pause, host-resume";

impl Change {
    /// Understands `KEY=VALUE`.
    pub fn parse(key: &str, value: &str) -> Result<Self, ChangeError> {
        let number =
            |what: &str| {
                value.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(|| {
                    ChangeError(format!("{what} needs a number above 0, not `{value}`"))
                })
            };
        let budget = || match value {
            "off" => Ok(None),
            _ => number(&format!("{key} (pages, or off)")).map(Some),
        };
        match key {
            "delay" => parse_duration_ms(value).map(Self::Delay).ok_or_else(|| {
                ChangeError(format!("delay needs a time such as 500ms, 2s or 1m, not `{value}`"))
            }),
            "rate" if value == "none" => Ok(Self::Rate(None)),
            "rate" => {
                let rate = number("rate (requests per second, or none)")?;
                Ok(Self::Rate(Some(u32::try_from(rate).unwrap_or(u32::MAX))))
            }
            "concurrency" if value == "auto" => Ok(Self::Concurrency(None)),
            "concurrency" => number("concurrency (or auto)").map(Some).map(Self::Concurrency),
            "max-pages" if value == "none" => Ok(Self::MaxPages(None)),
            "max-pages" => {
                number("max-pages (or none, for no such limit)").map(Some).map(Self::MaxPages)
            }
            "host-budget" => budget().map(Self::HostBudget),
            "site-budget" => budget().map(Self::SiteBudget),
            "pattern-budget" => budget().map(Self::PatternBudget),
            "host-delay" => host_delay(value),
            "host-pause" | "host-resume" => host_pause(key, value),
            "exclude" | "unexclude" if value.trim().is_empty() => {
                Err(ChangeError(format!("{key} needs a value")))
            }
            "exclude" => Ok(Self::Exclude(value.to_owned())),
            "unexclude" => Ok(Self::Unexclude(value.to_owned())),
            "block" => blocked(key, value).map(Self::Block),
            "unblock" => blocked(key, value).map(Self::Unblock),
            _ => Err(ChangeError(format!("`{key}` cannot be changed while running; {KEYS} can"))),
        }
    }

    /// What it is about: of two changes with one name, the later counts. Lists have a name per value.
    pub fn name(&self) -> String {
        match self {
            Self::Exclude(text) | Self::Unexclude(text) => format!("exclude={text}"),
            Self::Block(text) | Self::Unblock(text) => format!("block={text}"),
            Self::Seed(url) => format!("seed={url}"),
            Self::HostDelay(host, _) => format!("host-delay={host}"),
            Self::HostPause(host, _) => format!("host-pause={host}"),
            _ => self.key().to_owned(),
        }
    }

    /// Its key, as [`Change::parse`] takes it.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Delay(_) => "delay",
            Self::Rate(_) => "rate",
            Self::Concurrency(_) => "concurrency",
            Self::MaxPages(_) => "max-pages",
            Self::HostBudget(_) => "host-budget",
            Self::SiteBudget(_) => "site-budget",
            Self::PatternBudget(_) => "pattern-budget",
            Self::Exclude(_) => "exclude",
            Self::Unexclude(_) => "unexclude",
            Self::Block(_) => "block",
            Self::Unblock(_) => "unblock",
            Self::Seed(_) => "seed",
            Self::HostDelay(..) => "host-delay",
            Self::HostPause(_, true) => "host-pause",
            Self::HostPause(_, false) => "host-resume",
        }
    }

    /// Its value, as [`Change::parse`] takes it.
    pub fn value(&self) -> String {
        match self {
            Self::Delay(ms) => format!("{ms}ms"),
            Self::Rate(rate) => rate.map_or("none".to_owned(), |rate| rate.to_string()),
            Self::Concurrency(n) => n.map_or("auto".to_owned(), |n| n.to_string()),
            Self::MaxPages(n) => n.map_or("none".to_owned(), |n| n.to_string()),
            Self::HostBudget(n) | Self::SiteBudget(n) | Self::PatternBudget(n) => {
                n.map_or("off".to_owned(), |n| n.to_string())
            }
            Self::Exclude(text) | Self::Unexclude(text) | Self::Seed(text) => text.clone(),
            Self::Block(text) | Self::Unblock(text) => text.clone(),
            Self::HostDelay(host, Some(ms)) => format!("{host}:{ms}ms"),
            Self::HostDelay(host, None) => format!("{host}:default"),
            Self::HostPause(host, _) => host.clone(),
        }
    }

    /// Sets the budget that it is about, if it is about one.
    pub fn set_budget(&self, budgets: &mut Budgets) {
        match self {
            Self::MaxPages(n) => budgets.pages_max = *n,
            Self::HostBudget(n) => budgets.host_base = *n,
            Self::SiteBudget(n) => budgets.site_base = *n,
            Self::PatternBudget(n) => {
                budgets.cut_at = n.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
            }
            _ => {}
        }
    }

    /// Reads back what stands in the log of the frontier: seeds, which the crawl adopted by itself. More seeds are
    /// given by starting it with them.
    pub fn from_log(name: &str, value: &str) -> Option<Self> {
        name.starts_with("seed=").then(|| Self::Seed(value.to_owned()))
    }
}

/// `HOST:5s`, or `HOST:default`.
fn host_delay(value: &str) -> Result<Change, ChangeError> {
    let wrong = || {
        let words =
            "host-delay needs a host and a time, such as example.com:5s or example.com:default";
        ChangeError(format!("{words}, not `{value}`"))
    };
    let (host, delay) = value.rsplit_once(':').ok_or_else(wrong)?;
    let ms = match delay {
        "default" => None,
        delay => Some(parse_duration_ms(delay).ok_or_else(wrong)?),
    };
    Ok(Change::HostDelay(host_name(host).ok_or_else(wrong)?, ms))
}

fn host_pause(key: &str, value: &str) -> Result<Change, ChangeError> {
    let host = host_name(value)
        .ok_or_else(|| ChangeError(format!("{key} needs a host, not `{value}`")))?;
    Ok(Change::HostPause(host, key == "host-pause"))
}

/// A name as the list of blocked hosts takes it. It may be that of a domain.
fn blocked(key: &str, value: &str) -> Result<String, ChangeError> {
    let wrong = || ChangeError(format!("{key} needs a host, such as ads.example, not `{value}`"));
    blocked_host(value).ok().flatten().ok_or_else(wrong)
}

/// A host as URLs have it.
fn host_name(text: &str) -> Option<String> {
    let url = CrawlUrl::from_canonical(&format!("http://{}/", text.trim().to_ascii_lowercase()))?;
    (url.path() == "/" && url.port() == 80).then(|| url.host().to_owned())
}

/// `500ms`, `2s`, `1.5s`, `3m`, `1h`; a bare number is seconds.
pub fn parse_duration_ms(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor = match unit.trim() {
        "ms" => 1.0,
        "" | "s" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    let ms = number * factor;
    (number >= 0.0 && ms.is_finite() && ms < 1e15).then_some(ms.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        let rows = [
            ("500ms", Some(500)),
            ("2s", Some(2_000)),
            ("1.5s", Some(1_500)),
            ("3", Some(3_000)),
            ("0", Some(0)),
            ("2 m", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("-1s", None),
            ("soon", None),
            ("", None),
            ("1e99h", None),
        ];
        for (text, expected) in rows {
            assert_eq!(parse_duration_ms(text), expected, "{text}");
        }
    }

    #[test]
    fn every_change_is_read_back_as_it_is_written() {
        let rows = [
            ("delay", "2s"),
            ("rate", "5"),
            ("rate", "none"),
            ("concurrency", "9"),
            ("concurrency", "auto"),
            ("max-pages", "100"),
            ("max-pages", "none"),
            ("host-budget", "7"),
            ("site-budget", "off"),
            ("pattern-budget", "90"),
            ("exclude", "/a=b/"),
            ("unexclude", "/a=b/"),
            ("block", "ads.example"),
            ("unblock", "ads.example"),
            ("host-delay", "a.example:5s"),
            ("host-delay", "[::1]:default"),
            ("host-pause", "a.example"),
            ("host-pause", "[::1]"),
            ("host-resume", "a.example"),
        ];
        for (key, value) in rows {
            let change = Change::parse(key, value).unwrap();
            assert_eq!(Change::parse(change.key(), &change.value()), Ok(change.clone()));
            assert_eq!(change.key(), key);
        }
    }

    #[test]
    fn a_blocked_host_has_one_name_however_it_is_typed() {
        let rows = [
            ("localhost", "localhost"),
            ("LOCALHOST", "localhost"),
            ("  localhost ", "localhost"),
            ("*.Ads.Example.", "ads.example"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("[::1]", "[::1]"),
        ];
        for (typed, name) in rows {
            let expected = Change::Block(name.to_owned());
            assert_eq!(Change::parse("block", typed), Ok(expected.clone()), "{typed}");
            let lifted = Change::parse("unblock", typed).unwrap();
            assert_eq!(lifted.name(), expected.name(), "{typed}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_hint() {
        for (key, value) in [
            ("delay", "soon"),
            ("max-pages", "0"),
            ("colour", "red"),
            ("block", ""),
            ("block", " # "),
            ("unblock", "not a host"),
            ("host-delay", "5s"),
            ("host-delay", "a.example:soon"),
            ("host-pause", "a b"),
            ("host-pause", "a.example/x"),
        ] {
            assert!(!Change::parse(key, value).unwrap_err().to_string().is_empty());
        }
    }
}
