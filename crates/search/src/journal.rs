//! The journal: what the index is to learn, in order, until it has learnt it.
//!
//! The crawl commits ten times a second, the index every ten seconds. What came in between lies here, in
//! files that are appended to and synced with the crawl's own commits. A position in it is what the
//! crawl's log knows of the index. The index remembers the position up to which it has read.
//!
//! ```text
//! search/journal/00000001.log    entry*
//! entry    bytes (u32) · CRC-32C of what follows (u32) · bytes
//! ```

use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use larm_core::Limits;
use larm_crawl::store::appender::Appender;
use larm_crawl::store::{Flushed, Position, Unsynced, durable};
use larm_crawl::{Error, Result};

const HEAD_BYTES: usize = 8;
/// No entry is that large: the text of a page is bounded.
const ENTRY_BYTES_MAX: u32 = 1 << 30;
/// What is read of a file at a time.
const READ_BYTES: usize = 256 * 1_024;

/// The end of the journal, where entries are appended.
pub(crate) struct Journal {
    dir: PathBuf,
    file: u32,
    out: Appender,
    /// Of files that were ended since the last flush.
    unsynced: Vec<Unsynced>,
    file_bytes_max: u64,
    buffer_bytes_max: u64,
}

impl Journal {
    /// A journal in `dir`, to be recovered first.
    pub fn new(dir: PathBuf, limits: &Limits) -> Self {
        let out = Appender::new(path_of(&dir, 1), limits.sink_buffer_bytes_max);
        Self {
            dir,
            file: 1,
            out,
            unsynced: Vec::new(),
            file_bytes_max: limits.index_journal_bytes_max,
            buffer_bytes_max: limits.sink_buffer_bytes_max,
        }
    }

    /// Cuts back to a position, and removes what came after. An error says that the bytes before the
    /// position are not all there.
    pub fn recover(&mut self, position: Position) -> Result<()> {
        durable::create_dir(&self.dir)?;
        for number in files(&self.dir)?.into_iter().filter(|number| *number > position.file) {
            durable::remove(&path_of(&self.dir, number))?;
        }
        self.begin(position.file.max(1));
        self.out.recover(position.offset)
    }

    /// Begins behind all files that are there, if there are any.
    pub fn begin_anew(&mut self) -> Result<Position> {
        durable::create_dir(&self.dir)?;
        let last = files(&self.dir)?.into_iter().max().unwrap_or_default();
        self.begin(last.max(self.file) + 1);
        Ok(Position { file: self.file, offset: 0 })
    }

    /// Removes everything.
    pub fn clear(&mut self) -> Result<()> {
        durable::create_dir(&self.dir)?;
        for number in files(&self.dir)? {
            durable::remove(&path_of(&self.dir, number))?;
        }
        self.begin(1);
        Ok(())
    }

    fn begin(&mut self, file: u32) {
        self.file = file;
        self.out = Appender::new(path_of(&self.dir, file), self.buffer_bytes_max);
    }

    /// Adds an entry, given in pieces, and returns where it begins.
    pub fn append(&mut self, pieces: &[&[u8]]) -> Result<Position> {
        if self.out.end() >= self.file_bytes_max {
            self.unsynced.extend(self.out.flush()?.unsynced);
            self.begin(self.file + 1);
        }
        let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        let crc = pieces.iter().fold(0, |crc, piece| crc32c::crc32c_append(crc, piece));
        let bytes = u32::try_from(bytes).expect("entries are bounded");
        let offset = self.out.append(&bytes.to_le_bytes())?;
        self.out.append(&crc.to_le_bytes())?;
        pieces.iter().try_for_each(|piece| self.out.append(piece).map(drop))?;
        Ok(Position { file: self.file, offset })
    }

    /// Hands everything to the operating system.
    pub fn flush(&mut self) -> Result<Flushed> {
        let mut flushed = self.out.flush()?;
        flushed.position.file = self.file;
        self.unsynced.append(&mut flushed.unsynced);
        flushed.unsynced = std::mem::take(&mut self.unsynced);
        Ok(flushed)
    }
}

/// Reads a journal from some position on, behind whoever writes it.
pub(crate) struct JournalReader {
    dir: PathBuf,
    position: Position,
    file: Option<BufReader<File>>,
    entry: Vec<u8>,
}

impl JournalReader {
    /// A reader that goes on at `position`.
    pub fn new(dir: PathBuf, position: Position) -> Self {
        Self { dir, position, file: None, entry: Vec::new() }
    }

    /// Behind the last entry read.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The next entry before `until`, which must be the end of an entry, and where it begins.
    pub fn next(&mut self, until: Position) -> Result<Option<(Position, &[u8])>> {
        loop {
            if self.position >= until {
                return Ok(None);
            }
            let begin = self.position;
            if self.read()? {
                return Ok(Some((begin, &self.entry)));
            }
            if self.position.file >= until.file {
                return Err(self.damaged("the journal ends here, but more of it was committed"));
            }
            self.position = Position { file: self.position.file + 1, offset: 0 };
            self.file = None;
        }
    }

