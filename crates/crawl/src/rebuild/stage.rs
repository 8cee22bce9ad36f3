//! The stage: what is made anew grows beside the old, and takes its place all at once or not at all.
//!
//! - STAGE-1: until everything is made, the crawl directory is as it was. A rebuild that is killed leaves
//!   a stage behind, which the next one removes.
//! - STAGE-2: from the moment the finished stage has its final name, the new parts are the crawl's. A
//!   crash while they are put in place is made good by whoever opens the directory next.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::durable;

const GROWING: &str = ".rebuild";
const FINISHED: &str = ".rebuilt";
const OLD: &str = ".rebuild-old";

/// Where the parts of a crawl directory are made anew.
pub fn growing(dir: &Path) -> PathBuf {
    dir.join(GROWING)
}

/// An empty stage.
pub fn begin(dir: &Path) -> Result<PathBuf> {
    let stage = growing(dir);
    remove_all(&stage)?;
    durable::create_dir(&stage)?;
    Ok(stage)
}

/// Everything is made: its parts take the place of the old ones.
pub fn finish(dir: &Path) -> Result<()> {
    // A stage is a crawl directory, with room for logs; but none were made, and the old ones stay.
    let logs = growing(dir).join("logs");
    fs::remove_dir(&logs).map_err(Error::io(&logs))?;
    rename(&growing(dir), &dir.join(FINISHED))?;
    put_in_place(dir)
}

/// Whether a rebuild was killed while its parts were put in place.
pub fn is_unfinished(dir: &Path) -> bool {
    dir.join(FINISHED).is_dir()
}

/// Puts the parts of a finished stage in place, those that are not yet there (STAGE-2).
pub fn put_in_place(dir: &Path) -> Result<()> {
    let (finished, old) = (dir.join(FINISHED), dir.join(OLD));
    durable::create_dir(&old)?;
    for entry in fs::read_dir(&finished).map_err(Error::io(&finished))? {
        let name = entry.map_err(Error::io(&finished))?.file_name();
        let (new, place) = (finished.join(&name), dir.join(&name));
        if place.exists() {
            remove_all(&old.join(&name))?;
            rename(&place, &old.join(&name))?;
        }
        rename(&new, &place)?;
    }
    remove_all(&finished)?;
    remove_all(&old)
}

/// Removes what a crash has left of the old parts, when all new ones are in place.
pub fn sweep(dir: &Path) -> Result<()> {
    remove_all(&dir.join(OLD))
}

/// Copies a directory and all below it.
pub fn copy_all(from: &Path, to: &Path) -> Result<()> {
    durable::create_dir(to)?;
    for entry in fs::read_dir(from).map_err(Error::io(from))? {
        let entry = entry.map_err(Error::io(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_all(&source, &target)?;
        } else {
            fs::copy(&source, &target).map_err(Error::io(&source))?;
        }
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(Error::io(from))?;
    to.parent().map_or(Ok(()), durable::sync_dir)
}

fn remove_all(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            fs::remove_file(path).map_err(Error::io(path))
        }
        other => other.map_err(Error::io(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The state of a directory at each instant at which the process may be killed: after the parts
    /// that were moved aside, and after those that are in place.
    #[test]
    fn a_crash_at_any_instant_leaves_the_new_parts_in_place() {
        for killed_after in 0..=5 {
            let temp = tempfile::tempdir().unwrap();
            let dir = temp.path();
            for part in ["pages", "state"] {
                write(dir.join(part).join("file"), "old");
                write(dir.join(FINISHED).join(part).join("file"), "new");
            }
            write(dir.join(FINISHED).join("search").join("file"), "new");
            let moves = [
                (dir.join("pages"), dir.join(OLD).join("pages")),
                (dir.join(FINISHED).join("pages"), dir.join("pages")),
                (dir.join(FINISHED).join("search"), dir.join("search")),
                (dir.join("state"), dir.join(OLD).join("state")),
                (dir.join(FINISHED).join("state"), dir.join("state")),
            ];
            fs::create_dir_all(dir.join(OLD)).unwrap();
            moves.iter().take(killed_after).for_each(|(from, to)| fs::rename(from, to).unwrap());
            assert!(is_unfinished(dir));
            put_in_place(dir).unwrap();
            for part in ["pages", "search", "state"] {
                let text = fs::read_to_string(dir.join(part).join("file")).unwrap();
                assert_eq!(text, "new", "{part}, killed after {killed_after} moves");
            }
            assert!(!is_unfinished(dir) && !dir.join(OLD).exists());
            // Killed while the old parts were being removed.
            write(dir.join(OLD).join("state").join("file"), "old");
            sweep(dir).unwrap();
            assert!(!dir.join(OLD).exists());
        }
    }
}
