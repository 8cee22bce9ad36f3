//! Records of an archive → captures: an answer, with the request and the notes that belong to it.
//!
//! Takes the archives of other crawlers, too: the request may stand before the answer or behind it, notes
//! may be missing, and what is no answer of the web is counted and passed over. Holds two records at a
//! time. A file that is damaged gives what stands before the damage, the damage, and what can be read
//! behind it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use larm_core::{Limits, Millis};

use crate::error::{Error, Result};
use crate::store::WarcRef;
use crate::store::warc::{FileName, Record, WarcReader};

/// Notes of ours that are no facts about the answer: they are read one by one, or worked out anew.
const NOTES: [&str; 9] = [
    "via",
    "found",
    "depth",
    "tries",
    "fetchTimeMs",
    "connectTimeMs",
    "firstByteTimeMs",
    "outlinks",
    "note",
];

/// One answer, as an archive has it.
#[derive(Debug)]
pub struct Capture {
    /// Where its record lies.
    pub place: WarcRef,
    /// The answer itself.
    pub answer: Record,
    /// The bytes that were asked with, where they were kept.
    pub request: Vec<u8>,
    /// What was noted about it, name and value.
    notes: Vec<(String, String)>,
}

impl Capture {
    /// The first note of this name.
    pub fn note(&self, name: &str) -> Option<&str> {
        let found = self.notes.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A note that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.note(name).and_then(|text| text.parse().ok())
    }

    /// What was noted beyond what is worked out anew.
    pub fn facts(&self) -> impl Iterator<Item = (&str, &str)> {
        let notes = self.notes.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        notes.filter(|(name, _)| !NOTES.contains(name))
    }

    /// The URI of the look-up that this is, if it is one and no answer of a server.
    pub fn lookup(&self) -> Option<&str> {
        self.answer.target().filter(|target| target.starts_with("dns:"))
    }

    /// When the answer came; the beginning of all time where the record does not say.
    pub fn at(&self) -> Millis {
        self.answer.field("WARC-Date").and_then(Millis::parse).unwrap_or_default()
    }

    fn belongs(&self, record: &Record) -> bool {
        let id = self.answer.field("WARC-Record-ID");
        let concurrent = record.field("WARC-Concurrent-To");
        concurrent.is_some() && concurrent == id || record.target() == self.answer.target()
    }
}

/// Where a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// First byte of the record in question.
    pub offset: u64,
    /// What is wrong there.
    pub what: String,
    /// Where the next whole record begins; `None` if the rest of the file is lost.
    pub goes_on_at: Option<u64>,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: byte {}: {}; ", self.path.display(), self.offset, self.what)?;
        match self.goes_on_at {
            Some(place) => write!(f, "reading goes on at byte {place}"),
            None => f.write_str("what stands behind is not read"),
        }
    }
}

/// The captures of one file, in order.
pub struct Captures {
    reader: WarcReader,
    name: Arc<str>,
    number: u32,
    pending: Option<Capture>,
    early_request: Option<Record>,
    ended: bool,
    damages_max: usize,
    /// Where the file could not be read.
    pub damages: Vec<Damage>,
    /// Records that are no captures, by type.
    pub others: BTreeMap<String, u64>,
}

impl Captures {
    /// Opens a file of an archive; `crawl_id` tells which ones are this crawl's own.
    pub fn open(path: &Path, crawl_id: &str, limits: &Limits) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number = FileName::parse(&name, crawl_id).map(|name| name.number);
        Ok(Self {
            reader: WarcReader::open(path, limits)?,
            number: number.unwrap_or_default(),
            name: name.into(),
            pending: None,
            early_request: None,
            ended: false,
            damages_max: usize::try_from(limits.warc_damages_max).unwrap_or(usize::MAX),
            damages: Vec::new(),
            others: BTreeMap::new(),
        })
    }

    /// Records so far that are longer than may be read.
    pub fn passed_over(&self) -> u64 {
        self.reader.passed_over()
    }

    /// The next record. Damage is noted, and reading goes on behind it where that is possible.
    fn next_record(&mut self) -> Result<Option<Record>> {
        while let Some(record) = self.reader.next() {
            let Err(Error::Damaged { path, offset, what }) = record else {
                return record.map(Some);
            };
            let is_last = self.damages.len() + 1 >= self.damages_max;
            let goes_on_at = if is_last { None } else { self.reader.recover()? };
            self.damages.push(Damage { path, offset, what, goes_on_at });
        }
        Ok(None)
    }

    /// Takes a record, and gives the capture before it if that is complete now.
    fn take(&mut self, record: Record) -> Option<Capture> {
        match record.kind() {
            "response" | "resource" | "revisit" => {
                let capture = self.begin(record);
                return self.pending.replace(capture);
            }
            "request" => self.take_request(record),
            "metadata" => self.take_notes(&record),
            other => *self.others.entry(other.to_owned()).or_default() += 1,
        }
        None
    }

    fn begin(&mut self, answer: Record) -> Capture {
        let (file, name) = (self.number, self.name.clone());
        let place = WarcRef { file, name, offset: answer.offset, bytes: answer.bytes };
        let early = self.early_request.take();
        let early = early.filter(|request| request.target() == answer.target());
        let request = early.map(|request| request.block).unwrap_or_default();
        Capture { place, answer, request, notes: Vec::new() }
    }

    fn take_request(&mut self, record: Record) {
        match self.pending.as_mut().filter(|pending| pending.belongs(&record)) {
            Some(pending) if pending.request.is_empty() => pending.request = record.block,
            _ => self.early_request = Some(record),
        }
    }

    fn take_notes(&mut self, record: &Record) {
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.belongs(record)) {
            pending.notes = notes_in(&record.block);
        }
    }
}

impl Iterator for Captures {
    type Item = Result<Capture>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.next_record() {
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
                Ok(None) => self.ended = true,
                Ok(Some(record)) => {
                    if let Some(capture) = self.take(record) {
                        return Some(Ok(capture));
                    }
                }
            }
        }
        self.pending.take().map(Ok)
    }
}

/// Lines of `name: value`; what is none is passed over.
fn notes_in(block: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(block);
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

/// The archive files of a directory, in order of name: what one crawler wrote, it numbered.
pub fn list(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io(dir))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io(dir))?.path();
        if is_archive(&path) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a file has the name of an archive that can be read.
pub fn is_archive(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.ends_with(".warc.gz") || name.ends_with(".warc")
}
