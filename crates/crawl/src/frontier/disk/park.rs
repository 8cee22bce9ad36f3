//! Who is in memory: at most `hosts_memory_max` hosts from one checkpoint to the next, with what waits for
//! them at most `hosts_memory_bytes_max`.
//!
//! Hosts come from disk a shelf at a time, the one whose turn is first first: its hosts and what
//! arrived for them are read together, so that it costs little per host. Only when a checkpoint is written
//! may a host leave memory, as then the store holds all of it. First go those with nothing to do, then
//! those that have nothing to do soon; and each checkpoint makes some room for others if they are due.
//! When nobody in memory is, such a checkpoint is asked for (`is_cramped`), so that a full memory never
//! holds up the crawl.

use std::cmp::Reverse;

use larm_core::Millis;
use larm_core::workbench::HostKey;

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::host::Host;
use crate::frontier::shelf::ShelfId;
use crate::frontier::state::BroughtIn;

/// Nobody in memory has something to do for this long: let others have their place.
const CRAMPED_MS: u64 = 1_000;
/// Who has something to do within this time is worth a place in memory.
const SOON_MS: u64 = 10_000;
/// The part of the places that must be free before a shelf is brought in while others are busy: so
/// many hosts share the cost of reading it.
const SHARE_OF_PLACES: u64 = 8;
/// The part of the places that a checkpoint frees for others who are due.
const SHARE_FREED: u64 = 64;

/// The turn of a host of which nothing may be asked.
const NEVER: Millis = Millis(u64::MAX);

/// The turn of a host that somebody paused: later than any other, and yet a turn, so that the crawl does not
/// take itself for finished.
pub(super) const PAUSED: Millis = Millis(u64::MAX - 1);

impl DiskFrontier {
    fn places(&self) -> u64 {
        if self.held_bytes >= self.limits.hosts_memory_bytes_max {
            return 0;
        }
        self.limits.hosts_memory_max.saturating_sub(self.state.hosts.len() as u64)
    }

    /// Whether there is a place for a host in memory.
    pub(super) fn has_room(&self) -> bool {
        self.places() > 0
    }

    /// Whether a shelf's turn has come, and there is room for its hosts. While those in memory are
    /// busy, for many of them.
    pub(super) fn can_unpark(&self, now: Millis) -> bool {
        let wanted = || {
            let share = self.limits.hosts_memory_max / SHARE_OF_PLACES;
            if self.is_idle_until(now) { 1 } else { share.max(1) }
        };
        self.others_are_due(now) && self.places() >= wanted()
    }

    /// Whether nobody in memory has something to do until then.
    fn is_idle_until(&self, then: Millis) -> bool {
        let is_due = |at: Option<Millis>| at.is_some_and(|at| at <= then);
        self.draining.is_empty()
            && !is_due(self.bench.next_due(self.now))
            && !is_due(self.nameless.first().map(|(at, _)| *at))
    }

    /// Brings the shelf in whose turn is first.
    pub(super) fn unpark(&mut self, now: Millis) -> Result<()> {
        if let Some((_, shelf)) = self.state.shelves.first() {
            let brought = self.state.bring_in(shelf)?;
            self.take_in(brought, now)?;
            self.check_arrivals()?;
            self.seat_touched();
        }
        Ok(())
    }

    /// Sorts out the arrivals of shelves for which too much has arrived, as far as the next checkpoint
    /// can take it, and checks what hosts took.
    pub(super) fn sort_out(&mut self) -> Result<()> {
        while !self.state.wants_checkpoint()
            && let Some(shelf) = self.state.shelves.pop_overfull()
        {
            let brought = self.state.bring_in(shelf)?;
            self.take_in(brought, self.now)?;
        }
        self.check_arrivals()
    }

    /// Takes all hosts of a shelf into memory.
    pub(super) fn bring_in_all(&mut self, shelf: ShelfId) -> Result<()> {
        let BroughtIn { changed, unchanged, .. } = self.state.bring_in(shelf)?;
        changed.into_iter().chain(unchanged).try_for_each(|host| self.state.admit(host))?;
        self.state.shelves.close(shelf);
        Ok(())
    }

