//! Addresses: the hosts of each in line, and the addresses themselves in the order of their time.
//!
//! An address is on exactly one list, or on none:
//!
//! | list | who | in the order of |
//! |---|---|---|
//! | waiting | a host is idle, and the address has a free connection | when its first host may be leased |
//! | ready | the same, and that time has come | place of its first host |
//! | cooling | no host is left, its gap still runs | end of the gap |
//! | – | all its hosts are leased, or it takes no other lease for now | – |
//!
//! Every change of an address goes through [`Addresses::change`], which takes it off its list, changes
//! it and puts it where it now belongs: at most two list operations of O(log n), and one more when it
//! becomes ready. A change always leads to `waiting`; only a look at the clock leads to `ready`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::{HostKey, Pace};
use crate::Millis;

/// A host's place in line: earliest due first, then in the order of entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) due: Millis,
    pub(super) entry: u64,
    pub(super) host: HostKey,
}

/// One address, and what runs to it.
#[derive(Debug, Default)]
pub(super) struct Address {
    idle: BTreeSet<Place>,
    leased: u32,
    /// Leases whose request has not gone out yet.
    unsent: u32,
    sent_at: Option<Millis>,
    listed: Option<Listed>,
}

#[derive(Debug, Clone, Copy)]
enum Listed {
    Waiting(Millis),
    Ready(Place),
    Cooling(Millis),
}

impl Address {
    pub(super) fn add(&mut self, place: Place) {
        let new = self.idle.insert(place);
        assert!(new, "BENCH-3: a host has one place: {place:?}");
    }

    pub(super) fn remove(&mut self, place: Place) {
        let was = self.idle.remove(&place);
        assert!(was, "BENCH-3: an idle host stands in its address's line: {place:?}");
    }

    pub(super) fn lease(&mut self, place: Place, pace: &Pace) {
        assert!(!self.is_taken(pace), "BENCH-2, PACE-2: the address takes no lease now: {place:?}");
        self.remove(place);
        self.leased += 1;
        self.unsent += 1;
    }

    /// The first request of a lease went out.
    pub(super) fn send(&mut self, at: Millis) {
        debug_assert!(self.unsent > 0, "each lease is sent once");
        self.unsent -= 1;
        self.touch(at);
    }

    /// Something reached the address at `at`: its gap starts again.
    pub(super) fn touch(&mut self, at: Millis) {
        self.sent_at = self.sent_at.max(Some(at));
    }

    /// A lease ended before anything was sent.
    pub(super) fn unsend(&mut self) {
        debug_assert!(self.unsent > 0, "an unsent lease is counted as one");
        self.unsent -= 1;
    }

    /// Whether a host stands in its line.
    pub(super) fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    pub(super) fn release(&mut self) {
        debug_assert!(self.leased > self.unsent, "a lease is released once, sent or given back");
        self.leased -= 1;
    }

    /// PACE-2: the end of the gap after the last request.
    pub(super) fn free_at(&self, pace: &Pace) -> Millis {
        self.sent_at.map_or(Millis(0), |at| at.after(pace.address_gap_ms))
    }

    /// No lease until another one is sent or settled: all connections are in use (BENCH-2), or a
    /// request is about to go out and its gap cannot be known yet (PACE-2).
    pub(super) fn is_taken(&self, pace: &Pace) -> bool {
        let about_to_send = self.unsent > 0 && pace.address_gap_ms > 0;
        self.leased >= pace.address_connections_max || about_to_send
    }

    fn place_on(&self, pace: &Pace) -> Option<Listed> {
        match self.idle.first() {
            Some(first) if !self.is_taken(pace) => {
                Some(Listed::Waiting(first.due.max(self.free_at(pace))))
            }
            None if self.leased == 0 => Some(Listed::Cooling(self.free_at(pace))),
            _ => None,
        }
    }
}

/// All addresses that have a host on the bench, or whose gap still runs.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    all: BTreeMap<IpAddr, Address>,
    waiting: BTreeSet<(Millis, IpAddr)>,
    ready: BTreeSet<(Place, IpAddr)>,
    cooling: BTreeSet<(Millis, IpAddr)>,
    #[cfg(test)]
    pub(super) list_operations: u64,
}

