//! `graph/ranks`: what each page is worth, by fingerprint, for those who order results by it.
//!
//! A table sorted by fingerprint, of which every so-many-th line is in memory: a look-up is one read of a
//! few kilobytes, whatever the size of the crawl.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use larm_core::url::Fingerprint;

use super::nodes::Nodes;
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"larmrank";
const VERSION: u32 = 1;
const HEADER_BYTES: u64 = 32;
const LINE_BYTES: usize = 16;
/// Lines that are read at a time.
const GROUP: usize = 256;

/// What a page is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rank {
    /// Its PageRank among the pages of the crawl, which sum up to 1.
    pub pagerank: f32,
    /// The share of pages that are worth less, from 0 to below 1.
    pub percentile: f32,
}

/// What the pages of a crawl are worth, as of when its graph was made.
pub struct Ranks {
    path: PathBuf,
    file: Mutex<File>,
    lines: usize,
    /// The first fingerprint of each group.
    firsts: Vec<u64>,
}

impl Ranks {
    /// Opens the ranks of a crawl directory; `None` where its graph was not made yet.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        let path = super::path_in(dir).join("ranks");
        let Ok(mut file) = File::open(&path) else { return Ok(None) };
        let mut header = [0; HEADER_BYTES as usize];
        file.read_exact(&mut header).map_err(Error::io(&path))?;
        let lines = lines_of(&header).ok_or_else(|| Error::unfit(&path, "not a table of ranks"))?;
        let mut firsts = Vec::new();
        for group in 0..lines.div_ceil(GROUP) {
            let mut first = [0; 8];
            file.seek(SeekFrom::Start(place_of(group * GROUP)))
                .and_then(|_| file.read_exact(&mut first))
                .map_err(Error::io(&path))?;
            firsts.push(u64::from_le_bytes(first));
        }
        Ok(Some(Self { path, file: Mutex::new(file), lines, firsts }))
    }

    /// How many pages have one.
    pub fn len(&self) -> usize {
        self.lines
    }

    /// Whether no page has one.
    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// PageRank of a page; `None` for what is no page of the graph.
    pub fn of(&self, fingerprint: Fingerprint) -> Result<Option<f32>> {
        Ok(self.rank_of(fingerprint)?.map(|rank| rank.pagerank))
    }

    /// PageRank and percentile of a page.
    pub fn rank_of(&self, fingerprint: Fingerprint) -> Result<Option<Rank>> {
        let behind = self.firsts.partition_point(|&first| first <= fingerprint.0);
        let Some(group) = behind.checked_sub(1) else { return Ok(None) };
        let lines = (self.lines - group * GROUP).min(GROUP);
        let mut bytes = vec![0; lines * LINE_BYTES];
        self.read(place_of(group * GROUP), &mut bytes)?;
        let lines = bytes.as_chunks::<LINE_BYTES>().0;
        let found = lines.binary_search_by_key(&fingerprint.0, |line| split(line).0);
        Ok(found.ok().map(|index| split(&lines[index]).1))
    }

    fn read(&self, place: u64, bytes: &mut [u8]) -> Result<()> {
        // A file that was read half is read anew: a poisoned lock means nothing here.
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(bytes));
        read.map_err(Error::io(&self.path))
    }
}

fn place_of(line: usize) -> u64 {
    HEADER_BYTES + (line * LINE_BYTES) as u64
}

fn split(line: &[u8; LINE_BYTES]) -> (u64, Rank) {
    let word = |at: usize| *line[at..].first_chunk::<4>().expect("a line of sixteen bytes");
    let fingerprint = u64::from_le_bytes(*line.first_chunk().expect("a line of sixteen bytes"));
    let [pagerank, percentile] = [8, 12].map(|at| f32::from_le_bytes(word(at)));
    (fingerprint, Rank { pagerank, percentile })
}

fn header_of(lines: u64) -> [u8; HEADER_BYTES as usize] {
    let mut header = [0; HEADER_BYTES as usize];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[16..24].copy_from_slice(&lines.to_le_bytes());
    let sum = crc32c::crc32c(&header[..28]);
    header[28..].copy_from_slice(&sum.to_le_bytes());
    header
}

/// How many lines a header promises, if it is one.
fn lines_of(header: &[u8; HEADER_BYTES as usize]) -> Option<usize> {
    let lines = u64::from_le_bytes(*header[16..].first_chunk()?);
    (*header == header_of(lines)).then_some(usize::try_from(lines).ok()?)
}

/// Writes the table: `scores` are those of the `stored` nodes.
pub(super) fn write(dir: &Path, nodes: &Nodes, stored: &[u32], scores: &[f64]) -> Result<()> {
    let path = dir.join("ranks");
    let percentiles = percentiles(scores);
    let file = File::create(&path).map_err(Error::io(&path))?;
    let mut out = BufWriter::new(file);
    let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(Error::io(&path));
    put(&header_of(scores.len() as u64))?;
    let mut fingerprints = nodes.fingerprints()?;
    while let Some((fingerprint, node)) = fingerprints.next()? {
        if let Ok(index) = stored.binary_search(&node) {
            put(&fingerprint.to_le_bytes())?;
            put(&(scores[index] as f32).to_le_bytes())?;
            put(&percentiles[index].to_le_bytes())?;
        }
    }
    out.flush().map_err(Error::io(&path))
}

/// For each score the share of scores that are below it.
fn percentiles(scores: &[f64]) -> Vec<f32> {
    let mut order: Vec<u32> = (0..scores.len() as u32).collect();
    let score = |node: &u32| scores[*node as usize];
    order.sort_unstable_by(|a, b| score(a).total_cmp(&score(b)));
    let mut shares = vec![0.0; scores.len()];
    let mut below = 0;
    for equal in order.chunk_by(|a, b| score(a) == score(b)) {
        let share = below as f32 / scores.len() as f32;
        equal.iter().for_each(|&node| shares[node as usize] = share);
        below += equal.len();
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_share_of_what_is_worth_less() {
        assert_eq!(percentiles(&[0.1, 0.5, 0.1, 0.3]), [0.0, 0.75, 0.0, 0.5]);
        assert!(percentiles(&[]).is_empty());
    }
}
