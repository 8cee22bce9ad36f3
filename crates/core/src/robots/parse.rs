//! The bytes of a robots.txt → [`Robots`], in one pass (RFC 9309 section 2.2).
//!
//! A line counts when it begins with a name that is known here; every other line is as if it were
//! not there. Only rules end the list of user agents that opens a group: a crawl-delay, a sitemap
//! or an unknown line in between does not (section 2.2.4). Nor does a line about the use of pages,
//! although AIPREF calls it a rule: an agent named above it would be let in where it was kept out.
//!
//! Tolerated beyond the grammar, because sites rely on it and it hurts nobody: a blank in the place
//! of the colon, a byte order mark that is cut short, names of agents with a version behind them or
//! digits in them, and the misspellings in [`FIELDS`], all of them from real files. No more: a
//! guess can open what was closed.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memrchr2};

use super::usage::{Usage, UsageField};
use super::{Agent, Robots, Rule, Span, escape};
use crate::Limits;

/// Reads a robots.txt.
pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Robots {
    let mut draft = Draft::default();
    for (number, line) in (1..).zip(Lines(counting(bytes, limits))) {
        draft.take(number, line);
    }
    draft.finish()
}

/// The bytes that count: whole lines within the limit, without a byte order mark.
fn counting<'a>(bytes: &'a [u8], limits: &Limits) -> &'a [u8] {
    let bytes_max = usize::try_from(limits.robots_bytes_max).unwrap_or(usize::MAX);
    let whole = match bytes.get(..=bytes_max) {
        // A rule that is cut short would say more than the site did.
        Some(over) => over.get(..memrchr2(b'\n', b'\r', over).unwrap_or_default()),
        None => Some(bytes),
    };
    let skip = |rest: &'a [u8], mark: &u8| rest.strip_prefix(&[*mark]).unwrap_or(rest);
    b"\xEF\xBB\xBF".iter().fold(whole.unwrap_or_default(), skip)
}

/// The lines of a text, ended by CR, LF or CR LF (section 2.2, `EOL`).
struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = memchr2(b'\n', b'\r', self.0).unwrap_or(self.0.len());
        let (line, rest) = self.0.split_at(end);
        let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..));
        self.0 = rest.unwrap_or_default();
        Some(line)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
    Usage(UsageField),
}

/// The names of fields, compared without case.
const FIELDS: &[(&str, Field)] = &[
    ("user-agent", Field::UserAgent),
    ("useragent", Field::UserAgent),
    ("user agent", Field::UserAgent),
    ("allow", Field::Allow),
    ("disallow", Field::Disallow),
    ("dissallow", Field::Disallow),
    ("crawl-delay", Field::CrawlDelay),
    ("sitemap", Field::Sitemap),
    ("content-usage", Field::Usage(UsageField::ContentUsage)),
    ("content-signal", Field::Usage(UsageField::ContentSignal)),
];

/// Field and value of a line without comment and outer blanks; the value is the line's end.
fn read(line: &[u8]) -> Option<(Field, &[u8])> {
    let (name, value) = match memchr(b':', line) {
        Some(colon) => (line.get(..colon)?, line.get(colon + 1..)?),
        None => two_words(line)?,
    };
    let name = name.trim_ascii_end();
    let known = |(known, _): &&(&str, Field)| name.eq_ignore_ascii_case(known.as_bytes());
    let (_, field) = FIELDS.iter().find(known)?;
    Some((*field, value.trim_ascii_start()))
}

/// `disallow /path`, with the colon forgotten; not `allow us to say`.
fn two_words(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let blank = memchr2(b' ', b'\t', line)?;
    let value = line.get(blank..)?.trim_ascii_start();
    memchr2(b' ', b'\t', value).is_none().then_some((line.get(..blank)?, value))
}

/// The tables of a [`Robots`] while they grow. What follows `group_agents` and `group_rules` is the
/// group being read.
#[derive(Default)]
struct Draft {
    text: Vec<u8>,
    agents: Vec<Agent>,
    rules: Vec<Rule>,
    usages: Vec<Usage>,
    sitemaps: String,
    group_agents: usize,
    group_rules: usize,
    group_usages: usize,
    /// The group's list of user agents is complete.
    rules_began: bool,
}

impl Draft {
    fn take(&mut self, number: u32, line: &[u8]) {
        let comment = memchr(b'#', line).unwrap_or(line.len());
        let line = line.get(..comment).unwrap_or_default().trim_ascii();
        match read(line) {
            Some((Field::UserAgent, value)) => self.take_agent(value),
            Some((Field::Allow, value)) => self.take_rule(number, line, value, true),
            Some((Field::Disallow, value)) => self.take_rule(number, line, value, false),
            Some((Field::CrawlDelay, value)) => self.take_delay(value),
            Some((Field::Sitemap, value)) => self.take_sitemap(value),
            Some((Field::Usage(field), value)) => self.take_usage(number, field, value),
            None => {}
        }
    }

