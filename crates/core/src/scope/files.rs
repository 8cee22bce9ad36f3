//! Filter `files`: files of this machine, which only a file seed can open, and only its tree.
//!
//! The tree of a seed is everything below its directory. No page of the web leads into one, whatever the
//! scope and however it tries: by link, embed, sitemap or redirect. This filter cannot be left out, and
//! has nothing to say about the web.

use std::collections::BTreeSet;

use super::{Filter, Subject, Verdict};
use crate::url::CrawlUrl;

pub(super) struct Files {
    /// Directories, each with its slash at the end.
    trees: BTreeSet<String>,
}

impl Files {
    pub fn new(seeds: &[CrawlUrl]) -> Self {
        Self { trees: seeds.iter().filter(|seed| seed.is_file()).map(tree_of).collect() }
    }

    fn objection(&self, subject: &Subject<'_>) -> Option<String> {
        if subject.from.is_some_and(|page| !page.is_file()) {
            return Some("a page of the web cannot lead to a file of this machine".to_owned());
        }
        if folders(subject.url.path()).any(|folder| self.trees.contains(folder)) {
            return None;
        }
        Some(match (self.trees.first(), self.trees.len()) {
            (None, _) => "no seed is a file".to_owned(),
            (Some(tree), 1) => format!("not below {tree} of a seed"),
            (Some(_), trees) => format!("not below one of the {trees} directories of seeds"),
        })
    }
}

/// The directory that a seed opens: itself, or the one that it is in.
fn tree_of(seed: &CrawlUrl) -> String {
    folders(seed.path()).last().unwrap_or("/").to_owned()
}

/// `/a/b/c` → `/`, `/a/`, `/a/b/`.
pub(super) fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(slash, _)| path.split_at(slash + 1).0)
}

impl Filter for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn is_about_safety(&self) -> bool {
        true
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        if !subject.url.is_file() {
            return Verdict::Pass;
        }
        self.objection(subject).map_or(Verdict::Pass, |detail| Verdict::reject("files", detail))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, embed, link, url};
    use super::super::{FilterSpec, Filters, ScopeInput, ScopeMode, default_specs};
    use super::*;
    use crate::Via;

    fn files(seeds: &[&str]) -> Files {
        Files::new(&seeds.iter().map(|seed| url(seed)).collect::<Vec<_>>())
    }

    #[test]
    fn a_seed_opens_the_tree_of_its_directory() {
        let directory = files(&["file:///srv/docs/"]);
        let page = files(&["file:///srv/docs/index.html"]);
        for filter in [directory, page] {
            assert_passes(&filter, link("file:///srv/docs/"));
            assert_passes(&filter, link("file:///srv/docs/a/b.html"));
            assert_passes(&filter, link("file:///srv/docs/?from=a"));
            assert_passes(&filter, link("http://example.com/"));
            let reason = "files: not below /srv/docs/ of a seed";
            assert_rejects(&filter, link("file:///srv/docs"), reason);
            assert_rejects(&filter, link("file:///srv/docsx/a"), reason);
            assert_rejects(&filter, link("file:///etc/passwd"), reason);
        }
        let both = files(&["file:///a/", "file:///b/", "http://h/"]);
        assert_passes(&both, link("file:///b/x"));
        assert_rejects(&both, link("file:///c"), "files: not below one of the 2 directories");
        assert_rejects(&files(&["http://h/"]), link("file:///a"), "files: no seed is a file");
    }

    #[test]
    fn no_page_of_the_web_leads_to_a_file_by_any_way() {
        let filter = files(&["file:///srv/", "http://h/"]);
        let (page, file) = (url("http://h/"), url("file:///srv/a.html"));
        for via in Via::ALL {
            let subject = Subject { via, from: Some(&page), ..embed("file:///srv/b") };
            assert_rejects(&filter, subject, "files: a page of the web cannot lead to a file");
            assert_passes(&filter, Subject { from: Some(&file), ..subject });
        }
    }

    #[test]
    fn the_rule_holds_whatever_filters_and_scope_are_set() {
        let page = url("https://h/");
        let subject = Subject { from: Some(&page), ..link("file:///etc/passwd") };
        for specs in [default_specs(), vec![FilterSpec::Length {}], Vec::new()] {
            let seeds = [url("https://h/"), url("file:///srv/")];
            let input = ScopeInput { seeds: &seeds, mode: ScopeMode::Any, ..ScopeInput::default() };
            let filters = Filters::build(&specs, &input).unwrap();
            assert!(matches!(filters.judge(&subject), Verdict::Reject(_)), "{specs:?}");
        }
    }
}
