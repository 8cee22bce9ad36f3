//! Visits → blocks of the link log.
//!
//! Writes no file: blocks are handed to whoever appends them. What is held is bounded by the size of a
//! chapter and of what is not packed yet.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::ops::Range;

use larm_core::via::Via;
use xxhash_rust::xxh3::xxh3_128_with_seed;
use zstd::bulk::Compressor;

use super::{HAS_REL, HAS_TEXT, HAS_VERDICT, HEADER_BYTES, VisitHead};
use crate::bytes::{fold, put_after, put_number, put_text};
use crate::link::LinkFact;

/// The higher ones cost more than they save.
const LEVEL: i32 = 1;

/// Makes blocks of the link log.
pub struct LogWriter {
    /// Links of the visit that is being added.
    drafts: Drafts,
    /// Which of them were new.
    new: Vec<u32>,
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
            drafts: Drafts::new(),
            new: Vec::new(),
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

    /// Adds a visit with its links in the order of the page. Says which of them were not in the chapter before: what
    /// is known of a link holds for all that are the same.
    pub fn add<'a>(
        &mut self,
        head: &VisitHead<'_>,
        links: impl ExactSizeIterator<Item = LinkFact<'a>>,
    ) -> &[u32] {
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
        self.drafts.take(links);
        self.new.clear();
        self.chapter.put_all(out, &self.drafts, &mut self.new);
        &self.new
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

/// The links of one visit in full, one behind the other, before it is known which of them are new.
struct Drafts {
    bytes: Vec<u8>,
    links: Vec<Draft>,
    /// Of the hashes: nobody outside can choose links that fall upon each other.
    seed: u64,
}

struct Draft {
    hash: u128,
    /// Where it stands in full, and within that its target.
    full: Range<usize>,
    to: Range<usize>,
}

impl Drafts {
    fn new() -> Self {
        let seed = RandomState::new().hash_one(0);
        Self { bytes: Vec::new(), links: Vec::new(), seed }
    }

    fn take<'a>(&mut self, links: impl Iterator<Item = LinkFact<'a>>) {
        self.bytes.clear();
        self.links.clear();
        for link in links {
            let begin = self.bytes.len();
            self.bytes.push(kind_of(link));
            put_text(&mut self.bytes, link.to.as_bytes());
            let end = self.bytes.len();
            for text in [link.text, link.rel].into_iter().filter(|text| !text.is_empty()) {
                put_text(&mut self.bytes, text.as_bytes());
            }
            if link.is_rejected() {
                put_text(&mut self.bytes, link.verdict.as_bytes());
            }
            let full = begin..self.bytes.len();
            let hash = xxh3_128_with_seed(&self.bytes[full.clone()], self.seed);
            self.links.push(Draft { hash, full, to: end - link.to.len()..end });
        }
    }
}

/// The different links of a chapter, by number.
///
/// A link is known by 128 bits of a hash that nobody outside can foresee: looking at its bytes once more would be
/// waiting for memory, for each link of each page, and two that are the same are not to be expected in any crawl.
#[derive(Default)]
struct Links {
    numbers: HashMap<u128, u32, IsHash>,
    count: u32,
    /// The target of the last new one.
    last_to: Vec<u8>,
}

impl Links {
    fn clear(&mut self) {
        self.numbers.clear();
        self.count = 0;
        self.last_to.clear();
    }

    /// Writes the links of a visit: for each one 0 and all of it if it is new, else how far its number is
    /// from the one expected, which is the one behind the last.
    ///
    /// All are looked up before the first is written: the table is larger than the caches, and what lies
    /// in many places of it is waited for at once.
    fn put_all(&mut self, out: &mut Vec<u8>, drafts: &Drafts, new: &mut Vec<u32>) {
        let look_up = |draft: &Draft| self.numbers.get(&draft.hash).copied();
        let known: Vec<Option<u32>> = drafts.links.iter().map(look_up).collect();
        let mut expected = 0;
        for ((draft, known), nth) in drafts.links.iter().zip(known).zip(0..) {
            let number = match known.or_else(|| self.numbers.get(&draft.hash).copied()) {
                Some(number) => {
                    put_number(out, fold(i64::from(number) - i64::from(expected)) + 1);
                    number
                }
                None => {
                    new.push(nth);
                    put_number(out, 0);
                    self.put_new(out, draft, &drafts.bytes)
                }
            };
            expected = number + 1;
        }
    }

    fn put_new(&mut self, out: &mut Vec<u8>, draft: &Draft, drafts: &[u8]) -> u32 {
        let (number, Draft { hash, full, to }) = (self.count, draft);
        out.push(drafts[full.start]);
        put_after(out, &self.last_to, &drafts[to.clone()]);
        out.extend_from_slice(&drafts[to.end..full.end]);
        self.last_to.clear();
        self.last_to.extend_from_slice(&drafts[to.clone()]);
        self.numbers.insert(*hash, number);
        self.count += 1;
        number
    }
}

/// For keys that are hashes already.
#[derive(Default)]
struct IsHash;

impl BuildHasher for IsHash {
    type Hasher = Hashed;

    fn build_hasher(&self) -> Hashed {
        Hashed(0)
    }
}

struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are of 128 bits");
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

const _: () = assert!(Via::ALL.len() <= super::VIA as usize + 1, "a way fits in its bits");
