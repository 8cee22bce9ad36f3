//! Who is in memory: at most `hosts_memory_max` hosts from one checkpoint to the next.
//!
//! Only right behind a checkpoint may a host leave memory, as then the store holds all of it. First go
//! those with nothing to do, then those that have nothing to do soon. Those on disk come back, the first
//! due first, when there is room; and each checkpoint makes some for them if they are due. When nobody in
//! memory is, such a checkpoint is asked for (`is_cramped`), so that a full memory never holds up the
//! crawl.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use larm_core::Millis;
use larm_core::workbench::HostKey;

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::host::Host;

/// Hosts that come back from disk, or make room for others, at a time.
const UNPARK_HOSTS: usize = 64;
/// Nobody in memory has something to do for this long: let others have their place.
const CRAMPED_MS: u64 = 1_000;

/// The turn of a host of which nothing may be asked.
const NEVER: Millis = Millis(u64::MAX);

/// Hosts on disk only that have work to do, by when their turn comes.
#[derive(Debug, Default)]
pub(super) struct Parked {
    by_turn: BTreeSet<(Millis, HostKey)>,
    /// Each with its turn and its partition.
    hosts: HashMap<HostKey, (Millis, u16)>,
}

impl Parked {
    pub(super) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.hosts.len()
    }

    pub(super) fn insert(&mut self, key: HostKey, turn: Millis, partition: u16) {
        self.remove(key);
        self.by_turn.insert((turn, key));
        self.hosts.insert(key, (turn, partition));
    }

    pub(super) fn remove(&mut self, key: HostKey) {
        if let Some((turn, _)) = self.hosts.remove(&key) {
            self.by_turn.remove(&(turn, key));
        }
    }

    fn first_turn(&self) -> Option<Millis> {
        self.by_turn.first().map(|(turn, _)| *turn)
    }

    fn pop_first(&mut self) -> Option<(HostKey, u16)> {
        let (_, key) = self.by_turn.pop_first()?;
        self.hosts.remove(&key).map(|(_, partition)| (key, partition))
    }
}

impl DiskFrontier {
    /// Whether a host on disk has work, and there is room for it.
    pub(super) fn can_unpark(&self) -> bool {
        !self.parked.is_empty() && (self.state.hosts.len() as u64) < self.limits.hosts_memory_max
    }

    /// Brings hosts back from disk while there is room, those that are due first first.
    pub(super) fn unpark(&mut self) -> Result<()> {
        for _ in 0..UNPARK_HOSTS {
            if !self.can_unpark() {
                break;
            }
            let Some((key, partition)) = self.parked.pop_first() else { break };
            self.state.bring_back(partition, key)?;
        }
        self.seat_touched();
        Ok(())
    }

    fn others_are_due(&self, now: Millis) -> bool {
        self.parked.first_turn().is_some_and(|turn| turn <= now)
    }

    /// Whether a host on disk is due, and those that fill the memory have nothing to do for a while.
    pub(super) fn is_cramped(&self, now: Millis) -> bool {
        let hosts = self.state.hosts.len() as u64;
        let soon = now.after(CRAMPED_MS);
        let is_soon = |at: Option<Millis>| at.is_some_and(|at| at <= soon);
        self.others_are_due(now)
            && hosts >= self.limits.hosts_memory_max
            && hosts > self.leases + self.resolving.len() as u64
            && self.draining.is_empty()
            && !is_soon(self.bench.next_due(now))
            && !is_soon(self.nameless.first().map(|(at, _)| *at))
    }

    /// Lets hosts go that have nothing to do, for which there is no room, or whose place others need
    /// more. Only right behind a checkpoint.
    pub(super) fn release_memory(&mut self, now: Millis) {
        let places = usize::try_from(self.limits.hosts_memory_max).unwrap_or(usize::MAX);
        let wanted = if self.others_are_due(now) { UNPARK_HOSTS.min(self.parked.len()) } else { 0 };
        let idle = self.state.hosts.iter().filter(|(_, host)| host.waiting() == 0);
        let idle = idle.filter(|(key, host)| self.may_leave(**key, host));
        let idle: Vec<HostKey> = idle.map(|(key, _)| *key).collect();
        idle.into_iter().for_each(|key| self.evict(key));
        let leaving = (self.state.hosts.len() + wanted).saturating_sub(places);
        if leaving > 0 {
            self.park_latest(leaving);
        }
    }

    /// Parks up to `count` hosts: those whose turn is furthest away, and before them those that have
    /// none. The latter are not listed: whatever gives them one brings them back.
    fn park_latest(&mut self, count: usize) {
        let hosts = self.state.hosts.iter();
        let hosts = hosts.filter(|(key, host)| self.may_leave(**key, host));
        let turns = hosts.map(|(key, host)| (Reverse(self.turn_of(host)), *key));
        let mut turns: Vec<_> = turns.collect();
        if count < turns.len() {
            turns.select_nth_unstable(count);
            turns.truncate(count);
        }
        for (Reverse(turn), key) in turns {
            let partition = self.state.hosts.get(&key).map(|host| host.partition);
            self.evict(key);
            if turn == NEVER {
                self.unlisted = true;
            } else {
                self.parked.insert(key, turn, partition.unwrap_or_default());
            }
        }
    }

    /// When a host has something to do next.
    pub(super) fn turn_of(&self, host: &Host) -> Millis {
        if host.given_up_origin().is_some() {
            return Millis(0);
        }
        let ready = host.ready_at(&self.state.pace, self.appetite(host));
        ready.map_or(NEVER, |(at, _)| at)
    }

    fn may_leave(&self, key: HostKey, host: &Host) -> bool {
        !host.changed && host.leased.is_none() && !self.resolving.contains(&key)
    }

    fn evict(&mut self, key: HostKey) {
        self.unseat(key);
        self.state.hosts.remove(&key);
    }

    /// Lists every host on disk that has something waiting: budgets were changed, and with them who
    /// may be asked.
    pub(super) fn list_all_parked(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.unlisted) {
            return Ok(());
        }
        let store = self.store.clone();
        for row in store.hosts() {
            let host = self.state.revive(row?);
            let key = crate::frontier::host::host_key(&host.name);
            if host.waiting() > 0 && !self.state.hosts.contains_key(&key) {
                self.parked.insert(key, Millis(0), host.partition);
            }
        }
        Ok(())
    }
}
