//! What a page has to say for the order of others (with step 12), if anybody listens: where it leads, and for
//! orders by text what it says, and what it says of its links.

use larm_core::order::focus::BESIDE_BYTES;
use larm_core::parse::{Hint, Page, cut};
use larm_core::url::{CrawlUrl, Fingerprint};

use super::{Line, Read};
use crate::frontier::Lease;
use crate::order::Told;
use crate::order::focus::{LinkText, PageText};
use crate::store::LinkFacts;

/// Bytes of a long word: so many times the words that are read is as much text as is told.
const WORD_BYTES: u64 = 12;

impl Line {
    pub(super) fn tell(&self, lease: &Lease, read: &Read, facts: &LinkFacts) -> Option<Told> {
        if !self.tells_links {
            return None;
        }
        let hints = self.hints_of(read.page.as_ref(), facts);
        if !lease.errand().counts() {
            let list = Told::of(lease.url().fingerprint(), std::iter::empty());
            return Some(Told { hints, is_page: false, ..list });
        }
        let text = self.tells_text.then(|| {
            Box::new(match read.page.as_ref().filter(|_| read.digest.same_as.is_none()) {
                Some(page) => self.text_of(lease.url(), page, facts),
                None => PageText::none(lease.url()),
            })
        });
        Some(Told { text, hints, ..Told::of(lease.url().fingerprint(), facts.iter()) })
    }

    /// What a sitemap or a feed says of the pages that it lists, as far as they may be followed.
    fn hints_of(&self, page: Option<&Page>, facts: &LinkFacts) -> Vec<(Fingerprint, Hint)> {
        let Some(page) = page.filter(|_| self.tells_hints) else { return Vec::new() };
        let before = facts.len().saturating_sub(page.links().count());
        let listed = facts.iter().skip(before).enumerate().filter(|(_, fact)| !fact.is_rejected());
        listed.filter_map(|(at, fact)| Some((Fingerprint::of(fact.to), page.hint(at)?))).collect()
    }

    /// The links of the page are the last of what was found on the way to it.
    fn text_of(&self, url: &CrawlUrl, page: &Page, facts: &LinkFacts) -> PageText {
        let before = facts.len().saturating_sub(page.links().count());
        let followed = facts.iter().skip(before).enumerate();
        let followed = followed.filter(|(_, fact)| fact.is_arc() && !fact.is_rejected());
        let links = followed.filter_map(|(at, fact)| {
            let (left, right) = page.beside(at, BESIDE_BYTES);
            let beside = (left.into(), right.into());
            let url = CrawlUrl::from_canonical(fact.to)?;
            Some(LinkText { url, text: fact.text.into(), beside })
        });
        let text = cut(&page.text, self.limits.focus_words_max.saturating_mul(WORD_BYTES));
        let links_max = usize::try_from(self.limits.focus_page_links_max).unwrap_or(usize::MAX);
        PageText {
            url: url.clone(),
            title: page.title.as_deref().unwrap_or_default().into(),
            text: text.into(),
            links: links.take(links_max).collect(),
        }
    }
}
