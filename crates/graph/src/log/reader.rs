//! Blocks of the link log → visits.
//!
//! A log is read as far as its blocks are whole: a crawl may be writing it. A block that lies within the
//! file and does not have its checksum is damage, and an error.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use larm_core::Millis;
use larm_core::via::Via;

use super::{Ended, HAS_REL, HAS_TEXT, HAS_VERDICT, HEADER_BYTES, Place, VIA, Visit};
use crate::bytes::{Cursor, unfold};
use crate::link::{LinkFact, PASSED};
use crate::{Error, Result};

/// Bytes of one block before it was packed, at most. Far above what is written, so that a header made
/// up by a failing disk does not take all memory.
const BLOCK_BYTES_MAX: usize = 1 << 28;

/// Reads a link log from front to back.
pub struct LogReader {
    path: PathBuf,
    file: BufReader<File>,
    /// Length of the file when it was opened.
    file_bytes: u64,
    /// Where the present block begins, and the next one.
    block_begin: u64,
    next_block: u64,
    chapter: Chapter,
    place: Place,
    /// The present block, and how much of it is read.
    block: Vec<u8>,
    read: usize,
    last_url: Vec<u8>,
    last_at: u64,
}

impl LogReader {
    /// Opens a log at its beginning.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_at(path, 0)
    }

    /// Opens a log at the beginning of a block that begins a chapter.
    pub fn open_at(path: &Path, begin: u64) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        let file_bytes = file.metadata().map_err(Error::io(path))?.len();
        let mut reader = Self {
            path: path.to_path_buf(),
            file: BufReader::new(file),
            file_bytes,
            block_begin: 0,
            next_block: 0,
            chapter: Chapter::default(),
            place: Place::default(),
            block: Vec::new(),
            read: 0,
            last_url: Vec::new(),
            last_at: 0,
        };
        reader.seek(begin)?;
        Ok(reader)
    }

    /// Goes to a chapter.
    pub fn seek(&mut self, chapter: u64) -> Result<()> {
        self.file.seek(SeekFrom::Start(chapter)).map_err(Error::io(&self.path))?;
        self.next_block = chapter;
        self.block.clear();
        self.read = 0;
        Ok(())
    }

    /// The links of the chapter that the last visit is in.
    pub fn chapter(&self) -> &Chapter {
        &self.chapter
    }

    /// Where the block begins that the last visit is in.
    pub fn block_begin(&self) -> u64 {
        self.block_begin
    }

    /// Where the last whole block ends that was read.
    pub fn end(&self) -> u64 {
        self.next_block
    }

    /// Reads the next visit into `visit`; `false` at the end.
    pub fn next(&mut self, visit: &mut Visit) -> Result<bool> {
        while self.read == self.block.len() {
            if !self.next_block()? {
                return Ok(false);
            }
        }
        let mut cursor = Cursor(&self.block[self.read..]);
        let last = (&mut self.last_url, &mut self.last_at);
        match read_visit(&mut cursor, last, &mut self.chapter, visit) {
            Some(()) => {
                self.read = self.block.len() - cursor.0.len();
                visit.place = self.place;
                self.place.index += 1;
                Ok(true)
            }
            None => Err(self.damaged("a visit that cannot be read")),
        }
    }

    /// Reads the visit at `place`.
    pub fn read_at(&mut self, place: Place, visit: &mut Visit) -> Result<()> {
        let ahead = self.place.chapter == place.chapter && self.place.index <= place.index;
        if !ahead || self.next_block == 0 {
            self.seek(place.chapter)?;
        }
        while self.next(visit)? {
            if visit.place == place {
                return Ok(());
            }
            if visit.place.chapter != place.chapter {
                break;
            }
        }
        Err(Error::damaged(&self.path, place.chapter, "a visit that was there is missing"))
    }

    /// Reads the next block; `false` where the file ends, or ends within it.
    fn next_block(&mut self) -> Result<bool> {
        let begin = self.next_block;
        if begin + HEADER_BYTES as u64 > self.file_bytes {
            return Ok(false);
        }
        let mut header = [0; HEADER_BYTES];
        self.file.read_exact(&mut header).map_err(Error::io(&self.path))?;
        let [packed, unpacked, distance, sum] = words(&header);
        let end = begin + HEADER_BYTES as u64 + u64::from(packed);
        if packed == 0 || end > self.file_bytes {
            self.file.seek(SeekFrom::Start(begin)).map_err(Error::io(&self.path))?;
            return Ok(false);
        }
        let mut payload = vec![0; packed as usize];
        self.file.read_exact(&mut payload).map_err(Error::io(&self.path))?;
        if crc32c::crc32c_append(crc32c::crc32c(&header[..12]), &payload) != sum {
            return Err(self.damaged("a block with a wrong checksum"));
        }
        let unpacked = unpack(&payload, unpacked as usize);
        self.block = unpacked.map_err(|error| self.damaged(&error.to_string()))?;
        self.turn_to(begin, distance)?;
        (self.block_begin, self.next_block) = (begin, end);
        Ok(true)
    }

    /// A block begins, in the chapter that is open or in a new one.
    fn turn_to(&mut self, begin: u64, distance: u32) -> Result<()> {
        (self.read, self.last_at) = (0, 0);
        self.last_url.clear();
        if distance == 0 {
            self.chapter.clear();
            self.place = Place { chapter: begin, index: 0 };
        } else if self.place.chapter + u64::from(distance) != begin {
            return Err(self.damaged("a block without its chapter"));
        }
        Ok(())
    }

    fn damaged(&self, what: &str) -> Error {
        Error::damaged(&self.path, self.next_block, what)
    }
}

