//! One page of rows in order: the first so many behind a place, without sorting the rest.
//!
//! Rows are looked at in stretches, and the stretches in an order of their own, far from each other: where a log
//! happens to be sorted the other way round, the best rows are met early all the same, and most others need one
//! comparison.

use std::cmp::Reverse;

use super::cursor::Cursor;
use super::filter::{Filter, STRETCH};
use super::load::Table;
use crate::problem::Problem;

/// What rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// Time of the request.
    At,
    /// URL.
    Url,
    /// Status.
    Status,
    /// Length of the answer.
    Bytes,
    /// Hops from a seed.
    Depth,
    /// Time it took.
    Ms,
    /// Media type.
    Type,
}

/// Which end comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The smallest.
    Rising,
    /// The largest.
    Falling,
}

/// An order of rows. Equal ones follow the log, or go against it where the order falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub by: SortBy,
    /// Which end first.
    pub direction: Direction,
}

/// Names of the orders.
const NAMES: [(&str, SortBy); 7] = [
    ("at", SortBy::At),
    ("url", SortBy::Url),
    ("status", SortBy::Status),
    ("bytes", SortBy::Bytes),
    ("depth", SortBy::Depth),
    ("ms", SortBy::Ms),
    ("type", SortBy::Type),
];

impl Sort {
    /// `at`, `-at`, …; nothing is `at`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let text = if text.is_empty() { "at" } else { text };
        let (direction, name) = match text.strip_prefix('-') {
            Some(name) => (Direction::Falling, name),
            None => (Direction::Rising, text),
        };
        let found = NAMES.iter().find(|(found, _)| *found == name);
        found.map(|&(_, by)| Self { by, direction }).ok_or_else(|| {
            let names = NAMES.map(|(name, _)| name).join(", ");
            let detail = format!("Rows can be sorted by {names}, each also with a `-` before it.");
            Problem::invalid("sort", detail)
        })
    }

    /// As it is written.
    pub fn name(self) -> String {
        let (name, _) =
            NAMES.iter().find(|(_, by)| *by == self.by).expect("every order has a name");
        let sign = if self.direction == Direction::Falling { "-" } else { "" };
        format!("{sign}{name}")
    }
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct PageAsk {
    /// Which rows.
    pub filter: Filter,
    /// In which order.
    pub sort: Sort,
    /// How many.
    pub limit: usize,
    /// The last row that was shown.
    pub after: Option<Cursor>,
}

/// One page of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Indices of the rows.
    pub rows: Vec<usize>,
    /// How many rows there are on all pages.
    pub total: u64,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

impl Table {
    /// The page that is asked for.
    pub fn page(&self, ask: &PageAsk) -> Result<Page, Problem> {
        let sort = ask.sort;
        let after = match &ask.after {
            Some(cursor) => Some(self.resolve(cursor, sort)?),
            None => None,
        };
        let (mut rows, total) = match sort.by {
            SortBy::Url => {
                let key = |row: usize| (self.columns.url(row), row as u64);
                let after = after.map(|(_, row)| key(row as usize));
                directed(self, ask, key, after)
            }
            by => {
                let value = self.value_of(by);
                directed(self, ask, |row| (value(row), row as u64), after)
            }
        };
        // One more than asked for tells whether there is a next page.
        let has_next = rows.len() > ask.limit;
        rows.truncate(ask.limit);
        let last = rows.last().filter(|_| has_next);
        let next =
            last.map(|&row| Cursor { sort, key: self.key_of(sort.by, row), row: self.number(row) });
        Ok(Page { rows, total, next })
    }

    /// Every row that is wanted, in order.
    pub fn all(&self, filter: &Filter, sort: Sort) -> Vec<usize> {
        let ask = PageAsk { filter: filter.clone(), sort, limit: self.len(), after: None };
        self.page(&ask).map(|page| page.rows).unwrap_or_default()
    }

    /// A cursor as key and index. A row that is left out by now sorts by its key as before all others.
    fn resolve(&self, cursor: &Cursor, sort: Sort) -> Result<(u64, u64), Problem> {
        let stale = || {
            Problem::invalid(
                "after",
                "This place in the list is gone; the list has changed meanwhile.",
            )
            .hint("Ask for the first page again, without `after`.")
        };
        if cursor.sort != sort {
            return Err(Problem::invalid(
                "after",
                "This place belongs to a list in another order.",
            ));
        }
        let row = self.index(cursor.row).map(|row| row as u64);
        match sort.by {
            SortBy::Url => row.map(|row| (0, row)).ok_or_else(stale),
            _ => Ok((cursor.key, row.ok_or_else(stale)?)),
        }
    }

