//! What each page of a crawl came to, from 0, nothing, to 1: kept in the order in which pages were settled.
//!
//! Where something is looked for, it is how relevant a page is; where not, it is whether the page says
//! something new. Copies, near-duplicates, soft 404s, spam, redirects and errors come to nothing.
//!
//! Two ask for it: the end of a crawl whose last pages were no good (`Floor`), and a run that goes on and
//! wants to know what earlier pages were worth. So it is a file of the state, which only grows. It is advice and
//! no part of what a crawl must not lose: what a crash took from its end is missing from the count, pages that
//! are fetched again stand there twice, and a file that cannot be read or is about something else is begun anew.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use larm_core::gain::{Floor, Gain, Tally};
use larm_core::order::focus::Topic;
use larm_core::url::Fingerprint;
use larm_core::worth::spam::SPAM;

use crate::error::{Error, Result};
use crate::frontier::{Fate, KeyMap, Lease, PageRow, SOFT_404, Settlement, is_counted};
use crate::ledger::{Ledger, read_last};

const FILE_NAME: &str = "readings";
const MAGIC: [u8; 8] = *b"larmrd01";
/// Fingerprint and number, both with the lowest byte first.
const ENTRY_BYTES: usize = 12;

/// What pages came to.
pub struct Readings {
    /// Whether pages are read for a topic; else it matters whether they are new.
    by_topic: bool,
    kept: Mutex<Kept>,
}

struct Kept {
    ledger: Ledger<ENTRY_BYTES>,
    gain: Option<Gain>,
}

impl Readings {
    /// Those of earlier runs with the same topic, or none yet. With a floor, the last pages are counted.
    pub fn open(state: &Path, topic: &Topic, floor: Option<Floor>) -> Result<Self> {
        let path = state.join(FILE_NAME);
        let ledger = Ledger::open(&path, MAGIC, topic_key(topic)).map_err(Error::io(&path))?;
        let gain = floor.map(|floor| count(&path, floor)).transpose().map_err(Error::io(&path))?;
        let kept = Mutex::new(Kept { ledger, gain });
        Ok(Self { by_topic: !topic.is_empty(), kept })
    }

    /// A page was settled, and nobody reads pages: whether it is new is what it comes to.
    pub fn settled(&self, page: Fingerprint, news: Option<bool>) {
        if let Some(is_new) = news.filter(|_| !self.by_topic) {
            self.note(page, f32::from(u8::from(is_new)));
        }
    }

    /// Takes note of what a page came to.
    pub fn note(&self, page: Fingerprint, reading: f32) {
        let kept = &mut *self.kept();
        if let Some(gain) = &mut kept.gain {
            gain.note(reading);
        }
        kept.ledger.push(&entry(page, reading));
    }

    /// Whether good pages have become too rare.
    pub fn is_low(&self) -> bool {
        self.kept().gain.as_ref().is_some_and(Gain::is_low)
    }

    /// How many of the last pages were good, if that is asked for.
    pub fn tally(&self) -> Option<Tally> {
        self.kept().gain.as_ref().map(Gain::tally)
    }

