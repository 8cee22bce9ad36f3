//! The auditor of the simulation: reads the list of events, and nothing else.
//!
//! It keeps its own books, in the plainest form (whole scans, no queues), and recomputes from them what
//! must hold after each event. It never looks at the bench.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::{End, HostKey, HostPace, Pace, Turn, WaitRule};
use crate::{FailureClass, Limits, Millis};

/// What happened at the bench, in order.
pub(super) enum Event {
    Enter {
        host: HostKey,
        address: IpAddr,
        pace: HostPace,
    },
    Leave {
        host: HostKey,
    },
    Lease {
        now: Millis,
        turn: Option<Turn>,
    },
    Sent {
        host: HostKey,
        at: Millis,
    },
    Settle {
        host: HostKey,
        at: Millis,
        end: End,
    },
    SetPace(Pace),
    SetHostDelay {
        host: HostKey,
        delay_ms: Option<u64>,
    },
    Hold {
        host: HostKey,
        until: Millis,
    },
    /// All is lost but the paces of the hosts, which are numbered from 0.
    Restart {
        now: Millis,
        hosts: u64,
    },
}

struct Idle {
    address: IpAddr,
    pace: HostPace,
    hold: Millis,
    since: Millis,
    entry: u64,
}

struct Lease {
    address: IpAddr,
    sent: bool,
    /// Smallest address gap in force since the lease.
    gap_least: u64,
}

/// When a host's last request ended, and what that promised.
struct Promise {
    end: Millis,
    /// Nothing before this, by the failure table.
    until: Millis,
}

struct Sending {
    at: Millis,
    gap_least: u64,
    /// How many leases had been asked for when the address lost its last host.
    left: u64,
    /// Gone from the bench's memory, which is allowed once the gap has passed.
    forgotten: bool,
}

pub(super) struct Audit {
    pace: Pace,
    limits: Limits,
    idle: BTreeMap<HostKey, Idle>,
    leases: BTreeMap<HostKey, Lease>,
    promises: HashMap<HostKey, Promise>,
    sendings: HashMap<IpAddr, Sending>,
    /// Hosts on the bench, idle or leased.
    crowds: HashMap<IpAddr, u64>,
    leases_asked: u64,
    entries: u64,
    latest: Millis,
    /// Microseconds: next place by the rate, and the one before with its owner.
    token: u64,
    token_before: Option<(HostKey, u64)>,
    /// Scan all hosts at every so many leases.
    scan_every: u64,
    events: u64,
    pub(super) leased: u64,
}

impl Audit {
    pub(super) fn new(pace: Pace, limits: Limits, scan_every: u64) -> Self {
        Self {
            pace,
            limits,
            idle: BTreeMap::new(),
            leases: BTreeMap::new(),
            promises: HashMap::new(),
            sendings: HashMap::new(),
            crowds: HashMap::new(),
            leases_asked: 0,
            entries: 0,
            latest: Millis(0),
            token: 0,
            token_before: None,
            scan_every,
            events: 0,
            leased: 0,
        }
    }

    pub(super) fn note(&mut self, event: Event) {
        self.events += 1;
        match event {
            Event::Enter { host, address, pace } => self.enter(host, address, pace),
            Event::Leave { host } => {
                let idle = self.idle.remove(&host).expect("only idle hosts leave");
                self.depart(idle.address);
            }
            Event::Lease { now, turn } => self.lease(now, turn),
            Event::Sent { host, at } => self.sent(host, at),
            Event::Settle { host, at, end } => self.settle(host, at, end),
            Event::SetPace(pace) => self.set_pace(pace),
            Event::SetHostDelay { host, delay_ms } => self.set_host_delay(host, delay_ms),
            Event::Hold { host, until } => {
                self.idle.get_mut(&host).expect("only idle hosts are held").hold = until;
            }
            Event::Restart { now, hosts } => self.restart(now, hosts),
        }
    }

    /// PACE-5: the moment of the first host, by looking at every one.
    pub(super) fn check_next_due(&self, now: Millis, next_due: Option<Millis>) {
        if self.scans() {
            let rated = |(moment, ..): (Millis, _, _)| moment.max(now).max(self.rate_due());
            let first = self.moments().into_iter().min().map(rated);
            assert_eq!(next_due, first, "PACE-5 at {}", now.0);
        }
    }

    fn scans(&self) -> bool {
        self.events.is_multiple_of(self.scan_every)
    }

    fn enter(&mut self, host: HostKey, address: IpAddr, pace: HostPace) {
        assert!(!self.leases.contains_key(&host), "BENCH-1: {host:?} is leased");
        self.entries += 1;
        self.forget(address);
        *self.crowds.entry(address).or_default() += 1;
        let idle = Idle { address, pace, hold: Millis(0), since: self.latest, entry: self.entries };
        assert!(self.idle.insert(host, idle).is_none(), "{host:?} entered twice");
    }

