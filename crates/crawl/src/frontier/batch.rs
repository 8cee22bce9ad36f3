//! One group commit as the log holds it: everything that was settled since the last, and how far the
//! archive had come by then.
//!
//! Records are written as they happen, one behind the other, so that nothing is kept twice until the
//! commit. A batch larger than one entry of the log is cut into several.
//!
//! - BATCH-1: a batch is there as a whole or not at all. One whose last part did not reach the disk is
//!   dropped when the next one begins, or at the end of the log.

use larm_core::Limits;

use super::Positions;
use super::encode::encode_behind;
use super::record::Record;
use crate::error::{Error, Result};

/// The entry begins a batch.
const BEGINS: u8 = 1;
/// The entry ends a batch.
const ENDS: u8 = 2;

/// Records that are applied and not yet in the log.
#[derive(Debug, Default)]
pub struct Pending {
    /// Encoded, in the order in which they happened.
    records: Vec<u8>,
    settlements: u64,
}

impl Pending {
    /// Adds a record.
    pub fn push(&mut self, record: &Record) {
        self.settlements += u64::from(matches!(record, Record::Settled(_)));
        encode_behind(record, &mut self.records);
    }

    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Whether a lease was settled: then the sinks must be synced before this is.
    pub fn holds_settlements(&self) -> bool {
        self.settlements > 0
    }

    /// Takes all of it.
    pub fn seal(&mut self, positions: &Positions, limits: &Limits) -> Entries {
        let mut batch = postcard::to_stdvec(positions).expect("LOG: positions can be written");
        batch.reserve_exact(self.records.len());
        // What is emptied here keeps its room for the next batch.
        batch.append(&mut self.records);
        self.settlements = 0;
        let entry_bytes = usize::try_from(limits.log_record_bytes_max).unwrap_or(usize::MAX);
        Entries { batch, part_bytes: entry_bytes.saturating_sub(1).max(1) }
    }
}

/// A batch as entries of the log.
#[derive(Debug)]
pub struct Entries {
    batch: Vec<u8>,
    part_bytes: usize,
}

impl Entries {
    /// The entries, to be appended in this order, each in two pieces.
    pub fn iter(&self) -> impl Iterator<Item = [&[u8]; 2]> {
        let parts = self.batch.chunks(self.part_bytes);
        let last = parts.len() - 1;
        parts.enumerate().map(move |(i, part)| {
            let flags: &[u8] = match (i == 0, i == last) {
                (true, true) => &[BEGINS | ENDS],
                (true, false) => &[BEGINS],
                (false, true) => &[ENDS],
                (false, false) => &[0],
            };
            [flags, part]
        })
    }
}

/// A batch as recovery reads it.
#[derive(Debug, PartialEq)]
pub struct Batch {
    /// In the order in which they happened.
    pub records: Vec<Record>,
    /// How far each sink had come, by its name.
    pub positions: Positions,
}

/// Puts entries of the log together again.
#[derive(Debug, Default)]
pub struct Assembler {
    batch: Option<Vec<u8>>,
}

impl Assembler {
    /// Takes the next entry; the batch, if that was its last part.
    pub fn add(&mut self, entry: &[u8]) -> Result<Option<Batch>> {
        let Some((&flags, part)) = entry.split_first() else {
            return Err(unreadable("an entry is empty"));
        };
        if flags & BEGINS != 0 {
            self.batch = Some(Vec::new());
        }
        let Some(batch) = &mut self.batch else {
            return Err(unreadable("a batch has no beginning"));
        };
        batch.extend_from_slice(part);
        if flags & ENDS == 0 {
            return Ok(None);
        }
        self.batch.take().map(|bytes| read_batch(&bytes)).transpose()
    }
}

fn read_batch(bytes: &[u8]) -> Result<Batch> {
    let failed = |error: postcard::Error| unreadable(&error.to_string());
    let (positions, mut rest) = postcard::take_from_bytes(bytes).map_err(failed)?;
    let mut records = Vec::new();
    while !rest.is_empty() {
        let (record, behind) = postcard::take_from_bytes(rest).map_err(failed)?;
        records.push(record);
        rest = behind;
    }
    Ok(Batch { records, positions })
}

fn unreadable(why: &str) -> Error {
    Error::Stopped(format!("the log cannot be read: {why}; it may be of another version of larm"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Position;
    use larm_core::Millis;

    fn pending(runs: u64) -> Pending {
        let mut pending = Pending::default();
        (0..runs).for_each(|run| pending.push(&Record::Started(Millis(run))));
        pending
    }

    fn entries(sealed: &Entries) -> Vec<Vec<u8>> {
        sealed.iter().map(|pieces| pieces.concat()).collect()
    }

    fn limits(log_record_bytes_max: u64) -> Limits {
        Limits { log_record_bytes_max, ..Limits::default() }
    }

    fn positions() -> Positions {
        vec![("warc".to_owned(), Position { file: 3, offset: 77 })]
    }

    #[test]
    fn a_batch_of_any_size_fits_into_entries_of_any_size() {
        for bytes_max in [2, 3, 10, 64, 100_000] {
            let entries = entries(&pending(300).seal(&positions(), &limits(bytes_max)));
            assert!(entries.iter().all(|entry| entry.len() as u64 <= bytes_max));
            let mut assembler = Assembler::default();
            let mut batches = entries.iter().filter_map(|entry| assembler.add(entry).unwrap());
            let batch = batches.next().unwrap();
            assert_eq!((batch.records.len(), batch.positions), (300, positions()));
            assert!(batches.next().is_none());
        }
    }

    #[test]
    fn a_batch_without_its_last_part_is_dropped_by_the_next() {
        let torn = entries(&pending(50).seal(&positions(), &limits(20)));
        let whole = entries(&pending(2).seal(&Vec::new(), &limits(20)));
        let mut assembler = Assembler::default();
        for entry in &torn[..torn.len() - 1] {
            assert_eq!(assembler.add(entry).unwrap(), None);
        }
        let batch = assembler.add(&whole[0]).unwrap().unwrap();
        assert_eq!((batch.records.len(), batch.positions), (2, Vec::new()));
    }

    #[test]
    fn what_is_no_batch_is_an_error() {
        for entry in [&[] as &[u8], &[0, 1, 2], &[ENDS], &[BEGINS | ENDS, 0xff, 0xff]] {
            assert!(Assembler::default().add(entry).is_err(), "{entry:?}");
        }
    }
}
