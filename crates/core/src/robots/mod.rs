//! What a site allows us: robots.txt (RFC 9309), and the robots words of pages and headers.
//!
//! Asked right before every fetch, between the lease and the permit. [`Robots::parse`] turns the
//! bytes of a robots.txt into a table, [`Robots::judge`] looks one path up in it.
//!
//! - Bytes are never an error: what is no rule is skipped, as section 2.2 asks of a parser.
//! - Rules are brought into their form for comparison while parsing, and sorted by how specific
//!   they are: the first that matches decides. `judge` allocates only for a path that is not in
//!   that form, which a canonical URL nearly always is.
//! - ROBOTS-1: `judge` takes at most a constant times (bytes of the file + rules × bytes of the
//!   path), whatever the patterns are; see `matcher`.
//! - A parsed file is at most six allocations: one and a half times the bytes of real files, six
//!   times those of files made to be large.
//! - Lines about the use of pages ([`Robots::signals`]) say nothing about access: groups and verdicts
//!   are the same with them and without.
//!
//! Nothing here fetches, caches, or knows what a status of 404 or 503 means: the caller turns those
//! into [`Robots::allow_all`] and [`Robots::disallow_all`].

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::Limits;

mod agent;
pub mod directives;
pub(crate) mod escape;
pub(crate) mod matcher;
mod parse;
#[cfg(test)]
mod tests;
mod usage;

pub use agent::product_token;
pub use directives::Directives;
pub use usage::{UsageField, UsageLine};

use usage::Usage;

/// A parsed robots.txt.
#[derive(Debug, Clone, Default)]
pub struct Robots {
    /// Product tokens, rule lines and patterns, to which the spans below point.
    text: Box<[u8]>,
    /// One entry for each product token of each group, sorted by token.
    agents: Box<[Agent]>,
    /// The rules, group by group; within a group the most specific first.
    rules: Box<[Rule]>,
    /// What the file says of the use of its pages, group by group.
    usages: Box<[Usage]>,
    /// One sitemap per line.
    sitemaps: Box<str>,
    /// Why nothing at all is allowed, if that is so.
    closed: Option<Box<str>>,
}

/// What a robots.txt says about one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RobotsVerdict<'a> {
    /// Whether the path may be fetched.
    pub allowed: bool,
    /// The line that decided, as written but for comment and outer blanks. None where no line
    /// matched.
    pub rule: Option<Cow<'a, str>>,
    /// Number of that line, counted from 1.
    pub line: Option<u32>,
}

impl RobotsVerdict<'_> {
    const ALLOWED: Self = Self { allowed: true, rule: None, line: None };
}

/// A stretch of one of the tables of [`Robots`].
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    from: u32,
    to: u32,
}

impl Span {
    fn new(from: usize, to: usize) -> Self {
        let narrow = |n| u32::try_from(n).expect("`robots_bytes_max` keeps tables far below 4 GiB");
        Self { from: narrow(from), to: narrow(to) }
    }

    fn of<T>(self, table: &[T]) -> &[T] {
        table.get(self.from as usize..self.to as usize).unwrap_or_default()
    }

    fn len(self) -> u32 {
        self.to - self.from
    }
}

/// One user-agent line.
#[derive(Debug, Clone, Copy)]
struct Agent {
    /// Product token in lower case, or `*`.
    token: Span,
    /// Rules of the group that the line stands in.
    rules: Span,
    /// What that group says of the use of pages.
    usages: Span,
    delay_ms: Option<u64>,
}

/// One allow or disallow line.
#[derive(Debug, Clone, Copy)]
struct Rule {
    /// The line as written.
    written: Span,
    /// Its path in the form for comparison, without the `$` of an anchored one.
    pattern: Span,
    line: u32,
    allow: bool,
    anchored: bool,
}

impl Rule {
    /// Length of the pattern in octets, `*` and `$` included.
    fn octets(&self) -> u32 {
        self.pattern.len() + u32::from(self.anchored)
    }

    /// What decides between two rules that match: more octets first, allow before disallow
    /// (section 2.2.2), then the order of the file.
    fn precedence(&self, other: &Self) -> Ordering {
        let octets = other.octets().cmp(&self.octets());
        octets.then(other.allow.cmp(&self.allow)).then(self.line.cmp(&other.line))
    }
}

