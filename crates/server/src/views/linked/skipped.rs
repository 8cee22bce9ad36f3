//! Links and URLs that were left out, by what said no: in words for people, and with the setting that would let
//! them in.

use std::collections::{HashMap, HashSet};

use larm_core::Limits;
use larm_core::url::{CrawlUrl, Fingerprint};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::problem::Problem;
use crate::table::{Outcome, Table};
use crate::views::detail::rows as rows_of;

/// URLs that are named for each reason.
const EXAMPLES_MAX: usize = 10;
/// Bytes of a reason.
const REASON_BYTES_MAX: u64 = 300;

/// A URL that was left out, and a page that leads there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Example {
    /// The URL.
    pub url: String,
    /// The page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// What would let links in, and no more of what is left out than these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Admitting {
    /// The key of a setting, to be changed with `PATCH …/settings`; or `unexclude` or `unblock`: a rule to be lifted with
    /// `DELETE …/rules`.
    pub key: String,
    /// Its value, as `larm.toml` has it; or the pattern, or the host.
    #[schema(value_type = Value)]
    pub value: Value,
    /// Whether a crawl that runs takes it. Else it has to be stopped first.
    pub while_running: bool,
    /// What it does, as a sentence.
    pub words: String,
}

/// Said of everything that lets links in, as it is not what one expects.
pub const NOT_AGAIN: &str = "Pages that were fetched already are not read again for it, so what they link to stays left out. \
    `larm rebuild --state DIR`, on a crawl that is stopped, reads them again from the archive, without a request.";

/// What was left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Group {
    /// What was found, in the words of the filter.
    pub reason: String,
    /// The filter that said no, or `robots`.
    pub filter: String,
    /// The same in words for people.
    pub words: String,
    /// How many links, or URLs that had been accepted before.
    pub links: u64,
    /// How many different URLs, where they could be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls: Option<u64>,
    /// Some of them.
    pub examples: Vec<Example>,
    /// What would let them in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Admitting>,
}

/// What was left out so far.
pub(super) struct Skips {
    numbers: HashMap<(String, String), u32>,
    groups: Vec<Gathered>,
    groups_max: usize,
    /// Different URLs that may still be counted.
    room: u64,
    is_cut: bool,
}

#[derive(Default)]
struct Gathered {
    filter: String,
    reason: String,
    /// A verdict of this kind in full.
    detail: String,
    links: u64,
    prints: HashSet<u64>,
    is_counted: bool,
    examples: Vec<Example>,
}

/// Whether all rows could be counted.
pub(super) struct Added {
    pub is_cut: bool,
}

impl Skips {
    pub fn new(limits: &Limits) -> Self {
        let groups_max = usize::try_from(limits.server_groups_max).unwrap_or(usize::MAX);
        Self {
            numbers: HashMap::new(),
            groups: Vec::new(),
            groups_max,
            room: limits.server_distinct_max,
            is_cut: false,
        }
    }

    /// The number of what a verdict of the link log means; `None` if there are too many. `url` is counted as one of its URLs.
    pub fn number(&mut self, verdict: &str, url: &str) -> Option<u32> {
        let (filter, detail) = verdict.split_once(": ").unwrap_or((verdict, ""));
        let number = self.group(filter, &reason_of(filter, detail, url), detail)?;
        let group = &mut self.groups[number as usize];
        if matches!(filter, "depth" | "length") && leading(detail) > leading(&group.detail) {
            detail.clone_into(&mut group.detail);
        }
        if self.room > 0 {
            self.room -= u64::from(group.prints.insert(Fingerprint::of(url).0));
        } else {
            group.is_counted = false;
        }
        Some(number)
    }

    /// One more link.
    pub fn note(&mut self, number: u32, url: &str, from: &str) {
        let group = &mut self.groups[number as usize];
        group.links += 1;
        let is_new = |url: &str| group.examples.iter().all(|example| example.url != url);
        if group.examples.len() < EXAMPLES_MAX && is_new(url) {
            let cut = |text: &str| larm_core::parse::cut(text, 4_096).to_owned();
            group.examples.push(Example { url: cut(url), from: Some(cut(from)) });
        }
    }

