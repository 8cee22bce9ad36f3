//! The order of waiting pages, as far as the state has to do with it: what the board has to hear, and items
//! that are wanted out of turn.
//!
//! Nothing here is a change that the log speaks of: places are what it knows, and an order is only a reason to
//! ask for one rather than for another.

use std::sync::Arc;

use larm_core::url::Fingerprint;
use larm_core::workbench::HostKey;

use super::{BlockKey, State};
use crate::error::Result;
use crate::frontier::board::{Board, OriginKey, Waits};
use crate::frontier::item::{Item, Place};
use crate::frontier::pack::Packed;

/// Blocks that are read for one item. It is in the first, unless it came back after others had gone into
/// a block.
const BLOCKS_READ: usize = 2;

/// A board that is followed, and news for it; nothing at all where pages come in the order of their places.
#[derive(Default)]
pub struct Following {
    board: Option<Arc<Board>>,
    waits: Vec<Waits>,
}

impl Following {
    /// Follows a board from now on.
    pub fn follow(&mut self, board: Arc<Board>) {
        self.board = Some(board);
    }

    /// The board, if there is one.
    pub fn board(&self) -> Option<&Arc<Board>> {
        self.board.as_ref()
    }

    /// The news since they were last taken: what a settlement, or a few moves, bring.
    pub fn take_waits(&mut self) -> Vec<Waits> {
        std::mem::take(&mut self.waits)
    }

    /// A URL waits at its place from now on.
    pub(super) fn hear_of(&mut self, seq: u64, packed: &Packed<'_>) {
        if let Some(board) = &self.board {
            self.waits.extend(waits(seq, packed, board.needs_urls));
        }
    }

    /// An item takes its place again.
    pub(super) fn hear_back(&mut self, (host, origin): (HostKey, &str), item: &Item) {
        let Some(board) = &self.board else { return };
        if Waits::is_ordered(item.place) {
            self.waits.push(Waits {
                url: Fingerprint::of(&item.url),
                origin: OriginKey::of(host, origin),
                place: item.place,
                depth: item.depth,
                text: board.needs_urls.then(|| item.url.clone()),
            });
        }
    }

    /// An item has left its place.
    pub fn left(&self, item: &Item) {
        if let Some(board) = self.board.as_ref().filter(|_| Waits::is_ordered(item.place)) {
            board.leave(Fingerprint::of(&item.url));
        }
    }
}

/// A packed URL as the board hears of it, if it has to.
pub fn waits(seq: u64, packed: &Packed<'_>, needs_urls: bool) -> Option<Waits> {
    let place = Place { priority: packed.priority, seq };
    (packed.counts() && Waits::is_ordered(place)).then(|| Waits {
        url: Fingerprint::of(packed.url),
        origin: OriginKey::of(packed.host, packed.origin()),
        place,
        depth: packed.depth(),
        text: needs_urls.then(|| packed.url.into()),
    })
}

impl State {
    /// Has the item at a place in memory, so that it can be taken out of turn; whether it waits there.
    pub fn bring_up(&mut self, key: HostKey, origin: u32, place: Place) -> Result<bool> {
        let Some(host) = self.hosts.get_mut(&key) else { return Ok(false) };
        let (partition, at) = (host.partition, host.origin(origin));
        if at.queue.holds(place) {
            return Ok(true);
        }
        let before = at.queue.memory_bytes();
        for block in at.queue.blocks_before(place).into_iter().take(BLOCKS_READ) {
            let list = self.store.block(BlockKey { partition, host: key, origin, block })?;
            let picked = at.queue.pick(block, place, &list, &self.limits);
            if picked.ok_or_else(|| self.store.broken("a block of waiting URLs cannot be read"))? {
                // A block with many holes came along, and stays until a checkpoint has written it anew.
                self.change_bytes += at.queue.memory_bytes().saturating_sub(before);
                return Ok(true);
            }
        }
        Ok(false)
    }
}
