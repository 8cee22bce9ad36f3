//! What the frontier tells about itself: counts, and what each host waits for. Changes nothing.

use larm_core::Millis;
use larm_core::url::file::{LANES, is_lane};
use larm_core::workbench::{HostKey, WaitRule};
#[cfg(test)]
use larm_core::worth::{HostWorth, Purse};

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::host::{Appetite, Host, host_key};
use crate::frontier::status::{FrontierStatus, HostList, HostStatus, HostsAsked, Standing};

impl DiskFrontier {
    pub(super) fn tell(&self, now: Millis, hosts_max: usize) -> FrontierStatus {
        let waiting = self.state.hosts.iter().filter(|(_, host)| host.waiting() > 0);
        let mut due: Vec<(Millis, HostKey)> =
            waiting.map(|(key, host)| (self.turn_of(host), *key)).collect();
        let lanes = LANES.iter().filter_map(|lane| self.state.hosts.get(&host_key(lane)));
        let lanes_waiting = lanes.filter(|lane| lane.waiting() > 0).count();
        let hosts_waiting = (due.len() - lanes_waiting) as u64;
        if hosts_max < due.len() {
            due.select_nth_unstable(hosts_max);
            due.truncate(hosts_max);
        }
        due.sort_unstable();
        let hosts = due.iter().filter_map(|(_, key)| {
            let host = self.state.hosts.get(key)?;
            Some(self.host_status_of(*key, host, now))
        });
        FrontierStatus {
            totals: self.state.totals.clone(),
            waiting: self.state.waiting,
            leased: self.leases,
            hosts_waiting,
            hosts: hosts.collect(),
        }
    }

    /// One host, from memory or from disk. A disk that cannot be read tells nothing here: the next
    /// who needs that host gets the error.
    pub(super) fn tell_of(&self, name: &str, now: Millis) -> Option<HostStatus> {
        let key = host_key(name);
        match self.state.hosts.get(&key) {
            Some(host) => Some(self.host_status_of(key, host, now)),
            None => {
                let host = self.state.look_at_host(name).ok().flatten()?;
                Some(self.host_status_of(key, &host, now))
            }
        }
    }

    /// The same as [`Frontier::host_list`](crate::frontier::Frontier::host_list), with the hosts on disk:
    /// for a crawl that does not run, since it reads all of them.
    pub fn all_hosts(&self, now: Millis, asked: &HostsAsked) -> Result<HostList> {
        let rows = self.store.hosts().map(|row| Ok(Host::from_row(row?)));
        let mut on_disk: Vec<Host> = rows.collect::<Result<_>>()?;
        on_disk.retain(|host| !self.state.hosts.contains_key(&host.key));
        let all = self.state.hosts.values().chain(&on_disk);
        Ok(self.list_hosts(all.collect(), now, asked))
    }

    pub(super) fn list_hosts(
        &self,
        mut all: Vec<&Host>,
        now: Millis,
        asked: &HostsAsked,
    ) -> HostList {
        all.retain(|host| !is_lane(&host.name) && host.name.contains(&asked.containing));
        all.sort_by_cached_key(|host| (self.rank(host), self.turn_of(host), host.name.clone()));
        let first = all.iter().take(asked.most);
        let hosts = first.map(|host| self.host_status_of(host.key, host, now)).collect();
        HostList { total: all.len() as u64, hosts }
    }

    /// Who is busy comes first, then who will be, then who has nothing to do, and why.
    fn rank(&self, host: &Host) -> u8 {
        let is_given_up = host.origins.iter().any(|origin| origin.given_up.is_some());
        match host {
            host if host.leased.is_some() => 0,
            host if self.resolving.contains(&host.key) => 1,
            host if host.waiting() > 0 && !is_given_up => 2,
            _ if is_given_up => 3,
            _ => 4,
        }
    }

    fn host_status_of(&self, key: HostKey, host: &Host, now: Millis) -> HostStatus {
        let failures = host.origins.iter().map(|origin| origin.health.failures);
        let (gap_ms, gap_rule) = host.pace.spacing_ms(&self.state.pace);
        HostStatus {
            host: host.name.to_string(),
            waiting: host.waiting(),
            answered: host.purse.pages,
            failures: failures.max().unwrap_or_default().max(host.pace.failures),
            address: host.last_address,
            alias: host.alias.as_deref().map(str::to_owned),
            trouble: None,
            gap_ms,
            gap_rule: gap_rule.to_string(),
            delay_ms: host.pace.delay_ms,
            standing: self.standing(key, host, now),
            budget: self.budget_of(host),
            patterns: self.findings_of(host),
        }
    }