    /// Adds the URLs of the crawl log that were accepted as links and left out later: by robots.txt, by what
    /// their answer says, by rules that changed meanwhile.
    pub fn add_rows(&mut self, table: &Table) -> Result<Added, Problem> {
        let mut examples: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut is_cut = false;
        for row in 0..table.len() {
            if !matches!(table.ended(row).0, Outcome::Denied | Outcome::Rejected) {
                continue;
            }
            let filter = table.class(row).to_owned();
            let Some(number) = self.group(&filter, "", "") else {
                is_cut = true;
                continue;
            };
            let group = &mut self.groups[number as usize];
            group.links += 1;
            if self.room > 0 {
                self.room -= u64::from(group.prints.insert(table.prints()[row]));
            } else {
                group.is_counted = false;
            }
            let examples = examples.entry(number).or_default();
            if examples.len() < EXAMPLES_MAX {
                examples.push(row);
            }
        }
        for (number, rows) in examples {
            let rows = rows_of(table, &rows)?;
            let group = &mut self.groups[number as usize];
            group.detail =
                rows.first().and_then(|whole| whole.row.reason.clone()).unwrap_or_default();
            group.examples = rows
                .into_iter()
                .map(|whole| Example { url: whole.row.url, from: whole.row.from })
                .collect();
        }
        Ok(Added { is_cut })
    }

    fn group(&mut self, filter: &str, reason: &str, detail: &str) -> Option<u32> {
        let key = (filter.to_owned(), reason.to_owned());
        if let Some(&number) = self.numbers.get(&key) {
            return Some(number);
        }
        if self.groups.len() >= self.groups_max {
            self.is_cut = true;
            return None;
        }
        let number = self.groups.len() as u32;
        let (filter, reason) = key.clone();
        self.groups.push(Gathered {
            filter,
            reason,
            detail: detail.to_owned(),
            is_counted: true,
            ..Gathered::default()
        });
        self.numbers.insert(key, number);
        Some(number)
    }

    /// What was left out, most first; and a sentence if there was more.
    pub fn finish(self) -> (Vec<Group>, Option<String>) {
        let mut groups: Vec<Group> = self.groups.into_iter().map(Gathered::told).collect();
        groups.sort_by(|a, b| b.links.cmp(&a.links).then_with(|| a.reason.cmp(&b.reason)));
        let cut = self.is_cut.then(|| "There are more reasons than are shown here.".to_owned());
        (groups, cut)
    }
}

impl Gathered {
    fn told(self) -> Group {
        Group {
            words: words(&self.filter, &self.reason),
            rule: rule(&self.filter, &self.detail, &self.examples),
            urls: self.is_counted.then_some(self.prints.len() as u64),
            links: self.links,
            examples: self.examples,
            filter: self.filter,
            reason: self.reason,
        }
    }
}

/// What a verdict means, without what differs from link to link: paths, counts, lengths.
fn reason_of(filter: &str, detail: &str, url: &str) -> String {
    let reason = match filter {
        "depth" | "length" | "redirects" | "near-duplicate" => "",
        // What one pattern more would let in.
        "include" => origin_of(url).unwrap_or_default(),
        "scope" if detail.starts_with("path ") => "a path that is not below a seed",
        "files" if detail.starts_with("not below") => "not below the directory of a seed",
        "traps" => return without_numbers(detail.split(", ").next().unwrap_or_default()),
        _ => detail,
    };
    larm_core::parse::cut(reason, REASON_BYTES_MAX).to_owned()
}

/// A text with its names and numbers left out: `segment x stands 5 times in the path` → `segment … stands … times`.
fn without_numbers(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        if word.bytes().any(|byte| byte.is_ascii_digit() || byte == b'/') { "…" } else { word }
    });
    let mut words: Vec<&str> = words.collect();
    if matches!(words.first(), Some(&"segment" | &"parameter")) && words.len() > 1 {
        words[1] = "…";
    }
    larm_core::parse::cut(&words.join(" "), REASON_BYTES_MAX).to_owned()
}

/// Why links are left out, in words for people.
fn words(filter: &str, reason: &str) -> String {
    let behind = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    match filter {
        "scope" => format!("Outside of the scope of this crawl{behind}."),
        "robots" => "robots.txt of their host forbids to fetch them.".to_owned(),
        "nofollow" => format!("Links that are not to be followed{behind}."),
        "depth" => "Further away from a seed than the crawl goes.".to_owned(),
        "length" => "Their URLs are longer than the crawl takes.".to_owned(),
        "redirects" => "Too many redirects in a row led there.".to_owned(),
        "include" => format!("They match none of the patterns that URLs are to match{behind}."),
        "exclude" => format!("A pattern excludes them{behind}."),
        "blocklist" => format!("Their host is blocked{behind}."),
        "assets" => {
            "Images, styles, scripts and fonts of pages, which were not asked for.".to_owned()
        }
        "types" => format!("Not of a type that was asked for{behind}."),
        "ports" => format!("On a port that is not for the web{behind}."),
        "scheme" | "unsupported-scheme" => format!("No web addresses{behind}."),
        "known-paths" => format!("Paths that lead nowhere new{behind}."),
        "traps" => format!("They look like a trap of endless pages{behind}."),
        "signals" => format!("Their owner reserves a use that is to be respected{behind}."),
        "files" => format!("Files that are not part of the crawl{behind}."),
        "near-duplicate" => format!("Links of pages that say nearly the same as another{behind}."),
        "" => format!("Left out{behind}."),
        other => format!("Left out by `{other}`{behind}."),
    }
}

