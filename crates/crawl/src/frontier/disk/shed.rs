//! What arrived for a host while it was not in memory, held against the maxima of the day.
//!
//! When it was offered, nobody asked whether its host has room. Now the host is here, and what it has no
//! room for is dropped, as a record of its own: recovery drops the very same, whatever the maxima are by
//! then (STATE-2).

use larm_core::workbench::HostKey;

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::host::Host;
use crate::frontier::item::Place;
use crate::frontier::record::Record;

impl DiskFrontier {
    /// Checks what arrived for hosts that have just come into memory.
    pub(super) fn check_arrivals(&mut self) -> Result<()> {
        let touched = self.state.touched.iter().copied();
        let arrived = |key: &HostKey| {
            self.state.hosts.get(key).is_some_and(|host| !host.unchecked.is_empty())
        };
        let hosts: Vec<HostKey> = touched.filter(arrived).collect();
        hosts.into_iter().try_for_each(|key| self.check_host(key))
    }

    fn check_host(&mut self, key: HostKey) -> Result<()> {
        let Some(host) = self.state.hosts.get_mut(&key) else { return Ok(()) };
        let mut arrived = std::mem::take(&mut host.unchecked);
        arrived.sort_unstable_by_key(|place| place.seq);
        let (arrived, homeless) = sort_by_origin(host, arrived, self.limits.host_origins_max);
        let waiting = host.waiting() - homeless.len() as u64;
        let excess = waiting.saturating_sub(self.limits.host_urls_max);
        let excess = usize::try_from(excess).unwrap_or(usize::MAX).min(arrived.len());
        // The last to come find no room.
        let surplus = arrived[arrived.len() - excess..].to_vec();
        let name = host.name.clone();
        for (places, limit) in [(homeless, "host-origins"), (surplus, "host-full")] {
            if !places.is_empty() {
                self.note_shed(key, &places);
                let limit = limit.to_owned();
                self.record(Record::Shed { host: name.clone(), places, limit })?;
            }
        }
        Ok(())
    }

    #[cfg(not(test))]
    fn note_shed(&mut self, _: HostKey, _: &[Place]) {}

    #[cfg(test)]
    fn note_shed(&mut self, key: HostKey, places: &[Place]) {
        let queues = self.state.hosts[&key].origins.iter().map(|origin| &origin.queue);
        let items = queues.flat_map(|queue| queue.items_in_memory());
        let shed = items.filter(|item| places.contains(&item.place));
        self.shed.extend(shed.map(|item| item.url.to_string()));
    }
}

/// Of those places that still wait, in the order in which they came, those with an origin among the
/// first `origins_max`, and the others.
fn sort_by_origin(host: &Host, arrived: Vec<Place>, origins_max: u64) -> (Vec<Place>, Vec<Place>) {
    let origins_max = usize::try_from(origins_max).unwrap_or(usize::MAX);
    let (known, surplus) = host.origins.split_at(host.origins.len().min(origins_max));
    let homeless = |place: &Place| surplus.iter().any(|origin| origin.queue.holds(*place));
    let (homeless, rest): (Vec<Place>, Vec<Place>) = arrived.into_iter().partition(homeless);
    let waits = |place: &Place| known.iter().any(|origin| origin.queue.holds(*place));
    (rest.into_iter().filter(waits).collect(), homeless)
}
