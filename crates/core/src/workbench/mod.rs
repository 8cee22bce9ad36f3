//! The bench: hosts that have work, grouped by address, and whose turn it is (step 5 of the line).
//!
//! Politeness as a state machine. It does not wait, look at a clock, or know urls: time is an argument
//! that does not run back, and a host is a number. The frontier lets a host `enter` when it has work
//! and an address, `lease` picks the next one, the engine says when the request was `sent`, and
//! `settle` takes the host off the bench and gives its [`HostPace`] back, which says when it may be
//! asked again.
//!
//! # What holds
//!
//! - BENCH-1: a leased host is not leased again before it is settled.
//! - BENCH-2: an address has at most `address_connections_max` leases.
//! - BENCH-3: nothing is lost: a host is idle or leased from `enter` to `leave` or `settle`; each idle
//!   host stands in the line of its address, and an address that can be leased is on a list.
//! - PACE-1: between the end of a response and the host's next lease lies the gap in force at that
//!   lease, or the longer wait of the table below.
//! - PACE-2: between two requests sent to one address lies `address_gap_ms`. A lease that is not sent
//!   yet keeps others of its address back, as its gap cannot be known.
//! - PACE-3: no host starves: of the hosts that are due and whose address is free, the one due first is
//!   leased; ties go in the order of entry. A host is due at its `not_before`, or when it entered if
//!   that is later, so that newcomers line up behind those who wait already. Who lets others go first
//!   (`lease_best`) calls `lease` every so often, and every host has its turn after so many times as
//!   many leases.
//! - PACE-4: leases of the whole crawl are spaced by `rate`.
//! - PACE-5: `next_due` is the very moment at which `lease` succeeds next, if nothing is changed before.
//!
//! A change of pace, of a host's delay or of its crawl-delay holds at once for every host that waits, from
//! when it enters at the latest. What is leased at that moment goes out under the old one.
//!
//! # What a failure does to its host
//!
//! | class | the host waits | uses a chance | given up |
//! |---|---|---|---|
//! | dns, name-servers, refused, unroutable, connect-timeout, tls, robots-unreachable | the class's delay, growing with each chance | yes | when `host_chances_max` are used |
//! | too-many-requests, unavailable | Retry-After up to `retry_after_ms_max`; without one, the class's delay, growing with each failure up to `host_back_off_ms_max` | no | – |
//! | first-byte-timeout, reset, protocol, body-broken, server-error | its usual gap | no | – |
//! | any, when it is number `host_failures_max` in a row or later: excluded | as above, and as the first row if that is longer | yes | when `host_chances_max` are used |
//! | any, later than `host_chances_ms_max` after the first in a row | | | at once |
//! | forbidden-address, crawl-delay-too-long | | | at once |
//!
//! No wait is shorter than the usual gap. An answer of any status forgets failures and chances.
//!
//! # Costs
//!
//! Every operation is O(log n) in the hosts on the bench; the moving of addresses from waiting to ready
//! is paid for by the operation that put them there. `set_pace` walks over all hosts once. Memory is
//! that of the hosts on the bench, and of the addresses sent to within the last gap.

mod address;
#[cfg(test)]
mod audit;
mod pace;
mod rate;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::IpAddr;

use self::address::{Addresses, Place};
use self::rate::Rate;
use crate::{Limits, Millis};

pub use self::pace::{End, Health, HostPace, Pace, WaitRule};

/// A host, as the frontier numbers them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct HostKey(pub u64);

/// One host's turn, to be ended by `settle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Whose turn it is.
    pub host: HostKey,
    /// Where to connect.
    pub address: IpAddr,
}

/// What a host on the bench waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The host itself may be asked from here on.
    pub until: Millis,
    /// Which rule says so.
    pub rule: WaitRule,
    /// Its turn is now: it waits for nothing but the end of its request.
    pub leased: bool,
    /// Beyond `until`, it waits for its address: for a connection, for another host's request to go
    /// out, or for the gap after one.
    pub address_waits: bool,
    /// Its address may be asked from here on, as far as the gap after its last request goes.
    pub address_free: Millis,
}

/// The hosts that may be leased, and those that are.
#[derive(Debug)]
pub struct Workbench {
    pace: Pace,
    seats: BTreeMap<HostKey, Seat>,
    addresses: Addresses,
    rate: Rate,
    leased: usize,
    /// Hosts that entered so far: the order of entry.
    entries: u64,
    /// The latest time of a `lease`.
    latest: Millis,
}

/// A host on the bench.
#[derive(Debug)]
struct Seat {
    address: IpAddr,
    pace: HostPace,
    /// A wait set from outside, on top of politeness.
    hold: Option<(Millis, WaitRule)>,
    /// The bench's time when it entered.
    since: Millis,
    place: Place,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Leased,
    Sent,
}

impl Seat {
    fn is_leased(&self) -> bool {
        self.state != State::Idle
    }

