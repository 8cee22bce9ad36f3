//! Who is where (step 5): hosts onto the bench, among the nameless, or nowhere; and whose turn it is.

use larm_core::Millis;
use larm_core::url::CrawlUrl;
use larm_core::workbench::{End, HostKey, WaitRule};

use super::DiskFrontier;
use super::park::PAUSED;
use super::weigh::MOVES_MAX;
use crate::error::Result;
use crate::frontier::Nameless;
use crate::frontier::host::{Appetite, Host, HostPlace};
use crate::frontier::item::{Item, Place};
use crate::frontier::lease::{Lease, Turn};
use crate::frontier::queue::Queue;

impl DiskFrontier {
    pub(super) fn seat_all(&mut self) {
        self.state.touched.extend(self.state.hosts.keys());
        self.seat_touched();
    }

    pub(super) fn seat_touched(&mut self) {
        self.touch_sites();
        for key in std::mem::take(&mut self.state.touched) {
            self.seat(key);
        }
    }

    /// What a host may be asked for under its budget.
    pub(super) fn appetite(&self, host: &Host) -> Appetite {
        if self.is_over_budget(host) {
            return Appetite::ERRANDS;
        }
        host.worthwhile(self.budgets.cut_at)
    }

    /// Puts a host where it belongs (DISK-1). One that is on the bench already keeps its place in line.
    fn seat(&mut self, key: HostKey) {
        let Some(host) = self.state.hosts.get(&key) else { return };
        let appetite = self.appetite(host);
        let Some(host) = self.state.hosts.get_mut(&key) else { return };
        if host.given_up_origin().is_some() {
            self.draining.insert(key);
        }
        if let Some(at) = host.nameless_at.take() {
            self.nameless.remove(&(at, key));
        }
        if host.leased.is_some() || self.resolving.contains(&key) {
            return;
        }
        let Some((at, rule)) = host.origin_ready_at(appetite) else {
            self.bench.leave(key);
            return;
        };
        let is_paused = self.paused.contains(&key);
        let (at, rule) = if is_paused { (PAUSED, WaitRule::Paused) } else { (at, rule) };
        host.place.take_if(|place| place.until <= self.now);
        let Some(address) = host.place.as_ref().map(HostPlace::address) else {
            self.bench.leave(key);
            // A look-up is no request to the host: it does not wait for the gap.
            let gap = host.pace.rule.is_gap();
            let at = if gap { at } else { host.pace.not_before.max(at) };
            let at = at.max(host.look_up_after);
            host.nameless_at = Some(at);
            self.nameless.insert((at, key));
            return;
        };
        if self.bench.seat_of(key) != Some((address, &host.pace)) {
            self.bench.leave(key);
            self.bench.enter(key, address, host.pace.clone());
        }
        self.bench.not_before(key, at, rule);
    }

    /// Takes a host away from wherever it waits.
    pub(super) fn unseat(&mut self, key: HostKey) {
        self.bench.leave(key);
        self.draining.remove(&key);
        let host = self.state.hosts.get_mut(&key);
        if let Some(at) = host.and_then(|host| host.nameless_at.take()) {
            self.nameless.remove(&(at, key));
        }
    }

    /// A host whose time for a look-up has come.
    pub(super) fn look_up(&mut self, key: HostKey) -> Option<Nameless> {
        let host = self.state.hosts.get_mut(&key)?;
        host.nameless_at = None;
        let index = match host.wanted.take() {
            Some(index) => index,
            None => {
                let some = host.origins.iter().position(|origin| !origin.queue.is_empty())?;
                u32::try_from(some).ok()?
            }
        };
        let port = host.port_of(index)?;
        let nameless = Nameless { host: key, name: host.name.clone(), port };
        self.resolving.insert(key).then_some(nameless)
    }

    /// The next host's turn, and the item that it is for.
    pub(super) fn lease_turn(&mut self, now: Millis) -> Result<Option<Lease>> {
        let mut moves_left = MOVES_MAX;
        while moves_left > 0
            && let Some(turn) = self.next_turn(now)
        {
            let next = self.next_place(turn.host, now)?;
            if let Some((index, _)) = next.filter(|(at, _)| !self.is_placed_for(turn.host, *at)) {
                self.look_up_anew(turn.host, index, now);
                continue;
            }
            let Some((index, place)) = next else {
                debug_assert!(false, "DISK-1: a host on the bench has something to be asked");
                self.bench.settle(turn.host, now, End::Unused, &self.limits);
                continue;
            };
            let moved = self.move_unworthy(turn.host, index, place)?;
            if moved > 0 {
                self.bench.settle(turn.host, now, End::Unused, &self.limits);
                self.seat_touched();
                moves_left = moves_left.saturating_sub(moved);
            } else if let Some(item) = self.take(turn.host, index, |_| Some(place)) {
                return Ok(Some(self.make_lease(turn.host, item, Turn::Ask(turn.address))));
            }
        }
        Ok(None)
    }

    fn is_placed_for(&self, key: HostKey, index: u32) -> bool {
        self.state.hosts.get(&key).is_some_and(|host| host.is_placed_for(index))
    }

    /// The host's turn has come, but on a port for which its address was not looked up.
    fn look_up_anew(&mut self, key: HostKey, index: u32, now: Millis) {
        self.bench.settle(key, now, End::Unused, &self.limits);
        if let Some(host) = self.state.hosts.get_mut(&key) {
            (host.place, host.wanted) = (None, Some(index));
        }
        self.seat(key);
    }

    /// A lease for a URL whose origin was given up. Needs no place on the bench: nothing is sent.
    pub(super) fn lease_given_up(&mut self) -> Result<Option<Lease>> {
        while let Some(key) = self.draining.pop_first() {
            // One that is leased comes back here when that is settled.
            let host = self.state.hosts.get(&key).filter(|host| host.leased.is_none());
            let Some((index, class)) = host.and_then(Host::given_up_origin) else { continue };
            self.state.load_due_blocks(key)?;
            let first = |queue: &Queue| queue.peek(Millis(u64::MAX));
            if let Some(item) = self.take(key, index, first) {
                self.unseat(key);
                return Ok(Some(self.make_lease(key, item, Turn::GivenUp(class))));
            }
        }
        Ok(None)
    }

    /// Takes an item out of its queue, to be held by its host until it is settled.
    fn take(
        &mut self,
        key: HostKey,
        index: u32,
        choose: impl FnOnce(&Queue) -> Option<Place>,
    ) -> Option<Item> {
        let host = self.state.hosts.get_mut(&key)?;
        let queue = &mut host.origin(index).queue;
        let taken = choose(queue).and_then(|place| queue.take(place))?;
        let item = taken.item.clone();
        host.leased = Some((index, taken));
        self.state.order.left(&item);
        Some(item)
    }

    fn make_lease(&mut self, host: HostKey, item: Item, turn: Turn) -> Lease {
        let url = CrawlUrl::from_canonical(&item.url).expect("DISK: items hold canonical URLs");
        self.leases += 1;
        self.leased_pages += u64::from(item.errand.counts());
        let place = self.state.hosts.get(&host).and_then(|host| host.place.as_ref());
        let others = place.map(|place| place.others().to_vec()).unwrap_or_default();
        Lease { host, url, item, turn, others }
    }
}