    fn standing(&self, key: HostKey, host: &Host, now: Millis) -> Standing {
        if let Some((_, taken)) = &host.leased {
            return Standing::Fetching { url: taken.item.url.to_string() };
        }
        if self.resolving.contains(&key) {
            return Standing::Resolving;
        }
        let appetite = self.appetite(host);
        if self.paused.contains(&key) && host.waiting() > 0 {
            return Standing::Paused;
        }
        if let Some((until, rule)) = host.ready_at(&self.state.pace, appetite) {
            let (until, rule) = self.gap_of_address(key, until.max(now)).unwrap_or((until, rule));
            return match Standing::waiting(until, rule, now) {
                Standing::Ready => self.ready_or_sharing(key),
                standing => standing,
            };
        }
        let waits = host.waiting() > 0;
        if appetite == Appetite::ERRANDS && waits {
            return Standing::OverBudget;
        }
        if waits && host.origin_ready_at(Appetite::ALL).is_some() {
            return Standing::Held;
        }
        if waits && host.origins.iter().any(|origin| origin.parked) {
            return Standing::AwaitingRobots;
        }
        let given_up = host.origins.iter().find_map(|origin| origin.given_up);
        given_up.map_or(Standing::Idle, |class| Standing::GivenUp { class })
    }

    /// Until when the gap of its address lasts, for a host that is alone there; none if that is over by `then`.
    fn gap_of_address(&self, key: HostKey, then: Millis) -> Option<(Millis, WaitRule)> {
        let free = self.bench.wait_of(key)?.address_free;
        let is_alone = || self.bench.sharing_with(key).is_none();
        (free > then && is_alone()).then_some((free, WaitRule::AddressGap))
    }

    fn ready_or_sharing(&self, key: HostKey) -> Standing {
        let is_busy = self.bench.wait_of(key).is_some_and(|wait| wait.address_waits);
        let other = self.bench.sharing_with(key).filter(|_| is_busy);
        match other.and_then(|other| self.state.hosts.get(&other)) {
            Some(other) => Standing::SharesAddress { with: other.name.to_string() },
            None => Standing::Ready,
        }
    }

    /// All that waits, in memory and on disk, what is being fetched included.
    #[cfg(test)]
    pub(crate) fn waiting_urls(&self) -> Vec<String> {
        use crate::frontier::store::BlockKey;
        let on_disk = self.hosts_on_disk();
        let mut urls = Vec::new();
        for host in self.state.hosts.values().chain(&on_disk) {
            for (origin, queue) in (0..).zip(host.origins.iter().map(|origin| &origin.queue)) {
                let (partition, host) = (host.partition, host.key);
                let at = |block| BlockKey { partition, host, origin, block };
                let items = queue.items(|block| self.store.block(at(block)).unwrap().to_vec());
                assert_eq!(items.len() as u64, queue.len(), "QUEUE-3");
                urls.extend(items.into_iter().map(|item| item.url.to_string()));
            }
            urls.extend(host.leased.iter().map(|(_, taken)| taken.item.url.to_string()));
        }
        urls.sort_unstable();
        urls
    }

    /// What is known of the worth of a host: its purse, that of its site, and what its pages bring.
    #[cfg(test)]
    pub(crate) fn worth_of(&self, name: &str) -> Option<(Purse, Purse, HostWorth)> {
        let of = |host: &Host| {
            let worth = host.worth.as_deref().cloned().unwrap_or_default();
            (host.purse, self.state.site_purse(host), worth)
        };
        match self.state.hosts.get(&host_key(name)) {
            Some(host) => Some(of(host)),
            None => self.state.look_at_host(name).unwrap().as_ref().map(of),
        }
    }

    /// Hosts that are not in memory, with what arrived for them.
    #[cfg(test)]
    fn hosts_on_disk(&self) -> Vec<Host> {
        use crate::frontier::pack;
        use crate::frontier::shelf::{SHELVES, ShelfId};
        let rows = self.store.hosts().map(|row| Host::from_row(row.unwrap()).name);
        let mut names: std::collections::BTreeSet<Box<str>> = rows.collect();
        for shelf in (0..SHELVES).map(ShelfId) {
            let lists = self.state.shelves.arrivals(shelf).unwrap();
            let entries = lists.iter().flat_map(|list| pack::entries(list));
            names.extend(entries.map(|entry| Box::from(entry.unwrap().1.host_name())));
        }
        names.retain(|name| !self.state.hosts.contains_key(&host_key(name)));
        names.iter().filter_map(|name| self.state.look_at_host(name).unwrap()).collect()
    }
}
