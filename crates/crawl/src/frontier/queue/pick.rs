//! One item out of turn: picked from its block, which stays on disk with a hole in it.
//!
//! What is picked is loose from then on, at the place that it has: whether it is then taken, or moved, or
//! stays, nobody else has to know where it came from. Nothing here is a change that the log speaks of.

use larm_core::Limits;

use super::{BlockId, Place, Queue, StoredBlock, pack};

/// The part of a full block that may be holes.
const SHARE_HOLES: u64 = 8;

impl Queue {
    /// Picks the item at a place from a block, as it was written, which stays on disk; whether it was
    /// there. `None` if the block is not whole.
    pub fn pick(
        &mut self,
        id: BlockId,
        place: Place,
        list: &[u8],
        limits: &Limits,
    ) -> Option<bool> {
        let i = self.stored.iter().position(|block| block.id == id && block.counts(place));
        let Some(i) = i else { return Some(false) };
        for entry in pack::entries(list) {
            let (seq, packed) = entry?;
            if (Place { priority: packed.priority, seq }) == place {
                self.push(place, packed.bytes);
                self.note_hole(i, seq);
                self.mend(i, list, limits)?;
                return Some(true);
            }
        }
        Some(false)
    }

    fn note_hole(&mut self, i: usize, seq: u64) {
        let block = &mut self.stored[i];
        block.holes.push(seq);
        block.items -= 1;
        self.stored_items -= 1;
    }

    /// Has a block removed that has nothing left, and one written anew that has many holes.
    fn mend(&mut self, i: usize, list: &[u8], limits: &Limits) -> Option<()> {
        let StoredBlock { id, items, ref holes, .. } = self.stored[i];
        let holes_max = limits.queue_block_urls_max.div_ceil(SHARE_HOLES);
        if items > 0 && (holes.len() as u64) <= holes_max {
            return Some(());
        }
        self.load(id, list)?;
        let block = self.loaded.get_mut(&id.number).expect("QUEUE: it was just loaded");
        block.unwritten = true;
        Some(())
    }
}
