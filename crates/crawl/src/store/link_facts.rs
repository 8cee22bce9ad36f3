//! The links of one answer, and what became of them, in one piece of memory.
//!
//! A page has seventy links on average, and may have thousands: their texts stand behind each other in
//! one string, so that a link costs no allocation of its own.

use larm_core::scope::Reason;
use larm_core::via::Via;
pub use larm_graph::LinkFact;
use larm_graph::link::PASSED;

/// About what the texts of a link take.
const LINK_BYTES: usize = 80;

/// All links of an answer, in the order in which they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkFacts {
    texts: String,
    links: Vec<Entry>,
}

/// Where each text of a link ends; it begins where the one before it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    via: Via,
    to: usize,
    text: usize,
    rel: usize,
    /// Of links that passed, nothing is kept.
    verdict: usize,
}

impl LinkFacts {
    /// Makes room for so many more links of common length.
    pub fn reserve(&mut self, links: usize) {
        self.texts.reserve(links * LINK_BYTES);
        self.links.reserve(links);
    }

    /// Adds a link.
    #[inline]
    pub fn push(&mut self, link: LinkFact<'_>) {
        let rejected = if link.is_rejected() { link.verdict } else { "" };
        self.add(link, [rejected]);
    }

    /// Adds a link that was rejected for a reason, which is its verdict.
    pub fn push_rejected(&mut self, link: LinkFact<'_>, reason: &Reason) {
        self.add(link, [&reason.filter, ": ", &reason.detail]);
    }

    #[inline]
    fn add<const N: usize>(&mut self, link: LinkFact<'_>, verdict: [&str; N]) {
        let to = self.put(link.to);
        let text = self.put(link.text);
        let rel = self.put(link.rel);
        for piece in verdict {
            self.put(piece);
        }
        self.links.push(Entry { via: link.via, to, text, rel, verdict: self.texts.len() });
    }

    /// Adds a text, and says where it ends. Most links have not all of them.
    fn put(&mut self, text: &str) -> usize {
        if !text.is_empty() {
            self.texts.push_str(text);
        }
        self.texts.len()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Some of them, named in order; all of them if none are named.
    pub fn some<'a>(&'a self, named: Option<&'a [u32]>) -> impl Iterator<Item = LinkFact<'a>> {
        let mut named = named;
        self.iter().zip(0..).filter_map(move |(link, nth)| match &mut named {
            None => Some(link),
            Some([next, rest @ ..]) if *next == nth => {
                named = Some(rest);
                Some(link)
            }
            Some(_) => None,
        })
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = LinkFact<'_>> {
        let mut begin = 0;
        self.links.iter().map(move |link| {
            let [to, text, rel, verdict] =
                [link.to, link.text, link.rel, link.verdict].map(|end| {
                    let piece = &self.texts[begin..end];
                    begin = end;
                    piece
                });
            let verdict = if verdict.is_empty() { PASSED } else { verdict };
            LinkFact { to, via: link.via, text, rel, verdict }
        })
    }
}

impl<'a> FromIterator<LinkFact<'a>> for LinkFacts {
    fn from_iter<I: IntoIterator<Item = LinkFact<'a>>>(links: I) -> Self {
        let mut facts = Self::default();
        links.into_iter().for_each(|link| facts.push(link));
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_come_out_as_they_went_in() {
        let links = [
            LinkFact { text: "Über uns", rel: "me", ..LinkFact::new("http://h/a", Via::Anchor) },
            LinkFact::new("", Via::Redirect),
            LinkFact { verdict: "scope: elsewhere", ..LinkFact::new("http://i/", Via::Anchor) },
        ];
        let facts: LinkFacts = links.into_iter().collect();
        assert_eq!(facts.iter().collect::<Vec<_>>(), links);
        assert_eq!((facts.len(), facts.is_empty()), (3, false));
        for (named, expected) in
            [(None, &links[..]), (Some(&[1, 2][..]), &links[1..]), (Some(&[]), &[])]
        {
            assert_eq!(facts.some(named).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_verdict_is_what_its_reason_says() {
        let (mut facts, reason) = (LinkFacts::default(), Reason::new("scope", "elsewhere"));
        facts.push_rejected(LinkFact::new("http://i/", Via::Anchor), &reason);
        assert_eq!(facts.iter().next().unwrap().verdict, reason.to_string());
    }
}
