//! One segment file of the log: its bytes, and how they are checked.
//!
//! A segment is a header, synced before anything follows it, then frames without gaps. The checksum
//! of a frame's header covers its position in the log: bytes that only look like a frame (a payload
//! that quotes one, a block of another file) do not pass for one. All numbers are little endian;
//! `docs/formats.md` has the tables.

use std::path::{Path, PathBuf};

use crate::disk::{Disk, DiskFile};
use crate::{Error, Result};

const MAGIC: [u8; 8] = *b"larm.log";
const VERSION: u32 = 1;
/// Bytes of a segment's header.
pub(super) const HEADER_BYTES: u64 = 32;
/// Bytes of a frame's header.
pub(super) const FRAME_BYTES: u64 = 16;
/// The length that says: no record, only a mark. No record can be so long.
const MARK: u32 = u32::MAX;
/// Bytes read at a time.
const WINDOW_BYTES: u64 = 64 * 1024;

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    length: u32,
    /// Bytes from the end of what was synced, when this was written, to this frame.
    unsynced: u32,
    payload_crc: u32,
}

impl Frame {
    /// A frame for a record. Its pieces are within the record maximum, which is far below 4 GiB.
    pub(super) fn record(pieces: &[&[u8]], unsynced: u32) -> Self {
        let length = u32::try_from(pieces.iter().map(|piece| piece.len()).sum::<usize>());
        let length = length.expect("a record is far below 4 GiB");
        let payload_crc = pieces.iter().fold(0, |crc, piece| crc32c::crc32c_append(crc, piece));
        Self { length, unsynced, payload_crc }
    }

    /// A frame that holds no record.
    pub(super) fn mark(unsynced: u32) -> Self {
        Self { length: MARK, unsynced, payload_crc: 0 }
    }

    /// The bytes of this frame's header at `position` of the log.
    pub(super) fn encode(self, position: u64) -> [u8; FRAME_BYTES as usize] {
        let mut bytes = [0; FRAME_BYTES as usize];
        bytes[0..4].copy_from_slice(&self.length.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.unsynced.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.payload_crc.to_le_bytes());
        let crc = frame_crc(&bytes, position);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The frame that these bytes are, if they are one and were written at `position`.
    fn decode(bytes: &[u8; FRAME_BYTES as usize], position: u64) -> Option<Self> {
        let frame = Self {
            length: u32_at(bytes, 0),
            unsynced: u32_at(bytes, 4),
            payload_crc: u32_at(bytes, 8),
        };
        (u32_at(bytes, 12) == frame_crc(bytes, position)).then_some(frame)
    }

    fn payload_bytes(self) -> u64 {
        if self.length == MARK { 0 } else { u64::from(self.length) }
    }
}

fn frame_crc(bytes: &[u8; FRAME_BYTES as usize], position: u64) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&position.to_le_bytes()), &bytes[..12])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes are four bytes"))
}

/// The file of the segment that begins at `start`.
pub(super) fn path(dir: &Path, start: u64) -> PathBuf {
    dir.join(format!("{start:020}.log"))
}

/// The first position of the segment with this file name; `None` if it is not a segment's.
pub(super) fn start_in_name(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".log").filter(|digits| digits.len() == 20)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn header(start: u64) -> [u8; HEADER_BYTES as usize] {
    let mut bytes = [0; HEADER_BYTES as usize];
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[16..24].copy_from_slice(&start.to_le_bytes());
    let crc = crc32c::crc32c(&bytes[..28]);
    bytes[28..32].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// A new segment, durable with its name, without a record.
pub(super) fn create(disk: &dyn Disk, dir: &Path, start: u64) -> Result<Box<dyn DiskFile>> {
    let mut file = disk.create(&path(dir, start))?;
    file.append(&header(start))?;
    file.sync()?;
    disk.sync_dir(dir)?;
    Ok(file)
}

/// Whether a crash came between a segment's name and its header: then it never held a record.
pub(super) fn is_stillborn(disk: &dyn Disk, dir: &Path, start: u64) -> Result<bool> {
    let file = disk.open(&path(dir, start))?;
    if file.size() > HEADER_BYTES {
        return Ok(false);
    }
    let mut bytes = vec![0; file.size() as usize];
    file.read_at(0, &mut bytes)?;
    Ok(bytes != header(start))
}

/// Makes a stillborn segment anew.
pub(super) fn create_again(disk: &dyn Disk, dir: &Path, start: u64) -> Result<Checked> {
    let cut_bytes = disk.open(&path(dir, start))?.size();
    let file = create(disk, dir, start)?;
    Ok(Checked { file, records_end: start + HEADER_BYTES, is_marked: false, cut_bytes })
}

/// The last segment of a log, ready to be written to.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) file: Box<dyn DiskFile>,
    /// Position after the last record.
    pub(super) records_end: u64,
    /// Whether a mark already follows the last record.
    pub(super) is_marked: bool,
    pub(super) cut_bytes: u64,
}

/// What stands at a place in a segment.
#[derive(Debug)]
pub(super) enum Step {
    /// A whole record.
    Record(Vec<u8>),
    /// A mark.
    Mark,
    /// Neither, and why.
    Bad(&'static str),
    /// The end of the file.
    End,
}

/// A segment being read from front to back.
#[derive(Debug)]
pub(super) struct Segment {
    file: Box<dyn DiskFile>,
    start: u64,
    offset: u64,
    record_bytes_max: u64,
    window: Vec<u8>,
    window_offset: u64,
}

impl Segment {
    /// Opens the segment that begins at `start`, with a good header, before its first frame.
    pub(super) fn open(
        disk: &dyn Disk,
        dir: &Path,
        start: u64,
        record_bytes_max: u64,
    ) -> Result<Self> {
        let file = disk.open(&path(dir, start))?;
        let offset = HEADER_BYTES;
        let (window, window_offset) = (Vec::new(), 0);
        let mut segment = Self { file, start, offset, record_bytes_max, window, window_offset };
        segment.check_header()?;
        Ok(segment)
    }