impl Robots {
    /// Reads a robots.txt of which the first `robots_bytes_max` bytes count.
    ///
    /// Never fails: binary data, HTML and the like are files without rules.
    pub fn parse(bytes: &[u8], limits: &Limits) -> Self {
        parse::parse(bytes, limits)
    }

    /// The file of a site that has none.
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// The file of a site that cannot be asked; `why` takes the place of the rule in its verdicts.
    pub fn disallow_all(why: &str) -> Self {
        Self { closed: Some(why.into()), ..Self::default() }
    }

    /// Whether `agent`, a product token such as `larm`, may fetch a path with its query.
    ///
    /// An empty path stands for `/`. `/robots.txt` itself is always allowed (section 2.2.2).
    pub fn judge(&self, agent: &str, path_and_query: &str) -> RobotsVerdict<'_> {
        let path = if path_and_query.is_empty() { "/" } else { path_and_query };
        let path = escape::normal_path(path.as_bytes());
        if *path == *b"/robots.txt" {
            return RobotsVerdict::ALLOWED;
        }
        if let Some(why) = &self.closed {
            return RobotsVerdict { allowed: false, rule: Some(why.as_ref().into()), line: None };
        }
        let decisive = self.agents_for(agent).iter().filter_map(|entry| self.first(entry, &path));
        decisive
            .min_by(|a, b| a.precedence(b))
            .map_or(RobotsVerdict::ALLOWED, |rule| self.verdict(rule))
    }

    /// Milliseconds that `agent` is asked to leave between two requests.
    ///
    /// Crawl-delay is not part of RFC 9309. Here it counts for the user agents named above it in
    /// its group; of several the longest is taken. The group is chosen as for rules: an agent with
    /// a group of its own is not bound by the delay of `*`.
    pub fn crawl_delay_ms(&self, agent: &str) -> Option<u64> {
        self.agents_for(agent).iter().filter_map(|entry| entry.delay_ms).max()
    }

    /// The sitemaps named anywhere in the file, as written and in its order, repeats included.
    pub fn sitemaps(&self) -> impl Iterator<Item = &str> {
        self.sitemaps.split_terminator('\n')
    }

    /// Bytes on the heap, for caches that count them.
    pub fn heap_bytes(&self) -> usize {
        self.text.len()
            + size_of_val(&*self.agents)
            + size_of_val(&*self.rules)
            + size_of_val(&*self.usages)
            + self.sitemaps.len()
            + self.closed.as_ref().map_or(0, |why| why.len())
    }

    /// The user-agent lines whose groups apply: all that name the agent, else all with `*`
    /// (section 2.2.1).
    fn agents_for(&self, agent: &str) -> &[Agent] {
        // A token ends where a version begins: someone may well pass `larm/1.0`.
        let token = agent.split('/').next().unwrap_or_default();
        match self.agents_named(token) {
            [] => self.agents_named("*"),
            named => named,
        }
    }

    fn agents_named(&self, token: &str) -> &[Agent] {
        let compare = |entry: &Agent| {
            let lower = token.bytes().map(|byte| byte.to_ascii_lowercase());
            entry.token.of(&self.text).iter().copied().cmp(lower)
        };
        let from = self.agents.partition_point(|entry| compare(entry) == Ordering::Less);
        let rest = self.agents.get(from..).unwrap_or_default();
        let count = rest.partition_point(|entry| compare(entry) == Ordering::Equal);
        rest.get(..count).unwrap_or_default()
    }

    /// The most specific rule of a group that matches.
    fn first(&self, entry: &Agent, path: &[u8]) -> Option<&Rule> {
        let matches =
            |rule: &&Rule| matcher::matches(rule.pattern.of(&self.text), rule.anchored, path);
        entry.rules.of(&self.rules).iter().find(matches)
    }

    fn verdict(&self, rule: &Rule) -> RobotsVerdict<'_> {
        let written = String::from_utf8_lossy(rule.written.of(&self.text));
        RobotsVerdict { allowed: rule.allow, rule: Some(written), line: Some(rule.line) }
    }
}
