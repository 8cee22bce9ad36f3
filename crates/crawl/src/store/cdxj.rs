//! The index of an archive file: CDXJ, one line per response or revisit (step 11).
//!
//! Lines are written as records are, in the order of the archive, to `….cdxj.part`. When the archive
//! file closes, they are sorted into `….cdxj` and the part goes away. Sorting needs a fixed amount of
//! memory: what does not fit becomes sorted runs on disk, which are merged.
//!
//! CDXJ-1: a `.cdxj` is whole (it appears by one rename). CDXJ-2: the lines of a `.part` are in order of
//! offset, so that what a crash left behind a position can be told from what belongs there.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use larm_core::digest::Sha1Digest;
use larm_core::{Lookup, Millis};
use serde::Deserialize;

use super::durable;
use super::json::Object;
use super::sink::WarcRef;
use super::visit::Visit;
use super::warc::record;
use crate::{Error, Result};

/// About what a line takes beside its key and its URL.
const LINE_BYTES: usize = 256;
/// What is read of a part at a time, and of each sorted run while they are merged.
const RUN_BUFFER_BYTES: usize = 64 * 1024;

/// What a line of the index says about a record, in the fields that replay tools read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Entry {
    /// The URL.
    pub url: String,
    /// Media type without parameters; `warc/revisit` for a revisit, `unk` if there was none.
    pub mime: String,
    /// HTTP status.
    pub status: String,
    /// Payload digest, SHA-1 in base 32, without the name of the algorithm.
    pub digest: String,
    /// Length of the gzip member.
    pub length: String,
    /// Where the member begins.
    pub offset: String,
    /// Name of the archive file.
    pub filename: String,
}

impl Entry {
    /// The entry of a visit that was archived at `place`; nothing for one without an exchange.
    pub fn new(visit: &Visit, place: &WarcRef) -> Option<Self> {
        let exchange = visit.exchange.as_ref()?;
        let mime = match visit.revisit_of() {
            Some(_) => "warc/revisit".to_owned(),
            None => essence(exchange.wire().content_type.as_deref()),
        };
        Some(Self {
            url: visit.url.as_str().to_owned(),
            mime,
            status: exchange.wire().status.to_string(),
            digest: exchange.payload_digest().base32(),
            length: place.bytes.to_string(),
            offset: place.offset.to_string(),
            filename: place.name.to_string(),
        })
    }

    /// Reads a line of an index: its key, its time and the rest.
    pub fn parse(line: &str) -> Option<(&str, &str, Self)> {
        let (key, rest) = line.split_once(' ')?;
        let (time, json) = rest.split_once(' ')?;
        Some((key, time, serde_json::from_str(json).ok()?))
    }

    /// The line with this key and time, its end of line included.
    pub fn line(&self, key: &str, at: Millis) -> Vec<u8> {
        let mut line = Vec::with_capacity(key.len() + self.url.len() + LINE_BYTES);
        for piece in [key, " ", &at.compact(), " "] {
            line.extend_from_slice(piece.as_bytes());
        }
        let mut object = Object::open(&mut line);
        object.text("url", &self.url);
        object.text("mime", &self.mime);
        object.text("status", &self.status);
        object.text("digest", &self.digest);
        object.text("length", &self.length);
        object.text("offset", &self.offset);
        object.text("filename", &self.filename);
        object.close();
        line.push(b'\n');
        line
    }
}

/// Where the record of a line lies: all that is read of a line that is put in order.
#[derive(Deserialize)]
struct Span<'a> {
    #[serde(borrow)]
    length: Cow<'a, str>,
    #[serde(borrow)]
    offset: Cow<'a, str>,
}

impl Span<'_> {
    /// First byte of the record and first byte behind it.
    fn of(line: &str) -> Option<(u64, u64)> {
        let json = line.splitn(3, ' ').nth(2)?;
        let Span { length, offset } = serde_json::from_str(json).ok()?;
        let begin: u64 = offset.parse().ok()?;
        Some((begin, begin.checked_add(length.parse().ok()?)?))
    }
}

/// The line of a visit that was archived at `place`, its end of line included.
pub fn line(visit: &Visit, place: &WarcRef) -> Option<Vec<u8>> {
    let entry = Entry::new(visit, place)?;
    Some(entry.line(&visit.url.surt(), visit.at))
}

