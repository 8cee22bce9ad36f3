//! What each page of a crawl came to, from 0, nothing, to 1: kept in the order in which pages were settled.
//!
//! Where something is looked for, it is how relevant a page is; where not, it is whether the page says
//! something new. Copies, near-duplicates, soft 404s, spam, redirects and errors come to nothing.
//!
//! Two ask for it: the end of a crawl whose last pages were no good (`Floor`), and a run that goes on and
//! wants to know what earlier pages were worth. So it is a file of the state, which only grows. It is advice and
//! no part of what a crawl must not lose: what a crash took from its end is missing from the count, pages that
//! are fetched again stand there twice, and a file that cannot be read or is about something else is begun anew.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use larm_core::gain::{Floor, Gain, Tally};
use larm_core::order::focus::Topic;
use larm_core::url::Fingerprint;
use larm_core::worth::spam::SPAM;

use crate::error::{Error, Result};
use crate::frontier::{Fate, KeyMap, Lease, PageRow, SOFT_404, Settlement, is_counted};

const FILE_NAME: &str = "readings";
const MAGIC: &[u8; 8] = b"larmrd01";
/// Magic and topic.
const HEAD_BYTES: u64 = 16;
/// Fingerprint and number, both with the lowest byte first.
const ENTRY_BYTES: usize = 12;

/// What pages came to.
pub struct Readings {
    /// Whether pages are read for a topic; else it matters whether they are new.
    by_topic: bool,
    kept: Mutex<Kept>,
}

struct Kept {
    path: PathBuf,
    /// Nothing, once it could not be written to.
    file: Option<File>,
    gain: Option<Gain>,
}

impl Readings {
    /// Those of earlier runs with the same topic, or none yet. With a floor, the last pages are counted.
    pub fn open(state: &Path, topic: &Topic, floor: Option<Floor>) -> Result<Self> {
        let path = state.join(FILE_NAME);
        let file = open(&path, topic_key(topic)).map_err(Error::io(&path))?;
        let gain = floor.map(|floor| count(&path, floor)).transpose().map_err(Error::io(&path))?;
        let kept = Mutex::new(Kept { path, file: Some(file), gain });
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
        let written =
            kept.file.as_mut().map_or(Ok(()), |file| file.write_all(&entry(page, reading)));
        if let Err(error) = written {
            tracing::warn!(%error, path = %kept.path.display(), "what pages are worth is not kept any more");
            kept.file = None;
        }
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
        let path = self.kept().path.clone();
        let last = usize::try_from(pages_max).unwrap_or(usize::MAX);
        let mut readings = KeyMap::default();
        let read = read_last(&path, last, |page, reading| {
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

/// Opens the file behind its last whole entry. One that is about another topic is begun anew.
fn open(path: &Path, topic: u64) -> io::Result<File> {
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    let mut head = [0; HEAD_BYTES as usize];
    let is_ours = file.read_exact(&mut head).is_ok() && head == header(topic);
    if !is_ours {
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(&header(topic))?;
    }
    let bytes = file.metadata()?.len();
    file.set_len(bytes - (bytes - HEAD_BYTES) % ENTRY_BYTES as u64)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// The last pages of earlier runs.
fn count(path: &Path, floor: Floor) -> io::Result<Gain> {
    let mut gain = Gain::new(floor);
    let last = usize::try_from(floor.pages).unwrap_or(usize::MAX);
    read_last(path, last, |_, reading| gain.note(reading))?;
    Ok(gain)
}

/// The last `entries_max` entries, in their order.
fn read_last(
    path: &Path,
    entries_max: usize,
    mut each: impl FnMut(Fingerprint, f32),
) -> io::Result<()> {
    let mut file = File::open(path)?;
    let entries = file.metadata()?.len().saturating_sub(HEAD_BYTES) / ENTRY_BYTES as u64;
    let passed_over = entries.saturating_sub(entries_max as u64);
    file.seek(SeekFrom::Start(HEAD_BYTES + passed_over * ENTRY_BYTES as u64))?;
    let mut file = BufReader::new(file);
    let mut bytes = [0; ENTRY_BYTES];
    for _ in passed_over..entries {
        file.read_exact(&mut bytes)?;
        let (page, reading) = parts(&bytes);
        each(page, reading);
    }
    Ok(())
}

fn header(topic: u64) -> [u8; HEAD_BYTES as usize] {
    let mut head = [0; HEAD_BYTES as usize];
    head[..8].copy_from_slice(MAGIC);
    head[8..].copy_from_slice(&topic.to_le_bytes());
    head
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