    fn wait(&self, pace: &Pace) -> (Millis, WaitRule) {
        let (until, rule) = self.pace.due(pace);
        self.hold.filter(|hold| hold.0 > until).unwrap_or((until, rule))
    }

    /// Takes its place in line anew, after something about its wait has changed.
    fn line_up(&mut self, pace: &Pace) {
        self.place.due = self.wait(pace).0.max(self.since);
    }
}

impl Workbench {
    /// An empty bench.
    pub fn new(pace: Pace) -> Self {
        assert!(pace.address_connections_max > 0, "a maximum of 0 is refused");
        Self {
            pace,
            seats: BTreeMap::new(),
            addresses: Addresses::default(),
            rate: Rate::default(),
            leased: 0,
            entries: 0,
            latest: Millis(0),
        }
    }

    /// Takes a host that has work onto the bench. It must not be there already.
    pub fn enter(&mut self, host: HostKey, address: IpAddr, pace: HostPace) {
        self.entries += 1;
        let since = self.latest;
        let place = Place { due: since, entry: self.entries, host };
        let mut seat = Seat { address, pace, hold: None, since, place, state: State::Idle };
        seat.line_up(&self.pace);
        let place = seat.place;
        let before = self.seats.insert(host, seat);
        assert!(before.is_none(), "BENCH-1: {host:?} is on the bench already");
        self.addresses.change(address, &self.pace, |line| line.add(place));
    }

    /// Takes an idle host off the bench. One that is leased stays, and none is returned.
    pub fn leave(&mut self, host: HostKey) -> Option<HostPace> {
        let seat = self.seats.get(&host).filter(|seat| !seat.is_leased())?;
        let (place, address) = (seat.place, seat.address);
        self.addresses.change(address, &self.pace, |line| line.remove(place));
        self.seats.remove(&host).map(|seat| seat.pace)
    }

    /// Gives the next host its turn, if one is due (PACE-3).
    pub fn lease(&mut self, now: Millis) -> Option<Turn> {
        self.latest = self.latest.max(now);
        self.addresses.forget_cooled(now);
        if self.rate.due(self.pace.rate) > now {
            return None;
        }
        let (place, address) = self.addresses.first(now, &self.pace)?;
        self.hand_out(place, address, now);
        Some(Turn { host: place.host, address })
    }

    /// The same for the best of the first `looks` that are due: the one that `rank` gives least to, and
    /// of equals who is first in line.
    pub fn lease_best<R: Ord>(
        &mut self,
        now: Millis,
        looks: usize,
        mut rank: impl FnMut(HostKey) -> R,
    ) -> Option<Turn> {
        self.latest = self.latest.max(now);
        self.addresses.forget_cooled(now);
        if self.rate.due(self.pace.rate) > now {
            return None;
        }
        let due = self.addresses.due(now, &self.pace, looks);
        let best = due.into_iter().min_by_key(|(place, _)| rank(place.host));
        let (place, address) = best?;
        self.hand_out(place, address, now);
        Some(Turn { host: place.host, address })
    }

    fn hand_out(&mut self, place: Place, address: IpAddr, now: Millis) {
        let seat = self.seats.get_mut(&place.host).expect("BENCH-3: who is in line has a seat");
        assert!(!seat.is_leased(), "BENCH-1: {:?} is leased already", place.host);
        assert!(seat.wait(&self.pace).0 <= now, "PACE-1: {:?} is not due at {now}", place.host);
        seat.state = State::Leased;
        self.leased += 1;
        self.rate.spend(place.host, now, self.pace.rate);
        self.addresses.change(address, &self.pace, |line| line.lease(place, &self.pace));
    }

    /// The request of a leased host went out: the gap of its address runs from here. Until this or
    /// `settle`, no other host of the address is leased, so that two requests never arrive closer
    /// than the gap (PACE-2). Says whether one is waiting for that.
    pub fn sent(&mut self, host: HostKey, at: Millis) -> bool {
        let seat = self.seats.get_mut(&host).expect("only a leased host sends");
        assert!(seat.is_leased(), "only a leased host sends, {host:?} is idle");
        let first = seat.state == State::Leased;
        seat.state = State::Sent;
        let mut others_wait = false;
        self.addresses.change(seat.address, &self.pace, |line| {
            if first {
                line.send(at)
            } else {
                line.touch(at)
            }
            others_wait = line.has_idle();
        });
        others_wait
    }

