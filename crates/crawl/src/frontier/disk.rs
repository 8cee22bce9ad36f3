//! The frontier of one machine: log, state, store, seen set and bench, put together.
//!
//! Order of a commit: sinks synced, then the batch of records with the sinks' positions synced to the
//! log. Order of a checkpoint: log synced, runs of the seen set synced, then one batch into the store
//! with the log position it contains, and only then are the log and superseded runs cut.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use larm_core::digest::BodyDigest;
use larm_core::url::CrawlUrl;
use larm_core::workbench::{HostKey, Pace, Workbench};
use larm_core::{Failure, Limits, Millis};

use super::host::{Host, host_key};
use super::item::{Errand, Item, Place};
use super::lease::{Lease, Turn};
use super::log::{Log, LogPosition};
use super::record::{Batch, Record, Settled};
use super::row::{PageRow, RobotsRow, Totals};
use super::sieve::Sieve;
use super::state::State;
use super::status::{FrontierStatus, HostStatus, Standing};
use super::store::{BlockKey, Meta, Store};
use super::{Budgets, Candidate, Frontier, Nameless, Offered, Positions, Settlement};
use crate::error::{Error, Result};
use crate::store::SameAs;

/// Hosts taken back into memory at a time, once there is room.
const UNPARK_HOSTS: usize = 64;

/// The frontier on disk.
pub struct DiskFrontier {
    limits: Arc<Limits>,
    log: Arc<Mutex<Log>>,
    store: Arc<Store>,
    sieve: Sieve,
    state: State,
    bench: Workbench,
    budgets: Budgets,
    /// Records that are applied and not yet in the log.
    pending: Vec<Record>,
    /// Sinks' positions of the last batch.
    positions: Positions,
    /// Hosts without an address, by the time at which they may be looked up.
    nameless: BTreeSet<(Millis, HostKey)>,
    resolving: HashSet<HostKey>,
    /// Until when a host's address is good.
    address_until: HashMap<HostKey, Millis>,
    /// Hosts with URLs of given-up origins to settle.
    draining: BTreeSet<HostKey>,
    /// Hosts with work that are on disk only, in the order in which they left memory.
    parked: VecDeque<(u16, HostKey)>,
    leased_pages: u64,
    checkpoint_at: Millis,
}

/// A frontier, and what recovery found.
pub struct Opened {
    /// The frontier.
    pub frontier: DiskFrontier,
    /// How far the sinks are to be cut back.
    pub positions: Positions,
    /// Settings changed in earlier runs.
    pub settings: Vec<(String, String)>,
    /// Whether there was a crawl before.
    pub resumed: bool,
    /// Records replayed from the log.
    pub replayed: u64,
}

/// A batch that is in the log's buffer, to be synced without holding the frontier.
pub struct Sealed(Arc<Mutex<Log>>);

impl Sealed {
    /// Makes the batch durable. A failure here is final: the log refuses everything after it.
    pub fn sync(self) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).sync().map(|_| ())
    }
}

impl DiskFrontier {
    /// Opens the frontier in `dir`, or begins a new one, and replays what the last checkpoint lacks.
    pub fn open(dir: &Path, limits: &Arc<Limits>, pace: Pace, now: Millis) -> Result<Opened> {
        let store = Arc::new(Store::open(&dir.join("store"))?);
        let meta = store.meta()?;
        let (log, _tail) = Log::open(&dir.join("log"), limits)?;
        let runs = meta.as_ref().map(|meta| meta.runs.clone()).unwrap_or_default();
        let mut frontier = Self {
            sieve: Sieve::open(&dir.join("seen"), &runs, limits)?,
            state: State::new(store.clone(), limits.clone(), pace),
            limits: limits.clone(),
            log: Arc::new(Mutex::new(log)),
            store,
            bench: Workbench::new(pace),
            budgets: Budgets::default(),
            pending: Vec::new(),
            positions: Vec::new(),
            nameless: BTreeSet::new(),
            resolving: HashSet::new(),
            address_until: HashMap::new(),
            draining: BTreeSet::new(),
            parked: VecDeque::new(),
            leased_pages: 0,
            checkpoint_at: now.after(limits.checkpoint_ms_max),
        };
        frontier.state.run_started = now;
        let from = frontier.restore(meta)?;
        let replayed = frontier.replay(from)?;
        frontier.seat_all(now)?;
        let resumed = frontier.state.totals.started.is_some();
        frontier.record(Record::Started(now))?;
        Ok(Opened {
            positions: frontier.positions.clone(),
            settings: frontier.state.settings.clone().into_iter().collect(),
            resumed,
            replayed,
            frontier,
        })
    }

