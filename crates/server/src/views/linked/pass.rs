//! The pass over the link log.

use std::collections::HashMap;

use larm_core::url::Fingerprint;
use larm_graph::log::{self, LogReader, Visit};

use super::skipped::Skips;
use super::{From, Linked, Target};
use crate::problem::Problem;
use crate::table::{Flags, Outcome, Table};
use crate::views::Looked;

/// Pages that are named for each URL.
const FROM_MAX: usize = 20;
/// Bytes of a link's text that are kept.
const TEXT_BYTES_MAX: u64 = 200;

/// What a link can lead to that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is there, or nobody answers.
    Broken,
    /// A redirect.
    Redirected,
}

/// What a row is, if links to it are told. What the crawl asked for by itself has no links that could be mended.
pub fn target_kind(table: &Table, row: usize) -> Option<Kind> {
    if table.is(row, Flags::Own) {
        return None;
    }
    match table.ended(row) {
        (Outcome::Failed | Outcome::HostUnreachable, _) | (Outcome::Fetched, 400..) => {
            Some(Kind::Broken)
        }
        (Outcome::Redirected, _) => Some(Kind::Redirected),
        _ => None,
    }
}

/// What is known of a link's target.
#[derive(Debug, Clone, Copy)]
enum Mark {
    Nothing,
    /// Number of a target.
    Target(u32),
    /// Number of a reason.
    Skipped(u32),
}

/// Makes the pass.
pub(super) fn pass(looked: &Looked<'_>) -> Result<Linked, Problem> {
    let mut pass = looked.table(|table| Ok(Pass::begin(table, looked)))?;
    pass.read(looked)?;
    let rows = looked.table(|table| pass.skips.add_rows(table))?;
    if rows.is_cut {
        pass.notes.push("Not every URL that was left out is counted by its reason.".to_owned());
    }
    Ok(pass.finish())
}

struct Pass {
    /// Number of each target, by fingerprint.
    numbers: HashMap<u64, u32>,
    targets: Vec<(Kind, Target)>,
    skips: Skips,
    /// Bytes that may still be kept of pages and texts.
    room: u64,
    marks: Vec<Mark>,
    chapter: Option<u64>,
    notes: Vec<String>,
}

impl Pass {
    /// The targets of a crawl log: of a URL with several rows the last one counts.
    fn begin(table: &Table, looked: &Looked<'_>) -> Self {
        let limits = looked.limits;
        let mut rows: HashMap<u64, (usize, Kind)> = HashMap::new();
        for (row, &print) in table.prints().iter().enumerate() {
            match target_kind(table, row) {
                Some(kind) => drop(rows.insert(print, (row, kind))),
                None if !rows.is_empty() => drop(rows.remove(&print)),
                None => {}
            }
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_unstable_by_key(|(_, (row, _))| *row);
        let groups_max = usize::try_from(limits.server_groups_max).unwrap_or(usize::MAX);
        let mut notes = Vec::new();
        if rows.len() > groups_max {
            let left = rows.len() - groups_max;
            notes.push(format!("{left} more URLs are broken or redirected than are shown here."));
            rows.truncate(groups_max);
        }
        let targets = rows.iter().map(|&(_, (row, kind))| {
            (kind, Target { row: table.number(row), ..Target::default() })
        });
        Self {
            targets: targets.collect(),
            numbers: (0..).zip(&rows).map(|(number, (print, _))| (*print, number)).collect(),
            skips: Skips::new(limits),
            room: limits.server_groups_bytes_max,
            marks: Vec::new(),
            chapter: None,
            notes,
        }
    }

    fn read(&mut self, looked: &Looked<'_>) -> Result<(), Problem> {
        let path = log::path_in(&looked.dir);
        if !path.exists() {
            self.notes.push(
                "This crawl keeps no links, so it is not known which pages have them.".to_owned(),
            );
            return Ok(());
        }
        let failed = |error: larm_graph::Error| {
            Problem::internal(format!("The link log cannot be read: {error}."))
        };
        let mut reader = LogReader::open(&path).map_err(failed)?;
        let mut visit = Visit::default();
        while reader.next(&mut visit).map_err(failed)? {
            if reader.block_begin() >= looked.limits.server_link_log_bytes_max {
                self.notes.push(
                    "The link log is longer than what is read of it: there may be more links."
                        .to_owned(),
                );
                break;
            }
            self.visit(&visit, &reader);
        }
        Ok(())
    }

    fn visit(&mut self, visit: &Visit, reader: &LogReader) {
        self.look_at_new_links(visit.place.chapter, reader);
        for &number in &visit.links {
            match self.marks[number as usize] {
                Mark::Nothing => {}
                Mark::Target(target) => {
                    let link = reader.chapter().link(number);
                    self.note(target, &visit.url, link.text);
                }
                Mark::Skipped(reason) => {
                    self.skips.note(reason, reader.chapter().link(number).to, &visit.url);
                }
            }
        }
    }

    fn look_at_new_links(&mut self, begin: u64, reader: &LogReader) {
        if self.chapter != Some(begin) {
            self.chapter = Some(begin);
            self.marks.clear();
        }
        for number in self.marks.len()..reader.chapter().len() {
            let link = reader.chapter().link(number as u32);
            let mark = match link.is_rejected() {
                true => self.skips.number(link.verdict, link.to).map(Mark::Skipped),
                false => self
                    .numbers
                    .get(&Fingerprint::of(link.to).0)
                    .map(|&number| Mark::Target(number)),
            };
            self.marks.push(mark.unwrap_or(Mark::Nothing));
        }
    }

    /// LINKED-1.
    fn note(&mut self, target: u32, from: &str, text: &str) {
        let (_, target) = &mut self.targets[target as usize];
        target.from_total += 1;
        let text = larm_core::parse::cut(text, TEXT_BYTES_MAX);
        let bytes = (from.len() + text.len() + size_of::<From>()) as u64;
        let is_named = target.from.last().is_some_and(|last| last.url == from);
        if target.from.len() < FROM_MAX && !is_named && self.room >= bytes {
            self.room -= bytes;
            target.from.push(From { url: from.to_owned(), text: text.to_owned() });
        }
    }

    fn finish(mut self) -> Linked {
        if self.room < 1_024 {
            self.notes.push("Not all pages that have these links are named.".to_owned());
        }
        let of = |kind: Kind| {
            let mut targets: Vec<Target> = self
                .targets
                .iter()
                .filter(|(found, _)| *found == kind)
                .map(|(_, target)| target.clone())
                .collect();
            targets.sort_by_key(|target| (std::cmp::Reverse(target.from_total), target.row));
            targets
        };
        let (broken, redirects) = (of(Kind::Broken), of(Kind::Redirected));
        let (skipped, cut) = self.skips.finish();
        self.notes.extend(cut);
        Linked { broken, redirects, skipped, notes: self.notes }
    }
}
