//! A run: a file of many simhashes, written once, in four tables of which each is sorted by another block.
//!
//! An entry of a table lies in the bucket of its block; a directory at the end of the file says where each
//! bucket ends and what its checksum is. Memory keeps the directory, 2 MiB of it, so that a look-up costs
//! one read of a table, and what was read is checked every time. The first table has the pages, too; the
//! others lead to it. The bytes are in `docs/formats.md`.

use larm_core::near::{BITS_MAX, Simhash};
use larm_core::url::Fingerprint;

use super::{BLOCKS, CROWD_MAX, Entry, PageKey, TABLES, block_of};
use crate::disk::DiskFile;
use crate::frontier::numbered::numbered_files;
use crate::{Error, Result};

const MAGIC: [u8; 8] = *b"larmnear";
const VERSION: u32 = 1;
/// Bytes of a simhash without the block of its bucket.
const REST_BYTES: usize = 6;
/// Bytes of an entry in each table.
pub(super) const WIDTHS: [usize; TABLES] = [REST_BYTES + 10, REST_BYTES, REST_BYTES, REST_BYTES];
const DIRECTORY_BYTES: usize = TABLES * BLOCKS * 8;
const FOOTER_BYTES: usize = 24;
/// Bytes written at a time.
const WRITE_BYTES: usize = 1 << 18;

numbered_files! {
    /// The name of a run in the folder of the index; never given twice while the state may know it.
    RunName, "near"
}

/// A run that can be asked.
#[derive(Debug)]
pub(super) struct Run {
    name: RunName,
    file: Box<dyn DiskFile>,
    directory: Directory,
}

impl Run {
    /// Opens a run. Its buckets are checked when they are read.
    pub(super) fn open(name: RunName, file: Box<dyn DiskFile>) -> Result<Self> {
        let directory = Directory::read(&*file)?;
        Ok(Self { name, file, directory })
    }

    pub(super) fn name(&self) -> RunName {
        self.name
    }

    /// Entries of the first table.
    pub(super) fn count(&self) -> u64 {
        u64::from(self.directory.count(0))
    }

    /// Adds to `found` all that are near, each once.
    pub(super) fn find(&self, simhash: Simhash, found: &mut Vec<Entry>) -> Result<()> {
        let mut bytes = Vec::new();
        let mut elsewhere = Vec::new();
        for (table, width) in WIDTHS.into_iter().enumerate() {
            let block = block_of(simhash.0, table);
            self.read(table, block, &mut bytes)?;
            for record in bytes.chunks_exact(width) {
                let near = simhash_in(record, table, block);
                if (near ^ simhash.0).count_ones() > BITS_MAX {
                    continue;
                }
                // One that agrees in the first block, too, was in the first table.
                match table {
                    0 => found.extend(page_in(record).map(|page| Entry { simhash: near, page })),
                    _ if block_of(near, 0) != block_of(simhash.0, 0) => elsewhere.push(near),
                    _ => {}
                }
            }
        }
        elsewhere.sort_unstable();
        elsewhere.dedup();
        elsewhere.into_iter().try_for_each(|near| self.find_page(near, &mut bytes, found))
    }

    /// Adds to `found` the pages of a simhash, from the first table.
    fn find_page(&self, simhash: u64, bytes: &mut Vec<u8>, found: &mut Vec<Entry>) -> Result<()> {
        let block = block_of(simhash, 0);
        self.read(0, block, bytes)?;
        let records = bytes.chunks_exact(WIDTHS[0]);
        let same = records.filter(|record| simhash_in(record, 0, block) == simhash);
        found.extend(same.filter_map(page_in).map(|page| Entry { simhash, page }));
        Ok(())
    }

    /// Reads and checks one bucket.
    pub(super) fn read(&self, table: usize, block: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let (from, to) = self.directory.bucket(table, block);
        let width = WIDTHS[table] as u64;
        bytes.resize((u64::from(to - from) * width) as usize, 0);
        if bytes.is_empty() {
            return Ok(());
        }
        let offset = self.directory.table_start(table) + u64::from(from) * width;
        self.file.read_at(offset, bytes)?;
        if crc32c::crc32c(bytes) != self.directory.checksums[table][block] {
            return Err(damaged(&*self.file, offset, "the checksum of a bucket is wrong"));
        }
        Ok(())
    }
}

