//! Where the index of a crawl lies: `search/` of its directory.

use std::fs;
use std::path::{Path, PathBuf};

use larm_core::Limits;
use larm_crawl::store::durable;
use larm_crawl::{Error, Result};
use tracing::warn;

use crate::archive::Archive;

/// The places below `search/`.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    crawl: PathBuf,
}

impl Layout {
    /// Of the crawl in `dir`.
    pub fn new(dir: &Path) -> Self {
        Self { crawl: dir.to_owned() }
    }

    /// The index itself: tantivy's files.
    pub fn index(&self) -> PathBuf {
        self.crawl.join("search").join("index")
    }

    /// What the index has not learnt yet.
    pub fn journal(&self) -> PathBuf {
        self.crawl.join("search").join("journal")
    }

    /// The archive, which has the texts of pages.
    pub fn archive(&self, limits: &Limits) -> Archive {
        Archive::new(&self.crawl, limits)
    }

    /// There if pages are missing: it says why.
    fn incomplete(&self) -> PathBuf {
        self.crawl.join("search").join("incomplete")
    }

    /// Whether the crawl has written down that it settled anything.
    pub fn has_settled(&self) -> bool {
        let log = self.crawl.join("logs").join("crawl.jsonl");
        fs::metadata(log).is_ok_and(|log| log.len() > 0)
    }

    /// Why pages of the crawl are missing in the index, if they are.
    pub fn why_incomplete(&self) -> Option<String> {
        let text = fs::read_to_string(self.incomplete()).ok()?;
        Some(text.trim().to_owned())
    }

    /// Notes that pages are missing, and says so. The first reason stays.
    pub fn note_incomplete(&self, why: &str) {
        warn!("the search index lacks pages: {why}");
        if self.why_incomplete().is_none() {
            let noted = durable::create_dir(&self.crawl.join("search")).and_then(|()| {
                fs::write(self.incomplete(), format!("{why}\n")).map_err(Error::io(""))
            });
            // Whoever reads the log knows; a disk that takes no note has other troubles.
            drop(noted);
        }
    }

    /// An empty directory for the index, whatever was there.
    pub fn empty_index(&self) -> Result<PathBuf> {
        let path = self.index();
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(&path)(error));
            }
            _ => durable::create_dir(&path)?,
        }
        Ok(path)
    }

    /// All pages will be given anew.
    pub fn forget_incomplete(&self) -> Result<()> {
        durable::remove(&self.incomplete())
    }
}
