//! What the frontier tells about itself: counts, and what each host waits for. Changes nothing.

use larm_core::Millis;
use larm_core::workbench::HostKey;

use super::DiskFrontier;
use crate::frontier::host::{Appetite, Host, host_key};
use crate::frontier::status::{FrontierStatus, HostStatus, Standing};

impl DiskFrontier {
    pub(super) fn tell(&self, now: Millis, hosts_max: usize) -> FrontierStatus {
        let waiting = self.state.hosts.iter().filter(|(_, host)| host.waiting() > 0);
        let mut due: Vec<(Millis, HostKey)> =
            waiting.map(|(key, host)| (self.turn_of(host), *key)).collect();
        let hosts_waiting = due.len() as u64;
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

    fn host_status_of(&self, key: HostKey, host: &Host, now: Millis) -> HostStatus {
        HostStatus {
            host: host.name.to_string(),
            waiting: host.waiting(),
            answered: host.answered,
            standing: self.standing(key, host, now),
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
        if let Some((until, rule)) = host.ready_at(&self.state.pace, appetite) {
            return match until.since(now) {
                0 => Standing::Ready,
                ms => Standing::Waiting { until, ms, rule: rule.to_string() },
            };
        }
        let waits = host.waiting() > 0;
        if appetite == Appetite::Errands && waits {
            return Standing::OverBudget;
        }
        if waits && host.origins.iter().any(|origin| origin.parked) {
            return Standing::AwaitingRobots;
        }
        let given_up = host.origins.iter().find_map(|origin| origin.given_up);
        given_up.map_or(Standing::Idle, |class| Standing::GivenUp { class })
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