    fn lease(&mut self, now: Millis, turn: Option<Turn>) {
        self.latest = self.latest.max(now);
        self.leases_asked += 1;
        if self.scans() {
            assert_eq!(turn.map(|turn| turn.host), self.expected(now), "PACE-3 at {}", now.0);
        }
        let Some(Turn { host, address }) = turn else {
            return;
        };
        self.leased += 1;
        assert!(!self.leases.contains_key(&host), "BENCH-1: {host:?} twice at {}", now.0);
        let idle = self.idle.remove(&host).expect("BENCH-3: only idle hosts are leased");
        assert_eq!(idle.address, address, "BENCH-3: {host:?} kept its address");
        self.check_connections(address);
        self.check_promise(host, &idle, now);
        self.spend(host, now);
        let lease = Lease { address, sent: false, gap_least: self.pace.address_gap_ms };
        self.leases.insert(host, lease);
    }

    fn check_connections(&self, address: IpAddr) {
        let open = self.leases.values().filter(|lease| lease.address == address).count();
        let most = self.pace.address_connections_max as usize;
        assert!(open < most, "BENCH-2: {open} connections at {address}");
    }

    fn check_promise(&self, host: HostKey, idle: &Idle, now: Millis) {
        assert!(now >= self.due(host, idle), "{host:?} was to wait");
        if let Some(promise) = self.promises.get(&host) {
            let gap = now.since(promise.end);
            assert!(
                gap >= gap_ms(&self.pace, &idle.pace),
                "PACE-1: {host:?} after {gap} ms at {}",
                now.0
            );
            assert!(now >= promise.until, "PACE-1: {host:?} in its back-off at {}", now.0);
        }
    }

    fn spend(&mut self, host: HostKey, now: Millis) {
        let Some(rate) = self.pace.rate else { return };
        assert!(now >= self.rate_due(), "PACE-4: {host:?} at {}", now.0);
        self.token_before = Some((host, self.token));
        self.token = self.token.max(now.0 * 1_000) + 1_000_000_u64.div_ceil(u64::from(rate));
    }

    fn rate_due(&self) -> Millis {
        Millis(self.pace.rate.map_or(0, |_| self.token / 1_000))
    }

    /// PACE-3: whom `lease` must pick, by looking at every host.
    fn expected(&self, now: Millis) -> Option<HostKey> {
        let moments = self.moments().into_iter();
        let free = moments.filter(|&(moment, ..)| moment <= now && self.rate_due() <= now);
        free.min_by_key(|&(_, place, _)| place).map(|(.., host)| host)
    }

    /// For each host that may be leased if nothing else happens: when, its place in line, and who.
    fn moments(&self) -> Vec<(Millis, (Millis, u64), HostKey)> {
        let mut open: HashMap<IpAddr, (u32, bool)> = HashMap::new();
        for lease in self.leases.values() {
            let (count, unsent) = open.entry(lease.address).or_default();
            *count += 1;
            *unsent |= !lease.sent && self.pace.address_gap_ms > 0;
        }
        let is_taken = |&(_, idle): &(_, &Idle)| {
            let (count, unsent) = open.get(&idle.address).copied().unwrap_or_default();
            unsent || count >= self.pace.address_connections_max
        };
        let free = self.idle.iter().filter(|host| !is_taken(host));
        free.map(|(&host, idle)| {
            let due = self.due(host, idle);
            (due.max(self.free_at(idle.address)), (due, idle.entry), host)
        })
        .collect()
    }

    fn free_at(&self, address: IpAddr) -> Millis {
        let sending = self.sendings.get(&address).filter(|last| !last.forgotten);
        sending.map_or(Millis(0), |last| last.at.after(self.pace.address_gap_ms))
    }

    /// When a host is due: its gap counts as it is now; a wait for another reason stays.
    fn due(&self, host: HostKey, idle: &Idle) -> Millis {
        let gaps = [WaitRule::Delay, WaitRule::CrawlDelay, WaitRule::SlowResponses];
        let gap_over = |promise: &Promise| promise.end.after(gap_ms(&self.pace, &idle.pace));
        let gap_over = self.promises.get(&host).map(gap_over);
        let own = match gap_over {
            Some(over) if gaps.contains(&idle.pace.rule) => over,
            over => over.max(Some(idle.pace.not_before)).expect("there is one"),
        };
        own.max(idle.hold).max(idle.since)
    }

