//! What a new segment makes old: the documents of the same URLs in all others, as one query.
//!
//! tantivy takes deletes for queries that it runs over every segment when it commits. One for each page
//! would look for each page in each segment; this one has all of them, and where they are many, it
//! reads the column of a segment once.
//!
//! Deletes come before the segment that they are for, but tantivy does not promise that they spare it: what is in its
//! queue may be seen by segments that are added later. So it is remembered in which order segments were written, and a
//! delete leaves those alone that are younger than itself. What they are merged into has seen it by then.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tantivy::index::SegmentId;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::{BitSet, DocId, Score, SegmentReader, TantivyError};

use crate::anchored::docs_with;
use crate::anchors::AsItIs;
use crate::schema::schema;

/// Looking for one URL takes about as long as reading so many documents' numbers.
const LOOK_UP_DOCUMENTS: usize = 100;

/// The segments that were written in this run, in order: a few bytes for each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written(Arc<Mutex<HashMap<SegmentId, usize>>>);

impl Written {
    fn numbers(&self) -> MutexGuard<'_, HashMap<SegmentId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a segment down as the youngest.
    pub fn add(&self, segment: SegmentId) {
        let mut numbers = self.numbers();
        let number = numbers.len();
        numbers.insert(segment, number);
    }
}

/// All documents of some URLs, but for those in segments that were written later.
#[derive(Debug, Clone)]
pub(crate) struct Outdated {
    url_keys: Arc<HashSet<u64, BuildHasherDefault<AsItIs>>>,
    written: Written,
    /// How many segments were written so far.
    segments: usize,
}

impl Outdated {
    /// What is outdated from now on.
    pub fn new(url_keys: impl Iterator<Item = u64>, written: &Written) -> Self {
        let segments = written.numbers().len();
        Self { url_keys: Arc::new(url_keys.collect()), written: written.clone(), segments }
    }

    fn spares(&self, segment: SegmentId) -> bool {
        self.written.numbers().get(&segment).is_some_and(|number| *number >= self.segments)
    }

    fn documents(&self, reader: &SegmentReader) -> tantivy::Result<BitSet> {
        let mut found = BitSet::with_max_value(reader.max_doc());
        if self.spares(reader.segment_id()) {
            return Ok(found);
        }
        if self.url_keys.len() < reader.max_doc() as usize / LOOK_UP_DOCUMENTS {
            let field = schema().1.url_key;
            for url_key in self.url_keys.iter() {
                for document in docs_with(reader, field, *url_key)? {
                    found.insert(document);
                }
            }
            return Ok(found);
        }
        let url_key_of = reader.fast_fields().u64("url_key")?;
        for document in 0..reader.max_doc() {
            if url_key_of.first(document).is_some_and(|key| self.url_keys.contains(&key)) {
                found.insert(document);
            }
        }
        Ok(found)
    }
}

impl Query for Outdated {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for Outdated {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let documents = BitSetDocSet::from(self.documents(reader)?);
        Ok(Box::new(ConstScorer::new(documents, boost)))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Err(TantivyError::InvalidArgument("what is deleted has no score".to_owned()))
    }
}
