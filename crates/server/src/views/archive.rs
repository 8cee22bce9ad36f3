//! The archive of a crawl: its files, what they hold and what was saved.
//!
//! ARCHIVE-1: a file can be asked for only by a name that the listing has; no request names a path.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Serialize;
use utoipa::ToSchema;

use super::Looked;
use crate::problem::Problem;
use crate::table::Flags;

/// A file of the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ArchiveFile {
    /// Its name, by which it can be downloaded.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// When it was written last, in milliseconds since 1970.
    pub modified: u64,
    /// Whether the crawl is still writing it.
    pub open: bool,
}

/// What was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Saved {
    /// Bytes that compression saved: of what was received and kept, what the files do not take.
    pub compression: u64,
    /// Bytes of bodies that were kept once and not again, about: as long as the first of them.
    pub duplicates: u64,
}

/// The archive of a crawl.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Archive {
    /// Its files, archive and index, in order of their names.
    pub files: Vec<ArchiveFile>,
    /// Size of all of them.
    pub bytes: u64,
    /// Bytes of the answers in it, heads included, before compression.
    pub content_bytes: u64,
    /// What was saved.
    pub saved: Saved,
}

/// Directories of the archive, and how names end there.
const PLACES: [(&str, &[&str]); 2] =
    [("warc", &[".warc.gz", ".warc"]), ("cdx", &[".cdxj", ".cdxj.part"])];

/// The archive of the crawl.
pub fn archive(looked: &Looked<'_>) -> Result<Archive, Problem> {
    let files = files(&looked.dir);
    let bytes = files.iter().map(|(file, _)| file.bytes).sum();
    let warc_bytes: u64 = files
        .iter()
        .filter(|(_, path)| path.starts_with(looked.dir.join("warc")))
        .map(|(file, _)| file.bytes)
        .sum();
    let (content_bytes, duplicates) = looked.table(|table| {
        let archived = (0..table.len()).filter(|&row| table.is(row, Flags::Archived));
        Ok(archived.fold((0, 0), |(content, copies): (u64, u64), row| {
            let bytes = table.bytes(row);
            match table.is(row, Flags::Duplicate) {
                true => (content, copies + bytes),
                false => (content + bytes, copies),
            }
        }))
    })?;
    let compression = content_bytes.saturating_sub(warc_bytes);
    let files = files.into_iter().map(|(file, _)| file).collect();
    Ok(Archive { files, bytes, content_bytes, saved: Saved { compression, duplicates } })
}

/// ARCHIVE-1: opens a file of the archive by its name.
pub fn open(dir: &Path, name: &str) -> Result<File, Problem> {
    let found = files(dir).into_iter().find(|(file, _)| file.name == name);
    let missing = || Problem::not_found("There is no such file in this archive.");
    let (_, path) = found.ok_or_else(missing)?;
    File::open(path).map_err(|_| missing())
}

/// The files of the archive and where they are. What is no plain file is left out, links among it.
fn files(dir: &Path) -> Vec<(ArchiveFile, PathBuf)> {
    let is_running = larm_crawl::directory::in_use(dir);
    let mut files = Vec::new();
    for (place, endings) in PLACES {
        let entries = fs::read_dir(dir.join(place)).into_iter().flatten().flatten();
        for entry in entries {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(meta) = entry.path().symlink_metadata() else { continue };
            if !meta.is_file() || !endings.iter().any(|ending| name.ends_with(ending)) {
                continue;
            }
            let modified =
                meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let modified =
                modified.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
            let open = is_running && is_growing(dir, &name);
            files.push((ArchiveFile { name, bytes: meta.len(), modified, open }, entry.path()));
        }
    }
    files.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    files
}

/// The index of a file that grows is a part.
fn is_growing(dir: &Path, name: &str) -> bool {
    let stem = name.strip_suffix(".warc.gz");
    name.ends_with(".part")
        || stem.is_some_and(|stem| dir.join("cdx").join(format!("{stem}.cdxj.part")).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_listing_can_be_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        for place in ["warc", "cdx", "state"] {
            fs::create_dir(path.join(place)).unwrap();
        }
        fs::write(path.join("warc/a.warc.gz"), "a").unwrap();
        fs::write(path.join("warc/b.warc.gz.tmp"), "b").unwrap();
        fs::write(path.join("cdx/a.cdxj"), "c").unwrap();
        fs::write(path.join("state/control.json"), "secret").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(path.join("state/control.json"), path.join("warc/x.warc.gz"))
            .unwrap();
        let names: Vec<_> = files(path).into_iter().map(|(file, _)| file.name).collect();
        assert_eq!(names, ["a.cdxj", "a.warc.gz"]);
        assert!(open(path, "a.warc.gz").is_ok());
        for name in [
            "",
            ".",
            "..",
            "x.warc.gz",
            "../state/control.json",
            "b.warc.gz.tmp",
            "warc/a.warc.gz",
            "/etc/passwd",
            "a.warc.gz\0",
        ] {
            assert_eq!(open(path, name).map(drop).unwrap_err().status, 404, "{name}");
        }
    }
}
