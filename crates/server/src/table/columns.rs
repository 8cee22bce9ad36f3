//! The columns: one flat vector for each thing that rows are chosen and sorted by.

use larm_core::url::Fingerprint;

use super::line::Line;
use super::names::Names;

/// Media types that are told apart.
const TYPES_MAX: u32 = 65_535;
/// By this share of what is there, columns grow.
const GROWTH_SHARE: usize = 8;
/// Rows that there is room for at least.
const ROWS_MIN: usize = 4_096;
/// Bytes of a row in all columns, without its URL.
pub const ROW_BYTES: usize = 8 + 8 + 8 + 4 * 6 + 2 * 3 + 2;

/// What became of a URL, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// An answer that is no redirect.
    Fetched,
    /// A redirect.
    Redirected,
    /// robots.txt says no.
    Denied,
    /// A filter or a budget says no.
    Rejected,
    /// Given up.
    Failed,
    /// Its host was given up.
    HostUnreachable,
    /// A word of a newer version.
    Other,
}

impl Outcome {
    /// All that the log knows, in order.
    pub const ALL: [Self; 6] = [
        Self::Fetched,
        Self::Redirected,
        Self::Denied,
        Self::Rejected,
        Self::Failed,
        Self::HostUnreachable,
    ];

    /// The word of the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fetched => "fetched",
            Self::Redirected => "redirected",
            Self::Denied => "denied",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::HostUnreachable => "host-unreachable",
            Self::Other => "other",
        }
    }

    /// The outcome of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}

/// What is or is not true of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Flags {
    /// Its body is that of another URL.
    Duplicate = 1,
    /// It says nearly the same as another page.
    Near = 2,
    /// It is in the archive.
    Archived = 4,
    /// The crawl asked for it by itself: a robots.txt, a path that cannot be there.
    Own = 8,
    /// Its URL has letters in upper case.
    Upper = 16,
}

/// All columns; row *n* is at index *n* of each.
#[derive(Debug)]
pub struct Columns {
    /// Where its line begins in the log.
    pub offsets: Vec<u64>,
    /// Time of the request.
    pub at: Vec<u64>,
    /// Fingerprint of the URL.
    pub prints: Vec<u64>,
    /// Where its URL ends in `urls`, the line end behind it included.
    pub url_ends: Vec<u32>,
    /// Number of its host.
    pub hosts: Vec<u32>,
    pub bytes: Vec<u32>,
    pub ms: Vec<u32>,
    pub depths: Vec<u32>,
    /// Of the payload's digest some bits, 0 if there is none: enough to see that it changed.
    pub digests: Vec<u32>,
    pub statuses: Vec<u16>,
    /// Number of its media type.
    pub types: Vec<u16>,
    /// Number of the kind of reason that decided.
    pub classes: Vec<u16>,
    pub outcomes: Vec<Outcome>,
    pub flags: Vec<u8>,
    /// The URLs, each with a line end, so that no search goes from one to the next.
    pub urls: Vec<u8>,
    pub host_names: Names,
    pub type_names: Names,
    pub class_names: Names,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            offsets: Vec::new(),
            at: Vec::new(),
            prints: Vec::new(),
            url_ends: Vec::new(),
            hosts: Vec::new(),
            bytes: Vec::new(),
            ms: Vec::new(),
            depths: Vec::new(),
            digests: Vec::new(),
            statuses: Vec::new(),
            types: Vec::new(),
            classes: Vec::new(),
            outcomes: Vec::new(),
            flags: Vec::new(),
            urls: Vec::new(),
            host_names: Names::new(u32::MAX),
            type_names: Names::new(TYPES_MAX),
            class_names: Names::new(TYPES_MAX),
        }
    }
}

impl Columns {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Memory that the rows take.
    pub fn memory(&self) -> usize {
        let names = self.host_names.bytes() + self.type_names.bytes();
        self.len() * ROW_BYTES + self.urls.len() + names
    }

    /// Where the URLs of rows `begin..end` stand in `urls`.
    pub fn url_span(&self, begin: usize, end: usize) -> std::ops::Range<usize> {
        let end_of = |row: usize| row.checked_sub(1).map_or(0, |row| self.url_ends[row] as usize);
        end_of(begin)..end_of(end)
    }

