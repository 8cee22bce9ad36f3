//! The directory of an index, for those who search it and for the one who writes it.
//!
//! *To search*: on a disk that takes no writing, too. tantivy's readers take a lock, which is a file, so that the files
//! of a commit are not removed while they are opened. Where no file can be made, nobody removes one either, and it
//! goes without.
//!
//! *To write*: files are read through windows. A merge goes through all of its segments from end to end, and what is mapped
//! counts as memory of the crawl from when it is touched until the merge ends. What is larger than a window is mapped
//! all the same, for as long as it is needed: memory that an allocator gives out and takes back in such pieces stays
//! with it for a while.
//!
//! Everything else is as tantivy has it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::HasLen;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, OwnedBytes, WatchCallback,
    WatchHandle, WritePtr,
};

/// A window begins as small and grows while the file is read forwards.
const WINDOW_BYTES_MIN: usize = 4 * 1024;
/// A merge has one for each file of its segments, sixty at most.
const WINDOW_BYTES_MAX: usize = 64 * 1024;

/// What an index is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Search,
    Write,
}

/// Where an index lies.
#[derive(Debug, Clone)]
pub(crate) struct IndexDirectory {
    files: MmapDirectory,
    path: PathBuf,
    purpose: Purpose,
}

impl IndexDirectory {
    pub fn open(path: &Path, purpose: Purpose) -> Result<Self, OpenDirectoryError> {
        let files = MmapDirectory::open(path)?;
        // As tantivy has it: where a relative path leads to may change.
        let path = path
            .canonicalize()
            .map_err(|error| OpenDirectoryError::wrap_io_error(error, path.to_owned()))?;
        Ok(Self { files, path, purpose })
    }
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        if self.purpose == Purpose::Search {
            return self.files.get_file_handle(path);
        }
        let whole = Whole { files: self.files.clone(), path: path.to_owned() };
        let opened = File::open(self.path.join(path)).and_then(|file| Windowed::new(file, whole));
        match opened {
            Ok(file) => Ok(Arc::new(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(OpenReadError::FileDoesNotExist(path.to_owned()))
            }
            Err(error) => Err(OpenReadError::wrap_io_error(error, path.to_owned())),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.files.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.files.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.files.acquire_lock(lock) {
            Err(LockError::IoError(error))
                if self.purpose == Purpose::Search && takes_no_writing(&error) =>
            {
                Ok(Box::new(()).into())
            }
            locked => locked,
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}

fn takes_no_writing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
}

/// A file that is read piece by piece, of which the last piece is held.
#[derive(Debug)]
struct Windowed {
    len: usize,
    reader: Mutex<Reader>,
    whole: Whole,
}

/// The same file, to be mapped.
#[derive(Debug)]
struct Whole {
    files: MmapDirectory,
    path: PathBuf,
}

impl Whole {
    /// Maps it. The mapping goes with what is read of it.
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let mapped = self.files.get_file_handle(&self.path).map_err(io::Error::other)?;
        if range.end > mapped.len() {
            // It would panic.
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        mapped.read_bytes(range)
    }
}

#[derive(Debug)]
struct Reader {
    file: File,
    /// Where the window begins in the file.
    start: usize,
    window: OwnedBytes,
    /// What the window is part of. Read into again and again: what is allocated anew for each window is given back to the
    /// system later than it is freed, and adds up.
    buffer: Arc<[u8]>,
}

impl Windowed {
    fn new(file: File, whole: Whole) -> io::Result<Self> {
        let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let reader = Reader { file, start: 0, window: OwnedBytes::empty(), buffer: Arc::new([]) };
        Ok(Self { len, reader: Mutex::new(reader), whole })
    }
}

impl HasLen for Windowed {
    fn len(&self) -> usize {
        self.len
    }
}

impl FileHandle for Windowed {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.len {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if range.len() > WINDOW_BYTES_MAX {
            return self.whole.read_bytes(range);
        }
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if !reader.has(&range) {
            let end = range.start + reader.room_at(range.start).max(range.len());
            reader.go_to(range.start..end.min(self.len))?;
        }
        Ok(reader.window.slice(range.start - reader.start..range.end - reader.start))
    }
}

impl Reader {
    fn end(&self) -> usize {
        self.start + self.window.len()
    }

    fn has(&self, range: &Range<usize>) -> bool {
        self.start <= range.start && range.end <= self.end()
    }

    /// How much to read at a place: more each time if the file is read forwards, with small gaps.
    fn room_at(&self, start: usize) -> usize {
        let is_next = self.start <= start && start <= self.end() + self.window.len();
        let room = if is_next { 2 * self.window.len() } else { 0 };
        room.clamp(WINDOW_BYTES_MIN, WINDOW_BYTES_MAX)
    }

    /// Moves the window. If somebody still has bytes of it, they keep the buffer.
    fn go_to(&mut self, range: Range<usize>) -> io::Result<()> {
        self.window = OwnedBytes::empty();
        let mut buffer = mem::replace(&mut self.buffer, Arc::new([]));
        if buffer.len() < range.len() || Arc::get_mut(&mut buffer).is_none() {
            buffer = Arc::from(vec![0; range.len()]);
        }
        if let Some(bytes) = Arc::get_mut(&mut buffer) {
            self.file.seek(SeekFrom::Start(range.start as u64))?;
            self.file.read_exact(&mut bytes[..range.len()])?;
        }
        self.start = range.start;
        self.window = OwnedBytes::new(buffer.clone()).slice(0..range.len());
        self.buffer = buffer;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_disk_that_takes_no_writing_is_read_without_a_lock() {
        use io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem, StorageFull};
        let rows = [
            (ReadOnlyFilesystem, true),
            (PermissionDenied, true),
            (NotFound, false),
            (StorageFull, false),
        ];
        for (kind, expected) in rows {
            assert_eq!(takes_no_writing(&kind.into()), expected, "{kind}");
        }
    }

    /// Every byte of the file tells where it stands.
    fn byte_at(place: usize) -> u8 {
        (place.wrapping_mul(2_654_435_761) >> 13) as u8
    }

    #[test]
    fn whatever_is_asked_for_comes_as_it_is_in_the_file() {
        let temp = tempfile::tempdir().unwrap();
        let len = 3 * WINDOW_BYTES_MAX + 17;
        let bytes: Vec<u8> = (0..len).map(byte_at).collect();
        std::fs::write(temp.path().join("file"), &bytes).unwrap();
        let directory = IndexDirectory::open(temp.path(), Purpose::Write).unwrap();
        let file = directory.get_file_handle(Path::new("file")).unwrap();
        let rows = [
            0..1,
            1..WINDOW_BYTES_MIN,
            WINDOW_BYTES_MIN - 1..WINDOW_BYTES_MIN + 1,
            5..5,
            len - 4..len,
            len..len,
            100..100 + WINDOW_BYTES_MAX,
            0..len,
            2 * WINDOW_BYTES_MAX..2 * WINDOW_BYTES_MAX + 3,
        ];
        let walk = (0..len - 1_000).step_by(1_000).map(|start| start..start + 1_000);
        for range in rows.into_iter().chain(walk) {
            let found = file.read_bytes(range.clone()).unwrap();
            assert!(*found == bytes[range.clone()], "{range:?}");
        }
        // What somebody holds stays as it is when the window moves on.
        let held = file.read_bytes(10..20).unwrap();
        file.read_bytes(len - 10..len).unwrap();
        assert!(*held == bytes[10..20]);
    }

    #[test]
    fn what_is_not_in_a_file_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let len = 2 * WINDOW_BYTES_MAX;
        std::fs::write(temp.path().join("file"), vec![0; len]).unwrap();
        let directory = IndexDirectory::open(temp.path(), Purpose::Write).unwrap();
        let none = directory.get_file_handle(Path::new("none")).unwrap_err();
        assert!(matches!(none, OpenReadError::FileDoesNotExist(_)), "{none}");
        let file = directory.get_file_handle(Path::new("file")).unwrap();
        let beyond = file.read_bytes(len - 2..len + 1).unwrap_err();
        assert_eq!(beyond.kind(), io::ErrorKind::InvalidInput);
        // Cut short behind our back.
        std::fs::write(temp.path().join("file"), [0; 4]).unwrap();
        for range in [2..8, 2..len] {
            let cut_short = file.read_bytes(range.clone()).unwrap_err();
            assert_eq!(cut_short.kind(), io::ErrorKind::UnexpectedEof, "{range:?}");
        }
    }
}
