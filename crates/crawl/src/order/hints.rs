//! What sitemaps and feeds say of the pages that they list, kept for the next run: dates and priorities.
//!
//! The link log has links, not dates, and a sitemap is fetched once. So what was told stands in a file of the state, which
//! only grows, and which an order by dates alone needs.

use std::path::Path;

use larm_core::Millis;
use larm_core::order::Hint;
use larm_core::url::Fingerprint;

use crate::error::{Error, Result};
use crate::ledger::{Ledger, read_last};

const FILE_NAME: &str = "hints";
const MAGIC: [u8; 8] = *b"larmhi01";
/// A fingerprint; a time in milliseconds, in seven bytes, 0 for none; a priority in hundredths, 255 for none. The
/// lowest byte first.
const ENTRY_BYTES: usize = 16;
const NO_PRIORITY: u8 = u8::MAX;

/// The file of hints.
#[derive(Debug)]
pub struct Hints(Ledger<ENTRY_BYTES>);

impl Hints {
    /// Those of earlier runs, or none yet.
    pub fn open(state: &Path) -> Result<Self> {
        let path = state.join(FILE_NAME);
        Ledger::open(&path, MAGIC, 0).map(Self).map_err(Error::io(&path))
    }

    /// Takes note of what is said of a page.
    pub fn note(&mut self, page: Fingerprint, hint: Hint) {
        self.0.push(&entry(page, hint));
    }

    /// The last hints, of at most so many.
    pub fn last(&self, hints_max: u64, mut each: impl FnMut(Fingerprint, Hint)) {
        let read = read_last(self.0.path(), hints_max, |entry| {
            let (page, hint) = parts(entry);
            each(page, hint);
        });
        if let Err(error) = read {
            tracing::warn!(%error, "dates of pages are not known in full");
        }
    }
}

fn entry(page: Fingerprint, hint: Hint) -> [u8; ENTRY_BYTES] {
    let mut bytes = [0; ENTRY_BYTES];
    bytes[..8].copy_from_slice(&page.0.to_le_bytes());
    let ms = hint.modified.map_or(0, |at| at.0);
    bytes[8..].copy_from_slice(&ms.to_le_bytes());
    bytes[15] = hint.priority.unwrap_or(NO_PRIORITY);
    bytes
}

fn parts(bytes: &[u8; ENTRY_BYTES]) -> (Fingerprint, Hint) {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let ms = number(8) & (u64::MAX >> 8);
    let priority = Some(bytes[15]).filter(|priority| *priority != NO_PRIORITY);
    (Fingerprint(number(0)), Hint { modified: (ms > 0).then_some(Millis(ms)), priority })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_known_again_the_last_ones_if_there_are_too_many() {
        let dir = tempfile::tempdir().unwrap();
        let given = [
            Hint { modified: Some(Millis(1_794_772_801_042)), priority: Some(100) },
            Hint { modified: None, priority: Some(0) },
            Hint { modified: Some(Millis(7)), priority: None },
        ];
        let mut hints = Hints::open(dir.path()).unwrap();
        (1..).zip(given).for_each(|(page, hint)| hints.note(Fingerprint(page), hint));
        drop(hints);
        let mut read = Vec::new();
        Hints::open(dir.path()).unwrap().last(2, |page, hint| read.push((page.0, hint)));
        assert_eq!(read, [(2, given[1]), (3, given[2])]);
    }
}