    fn sent(&mut self, host: HostKey, at: Millis) {
        let lease = self.leases.get_mut(&host).expect("only a leased host sends");
        lease.sent = true;
        let (address, least) = (lease.address, lease.gap_least);
        self.check_sending(address, least, at);
    }

    fn check_sending(&mut self, address: IpAddr, least: u64, at: Millis) {
        if let Some(last) = self.sendings.get(&address) {
            let (gap, least) = (at.since(last.at), least.min(last.gap_least));
            assert!(
                gap >= least,
                "PACE-2: {address} after {gap} ms instead of {least} at {}",
                at.0
            );
        }
        let sending =
            Sending { at, gap_least: self.pace.address_gap_ms, left: 0, forgotten: false };
        self.sendings.insert(address, sending);
    }

    fn settle(&mut self, host: HostKey, at: Millis, end: End) {
        let lease = self.leases.remove(&host).expect("only a leased host is settled");
        self.depart_after(&lease, at, end);
        if end == End::Unused && !lease.sent {
            if let Some((_, before)) = self.token_before.take_if(|(last, _)| *last == host) {
                self.token = before;
            }
            return;
        }
        let until = at.after(self.failure_wait(end));
        self.promises.insert(host, Promise { end: at, until });
    }

    /// A try that failed before it was sent has reached the address as well.
    fn depart_after(&mut self, lease: &Lease, at: Millis, end: End) {
        if end != End::Unused && !lease.sent {
            self.check_sending(lease.address, lease.gap_least, at);
        }
        self.depart(lease.address);
    }

    fn depart(&mut self, address: IpAddr) {
        let crowd = self.crowds.get_mut(&address).expect("who departs was there");
        *crowd -= 1;
        if *crowd == 0
            && let Some(sending) = self.sendings.get_mut(&address)
        {
            sending.left = self.leases_asked;
        }
    }

    /// Where nobody has been since the last lease and the gap has passed, a longer gap comes too late.
    fn forget(&mut self, address: IpAddr) {
        let empty = self.crowds.get(&address).is_none_or(|&crowd| crowd == 0);
        if let Some(sending) = self.sendings.get_mut(&address) {
            let passed = sending.at.after(self.pace.address_gap_ms) <= self.latest;
            sending.forgotten |= empty && passed && self.leases_asked > sending.left;
        }
    }

    /// The least that a failure of this kind makes a host wait, whatever was before.
    fn failure_wait(&self, end: End) -> u64 {
        let End::Failed { class, retry_after_ms } = end else {
            return 0;
        };
        match (class, retry_after_ms) {
            (FailureClass::TooManyRequests | FailureClass::Unavailable, Some(asked)) => {
                asked.min(self.limits.retry_after_ms_max)
            }
            (FailureClass::TooManyRequests, None) => 30_000,
            (FailureClass::Unavailable, None) => 15_000,
            (FailureClass::Refused | FailureClass::Dns, _) => 2_000,
            (FailureClass::Tls, _) => 5_000,
            (FailureClass::ConnectTimeout, _) => 30_000,
            _ => 0,
        }
    }

    fn set_pace(&mut self, pace: Pace) {
        let addresses: Vec<IpAddr> = self.sendings.keys().copied().collect();
        addresses.into_iter().for_each(|address| self.forget(address));
        self.pace = pace;
        for lease in self.leases.values_mut() {
            lease.gap_least = lease.gap_least.min(pace.address_gap_ms);
        }
        for sending in self.sendings.values_mut() {
            sending.gap_least = sending.gap_least.min(pace.address_gap_ms);
        }
    }

    fn set_host_delay(&mut self, host: HostKey, delay_ms: Option<u64>) {
        if let Some(idle) = self.idle.get_mut(&host) {
            idle.pace.delay_ms = delay_ms;
        }
    }

    fn restart(&mut self, now: Millis, hosts: u64) {
        self.idle.clear();
        self.leases.clear();
        self.crowds.clear();
        (self.entries, self.latest, self.token, self.token_before) = (0, Millis(0), 0, None);
        for sending in self.sendings.values_mut() {
            sending.forgotten = true;
        }
        for host in (0..hosts).map(HostKey) {
            let until = self.promises.get(&host).map_or(now, |before| before.until);
            self.promises.insert(host, Promise { end: now, until });
        }
    }
}

/// The gap, once more and in other words.
fn gap_ms(pace: &Pace, host: &HostPace) -> u64 {
    let delay = host.delay_ms.unwrap_or(pace.delay_ms);
    let slow = if delay > 0 { host.response_ms * pace.response_factor } else { 0 };
    let gaps = [delay, host.crawl_delay_ms.unwrap_or(0), slow.min(pace.adaptive_max_ms)];
    gaps.into_iter().max().expect("there are three")
}
