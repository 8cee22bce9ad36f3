//! Two crawls side by side: settings, counts, and which URLs only one of them has or both have differently.

use std::collections::{BTreeMap, BTreeSet};

use larm_crawl::Summary;
use larm_crawl::store::runs::past_runs;
use serde::Serialize;
use utoipa::ToSchema;

use super::Looked;
use crate::problem::Problem;
use crate::table::{Flags, Outcome, Table};

/// URLs that are named of each kind.
const URLS_SHOWN: usize = 100;

/// Something that both crawls have a value of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Pair<T> {
    /// What it is.
    pub key: String,
    /// Its value in the one crawl.
    pub a: T,
    /// And in the other.
    pub b: T,
}

/// URLs of a kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SomeUrls {
    /// How many there are.
    pub total: u64,
    /// The first of them, in order.
    pub urls: Vec<String>,
}

/// How two crawls differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Differences {
    /// Settings that differ.
    pub settings: Vec<Pair<Option<String>>>,
    /// Counts, of both.
    pub counts: Vec<Pair<u64>>,
    /// Pages that only the one has.
    pub only_a: SomeUrls,
    /// Pages that only the other has.
    pub only_b: SomeUrls,
    /// Pages that both have, with different bytes.
    pub changed: SomeUrls,
    /// Why something may be missing, in sentences.
    pub notes: Vec<String>,
}

/// A page as it is compared: fingerprint, bits of its digest, index of its row.
type Page = (u64, u32, usize);

/// Settings that were changed since a run began; `None`: it is not set any more.
pub type ChangedSettings = BTreeMap<String, Option<String>>;

/// How two crawls differ. Compared are pages that were there: fetched with a status below 400, by their last fetch; and
/// settings of the last run of each with what was changed `since`.
pub fn compare(
    a: &Looked<'_>,
    b: &Looked<'_>,
    since: &[ChangedSettings; 2],
) -> Result<Differences, Problem> {
    let pages_a = a.table(|table| Ok(pages_of(table)))?;
    let pages_b = b.table(|table| Ok(pages_of(table)))?;
    let split = Split::of(&pages_a, &pages_b);
    let left_out =
        a.table(|table| Ok(table.left_out()))? + b.table(|table| Ok(table.left_out()))?;
    let notes = (left_out > 0).then(|| format!("{left_out} older URLs are not compared."));
    Ok(Differences {
        settings: differing(&settings(a, &since[0]), &settings(b, &since[1])),
        counts: counts(a, b),
        only_a: urls(a, split.only_a)?,
        only_b: urls(b, split.only_b)?,
        changed: urls(b, split.changed)?,
        notes: notes.into_iter().collect(),
    })
}

fn pages_of(table: &Table) -> Vec<Page> {
    let is_page = |row: usize| {
        let (outcome, status) = table.ended(row);
        outcome == Outcome::Fetched && status < 400 && !table.is(row, Flags::Own)
    };
    let rows = table.prints().iter().enumerate().filter(|(row, _)| is_page(*row));
    let mut pages: Vec<Page> = rows.map(|(row, &print)| (print, table.digest(row), row)).collect();
    // Of several rows of a URL the last one stays.
    pages.sort_unstable_by_key(|&(print, _, row)| (print, std::cmp::Reverse(row)));
    pages.dedup_by_key(|page| page.0);
    pages
}

/// Rows of each kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Split {
    only_a: Vec<usize>,
    only_b: Vec<usize>,
    changed: Vec<usize>,
}

impl Split {
    /// Goes through both lists side by side; both are in order of fingerprints.
    fn of(a: &[Page], b: &[Page]) -> Self {
        let mut split = Self::default();
        let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (None, None) => return split,
                (Some(one), Some(other)) if one.0 == other.0 => {
                    let has_changed = one.1 != other.1 && one.1 != 0 && other.1 != 0;
                    split.changed.extend(has_changed.then_some(other.2));
                    a.next();
                    b.next();
                }
                (Some(one), other) if other.is_none_or(|other| one.0 < other.0) => {
                    split.only_a.push(one.2);
                    a.next();
                }
                (_, Some(other)) => {
                    split.only_b.push(other.2);
                    b.next();
                }
                (Some(_), None) => unreachable!("the arm before has it"),
            }
        }
    }
}

