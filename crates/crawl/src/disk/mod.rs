//! The file operations that larm's own state is built on, behind one small seam.
//!
//! There are two disks: [`RealDisk`], and in tests one that runs out of room, fails to sync and
//! loses power at any operation. Whatever promises to survive a crash goes through here, so that
//! the promise can be tested at every operation.
//!
//! Files only grow at the end or are cut there; nothing is overwritten in place. A write is durable
//! after [`DiskFile::sync`], a name (created, renamed, removed) after [`Disk::sync_dir`], and
//! nothing is before that. Every error carries its path. This module never tries anything again:
//! after a failed write or sync, what the file holds is unknown, and its user must give it up.

#[cfg(test)]
pub(crate) mod faulty;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A file system, as far as larm's state needs one.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Makes `dir` and what is missing above it, durably.
    fn create_dir(&self, dir: &Path) -> Result<()>;

    /// Names of the files in `dir`, sorted. Names that are not Unicode are not ours and are left
    /// out.
    fn list(&self, dir: &Path) -> Result<Vec<String>>;

    /// An empty file at `path`, whether or not there was one.
    fn create(&self, path: &Path) -> Result<Box<dyn DiskFile>>;

    /// The file at `path`, which must exist.
    fn open(&self, path: &Path) -> Result<Box<dyn DiskFile>>;

    /// Gives a file a new name, replacing the file that had it.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> Result<()>;

    /// Makes all changes of names in `dir` durable.
    fn sync_dir(&self, dir: &Path) -> Result<()>;
}

/// An open file that is read anywhere and written at its end.
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// Where it is, as it was opened.
    fn path(&self) -> &Path;

    /// Its bytes, those not yet synced included.
    fn size(&self) -> u64;

    /// Fills `buffer` from `offset` on; past the end is an error.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// Writes all of `bytes` at the end. After an error, any part of them may be there.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// Cuts the file to `size` bytes.
    fn truncate(&mut self, size: u64) -> Result<()>;

    /// Makes content and size durable.
    fn sync(&mut self) -> Result<()>;
}

/// The machine's own file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_dir(&self, dir: &Path) -> Result<()> {
        if dir.is_dir() {
            return Ok(());
        }
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            self.create_dir(parent)?;
        }
        fs::create_dir(dir).map_err(Error::io(dir))?;
        self.sync_dir(parent.unwrap_or(Path::new(".")))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir).map_err(Error::io(dir))? {
            let entry = entry.map_err(Error::io(dir))?;
            let is_file = entry.file_type().map_err(Error::io(entry.path()))?.is_file();
            names.extend(entry.file_name().into_string().ok().filter(|_| is_file));
        }
        names.sort_unstable();
        Ok(names)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        RealFile::open(path, options.read(true).write(true).create(true).truncate(true))
    }

    fn open(&self, path: &Path) -> Result<Box<dyn DiskFile>> {
        RealFile::open(path, OpenOptions::new().read(true).write(true))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        fs::rename(from, to).map_err(Error::io(from))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        fs::remove_file(path).map_err(Error::io(path))
    }

    /// Elsewhere than on Unix a directory cannot be opened, and the file system journals names.
    fn sync_dir(&self, dir: &Path) -> Result<()> {
        if cfg!(unix) {
            File::open(dir).and_then(|dir| dir.sync_all()).map_err(Error::io(dir))?;
        }
        Ok(())
    }
}

/// A file of the machine. It has no cursor: offsets are explicit, so that reads need only `&self`.
#[derive(Debug)]
struct RealFile {
    path: PathBuf,
    file: File,
    size: u64,
}

impl RealFile {
    fn open(path: &Path, options: &OpenOptions) -> Result<Box<dyn DiskFile>> {
        let file = options.open(path).map_err(Error::io(path))?;
        let size = file.metadata().map_err(Error::io(path))?.len();
        Ok(Box::new(Self { path: path.to_path_buf(), file, size }))
    }
}

impl DiskFile for RealFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, buffer, offset).map_err(Error::io(&self.path))
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        write_all_at(&self.file, bytes, self.size).map_err(Error::io(&self.path))?;
        self.size += bytes.len() as u64;
        Ok(())
    }

    fn truncate(&mut self, size: u64) -> Result<()> {
        assert!(size <= self.size, "cutting a file never makes it longer");
        self.file.set_len(size).map_err(Error::io(&self.path))?;
        self.size = size;
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(Error::io(&self.path))
    }
}

#[cfg(unix)]
use std::os::unix::fs::FileExt;

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

#[cfg(windows)]
use std::os::windows::fs::FileExt;

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match file.seek_read(buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                buffer = &mut buffer[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