    /// The URL of a row.
    pub fn url(&self, row: usize) -> &[u8] {
        let span = self.url_span(row, row + 1);
        &self.urls[span.start..span.end - 1]
    }

    /// Whether there is room for one more URL of this length.
    pub fn has_room(&self, url_bytes: usize) -> bool {
        self.urls.len() + url_bytes < u32::MAX as usize
    }

    /// Adds a row.
    pub fn push(&mut self, offset: u64, line: &Line<'_>) {
        self.grow(line.url.len() + 1);
        self.offsets.push(offset);
        self.at.push(line.millis().0);
        self.prints.push(Fingerprint::of(&line.url).0);
        self.urls.extend_from_slice(line.url.as_bytes());
        self.urls.push(b'\n');
        self.url_ends.push(self.urls.len() as u32);
        self.hosts.push(self.host_names.number(authority(&line.url)));
        self.bytes.push(saturated(line.bytes));
        self.ms.push(saturated(line.ms));
        self.depths.push(line.depth);
        self.digests.push(line.digest.as_deref().map_or(0, digest_bits));
        self.statuses.push(line.status.unwrap_or(0));
        let media = essence(line.media.as_deref().unwrap_or_default());
        self.types.push(self.type_names.number(&media) as u16);
        self.classes.push(self.class_names.number(line.class()) as u16);
        self.outcomes.push(Outcome::named(&line.outcome).unwrap_or(Outcome::Other));
        let flag = |is_set: bool, flag: Flags| if is_set { flag as u8 } else { 0 };
        self.flags.push(
            flag(line.same_as.is_some(), Flags::Duplicate)
                | flag(line.facts.near.is_some(), Flags::Near)
                | flag(line.warc.is_some(), Flags::Archived)
                | flag(line.is_own(), Flags::Own)
                | flag(line.url.bytes().any(|byte| byte.is_ascii_uppercase()), Flags::Upper),
        );
    }

    /// Makes room for one more row. Vectors by themselves would double, and half of the memory lie idle.
    fn grow(&mut self, url_bytes: usize) {
        if self.urls.capacity() - self.urls.len() < url_bytes {
            self.urls.reserve_exact(url_bytes + self.urls.len() / GROWTH_SHARE);
        }
        if self.offsets.len() < self.offsets.capacity() {
            return;
        }
        let more = ROWS_MIN + self.len() / GROWTH_SHARE;
        for column in [&mut self.offsets, &mut self.at, &mut self.prints] {
            column.reserve_exact(more);
        }
        for column in self.small_columns() {
            column.reserve_exact(more);
        }
        self.statuses.reserve_exact(more);
        self.types.reserve_exact(more);
        self.classes.reserve_exact(more);
        self.outcomes.reserve_exact(more);
        self.flags.reserve_exact(more);
    }

    fn small_columns(&mut self) -> [&mut Vec<u32>; 6] {
        let Self { url_ends, hosts, bytes, ms, depths, digests, .. } = self;
        [url_ends, hosts, bytes, ms, depths, digests]
    }

    /// Forgets the first rows.
    pub fn forget(&mut self, rows: usize) {
        let urls = self.url_span(0, rows).end;
        self.urls.drain(..urls);
        for column in [&mut self.offsets, &mut self.at, &mut self.prints] {
            column.drain(..rows);
        }
        for column in self.small_columns() {
            column.drain(..rows);
        }
        self.url_ends.iter_mut().for_each(|end| *end -= urls as u32);
        self.statuses.drain(..rows);
        self.types.drain(..rows);
        self.classes.drain(..rows);
        self.outcomes.drain(..rows);
        self.flags.drain(..rows);
    }
}

fn saturated(number: Option<u64>) -> u32 {
    number.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// Never 0, which means that there is none.
fn digest_bits(digest: &str) -> u32 {
    (Fingerprint::of(digest).0 as u32).max(1)
}

/// The host of a URL, with its port if it has one.
fn authority(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, behind)| behind);
    behind.split(['/', '?', '#']).next().unwrap_or_default()
}

/// The media type without parameters, in lower case.
fn essence(content_type: &str) -> std::borrow::Cow<'_, str> {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    match essence.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => essence.to_ascii_lowercase().into(),
        false => essence.into(),
    }
}