impl Addresses {
    /// The only way to change an address.
    pub(super) fn change(&mut self, at: IpAddr, pace: &Pace, change: impl FnOnce(&mut Address)) {
        let address = self.all.entry(at).or_default();
        let before = address.listed.take();
        change(address);
        let after = address.place_on(pace);
        address.listed = after;
        self.unlist(at, before);
        self.list(at, after);
    }

    /// Puts every address where it belongs under a new pace.
    pub(super) fn repace(&mut self, pace: &Pace) {
        let all: Vec<IpAddr> = self.all.keys().copied().collect();
        for at in all {
            self.change(at, pace, |_| ());
        }
    }

    pub(super) fn get(&self, at: IpAddr) -> Option<&Address> {
        self.all.get(&at)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The first host in line among those that are due and whose address is free.
    pub(super) fn first(&mut self, now: Millis, pace: &Pace) -> Option<(Place, IpAddr)> {
        self.make_ready(now);
        while let Some(&(place, at)) = self.ready.first() {
            let address = self.all.get(&at).expect("BENCH-3: a listed address exists");
            if place.due.max(address.free_at(pace)) <= now {
                return Some((place, at));
            }
            // The caller's time ran back: it is not its turn yet after all.
            self.change(at, pace, |_| ());
        }
        None
    }

    /// The hosts that are due and whose address is free, at most so many: those first whose address has the
    /// one that is due first, in line.
    pub(super) fn due(&mut self, now: Millis, pace: &Pace, most: usize) -> Vec<(Place, IpAddr)> {
        if self.first(now, pace).is_none() {
            return Vec::new();
        }
        let free = self.ready.iter().filter_map(|(_, at)| {
            let address = self.all.get(at).expect("BENCH-3: a listed address exists");
            (address.free_at(pace) <= now).then_some((*at, address))
        });
        let due = free.flat_map(|(at, address)| {
            let idle = address.idle.iter().take_while(|place| place.due <= now);
            idle.map(move |place| (*place, at))
        });
        due.take(most.max(1)).collect()
    }

    /// The earliest time at which [`Addresses::first`] finds a host, if nothing changes until then.
    pub(super) fn next_due(&self, now: Millis) -> Option<Millis> {
        if !self.ready.is_empty() {
            return Some(now);
        }
        self.waiting.first().map(|&(time, _)| time.max(now))
    }

    /// Forgets addresses that nobody is at and whose gap is over.
    pub(super) fn forget_cooled(&mut self, now: Millis) {
        while let Some(&(time, at)) = self.cooling.first()
            && time <= now
        {
            self.unlist(at, Some(Listed::Cooling(time)));
            self.all.remove(&at);
        }
    }

    fn make_ready(&mut self, now: Millis) {
        while let Some(&(time, at)) = self.waiting.first()
            && time <= now
        {
            let address = self.all.get_mut(&at).expect("BENCH-3: a listed address exists");
            let first = *address.idle.first().expect("BENCH-3: a waiting address has a host");
            address.listed = Some(Listed::Ready(first));
            self.unlist(at, Some(Listed::Waiting(time)));
            self.list(at, Some(Listed::Ready(first)));
        }
    }

    fn list(&mut self, at: IpAddr, listed: Option<Listed>) {
        let new = match listed {
            None => return,
            Some(Listed::Waiting(time)) => self.waiting.insert((time, at)),
            Some(Listed::Ready(place)) => self.ready.insert((place, at)),
            Some(Listed::Cooling(time)) => self.cooling.insert((time, at)),
        };
        assert!(new, "BENCH-3: {at} is on one list once");
        self.count();
    }

    fn unlist(&mut self, at: IpAddr, listed: Option<Listed>) {
        let was = match listed {
            None => return,
            Some(Listed::Waiting(time)) => self.waiting.remove(&(time, at)),
            Some(Listed::Ready(place)) => self.ready.remove(&(place, at)),
            Some(Listed::Cooling(time)) => self.cooling.remove(&(time, at)),
        };
        assert!(was, "BENCH-3: {at} is on the list that it says");
        self.count();
    }

    fn count(&mut self) {
        #[cfg(test)]
        {
            self.list_operations += 1;
        }
    }
}
