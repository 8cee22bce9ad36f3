//! Visits → blocks of the link log.
//!
//! Writes no file: blocks are handed to whoever appends them. What is held is bounded by the size of a
//! chapter and of what is not packed yet.

use std::collections::HashMap;
use std::io;

use larm_core::via::Via;
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Compressor;

use super::{HAS_REL, HAS_TEXT, HAS_VERDICT, HEADER_BYTES, VisitHead};
use crate::bytes::{fold, put_after, put_number, put_text};
use crate::link::LinkFact;

/// The higher ones cost more than they save.
const LEVEL: i32 = 1;

/// Makes blocks of the link log.
pub struct LogWriter {
    chapter: Links,
    /// First byte of the chapter, once a block of it was packed.
    chapter_begin: Option<u64>,
    /// Bytes of the chapter's blocks before they were packed.
    chapter_bytes: u64,
    chapter_bytes_max: u64,
    /// Visits of the next block.
    visits: Vec<u8>,
    last_url: Vec<u8>,
    last_at: u64,
    packer: Compressor<'static>,
}

impl LogWriter {
    /// A writer that begins a chapter. A chapter ends behind the block that makes it larger than
    /// `chapter_bytes_max`.
    pub fn new(chapter_bytes_max: u64) -> io::Result<Self> {
        Ok(Self {
            chapter: Links::default(),
            chapter_begin: None,
            chapter_bytes: 0,
            chapter_bytes_max,
            visits: Vec::new(),
            last_url: Vec::new(),
            last_at: 0,
            packer: Compressor::new(LEVEL)?,
        })
    }

    /// Adds a visit with its links in the order of the page.
    pub fn add<'a>(
        &mut self,
        head: &VisitHead<'_>,
        links: impl ExactSizeIterator<Item = LinkFact<'a>>,
    ) {
        let out = &mut self.visits;
        put_after(out, &self.last_url, head.url.as_bytes());
        self.last_url.clear();
        self.last_url.extend_from_slice(head.url.as_bytes());
        put_number(out, fold(head.at.0.wrapping_sub(self.last_at) as i64));
        self.last_at = head.at.0;
        let (code, status) = head.ended.to_code();
        out.extend_from_slice(&[code, head.via as u8]);
        put_number(out, u64::from(status));
        put_number(out, u64::from(head.depth));
        put_number(out, links.len() as u64);
        let mut expected = 0;
        for link in links {
            expected = self.chapter.put(out, expected, link) + 1;
        }
    }

    /// Bytes that wait to be packed.
    pub fn waiting_bytes(&self) -> u64 {
        self.visits.len() as u64
    }

    /// Appends a block with all that waits to `out`, if there is anything; the block will begin at byte
    /// `begin` of the file.
    pub fn pack(&mut self, begin: u64, out: &mut Vec<u8>) -> io::Result<()> {
        if self.visits.is_empty() {
            return Ok(());
        }
        let chapter_begin = *self.chapter_begin.get_or_insert(begin);
        let header_at = out.len();
        out.resize(header_at + HEADER_BYTES, 0);
        let payload = self.packer.compress(&self.visits)?;
        out.extend_from_slice(&payload);
        let lengths = [payload.len() as u64, self.visits.len() as u64, begin - chapter_begin];
        fill_header(&mut out[header_at..], lengths)?;
        self.chapter_bytes += self.visits.len() as u64;
        self.visits.clear();
        self.last_url.clear();
        self.last_at = 0;
        if self.chapter_bytes >= self.chapter_bytes_max {
            self.begin_chapter();
        }
        Ok(())
    }

    /// Forgets what waits, and everything that earlier blocks hold.
    pub fn reset(&mut self) {
        self.visits.clear();
        self.last_url.clear();
        self.last_at = 0;
        self.begin_chapter();
    }

    fn begin_chapter(&mut self) {
        self.chapter.clear();
        self.chapter_begin = None;
        self.chapter_bytes = 0;
    }
}

/// Writes the three lengths and the checksum of a block into its header.
fn fill_header(block: &mut [u8], lengths: [u64; 3]) -> io::Result<()> {
    for (index, length) in lengths.into_iter().enumerate() {
        let length = u32::try_from(length).map_err(|_| io::Error::other("a block above 4 GiB"))?;
        block[4 * index..4 * index + 4].copy_from_slice(&length.to_le_bytes());
    }
    let sum = crc32c::crc32c_append(crc32c::crc32c(&block[..12]), &block[HEADER_BYTES..]);
    block[12..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
    Ok(())
}

/// The different links of a chapter, by number.
#[derive(Default)]
struct Links {
    by_hash: HashMap<u64, u32>,
    /// Every link in full, one behind the other, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// Target of the last one.
    last_to: Vec<u8>,
}

impl Links {
    fn clear(&mut self) {
        self.by_hash.clear();
        self.bytes.clear();
        self.ends.clear();
        self.last_to.clear();
    }

    /// Writes a link: 0 and all of it if it is new, else how far its number is from the one expected.
    /// Returns its number.
    fn put(&mut self, out: &mut Vec<u8>, expected: u32, link: LinkFact<'_>) -> u32 {
        let begin = self.bytes.len();
        put_full(&mut self.bytes, link);
        let hash = xxh3_64(&self.bytes[begin..]);
        if let Some(known) = self.find(hash, begin) {
            self.bytes.truncate(begin);
            let distance = fold(i64::from(known) - i64::from(expected));
            put_number(out, distance + 1);
            return known;
        }
        let number = self.ends.len() as u32;
        self.by_hash.entry(hash).or_insert(number);
        self.ends.push(self.bytes.len() as u32);
        put_number(out, 0);
        put_new(out, &self.last_to, link);
        self.last_to.clear();
        self.last_to.extend_from_slice(link.to.as_bytes());
        number
    }

    /// The number of the link that stands in full at `begin`, if it has one. Hashes are a hint: pages
    /// may be made to collide.
    fn find(&self, hash: u64, begin: usize) -> Option<u32> {
        let number = *self.by_hash.get(&hash)?;
        let index = number as usize;
        let from = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let known = &self.bytes[from..self.ends[index] as usize];
        (known == &self.bytes[begin..]).then_some(number)
    }
}

/// The link's first byte: how it was found, and which texts it has.
fn kind_of(link: LinkFact<'_>) -> u8 {
    let bit = |has: bool, bit: u8| if has { bit } else { 0 };
    link.via as u8
        | bit(!link.text.is_empty(), HAS_TEXT)
        | bit(!link.rel.is_empty(), HAS_REL)
        | bit(link.is_rejected(), HAS_VERDICT)
}

/// The texts of a link besides its target, those that it has.
fn texts_of(link: LinkFact<'_>) -> impl Iterator<Item = &str> {
    let verdict = if link.is_rejected() { link.verdict } else { "" };
    let has = [!link.text.is_empty(), !link.rel.is_empty(), link.is_rejected()];
    [link.text, link.rel, verdict].into_iter().zip(has).filter(|(_, has)| *has).map(|(t, _)| t)
}

fn put_full(out: &mut Vec<u8>, link: LinkFact<'_>) {
    out.push(kind_of(link));
    put_text(out, link.to.as_bytes());
    texts_of(link).for_each(|text| put_text(out, text.as_bytes()));
}

fn put_new(out: &mut Vec<u8>, last_to: &[u8], link: LinkFact<'_>) {
    out.push(kind_of(link));
    put_after(out, last_to, link.to.as_bytes());
    texts_of(link).for_each(|text| put_text(out, text.as_bytes()));
}

const _: () = assert!(Via::ALL.len() <= super::VIA as usize + 1, "a way fits in its bits");