    fn write_state(
        &mut self,
        position: LogPosition,
        runs: Vec<super::sieve::RunName>,
    ) -> Result<()> {
        let mut batch = self.store.batch();
        let mut changed: Vec<HostKey> =
            self.state.hosts.iter().filter(|(_, host)| host.changed).map(|(key, _)| *key).collect();
        changed.sort_unstable();
        for key in changed {
            let Some(host) = self.state.hosts.get_mut(&key) else { continue };
            let partition = host.partition;
            for (origin, changes) in host.checkpoint(&self.limits) {
                let at = |block| BlockKey { partition, host: key, origin, block };
                changes.write.iter().for_each(|(block, items)| batch.put_block(at(*block), items));
                changes.remove.iter().for_each(|block| batch.remove_block(at(*block)));
            }
            batch.put_host(partition, key, &host.to_row());
            host.changed = false;
        }
        let mut pages: Vec<_> = self.state.pages.iter().collect();
        pages.sort_unstable_by_key(|(fingerprint, (partition, _))| (*partition, **fingerprint));
        for (fingerprint, (partition, row)) in pages {
            batch.put_page(*partition, *fingerprint, row);
        }
        self.state.digests.iter().for_each(|(digest, first)| batch.put_original(digest, first));
        self.state.robots.values().for_each(|row| batch.put_robots(row));
        batch.commit(&Meta {
            position,
            runs,
            positions: self.positions.clone(),
            next_seq: self.state.next_seq,
            totals: self.state.totals.clone(),
            settings: self.state.settings.clone().into_iter().collect(),
        })
    }

    /// Lets idle hosts go, and hosts beyond the limit wait on disk.
    fn release_memory(&mut self, now: Millis) {
        let hosts = &self.state.hosts;
        let idle = hosts.iter().filter(|(key, host)| {
            host.waiting() == 0 && host.pace.not_before < now && !self.resolving.contains(key)
        });
        let mut leaving: Vec<HostKey> = idle.map(|(key, _)| *key).collect();
        let limit = usize::try_from(self.limits.hosts_memory_max).unwrap_or(usize::MAX);
        let excess = (hosts.len() - leaving.len()).saturating_sub(limit);
        let parkable = hosts.iter().filter(|(key, host)| {
            host.waiting() > 0 && host.leased.is_none() && !self.resolving.contains(key)
        });
        let parking: Vec<HostKey> = parkable.map(|(key, _)| *key).take(excess).collect();
        for key in &parking {
            let partition = self.state.hosts.get(key).map(|host| host.partition);
            self.parked.push_back((partition.unwrap_or_default(), *key));
        }
        leaving.extend(parking);
        for key in leaving {
            self.bench.leave(key);
            self.address_until.remove(&key);
            self.state.hosts.remove(&key);
        }
    }

    fn unpark(&mut self, now: Millis) -> Result<()> {
        let room = self.limits.hosts_memory_max as usize;
        for _ in 0..UNPARK_HOSTS {
            if self.state.hosts.len() >= room {
                break;
            }
            let Some((partition, key)) = self.parked.pop_front() else { break };
            if self.state.hosts.contains_key(&key) {
                continue;
            }
            if let Some(row) = self.store.host(partition, key)? {
                let host = self.state.revive(row);
                self.state.hosts.insert(key, host);
                self.seat(key, now);
            }
        }
        Ok(())
    }

