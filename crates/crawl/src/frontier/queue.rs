//! The back queue of one origin: what waits, in order, partly in memory and partly in blocks on disk.
//!
//! A block is written once, by a checkpoint, and from then on is either on disk or wholly in memory. What is
//! taken from its front moves a mark in the host's row; only one that lost something from its middle is
//! written again, and one that is used up is removed. The places of blocks on disk are kept here, so the
//! order is exact without reading them. A few items are not worth a block: as long as there are no more of
//! them, they are loose, and lie in the host's row.
//!
//! Who wants one item out of turn has it picked from its block, which stays on disk with a hole in it. The
//! row names the holes; when a block has many, it is loaded and written anew.
//!
//! - QUEUE-1: `peek` gives the smallest place of all, loaded or not (deferred ones aside).
//! - QUEUE-2: memory holds at most `host_urls_memory_max` items plus what came since the last
//!   checkpoint, which the checkpoint's own limits bound.
//! - QUEUE-3: what waits is in one place only: deferred, in memory, or in a block on disk that is not
//!   loaded; so nothing is lost and nothing is counted twice.
//! - QUEUE-4: blocks do not crumble: when many blocks in memory are less than half full, they become one,
//!   so that the list of blocks stays short beside what it lists.

mod lanes;
mod pick;

use std::collections::{BTreeMap, BTreeSet};

use larm_core::{Limits, Millis};
use serde::{Deserialize, Serialize};

use self::lanes::{Lanes, Waiting};
use super::item::{Item, Place};
use super::pack::{self, Entries, Packed};

/// The part of a full block that may be loose.
const SHARE_LOOSE: u64 = 8;
/// Blocks of one front queue that are less than half full before they are made into one: each item is
/// then rewritten a few times until its block is full, and not with every newcomer.
const SMALL_BLOCKS: usize = 8;
/// What an item in memory takes beside its bytes, roughly.
const ITEM_BYTES: u64 = 80;

/// Name of a block.
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
    /// No item before this place counts any more.
    pub from: Place,
    /// Its name.
    pub id: BlockId,
    /// How many of its items count.
    pub items: u32,
    /// The numbers of those that were picked from it, and count no more.
    pub holes: Vec<u64>,
}

impl StoredBlock {
    /// Blocks are sorted by what comes first in them.
    fn order(&self) -> (Place, u32) {
        (self.from, self.id.number)
    }

    /// Whether what lies at a place of it counts.
    pub fn counts(&self, place: Place) -> bool {
        place >= self.from && !self.holes.contains(&place.seq)
    }
}

/// An item out of its queue, and the time that it was deferred to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The item.
    pub item: Item,
    deferred_to: Option<Millis>,
}

#[derive(Debug)]
struct LoadedBlock {
    id: BlockId,
    from: Place,
    live: u32,
    /// What it has on disk and no longer here.
    holes: Vec<u64>,
    /// Not on disk as it is here.
    unwritten: bool,
}

/// What waits for one origin.
#[derive(Debug, Default)]
pub struct Queue {
    memory: Lanes,
    /// How many of them have no block.
    loose: u64,
    /// By number.
    loaded: BTreeMap<u32, LoadedBlock>,
    /// In the order of their first items.
    stored: Vec<StoredBlock>,
    /// Items in `stored`.
    stored_items: u64,
    /// At most `host_urls_memory_max`.
    deferred: BTreeMap<(Millis, Place), Item>,
    next_block: u32,
    /// Of `memory`.
    packed_bytes: u64,
}

/// A queue as its host's row on disk holds it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRow {
    stored: Vec<StoredBlock>,
    loose: Entries,
    deferred: Vec<(Millis, Item)>,
    next_block: u32,
}

impl Queue {
    /// The queue that a row describes.
    pub fn from_row(row: QueueRow) -> Self {
        let deferred = row.deferred.into_iter().map(|(at, item)| ((at, item.place), item));
        let mut queue = Self {
            stored_items: row.stored.iter().map(|block| u64::from(block.items)).sum(),
            stored: row.stored,
            deferred: deferred.collect(),
            next_block: row.next_block,
            ..Self::default()
        };
        for (seq, packed) in row.loose.iter() {
            queue.push(Place { priority: packed.priority, seq }, packed.bytes);
        }
        queue
    }

