//! The nodes of a stored graph: by number, by URL, by fingerprint.
//!
//! `nodes.urls` has the URLs in order of the hosts' domains, then paths, in groups within which each is
//! written as what differs from the one before; `nodes.facts` what is known of each; and
//! `nodes.fingerprints` their numbers, by fingerprint. In memory are the facts and the place of each group.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use larm_core::url::Fingerprint;
use larm_core::via::Via;

use crate::bytes::{Cursor, put_after};
use crate::log::{Ended, Place};
use crate::{Error, Result};

/// URLs of a group.
const GROUP: u32 = 64;
/// Bytes of the facts of a node, and of a line of the table of fingerprints.
const FACTS_BYTES: usize = 20;
const ENTRY_BYTES: u64 = 12;
/// Groups that a look-up holds: some 20 MB.
const GROUPS_HELD_MAX: usize = 4_096;
/// What stands in place of the outcome of a URL that was not visited.
const UNVISITED: u8 = 0xff;

/// What is known of a URL that was visited: of its last visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// What became of it.
    pub ended: Ended,
    /// How it was found.
    pub via: Via,
    /// Hops from a seed, as the crawl counted them.
    pub depth: u32,
    /// Where its links are in the link log.
    pub place: Place,
}

impl Facts {
    /// Whether it is a page that is there, or a redirect; not what a page embeds, nor a sitemap.
    pub fn is_page(&self) -> bool {
        let is_list = matches!(self.via, Via::Embed | Via::SitemapIndex | Via::Robots | Via::Probe);
        self.ended.is_page() && !is_list
    }

    /// What [`facts_bytes`] gave.
    pub(super) fn of_bytes(bytes: &[u8; FACTS_BYTES]) -> Option<Self> {
        facts_of(&mut Cursor(bytes))?
    }
}

/// The nodes of a stored graph.
pub struct Nodes {
    dir: PathBuf,
    facts: Vec<Option<Facts>>,
    /// Where each group of URLs begins.
    groups: Vec<u64>,
}

impl Nodes {
    pub(super) fn open(dir: &Path, nodes: u32) -> Result<Self> {
        let facts = read_facts(&dir.join("nodes.facts"), nodes)?;
        let groups = read_groups(&dir.join("nodes.groups"), nodes)?;
        Ok(Self { dir: dir.to_path_buf(), facts, groups })
    }

    /// What is known of each node; `None` for one that was not visited.
    pub fn facts(&self) -> &[Option<Facts>] {
        &self.facts
    }

    /// The URL of a node.
    pub fn url(&self, node: u32) -> Result<String> {
        let mut urls = self.urls_from(node / GROUP * GROUP)?;
        for _ in 0..node % GROUP {
            urls.next()?;
        }
        Ok(urls.next()?.to_owned())
    }

    /// All URLs in the order of the nodes.
    pub fn urls(&self) -> Result<UrlReader> {
        self.urls_from(0)
    }

    fn group(&self, group: u32) -> Result<Vec<String>> {
        let first = group * GROUP;
        let count = (self.facts.len() as u32).saturating_sub(first).min(GROUP);
        let mut urls = self.urls_from(first)?;
        (0..count).map(|_| urls.next().map(str::to_owned)).collect()
    }

    fn urls_from(&self, node: u32) -> Result<UrlReader> {
        let path = self.dir.join("nodes.urls");
        let mut file = File::open(&path).map_err(Error::io(&path))?;
        let begin = self.groups.get((node / GROUP) as usize).copied().unwrap_or(u64::MAX >> 1);
        file.seek(SeekFrom::Start(begin)).map_err(Error::io(&path))?;
        let nodes = self.facts.len() as u32;
        let file = BufReader::new(file);
        Ok(UrlReader { path, file, node, nodes, last: Vec::new(), text: String::new() })
    }

