//! From a file URL to what it leads to, opened: the only place that opens files of the trees.
//!
//! The path is opened without being read (`O_PATH`); the kernel then says what it is and what its real
//! path is, symbolic links resolved; and only if that is a file or a directory inside of a tree, it is
//! opened again, by way of its descriptor, for reading. Whatever is done to the links of the path in
//! between, what is read is what was judged. Devices, pipes and sockets are never opened for reading.
//!
//! FILE-1: nothing is read whose real path is outside of the trees, unless following was asked for.
//! FILE-2: a directory is listed under its real path only; every other way to it is a redirect there. So
//! each is walked once, and circles of links end.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use larm_core::Failure;
use larm_core::url::{CrawlUrl, UrlRules, canonicalise};
use url::Url;

use super::super::failure;
use super::listing::Directory;
use super::{FilePlan, unreadable};

/// What a URL leads to.
pub(super) enum Found {
    /// A file to be read.
    File {
        file: File,
        metadata: Metadata,
        /// Where it lies, if that is outside of all trees.
        real_path: Option<String>,
    },
    /// A directory to be listed.
    Directory(Directory),
    /// Something that has another URL.
    Elsewhere(CrawlUrl),
}

/// The directories that may be read, with all below them.
#[derive(Debug)]
pub(super) struct Trees {
    trees: Vec<Tree>,
    follow_symlinks: bool,
    own_dir: Option<PathBuf>,
}

#[derive(Debug)]
struct Tree {
    /// As the seed has it.
    path: PathBuf,
    /// With its symbolic links resolved.
    real: PathBuf,
}

impl Trees {
    pub fn new(plan: &FilePlan) -> Self {
        let files = plan.seeds.iter().filter(|seed| seed.is_file());
        let trees = files.filter_map(|seed| {
            let folder = seed.to_url().join(".").ok()?;
            let path = folder.to_file_path().ok()?;
            Some(Tree { real: path.canonicalize().unwrap_or_else(|_| path.clone()), path })
        });
        Self {
            trees: trees.collect(),
            follow_symlinks: plan.follow_symlinks,
            own_dir: plan.own_dir.canonicalize().ok(),
        }
    }

    /// Finds what is at a URL, and opens it if it may be read.
    pub fn find(&self, url: &CrawlUrl) -> Result<Found, Failure> {
        let asked = url.to_url().to_file_path();
        let asked = asked.map_err(|()| unreadable("no path of this machine"))?;
        let opened = Opened::at(&asked).map_err(|error| failure::reading(&error))?;
        let metadata = opened.metadata().map_err(|error| failure::reading(&error))?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(unreadable(format!("not a file but {}", kind_of(&metadata))));
        }
        let real = opened.real_path(&metadata).map_err(|error| failure::reading(&error))?;
        self.refuse_own_dir(&real)?;
        refuse_private(&real)?;
        let home = self.home(&real);
        if home.is_none() && !self.follow_symlinks {
            let real = real.display();
            return Err(unreadable(format!(
                "a symbolic link leads out of the tree, to {real}; --follow-symlinks follows it"
            )));
        }
        let is_file_outside = home.is_none() && metadata.is_file();
        let home = home.unwrap_or_else(|| real.clone());
        let its_url = url_of(&home, metadata.is_dir()).ok_or_else(|| unreadable("no URL fits"))?;
        if its_url.path() != url.path() && !is_file_outside {
            return Ok(Found::Elsewhere(its_url));
        }
        if metadata.is_dir() {
            return Ok(Found::Directory(Directory { opened }));
        }
        let file = opened.file().map_err(|error| failure::reading(&error))?;
        let real_path = is_file_outside.then(|| real.display().to_string());
        Ok(Found::File { file, metadata, real_path })
    }

    /// The path by which something real belongs to a tree.
    fn home(&self, real: &Path) -> Option<PathBuf> {
        self.trees.iter().find_map(|tree| match real.strip_prefix(&tree.real).ok()? {
            rest if rest.as_os_str().is_empty() => Some(tree.path.clone()),
            rest => Some(tree.path.join(rest)),
        })
    }

    /// What a crawl writes is not what it is to read: there would be no end of it.
    fn refuse_own_dir(&self, real: &Path) -> Result<(), Failure> {
        match &self.own_dir {
            Some(own) if real.starts_with(own) => {
                Err(unreadable("the directory that this crawl is kept in"))
            }
            _ => Ok(()),
        }
    }
}

/// Another crawl that lies in the tree can be read like anything else, but for its secrets, its cookies
/// and what else is its own.
fn refuse_private(real: &Path) -> Result<(), Failure> {
    let is_crawl = |dir: &Path| dir.join("state/format.json").is_file();
    let is_private = real.ancestors().any(|path| {
        let name = path.file_name().unwrap_or_default();
        let may_be = name == "state" || (name == "secrets.toml" && path == real);
        may_be && path.parent().is_some_and(is_crawl)
    });
    match is_private {
        true => Err(unreadable("private to the crawl whose directory it lies in")),
        false => Ok(()),
    }
}

/// The canonical URL of a path. Its length is judged elsewhere.
fn url_of(path: &Path, is_dir: bool) -> Option<CrawlUrl> {
    let url = if is_dir { Url::from_directory_path(path) } else { Url::from_file_path(path) };
    let rules = UrlRules { bytes_max: usize::MAX, ..UrlRules::default() };
    canonicalise(url.ok()?, &rules).ok()
}

#[cfg(unix)]
fn kind_of(metadata: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = metadata.file_type();
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind_of(_: &Metadata) -> &'static str {
    "something else"
}

/// Something that is held, so that it stays what it is, and not yet read.
#[cfg(target_os = "linux")]
pub(super) struct Opened(File);

#[cfg(target_os = "linux")]
impl Opened {
    fn at(path: &Path) -> io::Result<Self> {
        use rustix::fs::{Mode, OFlags};
        let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self(fd.into()))
    }

    fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }

    /// Where it is now.
    fn real_path(&self, metadata: &Metadata) -> io::Result<PathBuf> {
        use std::os::unix::fs::MetadataExt;
        // Without a name it has no path, and the kernel would add a word to its last one.
        if metadata.nlink() == 0 {
            return Err(io::ErrorKind::NotFound.into());
        }
        std::fs::read_link(self.path())
    }

    /// The way to the very same thing, for who opens it by a path.
    pub fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd;
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }

    fn file(&self) -> io::Result<File> {
        File::open(self.path())
    }
}

/// The same where a descriptor cannot be asked for its path: the real path is found first, and looked up
/// once more behind the opening. A link that is exchanged twice in between is not noticed.
#[cfg(not(target_os = "linux"))]
pub(super) struct Opened(PathBuf);

#[cfg(not(target_os = "linux"))]
impl Opened {
    fn at(path: &Path) -> io::Result<Self> {
        path.canonicalize().map(Self)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        self.0.symlink_metadata()
    }

    fn real_path(&self, _: &Metadata) -> io::Result<PathBuf> {
        Ok(self.0.clone())
    }

    pub fn path(&self) -> PathBuf {
        self.0.clone()
    }

    fn file(&self) -> io::Result<File> {
        let file = File::open(&self.0)?;
        let is_same = self.0.canonicalize()? == self.0 && file.metadata()?.is_file();
        is_same.then_some(file).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
