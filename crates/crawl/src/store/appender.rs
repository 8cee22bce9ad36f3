//! The append-only file that every sink writes to (step 11).
//!
//! Bytes are collected and go to the file in large writes. The file is created by the first of them.
//! Nothing is ever changed in place; only `recover` takes bytes away, and only from the end.
//!
//! APPEND-1: after a failed write the appender refuses everything, because what the disk holds is known
//! only up to the last position that was synced.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::durable;
use super::sink::{Flushed, Position, Unsynced};
use crate::{Error, Result};

/// A file that grows at its end.
#[derive(Debug)]
pub struct Appender {
    path: PathBuf,
    /// Opened by the first flush, or by `recover`.
    file: Option<Arc<File>>,
    /// Bytes in the file.
    written: u64,
    /// Bytes on their way to it.
    buffer: Vec<u8>,
    buffer_bytes_max: usize,
    unsynced: bool,
    broken: bool,
}

impl Appender {
    /// An appender for a file that does not exist yet, or that [`Appender::recover`] is about to open.
    /// Nothing is touched so far.
    pub fn new(path: impl Into<PathBuf>, buffer_bytes_max: u64) -> Self {
        Self {
            path: path.into(),
            file: None,
            written: 0,
            buffer: Vec::new(),
            buffer_bytes_max: usize::try_from(buffer_bytes_max).unwrap_or(usize::MAX),
            unsynced: false,
            broken: false,
        }
    }

    /// Where it writes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Length of the file once everything taken so far is in it.
    pub fn end(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Cuts the file back to `position` bytes and goes on from there; at 0 the file goes away.
    /// A file shorter than that has lost bytes that were synced, and is damaged.
    pub fn recover(&mut self, position: u64) -> Result<()> {
        self.buffer.clear();
        self.file = None;
        self.written = position;
        if position == 0 {
            return durable::remove(&self.path);
        }
        self.file = Some(Arc::new(cut(&self.path, position)?));
        Ok(())
    }

    /// Takes bytes, and returns the position at which they begin.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let begin = self.end();
        if self.buffer.len() + bytes.len() > self.buffer_bytes_max {
            self.write_buffer()?;
        }
        if self.buffer.capacity() == 0 {
            self.buffer.reserve_exact(self.buffer_bytes_max);
        }
        // What is larger than the buffer gains nothing by being copied through it.
        if bytes.len() >= self.buffer_bytes_max {
            self.write_out(bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(begin)
    }

    /// Hands everything taken so far to the operating system, as file number 0 of its sink.
    pub fn flush(&mut self) -> Result<Flushed> {
        self.write_buffer()?;
        let file = self.file.clone().filter(|_| std::mem::take(&mut self.unsynced));
        let unsynced = file.map(|file| Unsynced::new(file, self.path.clone()));
        Ok(Flushed {
            position: Position { file: 0, offset: self.written },
            unsynced: unsynced.into_iter().collect(),
        })
    }

    /// Brings everything taken so far to the disk, and returns the length that is safe there.
    pub fn sync(&mut self) -> Result<u64> {
        let flushed = self.flush()?;
        flushed.unsynced.iter().try_for_each(Unsynced::sync)?;
        Ok(flushed.position.offset)
    }

    fn write_buffer(&mut self) -> Result<()> {
        self.refuse_if_broken()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        self.write_out(&buffer)?;
        buffer.clear();
        self.buffer = buffer;
        Ok(())
    }

    fn write_out(&mut self, bytes: &[u8]) -> Result<()> {
        self.refuse_if_broken()?;
        if self.file.is_none() {
            self.file = Some(Arc::new(durable::create(&self.path)?));
        }
        let written = self.file.as_deref().map_or(Ok(()), |mut file| file.write_all(bytes));
        self.note(written)?;
        self.written += bytes.len() as u64;
        self.unsynced = true;
        Ok(())
    }

    fn note(&mut self, done: std::io::Result<()>) -> Result<()> {
        self.broken |= done.is_err();
        done.map_err(Error::io(&self.path))
    }

    fn refuse_if_broken(&self) -> Result<()> {
        if self.broken {
            let path = self.path.display();
            return Err(Error::Stopped(format!("{path}: an earlier write failed")));
        }
        Ok(())
    }
}

/// Opens the file with all after `position` cut off, and the cut lasts.
fn cut(path: &Path, position: u64) -> Result<File> {
    let mut file = OpenOptions::new().write(true).open(path).map_err(Error::io(path))?;
    let bytes = fs::metadata(path).map_err(Error::io(path))?.len();
    if bytes < position {
        let what = format!("the file ends here, but {position} bytes of it were committed");
        return Err(Error::Damaged { path: path.to_owned(), offset: bytes, what });
    }
    file.set_len(position).map_err(Error::io(path))?;
    file.seek(SeekFrom::End(0)).map_err(Error::io(path))?;
    file.sync_all().map_err(Error::io(path))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn appender(dir: &tempfile::TempDir) -> Appender {
        Appender::new(dir.path().join("file"), 8)
    }

    #[test]
    fn bytes_arrive_in_order_whatever_their_size() {
        let dir = tempfile::tempdir().unwrap();
        let mut out = appender(&dir);
        let pieces = ["a", "bcdefg", "h", "0123456789abcdef", "", "i", "jklmnopq"];
        let mut expected = String::new();
        for piece in pieces {
            assert_eq!(out.append(piece.as_bytes()).unwrap(), expected.len() as u64);
            expected.push_str(piece);
        }
        assert_eq!(out.sync().unwrap(), expected.len() as u64);
        assert_eq!(fs::read_to_string(out.path()).unwrap(), expected);
    }

    #[test]
    fn nothing_written_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut out = appender(&dir);
        assert_eq!(out.sync().unwrap(), 0);
        assert!(!out.path().exists());
    }

    #[test]
    fn recovery_cuts_to_the_position_and_goes_on_there() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "committed, and a torn ta").unwrap();
        let mut out = appender(&dir);
        out.recover(9).unwrap();
        out.append(b" again").unwrap();
        out.sync().unwrap();
        assert_eq!(fs::read_to_string(out.path()).unwrap(), "committed again");
        out.recover(0).unwrap();
        assert!(!out.path().exists());
    }

    #[test]
    fn a_file_shorter_than_what_was_committed_is_damaged() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "short").unwrap();
        let error = appender(&dir).recover(9).unwrap_err();
        assert!(matches!(error, Error::Damaged { offset: 5, .. }), "{error}");
        assert_eq!(fs::read_to_string(dir.path().join("file")).unwrap(), "short");
    }

    #[test]
    fn a_file_that_is_already_there_is_not_appended_to_unasked() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "someone's").unwrap();
        let mut out = appender(&dir);
        out.append(b"x").unwrap();
        assert!(out.sync().is_err());
        assert_eq!(fs::read_to_string(dir.path().join("file")).unwrap(), "someone's");
    }

    #[test]
    fn after_a_failed_write_everything_is_refused() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut out = Appender { file: Some(Arc::new(full)), ..Appender::new("/dev/full", 8) };
        out.append(b"x").unwrap();
        assert!(out.sync().unwrap_err().is_disk_full());
        assert!(matches!(out.sync(), Err(Error::Stopped(_))));
        assert!(matches!(out.append(b"0123456789"), Err(Error::Stopped(_))));
    }
}
