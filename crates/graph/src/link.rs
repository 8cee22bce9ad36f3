//! One link of a page, and what became of it.

use larm_core::via::Via;

/// What is said of a link that passed all filters.
pub const PASSED: &str = "ok";

/// One link of a page, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkFact<'a> {
    /// Target, canonical where that is possible.
    pub to: &'a str,
    /// How it was found.
    pub via: Via,
    /// Anchor text.
    pub text: &'a str,
    /// The `rel` attribute.
    pub rel: &'a str,
    /// `ok`, or the reason of the filter that said no.
    pub verdict: &'a str,
}

impl<'a> LinkFact<'a> {
    /// A link of which nothing more is known, and which nobody has rejected.
    pub fn new(to: &'a str, via: Via) -> Self {
        Self { to, via, text: "", rel: "", verdict: PASSED }
    }

    /// Whether a filter said no.
    pub fn is_rejected(&self) -> bool {
        self.verdict != PASSED
    }

    /// Whether it is an arc of the graph: a reader or a browser follows it from page to page, and
    /// nobody asks not to count it.
    ///
    /// Images and styles are parts of a page; a sitemap is a list, not a page that recommends another;
    /// a canonical URL says what the page is, not where it leads.
    pub fn is_arc(&self) -> bool {
        let leads = matches!(
            self.via,
            Via::Anchor | Via::Frame | Via::Alternate | Via::Link | Via::Refresh | Via::Redirect
        );
        leads && !self.is_nofollow()
    }

    /// Whether the link or its page asks not to follow it.
    fn is_nofollow(&self) -> bool {
        let by_filter = || self.verdict.split(':').next() == Some("nofollow");
        let mut words = self.rel.split_ascii_whitespace();
        words.any(|word| word.eq_ignore_ascii_case("nofollow")) || by_filter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_a_reader_on_is_an_arc() {
        let link = LinkFact::new("http://h/", Via::Anchor);
        let rows = [
            (link, true),
            (LinkFact { rel: "author", ..link }, true),
            (LinkFact { verdict: "scope: another host", ..link }, true),
            (LinkFact { via: Via::Redirect, ..link }, true),
            (LinkFact { rel: "ugc NoFollow", ..link }, false),
            (LinkFact { verdict: "nofollow: the page says so", ..link }, false),
            (LinkFact { via: Via::Embed, ..link }, false),
            (LinkFact { via: Via::Sitemap, ..link }, false),
            (LinkFact { via: Via::Canonical, ..link }, false),
        ];
        for (link, expected) in rows {
            assert_eq!(link.is_arc(), expected, "{link:?}");
        }
    }
}