    /// Takes the last checkpoint's word for the state, and says where the log goes on.
    fn restore(&mut self, meta: Option<Meta>) -> Result<LogPosition> {
        let Some(meta) = meta else { return Ok(LogPosition(0)) };
        self.state.totals = meta.totals;
        self.state.next_seq = meta.next_seq;
        self.state.settings = meta.settings.into_iter().collect();
        self.positions = meta.positions;
        let store = self.store.clone();
        for row in store.hosts() {
            let host = self.state.revive(row?);
            let key = host_key(&host.name);
            let waiting = host.waiting();
            self.state.waiting += waiting;
            if waiting == 0 {
                continue;
            }
            if (self.state.hosts.len() as u64) < self.limits.hosts_memory_max {
                self.state.hosts.insert(key, host);
            } else {
                self.parked.push_back((host.partition, key));
            }
        }
        Ok(meta.position)
    }

    fn replay(&mut self, from: LogPosition) -> Result<u64> {
        let log = self.log.clone();
        let log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let mut records = 0;
        for entry in log.replay(from)? {
            let (position, bytes) = entry?;
            let batch: Batch = postcard::from_bytes(&bytes).map_err(|error| {
                Error::Stopped(format!("the log cannot be read before {position:?}: {error}"))
            })?;
            for record in &batch.records {
                self.remember(record)?;
                self.state.apply(record)?;
                records += 1;
            }
            self.positions = batch.positions;
        }
        Ok(records)
    }

    /// Puts the URLs of a replayed record into the seen set.
    fn remember(&mut self, record: &Record) -> Result<()> {
        let items: &[Item] = match record {
            Record::Offered(items) => items,
            Record::Settled(settled) => &settled.offers,
            _ => &[],
        };
        let urls = items.iter().filter(|item| goes_through_sieve(&item.errand));
        let urls = urls.filter_map(|item| CrawlUrl::from_canonical(&item.url));
        let fingerprints: Vec<u64> = urls.map(|url| url.fingerprint().0).collect();
        self.sieve.insert(&fingerprints).map(|_| ())
    }

    fn record(&mut self, record: Record) -> Result<()> {
        self.state.apply(&record)?;
        self.pending.push(record);
        Ok(())
    }

    /// Keeps of the candidates those that are new and fit, as items, and counts the others.
    fn sift(&mut self, candidates: Vec<Candidate>) -> Result<(Vec<Item>, Offered)> {
        let fingerprints: Vec<u64> = candidates
            .iter()
            .filter(|candidate| goes_through_sieve(&candidate.errand))
            .map(|candidate| candidate.url.fingerprint().0)
            .collect();
        let mut fresh = self.sieve.insert(&fingerprints)?.into_iter();
        let mut offered = Offered::default();
        let mut items = Vec::new();
        for candidate in candidates {
            let new = !goes_through_sieve(&candidate.errand) || fresh.next().unwrap_or_default();
            if !new {
                offered.seen += 1;
            } else if let Some(limit) = self.state.has_room(&candidate.url)? {
                offered.full += 1;
                *self.state.totals.rejected.entry(limit.to_owned()).or_default() += 1;
            } else {
                offered.new += 1;
                items.push(item_of(candidate));
            }
        }
        Ok((items, offered))
    }

    fn seat_all(&mut self, now: Millis) -> Result<()> {
        let keys: Vec<HostKey> = self.state.hosts.keys().copied().collect();
        keys.into_iter().for_each(|key| self.seat(key, now));
        self.state.touched.clear();
        Ok(())
    }

    fn seat_touched(&mut self, now: Millis) {
        for key in std::mem::take(&mut self.state.touched) {
            self.seat(key, now);
        }
    }

    /// Puts a host where it belongs: on the bench, among the nameless, or nowhere.
    fn seat(&mut self, key: HostKey, now: Millis) {
        if self.resolving.contains(&key) {
            return;
        }
        let Some(host) = self.state.hosts.get_mut(&key) else { return };
        if host.given_up_origin().is_some() {
            self.draining.insert(key);
        }
        if host.leased.is_some() {
            return;
        }
        self.bench.leave(key);
        let over_budget = self.budgets.host_pages_max.is_some_and(|max| host.answered >= max);
        let Some((at, rule)) = host.origin_ready_at().filter(|_| !over_budget) else { return };
        if self.address_until.get(&key).is_some_and(|until| *until <= now) {
            host.address = None;
        }
        let Some(address) = host.address else {
            self.nameless.insert((host.pace.not_before, key));
            return;
        };
        self.bench.enter(key, address, host.pace.clone());
        if at > now {
            self.bench.not_before(key, at, rule);
        }
    }

