//! The crawl directory: whose it is, which format it has, and who is using it now.
//!
//! ```text
//! DIR/  larm.toml  summary.json  warc/  cdx/  pages/  links/  logs/  state/
//! ```
//!
//! There are two locks in `state/`, since there are two ways to have the directory alone. A crawl has `lock` for as
//! long as it runs: others are told so, and ask it. Whoever looks into the state of a crawl that does not run, or
//! writes a few words, has `borrowed` for that moment: others wait, a crawl that starts among them.
//!
//! - DIR-1: while somebody has `borrowed`, nobody begins to use the directory: who wants `lock` takes that one first.

use std::cmp::Ordering;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::rebuild::stage;
use crate::store::durable;

/// The format that this version writes, and the only one that it reads.
pub const FORMAT: u32 = 5;

/// How often others get their turn when somebody looks whether the directory is in use: that takes microseconds.
const LOOKERS_YIELDS_MAX: u32 = 100_000;

/// How long to wait for whoever has borrowed the directory, and how often: they read or write a little.
const BORROWED_WAIT: Duration = Duration::from_millis(5);
const BORROWED_WAITS_MAX: u32 = 6_000;

/// What the format file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Version of everything in the directory.
    pub format: u32,
    /// Name of the crawl in its files, the same on every start.
    pub crawl_id: String,
}

/// A crawl directory that this process alone may write.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    identity: Identity,
    _lock: File,
}

impl Directory {
    /// Opens a crawl directory, or makes one, and locks it.
    pub fn open(path: &Path) -> Result<Self> {
        refuse_strangers(path)?;
        Self::adopt(path)
    }

    /// The same for a directory that may hold an archive from elsewhere and nothing else of ours.
    pub fn adopt(path: &Path) -> Result<Self> {
        Self::enter(path, |path| {
            let _borrowed = borrowed(path)?;
            lock(path)
        })
    }

    /// Has it alone for a moment, to look at it or to write a few words. Others who want it wait; if a crawl uses it,
    /// that is an error.
    pub fn borrow(path: &Path) -> Result<Self> {
        refuse_strangers(path)?;
        Self::enter(path, |path| {
            let borrowed = borrowed(path)?;
            if in_use(path) { Err(taken(path)) } else { Ok(borrowed) }
        })
    }

    fn enter(path: &Path, lock: impl Fn(&Path) -> Result<File>) -> Result<Self> {
        for sub in ["state", "logs"] {
            durable::create_dir(&path.join(sub))?;
        }
        let mut held = lock(path)?;
        if stage::is_unfinished(path) {
            stage::put_in_place(path)?;
            // The one that is held went away with the old state.
            held = lock(path)?;
        }
        stage::sweep(path)?;
        let identity = match read_identity(path)? {
            Some(identity) => identity,
            None => write_identity(path)?,
        };
        Ok(Self { path: path.to_owned(), identity, _lock: held })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The frontier's own part.
    pub fn state(&self) -> PathBuf {
        self.path.join("state")
    }

    /// Name of the crawl in its files.
    pub fn crawl_id(&self) -> &str {
        &self.identity.crawl_id
    }
}

/// What the directory says it is; an error if it is no crawl, or one of a newer format.
pub fn identify(path: &Path) -> Result<Identity> {
    if !path.is_dir() {
        return Err(Error::Directory(format!("{}: no such crawl directory", path.display())));
    }
    read_identity(path)?.ok_or_else(|| {
        Error::Directory(format!("{} is not a crawl directory of larm", path.display()))
    })
}

/// Whether a process is using the directory now. To look, it need not be one's own.
///
/// One can look only by sharing the lock for a moment. Whoever wants the directory knows lookers by that, and
/// waits for them to be gone.
pub fn in_use(path: &Path) -> bool {
    let file = File::open(path.join("state").join("lock"));
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// A directory with other things in it is not ours to fill.
fn refuse_strangers(path: &Path) -> Result<()> {
    if path.exists() && !path.is_dir() {
        return Err(Error::Directory(format!(
            "{} is a file; name another directory with -o",
            path.display()
        )));
    }
    let Ok(mut entries) = fs::read_dir(path) else { return Ok(()) };
    let ours = path.join("state").is_dir() || path.join("larm.toml").is_file();
    if !ours && entries.next().is_some() {
        return Err(Error::Directory(format!(
            "{} holds other files and is no crawl directory; name another one with -o",
            path.display()
        )));
    }
    Ok(())
}

/// Waits until nobody else has borrowed the directory.
#[expect(
    clippy::disallowed_methods,
    reason = "nothing tells when a file lock is free, and no crawl runs here yet"
)]
fn borrowed(path: &Path) -> Result<File> {
    let lock_path = path.join("state").join("borrowed");
    for _ in 0..BORROWED_WAITS_MAX {
        let file = open_lock(&lock_path)?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(BORROWED_WAIT),
            Err(TryLockError::Error(error)) => return Err(Error::io(&lock_path)(error)),
        }
    }
    let (path, seconds) = (path.display(), (BORROWED_WAIT * BORROWED_WAITS_MAX).as_secs());
    Err(Error::Directory(format!(
        "{path}: another larm has been looking into it for {seconds} seconds; try again when that is done"
    )))
}

