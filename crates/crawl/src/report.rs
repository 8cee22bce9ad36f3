//! The crawl's counts in the form of `summary.json`.

use std::collections::BTreeMap;

use larm_core::Millis;

use crate::frontier::Frontier;
use crate::store::Summary;

/// Mirrors that a summary names.
const MIRRORS_SHOWN: usize = 100;

/// What the crawl came to so far.
pub fn summarise(frontier: &dyn Frontier, seeds: u64, now: Millis) -> Summary {
    let totals = frontier.totals();
    let outcome = |word: &str| totals.outcomes.get(word).copied().unwrap_or_default();
    let mut summary = Summary {
        started: totals.started.unwrap_or(now),
        ended: now,
        active_ms: totals.active_ms,
        seeds,
        urls: totals.settled(),
        fetched: outcome("fetched"),
        redirects: outcome("redirected"),
        denied: outcome("denied"),
        outcomes: totals.outcomes.clone(),
        rejected: totals.rejected.clone(),
        failed: totals.failed.iter().map(|(class, n)| (class.word().to_owned(), *n)).collect(),
        links: totals.links,
        retries: totals.retries,
        robots: totals.robots,
        probes: totals.probes,
        soft_404: totals.soft_404,
        reserved: totals.reserved,
        bytes: totals.bytes,
        duplicates: totals.duplicates,
        near_duplicates: totals.near_duplicates,
        ascents: totals.ascents,
        mirrors: mirrors_of(frontier),
        hosts: totals.hosts,
        hosts_answered: totals.hosts_answered,
        spam: totals.spam,
        queued: frontier.waiting(),
        held: totals.held,
        ..Summary::default()
    };
    for (status, count) in &totals.statuses {
        *summary.statuses.entry(status.to_string()).or_default() += count;
    }
    summary
}

/// Origins that were found to be mirrors, each with the one that stands for it.
fn mirrors_of(frontier: &dyn Frontier) -> BTreeMap<String, String> {
    let rules = frontier.alias_rules();
    rules.mirrors().take(MIRRORS_SHOWN).map(|(from, of, _)| (from.into(), of.into())).collect()
}
