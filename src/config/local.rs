//! Seeds that are on this machine: file URLs, and paths as people type them.
//!
//! A text is a path if it cannot be a host: it begins with a slash, `./` or `../`, or is `.` or `..`. A
//! directory gets its slash at the end, so that everything below it is the crawl.

use std::path::{Component, Path, PathBuf};

use larm_core::url::{self, CrawlUrl, UrlRules};

/// A seed as typed, and what is to be said about how it was taken.
pub fn seed(text: &str, rules: &UrlRules) -> Result<(CrawlUrl, Option<String>), String> {
    let text = text.trim();
    if !is_path(text) {
        let seed = url::seed(text, rules).map_err(|error| error.to_string())?;
        let seed = with_slash(seed, rules);
        let note = is_also_a_path(text, &seed).then(|| {
            format!("{text} is taken for {seed}; for the files of that name, write ./{text}")
        });
        return Ok((seed, note));
    }
    let path = whole(Path::new(text)).map_err(|error| error.to_string())?;
    let text_url = file_url(&path)?;
    let seed = url::seed(&text_url, rules).map_err(|error| error.to_string())?;
    let seed = with_slash(seed, rules);
    let note = format!("{text} is taken for {seed}");
    Ok((seed, Some(note)))
}

/// Whether a text is meant as a path.
fn is_path(text: &str) -> bool {
    let mut parts = Path::new(text).components();
    matches!(
        parts.next(),
        Some(Component::RootDir | Component::CurDir | Component::ParentDir | Component::Prefix(_))
    )
}

/// Whether what was taken for a host is the name of a file, too.
fn is_also_a_path(text: &str, seed: &CrawlUrl) -> bool {
    !seed.is_file() && !text.contains("://") && text.contains('/') && Path::new(text).exists()
}

/// The path from the root on. Something must be there.
fn whole(path: &Path) -> std::io::Result<PathBuf> {
    path.metadata()?;
    let leads_up = path.components().any(|part| part == Component::ParentDir);
    if leads_up { path.canonicalize() } else { std::path::absolute(path) }
}

fn file_url(path: &Path) -> Result<String, String> {
    let escaped = |part: Component<'_>| match part {
        Component::Normal(name) => Some(url::file::escaped_name(name.as_encoded_bytes())),
        Component::Prefix(drive) => Some(drive.as_os_str().to_string_lossy().into_owned()),
        _ => None,
    };
    let parts: Vec<String> = path.components().filter_map(escaped).collect();
    Ok(format!("file:///{}", parts.join("/")))
}

fn with_slash(seed: CrawlUrl, rules: &UrlRules) -> CrawlUrl {
    let is_dir = || path_of(&seed).is_some_and(|path| path.is_dir());
    if !seed.is_file() || seed.path().ends_with('/') || !is_dir() {
        return seed;
    }
    url::seed(&format!("{seed}/"), rules).unwrap_or(seed)
}

/// The path of a file URL.
pub fn path_of(seed: &CrawlUrl) -> Option<PathBuf> {
    seed.is_file().then(|| seed.to_url().to_file_path().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Result<(String, Option<String>), String> {
        seed(text, &UrlRules::default()).map(|(url, note)| (url.to_string(), note))
    }

    #[test]
    fn paths_that_no_host_can_be_are_files() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("a dir")).unwrap();
        std::fs::write(root.join("a dir/x#1.html"), "").unwrap();
        let text = root.to_str().unwrap();
        let rows = [
            (format!("{text}/a dir"), format!("file://{text}/a%20dir/")),
            (format!("{text}/a dir/"), format!("file://{text}/a%20dir/")),
            (format!("{text}/a dir/.."), format!("file://{text}/")),
            (format!("{text}/a dir/x#1.html"), format!("file://{text}/a%20dir/x%231.html")),
        ];
        for (typed, expected) in rows {
            let (url, note) = taken(&typed).unwrap();
            assert_eq!(url, expected);
            assert_eq!(note, Some(format!("{typed} is taken for {expected}")));
        }
        assert_eq!(taken(&format!("file://{text}")).unwrap(), (format!("file://{text}/"), None));
        assert!(taken(&format!("{text}/none")).unwrap_err().contains("No such file"));
        assert!(taken(".").unwrap().0.ends_with('/'));
    }

    #[test]
    fn what_may_be_a_host_is_one_and_its_double_is_named() {
        assert_eq!(taken("example.com/a"), Ok(("https://example.com/a".to_owned(), None)));
        let (url, note) = taken("src/config").unwrap();
        assert_eq!(url, "https://src/config");
        assert!(note.unwrap().contains("write ./src/config"));
    }
}
