//! The hosts that are watched for answering every path alike (with step 9).
//!
//! What is known of a host is taken out while one of its pages is looked at: a host has one lease at a
//! time, so nobody misses it, and no lock is held while a page is read. At most `soft_hosts_max` hosts
//! are remembered, those looked at last; what a probe found is in the frontier, too, and is looked up
//! there before a host is asked a second time.

use std::sync::{Mutex, PoisonError};

use larm_core::Limits;
use larm_core::soft::{Face, Finding, Glance, Standing};
use larm_core::workbench::HostKey;

use crate::frontier::KeyMap;

/// The hosts that are watched.
pub struct SoftHosts {
    known: Mutex<Generations>,
    hosts_max: usize,
    pages_max: usize,
}

/// Hosts looked at since the table was last full, and those before them. Whoever is looked at moves to
/// the young ones; the old ones are forgotten together.
#[derive(Default)]
struct Generations {
    young: KeyMap<HostKey, Standing>,
    old: KeyMap<HostKey, Standing>,
}

impl SoftHosts {
    /// None is known yet.
    pub fn new(limits: &Limits) -> Self {
        let number = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
        Self {
            known: Mutex::default(),
            hosts_max: number(limits.soft_hosts_max),
            pages_max: number(limits.soft_pages_max),
        }
    }

    /// Looks at a page of a host. On a suspicion, the host counts as being asked from here on.
    pub fn look(&self, host: HostKey, glance: Glance, face: impl FnOnce() -> Face) -> Finding {
        let mut standing = self.take(host);
        let finding = standing.look(glance, self.pages_max, face);
        if finding == Finding::Suspicion {
            standing = Standing::Probed;
        }
        self.set(host, standing);
        finding
    }

    /// Notes what a probe found: the face of what is answered to any path, or that nothing is.
    pub fn found(&self, host: HostKey, face: Option<Face>) {
        self.set(host, face.map_or(Standing::Honest, Standing::Soft));
    }

    fn take(&self, host: HostKey) -> Standing {
        let mut known = self.lock();
        let young = known.young.remove(&host);
        young.or_else(|| known.old.remove(&host)).unwrap_or_default()
    }

    fn set(&self, host: HostKey, standing: Standing) {
        let mut known = self.lock();
        known.young.insert(host, standing);
        if known.young.len() > self.hosts_max / 2 {
            known.old = std::mem::take(&mut known.young);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_are_not_looked_at_are_forgotten_and_the_others_are_not() {
        let limits = Limits { soft_hosts_max: 8, ..Limits::default() };
        let hosts = SoftHosts::new(&limits);
        let glance = Glance::new("not found", 1, 100, "/");
        let face = || Face::new(glance, "there is nothing here", "/");
        hosts.found(HostKey(0), Some(face()));
        for other in 1..100 {
            hosts.look(HostKey(other), glance, face);
            assert_eq!(hosts.look(HostKey(0), glance, face), Finding::Soft, "{other}");
            let known = hosts.lock();
            assert!(known.young.len() + known.old.len() <= 9);
        }
        assert_eq!(hosts.look(HostKey(1), glance, face), Finding::Page, "it begins anew");
    }
}
