//! What can go wrong with a graph on our own disk, or with one that somebody hands to us.

use std::io;
use std::path::{Path, PathBuf};

/// Why a graph cannot be read, made or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file holds something that cannot be there.
    #[error("{}: damaged at {at}: {what}", path.display())]
    Damaged {
        /// Which one.
        path: PathBuf,
        /// The byte, line or bit.
        at: u64,
        /// What is wrong there.
        what: String,
    },
    /// A file that this version cannot read, or a graph beyond what can be held.
    #[error("{}: {what}", path.display())]
    Unfit {
        /// Which one.
        path: PathBuf,
        /// Why not.
        what: String,
    },
}

impl Error {
    /// An I/O error with the path it happened at.
    pub fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io { path, source }
    }

    /// Damage at a place of a file.
    pub fn damaged(path: &Path, at: u64, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_path_buf(), at, what: what.into() }
    }

    /// A file that is not for us.
    pub fn unfit(path: &Path, what: impl Into<String>) -> Self {
        Self::Unfit { path: path.to_path_buf(), what: what.into() }
    }
}

/// Result of everything that can fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;