    fn key_of(&self, by: SortBy, row: usize) -> u64 {
        if by == SortBy::Url { 0 } else { self.value_of(by)(row) }
    }

    fn value_of(&self, by: SortBy) -> Box<dyn Fn(usize) -> u64 + '_> {
        let columns = &self.columns;
        match by {
            SortBy::At => Box::new(|row| columns.at[row]),
            SortBy::Status => Box::new(|row| columns.statuses[row].into()),
            SortBy::Bytes => Box::new(|row| columns.bytes[row].into()),
            SortBy::Depth => Box::new(|row| columns.depths[row].into()),
            SortBy::Ms => Box::new(|row| columns.ms[row].into()),
            SortBy::Type => {
                let places = columns.type_names.places();
                Box::new(move |row| places[usize::from(columns.types[row])].into())
            }
            SortBy::Url => Box::new(|_| 0),
        }
    }
}

fn directed<K: Ord + Copy>(
    table: &Table,
    ask: &PageAsk,
    key: impl Fn(usize) -> (K, u64),
    after: Option<(K, u64)>,
) -> (Vec<usize>, u64) {
    let (rows, total) = match ask.sort.direction {
        Direction::Rising => {
            let (rows, total) = select(table, ask, key, after);
            (rows.into_iter().map(|(_, row)| row).collect::<Vec<u64>>(), total)
        }
        Direction::Falling => {
            let key = |row| Reverse(key(row));
            let (rows, total) = select(table, ask, key, after.map(Reverse));
            (rows.into_iter().map(|Reverse((_, row))| row).collect(), total)
        }
    };
    (rows.into_iter().map(|row| row as usize).collect(), total)
}

/// The smallest keys behind `after`, one more than the page has, in order; and how many rows are wanted in all.
fn select<K: Ord + Copy>(
    table: &Table,
    ask: &PageAsk,
    key: impl Fn(usize) -> K,
    after: Option<K>,
) -> (Vec<K>, u64) {
    let chosen = ask.filter.on(table);
    let mut best = Best::new(ask.limit + 1);
    let mut total = 0;
    let mut wanted = [false; STRETCH];
    for begin in stretches(table.len()) {
        let wanted = &mut wanted[..STRETCH.min(table.len() - begin)];
        chosen.mark(begin, wanted);
        for (index, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
            total += 1;
            let key = key(begin + index);
            if after.is_none_or(|after| key > after) {
                best.offer(key);
            }
        }
    }
    (best.sorted(), total)
}

/// Where stretches begin, each once, neighbours far apart.
fn stretches(rows: usize) -> impl Iterator<Item = usize> {
    let count = rows.div_ceil(STRETCH);
    // A step that has no divisor in common with the number of stretches meets each of them.
    let golden = (count as f64 * 0.618) as usize;
    let step = (golden.max(1)..).find(|&step| gcd(step, count.max(1)) == 1).unwrap_or(1);
    (0..count).map(move |turn| (turn * step) % count * STRETCH)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The smallest keys of all that are offered.
struct Best<K> {
    keys: Vec<K>,
    count: usize,
    /// Keys from here on are not among them.
    bar: Option<K>,
}

impl<K: Ord + Copy> Best<K> {
    fn new(count: usize) -> Self {
        Self { keys: Vec::new(), count, bar: None }
    }

    fn offer(&mut self, key: K) {
        if self.bar.is_some_and(|bar| key >= bar) {
            return;
        }
        self.keys.push(key);
        // Twice as many as wanted, before the worse half goes: a few steps for each key.
        if self.keys.len() >= 2 * self.count + 64 {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let (_, bar, _) = self.keys.select_nth_unstable(self.count);
        self.bar = Some(*bar);
        self.keys.truncate(self.count);
    }

    fn sorted(mut self) -> Vec<K> {
        self.keys.sort_unstable();
        self.keys.truncate(self.count);
        self.keys
    }
}
