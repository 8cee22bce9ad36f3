//! The log → the table, as it grows, and anew when it was cut back.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use larm_core::Limits;
use larm_core::url::Fingerprint;

use super::columns::{Columns, Flags, Outcome};
use super::line::Line;
use super::row::Whole;

/// Bytes at the beginning and at the known end of the log by which it is known again.
const MARK_BYTES: u64 = 256;
/// What is read from the file at a time.
const BUFFER_BYTES: usize = 1 << 18;
/// Of the rows, so much is forgotten when there are too many.
const FORGOTTEN_SHARE: usize = 4;

/// How much may be kept.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Rows of a table.
    pub rows_max: usize,
    /// Bytes of a table.
    pub bytes_max: usize,
    /// Bytes of a line.
    pub line_bytes_max: u64,
}

impl Bounds {
    /// Those of the limits.
    pub fn of(limits: &Limits) -> Self {
        let size = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        Self {
            rows_max: size(limits.server_rows_max),
            bytes_max: size(limits.server_tables_bytes_max),
            line_bytes_max: limits.server_line_bytes_max,
        }
    }
}

/// A crawl log in memory.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    pub(super) columns: Columns,
    /// Rows that were left out at the front.
    left_out: u64,
    /// Lines that say nothing.
    damaged: u64,
    /// Where the last whole line ends that was read.
    end: u64,
    /// How the log begins, and how it ends before `end`.
    marks: (Vec<u8>, Vec<u8>),
}

impl Table {
    /// The log of the crawl in `dir`, of which nothing is read yet.
    pub fn new(dir: &Path) -> Self {
        Self {
            path: dir.join("logs").join("crawl.jsonl"),
            columns: Columns::default(),
            left_out: 0,
            damaged: 0,
            end: 0,
            marks: Default::default(),
        }
    }

    /// How many rows can be asked for.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows that were left out at the front, since there were more than may be kept.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Lines that could not be read.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Up to which byte of the log it goes.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Memory that it takes.
    pub fn memory(&self) -> usize {
        self.columns.memory()
    }

    /// Number of the row at an index.
    pub fn number(&self, index: usize) -> u64 {
        self.left_out + index as u64
    }

    /// Index of the row of a number, if it is there.
    pub fn index(&self, number: u64) -> Option<usize> {
        let index = usize::try_from(number.checked_sub(self.left_out)?).ok()?;
        (index < self.len()).then_some(index)
    }

    /// The URL of a row.
    pub fn url(&self, index: usize) -> &str {
        std::str::from_utf8(self.columns.url(index)).expect("a URL was a text when it was read")
    }

    /// What became of a row, and with which status (0: none).
    pub fn ended(&self, index: usize) -> (Outcome, u16) {
        (self.columns.outcomes[index], self.columns.statuses[index])
    }

    /// Whether something is true of a row.
    pub fn is(&self, index: usize, flag: Flags) -> bool {
        self.columns.flags[index] & flag as u8 != 0
    }

    /// Length of a row's answer, up to 4 GiB.
    pub fn bytes(&self, index: usize) -> u64 {
        self.columns.bytes[index].into()
    }

    /// Time of a row, in milliseconds.
    pub fn at(&self, index: usize) -> u64 {
        self.columns.at[index]
    }

    /// Fingerprints of all rows, in order.
    pub fn prints(&self) -> &[u64] {
        &self.columns.prints
    }

    /// What kind of reason decided about a row: a filter, a class of failure, `robots`; empty for none.
    pub fn class(&self, index: usize) -> &str {
        self.columns.class_names.text(self.columns.classes[index].into())
    }

    /// The last row of each of these URLs, by fingerprint: one pass for all of them.
    pub fn find_all(&self, prints: &HashSet<u64>) -> HashMap<u64, usize> {
        let rows = self.columns.prints.iter().enumerate();
        let rows = rows.filter(|(_, print)| !prints.is_empty() && prints.contains(print));
        rows.map(|(row, print)| (*print, row)).collect()
    }

    /// Bits of a row's digest; 0 if it has none.
    pub fn digest(&self, index: usize) -> u32 {
        self.columns.digests[index]
    }

    /// The rows of a URL, the last one first.
    pub fn find<'a>(&'a self, url: &'a str) -> impl Iterator<Item = usize> + 'a {
        let print = Fingerprint::of(url).0;
        let rows = self.columns.prints.iter().enumerate().rev();
        let rows = rows.filter(move |&(_, &found)| found == print).map(|(row, _)| row);
        rows.filter(move |&row| self.columns.url(row) == url.as_bytes())
    }

