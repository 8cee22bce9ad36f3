//! Texts of pages, held in memory between sink and indexer.
//!
//! An entry of the journal that leaves its words to the archive is read within a second or so as a rule, and the
//! page is still there: it is handed over here, by where its entry begins. What is lost with the process is
//! read from the archive.

use std::collections::VecDeque;
use std::sync::Arc;

use larm_crawl::store::{PageFacts, Position};

/// What a page takes beside its texts, about.
const PAGE_BYTES: usize = 512;

/// Pages in the order of their entries.
#[derive(Debug)]
pub(crate) struct Texts {
    pages: VecDeque<(Position, Arc<PageFacts>)>,
    bytes: usize,
    bytes_max: usize,
}

impl Texts {
    pub fn new(bytes_max: u64) -> Self {
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        Self { pages: VecDeque::new(), bytes: 0, bytes_max }
    }

    /// Whether one more page may be held.
    pub fn has_room_for(&self, page: &PageFacts) -> bool {
        self.bytes + bytes_of(page) <= self.bytes_max
    }

    /// Holds the page of the entry at a position, which is behind all others.
    pub fn hold(&mut self, entry: Position, page: Arc<PageFacts>) {
        self.bytes += bytes_of(&page);
        self.pages.push_back((entry, page));
    }

    /// Gives out the page of an entry, if it is held, and forgets those of entries before it.
    pub fn take(&mut self, entry: Position) -> Option<Arc<PageFacts>> {
        while let Some((at, _)) = self.pages.front()
            && *at <= entry
        {
            let (at, page) = self.pages.pop_front()?;
            self.bytes -= bytes_of(&page);
            if at == entry {
                return Some(page);
            }
        }
        None
    }
}

/// What a page takes in memory, about.
pub(crate) fn bytes_of(page: &PageFacts) -> usize {
    let marks = page.marks.main.len() + page.marks.headings.len() + page.marks.emphasis.len();
    PAGE_BYTES + page.text.capacity() + page.title.len() + page.description.len() + marks * 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u64) -> Position {
        Position { file: 1, offset }
    }

    #[test]
    fn pages_come_back_by_their_entries_and_within_bounds() {
        let page = Arc::new(PageFacts { text: "words".repeat(100), ..PageFacts::default() });
        let mut texts = Texts::new(3 * bytes_of(&page) as u64);
        for offset in [10, 20, 40] {
            assert!(texts.has_room_for(&page));
            texts.hold(at(offset), page.clone());
        }
        assert!(!texts.has_room_for(&page));
        assert_eq!(texts.take(at(5)), None);
        assert_eq!(texts.take(at(20)), Some(page.clone()));
        assert_eq!(texts.take(at(10)), None, "it was passed over");
        assert_eq!(texts.take(at(30)), None);
        assert_eq!(texts.take(at(40)), Some(page.clone()));
        assert_eq!((texts.bytes, texts.pages.len()), (0, 0));
        assert_eq!(Arc::strong_count(&page), 1);
    }
}