    fn lease_turn(&mut self, now: Millis) -> Result<Option<Lease>> {
        while let Some(turn) = self.bench.lease(now) {
            self.state.load_due_blocks(turn.host)?;
            let host = self
                .state
                .hosts
                .get_mut(&turn.host)
                .expect("FRONT: the bench's hosts are in memory");
            let next = host.next_origin(now).and_then(|(index, place)| {
                let item = host.origin(index).queue.take(place)?;
                host.leased = Some((index, item.clone()));
                Some(item)
            });
            if let Some(item) = next {
                return Ok(Some(self.make_lease(turn.host, item, Turn::Ask(turn.address))));
            }
            self.bench.settle(turn.host, now, larm_core::workbench::End::Unused, &self.limits);
            self.seat(turn.host, now);
        }
        Ok(None)
    }

    /// A lease for a URL whose origin was given up. Needs no place on the bench: nothing is sent.
    fn lease_given_up(&mut self, _now: Millis) -> Result<Option<Lease>> {
        while let Some(key) = self.draining.pop_first() {
            let Some(host) = self.state.hosts.get_mut(&key) else { continue };
            if host.leased.is_some() {
                continue;
            }
            let Some((index, class)) = host.given_up_origin() else { continue };
            self.state.load_due_blocks(key)?;
            let host = self.state.hosts.get_mut(&key).expect("FRONT: the host is in memory");
            let queue = &mut host.origin(index).queue;
            let Some(item) = queue.peek(Millis(u64::MAX)).and_then(|place| queue.take(place))
            else {
                continue;
            };
            host.leased = Some((index, item.clone()));
            self.bench.leave(key);
            return Ok(Some(self.make_lease(key, item, Turn::GivenUp(class))));
        }
        Ok(None)
    }

    fn make_lease(&mut self, host: HostKey, item: Item, turn: Turn) -> Lease {
        let url = CrawlUrl::from_canonical(&item.url).expect("FRONT: items hold canonical URLs");
        self.leased_pages += u64::from(item.errand.counts());
        Lease { host, url, item, turn }
    }

    fn standing(&self, key: HostKey, now: Millis) -> Standing {
        let Some(host) = self.state.hosts.get(&key) else { return Standing::Idle };
        if let Some((_, item)) = &host.leased {
            return Standing::Fetching { url: item.url.to_string() };
        }
        if self.resolving.contains(&key) {
            return Standing::Resolving;
        }
        let given_up = host.origins.iter().find_map(|origin| origin.given_up);
        let Some((until, rule)) = host.ready_at(&self.state.pace) else {
            if host.origins.iter().any(|origin| origin.parked) {
                return Standing::AwaitingRobots;
            }
            return given_up.map_or(Standing::Idle, |class| Standing::GivenUp { class });
        };
        if self.budgets.host_pages_max.is_some_and(|max| host.answered >= max) {
            return Standing::OverBudget;
        }
        match until.since(now) {
            0 => Standing::Ready,
            ms => Standing::Waiting { until, ms, rule: rule.to_string() },
        }
    }
}

impl Frontier for DiskFrontier {
    fn offer(&mut self, candidates: Vec<Candidate>) -> Result<Offered> {
        let now = self.state.run_started;
        let (items, offered) = self.sift(candidates)?;
        if !items.is_empty() {
            self.record(Record::Offered(items))?;
            self.seat_touched(now);
        }
        Ok(offered)
    }

