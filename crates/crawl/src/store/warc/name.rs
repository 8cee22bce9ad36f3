//! Names of archive files: `larm-20261115200001-00007-<crawl id>.warc.gz`.
//!
//! The number counts the files of one crawl, so that recovery can tell which came after a position. The
//! time is that of the first record. The index beside it has the same stem.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use larm_core::Millis;

use crate::{Error, Result};

/// What the name of an archive file says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileName {
    /// Number within the crawl.
    pub number: u32,
    stem: String,
}

impl FileName {
    /// The name of file `number` of a crawl, begun at `at`.
    pub fn new(number: u32, at: Millis, crawl_id: &str) -> Self {
        Self { number, stem: format!("larm-{}-{number:05}-{crawl_id}", at.compact()) }
    }

    /// Reads the name of a file of this crawl, archive or index; any other file gives nothing.
    pub fn parse(name: &str, crawl_id: &str) -> Option<Self> {
        let stem_bytes = name.find('.')?;
        let (stem, ending) = name.split_at(stem_bytes);
        let (time, rest) = stem.strip_prefix("larm-")?.split_once('-')?;
        let (number, id) = rest.split_once('-')?;
        let ours = ending == ".warc.gz" || ending.starts_with(".cdxj");
        let timed = time.len() == 14 && time.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| id == crawl_id && ours && timed)?;
        Some(Self { number, stem: stem.to_owned() })
    }

    /// The archive file's name.
    pub fn warc(&self) -> String {
        format!("{}.warc.gz", self.stem)
    }

    /// The archive file within a crawl directory.
    pub fn warc_path(&self, dir: &Path) -> PathBuf {
        dir.join("warc").join(self.warc())
    }

    /// The sorted index within a crawl directory.
    pub fn index_path(&self, dir: &Path) -> PathBuf {
        dir.join("cdx").join(format!("{}.cdxj", self.stem))
    }

    /// The index of a file that is still being written.
    pub fn index_part_path(&self, dir: &Path) -> PathBuf {
        dir.join("cdx").join(format!("{}.cdxj.part", self.stem))
    }

    /// Every file of this crawl in `warc/` and `cdx/` of a crawl directory, in order of number.
    pub fn list(dir: &Path, crawl_id: &str) -> Result<BTreeSet<Self>> {
        let mut found = BTreeSet::new();
        for folder in [dir.join("warc"), dir.join("cdx")] {
            for entry in std::fs::read_dir(&folder).map_err(Error::io(&folder))? {
                let name = entry.map_err(Error::io(&folder))?.file_name();
                found.extend(name.to_str().and_then(|name| Self::parse(name, crawl_id)));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let name = FileName::new(7, Millis(1_794_772_801_042), "ab12");
        assert_eq!(name.warc(), "larm-20261115200001-00007-ab12.warc.gz");
        assert_eq!(FileName::parse(&name.warc(), "ab12"), Some(name.clone()));
        let part = name.index_part_path(Path::new("d"));
        let part = part.file_name().unwrap().to_str().unwrap();
        assert_eq!(FileName::parse(part, "ab12"), Some(name));
    }

    #[test]
    fn files_of_others_are_not_ours() {
        for name in [
            "larm-20261115200001-00007-other.warc.gz",
            "larm-20261115200001-00007-ab12.warc.gz.bak",
            "larm-20261115200001-00007-ab12",
            "larm-2026-00007-ab12.warc.gz",
            "larm-20261115200001-x-ab12.warc.gz",
            "notes.txt",
            "",
        ] {
            assert_eq!(FileName::parse(name, "ab12"), None, "{name}");
        }
    }
}