/// The line of a look-up that was archived at `place`, its end of line included. Its key is its URI, as
/// other tools have it, and it has no status.
pub fn lookup_line(lookup: &Lookup, place: &WarcRef) -> Vec<u8> {
    let url = record::lookup_uri(lookup);
    let entry = Entry {
        mime: record::TEXT_DNS.to_owned(),
        status: "-".to_owned(),
        digest: Sha1Digest::of(&record::lookup_block(lookup)).base32(),
        length: place.bytes.to_string(),
        offset: place.offset.to_string(),
        filename: place.name.to_string(),
        url: url.clone(),
    };
    entry.line(&url, lookup.at)
}

/// The media type as an index has it.
pub fn essence(content_type: Option<&str>) -> String {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.is_empty() { "unk".to_owned() } else { essence.to_ascii_lowercase() }
}

/// The two names of one index.
#[derive(Debug, Clone)]
pub struct Index {
    /// While it grows.
    pub part: PathBuf,
    /// Once it is sorted.
    pub sorted: PathBuf,
}

impl Index {
    /// Sorts the part into its final place, as this run has written it.
    pub fn close(&self, sort_bytes_max: u64) -> Result<()> {
        if self.part.exists() {
            self.sort(&self.part, None, sort_bytes_max)?;
        }
        durable::remove(&self.part)
    }

    /// Closes an index whose archive file ends at `end` after a crash: lines that point behind it go.
    pub fn recover(&self, end: u64, sort_bytes_max: u64) -> Result<()> {
        durable::remove(&self.runs())?;
        self.settle(end, sort_bytes_max)
    }

    /// Removes the index, whatever state it is in.
    pub fn remove(&self) -> Result<()> {
        for path in [&self.part, &self.sorted, &self.runs()] {
            durable::remove(path)?;
        }
        durable::remove(&durable::temporary_of(&self.sorted))
    }

    fn settle(&self, end: u64, sort_bytes_max: u64) -> Result<()> {
        if self.sorted.exists() {
            if end == u64::MAX {
                return durable::remove(&self.part);
            }
            // CDXJ-1: whole, though perhaps of a longer archive file than there is now.
            self.sort(&self.sorted, Some(&mut |entry| entry.1 <= end), sort_bytes_max)?;
        } else if self.part.exists() {
            // CDXJ-2: the first line out of order is where the crash begins.
            let mut last = None;
            let mut in_order = |(begin, behind): (u64, u64)| {
                let next = behind <= end && last.is_none_or(|last| begin >= last);
                last = Some(if next { behind } else { u64::MAX });
                next
            };
            self.sort(&self.part, Some(&mut in_order), sort_bytes_max)?;
        }
        durable::remove(&self.part)
    }

    fn sort(&self, from: &Path, keep: Option<Keep<'_>>, sort_bytes_max: u64) -> Result<()> {
        let mut lines = KeptLines::open(from, keep)?;
        let mut run = Run::with_room(sort_bytes_max.min(lines.file_bytes()?));
        if run.take(&mut lines, sort_bytes_max)? {
            return self.sort_in_runs(run, lines, sort_bytes_max);
        }
        durable::replace(&self.sorted, |out| run.write(out, &self.sorted))
    }

    /// The first run is full: writes it, and the next ones in its place.
    fn sort_in_runs(
        &self,
        mut run: Run,
        mut lines: KeptLines<'_, '_>,
        sort_bytes_max: u64,
    ) -> Result<()> {
        let path = self.runs();
        let mut out = BufWriter::new(File::create(&path).map_err(Error::io(&path))?);
        let mut ends = Vec::new();
        let mut has_more = true;
        loop {
            run.write(&mut out, &path)?;
            ends.push(out.stream_position().map_err(Error::io(&path))?);
            if !has_more {
                break;
            }
            has_more = run.take(&mut lines, sort_bytes_max)?;
        }
        out.flush().map_err(Error::io(&path))?;
        drop(run);
        durable::replace(&self.sorted, |out| merge(&path, &ends, out, &self.sorted))?;
        durable::remove(&path)
    }

    fn runs(&self) -> PathBuf {
        self.sorted.with_extension("cdxj.runs")
    }
}

/// Says whether a line is kept, by where its record begins and ends.
type Keep<'a> = &'a mut dyn FnMut((u64, u64)) -> bool;

/// The lines of an index that are whole, are ours, and that `keep` says yes to; or simply all.
struct KeptLines<'p, 'k> {
    path: &'p Path,
    file: BufReader<File>,
    keep: Option<Keep<'k>>,
}

