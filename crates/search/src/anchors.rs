//! What links say of the pages that they lead to, gathered cheaply.
//!
//! Menus repeat the same links on every page of a site. [`Known`] lets each pair of target and text
//! through once, or nearly: it remembers a bounded number of them. [`Gathered`] puts together what was
//! said of each URL between two commits, so that a URL costs one small document and not one per link.

use std::collections::BTreeMap;
use std::hash::Hasher;

use larm_core::Limits;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::entry::Anchor;
use crate::language::Lang;

/// What a target takes in memory beside its texts, about.
const TARGET_BYTES: u64 = 64;
/// What a text takes beside its letters, about.
const TEXT_BYTES: u64 = 40;
/// Hashes of a line of the cache.
const LINE_PAIRS: usize = 8;

/// Pairs of target and text that were seen lately, as hashes: in lines of the processor's cache, so that each look is
/// at one of them.
pub(crate) struct Known {
    lines: Vec<Line>,
}

/// The newest first.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Line([u64; LINE_PAIRS]);

impl Known {
    pub fn new(limits: &Limits) -> Self {
        let pairs = usize::try_from(limits.index_anchors_max).unwrap_or(usize::MAX);
        let lines = (pairs / LINE_PAIRS).max(1);
        // The next power of two from below.
        Self { lines: vec![Line::default(); 1 << lines.ilog2()] }
    }

    /// Whether this was not said before, as far as is remembered.
    pub fn is_new(&mut self, anchor: Anchor<'_>) -> bool {
        // An empty place has no bit.
        let pair = xxh3_64_with_seed(anchor.text.as_bytes(), anchor.target) | 1;
        let last = self.lines.len() - 1;
        let Line(pairs) = &mut self.lines[(pair >> 32) as usize & last];
        let is_new = !pairs.contains(&pair);
        if is_new {
            pairs.rotate_right(1);
            pairs[0] = pair;
        }
        is_new
    }
}

/// Hashes what is a hash already.
#[derive(Default)]
pub(crate) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// What was said of URLs since it was last taken, by target.
pub(crate) struct Gathered {
    targets: BTreeMap<u64, Said>,
    bytes: u64,
    bytes_max: u64,
    texts_max: usize,
}

/// What was said of one URL.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    /// In how many links.
    pub links: u64,
    /// Different texts, with the language of the pages they stand on.
    pub texts: Vec<(Lang, Box<str>)>,
}

impl Gathered {
    pub fn new(limits: &Limits) -> Self {
        Self {
            targets: BTreeMap::new(),
            bytes: 0,
            bytes_max: limits.index_gathered_bytes_max,
            texts_max: usize::try_from(limits.index_url_anchors_max).unwrap_or(usize::MAX),
        }
    }

    /// Adds what a link says.
    pub fn add(&mut self, lang: Lang, anchor: Anchor<'_>) {
        let before = self.targets.len();
        let said = self.targets.entry(anchor.target).or_default();
        said.links += 1;
        if said.texts.len() < self.texts_max {
            if said.texts.is_empty() {
                // Most have but one, where a first push would make room for four.
                said.texts.reserve_exact(1);
            }
            said.texts.push((lang, anchor.text.into()));
            self.bytes += TEXT_BYTES + anchor.text.len() as u64;
        }
        self.bytes += TARGET_BYTES * (self.targets.len() - before) as u64;
    }

    /// Whether it should be taken.
    pub fn is_full(&self) -> bool {
        self.bytes >= self.bytes_max
    }

    /// Everything, which is then forgotten.
    pub fn take(&mut self) -> BTreeMap<u64, Said> {
        self.bytes = 0;
        std::mem::take(&mut self.targets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_passes_once_while_it_is_remembered() {
        let mut known = Known::new(&Limits { index_anchors_max: 8, ..Limits::default() });
        let anchor = |target, text| Anchor { target, text };
        assert!(known.is_new(anchor(1, "home")));
        assert!(!known.is_new(anchor(1, "home")));
        assert!(known.is_new(anchor(1, "start")) && known.is_new(anchor(2, "home")));
        (10..18).for_each(|target| assert!(known.is_new(anchor(target, "x"))));
        assert!(known.is_new(anchor(1, "home")), "what is remembered is bounded");
    }

    #[test]
    fn what_is_said_of_a_url_comes_together_and_is_bounded() {
        let limits =
            Limits { index_url_anchors_max: 2, index_gathered_bytes_max: 200, ..Limits::default() };
        let mut gathered = Gathered::new(&limits);
        for text in ["a", "b", "c"] {
            gathered.add(Lang::NONE, Anchor { target: 7, text });
        }
        assert!(!gathered.is_full());
        (0..2).for_each(|target| gathered.add(Lang::NONE, Anchor { target, text: "0123456789" }));
        assert!(gathered.is_full());
        let taken = gathered.take();
        assert_eq!((taken.len(), taken[&7].links, taken[&7].texts.len()), (3, 3, 2));
        assert!(!gathered.is_full() && gathered.take().is_empty());
    }
}
