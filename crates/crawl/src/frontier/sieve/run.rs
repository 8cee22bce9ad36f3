//! A run: a file of fingerprints in order, written once, and what memory keeps of it.
//!
//! The file is the keys, smallest first, in pages of 512, and a footer (`docs/formats.md`). It is
//! written from front to back, so a file without a good footer is not a run. Memory keeps for each
//! leaf, a quarter of a page, its first key and its checksum, so that a look-up costs at most one read
//! of one leaf, and what was read is checked every time. Where there is room for all keys, it keeps
//! these as well, and nothing is read.

use std::ops::Range;
use std::sync::Arc;

use super::filter::Filter;
use crate::disk::DiskFile;
use crate::frontier::numbered::numbered_files;
use crate::{Error, Result};

const MAGIC: [u8; 8] = *b"larm.run";
const VERSION: u32 = 1;
const KEY_BYTES: usize = 8;
const PAGE_KEYS: usize = 512;
const PAGE_BYTES: usize = PAGE_KEYS * KEY_BYTES;
/// What a look-up reads: most of what a read costs is bytes that nobody has looked at for long.
const LEAF_KEYS: usize = PAGE_KEYS / 4;
const LEAF_BYTES: usize = LEAF_KEYS * KEY_BYTES;
const FOOTER_BYTES: usize = 32;
/// Bytes written at a time.
const WRITE_BYTES: usize = 64 * PAGE_BYTES;

numbered_files! {
    /// The name of a run in the sieve's directory; never given twice while the state may know it.
    RunName, "run"
}

/// A fingerprint that is looked for, with its place in the caller's batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted {
    pub(super) key: u64,
    pub(super) place: usize,
}

/// Bytes of memory that a run may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// For its filter.
    pub(super) filter: u64,
    /// For its filter and its keys; if they are more, the keys stay on disk.
    pub(super) all: u64,
}

/// A run that can be asked.
#[derive(Debug)]
pub(super) struct Run {
    leaves: Arc<Leaves>,
    filter: Filter,
    /// All of them, if there is room.
    keys: Option<Vec<u64>>,
}

impl Run {
    /// Opens a run and reads all of it: a filter must be built, and damage is better found now.
    pub(super) fn open(name: RunName, file: Box<dyn DiskFile>, room: Room) -> Result<Self> {
        let (count, checksum) = read_footer(&*file)?;
        let mut index = Index::new(count, room);
        let mut page = vec![0; PAGE_BYTES];
        for offset in (0..count * KEY_BYTES as u64).step_by(PAGE_BYTES) {
            page.truncate((count * KEY_BYTES as u64 - offset).min(PAGE_BYTES as u64) as usize);
            file.read_at(offset, &mut page)?;
            index.add(&page).map_err(|what| damaged(&*file, offset, what))?;
        }
        if index.checksum != checksum {
            return Err(damaged(&*file, 0, "the checksum of the keys is wrong"));
        }
        Ok(index.into_run(name, file))
    }

    pub(super) fn name(&self) -> RunName {
        self.leaves.name
    }

    pub(super) fn count(&self) -> u64 {
        self.leaves.keys
    }

    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    pub(super) fn halve_filter(&mut self) {
        self.filter.halve();
    }

    /// Whether its keys are in memory.
    pub(super) fn is_in_memory(&self) -> bool {
        self.keys.is_some()
    }

    /// Lets go of its keys, which are on disk as well.
    pub(super) fn drop_keys(&mut self) {
        self.keys = None;
    }

    /// What its filter and its keys take.
    pub(super) fn memory_bytes(&self) -> u64 {
        let keys = self.keys.as_ref().map_or(0, |keys| keys.len() * KEY_BYTES);
        self.filter.bytes() + keys as u64
    }

    /// The keys, to be read in order, also while the run is in use.
    pub(super) fn leaves(&self) -> Arc<Leaves> {
        Arc::clone(&self.leaves)
    }

    /// Leaves of `wanted`, which is sorted, only what this run does not hold.
    pub(super) fn drop_known(&self, wanted: &mut Vec<Wanted>) -> Result<()> {
        let mut bytes = Vec::new();
        let mut loaded = None;
        let mut kept = 0;
        for at in 0..wanted.len() {
            if !self.holds(wanted[at].key, &mut loaded, &mut bytes)? {
                wanted[kept] = wanted[at];
                kept += 1;
            }
        }
        wanted.truncate(kept);
        Ok(())
    }

