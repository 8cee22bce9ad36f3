//! The directory of an index for those who only search it: on a disk that takes no writing, too.
//!
//! tantivy's readers take a lock, which is a file, so that the files of a commit are not removed while they are
//! opened. Where no file can be made, nobody removes one either, and it goes without. Everything else is as
//! tantivy has it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// A directory that is read.
#[derive(Debug, Clone)]
pub(crate) struct Reading(pub MmapDirectory);

impl Directory for Reading {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.0.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.0.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.0.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.0.acquire_lock(lock) {
            Err(LockError::IoError(error)) if takes_no_writing(&error) => Ok(Box::new(()).into()),
            locked => locked,
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}

fn takes_no_writing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
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
}
