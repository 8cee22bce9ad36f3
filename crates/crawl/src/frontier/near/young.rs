//! The newest simhashes, in memory: a chain for each value of each block.

use larm_core::near::{BITS_MAX, Simhash};

use super::{BLOCKS, CROWD_MAX, Entry, TABLES, block_of};

/// Simhashes in memory, with the pages that they are of.
#[derive(Debug, Default)]
pub(super) struct Young {
    entries: Vec<Entry>,
    /// For each table and block the last entry with it, counted from 1; empty before the first entry.
    heads: [Vec<u32>; TABLES],
    /// For each table and entry the one before it with the same block, counted from 1.
    nexts: [Vec<u32>; TABLES],
}

impl Young {
    /// All entries, the oldest first.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a page, unless it is there with the same simhash.
    pub(super) fn insert(&mut self, entry: Entry) {
        if self.chain(0, entry.simhash).any(|known| known == entry) {
            return;
        }
        self.entries.push(entry);
        let number = u32::try_from(self.entries.len()).expect("NEAR: so many are not in memory");
        for table in 0..TABLES {
            let heads = &mut self.heads[table];
            heads.resize(BLOCKS, 0);
            let head = &mut heads[block_of(entry.simhash, table)];
            self.nexts[table].push(std::mem::replace(head, number));
        }
    }

    /// Adds to `found` all that are near, each once.
    pub(super) fn find(&self, simhash: Simhash, found: &mut Vec<Entry>) {
        for table in 0..TABLES {
            for entry in self.chain(table, simhash.0) {
                let is_near = (entry.simhash ^ simhash.0).count_ones() <= BITS_MAX;
                if is_near && !found.contains(&entry) {
                    found.push(entry);
                }
            }
        }
    }

    /// The entries that have the same block as a simhash, the newest first.
    fn chain(&self, table: usize, simhash: u64) -> impl Iterator<Item = Entry> {
        let head = self.heads[table].get(block_of(simhash, table)).copied().unwrap_or_default();
        let before = move |number: u32| number.checked_sub(1).map(|at| at as usize);
        let numbers = std::iter::successors(before(head), move |at| before(self.nexts[table][*at]));
        numbers.take(CROWD_MAX).map(|at| self.entries[at])
    }
}

impl FromIterator<Entry> for Young {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut young = Self::default();
        entries.into_iter().for_each(|entry| young.insert(entry));
        young
    }
}
