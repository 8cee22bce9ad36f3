//! `ROOT/.larm-server/crawls.json`: which crawls should be running, so that a server that was restarted goes on
//! where it was.
//!
//! A crawl below the root is named by its directory's name, so that the root can be moved; others by their path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use larm_crawl::store::durable;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// The server's own directory below the root.
pub const OWN_DIR: &str = ".larm-server";

const FILE: &str = "crawls.json";

/// What is wanted of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Want {
    /// It should run, and is started again should it die.
    Running,
    /// It runs and rests; it is not started again.
    Paused,
    /// Nothing.
    #[default]
    Stopped,
}

/// What is known of one crawl.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// What is wanted of it.
    pub want: Want,
    /// It was stopped by a server that ended, and goes on with the next one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    /// Why it is not tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// What is wanted of every crawl.
#[derive(Debug, Default)]
pub struct Wanted {
    root: Option<PathBuf>,
    entries: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize)]
struct File {
    crawls: BTreeMap<String, Entry>,
}

impl Wanted {
    /// Reads what an earlier server wanted. Without a root nothing is kept.
    pub fn open(root: Option<&Path>) -> Self {
        let path = root.map(|root| root.join(OWN_DIR).join(FILE));
        let bytes = path.as_deref().and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        let entries = match serde_json::from_slice::<File>(&bytes) {
            Ok(file) => file.crawls,
            Err(_) if bytes.is_empty() => BTreeMap::new(),
            Err(error) => {
                tracing::warn!(%error, "{FILE} cannot be read: no crawl is started by itself");
                BTreeMap::new()
            }
        };
        Self { root: root.map(Path::to_owned), entries }
    }

    /// What is wanted of the crawl in `dir`.
    pub fn get(&self, dir: &Path) -> Entry {
        self.entries.get(&self.key(dir)).cloned().unwrap_or_default()
    }

    /// Whether anything was ever wanted of it here.
    pub fn knows(&self, dir: &Path) -> bool {
        self.entries.contains_key(&self.key(dir))
    }

    /// Wants something else of a crawl, and keeps that.
    pub fn set(&mut self, dir: &Path, entry: Entry) -> Result<(), Problem> {
        let key = self.key(dir);
        if self.entries.get(&key) == Some(&entry) {
            return Ok(());
        }
        self.entries.insert(key, entry);
        self.save()
    }

    /// Forgets a crawl that is gone.
    pub fn forget(&mut self, dir: &Path) -> Result<(), Problem> {
        let key = self.key(dir);
        if self.entries.remove(&key).is_some() { self.save() } else { Ok(()) }
    }

    /// Directories of which this is wanted.
    pub fn dirs(&self, want: Want) -> Vec<PathBuf> {
        let wanted = self.entries.iter().filter(|(_, entry)| entry.want == want);
        wanted.map(|(key, _)| self.dir_of(key)).collect()
    }

    fn key(&self, dir: &Path) -> String {
        let below = self.root.as_deref().and_then(|root| dir.strip_prefix(root).ok());
        below.unwrap_or(dir).to_string_lossy().into_owned()
    }

    /// Joining an absolute path gives that path.
    fn dir_of(&self, key: &str) -> PathBuf {
        self.root.as_ref().map_or_else(|| PathBuf::from(key), |root| root.join(key))
    }

    fn save(&self) -> Result<(), Problem> {
        let Some(root) = &self.root else { return Ok(()) };
        let own = root.join(OWN_DIR);
        durable::create_dir(&own).map_err(Problem::internal)?;
        let file = File { crawls: self.entries.clone() };
        let json = serde_json::to_vec_pretty(&file).map_err(Problem::internal)?;
        durable::replace_private(&own.join(FILE), &json).map_err(Problem::internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_is_known_to_the_next_server() {
        let temp = tempfile::tempdir().unwrap();
        let (inside, outside) = (temp.path().join("a.larm"), PathBuf::from("/elsewhere/b.larm"));
        let running = Entry { want: Want::Running, ..Entry::default() };
        let mut wanted = Wanted::open(Some(temp.path()));
        wanted.set(&inside, running.clone()).unwrap();
        wanted.set(&outside, Entry { left: true, ..running.clone() }).unwrap();
        let mut again = Wanted::open(Some(temp.path()));
        assert_eq!(again.get(&inside), running);
        assert!(again.get(&outside).left);
        assert_eq!(again.dirs(Want::Running), [outside.clone(), inside.clone()]);
        again.forget(&inside).unwrap();
        assert_eq!(Wanted::open(Some(temp.path())).dirs(Want::Running), [outside]);
    }

    #[test]
    fn a_file_that_is_damaged_starts_nothing() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join(OWN_DIR)).unwrap();
        std::fs::write(temp.path().join(OWN_DIR).join(FILE), "{").unwrap();
        assert!(Wanted::open(Some(temp.path())).dirs(Want::Running).is_empty());
    }
}