    /// Reads what came since. Where the log is not the one that was read, all of it is read anew.
    pub fn refresh(&mut self, bounds: &Bounds) -> io::Result<()> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.clear();
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        if !self.is_known(&mut file, length)? {
            self.clear();
        }
        if length > self.end {
            self.read_on(&mut file, length, bounds)?;
            self.marks = marks(&mut file, self.end)?;
        }
        Ok(())
    }

    /// Whether there may be something to read.
    pub fn is_behind(&self) -> bool {
        let length = std::fs::metadata(&self.path).map(|meta| meta.len());
        length.unwrap_or(0) != self.end
    }

    fn clear(&mut self) {
        let path = std::mem::take(&mut self.path);
        let empty = Self::new(Path::new(""));
        *self = Self { path, ..empty };
    }

    fn is_known(&self, file: &mut File, length: u64) -> io::Result<bool> {
        Ok(length >= self.end && (self.end == 0 || marks(file, self.end)? == self.marks))
    }

    fn read_on(&mut self, file: &mut File, length: u64, bounds: &Bounds) -> io::Result<()> {
        file.seek(SeekFrom::Start(self.end))?;
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, file.take(length - self.end));
        let mut line = Vec::new();
        loop {
            line.clear();
            let bytes = read_line(&mut reader, &mut line, bounds.line_bytes_max)?;
            let Some(bytes) = bytes else { return Ok(()) };
            self.add(&line, bounds);
            self.end += bytes;
        }
    }

    fn add(&mut self, line: &[u8], bounds: &Bounds) {
        match Line::read(line) {
            Some(line) => {
                self.make_room(line.url.len(), bounds);
                self.columns.push(self.end, &line);
            }
            None => self.damaged += 1,
        }
    }

    /// TABLE-2.
    fn make_room(&mut self, url_bytes: usize, bounds: &Bounds) {
        let rows = self.len();
        let too_many = rows >= bounds.rows_max || !self.columns.has_room(url_bytes + 1);
        if too_many || (rows > 0 && self.memory() > bounds.bytes_max) {
            let forgotten = (rows / FORGOTTEN_SHARE).max(1).min(rows);
            self.columns.forget(forgotten);
            self.left_out += forgotten as u64;
        }
    }

    /// Rows in full, as the log has them. A row whose line is gone meanwhile is left out.
    pub fn rows(&self, indices: &[usize]) -> io::Result<Vec<Whole>> {
        let mut rows = Vec::with_capacity(indices.len());
        let mut file = match File::open(&self.path) {
            // A crawl that has just begun has no log yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(rows),
            file => file?,
        };
        for &index in indices {
            let begin = self.columns.offsets[index];
            let end = self.columns.offsets.get(index + 1).copied().unwrap_or(self.end);
            let line = line_at(&mut file, begin, end)?;
            rows.extend(Whole::read(self.number(index), &line));
        }
        Ok(rows)
    }
}

/// Reads a line with its end into `line` and says how long it is; of one that is too long nothing is kept. `None`
/// where there is no whole line.
fn read_line(
    from: &mut impl BufRead,
    line: &mut Vec<u8>,
    bytes_max: u64,
) -> io::Result<Option<u64>> {
    let mut bytes = from.take(bytes_max).read_until(b'\n', line)? as u64;
    if line.last() == Some(&b'\n') {
        return Ok(Some(bytes));
    }
    if bytes < bytes_max {
        return Ok(None);
    }
    line.clear();
    loop {
        let buffer = from.fill_buf()?;
        let (read, is_end) = match buffer.iter().position(|&byte| byte == b'\n') {
            _ if buffer.is_empty() => return Ok(None),
            Some(at) => (at + 1, true),
            None => (buffer.len(), false),
        };
        from.consume(read);
        bytes += read as u64;
        if is_end {
            return Ok(Some(bytes));
        }
    }
}

/// The first line that begins at `begin` and ends before `end`.
fn line_at(file: &mut File, begin: u64, end: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(begin))?;
    let mut line = Vec::new();
    BufReader::new(file.take(end.saturating_sub(begin))).read_until(b'\n', &mut line)?;
    Ok(line)
}

fn marks(file: &mut File, end: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut read = |begin: u64, bytes: u64| -> io::Result<Vec<u8>> {
        file.seek(SeekFrom::Start(begin))?;
        let mut mark = Vec::new();
        Read::by_ref(file).take(bytes).read_to_end(&mut mark)?;
        Ok(mark)
    };
    let bytes = MARK_BYTES.min(end);
    Ok((read(0, bytes)?, read(end - bytes, bytes)?))
}