/// What would let links in.
fn rule(filter: &str, detail: &str, examples: &[Example]) -> Option<Admitting> {
    let stopped = |key: &str, value: Value, words: String| {
        Some(Admitting { key: key.to_owned(), value, while_running: false, words })
    };
    let lifted = |key: &str, value: &str, words: String| {
        let (key, value) = (key.to_owned(), value.into());
        Some(Admitting { key, value, while_running: true, words })
    };
    let number = leading(detail);
    let example = examples.first().map(|example| example.url.as_str());
    match filter {
        "scope" if detail.starts_with("path ") => stopped(
            "scope",
            "host".into(),
            "All pages of the hosts of seeds are followed.".to_owned(),
        ),
        "scope" => as_seeds(examples),
        "depth" => stopped(
            "depth",
            number?.into(),
            format!("Links are followed up to {} hops from a seed.", number?),
        ),
        "assets" => stopped("assets", true.into(), "All that pages embed is fetched.".to_owned()),
        // What owners ask for is no obstacle to be cleared away by a click.
        "nofollow" | "robots" => None,
        "length" => {
            let words = format!("URLs of up to {} bytes are followed.", number?);
            stopped("limits", json!({ "url_bytes_max": number? }), words)
        }
        "exclude" => {
            let pattern = detail.split_once("matches `")?.1.strip_suffix('`')?;
            lifted("unexclude", pattern, format!("`{pattern}` excludes nothing any more."))
        }
        "blocklist" => {
            let host = detail.split_once(" is on the list")?.0.rsplit(' ').next()?;
            lifted("unblock", host, format!("{host} is blocked no longer."))
        }
        "include" => {
            let origin = origin_of(example?)?;
            let pattern = format!("^{}/", regex::escape(origin));
            stopped("include", json!([pattern]), format!("URLs of {origin} are followed, too."))
        }
        "types" => {
            let wanted = detail.split(" is ").nth(1)?.split(',').next()?;
            stopped("accept", json!([wanted]), format!("Files of the type {wanted} are kept, too."))
        }
        "files" if detail.starts_with("not below") => stopped(
            "follow-symlinks",
            true.into(),
            "Symbolic links that lead out of the tree are followed.".to_owned(),
        ),
        _ => None,
    }
}

/// No setting names one host more, but seeds do: what is left out of it is begun with, and its links are followed.
fn as_seeds(examples: &[Example]) -> Option<Admitting> {
    let url = |example: &Example| CrawlUrl::from_canonical(&example.url);
    let seeds: Vec<CrawlUrl> =
        examples.iter().filter_map(url).filter(|url| !url.is_file()).collect();
    let host = seeds.first()?.host();
    let words = match seeds.len() {
        1 => format!("This URL is fetched, too, and links to {host} are followed from there."),
        n => {
            format!("These {n} URLs are fetched, too, and links to {host} are followed from there.")
        }
    };
    let value = seeds.iter().map(CrawlUrl::as_str).collect::<Vec<_>>().into();
    Some(Admitting { key: "seeds".to_owned(), value, while_running: false, words })
}

/// The number that a text begins with.
fn leading(text: &str) -> Option<u64> {
    text.split(' ').next()?.parse().ok()
}