    /// What the last pages came to, of at most this many; the latest word of each counts.
    pub fn last(&self, pages_max: u64) -> KeyMap<Fingerprint, f32> {
        let path = self.kept().ledger.path().to_owned();
        let mut readings = KeyMap::default();
        let read = read_last(&path, pages_max, |entry| {
            let (page, reading) = parts(entry);
            readings.insert(page, reading);
        });
        if let Err(error) = read {
            tracing::warn!(%error, path = %path.display(), "what earlier pages were worth is not known in full");
        }
        readings
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a page is one that says something new; nothing for what does not count as a page.
pub fn news(lease: &Lease, settlement: &Settlement) -> Option<bool> {
    let Fate::Done(row) = &settlement.fate else { return None };
    is_counted(lease.item(), row, &settlement.end).then_some(is_new(row))
}

/// Whether what was settled is a page that says something new: it was there, and is no copy, near-duplicate,
/// soft 404 or spam.
pub fn is_new(row: &PageRow) -> bool {
    let is_near = row.likeness.as_ref().is_some_and(|likeness| likeness.of.is_some());
    let is_known = row.same_as.is_some() || is_near;
    row.is_page() && !is_known && !row.has_fact(SOFT_404) && !row.has_fact(SPAM)
}

/// The last pages of earlier runs.
fn count(path: &Path, floor: Floor) -> io::Result<Gain> {
    let mut gain = Gain::new(floor);
    read_last(path, floor.pages, |entry| gain.note(parts(entry).1))?;
    Ok(gain)
}

fn entry(page: Fingerprint, reading: f32) -> [u8; ENTRY_BYTES] {
    let mut bytes = [0; ENTRY_BYTES];
    bytes[..8].copy_from_slice(&page.0.to_le_bytes());
    bytes[8..].copy_from_slice(&reading.to_le_bytes());
    bytes
}

fn parts(bytes: &[u8; ENTRY_BYTES]) -> (Fingerprint, f32) {
    let (page, reading) = bytes.split_at(8);
    let page = u64::from_le_bytes(page.try_into().expect("eight bytes"));
    (Fingerprint(page), f32::from_le_bytes(reading.try_into().expect("four bytes")))
}

/// What is looked for, in 64 bits; 0 for nothing.
fn topic_key(topic: &Topic) -> u64 {
    if topic.is_empty() {
        return 0;
    }
    let text = serde_json::to_string(topic).expect("words and numbers are JSON");
    Fingerprint::of(&text).0
}

#[cfg(test)]
mod tests {
    use larm_core::Limits;

    use super::*;
    use crate::ledger::HEAD_BYTES;

    fn floor(pages: u64) -> Option<Floor> {
        Some(Floor { pages, ..Floor::below(0.5) })
    }

    fn noted(dir: &Path, topic: &Topic, readings: &[f32]) -> Readings {
        let kept = Readings::open(dir, topic, floor(3)).unwrap();
        readings.iter().zip(1..).for_each(|(reading, n)| kept.note(Fingerprint(n), *reading));
        kept
    }

    #[test]
    fn a_run_that_goes_on_counts_the_last_pages_of_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let nothing = Topic::default();
        assert!(noted(dir.path(), &nothing, &[1.0, 1.0, 0.0, 0.0, 0.0]).is_low());
        let again = Readings::open(dir.path(), &nothing, floor(3)).unwrap();
        assert!(again.is_low());
        let wider = Readings::open(dir.path(), &nothing, floor(5)).unwrap();
        assert_eq!(wider.tally(), Some(Tally { good: 2, pages: 5, of: 5 }));
        assert_eq!(Readings::open(dir.path(), &nothing, None).unwrap().tally(), None);
    }

    #[test]
    fn a_torn_entry_is_cut_and_the_next_one_stands_in_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let nothing = Topic::default();
        drop(noted(dir.path(), &nothing, &[1.0, 0.0]));
        let path = dir.path().join(FILE_NAME);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let kept = noted(dir.path(), &nothing, &[1.0]).tally().unwrap();
            let before = cut.saturating_sub(HEAD_BYTES as usize) / ENTRY_BYTES;
            assert_eq!((kept.pages, kept.good), (before as u64 + 1, before.min(1) as u64 + 1));
        }
    }

    #[test]
    fn what_was_read_for_another_topic_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let tea = Topic::query("green tea", &Limits::default());
        drop(noted(dir.path(), &tea, &[0.9, 0.8]));
        assert_eq!(noted(dir.path(), &tea, &[]).tally().unwrap().pages, 2);
        let coffee = Topic::query("coffee", &Limits::default());
        assert_eq!(noted(dir.path(), &coffee, &[]).tally().unwrap().pages, 0);
    }

    #[test]
    fn where_pages_are_read_for_a_topic_being_new_is_not_enough() {
        let dir = tempfile::tempdir().unwrap();
        let tea = Topic::query("green tea", &Limits::default());
        let kept = noted(dir.path(), &tea, &[]);
        kept.settled(Fingerprint(1), Some(true));
        assert_eq!(kept.tally().unwrap().pages, 0, "whoever reads it notes it");
    }
}