    /// `loaded` is the leaf that `bytes` holds: neighbours in a batch share a read.
    fn holds(&self, key: u64, loaded: &mut Option<usize>, bytes: &mut Vec<u8>) -> Result<bool> {
        if !self.filter.may_hold(key) {
            return Ok(false);
        }
        let Some(leaf) = self.leaves.leaf_of(key) else {
            return Ok(false);
        };
        if let Some(keys) = &self.keys {
            let start = leaf * LEAF_KEYS;
            let end = (start + LEAF_KEYS).min(keys.len());
            return Ok(keys[start..end].binary_search(&key).is_ok());
        }
        if *loaded != Some(leaf) {
            *loaded = None;
            self.leaves.read(leaf..leaf + 1, bytes)?;
            *loaded = Some(leaf);
        }
        Ok(leaf_holds(bytes, key))
    }
}

/// The keys of a run on disk, by leaf.
#[derive(Debug)]
pub(super) struct Leaves {
    name: RunName,
    file: Box<dyn DiskFile>,
    keys: u64,
    /// The first key of each leaf.
    fences: Vec<u64>,
    checksums: Vec<u32>,
}

impl Leaves {
    pub(super) fn count(&self) -> usize {
        self.fences.len()
    }

    /// Reads and checks some leaves that follow each other.
    pub(super) fn read(&self, leaves: Range<usize>, bytes: &mut Vec<u8>) -> Result<()> {
        let start = (leaves.start * LEAF_BYTES) as u64;
        let end = ((leaves.end * LEAF_BYTES) as u64).min(self.keys * KEY_BYTES as u64);
        bytes.resize((end - start) as usize, 0);
        self.file.read_at(start, bytes)?;
        for (leaf, checksum) in bytes.chunks(LEAF_BYTES).zip(&self.checksums[leaves]) {
            if crc32c::crc32c(leaf) != *checksum {
                return Err(damaged(&*self.file, start, "a checksum of these keys is wrong"));
            }
        }
        Ok(())
    }

    /// The one leaf that can hold `key`.
    ///
    /// Fingerprints are evenly spread, so a leaf's number can be guessed and is searched for from
    /// there.
    fn leaf_of(&self, key: u64) -> Option<usize> {
        let (fences, leaves) = (&self.fences, self.fences.len());
        let guess = ((u128::from(key) * leaves as u128) >> 64) as usize;
        let mut reach = 16;
        loop {
            let (low, high) = (guess.saturating_sub(reach), (guess + reach).min(leaves));
            let is_above = low == 0 || fences[low - 1] <= key;
            let is_below = high == leaves || key < fences[high];
            if is_above && is_below {
                let within = fences[low..high].partition_point(|&fence| fence <= key);
                return (low + within).checked_sub(1);
            }
            reach *= 4;
        }
    }
}

/// A run being written, its keys in rising order.
#[derive(Debug)]
pub(super) struct RunWriter {
    name: RunName,
    file: Box<dyn DiskFile>,
    index: Index,
    page: Vec<u8>,
    unwritten: Vec<u8>,
}

impl RunWriter {
    /// Begins a run of `count` keys in an empty file.
    pub(super) fn begin(name: RunName, file: Box<dyn DiskFile>, count: u64, room: Room) -> Self {
        let index = Index::new(count, room);
        let page = Vec::with_capacity(PAGE_BYTES);
        let unwritten = Vec::with_capacity(WRITE_BYTES);
        Self { name, file, index, page, unwritten }
    }

    pub(super) fn name(&self) -> RunName {
        self.name
    }

    /// Keys that it will hold.
    pub(super) fn count(&self) -> u64 {
        self.index.count
    }

    /// Adds a key, which is larger than all before it.
    pub(super) fn push(&mut self, key: u64) -> Result<()> {
        self.page.extend_from_slice(&key.to_le_bytes());
        if self.page.len() == PAGE_BYTES { self.end_page() } else { Ok(()) }
    }

    /// Makes the pages so far durable, so that finishing a large run does not take long.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.write()?;
        self.file.sync()
    }

    /// Ends the run and makes it durable; its name is durable only with its directory.
    pub(super) fn finish(mut self) -> Result<Run> {
        self.end_page()?;
        assert_eq!(self.index.added, self.index.count, "a run gets as many keys as announced");
        let footer = footer(self.index.count, self.index.checksum);
        self.unwritten.extend_from_slice(&footer);
        self.sync()?;
        Ok(self.index.into_run(self.name, self.file))
    }

    fn end_page(&mut self) -> Result<()> {
        if !self.page.is_empty() {
            self.index.add(&self.page).expect("SIEVE-2: runs are sorted and share no key");
        }
        self.unwritten.append(&mut self.page);
        if self.unwritten.len() >= WRITE_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        self.file.append(&self.unwritten)?;
        self.unwritten.clear();
        Ok(())
    }
}

