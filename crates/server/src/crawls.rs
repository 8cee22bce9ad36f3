//! The crawls that a server shows: ids and their directories.
//!
//! An id is made from the name of a directory and is safe in a URL. Nothing but a known id leads to a
//! directory, so no request can name a path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::settings::Settings;

/// What becomes of a name: lower case letters, digits, dots and hyphens.
pub fn id_of(name: &str) -> String {
    let safe = |c: char| match c {
        'a'..='z' | '0'..='9' | '.' | '-' => c,
        'A'..='Z' => c.to_ascii_lowercase(),
        _ => '-',
    };
    let id: String = name.strip_suffix(".larm").unwrap_or(name).chars().map(safe).collect();
    let id = id.trim_matches(['-', '.']);
    if id.is_empty() { "crawl".to_owned() } else { id.to_owned() }
}

/// Every crawl that is shown now, by id: the directories that were named, and all below the root.
pub fn list(settings: &Settings) -> BTreeMap<String, PathBuf> {
    let mut crawls = BTreeMap::new();
    let below = settings.root.iter().flat_map(|root| crawls_below(root));
    let most = usize::try_from(settings.limits.server_crawls_max).unwrap_or(usize::MAX);
    for dir in settings.dirs.iter().cloned().chain(below).take(most) {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        add(&mut crawls, &id_of(&name), dir);
    }
    crawls
}

/// The directory of a crawl.
pub fn find(settings: &Settings, id: &str) -> Result<PathBuf, Problem> {
    list(settings).remove(id).ok_or_else(|| {
        Problem::not_found(format!("There is no crawl `{id}` here."))
            .hint("GET /api/v1/crawls lists them.")
    })
}

fn crawls_below(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut dirs: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| larm_crawl::directory::identify(path).is_ok())
        .collect();
    dirs.sort();
    dirs
}

fn add(crawls: &mut BTreeMap<String, PathBuf>, id: &str, dir: PathBuf) {
    if crawls.values().any(|known| *known == dir) {
        return;
    }
    let numbered = |n: u32| if n == 1 { id.to_owned() } else { format!("{id}-{n}") };
    let free = (1..).map(numbered).find(|id| !crawls.contains_key(id));
    crawls.insert(free.expect("numbers do not run out"), dir);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_safe_in_a_path() {
        let rows = [
            ("example.com.larm", "example.com"),
            ("My Site", "my-site"),
            ("../../etc", "etc"),
            ("ä/ö", "crawl"),
            ("", "crawl"),
        ];
        for (name, id) in rows {
            assert_eq!(id_of(name), id, "{name}");
        }
    }

    #[test]
    fn two_directories_of_one_name_get_two_ids() {
        let dirs = vec![PathBuf::from("/a/x.larm"), PathBuf::from("/b/x.larm")];
        let crawls = list(&Settings { dirs, ..Settings::default() });
        assert_eq!(crawls.into_keys().collect::<Vec<_>>(), ["x", "x-2"]);
    }
}