impl<'p, 'k> KeptLines<'p, 'k> {
    fn open(path: &'p Path, keep: Option<Keep<'k>>) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        let file = BufReader::with_capacity(RUN_BUFFER_BYTES, file);
        Ok(Self { path, file, keep })
    }

    fn file_bytes(&self) -> Result<u64> {
        Ok(self.file.get_ref().metadata().map_err(Error::io(self.path))?.len())
    }

    /// Puts the next of them behind `bytes`; false at the end.
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<bool> {
        let begin = bytes.len();
        while self.file.read_until(b'\n', bytes).map_err(Error::io(self.path))? > 0 {
            if self.is_kept(&bytes[begin..]) {
                return Ok(true);
            }
            bytes.truncate(begin);
        }
        Ok(false)
    }

    fn is_kept(&mut self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
        let Some(keep) = &mut self.keep else { return line.is_some() };
        let range = line.and_then(Span::of);
        // A line that cannot be read ends what is in order, as one at the wrong place does.
        keep(range.unwrap_or((0, u64::MAX))) && range.is_some()
    }
}

/// Sorted lines, as many as fit.
struct Run {
    /// As they came.
    bytes: Vec<u8>,
    /// In order.
    lines: Vec<Line>,
}

/// A line of a run: what it begins with, behind what all of them begin with, and where it stands.
struct Line {
    beginning: u64,
    range: Range<usize>,
}

impl Run {
    fn with_room(bytes: u64) -> Self {
        let bytes = usize::try_from(bytes).unwrap_or_default();
        Self { bytes: Vec::with_capacity(bytes), lines: Vec::new() }
    }

    /// Takes the next lines in place of those it has, and puts them in order; whether there may be more.
    fn take(&mut self, lines: &mut KeptLines<'_, '_>, bytes_max: u64) -> Result<bool> {
        self.bytes.clear();
        self.lines.clear();
        let mut taken = 0;
        let mut has_more = true;
        while taken < bytes_max {
            let begin = self.bytes.len();
            has_more = lines.next(&mut self.bytes)?;
            if !has_more {
                break;
            }
            let range = begin..self.bytes.len();
            taken += (range.len() + size_of::<Line>()) as u64;
            self.lines.push(Line { beginning: 0, range });
        }
        self.sort();
        Ok(has_more)
    }

    /// Lines of one host begin alike, and most are told apart by the eight bytes behind that, which lie together.
    fn sort(&mut self) {
        let bytes = &self.bytes;
        let Some(first) = self.lines.first().map(|line| &bytes[line.range.clone()]) else { return };
        let alike = |line: &Line| {
            let pairs = first.iter().zip(&bytes[line.range.clone()]);
            pairs.take_while(|(one, other)| one == other).count()
        };
        let shared = self.lines.iter().map(alike).min().unwrap_or_default();
        for line in &mut self.lines {
            let rest = bytes[line.range.clone()].iter().skip(shared).chain(std::iter::repeat(&0));
            line.beginning = rest.take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        }
        self.lines.sort_unstable_by(|one, other| {
            let whole = |line: &Line| &bytes[line.range.clone()];
            one.beginning.cmp(&other.beginning).then_with(|| whole(one).cmp(whole(other)))
        });
    }

    fn write(&self, out: &mut dyn Write, path: &Path) -> Result<()> {
        let mut lines = self.lines.iter().map(|line| &self.bytes[line.range.clone()]);
        lines.try_for_each(|line| out.write_all(line)).map_err(Error::io(path))
    }
}

fn merge(runs: &Path, ends: &[u64], out: &mut dyn Write, path: &Path) -> Result<()> {
    let mut begin = 0;
    let mut readers = Vec::with_capacity(ends.len());
    for &end in ends {
        readers.push(open_run(runs, begin, end)?);
        begin = end;
    }
    let mut heads = BinaryHeap::new();
    for (run, reader) in readers.iter_mut().enumerate() {
        let mut line = Vec::new();
        if next_line(reader, runs, &mut line)? {
            heads.push(Reverse((line, run)));
        }
    }
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((line, run)) = &mut *head;
        out.write_all(line).map_err(Error::io(path))?;
        if !next_line(&mut readers[*run], runs, line)? {
            PeekMut::pop(head);
        }
    }
    Ok(())
}

fn open_run(path: &Path, begin: u64, end: u64) -> Result<BufReader<std::io::Take<File>>> {
    let mut file = File::open(path).map_err(Error::io(path))?;
    file.seek(SeekFrom::Start(begin)).map_err(Error::io(path))?;
    Ok(BufReader::with_capacity(RUN_BUFFER_BYTES, file.take(end - begin)))
}

/// Reads the next line in place of the last; false at the end.
fn next_line(reader: &mut impl BufRead, path: &Path, line: &mut Vec<u8>) -> Result<bool> {
    line.clear();
    Ok(reader.read_until(b'\n', line).map_err(Error::io(path))? > 0)
}
