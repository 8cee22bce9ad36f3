//! Files that are there after a power cut: created, replaced and removed so that it lasts.
//!
//! A new name is not safe until its directory is synced, and a synced directory is no use if the file
//! behind the name is not. Everything here does both, in that order. A failed sync is never tried
//! again: the kernel may have dropped the pages, and a second call would report success.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// What is written at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// Creates a file that must not exist yet, and its name lasts.
pub fn create(path: &Path) -> Result<File> {
    let file =
        OpenOptions::new().write(true).create_new(true).open(path).map_err(Error::io(path))?;
    sync_parent(path)?;
    Ok(file)
}

/// Makes a directory and all above it, and their names last.
pub fn create_dir(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_dir(parent)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(Error::io(path)(error)),
        _ => sync_parent(path),
    }
}

/// Replaces a file as a whole: readers see the old one or the new one, and after a crash there is one
/// of the two.
pub fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let temporary = temporary_of(path);
    let file = File::create(&temporary).map_err(Error::io(&temporary))?;
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
    fill(&mut out)?;
    let file = out.into_inner().map_err(|error| Error::io(&temporary)(error.into_error()))?;
    file.sync_all().map_err(Error::io(&temporary))?;
    fs::rename(&temporary, path).map_err(Error::io(path))?;
    sync_parent(path)
}

/// Replaces a file that nobody but its owner may read, not even for a moment.
pub fn replace_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_of(path);
    remove(&temporary)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&temporary).map_err(Error::io(&temporary))?;
    file.write_all(bytes).map_err(Error::io(&temporary))?;
    fs::rename(&temporary, path).map_err(Error::io(path))
}

/// Removes a file, if it is there, for good.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => sync_parent(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io(path)(error)),
    }
}

/// Brings the names in `path`'s directory to the disk.
pub fn sync_parent(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    File::open(parent).and_then(|directory| directory.sync_all()).map_err(Error::io(parent))
}

/// Brings the names in a directory to the disk.
pub fn sync_dir(path: &Path) -> Result<()> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(Error::io(path))
}

/// Where the new content of `path` is collected by [`replace`]; a crash may leave it there.
pub fn temporary_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_has_the_new_content_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/summary.json");
        create_dir(path.parent().unwrap()).unwrap();
        for content in ["one", "two"] {
            let fill =
                |out: &mut dyn Write| out.write_all(content.as_bytes()).map_err(Error::io("x"));
            replace(&path, fill).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_replacement_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("summary.json");
        fs::write(&path, "old").unwrap();
        assert!(replace(&path, |_| Err(Error::Stopped("no".into()))).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn what_is_not_there_can_be_removed_and_what_is_there_cannot_be_created() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        remove(&path).unwrap();
        create(&path).unwrap();
        assert!(create(&path).is_err());
        remove(&path).unwrap();
        assert!(!path.exists());
    }
}
