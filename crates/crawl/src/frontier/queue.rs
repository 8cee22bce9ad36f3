//! The back queue of one origin: what waits, in order, partly in memory and partly in blocks on disk.
//!
//! A block is written once, by a checkpoint, and from then on is either wholly on disk or wholly in
//! memory. One that was loaded is written back, shorter, or removed, by the next checkpoint. The places
//! of blocks on disk are kept here, so the order is exact without reading them.
//!
//! - QUEUE-1: `peek` gives the smallest place of all, loaded or not (deferred ones aside).
//! - QUEUE-2: memory holds at most `host_urls_memory_max` items plus what came since the last
//!   checkpoint, which the checkpoint's own limits bound.
//! - QUEUE-3: what waits is in one place only: deferred, in memory, or in a block on disk that is not
//!   loaded; so nothing is lost and nothing is counted twice.
//! - QUEUE-4: blocks do not crumble: a loaded block that is less than half full joins the next that
//!   is formed, so that the list of blocks stays short beside what it lists.

use std::collections::{BTreeMap, BTreeSet};

use larm_core::{Limits, Millis};
use serde::{Deserialize, Serialize};

use super::item::{Item, Place};

/// Name of a block. Sorted as its items are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockId {
    /// The place of its first item when it was written.
    pub first: Place,
    /// Never used twice in one queue: an item that came back may begin another block.
    pub number: u32,
}

/// A block that is on disk and not in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBlock {
    /// Its name.
    pub id: BlockId,
    /// How many items it holds.
    pub items: u32,
}

/// An item out of its queue, and the time that it was deferred to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The item.
    pub item: Item,
    deferred_to: Option<Millis>,
}

/// What a checkpoint has to do for one queue.
#[derive(Debug, Default)]
pub struct BlockChanges {
    /// Blocks to write, with their items in order.
    pub write: Vec<(BlockId, Vec<Item>)>,
    /// Blocks to remove.
    pub remove: Vec<BlockId>,
}

#[derive(Debug)]
struct Waiting {
    item: Item,
    block: Option<BlockId>,
}

#[derive(Debug, Default)]
struct LoadedBlock {
    live: u32,
    changed: bool,
}

/// What waits for one origin.
#[derive(Debug, Default)]
pub struct Queue {
    memory: BTreeMap<Place, Waiting>,
    loaded: BTreeMap<BlockId, LoadedBlock>,
    stored: Vec<StoredBlock>,
    /// Items in `stored`.
    stored_items: u64,
    /// At most `host_urls_memory_max`.
    deferred: BTreeMap<(Millis, Place), Item>,
    next_block: u32,
}

/// A queue as its host's row on disk holds it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRow {
    stored: Vec<StoredBlock>,
    deferred: Vec<(Millis, Item)>,
    next_block: u32,
}

impl Queue {
    /// The queue that a row describes.
    pub fn from_row(row: QueueRow) -> Self {
        let deferred = row.deferred.into_iter().map(|(at, item)| ((at, item.place), item));
        Self {
            stored_items: row.stored.iter().map(|block| u64::from(block.items)).sum(),
            stored: row.stored,
            deferred: deferred.collect(),
            next_block: row.next_block,
            ..Self::default()
        }
    }

    /// The row that describes this queue, right behind [`Queue::checkpoint`].
    pub fn to_row(&self) -> QueueRow {
        QueueRow {
            stored: self.stored_after_checkpoint(),
            deferred: self.deferred.iter().map(|((at, _), item)| (*at, item.clone())).collect(),
            next_block: self.next_block,
        }
    }

    /// How many wait, deferred ones included.
    pub fn len(&self) -> u64 {
        (self.memory.len() + self.deferred.len()) as u64 + self.stored_items
    }

