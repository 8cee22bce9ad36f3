//! From disk into memory: a host by its name, or a shelf as a whole.
//!
//! Who comes into memory takes along what arrived for it while it was not there (STATE-4). A host that
//! is called by its name takes only its own: the list stays as it is, and the host's row says up to which
//! number it has taken from it. A shelf that is brought in takes all, and its list is gone.
//!
//! Nothing here is a change that the log speaks of: after a crash it is simply done again.

use larm_core::Millis;
use larm_core::workbench::{HostKey, HostPace};

use super::{ITEM_BYTES, State, partition_of_name};
use crate::error::Result;
use crate::frontier::host::{HOST_BYTES, Host, host_key};
use crate::frontier::keyed::KeyMap;
use crate::frontier::pack::{self, Packed};
use crate::frontier::shelf::ShelfId;
use crate::frontier::sites::LastSite;

/// Hosts of a shelf that are not in memory yet, with all that waits for them.
pub struct BroughtIn {
    /// Whose.
    pub shelf: ShelfId,
    /// Those that took something from the arrivals: only the next checkpoint can let them go.
    pub changed: Vec<Host>,
    /// Those that are as they are on disk.
    pub unchanged: Vec<Host>,
}

impl State {
    /// A host that is not in memory, by its name, with what arrived for it; or a new one.
    pub(super) fn fetch_host(&mut self, name: &str) -> Result<Host> {
        let partition = partition_of_name(name);
        let mut host = match self.stored_host(name, partition)? {
            Some(host) => host,
            None => self.new_host(name, partition),
        };
        self.change_bytes += self.arrivals_of(&mut host)?;
        host.arrived = self.next_seq;
        Ok(host)
    }

    /// A host as it lies on disk, for reports.
    pub fn look_at_host(&self, name: &str) -> Result<Option<Host>> {
        let partition = partition_of_name(name);
        let known = self.stored_host(name, partition)?;
        let was_known = known.is_some();
        let mut host = known.unwrap_or_else(|| Host::new(name, partition));
        self.arrivals_of(&mut host)?;
        Ok(Some(host).filter(|host| was_known || host.waiting() > 0))
    }

    fn stored_host(&self, name: &str, partition: u16) -> Result<Option<Host>> {
        let key = host_key(name);
        if self.shelves.is_whole(ShelfId::of(partition, key)) {
            return Ok(None);
        }
        let row = self.store.host(partition, key)?;
        Ok(row.map(|row| self.revive(row)))
    }

    /// Gives a host what arrived for it, and says how many bytes that is.
    fn arrivals_of(&self, host: &mut Host) -> Result<u64> {
        let (mut bytes, mut last) = (0, LastSite::default());
        let shelf = host.shelf();
        for list in self.shelves.arrivals(shelf)? {
            for entry in pack::entries_of(&list, host.key) {
                let (seq, packed) = entry.ok_or_else(|| self.broken_arrivals(shelf))?;
                // One of another name is met again when the shelf is brought in.
                if packed.host_name() == &*host.name {
                    bytes += self.give(host, seq, &packed, &mut last);
                }
            }
        }
        Ok(bytes)
    }

    /// Reads all hosts of a shelf that are not in memory, and gives them what arrived.
    pub fn bring_in(&mut self, shelf: ShelfId) -> Result<BroughtIn> {
        let mut hosts = KeyMap::default();
        let store = self.store.clone();
        for row in store.hosts_of(shelf) {
            let host = self.revive(row?);
            if !self.hosts.contains_key(&host.key) {
                hosts.insert(host.key, host);
            }
        }
        for list in self.shelves.arrivals(shelf)? {
            self.distribute(shelf, &list, &mut hosts)?;
        }
        self.shelves.taken(shelf, self.next_seq);
        let all = hosts.into_values();
        let (changed, unchanged) = all.partition(|host| host.changed);
        Ok(BroughtIn { shelf, changed, unchanged })
    }

    /// Takes a host that was read into memory.
    pub fn admit(&mut self, mut host: Host) -> Result<()> {
        host.arrived = self.next_seq;
        self.change_bytes += if host.changed { HOST_BYTES } else { 0 };
        self.touched.insert(host.key);
        self.take_host(host)
    }

    fn distribute(
        &mut self,
        shelf: ShelfId,
        list: &[u8],
        hosts: &mut KeyMap<HostKey, Host>,
    ) -> Result<()> {
        let mut last = LastSite::default();
        for entry in pack::entries(list) {
            let (seq, packed) = entry.ok_or_else(|| self.broken_arrivals(shelf))?;
            let key = packed.host;
            if let Some(host) = self.hosts.get(&key) {
                // It has taken its own already.
                if &*host.name != packed.host_name() {
                    self.drop_stranger(&packed);
                }
                continue;
            }
            let new = || self.new_host(packed.host_name(), shelf.partition());
            let host = hosts.entry(key).or_insert_with(new);
            if &*host.name == packed.host_name() {
                self.change_bytes += self.give(host, seq, &packed, &mut last);
            } else {
                self.drop_stranger(&packed);
            }
        }
        Ok(())
    }

    /// A URL of a host whose key another host has. Needs no record: it is met, and dropped, whenever the
    /// list that it is in is taken.
    fn drop_stranger(&mut self, packed: &Packed<'_>) {
        self.waiting -= 1;
        self.totals.known -= u64::from(packed.counts());
        self.count_rejected(&[("host-key".to_owned(), 1)]);
    }

    fn broken_arrivals(&self, shelf: ShelfId) -> crate::error::Error {
        self.store.broken(&format!("the arrivals of {shelf:?} cannot be read"))
    }

    /// Notes that a host is on disk only from now on, and when something of it may be asked.
    pub fn let_go(&mut self, key: HostKey, turn: Option<Millis>) {
        if let Some(host) = self.hosts.remove(&key) {
            self.sites.leave(host.site);
            self.shelves.open(host.shelf(), turn);
        }
    }

    /// Gives a host what arrived for it, if it has not taken it before, and says how many bytes that is.
    fn give(&self, host: &mut Host, seq: u64, packed: &Packed<'_>, last: &mut LastSite) -> u64 {
        if seq < host.arrived {
            return 0;
        }
        if seq < self.run_seq && host.pace == HostPace::default() {
            // It may have been asked in an earlier run without leaving a trace.
            host.pace.after_restart(self.run_started, &self.pace);
        }
        let place = host.push(seq, packed, last).place;
        // An errand was looked at when it was offered, and is here only since the log was replayed.
        if packed.is_sieved() {
            host.unchecked.push(place);
        }
        packed.bytes.len() as u64 + ITEM_BYTES
    }
}
