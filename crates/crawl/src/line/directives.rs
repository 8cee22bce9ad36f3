//! What a page says to robots of itself: `noindex` and `nofollow`, in its head or in its header fields.
//!
//! A page that does not want to be found is fetched, archived and followed like any other. It is marked, and
//! the search index leaves it out.

use larm_core::Fact;
use larm_core::parse::Page;
use larm_core::robots::Directives;

use super::{Line, Read};
use crate::fetch::Fetched;

/// The fact that a page does not want to be found by a search; its value says where it says so.
pub const NOINDEX: &str = "noindex";

impl Line {
    /// Where a page, or its answer's header, says something to robots; nothing if that is not obeyed.
    pub(super) fn directive(
        &self,
        fetched: &Fetched,
        page: &Page,
        is_said: fn(&Directives) -> bool,
    ) -> Option<&'static str> {
        if !self.obey {
            return None;
        }
        let header = fetched.headers.get_all("x-robots-tag").iter();
        let mut header = header.filter_map(|value| value.to_str().ok());
        if header.any(|value| is_said(&Directives::from_header(value, &self.agent))) {
            return Some("X-Robots-Tag");
        }
        let metas = page.robots_meta.iter();
        let mut metas =
            metas.filter_map(|(name, text)| Directives::from_meta(name, text, &self.agent));
        metas.any(|said| is_said(&said)).then_some("meta robots")
    }

    /// Marks a page that does not want to be found.
    pub(super) fn mark_unindexed(&self, fetched: &Fetched, read: &mut Read) {
        let page = read.page.as_ref();
        if let Some(place) =
            page.and_then(|page| self.directive(fetched, page, |said| said.noindex))
        {
            read.facts.push(Fact::new(NOINDEX, place));
        }
    }
}
