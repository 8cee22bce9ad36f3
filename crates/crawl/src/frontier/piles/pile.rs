//! A pile: a file of lists, one per shelf, written once, and the table of them that memory keeps.
//!
//! The layout is in `docs/formats.md`. It is written from front to back, so a file without a good footer is
//! not a pile. A list is checked whenever it is read.

use crate::disk::DiskFile;
use crate::frontier::numbered::numbered_files;
use crate::frontier::shelf::ShelfId;
use crate::{Error, Result};

const MAGIC: [u8; 8] = *b"larmpile";
const VERSION: u32 = 1;
const PART_BYTES: usize = 14;
const FOOTER_BYTES: usize = 36;
/// Bytes written at a time.
const WRITE_BYTES: usize = 256 * 1024;

numbered_files! {
    /// The name of a pile; never given twice while the state may know it.
    PileName, "pile"
}

/// The list of one shelf in a file: it begins where the one before it ends.
#[derive(Debug, Clone, Copy)]
struct Part {
    shelf: ShelfId,
    checksum: u32,
    end: u64,
}

impl Part {
    fn encode(&self) -> [u8; PART_BYTES] {
        let mut bytes = [0; PART_BYTES];
        bytes[..2].copy_from_slice(&self.shelf.0.to_le_bytes());
        bytes[2..6].copy_from_slice(&self.checksum.to_le_bytes());
        bytes[6..].copy_from_slice(&self.end.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        let shelf = ShelfId(u16::from_le_bytes(array_at(bytes, 0)));
        let checksum = u32::from_le_bytes(array_at(bytes, 2));
        Self { shelf, checksum, end: u64::from_le_bytes(array_at(bytes, 6)) }
    }
}

/// A pile on disk.
#[derive(Debug)]
pub(super) struct Pile {
    name: PileName,
    file: Box<dyn DiskFile>,
    /// Number of the offer before which all of it was offered.
    end: u64,
    parts: Vec<Part>,
}

impl Pile {
    /// Reads the table of a pile.
    pub(super) fn open(name: PileName, file: Box<dyn DiskFile>) -> Result<Self> {
        let footer = Footer::read(&*file)?;
        let table_bytes = u64::from(footer.parts) * PART_BYTES as u64;
        let lists_end = file.size().checked_sub(FOOTER_BYTES as u64 + table_bytes);
        let lists_end = lists_end.ok_or_else(|| damaged(&*file, 0, "too short for its table"))?;
        let mut table = vec![0; table_bytes as usize];
        file.read_at(lists_end, &mut table)?;
        let parts: Vec<Part> = table.chunks_exact(PART_BYTES).map(Part::decode).collect();
        let are_rising = parts.is_sorted_by(|a, b| a.shelf < b.shelf && a.end <= b.end);
        let fit = parts.last().map_or(0, |part| part.end) == lists_end;
        if crc32c::crc32c(&table) != footer.checksum || !are_rising || !fit {
            return Err(damaged(&*file, lists_end, "the table of a pile is wrong"));
        }
        Ok(Self { name, file, end: footer.end, parts })
    }

    pub(super) fn name(&self) -> PileName {
        self.name
    }

    /// Number of the offer before which all of it was offered.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The list of a shelf, if there is one.
    pub(super) fn read(&self, shelf: ShelfId) -> Result<Option<Vec<u8>>> {
        let Some(at) = self.find(shelf) else { return Ok(None) };
        let start = self.start_of(at);
        let mut list = vec![0; self.bytes_at(at) as usize];
        self.file.read_at(start, &mut list)?;
        if crc32c::crc32c(&list) != self.parts[at].checksum {
            return Err(damaged(&*self.file, start, "the checksum of arrivals is wrong"));
        }
        Ok(Some(list))
    }

    /// Bytes of the list of a shelf.
    pub(super) fn bytes(&self, shelf: ShelfId) -> u64 {
        self.find(shelf).map_or(0, |at| self.bytes_at(at))
    }

    /// Bytes of all its lists.
    pub(super) fn total_bytes(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.end)
    }

    /// Bytes of lists that were not taken yet.
    pub(super) fn live_bytes(&self, taken_to: &[u64]) -> u64 {
        let parts = self.parts.iter().enumerate();
        let live = parts.filter(|(_, part)| taken_to[part.shelf.index()] < self.end);
        live.map(|(at, _)| self.bytes_at(at)).sum()
    }

