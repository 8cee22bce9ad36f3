//! The log of a crawl: what was settled and offered, in order. It is the truth (steps 4 and 12).
//!
//! One log per crawl, in segment files named after the position of their first byte. A position
//! counts bytes over the whole life of the crawl and is never used twice. Records are opaque here.
//!
//! - LOG-1: a record at or before the position that [`Log::sync`] returned is there after any
//!   crash.
//! - LOG-2: after a crash the log is a prefix of what was appended; no gap, nothing doubled.
//! - LOG-3: damage to what was synced is an error that names the place. It is never cut away.
//! - LOG-4: after one failed write or sync the log takes nothing more, for good.
//!
//! What tells a torn tail (LOG-2) from damage (LOG-3) is in every frame: the position up to which
//! the log was synced when the frame was written. Pages reach a disk in any order, so whole records
//! may follow a hole after a power loss; only a frame that knows of a sync *past* the bad place
//! proves that the bad place was once good. `sync` puts such a frame, a mark, behind what it
//! synced.
//!
//! The log reads no clock and starts nothing: when to sync is its user's decision, and so is
//! keeping two processes out of one directory.

mod replay;
mod segment;
#[cfg(test)]
mod tests;

pub use replay::Replay;

use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use larm_core::Limits;
use serde::{Deserialize, Serialize};

use self::segment::{Checked, FRAME_BYTES, Frame, HEADER_BYTES, Segment};
use crate::disk::{Disk, DiskFile, RealDisk};
use crate::{Error, Result};

/// Appended bytes held back before they are written without waiting for a sync.
const WRITE_BYTES: usize = 256 * 1024;

/// A place between two records: bytes since the crawl began, segment headers included.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct LogPosition(pub u64);

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What opening a log found behind its last whole record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// Where the log ends now.
    pub end: LogPosition,
    /// Bytes of a write that a crash interrupted; never synced, now cut.
    pub cut_bytes: u64,
}

/// The log, open for appending. Dropping it loses what was not synced, as a crash would.
#[derive(Debug)]
pub struct Log {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    segment_bytes_max: u64,
    record_bytes_max: u64,
    /// First positions of the segments, oldest first; `file` is the last.
    starts: VecDeque<u64>,
    file: Box<dyn DiskFile>,
    /// Frames that follow what `file` holds.
    unwritten: Vec<u8>,
    end: LogPosition,
    synced: LogPosition,
    failed: bool,
}

impl Log {
    /// Opens the log in `dir`, or begins one: checks every byte, cuts a torn tail, syncs the rest.
    ///
    /// Fails with [`Error::Damaged`] when synced bytes are not as they were written.
    pub fn open(dir: &Path, limits: &Limits) -> Result<(Self, Tail)> {
        Self::open_on(Arc::new(RealDisk), dir, limits)
    }

    /// [`Log::open`] on a given disk.
    pub fn open_on(disk: Arc<dyn Disk>, dir: &Path, limits: &Limits) -> Result<(Self, Tail)> {
        disk.create_dir(dir)?;
        let mut starts = find_segments(&*disk, dir)?;
        if starts.is_empty() {
            segment::create(&*disk, dir, 0)?;
            starts.push_back(0);
        }
        let checked = check_segments(&*disk, dir, &starts, limits)?;
        let mut log = Self {
            disk,
            dir: dir.to_path_buf(),
            segment_bytes_max: limits.log_segment_bytes_max,
            record_bytes_max: limits.log_record_bytes_max,
            starts,
            file: checked.file,
            unwritten: Vec::new(),
            end: LogPosition(checked.records_end),
            synced: LogPosition(checked.records_end),
            failed: false,
        };
        if !checked.is_marked {
            log.mark()?;
        }
        Ok((log, Tail { end: LogPosition(checked.records_end), cut_bytes: checked.cut_bytes }))
    }

    /// Adds a record and returns the position after it. It is durable only after [`Log::sync`].
    pub fn append(&mut self, payload: &[u8]) -> Result<LogPosition> {
        self.append_pieces(&[payload])
    }

    /// The same for a record that lies in several pieces.
    pub fn append_pieces(&mut self, pieces: &[&[u8]]) -> Result<LogPosition> {
        let bytes: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
        if bytes > self.record_bytes_max {
            let what = format!("a log record of {bytes} bytes is above the maximum");
            return Err(Error::Stopped(what));
        }
        self.guard(|log| log.push(pieces, bytes))?;
        Ok(self.end)
    }

    /// Makes everything appended so far durable and returns its end.
    pub fn sync(&mut self) -> Result<LogPosition> {
        self.guard(|log| {
            if log.synced < log.end {
                log.write_and_sync()?;
                log.mark()?;
            }
            Ok(())
        })?;
        Ok(self.synced)
    }