    fn lease(&mut self, now: Millis) -> Result<Option<Lease>> {
        if !self.parked.is_empty() {
            self.unpark(now)?;
        }
        if let Some(lease) = self.lease_given_up(now)? {
            return Ok(Some(lease));
        }
        let answered = self.state.totals.answered + self.leased_pages;
        if self.budgets.pages_max.is_some_and(|max| answered >= max) {
            return Ok(None);
        }
        self.lease_turn(now)
    }

    fn sent(&mut self, host: HostKey, at: Millis) {
        self.bench.sent(host, at);
    }

    fn settle(&mut self, lease: Lease, settlement: Settlement) -> Result<Offered> {
        let (items, offered) = self.sift(settlement.offers)?;
        if let Turn::Ask(_) = lease.turn {
            self.bench.settle(lease.host, settlement.at, settlement.end, &self.limits);
        }
        self.leased_pages -= u64::from(lease.item.errand.counts());
        self.record(Record::Settled(Box::new(Settled {
            host: lease.url.host().into(),
            origin: lease.url.origin().into(),
            place: lease.item.place,
            at: settlement.at,
            end: settlement.end,
            fate: settlement.fate,
            offers: items,
            robots: settlement.robots,
            links: settlement.links,
            rejected: settlement.rejected,
        })))?;
        self.seat_touched(settlement.at);
        Ok(offered)
    }

    fn next_due(&self, now: Millis) -> Option<Millis> {
        if !self.draining.is_empty() {
            return Some(now);
        }
        let nameless = self.nameless.first().map(|(at, _)| *at);
        let answered = self.state.totals.answered + self.leased_pages;
        if self.budgets.pages_max.is_some_and(|max| answered >= max) {
            return nameless;
        }
        [self.bench.next_due(now), nameless].into_iter().flatten().min()
    }

    fn nameless(&mut self, now: Millis) -> Option<Nameless> {
        while let Some(&(at, key)) = self.nameless.first().filter(|(at, _)| *at <= now) {
            self.nameless.remove(&(at, key));
            let needs_address = |host: &&Host| host.address.is_none() && host.leased.is_none();
            let Some(host) = self.state.hosts.get(&key).filter(needs_address) else { continue };
            let Some(origin) = host.origins.iter().find(|origin| !origin.queue.is_empty()) else {
                continue;
            };
            let Some(url) = CrawlUrl::from_canonical(&format!("{}/", origin.text)) else {
                continue;
            };
            if self.resolving.insert(key) {
                return Some(Nameless { host: key, name: host.name.clone(), port: url.port() });
            }
        }
        None
    }

    fn named(
        &mut self,
        key: HostKey,
        answer: Result<(IpAddr, u64), Failure>,
        now: Millis,
    ) -> Result<()> {
        self.resolving.remove(&key);
        let Some(host) = self.state.hosts.get_mut(&key) else { return Ok(()) };
        match answer {
            Ok((address, ttl_ms)) => {
                host.address = Some(address);
                self.address_until.insert(key, now.after(ttl_ms));
            }
            Err(failure) => {
                let host = host.name.clone();
                self.record(Record::NameFailed { host, class: failure.class, at: now })?;
            }
        }
        self.seat(key, now);
        self.seat_touched(now);
        Ok(())
    }

    fn is_done(&self) -> bool {
        let over = |max| self.state.totals.answered >= max;
        let work_left =
            !self.bench.is_empty() || !self.nameless.is_empty() || !self.parked.is_empty();
        let busy = self.bench.leased_len() > 0 || !self.resolving.is_empty();
        let stopped = self.budgets.pages_max.is_some_and(over);
        !busy && self.draining.is_empty() && self.leased_pages == 0 && (stopped || !work_left)
    }

    fn changed(&mut self, key: &str, value: &str, now: Millis) -> Result<()> {
        self.record(Record::Changed { key: key.to_owned(), value: value.to_owned(), at: now })
    }

    fn set_pace(&mut self, pace: Pace) {
        self.state.pace = pace;
        self.bench.set_pace(pace);
    }

    fn set_budgets(&mut self, budgets: Budgets) {
        self.budgets = budgets;
        let keys: Vec<HostKey> = self.state.hosts.keys().copied().collect();
        let now = self.state.run_started;
        keys.into_iter().for_each(|key| self.seat(key, now));
    }