    /// Whether nothing waits at all.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.stored.is_empty() && self.deferred.is_empty()
    }

    /// Adds an item at its place.
    pub fn push(&mut self, item: Item) {
        let before = self.memory.insert(item.place, Waiting { item, block: None });
        debug_assert!(before.is_none(), "QUEUE-3: a place is taken once: {before:?}");
    }

    /// Adds an item that must wait until `at`, or just waits its turn when too many do.
    pub fn defer(&mut self, item: Item, at: Millis, limits: &Limits) {
        if self.deferred.len() as u64 >= limits.host_urls_memory_max {
            self.push(item);
        } else {
            self.deferred.insert((at, item.place), item);
        }
    }

    /// When the next item can be taken: at once, at a time, or never.
    pub fn ready_at(&self) -> Option<Millis> {
        if !self.memory.is_empty() || !self.stored.is_empty() {
            return Some(Millis(0));
        }
        self.deferred.keys().next().map(|(at, _)| *at)
    }

    /// The block that must be loaded before `peek` may be asked.
    pub fn block_due(&self) -> Option<BlockId> {
        let id = self.stored.first()?.id;
        let in_memory = self.memory.keys().next();
        in_memory.is_none_or(|place| id.first < *place).then_some(id)
    }

    /// Everything that waits, blocks on disk read by `read`.
    #[cfg(test)]
    pub fn items(&self, read: impl Fn(BlockId) -> Vec<Item>) -> Vec<Item> {
        let memory = self.memory.values().map(|waiting| waiting.item.clone());
        let memory = memory.chain(self.deferred.values().cloned());
        memory.chain(self.stored.iter().flat_map(|block| read(block.id))).collect()
    }

    /// Blocks on disk that may hold `place`, the likeliest first.
    pub fn blocks_before(&self, place: Place) -> Vec<BlockId> {
        let before = self.stored.partition_point(|block| block.id.first <= place);
        self.stored.iter().take(before).rev().map(|block| block.id).collect()
    }

    /// When an errand of the first front queue, a robots.txt, can be taken.
    pub fn urgent_at(&self) -> Option<Millis> {
        let in_order = self.memory.keys().next().is_some_and(|place| place.priority == 0)
            || self.stored.first().is_some_and(|block| block.id.first.priority == 0);
        if in_order {
            return Some(Millis(0));
        }
        self.deferred.keys().find(|(_, place)| place.priority == 0).map(|(at, _)| *at)
    }

    /// Looks at the first errand of the first front queue that may be taken.
    pub fn peek_urgent(&self, now: Millis) -> Option<Place> {
        let deferred = self.deferred.keys().filter(|(at, _)| *at <= now).map(|(_, place)| place);
        let mut places = self.memory.keys().next().into_iter().chain(deferred);
        places.find(|place| place.priority == 0).copied()
    }

    /// Takes the items of a block into memory.
    pub fn load(&mut self, id: BlockId, items: Vec<Item>) {
        let Ok(i) = self.stored.binary_search_by_key(&id, |block| block.id) else { return };
        self.stored_items -= u64::from(self.stored.remove(i).items);
        let live = u32::try_from(items.len()).unwrap_or(u32::MAX);
        self.loaded.insert(id, LoadedBlock { live, changed: false });
        for item in items {
            self.memory.insert(item.place, Waiting { item, block: Some(id) });
        }
    }

    /// The place of what comes next: one whose waiting time is over, else the first in order.
    pub fn peek(&self, now: Millis) -> Option<Place> {
        debug_assert!(self.block_due().is_none(), "QUEUE-1: the first block is loaded");
        let due = self.deferred.keys().next().filter(|(at, _)| *at <= now).map(|(_, place)| place);
        due.or_else(|| self.memory.keys().next()).copied()
    }

    /// Puts an item back as if it had never been taken.
    pub fn put_back(&mut self, taken: Taken) {
        match taken.deferred_to {
            None => self.push(taken.item),
            Some(at) => _ = self.deferred.insert((at, taken.item.place), taken.item),
        }
    }

    /// Takes the item at `place`, wherever it is in memory.
    pub fn take(&mut self, place: Place) -> Option<Taken> {
        if let Some(waiting) = self.memory.remove(&place) {
            if let Some(block) = waiting.block.and_then(|id| self.loaded.get_mut(&id)) {
                block.live -= 1;
                block.changed = true;
            }
            return Some(Taken { item: waiting.item, deferred_to: None });
        }
        let key = *self.deferred.keys().find(|(_, at_place)| *at_place == place)?;
        let item = self.deferred.remove(&key)?;
        Some(Taken { item, deferred_to: Some(key.0) })
    }

    fn stored_after_checkpoint(&self) -> Vec<StoredBlock> {
        let loaded = self.loaded.iter().filter(|(_, block)| block.live > 0);
        let loaded = loaded.map(|(id, block)| StoredBlock { id: *id, items: block.live });
        let mut all: Vec<_> = loaded.chain(self.stored.iter().cloned()).collect();
        all.sort_unstable_by_key(|block| block.id);
        all
    }

    /// Puts everything that is new into blocks, and says what the checkpoint has to write.
    ///
    /// Items that do not fit into memory any more are forgotten here: the checkpoint holds them.
    pub fn checkpoint(&mut self, limits: &Limits) -> BlockChanges {
        let mut changes = BlockChanges::default();
        // In this order no block is both written and removed.
        self.form_blocks(limits, &mut changes);
        self.write_back_loaded(&mut changes);
        self.unload_beyond(limits);
        changes
    }

    fn write_back_loaded(&mut self, changes: &mut BlockChanges) {
        let changed: Vec<BlockId> =
            self.loaded.iter().filter(|(_, block)| block.changed).map(|(id, _)| *id).collect();
        for id in changed {
            if self.loaded.get(&id).is_some_and(|block| block.live == 0) {
                self.loaded.remove(&id);
                changes.remove.push(id);
                continue;
            }
            let items = self.items_of(id);
            changes.write.push((id, items));
            if let Some(block) = self.loaded.get_mut(&id) {
                block.changed = false;
            }
        }
    }

    fn items_of(&self, id: BlockId) -> Vec<Item> {
        let priority = id.first.priority;
        let from = self.memory.range(id.first..);
        from.take_while(|(place, _)| place.priority == priority)
            .filter(|(_, waiting)| waiting.block == Some(id))
            .map(|(_, waiting)| waiting.item.clone())
            .collect()
    }

    fn form_blocks(&mut self, limits: &Limits, changes: &mut BlockChanges) {
        let block_items = usize::try_from(limits.queue_block_urls_max).unwrap_or(usize::MAX);
        let small = self.small_blocks(block_items);
        let fresh: Vec<Place> = self
            .memory
            .iter()
            .filter(|(_, waiting)| waiting.block.is_none_or(|id| small.contains(&id)))
            .map(|(place, _)| *place)
            .collect();
        for id in small {
            self.loaded.remove(&id);
            changes.remove.push(id);
        }
        for places in fresh.chunk_by(|a, b| a.priority == b.priority) {
            for places in places.chunks(block_items) {
                self.form_block(places, changes);
            }
        }
    }

    /// Loaded blocks that are less than half full, of the priorities that get a new block anyway.
    fn small_blocks(&self, block_items: usize) -> BTreeSet<BlockId> {
        let fresh = self.memory.iter().filter(|(_, waiting)| waiting.block.is_none());
        let priorities: BTreeSet<u8> = fresh.map(|(place, _)| place.priority).collect();
        let small = self.loaded.iter().filter(|(id, block)| {
            (block.live as usize) < block_items.div_ceil(2)
                && priorities.contains(&id.first.priority)
        });
        small.map(|(id, _)| *id).collect()
    }

    fn form_block(&mut self, places: &[Place], changes: &mut BlockChanges) {
        let Some(&first) = places.first() else { return };
        let id = BlockId { first, number: self.next_block };
        self.next_block += 1;
        let mut items = Vec::with_capacity(places.len());
        for place in places {
            let waiting = self.memory.get_mut(place).expect("QUEUE: a fresh place is in memory");
            waiting.block = Some(id);
            items.push(waiting.item.clone());
        }
        let live = u32::try_from(items.len()).unwrap_or(u32::MAX);
        self.loaded.insert(id, LoadedBlock { live, changed: false });
        changes.write.push((id, items));
    }

    /// Lets go of blocks until memory is within its limit, the last in order first. Small ones stay
    /// if that is enough: they are to grow. Only right behind a checkpoint.
    fn unload_beyond(&mut self, limits: &Limits) {
        let mut excess = (self.memory.len() as u64).saturating_sub(limits.host_urls_memory_max);
        let mut leaving = BTreeSet::new();
        for items_min in [limits.queue_block_urls_max.div_ceil(2), 0] {
            if excess == 0 {
                break;
            }
            // The first block stays: it is the next to be taken from.
            let last_first: Vec<BlockId> = self.loaded.keys().skip(1).rev().copied().collect();
            for id in last_first {
                let large = self.loaded.get(&id).is_some_and(|b| u64::from(b.live) >= items_min);
                if excess > 0 && large {
                    excess = excess.saturating_sub(self.unload(id));
                    leaving.insert(id);
                }
            }
        }
        if !leaving.is_empty() {
            self.memory.retain(|_, waiting| waiting.block.is_none_or(|id| !leaving.contains(&id)));
        }
    }

    /// Counts a block as being on disk only, and says how many items it has.
    fn unload(&mut self, id: BlockId) -> u64 {
        let Some(LoadedBlock { live: items, .. }) = self.loaded.remove(&id) else { return 0 };
        let at = self.stored.partition_point(|stored| stored.id < id);
        self.stored.insert(at, StoredBlock { id, items });
        self.stored_items += u64::from(items);
        u64::from(items)
    }
}

#[cfg(test)]
mod tests;