/// A run being written: bucket by bucket, table by table.
#[derive(Debug)]
pub(super) struct RunWriter {
    name: RunName,
    file: Box<dyn DiskFile>,
    directory: Directory,
    unwritten: Vec<u8>,
}

impl RunWriter {
    /// Begins a run in an empty file.
    pub(super) fn begin(name: RunName, file: Box<dyn DiskFile>) -> Self {
        let unwritten = Vec::with_capacity(WRITE_BYTES);
        Self { name, file, directory: Directory::default(), unwritten }
    }

    pub(super) fn name(&self) -> RunName {
        self.name
    }

    /// Writes all tables of some entries.
    pub(super) fn push_all(&mut self, entries: &[Entry]) -> Result<()> {
        for table in 0..TABLES {
            let mut sorted: Vec<&Entry> = entries.iter().collect();
            let block = |entry: &Entry| block_of(entry.simhash, table);
            sorted.sort_unstable_by_key(|entry| (key(entry.simhash, table), entry.page));
            for bucket in sorted.chunk_by(|one, other| block(one) == block(other)) {
                self.push(table, block(bucket[0]), &mut records(bucket, table))?;
            }
        }
        Ok(())
    }

    /// Adds a bucket of a table, as records in any order; what is there twice is dropped, and so is what
    /// is too much for one bucket. Buckets come in their order, and those left out are empty.
    pub(super) fn push(&mut self, table: usize, block: usize, bucket: &mut Vec<u8>) -> Result<()> {
        tidy(bucket, WIDTHS[table]);
        self.directory.push(table, block, bucket);
        self.unwritten.extend_from_slice(bucket);
        if self.unwritten.len() >= WRITE_BYTES { self.write() } else { Ok(()) }
    }

    /// Makes the buckets so far durable, so that finishing a large run does not take long.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.write()?;
        self.file.sync()
    }

    /// Ends the run and makes it durable; its name is durable only with its folder.
    pub(super) fn finish(mut self) -> Result<Run> {
        (0..TABLES).for_each(|table| self.directory.pass(table, BLOCKS));
        self.unwritten.extend_from_slice(&self.directory.to_bytes());
        self.sync()?;
        Ok(Run { name: self.name, file: self.file, directory: self.directory })
    }

    fn write(&mut self) -> Result<()> {
        self.file.append(&self.unwritten)?;
        self.unwritten.clear();
        Ok(())
    }
}

/// For each table and bucket, the number of entries up to its end, and its checksum.
#[derive(Debug, Default)]
struct Directory {
    ends: [Vec<u32>; TABLES],
    checksums: [Vec<u32>; TABLES],
}

impl Directory {
    fn count(&self, table: usize) -> u32 {
        self.ends[table].last().copied().unwrap_or_default()
    }

    fn bucket(&self, table: usize, block: usize) -> (u32, u32) {
        let ends = &self.ends[table];
        (block.checked_sub(1).map_or(0, |before| ends[before]), ends[block])
    }

    fn table_start(&self, table: usize) -> u64 {
        (0..table).map(|table| u64::from(self.count(table)) * WIDTHS[table] as u64).sum()
    }

    fn push(&mut self, table: usize, block: usize, bucket: &[u8]) {
        self.pass(table, block);
        let entries = u32::try_from(bucket.len() / WIDTHS[table]).expect("NEAR: CROWD_MAX");
        let end = self.count(table).checked_add(entries).expect("NEAR: a run of four billion");
        self.ends[table].push(end);
        self.checksums[table].push(crc32c::crc32c(bucket));
    }

    /// Leaves all buckets before one empty that nothing was put into.
    fn pass(&mut self, table: usize, block: usize) {
        let count = self.count(table);
        assert!(self.ends[table].len() <= block, "NEAR-2: buckets come in their order");
        self.ends[table].resize(block, count);
        self.checksums[table].resize(block, crc32c::crc32c(&[]));
    }