    /// The log position of the next step.
    pub(super) fn position(&self) -> u64 {
        self.start + self.offset
    }

    /// Goes to a position inside this segment. Its first byte counts as its first frame.
    pub(super) fn seek(&mut self, position: u64) {
        self.offset = (position - self.start).max(HEADER_BYTES);
    }

    /// Reads what stands here and goes behind it. Stays where it is at a bad place and at the end.
    pub(super) fn step(&mut self) -> Result<Step> {
        let left = self.file.size() - self.offset;
        if left == 0 {
            return Ok(Step::End);
        }
        if left < FRAME_BYTES {
            return Ok(Step::Bad("a frame is cut off"));
        }
        let Some(frame) = self.frame_at(self.offset)? else {
            return Ok(Step::Bad("no frame begins here"));
        };
        if frame.payload_bytes() > self.record_bytes_max {
            return Err(self.damaged("a record is longer than `log_record_bytes_max`"));
        }
        if frame.payload_bytes() > left - FRAME_BYTES {
            return Ok(Step::Bad("a record is cut off"));
        }
        let mut payload = vec![0; frame.payload_bytes() as usize];
        self.read(self.offset + FRAME_BYTES, &mut payload)?;
        if frame.length != MARK && crc32c::crc32c(&payload) != frame.payload_crc {
            return Ok(Step::Bad("the checksum of a record is wrong"));
        }
        self.offset += FRAME_BYTES + frame.payload_bytes();
        Ok(if frame.length == MARK { Step::Mark } else { Step::Record(payload) })
    }

    /// Checks a segment that another one follows: all good, and nothing missing up to `next`.
    pub(super) fn check_whole(mut self, next: u64) -> Result<()> {
        loop {
            match self.step()? {
                Step::Record(_) | Step::Mark => {}
                Step::Bad(what) => return Err(self.damaged(what)),
                Step::End if self.position() == next => return Ok(()),
                Step::End => return Err(self.damaged("the next segment does not begin here")),
            }
        }
    }

    /// Checks the last segment, cuts what no sync ever covered, and syncs what is left.
    pub(super) fn recover(mut self) -> Result<Checked> {
        let mut records_end = self.position();
        let mut is_marked = false;
        loop {
            match self.step()? {
                Step::Record(_) => (records_end, is_marked) = (self.position(), false),
                Step::Mark => is_marked = true,
                Step::Bad(what) if self.was_synced_past()? => return Err(self.damaged(what)),
                Step::Bad(_) | Step::End => break,
            }
        }
        let cut_bytes = self.file.size() - self.offset;
        if cut_bytes > 0 {
            self.file.truncate(self.offset)?;
        }
        // Also without a cut: these bytes may be in the system's memory only, and we now rely on
        // them.
        self.file.sync()?;
        Ok(Checked { file: self.file, records_end, is_marked, cut_bytes })
    }

    /// An error at the place where this reader stands.
    pub(super) fn damaged(&self, what: impl Into<String>) -> Error {
        let path = self.file.path().to_path_buf();
        Error::Damaged { path, offset: self.offset, what: what.into() }
    }

    /// Whether any frame behind this place was written after a sync that covered this place.
    ///
    /// Looks at every byte offset, since after a bad frame nobody knows where the next one begins.
    fn was_synced_past(&mut self) -> Result<bool> {
        let last = self.file.size().saturating_sub(FRAME_BYTES);
        for offset in self.offset + 1..=last {
            let frame = self.frame_at(offset)?;
            let synced = frame.and_then(|frame| offset.checked_sub(u64::from(frame.unsynced)));
            if synced.is_some_and(|synced| synced > self.offset) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn frame_at(&mut self, offset: u64) -> Result<Option<Frame>> {
        let mut bytes = [0; FRAME_BYTES as usize];
        self.read(offset, &mut bytes)?;
        Ok(Frame::decode(&bytes, self.start + offset))
    }

    fn check_header(&mut self) -> Result<()> {
        let mut found = [0; HEADER_BYTES as usize];
        let size = self.file.size().min(HEADER_BYTES);
        self.read(0, &mut found[..size as usize])?;
        if found[..8] == MAGIC && u32_at(&found, 8) > VERSION {
            let path = self.file.path().display();
            return Err(Error::Directory(format!("{path}: written by a newer larm")));
        }
        if found != header(self.start) {
            let path = self.file.path().to_path_buf();
            return Err(Error::Damaged { path, offset: 0, what: "not the header of a log".into() });
        }
        Ok(())
    }

    /// Fills `buffer` from `offset` on, small reads through the window.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        if buffer.len() as u64 > WINDOW_BYTES {
            return self.file.read_at(offset, buffer);
        }
        let window_end = self.window_offset + self.window.len() as u64;
        if offset < self.window_offset || offset + buffer.len() as u64 > window_end {
            let bytes = WINDOW_BYTES.min(self.file.size() - offset);
            self.window.resize(bytes as usize, 0);
            self.window_offset = offset;
            self.file.read_at(offset, &mut self.window)?;
        }
        let at = (offset - self.window_offset) as usize;
        buffer.copy_from_slice(&self.window[at..at + buffer.len()]);
        Ok(())
    }
}
