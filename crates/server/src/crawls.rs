//! The crawls that a server shows: ids and their directories.
//!
//! An id is made from the name of a directory and is safe in a URL. Nothing but a known id leads to a
//! directory, so no request can name a path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use larm_core::url::Fingerprint;

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
    let below = settings.root.iter().flat_map(|root| crawls_below(root));
    let most = usize::try_from(settings.limits.server_crawls_max).unwrap_or(usize::MAX);
    let mut crawls = BTreeMap::new();
    settings.dirs.iter().cloned().chain(below).take(most).for_each(|dir| add(&mut crawls, dir));
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

/// A name that is its own id keeps it. All others, and the second of two, get one that goes by their path: so that
/// an id that somebody knows does not become another crawl's when one is made or deleted.
fn add(crawls: &mut BTreeMap<String, PathBuf>, dir: PathBuf) {
    if crawls.values().any(|known| *known == dir) {
        return;
    }
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let id = id_of(&name);
    let is_plain = name.strip_suffix(".larm").unwrap_or(&name) == id;
    let id = match is_plain && !crawls.contains_key(&id) {
        true => id,
        false => format!("{id}-{:08x}", Fingerprint::of(&dir.to_string_lossy()).0 >> 32),
    };
    crawls.insert(id, dir);
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
        assert_eq!(crawls["x"], Path::new("/a/x.larm"));
        assert!(crawls.len() == 2 && crawls.keys().all(|id| id.starts_with('x')), "{crawls:?}");
    }

    #[test]
    fn an_id_stays_whatever_is_made_or_deleted_beside_it() {
        let of = |names: &[&str]| {
            let dirs = names.iter().map(|name| Path::new("/r").join(name)).collect();
            list(&Settings { dirs, ..Settings::default() })
        };
        let all = of(&["IDT.larm", "idt-2.larm", "idt.larm"]);
        for name in ["IDT.larm", "idt-2.larm", "idt.larm"] {
            let id = of(&[name]).into_keys().next().unwrap();
            assert_eq!(all[&id], Path::new("/r").join(name));
        }
    }
}
