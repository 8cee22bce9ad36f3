//! Rows that were changed since the last checkpoint, and those that it is just writing.
//!
//! A checkpoint is written while the crawl goes on. Until it is whole, what it holds cannot be read from
//! the store for certain, so it is kept here.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// A map of changes, and the map of those being written.
#[derive(Debug, Default)]
pub(super) struct Changes<M> {
    fresh: M,
    saving: Arc<M>,
}

impl<K: Eq + Hash, V, S: BuildHasher + Default> Changes<HashMap<K, V, S>> {
    /// The row of a key, if it was changed.
    pub(super) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.fresh.get(key).or_else(|| self.saving.get(key))
    }

    /// All rows that were changed.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        let written = self.saving.iter().filter(|(key, _)| !self.fresh.contains_key(*key));
        self.fresh.values().chain(written.map(|(_, row)| row))
    }

    /// Notes a row.
    pub(super) fn insert(&mut self, key: K, row: V) {
        self.fresh.insert(key, row);
    }

    /// The rows that a checkpoint has to write. There is one at a time.
    pub(super) fn save(&mut self) -> Arc<HashMap<K, V, S>> {
        debug_assert!(self.saving.is_empty(), "one checkpoint at a time");
        self.saving = Arc::new(std::mem::take(&mut self.fresh));
        self.saving.clone()
    }

    /// The checkpoint is written.
    pub(super) fn forget_saved(&mut self) {
        self.saving = Arc::default();
    }
}
