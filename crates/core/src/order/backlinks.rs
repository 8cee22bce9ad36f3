//! Back-link count: the more fetched pages link to it the better.

use super::{Facts, Leads, Score, at};

/// Pages by the number of fetched pages that link to them, themselves aside. Four bytes a page. A page
/// that takes over a number takes over its count, too: it is too high by at most that of the page which
/// was forgotten, one of the lowest there were.
#[derive(Debug, Clone, Default)]
pub struct Backlinks(Vec<u32>);

impl Score for Backlinks {
    fn found(&mut self, page: u32, _: &Facts<'_>) {
        at(&mut self.0, page, 0);
    }

    fn fetched(&mut self, leads: &Leads<'_>, changed: &mut Vec<u32>) {
        for &to in leads.links.iter().filter(|to| **to != leads.page) {
            let count = at(&mut self.0, to, 0);
            *count = count.saturating_add(1);
            changed.push(to);
        }
    }

    fn worth(&self, page: u32) -> f32 {
        // A page to which no link is known, as a seed, has half of one.
        (self.0.get(page as usize).copied().unwrap_or(0) as f32).max(0.5)
    }
}