    fn take_agent(&mut self, value: &[u8]) {
        if self.rules_began {
            self.close_group();
        }
        let token = product_token(value);
        if token.is_empty() {
            return; // A group for nobody, unless others are named.
        }
        let token = self.keep(&token.to_ascii_lowercase());
        let (rules, usages) = (Span::default(), Span::default());
        self.agents.push(Agent { token, rules, usages, delay_ms: None });
    }

    fn take_rule(&mut self, line: u32, written: &[u8], path: &[u8], allow: bool) {
        self.rules_began = true;
        let for_nobody = self.agents.len() == self.group_agents;
        // An empty path matches nothing, though it makes a group complete (section 2.2.2).
        if for_nobody || path.is_empty() {
            return;
        }
        let (bare, anchored) = unanchored(path);
        let path_from = self.text.len() + written.len() - path.len();
        let written = self.keep(written);
        let pattern = match escape::normal_pattern(bare) {
            // As written: no second copy.
            Cow::Borrowed(_) => Span::new(path_from, path_from + bare.len()),
            Cow::Owned(pattern) => self.keep(&pattern),
        };
        self.rules.push(Rule { written, pattern, line, allow, anchored });
    }

    /// `/path train-ai=n`, or words alone, which then hold for all paths.
    fn take_usage(&mut self, line: u32, field: UsageField, value: &[u8]) {
        let for_nobody = self.agents.len() == self.group_agents;
        if for_nobody || value.is_empty() {
            return;
        }
        let path_end = if value.starts_with(b"/") { memchr2(b' ', b'\t', value) } else { Some(0) };
        let (path, words) = value.split_at(path_end.unwrap_or(value.len()));
        let (bare, anchored) = unanchored(path);
        let pattern = self.keep(&escape::normal_pattern(bare));
        let words = self.keep(words.trim_ascii_start());
        self.usages.push(Usage { field, pattern, anchored, words, line });
    }

    /// Notes the delay at the agent named last; `close_group` hands it to those above.
    fn take_delay(&mut self, value: &[u8]) {
        let group = self.agents.get_mut(self.group_agents..).unwrap_or_default();
        if let Some(last) = group.last_mut() {
            last.delay_ms = last.delay_ms.max(delay_ms(value));
        }
    }

    fn take_sitemap(&mut self, value: &[u8]) {
        if !value.is_empty() {
            self.sitemaps.push_str(&String::from_utf8_lossy(value));
            self.sitemaps.push('\n');
        }
    }

    fn close_group(&mut self) {
        let rules = self.rules.get_mut(self.group_rules..).unwrap_or_default();
        rules.sort_unstable_by(Rule::precedence);
        let span = Span::new(self.group_rules, self.rules.len());
        let usages = Span::new(self.group_usages, self.usages.len());
        let mut longest = None;
        for agent in self.agents.iter_mut().skip(self.group_agents).rev() {
            longest = longest.max(agent.delay_ms);
            agent.delay_ms = longest;
            agent.rules = span;
            agent.usages = usages;
        }
        self.group_agents = self.agents.len();
        self.group_rules = self.rules.len();
        self.group_usages = self.usages.len();
        self.rules_began = false;
    }

    fn finish(mut self) -> Robots {
        self.close_group();
        let text = &self.text;
        self.agents.sort_by(|a, b| a.token.of(text).cmp(b.token.of(text)));
        Robots {
            text: self.text.into(),
            agents: self.agents.into(),
            rules: self.rules.into(),
            usages: self.usages.into(),
            sitemaps: self.sitemaps.into(),
            closed: None,
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Span {
        let from = self.text.len();
        self.text.extend_from_slice(bytes);
        Span::new(from, self.text.len())
    }
}

/// A path without the `$` that stands for its end, and whether it had one.
fn unanchored(path: &[u8]) -> (&[u8], bool) {
    path.strip_suffix(b"$").map_or((path, false), |bare| (bare, true))
}

/// The product token that a user-agent line begins with: `larm` of `larm/1.0 (crawler)`, or `*`.
///
/// The grammar of section 2.2.1 has no digits in tokens. Agents do have them, and without them
/// `larm2` would be taken for `larm`.
fn product_token(value: &[u8]) -> &[u8] {
    if let [b'*'] | [b'*', b' ' | b'\t', ..] = value {
        return b"*";
    }
    let in_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let end = value.iter().position(|byte| !in_token(byte)).unwrap_or(value.len());
    value.get(..end).unwrap_or_default()
}

/// Seconds with or without a fraction; anything else is no delay at all.
fn delay_ms(value: &[u8]) -> Option<u64> {
    let is_number = value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let seconds: f64 = std::str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()?;
    // Not negative, and `as` stops at the highest number there is.
    Some((seconds * 1000.0).round() as u64)
}