    /// Takes hosts in that have something to do soon while there is room; and those that took something
    /// from the arrivals, as the next checkpoint has to write them.
    fn take_in(&mut self, brought: BroughtIn, now: Millis) -> Result<()> {
        let BroughtIn { shelf, changed, unchanged } = brought;
        changed.into_iter().try_for_each(|host| self.admit(host))?;
        let turns = unchanged.into_iter().map(|host| (self.turn_of(&host), host));
        let mut turns: Vec<_> = turns.collect();
        turns.sort_by_key(|(turn, _)| *turn);
        let (mut all, mut left) = (true, None);
        for (turn, host) in turns {
            if self.is_worth_a_place(turn, now) {
                self.admit(host)?;
                continue;
            }
            all = false;
            match turn {
                NEVER => self.unlisted |= host.waiting() > 0,
                turn => left = left.or(Some(turn)),
            }
        }
        if all {
            self.state.shelves.close(shelf);
        } else {
            self.state.shelves.set_turn(shelf, left);
        }
        Ok(())
    }

    fn is_worth_a_place(&self, turn: Millis, now: Millis) -> bool {
        let plenty = self.limits.hosts_memory_max / 2;
        turn != NEVER && self.has_room() && (turn <= now.after(SOON_MS) || self.places() > plenty)
    }

    fn admit(&mut self, host: Host) -> Result<()> {
        self.held_bytes += host.memory_bytes();
        self.state.admit(host)
    }

    fn others_are_due(&self, now: Millis) -> bool {
        self.state.shelves.first().is_some_and(|(turn, _)| turn <= now)
    }

    /// Whether a shelf is due, and those that fill the memory have nothing to do for a while.
    pub(super) fn is_cramped(&self, now: Millis) -> bool {
        self.others_are_due(now)
            && !self.has_room()
            && self.state.hosts.len() as u64 > self.leases + self.resolving.len() as u64
            && self.is_idle_until(now.after(CRAMPED_MS))
    }

    /// Lets hosts go for which there is no room, or whose place others need more: first those with
    /// nothing to do, then those whose turn is furthest away. Only when a checkpoint is written.
    pub(super) fn release_memory(&mut self, now: Millis) {
        self.held_bytes = self.state.hosts.values().map(Host::memory_bytes).sum();
        let others_are_due = self.others_are_due(now);
        let freed = (self.limits.hosts_memory_max / SHARE_FREED).max(1);
        let wanted = if others_are_due { freed } else { 0 };
        let places = self.limits.hosts_memory_max.saturating_sub(wanted);
        let bytes_max = self.limits.hosts_memory_bytes_max;
        let fits = |held: u64, hosts: usize| held <= bytes_max && hosts as u64 <= places;
        if !others_are_due && fits(self.held_bytes, self.state.hosts.len()) {
            return;
        }
        for (Reverse(turn), waiting, key) in self.by_turn_latest_first() {
            let is_idle = turn == NEVER && waiting == 0;
            if fits(self.held_bytes, self.state.hosts.len()) && !(others_are_due && is_idle) {
                break;
            }
            self.evict(key, turn);
        }
    }

    /// Hosts that may leave, those without a turn first; of those with the same, who has least waiting:
    /// where much waits, more will arrive.
    fn by_turn_latest_first(&self) -> Vec<(Reverse<Millis>, u64, HostKey)> {
        let hosts = self.state.hosts.iter().filter(|(key, host)| self.may_leave(**key, host));
        let turns = hosts.map(|(key, host)| (Reverse(self.turn_of(host)), host.waiting(), *key));
        let mut turns: Vec<_> = turns.collect();
        turns.sort_unstable();
        turns
    }

    /// When a host has something to do next.
    pub(super) fn turn_of(&self, host: &Host) -> Millis {
        if host.given_up_origin().is_some() {
            return Millis(0);
        }
        let ready = host.ready_at(&self.state.pace, self.appetite(host));
        let at = |(at, _)| if self.paused.contains(&host.key) { PAUSED } else { at };
        ready.map_or(NEVER, at)
    }

    fn may_leave(&self, key: HostKey, host: &Host) -> bool {
        !host.changed && host.leased.is_none() && !self.resolving.contains(&key)
    }

    fn evict(&mut self, key: HostKey, turn: Millis) {
        self.unseat(key);
        let Some(host) = self.state.hosts.get(&key) else { return };
        self.held_bytes = self.held_bytes.saturating_sub(host.memory_bytes());
        // Who has no turn is not looked for: whatever gives it one brings it back.
        self.unlisted |= turn == NEVER && host.waiting() > 0;
        self.state.let_go(key, Some(turn).filter(|turn| *turn != NEVER));
    }
}