    fn page(&self, url: &CrawlUrl) -> Result<Option<PageRow>> {
        self.state.page(url)
    }

    fn knows(&self, url: &CrawlUrl) -> Result<bool> {
        self.sieve.contains(url.fingerprint().0)
    }

    fn original(&self, digest: &BodyDigest) -> Result<Option<SameAs>> {
        self.state.original(digest)
    }

    fn robots(&self, origin: &str) -> Result<Option<RobotsRow>> {
        self.state.robots(origin)
    }

    fn totals(&self) -> &Totals {
        &self.state.totals
    }

    fn waiting(&self) -> u64 {
        self.state.waiting
    }

    fn seal(&mut self, positions: Positions) -> Result<Option<Sealed>> {
        self.positions = positions;
        if self.pending.is_empty() {
            return Ok(None);
        }
        let batch =
            Batch { records: std::mem::take(&mut self.pending), positions: self.positions.clone() };
        let bytes = postcard::to_stdvec(&batch).expect("LOG: records can be written");
        self.log.lock().unwrap_or_else(PoisonError::into_inner).append(&bytes)?;
        Ok(Some(Sealed(self.log.clone())))
    }

    fn wants_checkpoint(&self, now: Millis) -> bool {
        self.state.wants_checkpoint() || (self.state.has_changes() && now >= self.checkpoint_at)
    }

    fn worked(&mut self, ms: u64) -> Result<()> {
        self.record(Record::Worked(ms))
    }

    fn checkpoint(&mut self, now: Millis) -> Result<()> {
        if let Some(sealed) = self.seal(self.positions.clone())? {
            sealed.sync()?;
        }
        let position = self.log.lock().unwrap_or_else(PoisonError::into_inner).end();
        let runs = self.sieve.checkpoint()?;
        self.write_state(position, runs)?;
        self.state.checkpointed();
        self.sieve.forget_superseded()?;
        self.log.lock().unwrap_or_else(PoisonError::into_inner).cut_before(position)?;
        self.checkpoint_at = now.after(self.limits.checkpoint_ms_max);
        self.release_memory(now);
        Ok(())
    }

    fn status(&self, now: Millis, hosts_max: usize) -> FrontierStatus {
        let waiting: Vec<_> =
            self.state.hosts.iter().filter(|(_, host)| host.waiting() > 0).collect();
        let mut due: Vec<_> = waiting
            .iter()
            .map(|(key, host)| (host.ready_at(&self.state.pace).map(|(at, _)| at), **key))
            .collect();
        if hosts_max < due.len() {
            due.select_nth_unstable(hosts_max);
            due.truncate(hosts_max);
        }
        due.sort_unstable();
        let hosts = due.iter().filter_map(|(_, key)| {
            let name = &self.state.hosts.get(key)?.name;
            self.host_status(name, now)
        });
        FrontierStatus {
            totals: self.state.totals.clone(),
            waiting: self.state.waiting,
            leased: self.bench.leased_len() as u64,
            hosts_waiting: (waiting.len() + self.parked.len()) as u64,
            hosts: hosts.collect(),
        }
    }

    fn host_status(&self, name: &str, now: Millis) -> Option<HostStatus> {
        let key = host_key(name);
        let host = self.state.hosts.get(&key)?;
        Some(HostStatus {
            host: host.name.to_string(),
            waiting: host.waiting(),
            answered: host.answered,
            standing: self.standing(key, now),
        })
    }
}

/// robots.txt errands are the crawl's own, and may be needed more than once.
fn goes_through_sieve(errand: &Errand) -> bool {
    !matches!(errand, Errand::Robots { .. })
}

fn item_of(candidate: Candidate) -> Item {
    let priority = Place::breadth_first(&candidate.errand, candidate.depth);
    Item {
        url: candidate.url.as_str().into(),
        depth: candidate.depth,
        via: candidate.via,
        parent: candidate.parent,
        redirects: candidate.redirects,
        tries: 0,
        errand: candidate.errand,
        place: Place { priority, seq: 0 },
    }
}