    /// Directory and footer, as they stand at the end of the file.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(DIRECTORY_BYTES + FOOTER_BYTES);
        for (ends, checksums) in self.ends.iter().zip(&self.checksums) {
            assert_eq!(ends.len(), BLOCKS, "NEAR-2: a run has all of its buckets");
            for (end, checksum) in ends.iter().zip(checksums) {
                bytes.extend_from_slice(&end.to_le_bytes());
                bytes.extend_from_slice(&checksum.to_le_bytes());
            }
        }
        let checksum = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(&self.table_start(TABLES).to_le_bytes());
        bytes
    }

    fn read(file: &dyn DiskFile) -> Result<Self> {
        let end = (DIRECTORY_BYTES + FOOTER_BYTES) as u64;
        let start = file.size().checked_sub(end);
        let start = start.ok_or_else(|| damaged(file, 0, "too short for a run"))?;
        let mut bytes = vec![0; DIRECTORY_BYTES + FOOTER_BYTES];
        file.read_at(start, &mut bytes)?;
        let (directory, footer) = bytes.split_at(DIRECTORY_BYTES);
        if footer.starts_with(&MAGIC) && u32_at(footer, 8) > VERSION {
            let what = format!("{}: written by a newer larm", file.path().display());
            return Err(Error::Directory(what));
        }
        let read = Self::parse(directory);
        if read.to_bytes() != bytes || read.table_start(TABLES) != start {
            return Err(damaged(file, start, "not the directory of this run"));
        }
        Ok(read)
    }

    fn parse(bytes: &[u8]) -> Self {
        let mut directory = Self::default();
        for (table, bytes) in bytes.chunks_exact(BLOCKS * 8).enumerate() {
            let pairs = bytes.chunks_exact(8).map(|pair| (u32_at(pair, 0), u32_at(pair, 4)));
            (directory.ends[table], directory.checksums[table]) = pairs.unzip();
            // What comes later is never smaller; where it is, the checksum of the footer is wrong.
            let mut highest = 0;
            for end in &mut directory.ends[table] {
                highest = highest.max(*end);
                *end = highest;
            }
        }
        directory
    }
}

/// Sorts records, drops those that are there twice, and what is too much.
fn tidy(bucket: &mut Vec<u8>, width: usize) {
    let mut records: Vec<&[u8]> = bucket.chunks_exact(width).collect();
    if records.is_sorted_by(|one, other| one < other) && records.len() <= CROWD_MAX {
        return;
    }
    records.sort_unstable();
    records.dedup();
    records.truncate(CROWD_MAX);
    *bucket = records.concat();
}

/// A simhash turned so that the block of a table comes first.
fn key(simhash: u64, table: usize) -> u64 {
    simhash.rotate_left(16 * table as u32)
}

fn records(entries: &[&Entry], table: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(entries.len() * WIDTHS[table]);
    for entry in entries {
        bytes.extend_from_slice(&key(entry.simhash, table).to_be_bytes()[8 - REST_BYTES..]);
        if table == 0 {
            bytes.extend_from_slice(&entry.page.to_bytes());
        }
    }
    bytes
}

fn simhash_in(record: &[u8], table: usize, block: usize) -> u64 {
    let rest = record.iter().take(REST_BYTES).fold(0, |rest, byte| rest << 8 | u64::from(*byte));
    ((block as u64) << 48 | rest).rotate_right(16 * table as u32)
}

fn page_in(record: &[u8]) -> Option<PageKey> {
    PageKey::from_bytes(record.get(REST_BYTES..)?)
}

impl PageKey {
    /// Bytes of a page's key on disk.
    pub(super) const BYTES: usize = 10;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..2].copy_from_slice(&self.partition.to_be_bytes());
        bytes[2..].copy_from_slice(&self.fingerprint.0.to_be_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (partition, fingerprint) = bytes.split_first_chunk()?;
        let fingerprint = Fingerprint(u64::from_be_bytes(*fingerprint.first_chunk()?));
        Some(Self { partition: u16::from_be_bytes(*partition), fingerprint })
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes are four bytes"))
}

pub(super) fn damaged(file: &dyn DiskFile, offset: u64, what: &str) -> Error {
    Error::Damaged { path: file.path().to_path_buf(), offset, what: what.to_owned() }
}
