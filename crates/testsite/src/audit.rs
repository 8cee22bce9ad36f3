//! Judgements over the log: coverage, overlap, forbidden requests, spacing, concurrency.
//!
//! Pure functions of the truth and the requests. Each errs on the side of the crawler where the
//! server cannot know better: times are taken so that gaps look longer and overlaps shorter than they
//! were for the client.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use serde::Serialize;

use crate::log::Request;
use crate::robots::is_robots_path;
use crate::trap::Trap;
use crate::truth::{Expect, Kind, Truth};

/// Every judgement at once.
#[derive(Debug, Clone, Serialize)]
pub struct Audit {
    /// What was found, missed and made up.
    pub coverage: Coverage,
    /// URLs with more than one final answer, and how many they got.
    pub overlap: Vec<(String, usize)>,
    /// Requests that a robots.txt forbids.
    pub forbidden: Vec<String>,
    /// Requests that would have changed something.
    pub forbidden_actions: Vec<String>,
    /// Retries that came before the wait that the server had asked for.
    pub impatient: Vec<String>,
    /// Shortest gaps.
    pub gaps: Gaps,
    /// Most at a time.
    pub concurrency: Concurrency,
}

impl Audit {
    /// Judges a log by the truth.
    pub fn of(truth: &Truth, requests: &[Request]) -> Self {
        Self {
            coverage: coverage(truth, requests),
            overlap: overlap(truth, requests),
            forbidden: forbidden(truth, requests),
            forbidden_actions: forbidden_actions(truth, requests),
            impatient: impatient(truth, requests),
            gaps: gaps(requests),
            concurrency: concurrency(requests),
        }
    }
}

/// What was found, missed and made up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// URLs that had to be fetched.
    pub required: usize,
    /// Those of them that were, with the status that they should have.
    pub fetched: usize,
    /// Required, and neither fetched nor excused.
    pub missing: Vec<String>,
    /// Left out, but of the same content as what was fetched: a copy, or what it is a copy of.
    pub excused: Vec<String>,
    /// Assets that were not fetched.
    pub assets_missing: Vec<String>,
    /// Fetched, though no page links to it.
    pub extra: Vec<String>,
    /// The same, of hosts that answer every path: asked for to find that out, perhaps.
    pub probed: Vec<String>,
    /// Fetched, though every link to it asks not to.
    pub nofollowed: Vec<String>,
    /// Endless spaces of which too much was fetched, and how much.
    pub trapped: Vec<(Trap, usize)>,
}

/// Compares what was asked for with what there is.
pub fn coverage(truth: &Truth, requests: &[Request]) -> Coverage {
    let mut answers: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
    for request in requests.iter().filter(|request| !is_robots_path(&request.path)) {
        answers.entry(request.url()).or_default().insert(request.status);
    }
    let got = |url: &str, expect: &Expect| {
        let statuses = answers.get(url);
        let any = matches!(expect.kind, Kind::Broken(_));
        statuses.is_some_and(|statuses| any || statuses.contains(&expect.status))
    };
    let mut coverage = Coverage::default();
    let kept: BTreeSet<u64> =
        truth.pages.iter().filter(|(url, e)| got(url, e)).map(|(_, e)| e.content).collect();
    for (url, expect) in &truth.pages {
        coverage.required += usize::from(expect.required);
        match got(url, expect) {
            true => coverage.fetched += usize::from(expect.required),
            false if expect.kind == Kind::Asset => coverage.assets_missing.push(url.clone()),
            false if !expect.required => {}
            false if kept.contains(&expect.content) => coverage.excused.push(url.clone()),
            false => coverage.missing.push(url.clone()),
        }
    }
    judge_the_rest(truth, answers.into_keys(), &mut coverage);
    coverage
}