fn urls(looked: &Looked<'_>, rows: Vec<usize>) -> Result<SomeUrls, Problem> {
    looked.table(|table| {
        let mut urls = BTreeSet::new();
        for &row in rows.iter().filter(|row| **row < table.len()) {
            urls.insert(table.url(row));
            if urls.len() > URLS_SHOWN {
                urls.pop_last();
            }
        }
        Ok(SomeUrls {
            total: rows.len() as u64,
            urls: urls.into_iter().map(str::to_owned).collect(),
        })
    })
}

/// Settings of the last run of a crawl, with what was changed since it began.
fn settings(looked: &Looked<'_>, since: &ChangedSettings) -> BTreeMap<String, String> {
    let last = past_runs(&looked.dir).ok().and_then(|mut runs| runs.pop());
    let mut settings = last.map(|run| run.settings).unwrap_or_default();
    for (key, value) in since {
        match value {
            Some(value) => settings.insert(key.clone(), value.clone()),
            None => settings.remove(key),
        };
    }
    settings
}

fn differing(
    a: &BTreeMap<String, String>,
    b: &BTreeMap<String, String>,
) -> Vec<Pair<Option<String>>> {
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let differing = keys.into_iter().filter(|key| a.get(*key) != b.get(*key));
    differing
        .map(|key| Pair { key: key.clone(), a: a.get(key).cloned(), b: b.get(key).cloned() })
        .collect()
}

fn counts(a: &Looked<'_>, b: &Looked<'_>) -> Vec<Pair<u64>> {
    let of = |looked: &Looked<'_>| {
        let summary = Summary::read(&looked.dir.join("summary.json")).unwrap_or_default();
        let failed = summary.failed.values().sum();
        let rejected = summary.rejected.values().sum();
        [
            ("urls", summary.urls),
            ("fetched", summary.fetched),
            ("redirects", summary.redirects),
            ("denied", summary.denied),
            ("failed", failed),
            ("rejected", rejected),
            ("duplicates", summary.duplicates),
            ("near_duplicates", summary.near_duplicates),
            ("hosts", summary.hosts),
            ("links", summary.links),
            ("bytes", summary.bytes),
            ("active_ms", summary.active_ms),
        ]
    };
    of(a)
        .into_iter()
        .zip(of(b))
        .map(|((key, a), (_, b))| Pair { key: key.to_owned(), a, b })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pages(of: &BTreeMap<u64, u32>) -> Vec<Page> {
        of.iter().map(|(&print, &digest)| (print, digest, print as usize)).collect()
    }

    proptest! {
        #[test]
        fn every_page_is_of_one_kind(
            a in prop::collection::btree_map(0..30u64, 0..3u32, 0..20),
            b in prop::collection::btree_map(0..30u64, 0..3u32, 0..20),
        ) {
            let split = Split::of(&pages(&a), &pages(&b));
            let of = |wanted: &dyn Fn(u64) -> bool| (0..30).filter(|n| wanted(*n)).map(|n| n as usize).collect::<Vec<_>>();
            prop_assert_eq!(split.only_a, of(&|n| a.contains_key(&n) && !b.contains_key(&n)));
            prop_assert_eq!(split.only_b, of(&|n| b.contains_key(&n) && !a.contains_key(&n)));
            let differ = |n: u64| matches!((a.get(&n), b.get(&n)), (Some(&x), Some(&y)) if x != y && x != 0 && y != 0);
            prop_assert_eq!(split.changed, of(&differ));
        }
    }
}