fn open_lock(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(Error::io(path))
}

fn lock(path: &Path) -> Result<File> {
    let lock_path = path.join("state").join("lock");
    let file = open_lock(&lock_path)?;
    for _ in 0..LOOKERS_YIELDS_MAX {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(Error::io(&lock_path)(error)),
        }
        // What cannot be shared belongs to somebody who uses the directory.
        if file.try_lock_shared().is_err() {
            break;
        }
        file.unlock().map_err(Error::io(&lock_path))?;
        thread::yield_now();
    }
    Err(taken(path))
}

fn taken(path: &Path) -> Error {
    let path = path.display();
    Error::Directory(format!(
        "{path} is in use by another larm; `larm status {path}` shows it, `larm stop {path}` ends it"
    ))
}

fn read_identity(path: &Path) -> Result<Option<Identity>> {
    let file = path.join("state").join("format.json");
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(&file)(error)),
    };
    let identity: Identity = serde_json::from_slice(&bytes).map_err(|error| Error::Damaged {
        path: file.clone(),
        offset: 0,
        what: error.to_string(),
    })?;
    let (path, format) = (path.display(), identity.format);
    match format.cmp(&FORMAT) {
        Ordering::Equal => Ok(Some(identity)),
        Ordering::Greater => Err(Error::Directory(format!(
            "{path} was written by a newer larm (format {format}, this one knows {FORMAT}); use that version"
        ))),
        Ordering::Less => Err(Error::Directory(format!(
            "{path} was begun by an older larm (format {format}, this one knows {FORMAT}), and only that one can \
             go on with it; what it holds stays readable. Crawl into another directory with -o"
        ))),
    }
}

fn write_identity(path: &Path) -> Result<Identity> {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let identity = Identity { format: FORMAT, crawl_id: id[..8].to_owned() };
    let file = path.join("state").join("format.json");
    let json = serde_json::to_vec(&identity).expect("two plain fields are JSON");
    durable::replace(&file, |out: &mut dyn Write| out.write_all(&json).map_err(Error::io(&file)))?;
    Ok(identity)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;

    #[test]
    fn a_directory_is_locked_once_and_keeps_its_name() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("site.larm");
        let first = Directory::open(&path).unwrap();
        let id = first.crawl_id().to_owned();
        let error = Directory::open(&path).unwrap_err().to_string();
        assert!(error.contains("in use"), "{error}");
        assert!(in_use(&path));
        drop(first);
        assert!(!in_use(&path));
        assert_eq!(Directory::open(&path).unwrap().crawl_id(), id);
    }

    #[test]
    fn whoever_only_looks_keeps_nobody_out() {
        let temp = tempfile::tempdir().unwrap();
        drop(Directory::open(temp.path()).unwrap());
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Relaxed) {
                        in_use(temp.path());
                    }
                });
            }
            let opened: Vec<_> = (0..200).map(|_| Directory::open(temp.path()).map(drop)).collect();
            over.store(true, Relaxed);
            for one in opened {
                one.unwrap();
            }
        });
    }

    #[test]
    fn whoever_borrows_it_is_waited_for_and_waits_for_others() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path();
        let borrowed = Directory::borrow(path).unwrap();
        assert!(!in_use(temp.path()), "nobody crawls there");
        thread::scope(|scope| {
            let others = [0; 3].map(|_| scope.spawn(|| Directory::borrow(path).map(drop)));
            drop(borrowed);
            for other in others {
                other.join().unwrap().unwrap();
            }
        });
        // Beside others who borrow, a crawl that begins could be met: then they would be told so.
        let borrowed = Directory::borrow(path).unwrap();
        thread::scope(|scope| {
            let crawl = scope.spawn(|| Directory::open(path).map(drop));
            drop(borrowed);
            crawl.join().unwrap().unwrap();
        });
        let crawls = Directory::open(temp.path()).unwrap();
        assert!(Directory::borrow(temp.path()).unwrap_err().to_string().contains("in use"));
        drop(crawls);
        drop(Directory::borrow(temp.path()).unwrap());
    }

    #[test]
    fn a_directory_with_other_files_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("thesis.txt"), "years of work").unwrap();
        assert!(Directory::open(temp.path()).unwrap_err().to_string().contains("other files"));
        assert!(identify(temp.path()).is_err());
    }

    #[test]
    fn another_format_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        drop(Directory::open(temp.path()).unwrap());
        for (format, word) in [(FORMAT + 1, "newer"), (FORMAT - 1, "older")] {
            let other = format!(r#"{{"format":{format},"crawl_id":"x"}}"#);
            fs::write(temp.path().join("state/format.json"), other).unwrap();
            assert!(Directory::open(temp.path()).unwrap_err().to_string().contains(word));
        }
    }
}