/// Sorts URLs that were asked for without being pages of the truth.
fn judge_the_rest(truth: &Truth, urls: impl Iterator<Item = String>, coverage: &mut Coverage) {
    let mut inside: HashMap<&str, (&Trap, usize)> = HashMap::new();
    for url in urls.filter(|url| !truth.pages.contains_key(url)) {
        if let Some(trap) = truth.trap_of(&url) {
            inside.entry(&trap.prefix).or_insert((trap, 0)).1 += 1;
        } else if truth.soft.iter().any(|host| url.starts_with(host)) {
            coverage.probed.push(url);
        } else if truth.nofollow.contains(&url) {
            coverage.nofollowed.push(url);
        } else if !truth.forbidden.contains(&url) && !truth.actions.contains(&url) {
            coverage.extra.push(url);
        }
    }
    let overruns = inside.into_values().filter(|(trap, urls)| *urls > trap.urls_max);
    coverage.trapped = overruns.map(|(trap, urls)| (trap.clone(), urls)).collect();
    coverage.trapped.sort_by(|a, b| a.0.prefix.cmp(&b.0.prefix));
}

/// URLs that were fetched more than once.
///
/// robots.txt aside. A request after an answer that is not final explains itself as a retry: 429 and
/// 5xx, no HTTP at all, an answer that was cut off, and any answer that is broken by design.
pub fn overlap(truth: &Truth, requests: &[Request]) -> Vec<(String, usize)> {
    let mut finals: BTreeMap<String, usize> = BTreeMap::new();
    for request in requests.iter().filter(|request| is_final(request)) {
        *finals.entry(request.url()).or_default() += 1;
    }
    let broken = |url: &str| {
        let kind = truth.pages.get(url).map(|expect| &expect.kind);
        matches!(kind, Some(Kind::Broken(_) | Kind::Walled))
    };
    finals.into_iter().filter(|(url, times)| *times > 1 && !broken(url)).collect()
}

fn is_final(request: &Request) -> bool {
    let status = request.status;
    let answered = (200..500).contains(&status) && status != 429;
    answered && request.complete && !is_robots_path(&request.path)
}

/// Requests for what the robots.txt of their host closes.
pub fn forbidden(truth: &Truth, requests: &[Request]) -> Vec<String> {
    let closed = |request: &&Request| {
        truth.hosts.get(&request.host).is_some_and(|host| host.rules.close(&request.path))
    };
    requests.iter().filter(closed).map(Request::url).collect()
}

/// Requests that would have changed something, had this been a real site.
pub fn forbidden_actions(truth: &Truth, requests: &[Request]) -> Vec<String> {
    requests.iter().map(Request::url).filter(|url| truth.actions.contains(url)).collect()
}

/// URLs that were asked for again before the time that their first answer named.
pub fn impatient(truth: &Truth, requests: &[Request]) -> Vec<String> {
    let mut first_end: HashMap<String, u64> = HashMap::new();
    let mut impatient = Vec::new();
    for request in requests {
        let url = request.url();
        let Some(Kind::Recovers { wait_ms, .. }) = truth.pages.get(&url).map(|e| &e.kind) else {
            continue;
        };
        match first_end.get(&url) {
            None => drop(first_end.insert(url, request.end_us)),
            Some(end) if request.start_us < end + wait_ms * 1_000 => impatient.push(url),
            Some(_) => {}
        }
    }
    impatient
}

/// The shortest gaps of a log, in microseconds, robots.txt included; only for those that were asked
/// more than once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Gaps {
    /// From the end of an answer to the start of the next request for the same host name.
    pub hosts: BTreeMap<String, u64>,
    /// From start to start, for the same address.
    pub addresses: BTreeMap<IpAddr, u64>,
}

/// Measures the shortest gaps.
pub fn gaps(requests: &[Request]) -> Gaps {
    let mut gaps = Gaps::default();
    for gap in all_gaps(requests) {
        if let Some(us) = gap.host_us {
            let least = gaps.hosts.entry(gap.request.host.clone()).or_insert(us);
            *least = us.min(*least);
        }
        if let Some(us) = gap.address_us {
            let least = gaps.addresses.entry(gap.request.address).or_insert(us);
            *least = us.min(*least);
        }
    }
    gaps
}

/// The least gaps that a crawler has to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Between the end of an answer and the next request for its host; a crawl-delay raises it.
    pub host_ms: u64,
    /// Between the starts of two requests at one address.
    pub address_ms: u64,
    /// What the server's own delay in reading a request may take off the gap of an address.
    pub slack_ms: u64,
}

