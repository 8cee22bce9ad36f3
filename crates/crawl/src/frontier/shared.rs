//! The frontier as the engine, the line and the writer share it.
//!
//! The writer holds it for many pages at a time. Whoever sends a request only has a word to leave, and leaves it at the
//! door if somebody is inside: the next one who comes takes it in before anything else.
//!
//! - FRONT-6: nothing is changed or committed after a panic while the frontier was held: its state may be
//!   half changed, and what is on disk is whole without it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use larm_core::Millis;
use larm_core::workbench::HostKey;

use super::Frontier;
use crate::error::{Error, Result};

/// One frontier, many holders. Held for short calls only, never across a wait.
#[derive(Clone)]
pub struct SharedFrontier(Arc<House>);

struct House {
    frontier: Mutex<Box<dyn Frontier>>,
    /// Requests that went out while somebody held the frontier: a few for each lease at most.
    door: Mutex<Vec<(HostKey, Millis)>>,
}

impl SharedFrontier {
    /// Shares a frontier.
    pub fn new(frontier: Box<dyn Frontier>) -> Self {
        Self(Arc::new(House { frontier: Mutex::new(frontier), door: Mutex::default() }))
    }

    /// To change it.
    pub fn hold(&self) -> Result<MutexGuard<'_, Box<dyn Frontier>>> {
        let panicked = "larm has a bug: a part of it panicked while it held the frontier; what was \
                        committed is on disk, and the crawl can be resumed";
        let frontier = self.0.frontier.lock();
        let frontier = frontier.map_err(|_| Error::Stopped(panicked.to_owned()))?;
        Ok(self.0.take_in(frontier))
    }

    /// To look at it, which is possible to the last.
    pub fn look(&self) -> MutexGuard<'_, Box<dyn Frontier>> {
        match self.0.frontier.lock() {
            Ok(frontier) => self.0.take_in(frontier),
            // What a panic left is not changed any more.
            Err(poisoned) => poisoned.into_inner(),
        }
    }

    /// Tells it that the request of a leased host went out, without a wait. Says whether others may have waited for that.
    pub fn sent(&self, host: HostKey, at: Millis) -> bool {
        match self.0.frontier.try_lock() {
            Ok(frontier) => self.0.take_in(frontier).sent(host, at),
            Err(TryLockError::Poisoned(_)) => false,
            Err(TryLockError::WouldBlock) => {
                self.0.door().push((host, at));
                true
            }
        }
    }
}

impl House {
    fn take_in<'a>(
        &self,
        mut frontier: MutexGuard<'a, Box<dyn Frontier>>,
    ) -> MutexGuard<'a, Box<dyn Frontier>> {
        for (host, at) in self.door().drain(..) {
            frontier.sent(host, at);
        }
        frontier
    }

    fn door(&self) -> MutexGuard<'_, Vec<(HostKey, Millis)>> {
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use larm_core::Limits;
    use larm_core::url::CrawlUrl;
    use larm_core::via::Via;
    use larm_core::workbench::Pace;

    use super::*;
    use crate::frontier::memory::MemoryFrontier;
    use crate::frontier::{Candidate, DiskFrontier, Errand, Located};

    fn seed(url: &str) -> Candidate {
        let (url, via) = (CrawlUrl::from_canonical(url).unwrap(), Via::Seed);
        Candidate { url, depth: 0, via, parent: None, redirects: 0, errand: Errand::Page }
    }

    #[test]
    fn what_is_left_at_the_door_is_taken_in_before_anything_else() {
        let (dir, limits, now) = (tempfile::tempdir().unwrap(), Arc::default(), Millis(1_000_000));
        let pace = Pace { address_gap_ms: 250, ..Pace::default() };
        let mut disk = DiskFrontier::open(dir.path(), &limits, pace, now).unwrap().frontier;
        disk.offer(vec![seed("http://a.example/"), seed("http://b.example/")]).unwrap();
        while let Some(nameless) = disk.nameless(now) {
            let located = Located::at([192, 0, 2, 1].into(), 60_000);
            disk.named(nameless.host, Ok(located), now).unwrap();
        }
        let shared = SharedFrontier::new(Box::new(disk));
        let mut held = shared.hold().unwrap();
        let lease = held.lease(now).unwrap().expect("one of the two hosts");
        assert_eq!(held.next_due(now), None, "the other waits until this one's request is out");
        assert!(shared.sent(lease.host(), now), "nobody waits, and the engine is to look again");
        assert_eq!(held.next_due(now), None);
        drop(held);
        assert_eq!(shared.look().next_due(now), Some(now.after(250)));
    }

    #[test]
    fn nothing_is_changed_after_a_panic_while_it_was_held() {
        let memory = MemoryFrontier::new(&Arc::new(Limits::default()), Pace::default());
        let shared = SharedFrontier::new(Box::new(memory));
        let other = shared.clone();
        let panicked = std::panic::catch_unwind(AssertUnwindSafe(move || {
            let _held = other.hold().expect("nothing has panicked yet");
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert!(shared.hold().is_err());
        assert_eq!(shared.look().waiting(), 0);
    }
}