    fn find(&self, shelf: ShelfId) -> Option<usize> {
        self.parts.binary_search_by_key(&shelf, |part| part.shelf).ok()
    }

    fn start_of(&self, at: usize) -> u64 {
        at.checked_sub(1).map_or(0, |before| self.parts[before].end)
    }

    fn bytes_at(&self, at: usize) -> u64 {
        self.parts[at].end - self.start_of(at)
    }
}

/// A pile being written, its shelves in rising order.
#[derive(Debug)]
pub(super) struct PileWriter {
    name: PileName,
    file: Box<dyn DiskFile>,
    end: u64,
    parts: Vec<Part>,
    unwritten: Vec<u8>,
}

impl PileWriter {
    /// Begins a pile of what was offered before `end`, in an empty file.
    pub(super) fn begin(name: PileName, file: Box<dyn DiskFile>, end: u64) -> Self {
        Self { name, file, end, parts: Vec::new(), unwritten: Vec::with_capacity(WRITE_BYTES) }
    }

    pub(super) fn name(&self) -> PileName {
        self.name
    }

    /// Adds to the list of a shelf, which is the last one so far or behind it.
    pub(super) fn push(&mut self, shelf: ShelfId, list: &[u8]) -> Result<()> {
        let bytes = list.len() as u64;
        match self.parts.last_mut() {
            Some(part) if part.shelf == shelf => {
                part.checksum = crc32c::crc32c_append(part.checksum, list);
                part.end += bytes;
            }
            last => {
                let start = last.map_or(0, |part| part.end);
                let checksum = crc32c::crc32c(list);
                self.parts.push(Part { shelf, checksum, end: start + bytes });
            }
        }
        self.unwritten.extend_from_slice(list);
        if self.unwritten.len() >= WRITE_BYTES { self.write() } else { Ok(()) }
    }

    /// Makes what is there so far durable, so that finishing a large pile does not take long.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.write()?;
        self.file.sync()
    }

    /// Ends the pile and makes it durable; its name is durable only with its directory.
    pub(super) fn finish(mut self) -> Result<Pile> {
        debug_assert!(self.parts.is_sorted_by(|a, b| a.shelf < b.shelf), "shelves rise");
        let table: Vec<u8> = self.parts.iter().flat_map(Part::encode).collect();
        let parts = u32::try_from(self.parts.len()).expect("there are fewer shelves than that");
        let footer = Footer { checksum: crc32c::crc32c(&table), parts, end: self.end };
        self.unwritten.extend_from_slice(&table);
        self.unwritten.extend_from_slice(&footer.encode());
        self.sync()?;
        let Self { name, file, end, mut parts, .. } = self;
        parts.shrink_to_fit();
        Ok(Pile { name, file, end, parts })
    }

    fn write(&mut self) -> Result<()> {
        self.file.append(&self.unwritten)?;
        self.unwritten.clear();
        Ok(())
    }
}

#[derive(Debug, PartialEq)]
struct Footer {
    checksum: u32,
    parts: u32,
    end: u64,
}

impl Footer {
    fn encode(&self) -> [u8; FOOTER_BYTES] {
        let mut bytes = [0; FOOTER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.checksum.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.end.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.parts.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..32]);
        bytes[32..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn read(file: &dyn DiskFile) -> Result<Self> {
        let mut bytes = [0; FOOTER_BYTES];
        let at = file.size().checked_sub(FOOTER_BYTES as u64);
        let at = at.ok_or_else(|| damaged(file, 0, "too short for a pile"))?;
        file.read_at(at, &mut bytes)?;
        if bytes[..8] == MAGIC && u32::from_le_bytes(array_at(&bytes, 8)) > VERSION {
            let what = format!("{}: written by a newer larm", file.path().display());
            return Err(Error::Directory(what));
        }
        let footer = Self {
            checksum: u32::from_le_bytes(array_at(&bytes, 12)),
            parts: u32::from_le_bytes(array_at(&bytes, 24)),
            end: u64::from_le_bytes(array_at(&bytes, 16)),
        };
        if bytes != footer.encode() {
            return Err(damaged(file, at, "not the footer of a pile"));
        }
        Ok(footer)
    }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a slice of N bytes has N bytes")
}

fn damaged(file: &dyn DiskFile, offset: u64, what: &str) -> Error {
    Error::Damaged { path: file.path().to_path_buf(), offset, what: what.to_owned() }
}