/// A request that came too soon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hasty {
    /// What was asked for.
    pub url: String,
    /// When, in microseconds.
    pub start_us: u64,
    /// The gap that was kept.
    pub gap_us: u64,
    /// The gap that was due.
    pub due_us: u64,
}

/// Requests that came too soon after another one, for their host or at their address.
pub fn hasty(truth: &Truth, requests: &[Request], pace: Pace) -> Vec<Hasty> {
    let mut found = Vec::new();
    for Gap { request, host_us, address_us } in all_gaps(requests) {
        let asked = truth.hosts.get(&request.host).and_then(|host| host.crawl_delay_ms);
        let host_due = pace.host_ms.max(asked.unwrap_or(0)) * 1_000;
        let address_due = pace.address_ms.saturating_sub(pace.slack_ms) * 1_000;
        for (gap, due_us) in [(host_us, host_due), (address_us, address_due)] {
            if let Some(gap_us) = gap.filter(|gap| *gap < due_us) {
                let (url, start_us) = (request.url(), request.start_us);
                found.push(Hasty { url, start_us, gap_us, due_us });
            }
        }
    }
    found
}

/// A request and what lies between it and the one before.
struct Gap<'r> {
    request: &'r Request,
    host_us: Option<u64>,
    address_us: Option<u64>,
}

fn all_gaps(requests: &[Request]) -> impl Iterator<Item = Gap<'_>> {
    let mut ordered: Vec<_> = requests.iter().collect();
    ordered.sort_by_key(|request| request.start_us);
    let mut host_end: HashMap<&str, u64> = HashMap::new();
    let mut address_start: HashMap<IpAddr, u64> = HashMap::new();
    ordered.into_iter().map(move |request| {
        let start = request.start_us;
        let before = host_end.get(request.host.as_str()).copied();
        let end = before.unwrap_or(0).max(request.end_us);
        host_end.insert(&request.host, end);
        let last_start = address_start.insert(request.address, start);
        let since = |moment: u64| start.saturating_sub(moment);
        Gap { request, host_us: before.map(since), address_us: last_start.map(since) }
    })
}

/// The most at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Most {
    /// Requests under way.
    pub requests: usize,
    /// Connections in use, each from its first request to its last answer.
    pub connections: usize,
}

/// The most at a time, for each host and each address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Concurrency {
    /// By host name.
    pub hosts: BTreeMap<String, Most>,
    /// By address.
    pub addresses: BTreeMap<IpAddr, Most>,
}

/// Measures how much was under way at a time.
pub fn concurrency(requests: &[Request]) -> Concurrency {
    Concurrency {
        hosts: most_by(requests, |request| request.host.clone()),
        addresses: most_by(requests, |request| request.address),
    }
}

fn most_by<K: Ord>(requests: &[Request], key: impl Fn(&Request) -> K) -> BTreeMap<K, Most> {
    let mut groups: BTreeMap<K, Vec<&Request>> = BTreeMap::new();
    for request in requests {
        groups.entry(key(request)).or_default().push(request);
    }
    groups.into_iter().map(|(key, group)| (key, most(&group))).collect()
}

fn most(group: &[&Request]) -> Most {
    let mut connections: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for request in group {
        let span = connections.entry(request.connection).or_insert((u64::MAX, 0));
        *span = (span.0.min(request.start_us), span.1.max(request.end_us));
    }
    Most {
        requests: deepest(group.iter().map(|request| (request.start_us, request.end_us))),
        connections: deepest(connections.into_values()),
    }
}

/// The most spans that share a moment; one that ends when another starts does not meet it.
fn deepest(spans: impl Iterator<Item = (u64, u64)>) -> usize {
    let mut moments: Vec<(u64, i64)> = Vec::new();
    for (start, end) in spans {
        // A span without length still counts where it stands.
        moments.extend([(start, 1), (end.max(start + 1), -1)]);
    }
    moments.sort_unstable();
    let depths = moments.iter().scan(0, |depth, (_, step)| {
        *depth += step;
        Some(*depth)
    });
    usize::try_from(depths.max().unwrap_or(0)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