fn words(header: &[u8; HEADER_BYTES]) -> [u32; 4] {
    std::array::from_fn(|index| {
        let word = header[4 * index..].first_chunk().expect("four words of four bytes");
        u32::from_le_bytes(*word)
    })
}

fn unpack(payload: &[u8], bytes: usize) -> io::Result<Vec<u8>> {
    if bytes > BLOCK_BYTES_MAX {
        return Err(io::Error::other(format!("a block of {bytes} bytes")));
    }
    let block = zstd::bulk::decompress(payload, bytes)?;
    if block.len() == bytes { Ok(block) } else { Err(io::Error::other("a block cut short")) }
}

/// Reads one visit; `None` if it is not there as a whole.
fn read_visit(
    cursor: &mut Cursor<'_>,
    (last_url, last_at): (&mut Vec<u8>, &mut u64),
    chapter: &mut Chapter,
    visit: &mut Visit,
) -> Option<()> {
    cursor.text_after(last_url)?;
    visit.url.clear();
    visit.url.push_str(std::str::from_utf8(last_url).ok()?);
    *last_at = last_at.wrapping_add(unfold(cursor.number()?) as u64);
    visit.at = Millis(*last_at);
    let code = cursor.byte()?;
    visit.via = *Via::ALL.get(usize::from(cursor.byte()?))?;
    visit.ended = Ended::from_code(code, u16::try_from(cursor.number()?).ok()?)?;
    visit.depth = u32::try_from(cursor.number()?).ok()?;
    visit.links.clear();
    let mut expected = 0;
    for _ in 0..cursor.number()? {
        let number = chapter.read_link(cursor, expected)?;
        visit.links.push(number);
        expected = number + 1;
    }
    Some(())
}

/// The different links of a chapter, by number.
#[derive(Debug, Default)]
pub struct Chapter {
    texts: String,
    links: Vec<Entry>,
    last_to: Vec<u8>,
}

/// Where each text of a link ends; it begins where the one before it ends.
#[derive(Debug)]
struct Entry {
    via: Via,
    begin: usize,
    to: usize,
    text: usize,
    rel: usize,
    verdict: usize,
}

impl Chapter {
    /// How many links it has so far.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// A link by its number, as a visit of this chapter gives it.
    pub fn link(&self, number: u32) -> LinkFact<'_> {
        let Entry { via, begin, to, text, rel, verdict } = self.links[number as usize];
        let rejected = &self.texts[rel..verdict];
        LinkFact {
            via,
            to: &self.texts[begin..to],
            text: &self.texts[to..text],
            rel: &self.texts[text..rel],
            verdict: if rejected.is_empty() { PASSED } else { rejected },
        }
    }

    fn clear(&mut self) {
        self.texts.clear();
        self.links.clear();
        self.last_to.clear();
    }

    fn read_link(&mut self, cursor: &mut Cursor<'_>, expected: u32) -> Option<u32> {
        match cursor.number()? {
            0 => self.read_new(cursor),
            distance => {
                let number = i64::from(expected).checked_add(unfold(distance - 1))?;
                let number = u32::try_from(number).ok()?;
                ((number as usize) < self.links.len()).then_some(number)
            }
        }
    }

    fn read_new(&mut self, cursor: &mut Cursor<'_>) -> Option<u32> {
        let kind = cursor.byte()?;
        let via = *Via::ALL.get(usize::from(kind & VIA))?;
        let begin = self.texts.len();
        cursor.text_after(&mut self.last_to)?;
        self.texts.push_str(std::str::from_utf8(&self.last_to).ok()?);
        let to = self.texts.len();
        let mut ends = [0; 3];
        for (end, has) in ends.iter_mut().zip([HAS_TEXT, HAS_REL, HAS_VERDICT]) {
            if kind & has != 0 {
                self.texts.push_str(std::str::from_utf8(cursor.text()?).ok()?);
            }
            *end = self.texts.len();
        }
        let [text, rel, verdict] = ends;
        self.links.push(Entry { via, begin, to, text, rel, verdict });
        u32::try_from(self.links.len() - 1).ok()
    }
}