    /// Reads the durable records from `from` on, in order. `from` is a position this log returned.
    ///
    /// Memory is one record and a small buffer. Fails with [`Error::Damaged`] when the log no
    /// longer reaches back to `from`, or does not yet reach it: then it is not the log that `from`
    /// came from.
    pub fn replay(&self, from: LogPosition) -> Result<Replay> {
        self.check_usable()?;
        Replay::start(self, from)
    }

    /// Deletes the segments whose records all lie before `position`. The newest segment stays.
    pub fn cut_before(&mut self, position: LogPosition) -> Result<()> {
        self.guard(|log| {
            while log.starts.get(1).is_some_and(|&next| next <= position.0) {
                log.disk.remove(&segment::path(&log.dir, log.starts[0]))?;
                // One at a time: the next removal must not reach the disk before this one.
                log.disk.sync_dir(&log.dir)?;
                log.starts.pop_front();
            }
            Ok(())
        })
    }

    /// The position after the last record appended.
    pub fn end(&self) -> LogPosition {
        self.end
    }

    /// The position up to which everything is durable.
    pub fn synced(&self) -> LogPosition {
        self.synced
    }

    /// Runs one changing step; its failure is the last thing this log does (LOG-4).
    fn guard(&mut self, step: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.check_usable()?;
        let done = step(self);
        self.failed = done.is_err();
        done
    }

    fn check_usable(&self) -> Result<()> {
        if self.failed {
            let what = format!("{}: the log is closed since a write failed", self.dir.display());
            return Err(Error::Stopped(what));
        }
        Ok(())
    }

    fn push(&mut self, pieces: &[&[u8]], bytes: u64) -> Result<()> {
        if self.must_roll(bytes) {
            self.roll()?;
        }
        let frame = Frame::record(pieces, self.unsynced_bytes());
        self.unwritten.extend_from_slice(&frame.encode(self.next()));
        pieces.iter().for_each(|piece| self.unwritten.extend_from_slice(piece));
        self.end = LogPosition(self.next());
        if self.unwritten.len() >= WRITE_BYTES { self.write() } else { Ok(()) }
    }

    /// A segment without a record takes any, so that one above the segment's maximum has a place.
    fn must_roll(&self, payload_bytes: u64) -> bool {
        let used = self.next() - self.start();
        used > HEADER_BYTES && used + FRAME_BYTES + payload_bytes > self.segment_bytes_max
    }

    /// Begins the next segment. That it exists says that the one before is whole: so this syncs.
    fn roll(&mut self) -> Result<()> {
        self.write_and_sync()?;
        let start = self.next();
        self.file = segment::create(&*self.disk, &self.dir, start)?;
        self.starts.push_back(start);
        Ok(())
    }

    fn write_and_sync(&mut self) -> Result<()> {
        self.write()?;
        self.file.sync()?;
        self.synced = self.end;
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        self.file.append(&self.unwritten)?;
        self.unwritten.clear();
        Ok(())
    }

    /// Writes a mark: whoever finds it knows that all before it was synced (LOG-3).
    fn mark(&mut self) -> Result<()> {
        assert!(self.unwritten.is_empty(), "a mark stands right behind what was synced");
        let mark = Frame::mark(self.unsynced_bytes());
        self.file.append(&mark.encode(self.next()))
    }

    fn unsynced_bytes(&self) -> u32 {
        let bytes = self.next() - self.synced.0.max(self.start());
        u32::try_from(bytes).expect("a segment is synced before it is 4 GiB long")
    }

    fn start(&self) -> u64 {
        *self.starts.back().expect("there is always a segment to write to")
    }

    fn next(&self) -> u64 {
        self.start() + self.file.size() + self.unwritten.len() as u64
    }
}

fn find_segments(disk: &dyn Disk, dir: &Path) -> Result<VecDeque<u64>> {
    Ok(disk.list(dir)?.iter().filter_map(|name| segment::start_in_name(name)).collect())
}

/// Checks all segments, and returns the last one, cut and synced.
fn check_segments(
    disk: &dyn Disk,
    dir: &Path,
    starts: &VecDeque<u64>,
    limits: &Limits,
) -> Result<Checked> {
    for (&start, &next) in starts.iter().zip(starts.range(1..)) {
        Segment::open(disk, dir, start, limits.log_record_bytes_max)?.check_whole(next)?;
    }
    let last = *starts.back().expect("a log has at least one segment");
    if segment::is_stillborn(disk, dir, last)? {
        return segment::create_again(disk, dir, last);
    }
    Segment::open(disk, dir, last, limits.log_record_bytes_max)?.recover()
}