/// What memory keeps of a run, built page by page as it is written or read.
#[derive(Debug)]
struct Index {
    count: u64,
    added: u64,
    last: Option<u64>,
    fences: Vec<u64>,
    checksums: Vec<u32>,
    /// Of the checksums of all pages so far.
    checksum: u32,
    filter: Filter,
    /// All of them, if there is room.
    keys: Option<Vec<u64>>,
}

impl Index {
    fn new(count: u64, room: Room) -> Self {
        let filter = Filter::new(count, room.filter);
        let fit = filter.bytes().saturating_add(count.saturating_mul(KEY_BYTES as u64)) <= room.all;
        let keys = fit.then(|| Vec::with_capacity(count as usize));
        let leaves = count.div_ceil(LEAF_KEYS as u64) as usize;
        let (fences, checksums) = (Vec::with_capacity(leaves), Vec::with_capacity(leaves));
        Self { count, added: 0, last: None, fences, checksums, checksum: 0, filter, keys }
    }

    /// Takes one page, which is not empty; the error says what is wrong with it.
    fn add(&mut self, page: &[u8]) -> Result<(), &'static str> {
        for key in keys(page) {
            if self.last >= Some(key) {
                return Err("keys are not in order");
            }
            self.last = Some(key);
            self.filter.insert(key);
            self.added += 1;
        }
        if let Some(all) = &mut self.keys {
            all.extend(keys(page));
        }
        for leaf in page.chunks(LEAF_BYTES) {
            self.fences.extend(keys(leaf).next());
            self.checksums.push(crc32c::crc32c(leaf));
        }
        let page_checksum = crc32c::crc32c(page).to_le_bytes();
        self.checksum = crc32c::crc32c_append(self.checksum, &page_checksum);
        Ok(())
    }

    fn into_run(self, name: RunName, file: Box<dyn DiskFile>) -> Run {
        let Self { count, fences, checksums, filter, keys, .. } = self;
        let leaves = Leaves { name, file, keys: count, fences, checksums };
        Run { leaves: Arc::new(leaves), filter, keys }
    }
}

/// The keys in some bytes of a run.
pub(super) fn keys(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(KEY_BYTES).map(key_in)
}

fn key_in(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("a key has eight bytes"))
}

fn leaf_holds(leaf: &[u8], key: u64) -> bool {
    let (mut low, mut high) = (0, leaf.len() / KEY_BYTES);
    while low < high {
        let middle = (low + high) / 2;
        match key_in(&leaf[middle * KEY_BYTES..][..KEY_BYTES]).cmp(&key) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return true,
        }
    }
    false
}

fn footer(count: u64, checksum: u32) -> [u8; FOOTER_BYTES] {
    let mut bytes = [0; FOOTER_BYTES];
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
    bytes[16..24].copy_from_slice(&count.to_le_bytes());
    let crc = crc32c::crc32c(&bytes[..28]);
    bytes[28..32].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// The number of keys, which agrees with the size of the file, and their checksum.
fn read_footer(file: &dyn DiskFile) -> Result<(u64, u32)> {
    let mut bytes = [0; FOOTER_BYTES];
    let at = file.size().checked_sub(FOOTER_BYTES as u64);
    let at = at.ok_or_else(|| damaged(file, 0, "too short for a run"))?;
    file.read_at(at, &mut bytes)?;
    if bytes[..8] == MAGIC && u32_at(&bytes, 8) > VERSION {
        let what = format!("{}: written by a newer larm", file.path().display());
        return Err(Error::Directory(what));
    }
    let count = at / KEY_BYTES as u64;
    let checksum = u32_at(&bytes, 12);
    if bytes != footer(count, checksum) || !at.is_multiple_of(KEY_BYTES as u64) {
        return Err(damaged(file, at, "not the footer of this run"));
    }
    Ok((count, checksum))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes are four bytes"))
}

fn damaged(file: &dyn DiskFile, offset: u64, what: &str) -> Error {
    Error::Damaged { path: file.path().to_path_buf(), offset, what: what.to_owned() }
}