    /// Ends a lease. The host is off the bench afterwards; who has more work for it lets it enter
    /// again with the pace that is returned, which says when it may be asked.
    pub fn settle(
        &mut self,
        host: HostKey,
        at: Millis,
        end: End,
        limits: &Limits,
    ) -> (Health, HostPace) {
        let mut seat = self.seats.remove(&host).expect("only a leased host is settled");
        assert!(seat.is_leased(), "only a leased host is settled, {host:?} is idle");
        self.leased -= 1;
        let sent = seat.state == State::Sent;
        self.release(seat.address, at, sent, end);
        match (end, sent) {
            (End::Unused, false) => self.rate.give_back(host),
            // A request that nobody waits for any more is still a request.
            (End::Unused, true) => seat.pace.wait_gap(at, &self.pace),
            _ => (),
        }
        let health = seat.pace.end(end, at, &self.pace, limits);
        (health, seat.pace)
    }

    /// A try that failed before its request went out has still reached the address.
    fn release(&mut self, address: IpAddr, at: Millis, sent: bool, end: End) {
        self.addresses.change(address, &self.pace, |line| {
            match (sent, end) {
                (true, _) => (),
                (false, End::Unused) => line.unsend(),
                (false, _) => line.send(at),
            }
            line.release();
        });
    }

    /// The moment at which `lease` succeeds next (PACE-5). None if only another call can bring one
    /// about: nothing is on the bench, everything is leased, or what is idle waits for a connection.
    /// To be asked again after every other call.
    pub fn next_due(&self, now: Millis) -> Option<Millis> {
        let due = self.addresses.next_due(self.latest.max(now))?;
        Some(due.max(self.rate.due(self.pace.rate)))
    }

    /// Holds an idle host back until `until`, beyond what politeness asks for and whatever was held
    /// before: an earlier `until` lets it go again. The hold is the bench's own: it is not part of
    /// the pace that `leave` returns.
    pub fn not_before(&mut self, host: HostKey, until: Millis, rule: WaitRule) {
        self.change_idle(host, |seat| seat.hold = Some((until, rule)));
    }

    /// What a host waits for. None if it is not on the bench.
    pub fn wait_of(&self, host: HostKey) -> Option<Wait> {
        let seat = self.seats.get(&host)?;
        let address = self.addresses.get(seat.address).expect("BENCH-3: a host has an address");
        let (until, rule) = seat.wait(&self.pace);
        let leased = seat.is_leased();
        let taken = address.is_taken(&self.pace) || address.free_at(&self.pace) > until;
        let (address_waits, address_free) = (!leased && taken, address.free_at(&self.pace));
        Some(Wait { until, rule, leased, address_waits, address_free })
    }

    /// Another host of the same address: one whose turn it is, if there is such a one.
    pub fn sharing_with(&self, host: HostKey) -> Option<HostKey> {
        let address = self.seats.get(&host)?.address;
        let others =
            || self.seats.iter().filter(|(key, seat)| **key != host && seat.address == address);
        let leased = others().find(|(_, seat)| seat.is_leased());
        leased.or_else(|| others().next()).map(|(key, _)| *key)
    }

    /// Where a host stands on the bench, and with which pace. None if it is not there.
    pub fn seat_of(&self, host: HostKey) -> Option<(IpAddr, &HostPace)> {
        self.seats.get(&host).map(|seat| (seat.address, &seat.pace))
    }

    /// All hosts on the bench, by key, and whether each is leased.
    pub fn hosts(&self) -> impl Iterator<Item = (HostKey, &HostPace, bool)> {
        self.seats.iter().map(|(&host, seat)| (host, &seat.pace, seat.is_leased()))
    }

    /// How many hosts are on the bench, leased ones included.
    pub fn len(&self) -> usize {
        self.seats.len()
    }

    /// Whether no host is on the bench.
    pub fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// How many hosts are leased.
    pub fn leased_len(&self) -> usize {
        self.leased
    }

    /// The pace in force.
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Changes the pace of the crawl, for hosts that wait already too.
    pub fn set_pace(&mut self, pace: Pace) {
        assert!(pace.address_connections_max > 0, "a maximum of 0 is refused");
        self.pace = pace;
        let hosts: Vec<HostKey> = self.seats.keys().copied().collect();
        for host in hosts {
            self.change_idle(host, |_| ());
        }
        self.addresses.repace(&self.pace);
    }

    /// Sets or clears the delay of one host on the bench, leased or not.
    pub fn set_host_delay(&mut self, host: HostKey, delay_ms: Option<u64>) {
        if let Some(seat) = self.seats.get_mut(&host) {
            seat.pace.delay_ms = delay_ms;
            self.change_idle(host, |_| ());
        }
    }

    /// Changes when an idle host is due, and moves it in its address's line. Nothing for others.
    fn change_idle(&mut self, host: HostKey, change: impl FnOnce(&mut Seat)) {
        let Some(seat) = self.seats.get_mut(&host).filter(|seat| !seat.is_leased()) else {
            return;
        };
        let before = seat.place;
        change(seat);
        seat.line_up(&self.pace);
        let after = seat.place;
        if before != after {
            self.addresses.change(seat.address, &self.pace, |line| {
                line.remove(before);
                line.add(after);
            });
        }
    }
}