    /// URLs in any order, for those who need many.
    pub fn lookup(&self) -> UrlLookup<'_> {
        UrlLookup { nodes: self, groups: HashMap::new() }
    }

    /// The number of a URL's node.
    pub fn find(&self, fingerprint: Fingerprint) -> Result<Option<u32>> {
        let path = self.dir.join("nodes.fingerprints");
        let mut file = File::open(&path).map_err(Error::io(&path))?;
        let (mut low, mut high) = (0, self.facts.len() as u64);
        while low < high {
            let middle = low + (high - low) / 2;
            let (found, node) = read_entry(&mut file, middle).map_err(Error::io(&path))?;
            match found.cmp(&fingerprint.0) {
                std::cmp::Ordering::Equal => return Ok(Some(node)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// Fingerprints and numbers of all nodes, by rising fingerprint.
    pub(super) fn fingerprints(&self) -> Result<Fingerprints> {
        Fingerprints::open(&self.dir)
    }
}

fn read_entry(file: &mut File, index: u64) -> std::io::Result<(u64, u32)> {
    let mut entry = [0; ENTRY_BYTES as usize];
    file.seek(SeekFrom::Start(index * ENTRY_BYTES))?;
    file.read_exact(&mut entry)?;
    Ok(split_entry(&entry))
}

fn split_entry(entry: &[u8; ENTRY_BYTES as usize]) -> (u64, u32) {
    let (fingerprint, node) = entry.split_first_chunk().expect("eight bytes of twelve");
    let node = node.first_chunk().expect("four bytes of four");
    (u64::from_le_bytes(*fingerprint), u32::from_le_bytes(*node))
}

fn read_facts(path: &Path, nodes: u32) -> Result<Vec<Option<Facts>>> {
    let mut file = BufReader::new(File::open(path).map_err(Error::io(path))?);
    let mut facts = Vec::new();
    let mut bytes = [0; FACTS_BYTES];
    for node in 0..nodes {
        file.read_exact(&mut bytes).map_err(Error::io(path))?;
        let read = facts_of(&mut Cursor(&bytes));
        let at = u64::from(node) * FACTS_BYTES as u64;
        facts.push(read.ok_or_else(|| Error::damaged(path, at, "facts that cannot be"))?);
    }
    Ok(facts)
}

fn facts_of(cursor: &mut Cursor<'_>) -> Option<Option<Facts>> {
    let (code, via) = (cursor.byte()?, cursor.byte()?);
    if code == UNVISITED {
        return Some(None);
    }
    let status = u16::from_le_bytes(*cursor.take(2)?.first_chunk()?);
    let depth = u32::from_le_bytes(*cursor.take(4)?.first_chunk()?);
    let chapter = u64::from_le_bytes(*cursor.take(8)?.first_chunk()?);
    let index = u32::from_le_bytes(*cursor.take(4)?.first_chunk()?);
    Some(Some(Facts {
        ended: Ended::from_code(code, status)?,
        via: *Via::ALL.get(usize::from(via))?,
        depth,
        place: Place { chapter, index },
    }))
}

/// The bytes of what is known of a node.
pub(super) fn facts_bytes(facts: Option<&Facts>) -> [u8; FACTS_BYTES] {
    let mut bytes = [0; FACTS_BYTES];
    let Some(facts) = facts else {
        bytes[0] = UNVISITED;
        return bytes;
    };
    let (code, status) = facts.ended.to_code();
    bytes[0] = code;
    bytes[1] = facts.via as u8;
    bytes[2..4].copy_from_slice(&status.to_le_bytes());
    bytes[4..8].copy_from_slice(&facts.depth.to_le_bytes());
    bytes[8..16].copy_from_slice(&facts.place.chapter.to_le_bytes());
    bytes[16..20].copy_from_slice(&facts.place.index.to_le_bytes());
    bytes
}

fn read_groups(path: &Path, nodes: u32) -> Result<Vec<u64>> {
    let bytes = fs::read(path).map_err(Error::io(path))?;
    let groups: Vec<u64> =
        bytes.as_chunks::<8>().0.iter().map(|place| u64::from_le_bytes(*place)).collect();
    match groups.len() == nodes.div_ceil(GROUP) as usize {
        true => Ok(groups),
        false => Err(Error::damaged(path, bytes.len() as u64, "groups are missing")),
    }
}

/// URLs one after the other.
pub struct UrlReader {
    path: PathBuf,
    file: BufReader<File>,
    node: u32,
    nodes: u32,
    last: Vec<u8>,
    text: String,
}

impl UrlReader {
    /// The URL of the next node. Behind the last there is none, which is an error.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<&str> {
        if self.node >= self.nodes {
            return Err(Error::damaged(&self.path, 0, format!("there is no node {}", self.node)));
        }
        if self.node.is_multiple_of(GROUP) {
            self.last.clear();
        }
        let read = self.read_url();
        read.map_err(Error::io(&self.path))?;
        self.node += 1;
        self.text.clear();
        let text = std::str::from_utf8(&self.last);
        self.text
            .push_str(text.map_err(|_| Error::damaged(&self.path, 0, "a URL that is no text"))?);
        Ok(&self.text)
    }

    fn read_url(&mut self) -> std::io::Result<()> {
        let shared = self.read_number()?.min(self.last.len());
        let rest = self.read_number()?;
        self.last.truncate(shared);
        let read = self.file.by_ref().take(rest as u64).read_to_end(&mut self.last)?;
        if read == rest { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
    }

    fn read_number(&mut self) -> std::io::Result<usize> {
        let (mut number, mut byte) = (0, [0]);
        for shift in (0..35).step_by(7) {
            self.file.read_exact(&mut byte)?;
            number |= usize::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok(number);
            }
        }
        Err(std::io::ErrorKind::InvalidData.into())
    }
}

/// URLs in any order. Groups of neighbours are kept for a while, since pages lead to neighbours.
pub struct UrlLookup<'a> {
    nodes: &'a Nodes,
    groups: HashMap<u32, Vec<String>>,
}

impl UrlLookup<'_> {
    /// The URL of a node.
    pub fn url(&mut self, node: u32) -> Result<&str> {
        let group = node / GROUP;
        if !self.groups.contains_key(&group) {
            if self.groups.len() >= GROUPS_HELD_MAX {
                self.groups.clear();
            }
            let urls = self.nodes.group(group)?;
            self.groups.insert(group, urls);
        }
        let url = self.groups.get(&group).and_then(|urls| urls.get((node % GROUP) as usize));
        url.map(String::as_str)
            .ok_or_else(|| Error::damaged(&self.nodes.dir, 0, format!("there is no node {node}")))
    }
}

