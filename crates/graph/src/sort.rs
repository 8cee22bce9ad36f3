//! Sorting more than fits into memory: sorted runs go to disk and are merged.
//!
//! What fits stays in memory and touches no disk. Run files are removed when they are read to their end
//! or dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::bytes::{Cursor, put_number};
use crate::{Error, Result};

/// Something that can be sorted on disk.
pub trait Item: Ord + Sized {
    /// Adds it to bytes.
    fn put(&self, out: &mut Vec<u8>);

    /// What [`Item::put`] wrote.
    fn take(cursor: &mut Cursor<'_>) -> Option<Self>;

    /// About what it takes in memory beyond its own size.
    fn extra_bytes(&self) -> usize {
        0
    }
}

impl Item for (u64, u32, u64) {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
        out.extend_from_slice(&self.1.to_le_bytes());
        out.extend_from_slice(&self.2.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<Self> {
        let first = u64::from_le_bytes(*cursor.take(8)?.first_chunk()?);
        let second = u32::from_le_bytes(*cursor.take(4)?.first_chunk()?);
        Some((first, second, u64::from_le_bytes(*cursor.take(8)?.first_chunk()?)))
    }
}

impl Item for (u64, u32) {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
        out.extend_from_slice(&self.1.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<Self> {
        let first = u64::from_le_bytes(*cursor.take(8)?.first_chunk()?);
        Some((first, u32::from_le_bytes(*cursor.take(4)?.first_chunk()?)))
    }
}

/// Takes items in any order.
pub struct Sorter<T> {
    /// Run files are this path and a number.
    runs_at: PathBuf,
    runs: Vec<PathBuf>,
    held: Vec<T>,
    held_bytes: usize,
    bytes_max: usize,
}

impl<T: Item> Sorter<T> {
    /// A sorter that holds so many bytes, and puts more into files beside `runs_at`.
    pub fn new(runs_at: impl Into<PathBuf>, bytes_max: u64) -> Self {
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        Self {
            runs_at: runs_at.into(),
            runs: Vec::new(),
            held: Vec::new(),
            held_bytes: 0,
            bytes_max,
        }
    }

    /// Adds one.
    pub fn push(&mut self, item: T) -> Result<()> {
        self.held_bytes += size_of::<T>() + item.extra_bytes();
        self.held.push(item);
        if self.held_bytes >= self.bytes_max { self.spill() } else { Ok(()) }
    }

    /// All of them in order.
    pub fn finish(mut self) -> Result<Sorted<T>> {
        if self.runs.is_empty() {
            self.held.sort_unstable();
            let held = std::mem::take(&mut self.held);
            return Ok(Sorted {
                heads: BinaryHeap::new(),
                runs: Vec::new(),
                held: held.into_iter(),
            });
        }
        self.spill()?;
        self.held = Vec::new();
        let runs = std::mem::take(&mut self.runs);
        let mut sorted =
            Sorted { heads: BinaryHeap::new(), runs: Vec::new(), held: Vec::new().into_iter() };
        for path in runs {
            sorted.runs.push(Run::open(path)?);
            sorted.refill(sorted.runs.len() - 1)?;
        }
        Ok(sorted)
    }

    fn spill(&mut self) -> Result<()> {
        self.held.sort_unstable();
        let mut path = self.runs_at.clone().into_os_string();
        path.push(format!(".{}", self.runs.len()));
        let path = PathBuf::from(path);
        write_run(&path, self.held.drain(..)).map_err(Error::io(&path))?;
        self.runs.push(path);
        self.held_bytes = 0;
        Ok(())
    }
}

impl<T> Drop for Sorter<T> {
    fn drop(&mut self) {
        // What cannot be removed is in a directory that will be.
        self.runs.iter().for_each(|path| drop(fs::remove_file(path)));
    }
}

fn write_run<T: Item>(path: &Path, items: impl Iterator<Item = T>) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, File::create(path)?);
    let (mut bytes, mut length) = (Vec::new(), Vec::new());
    for item in items {
        bytes.clear();
        length.clear();
        item.put(&mut bytes);
        put_number(&mut length, bytes.len() as u64);
        out.write_all(&length)?;
        out.write_all(&bytes)?;
    }
    out.flush()
}

/// Items in order.
pub struct Sorted<T> {
    /// The first item of each run.
    heads: BinaryHeap<Reverse<(T, usize)>>,
    runs: Vec<Run>,
    held: std::vec::IntoIter<T>,
}

impl<T: Item> Sorted<T> {
    /// The next one; `None` behind the last.
    pub fn next(&mut self) -> Result<Option<T>> {
        let Some(Reverse((item, run))) = self.heads.pop() else { return Ok(self.held.next()) };
        self.refill(run)?;
        Ok(Some(item))
    }

    fn refill(&mut self, run: usize) -> Result<()> {
        if let Some(item) = self.runs[run].next()? {
            self.heads.push(Reverse((item, run)));
        }
        Ok(())
    }
}

struct Run {
    path: PathBuf,
    file: BufReader<File>,
    bytes: Vec<u8>,
}

impl Run {
    fn open(path: PathBuf) -> Result<Self> {
        let file = File::open(&path).map_err(Error::io(&path))?;
        Ok(Self { path, file: BufReader::with_capacity(1 << 16, file), bytes: Vec::new() })
    }

    fn next<T: Item>(&mut self) -> Result<Option<T>> {
        let Some(length) = self.length()? else { return Ok(None) };
        self.bytes.resize(length, 0);
        self.file.read_exact(&mut self.bytes).map_err(Error::io(&self.path))?;
        let item = T::take(&mut Cursor(&self.bytes));
        item.map(Some).ok_or_else(|| Error::damaged(&self.path, 0, "an item that was not written"))
    }

    fn length(&mut self) -> Result<Option<usize>> {
        let (mut length, mut shift, mut byte) = (0, 0, [0]);
        loop {
            if self.file.read(&mut byte).map_err(Error::io(&self.path))? == 0 {
                return Ok(None);
            }
            length |= usize::from(byte[0] & 0x7f) << shift;
            shift += 7;
            if byte[0] < 0x80 || shift > 28 {
                return Ok(Some(length));
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_out_in_order_from_memory_and_from_runs() {
        let dir = tempfile::tempdir().unwrap();
        let items: Vec<(u64, u32)> = (0..1_000).map(|n| (n * 7_919 % 1_009, n as u32)).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        for bytes_max in [1 << 20, 3_000, 16] {
            let mut sorter = Sorter::new(dir.path().join("run"), bytes_max);
            items.iter().for_each(|&item| sorter.push(item).unwrap());
            let mut sorted = sorter.finish().unwrap();
            let found: Vec<_> = std::iter::from_fn(|| sorted.next().unwrap()).collect();
            assert_eq!(found, expected, "{bytes_max} bytes");
            drop(sorted);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "runs are removed");
        }
    }
}
