//! Folders of what is found (with step 1), if that is asked for: for `/a/b/page.html` also `/a/b/`, `/a/` and
//! `/`, where lists may lie that nobody links to.
//!
//! They are judged like links, and are none: the link log does not hear of them, and one that is not there is
//! not missing.

use larm_core::url::CrawlUrl;
use larm_core::via::Via;

use super::Line;
use super::links::{FoundOn, JudgedLinks, passed};
use crate::frontier::{Candidate, Errand};

impl Line {
    /// Adds the folders of a page and of what it leads to.
    pub(super) fn ascend(&self, found_on: &FoundOn<'_>, judged: &mut JudgedLinks) {
        if !self.path_ascending {
            return;
        }
        let found = judged.candidates.iter().filter(|candidate| candidate.errand.counts());
        let depths = found.map(|candidate| (&candidate.url, candidate.depth));
        let own = (found_on.lease.url(), found_on.lease.item().depth.saturating_add(1));
        let folders: Vec<Candidate> = std::iter::once(own)
            .chain(depths)
            .flat_map(|(url, depth)| self.folders(url).map(move |url| (url, depth)))
            .map(|(url, depth)| Candidate {
                url,
                depth,
                via: Via::Ascent,
                parent: Some(found_on.parent.clone()),
                redirects: 0,
                errand: Errand::Page,
            })
            .collect();
        let passed = |folder| passed(found_on.rules, folder, found_on.lease.url());
        folders.into_iter().filter_map(passed).for_each(|folder| judged.offer(folder));
    }

    /// Those that were not offered a moment ago.
    fn folders(&self, url: &CrawlUrl) -> impl Iterator<Item = CrawlUrl> {
        let folders_max = usize::try_from(self.limits.ascents_max).unwrap_or(usize::MAX);
        let folders = url.folders().take(folders_max);
        folders.filter(|folder| !self.recent.holds(folder.fingerprint().0))
    }
}
