//! The evidence for and against one guess.

use serde::{Deserialize, Serialize};

use super::{Alias, Says, Sighting};
use crate::url::{CrawlUrl, Fingerprint};

/// Contents that must be alike for names of the same site, or of the same host.
const SITE_ALIKE_MIN: usize = 4;
/// The same for names that have nothing to do with each other.
const ALIKE_MIN: usize = 8;
/// The same for the index files of directories, which must be alike to the byte.
const INDEX_ALIKE_MIN: usize = 3;
/// Pages alike for each one that differs.
const ALIKE_FOR_ONE: u32 = 16;
/// Pages that differ after which a case is closed, unless far more are alike.
const DIFFERING_MAX: u32 = 3;
/// Twins that are asked for.
const ASKED_MAX: u32 = 8;

/// What was seen of one guess.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Marks of contents that were alike, each once, and not more than are needed.
    marks: Vec<u64>,
    alike: u32,
    differing: u32,
    /// How many twins were asked for.
    asked: u32,
    /// Those of them that were not compared yet.
    pending: Vec<Fingerprint>,
    /// How often the second of two origins had the page first, less how often the first had.
    lead: i32,
    closed: bool,
}

impl Case {
    /// Whether there is anything left to find out.
    pub fn is_open(&self) -> bool {
        let refuted = self.differing >= DIFFERING_MAX && !self.outweighs();
        !self.closed && !refuted
    }

    /// Whether another twin may be asked for: not before half of the evidence is there, since pages
    /// that many hosts share are no reason to trouble any of them.
    pub fn may_ask(&self, alias: &Alias) -> bool {
        self.asked < ASKED_MAX && 2 * self.marks.len() >= alike_min(alias)
    }

    /// Whether somebody waits for a page to be compared with its twin.
    pub fn waits_for(&self, pair: [Fingerprint; 2]) -> bool {
        self.pending.iter().any(|asked| pair.contains(asked))
    }

    pub(super) fn note(&mut self, sighting: &Sighting) {
        let [_, twin] = sighting.pair;
        self.pending.retain(|asked| !sighting.pair.contains(asked));
        match sighting.says {
            Says::Alike(mark) => self.note_alike(mark, sighting),
            Says::Differs => self.differing = self.differing.saturating_add(1),
            Says::Asks => {
                self.asked = self.asked.saturating_add(1);
                self.pending.push(twin);
            }
            Says::Nothing => {}
        }
    }

    fn note_alike(&mut self, mark: u64, sighting: &Sighting) {
        if self.marks.contains(&mark) {
            return;
        }
        if self.marks.len() < ALIKE_MIN {
            self.marks.push(mark);
        }
        self.alike = self.alike.saturating_add(1);
        if let Alias::Mirror(one, other) = &sighting.alias {
            let lead = i32::from(sighting.first == *other) - i32::from(sighting.first == *one);
            self.lead = self.lead.saturating_add(lead);
        }
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    pub(super) fn holds(&self, alias: &Alias) -> bool {
        let is_firm = match alias {
            Alias::Mirror(..) => self.outweighs() && self.pending.is_empty(),
            Alias::Index(..) => self.differing == 0,
        };
        is_firm && self.marks.len() >= alike_min(alias)
    }

    fn outweighs(&self) -> bool {
        self.differing.saturating_mul(ALIKE_FOR_ONE) <= self.alike
    }

    pub(super) fn other_is_first(&self) -> bool {
        self.lead > 0
    }

    pub(super) fn in_words(&self) -> String {
        let pages = |count: u32| if count == 1 { "page is" } else { "pages are" };
        let Self { alike, differing, .. } = *self;
        match differing {
            0 => format!("{alike} {} the same, none differs", pages(alike)),
            _ => format!("{alike} {} the same, {differing} not", pages(alike)),
        }
    }
}

/// Contents that must be alike.
fn alike_min(alias: &Alias) -> usize {
    match alias {
        Alias::Mirror(one, other) if is_same_site(one, other) => SITE_ALIKE_MIN,
        Alias::Mirror(..) => ALIKE_MIN,
        Alias::Index(..) => INDEX_ALIKE_MIN,
    }
}

fn is_same_site(one: &str, other: &str) -> bool {
    let site = |origin: &str| {
        CrawlUrl::from_canonical(&format!("{origin}/")).map(|url| url.site().to_owned())
    };
    site(one).is_some_and(|one| Some(one) == site(other))
}
