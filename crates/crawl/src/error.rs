//! What our own machine did wrong. The web being bad is never an error.

use std::io;
use std::path::{Path, PathBuf};

/// A reason to stop the crawl: disk, damage or settings. Nothing that a server does gives one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory of ours could not be read, written or synced.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of ours holds something that we did not write.
    #[error("{}: damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// Which one.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// The key-value store failed.
    #[error("{}: {what}", path.display())]
    Store {
        /// Its directory.
        path: PathBuf,
        /// What it said.
        what: String,
    },
    /// A plan that cannot be carried out.
    #[error("{0}")]
    Plan(String),
    /// A crawl directory that is not ours to use: not a crawl, in use, or of a newer format.
    #[error("{0}")]
    Directory(String),
    /// A part of the crawl stopped working; the message says which.
    #[error("{0}")]
    Stopped(String),
}

impl Error {
    /// An I/O error with the path it happened at.
    pub fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io { path, source }
    }

    /// Whether it failed since nothing may be written there.
    pub fn is_read_only(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        let may_not =
            |source: &io::Error| matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem);
        matches!(self, Self::Io { source, .. } if may_not(source))
    }

    /// Whether the disk is full or a quota is reached: the one failure that a user can mend.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge
            ),
            Self::Store { what, .. } => what.contains("No space left"),
            _ => false,
        }
    }
}

/// Result of everything that can fail on our side.
pub type Result<T, E = Error> = std::result::Result<T, E>;
