//! A file of entries of one length that only grows: what is learnt of pages, in the order in which it was learnt.
//!
//! It begins with 16 bytes that say what it is about; a file with another beginning is begun anew. What is
//! left of an entry at the end is cut off. Nothing is synced: after a power cut the last entries may be missing, and who
//! keeps something here can do without.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes that say what a ledger is about.
pub const HEAD_BYTES: u64 = 16;

/// A ledger of entries of `N` bytes.
#[derive(Debug)]
pub struct Ledger<const N: usize> {
    path: PathBuf,
    /// Nothing, once it could not be written to.
    file: Option<File>,
}

impl<const N: usize> Ledger<N> {
    /// Opens it behind its last whole entry, or begins it anew.
    pub fn open(path: &Path, magic: [u8; 8], about: u64) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        let mut head = [0; HEAD_BYTES as usize];
        let is_ours = file.read_exact(&mut head).is_ok() && head == header(magic, about);
        if !is_ours {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(&header(magic, about))?;
        }
        let bytes = file.metadata()?.len();
        file.set_len(bytes - (bytes - HEAD_BYTES) % N as u64)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self { path: path.to_owned(), file: Some(file) })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds an entry. After a failure, which is said once, nothing is added any more.
    pub fn push(&mut self, entry: &[u8; N]) {
        let written = self.file.as_mut().map_or(Ok(()), |file| file.write_all(entry));
        if let Err(error) = written {
            tracing::warn!(%error, path = %self.path.display(), "what is learnt of pages is not kept any more");
            self.file = None;
        }
    }
}

/// The last `entries_max` entries of a ledger, in their order.
pub fn read_last<const N: usize>(
    path: &Path,
    entries_max: u64,
    mut each: impl FnMut(&[u8; N]),
) -> io::Result<()> {
    let mut file = File::open(path)?;
    let entries = file.metadata()?.len().saturating_sub(HEAD_BYTES) / N as u64;
    let passed_over = entries.saturating_sub(entries_max);
    file.seek(SeekFrom::Start(HEAD_BYTES + passed_over * N as u64))?;
    let mut file = BufReader::new(file);
    let mut entry = [0; N];
    for _ in passed_over..entries {
        file.read_exact(&mut entry)?;
        each(&entry);
    }
    Ok(())
}

fn header(magic: [u8; 8], about: u64) -> [u8; HEAD_BYTES as usize] {
    let mut head = [0; HEAD_BYTES as usize];
    head[..8].copy_from_slice(&magic);
    head[8..].copy_from_slice(&about.to_le_bytes());
    head
}
