//! Whose turn it is, and for which page, where pages have an order of their own (step 5).
//!
//! Politeness comes first: the bench says who may be asked now. Of those, the host goes first that has the best
//! page, and of its pages the best. Errands of the crawl's own come before all pages, and pages that are
//! tried again come when their time does.
//!
//! - RANK-1: no host and no URL starves. Every eighth turn is that of the host that is due longest, and
//!   every fourth of these is for what is first by place.

use std::sync::Arc;

use larm_core::Millis;
use larm_core::workbench::{HostKey, Turn};

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::board::{Best, Board, BoardView, OriginKey, Rank};
use crate::frontier::host::{Appetite, Host};
use crate::frontier::item::Place;

/// Of so many turns, one is for who is due longest.
const FAIR_HOSTS: u64 = 8;
/// Of so many turns, one is for what is first by place.
const FAIR_PLACES: u64 = 32;
/// Places of the board that may turn out to be empty before the first by place is taken.
const TRIES: usize = 16;

impl DiskFrontier {
    /// The next host's turn, if somebody is due.
    pub(super) fn next_turn(&mut self, now: Millis) -> Option<Turn> {
        let Some(board) = self.state.order.board() else { return self.bench.lease(now) };
        let turn = if (self.turns + 1).is_multiple_of(FAIR_HOSTS) {
            self.bench.lease(now)
        } else {
            let looks = usize::try_from(self.limits.order_hosts_max).unwrap_or(usize::MAX);
            let (hosts, board) = (&self.state.hosts, board.look());
            let rank = |key| hosts.get(&key).map_or(Rank::LAST, |host| rank_of(host, &board));
            self.bench.lease_best(now, looks, rank)
        };
        self.turns += u64::from(turn.is_some());
        turn
    }

    /// What comes next of a host whose turn it is: the index of its origin, and a place in memory.
    pub(super) fn next_place(&mut self, key: HostKey, now: Millis) -> Result<Option<(u32, Place)>> {
        self.state.load_due_blocks(key)?;
        let host = self.state.hosts.get(&key);
        let host = host.expect("DISK-1: the bench's hosts are in memory");
        let appetite = self.appetite(host);
        let first = host.next_origin(now, appetite);
        let board = self.state.order.board().filter(|_| !self.turns.is_multiple_of(FAIR_PLACES));
        match board.cloned() {
            Some(board) if first.is_some_and(|first| waits_for_its_turn(host, first)) => {
                Ok(self.best_place(&board, (key, now), appetite)?.or(first))
            }
            _ => Ok(first),
        }
    }

    fn best_place(
        &mut self,
        board: &Arc<Board>,
        (key, now): (HostKey, Millis),
        appetite: Appetite,
    ) -> Result<Option<(u32, Place)>> {
        for _ in 0..TRIES {
            let Some(host) = self.state.hosts.get(&key) else { return Ok(None) };
            let Some((best, index)) = best_of(host, now, appetite, &board.look()) else {
                return Ok(None);
            };
            if self.state.bring_up(key, index, best.place)? {
                return Ok(Some((index, best.place)));
            }
            board.clear(best);
        }
        Ok(None)
    }
}

/// Whether what is first by place is a page in its place, and no errand and no page to be tried again.
fn waits_for_its_turn(host: &Host, (index, place): (u32, Place)) -> bool {
    let origin = host.origins.get(index as usize);
    place >= Place::PAGES_FROM && origin.is_some_and(|origin| origin.queue.holds(place))
}

fn best_of(
    host: &Host,
    now: Millis,
    appetite: Appetite,
    board: &BoardView<'_>,
) -> Option<(Best, u32)> {
    let open = host.open_origins(now, appetite);
    let bests = open.filter_map(|(index, origin)| {
        Some((board.best(OriginKey::of(host.key, &origin.text))?, index))
    });
    bests.min()
}

/// How a host stands among others that are due.
fn rank_of(host: &Host, board: &BoardView<'_>) -> Rank {
    if host.has_errands() {
        return Rank::FIRST;
    }
    let origins = host.origins.iter().map(|origin| OriginKey::of(host.key, &origin.text));
    origins.filter_map(|origin| board.best(origin)).min().map_or(Rank::LAST, |best| best.rank)
}