    /// Reads an entry; `false` at the end of the file.
    fn read(&mut self) -> Result<bool> {
        let mut head = [0; HEAD_BYTES];
        if !self.fill(&mut head)? {
            return Ok(false);
        }
        let (bytes, crc) = head.split_at(4);
        let [bytes, crc] = [bytes, crc]
            .map(|number| u32::from_le_bytes(number.try_into().expect("a head is two numbers")));
        if bytes > ENTRY_BYTES_MAX {
            return Err(self.damaged("an entry of impossible length"));
        }
        let mut entry = std::mem::take(&mut self.entry);
        entry.resize(bytes as usize, 0);
        let whole = self.fill(&mut entry)? && crc32c::crc32c(&entry) == crc;
        self.entry = entry;
        if !whole {
            return Err(self.damaged("an entry that is not whole"));
        }
        self.position.offset += HEAD_BYTES as u64 + u64::from(bytes);
        Ok(true)
    }

    /// Fills `bytes` from the file; `false` if it ends before the first of them.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<bool> {
        let path = path_of(&self.dir, self.position.file);
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut file = File::open(&path).map_err(Error::io(&path))?;
                file.seek(SeekFrom::Start(self.position.offset)).map_err(Error::io(&path))?;
                self.file.insert(BufReader::with_capacity(READ_BYTES, file))
            }
        };
        match file.read(bytes).map_err(Error::io(&path))? {
            0 if !bytes.is_empty() => Ok(false),
            some => file
                .read_exact(&mut bytes[some..])
                .map(|()| true)
                .map_err(|_| self.damaged("the file ends within an entry")),
        }
    }

    fn damaged(&self, what: &str) -> Error {
        Error::Damaged {
            path: path_of(&self.dir, self.position.file),
            offset: self.position.offset,
            what: what.to_owned(),
        }
    }
}

/// The number of the oldest file, if there is one.
pub(crate) fn oldest(dir: &Path) -> Result<Option<u32>> {
    Ok(files(dir)?.into_iter().min())
}

/// Removes the files before a position: nobody will ask for them any more.
pub(crate) fn forget_before(dir: &Path, position: Position) -> Result<()> {
    let old = files(dir)?.into_iter().filter(|number| *number < position.file);
    old.into_iter().try_for_each(|number| durable::remove(&path_of(dir, number)))
}

fn path_of(dir: &Path, file: u32) -> PathBuf {
    dir.join(format!("{file:08}.log"))
}

fn files(dir: &Path) -> Result<Vec<u32>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io(dir))?,
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter_map(|name| name.strip_suffix(".log")?.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(dir: &Path) -> Journal {
        let limits = Limits { index_journal_bytes_max: 64, ..Limits::default() };
        Journal::new(dir.to_owned(), &limits)
    }

    fn all(dir: &Path, until: Position) -> Result<Vec<String>> {
        let mut reader = JournalReader::new(dir.to_owned(), Position { file: 1, offset: 0 });
        let mut found = Vec::new();
        while let Some((_, entry)) = reader.next(until)? {
            found.push(String::from_utf8_lossy(entry).into_owned());
        }
        assert_eq!(reader.position(), until);
        Ok(found)
    }

    #[test]
    fn entries_come_back_in_order_over_several_files() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = journal(dir.path());
        journal.clear().unwrap();
        let texts: Vec<String> = (0..20).map(|n| format!("entry {n}")).collect();
        let mut begins = Vec::new();
        for text in &texts {
            let (one, other) = text.as_bytes().split_at(3);
            begins.push(journal.append(&[one, other]).unwrap());
        }
        let end = journal.flush().unwrap().position;
        assert!(end.file > 3, "{end:?}");
        assert_eq!(all(dir.path(), end).unwrap(), texts);
        let mut reader = JournalReader::new(dir.path().to_owned(), begins[0]);
        for begin in begins {
            assert_eq!(reader.next(end).unwrap().map(|(at, _)| at), Some(begin));
        }
    }

    #[test]
    fn recovery_takes_away_what_came_after_and_goes_on_there() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = journal(dir.path());
        first.clear().unwrap();
        first.append(&[b"kept"]).unwrap();
        let position = first.flush().unwrap().position;
        for _ in 0..20 {
            first.append(&[b"not committed"]).unwrap();
        }
        first.flush().unwrap();
        let mut second = journal(dir.path());
        second.recover(position).unwrap();
        second.append(&[b"later"]).unwrap();
        let end = second.flush().unwrap().position;
        assert_eq!(all(dir.path(), end).unwrap(), ["kept", "later"]);
        assert!(journal(dir.path()).recover(Position { file: 1, offset: 9_999 }).is_err());
    }

    #[test]
    fn a_changed_byte_is_damage() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = journal(dir.path());
        journal.clear().unwrap();
        journal.append(&[b"one"]).unwrap();
        let end = journal.flush().unwrap().position;
        let path = path_of(dir.path(), 1);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            assert!(all(dir.path(), end).is_err(), "byte {at}");
        }
    }

    #[test]
    fn what_was_read_for_good_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = journal(dir.path());
        journal.clear().unwrap();
        for _ in 0..20 {
            journal.append(&[b"an entry"]).unwrap();
        }
        let end = journal.flush().unwrap().position;
        forget_before(dir.path(), end).unwrap();
        assert_eq!(oldest(dir.path()).unwrap(), Some(end.file));
        assert!(journal.begin_anew().unwrap().file > end.file);
    }
}