    /// The row that describes this queue, right behind [`Queue::checkpoint`].
    pub fn to_row(&self) -> QueueRow {
        QueueRow {
            stored: self.stored_after_checkpoint(),
            loose: self.list_of_loose(),
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

    /// What it holds in memory, roughly.
    pub fn memory_bytes(&self) -> u64 {
        let items = (self.memory.len() + self.deferred.len() + self.stored.len()) as u64;
        self.packed_bytes + items * ITEM_BYTES
    }

    /// Adds a packed item at its place.
    pub fn push(&mut self, place: Place, packed: &[u8]) {
        self.packed_bytes += packed.len() as u64;
        self.loose += 1;
        let was_free = self.memory.insert(place.priority, Waiting::new(place.seq, packed, None));
        debug_assert!(was_free, "QUEUE-3: a place is taken once: {place:?}");
    }

    /// Adds an item that must wait until `at`. Whether there is room for one more of these.
    pub fn defer(&mut self, item: Item, at: Millis, limits: &Limits) -> Result<(), Item> {
        if self.deferred.len() as u64 >= limits.host_urls_memory_max {
            return Err(item);
        }
        self.deferred.insert((at, item.place), item);
        Ok(())
    }

    /// When something that stands before a place can be taken: at once, at a time, or never.
    pub fn ready_before(&self, end: Place) -> Option<Millis> {
        let in_order = self.memory.begin_before(end)
            || self.stored.first().is_some_and(|block| block.from < end);
        if in_order {
            return Some(Millis(0));
        }
        self.deferred.keys().find(|(_, place)| *place < end).map(|(at, _)| *at)
    }

    /// The block that must be loaded before `peek` may be asked.
    pub fn block_due(&self) -> Option<BlockId> {
        let block = self.stored.first()?;
        self.memory.first().is_none_or(|place| block.from < place).then_some(block.id)
    }

    /// Everything that waits, blocks on disk read by `read`.
    #[cfg(test)]
    pub fn items(&self, read: impl Fn(BlockId) -> Vec<u8>) -> Vec<Item> {
        let memory = self.items_in_memory().chain(self.deferred.values().cloned());
        let stored = self.stored.iter().flat_map(|block| {
            let list = read(block.id);
            let items = pack::entries(&list).flatten().map(|(seq, packed)| packed.unpack(seq));
            items.filter(|item| block.counts(item.place)).collect::<Vec<_>>()
        });
        memory.chain(stored).collect()
    }

    /// Whether an item that is in memory has this place.
    pub fn holds(&self, place: Place) -> bool {
        self.memory.contains(place)
    }

    /// What waits in memory, in order.
    #[cfg(test)]
    pub fn items_in_memory(&self) -> impl Iterator<Item = Item> {
        self.memory.iter().map(|(place, one)| unpack(place, &one.packed))
    }

    /// Calls `tell` for what waits in order in memory, with its number.
    pub fn each_in_memory(&self, mut tell: impl FnMut(u64, &Packed<'_>)) {
        for (place, one) in self.memory.iter() {
            tell(place.seq, &Packed::trusted(&one.packed));
        }
    }

    /// The blocks that are on disk and not in memory, in order.
    pub fn stored(&self) -> &[StoredBlock] {
        &self.stored
    }

    /// Blocks on disk that may hold `place`, the likeliest first.
    pub fn blocks_before(&self, place: Place) -> Vec<BlockId> {
        let before = self.stored.partition_point(|block| block.from <= place);
        self.stored.iter().take(before).rev().map(|block| block.id).collect()
    }

    /// Takes the items of a block, as they were written, into memory. `None` if they are not whole.
    pub fn load(&mut self, id: BlockId, list: &[u8]) -> Option<()> {
        let i = self.stored.iter().position(|block| block.id == id)?;
        let mut fronts: BTreeMap<u8, Vec<Waiting>> = BTreeMap::new();
        let (mut live, mut bytes) = (0, 0);
        for entry in pack::entries(list) {
            let (seq, packed) = entry?;
            if self.stored[i].counts(Place { priority: packed.priority, seq }) {
                live += 1;
                bytes += packed.bytes.len() as u64;
                let waiting = Waiting::new(seq, packed.bytes, Some(id.number));
                fronts.entry(packed.priority).or_default().push(waiting);
            }
        }
        fronts.into_iter().for_each(|(priority, many)| self.memory.extend(priority, many));
        self.packed_bytes += bytes;
        let block = self.stored.remove(i);
        self.stored_items -= u64::from(block.items);
        debug_assert_eq!(live, block.items, "QUEUE-3: a block holds what is counted");
        let StoredBlock { from, holes, .. } = block;
        self.loaded.insert(id.number, LoadedBlock { id, from, live, holes, unwritten: false });
        Some(())
    }

    /// The place of what comes next, before a place: one whose waiting time is over, else the first in
    /// order.
    pub fn peek_before(&self, now: Millis, end: Place) -> Option<Place> {
        let may_be = |place: &Place| *place < end;
        let mut due =
            self.deferred.keys().take_while(|(at, _)| *at <= now).map(|(_, place)| *place);
        let first = self.memory.first().filter(may_be);
        debug_assert!(first.is_none() || self.block_due().is_none(), "QUEUE-1: it is loaded");
        due.find(may_be).or(first)
    }

    /// The place of what comes next.
    pub fn peek(&self, now: Millis) -> Option<Place> {
        self.peek_before(now, Place::END)
    }

    /// The URLs in memory from a place on, in order; one that was deferred stands alone.
    pub fn urls_from(&self, place: Place) -> impl Iterator<Item = (Place, &str)> {
        let deferred = self.deferred.iter().filter(move |((_, at), _)| *at == place);
        let deferred = deferred.map(|((_, at), item)| (*at, &*item.url));
        let in_order = self.memory.iter_from(place);
        deferred.chain(in_order.map(|(at, one)| (at, Packed::trusted(&one.packed).url)))
    }

    /// Puts an item back to where it was deferred; one that was not is returned, to be pushed.
    pub fn put_back(&mut self, taken: Taken) -> Option<Item> {
        let Some(at) = taken.deferred_to else { return Some(taken.item) };
        self.deferred.insert((at, taken.item.place), taken.item);
        None
    }

    /// Takes the item at `place`, wherever it is in memory.
    pub fn take(&mut self, place: Place) -> Option<Taken> {
        let is_first = self.memory.first() == Some(place);
        if let Some(waiting) = self.memory.remove(place) {
            self.packed_bytes -= waiting.packed.len() as u64;
            self.loose -= u64::from(waiting.block.is_none());
            if let Some(block) = waiting.block.and_then(|number| self.loaded.get_mut(&number)) {
                block.live -= 1;
                // The first of all is the first of its block: what is left of that is behind it.
                block.from = if is_first { behind(place) } else { block.from };
                block.unwritten |= !is_first;
            }
            let item = unpack(place, &waiting.packed);
            return Some(Taken { item, deferred_to: None });
        }
        let key = *self.deferred.keys().find(|(_, at_place)| *at_place == place)?;
        let item = self.deferred.remove(&key)?;
        Some(Taken { item, deferred_to: Some(key.0) })
    }

    fn stored_after_checkpoint(&self) -> Vec<StoredBlock> {
        let loaded = self.loaded.values().map(LoadedBlock::stored);
        let mut all: Vec<_> = loaded.chain(self.stored.iter().cloned()).collect();
        all.sort_unstable_by_key(StoredBlock::order);
        all
    }

    /// Puts everything that is new into blocks, gives each block that the checkpoint has to write to
    /// `write`, with the list of its items, and returns those that it has to remove.
    pub fn checkpoint(
        &mut self,
        limits: &Limits,
        write: &mut impl FnMut(BlockId, &[u8]),
    ) -> Vec<BlockId> {
        let mut removed = self.form_blocks(limits);
        let empty = self.loaded.values().filter(|block| block.live == 0);
        removed.extend(empty.map(|block| block.id));
        self.loaded.retain(|_, block| block.live > 0);
        let mut list = Vec::new();
        for block in self.loaded.values().filter(|block| block.unwritten) {
            list.clear();
            self.list_block(block, &mut list);
            write(block.id, &list);
        }
        for block in self.loaded.values_mut().filter(|block| block.unwritten) {
            block.unwritten = false;
            block.holes.clear();
        }
        removed
    }

    fn list_block(&self, block: &LoadedBlock, list: &mut Vec<u8>) {
        let waiting = self.memory.iter_from(block.from);
        let its_own = waiting.filter(|(_, waiting)| waiting.block == Some(block.id.number));
        list.reserve(block.live as usize * pack::URL_BYTES);
        for (place, waiting) in its_own.take(block.live as usize) {
            pack::put_entry(list, place.seq, &waiting.packed);
        }
    }

    /// The loose items, right behind [`Queue::checkpoint`].
    fn list_of_loose(&self) -> Entries {
        let loose = self.memory.iter().filter(|(_, one)| one.block.is_none());
        let mut list = Entries::with_capacity(self.loose as usize);
        for (place, one) in loose.take(self.loose as usize) {
            list.push(place.seq, &one.packed);
        }
        list
    }

    /// Gives the items without a block one if they are too many to be loose, and returns the small blocks
    /// that went into them.
    fn form_blocks(&mut self, limits: &Limits) -> Vec<BlockId> {
        if self.loose <= limits.queue_block_urls_max.div_ceil(SHARE_LOOSE) {
            return Vec::new();
        }
        self.loose = 0;
        let small = self.small_blocks(limits);
        let joined = small.iter().filter_map(|number| self.loaded.remove(number));
        let joined: Vec<BlockId> = joined.map(|block| block.id).collect();
        let mut formed: Vec<LoadedBlock> = Vec::new();
        for (place, one) in self.memory.iter_mut() {
            if one.block.is_some_and(|number| !small.contains(&number)) {
                continue;
            }
            if !formed.last().is_some_and(|block| block.takes(place, limits)) {
                formed.push(LoadedBlock::begin(place, self.next_block));
                self.next_block += 1;
            }
            let block = formed.last_mut().expect("QUEUE: one was begun");
            block.live += 1;
            one.block = Some(block.id.number);
        }
        self.loaded.extend(formed.into_iter().map(|block| (block.id.number, block)));
        joined
    }

    /// The numbers of blocks in memory that are less than half full, if there are many of a front queue.
    fn small_blocks(&self, limits: &Limits) -> BTreeSet<u32> {
        let mut small: BTreeMap<u8, BTreeSet<u32>> = BTreeMap::new();
        for (number, block) in &self.loaded {
            if u64::from(block.live) < limits.queue_block_urls_max.div_ceil(2) {
                small.entry(block.id.first.priority).or_default().insert(*number);
            }
        }
        small.retain(|_, numbers| numbers.len() >= SMALL_BLOCKS);
        small.into_values().flatten().collect()
    }

    /// Lets go of blocks that are on disk until memory is within its limit, the last in order first.
    /// Small ones stay if that is enough: they are to grow. Only when the checkpoint is written.
    pub fn unload_beyond(&mut self, limits: &Limits) {
        let mut excess = (self.memory.len() as u64).saturating_sub(limits.host_urls_memory_max);
        let mut leaving = BTreeSet::new();
        for items_min in [limits.queue_block_urls_max.div_ceil(2), 0] {
            if excess == 0 {
                break;
            }
            for number in self.written_blocks() {
                let large =
                    self.loaded.get(&number).is_some_and(|b| u64::from(b.live) >= items_min);
                if excess > 0 && large {
                    excess = excess.saturating_sub(self.unload(number));
                    leaving.insert(number);
                }
            }
        }
        if !leaving.is_empty() {
            let bytes = &mut self.packed_bytes;
            self.memory.retain(|waiting| {
                let stays = waiting.block.is_none_or(|number| !leaving.contains(&number));
                *bytes -= if stays { 0 } else { waiting.packed.len() as u64 };
                stays
            });
        }
        self.memory.shrink();
    }

    /// Blocks in memory that are on disk too, the last in order first. The first of all stays: it is
    /// the next to be taken from.
    fn written_blocks(&self) -> Vec<u32> {
        let mut blocks: Vec<_> = self.loaded.values().map(|b| (b.from, b.id.number)).collect();
        blocks.sort_unstable();
        let numbers = blocks.into_iter().skip(1).rev().map(|(_, number)| number);
        let is_written = |number: &u32| {
            self.loaded.get(number).is_some_and(|block| !block.unwritten && block.live > 0)
        };
        numbers.filter(is_written).collect()
    }

    /// Counts a block as being on disk only, and says how many items it has.
    fn unload(&mut self, number: u32) -> u64 {
        let Some(block) = self.loaded.remove(&number) else { return 0 };
        let stored = block.stored();
        let at = self.stored.partition_point(|other| other.order() < stored.order());
        self.stored.insert(at, stored);
        self.stored_items += u64::from(block.live);
        u64::from(block.live)
    }
}

impl LoadedBlock {
    fn begin(first: Place, number: u32) -> Self {
        Self {
            id: BlockId { first, number },
            from: first,
            live: 0,
            holes: Vec::new(),
            unwritten: true,
        }
    }

    /// Whether an item behind all of its own can join it.
    fn takes(&self, place: Place, limits: &Limits) -> bool {
        let has_room = u64::from(self.live) < limits.queue_block_urls_max;
        has_room && self.id.first.priority == place.priority
    }

    fn stored(&self) -> StoredBlock {
        let holes = self.holes.clone();
        StoredBlock { from: self.from, id: self.id, items: self.live, holes }
    }
}

/// The place right behind one, in the same front queue.
fn behind(place: Place) -> Place {
    Place { seq: place.seq + 1, ..place }
}

fn unpack(place: Place, packed: &[u8]) -> Item {
    Packed::trusted(packed).unpack(place.seq)
}

#[cfg(test)]
mod tests;