fn origin_of(url: &str) -> Option<&str> {
    let begin = url.find("://")? + 3;
    let end = url[begin..].find('/').map_or(url.len(), |at| begin + at);
    Some(&url[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skips(limits: &Limits, verdicts: &[(&str, &str)]) -> Vec<Group> {
        let mut skips = Skips::new(limits);
        for (verdict, url) in verdicts {
            if let Some(number) = skips.number(verdict, url) {
                skips.note(number, url, "http://h/");
            }
        }
        skips.finish().0
    }

    #[test]
    fn links_are_put_together_by_what_said_no() {
        let groups = skips(
            &Limits::default(),
            &[
                ("depth: 4 hops from a seed, 3 allowed", "http://h/1"),
                ("depth: 4 hops from a seed, 3 allowed", "http://h/2"),
                ("depth: 4 hops from a seed, 3 allowed", "http://h/2"),
                ("scope: host x.test is not host h.test of a seed", "http://x.test/"),
                ("scope: host y.test is not host h.test of a seed", "http://y.test/"),
            ],
        );
        let told: Vec<_> =
            groups.iter().map(|group| (group.filter.as_str(), group.links, group.urls)).collect();
        assert_eq!(told, [("depth", 3, Some(2)), ("scope", 1, Some(1)), ("scope", 1, Some(1))]);
        assert_eq!(groups[0].examples.len(), 2);
    }

    #[test]
    fn what_lets_links_in_is_named_as_settings_have_it_and_lets_in_no_more() {
        let rows = [
            (
                "scope: host cdn.h.test is not host www.h.test of a seed",
                "http://cdn.h.test/x",
                Some(("seeds", json!(["http://cdn.h.test/x"]), false)),
            ),
            (
                "scope: domain other.org is not one of the 3 domains of seeds",
                "http://a.other.org/",
                Some(("seeds", json!(["http://a.other.org/"]), false)),
            ),
            (
                "scope: path /x is not below /docs/ of a seed",
                "http://h.test/x",
                Some(("scope", json!("host"), false)),
            ),
            ("depth: 4 hops from a seed, 3 allowed", "http://h/", Some(("depth", json!(4), false))),
            (
                "assets: embedded in a page, and embedded files were not asked for",
                "http://h/a.png",
                Some(("assets", json!(true), false)),
            ),
            (
                "length: 9000 bytes long, 2048 allowed",
                "http://h/",
                Some(("limits", json!({"url_bytes_max": 9000}), false)),
            ),
            (
                "exclude: matches `/private/`",
                "http://h/",
                Some(("unexclude", json!("/private/"), true)),
            ),
            (
                "blocklist: x.test is on the list of blocked hosts",
                "http://x.test/",
                Some(("unblock", json!("x.test"), true)),
            ),
            (
                "types: .pdf is application/pdf, asked for was text/html",
                "http://h/a.pdf",
                Some(("accept", json!(["application/pdf"]), false)),
            ),
            (
                "include: does not match `^x`",
                "http://h.test/a",
                Some(("include", json!(["^http://h\\.test/"]), false)),
            ),
            ("known-paths: a date view of a calendar (list calendars)", "http://h/", None),
            ("nofollow: the page asks for it", "http://h/", None),
            ("of a newer version", "http://h/", None),
        ];
        for (verdict, url, expected) in rows {
            let group = skips(&Limits::default(), &[(verdict, url)]).pop().unwrap();
            let told = group.rule.map(|rule| (rule.key, rule.value, rule.while_running));
            let expected = expected.map(|(key, value, live)| (key.to_owned(), value, live));
            assert_eq!(told, expected, "{verdict}");
            assert!(group.words.ends_with('.'), "{}", group.words);
        }
    }

    #[test]
    fn a_group_is_let_in_as_a_whole_and_no_other_with_it() {
        let groups = skips(
            &Limits::default(),
            &[
                ("depth: 4 hops from a seed, 3 allowed", "http://h/1"),
                ("depth: 6 hops from a seed, 3 allowed", "http://h/2"),
                ("include: matches none of 2 patterns", "http://a/1"),
                ("include: matches none of 2 patterns", "http://b/1"),
            ],
        );
        let rules: Vec<_> = groups.into_iter().filter_map(|group| group.rule).collect();
        let values: Vec<_> = rules.into_iter().map(|rule| rule.value).collect();
        assert_eq!(values, [json!(6), json!(["^http://a/"]), json!(["^http://b/"])]);
    }

    #[test]
    fn what_differs_from_link_to_link_makes_no_group_of_its_own() {
        let groups = skips(
            &Limits::default(),
            &[
                ("traps: segment a stands 5 times in the path, 3 allowed", "http://h/1"),
                ("traps: segment b stands 9 times in the path, 3 allowed", "http://h/2"),
                ("scope: path /x is not below /docs/ of a seed", "http://h/x"),
                ("scope: path /y is not below /docs/ of a seed", "http://h/y"),
                ("length: 9000 bytes long, 2048 allowed", "http://h/3"),
            ],
        );
        assert_eq!(groups.len(), 3);
    }

    #[test]
    fn reasons_and_urls_are_bounded() {
        let limits = Limits { server_groups_max: 2, server_distinct_max: 2, ..Limits::default() };
        let verdicts: Vec<_> =
            (0..9).map(|n| (format!("x: {n}"), format!("http://h/{n}"))).collect();
        let verdicts: Vec<_> =
            verdicts.iter().map(|(verdict, url)| (verdict.as_str(), url.as_str())).collect();
        assert_eq!(skips(&limits, &verdicts).len(), 2);
        let same: Vec<_> = verdicts.iter().map(|(_, url)| ("x: 1", *url)).collect();
        assert_eq!(skips(&limits, &same)[0].urls, None);
    }
}