/// Writes URLs and facts of nodes in order.
pub(super) struct NodesWriter {
    urls: BufWriter<File>,
    facts: BufWriter<File>,
    groups: Vec<u8>,
    dir: PathBuf,
    node: u32,
    written: u64,
    last: Vec<u8>,
    room: Vec<u8>,
}

impl NodesWriter {
    pub fn create(dir: &Path) -> Result<Self> {
        let create = |name: &str| {
            let path = dir.join(name);
            File::create(&path).map(BufWriter::new).map_err(Error::io(&path))
        };
        Ok(Self {
            urls: create("nodes.urls")?,
            facts: create("nodes.facts")?,
            groups: Vec::new(),
            dir: dir.to_path_buf(),
            node: 0,
            written: 0,
            last: Vec::new(),
            room: Vec::new(),
        })
    }

    /// Adds the next node, and returns its number.
    pub fn push(&mut self, url: &str, facts: Option<&Facts>) -> Result<u32> {
        if self.node.is_multiple_of(GROUP) {
            self.groups.extend_from_slice(&self.written.to_le_bytes());
            self.last.clear();
        }
        self.room.clear();
        put_after(&mut self.room, &self.last, url.as_bytes());
        self.last.clear();
        self.last.extend_from_slice(url.as_bytes());
        let urls = self.urls.write_all(&self.room);
        urls.and_then(|()| self.facts.write_all(&facts_bytes(facts)))
            .map_err(Error::io(&self.dir))?;
        self.written += self.room.len() as u64;
        self.node += 1;
        Ok(self.node - 1)
    }

    pub fn finish(self) -> Result<u32> {
        let dir = &self.dir;
        for file in [self.urls, self.facts] {
            let file = file.into_inner().map_err(|error| Error::io(dir)(error.into_error()))?;
            file.sync_all().map_err(Error::io(dir))?;
        }
        fs::write(dir.join("nodes.groups"), &self.groups).map_err(Error::io(dir))?;
        Ok(self.node)
    }
}

/// Fingerprints and numbers of all nodes, by rising fingerprint.
pub(super) struct Fingerprints {
    path: PathBuf,
    file: BufReader<File>,
}

impl Fingerprints {
    pub fn open(dir: &Path) -> Result<Self> {
        let path = dir.join("nodes.fingerprints");
        let file = File::open(&path).map_err(Error::io(&path))?;
        Ok(Self { path, file: BufReader::new(file) })
    }

    /// The next one; `None` behind the last.
    pub fn next(&mut self) -> Result<Option<(u64, u32)>> {
        let mut entry = [0; ENTRY_BYTES as usize];
        match self.file.read_exact(&mut entry) {
            Ok(()) => Ok(Some(split_entry(&entry))),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(Error::io(&self.path)(error)),
        }
    }
}

/// Writes the table that [`Fingerprints`] reads.
pub(super) struct FingerprintsWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl FingerprintsWriter {
    pub fn create(dir: &Path) -> Result<Self> {
        let path = dir.join("nodes.fingerprints");
        let file = File::create(&path).map_err(Error::io(&path))?;
        Ok(Self { path, file: BufWriter::new(file) })
    }

    pub fn push(&mut self, fingerprint: u64, node: u32) -> Result<()> {
        let mut entry = [0; ENTRY_BYTES as usize];
        entry[..8].copy_from_slice(&fingerprint.to_le_bytes());
        entry[8..].copy_from_slice(&node.to_le_bytes());
        self.file.write_all(&entry).map_err(Error::io(&self.path))
    }

    pub fn finish(mut self) -> Result<()> {
        self.file.flush().map_err(Error::io(&self.path))
    }
}
