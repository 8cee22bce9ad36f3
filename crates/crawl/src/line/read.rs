//! What reading an answer gave (steps 8 to 10): carried from the parsed page to the end of the lease.

use larm_core::digest::{BodyDigest, Sha1Digest};
use larm_core::parse::Page;
use larm_core::worth::Harvest;
use larm_core::{Fact, Outcome};

use super::TYPES;
use crate::fetch::Fetched;
use crate::frontier::{Candidate, Likeness, SIGNALS, SOFT_404, Sighted};
use crate::store::{SameAs, WarcRef};

/// What reading an answer gave.
pub struct Read {
    /// What became of the URL.
    pub outcome: Outcome,
    /// The parsed body, where there is one to read.
    pub page: Option<Page>,
    /// What kept the body from being decoded whole.
    pub note: Option<&'static str>,
    /// Identity of the body.
    pub digest: Digested,
    /// What is known of it besides.
    pub facts: Vec<Fact>,
    /// Questions that it raises.
    pub asks: Vec<Candidate>,
    /// What its words are like.
    pub likeness: Option<Likeness>,
    /// What it says of names that may be aliases.
    pub sightings: Vec<Sighted>,
    /// What it brought, if that says anything of pages like it.
    pub harvest: Option<Harvest>,
    /// It was made for search engines alone.
    pub is_spam: bool,
    /// Where the archive holds it already, if it was read from there.
    pub archived: Option<WarcRef>,
}

/// An answer that an archive holds.
pub struct Archived {
    /// The answer.
    pub fetched: Fetched,
    /// Where it lies.
    pub place: WarcRef,
}

impl Read {
    /// An answer of which nothing was read.
    pub fn unread(outcome: Outcome) -> Self {
        Self {
            outcome,
            page: None,
            note: None,
            digest: Digested::default(),
            facts: Vec::new(),
            asks: Vec::new(),
            likeness: None,
            sightings: Vec::new(),
            harvest: None,
            is_spam: false,
            archived: None,
        }
    }

    /// Its owner does not want it to be used so: it is not kept, and leads nowhere.
    pub(super) fn reject_reserved(&mut self, detail: String) {
        self.outcome = Outcome::Rejected { filter: SIGNALS.to_owned(), detail };
        self.page = None;
        self.digest = Digested::default();
    }

    /// It is of a type that nobody asked for: it leads on, but is not kept.
    pub(super) fn pass_through(&mut self, kind: &str) {
        let detail = format!("{kind} is not a type that was asked for; it was read for its links");
        self.outcome = Outcome::Rejected { filter: TYPES.to_owned(), detail };
        self.digest = Digested::default();
    }

    /// It is kept, but it is no page, and leads nowhere.
    pub(super) fn mark_soft(&mut self) {
        let why = "it looks like what its host answers to a path that cannot be there";
        self.facts.push(Fact::new(SOFT_404, why));
        self.page = None;
    }
}

/// Identity of a body, and the page that had it first.
#[derive(Default)]
pub struct Digested {
    /// The digest, for bodies that count.
    pub body: Option<BodyDigest>,
    /// The body's SHA-1, as far as it was worked out.
    pub sha1: Option<Sha1Digest>,
    /// The first page with it.
    pub same_as: Option<SameAs>,
}
