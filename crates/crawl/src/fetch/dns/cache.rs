//! What name servers said lately: one slot per name.
//!
//! A slot that is empty is being filled: whoever else wants the name waits for that instead of asking,
//! too. An answer holds for its TTL within bounds, that a name does not exist likewise; trouble with the
//! servers is told to those who waited and then forgotten.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use larm_core::{Failure, FailureClass, Limits, Millis};
use tokio::sync::OnceCell;

use super::Resolved;

/// One name.
pub(super) type Slot = OnceCell<Cached>;

/// What is known of a name.
#[derive(Debug, Clone)]
pub(super) struct Cached {
    answer: Result<Resolved, Failure>,
    until: Millis,
}

impl Cached {
    /// The answer as it holds at `now`: its time has been running.
    pub fn at(&self, now: Millis) -> Result<Resolved, Failure> {
        let resolved = self.answer.clone()?;
        Ok(Resolved { ttl_ms: self.until.since(now), ..resolved })
    }
}

/// The names met lately, at most `dns_cached_max`.
pub(super) struct Cache {
    names: Mutex<Names>,
    count_max: usize,
    ttl_ms: (u64, u64),
    negative_ms: (u64, u64),
}

#[derive(Default)]
struct Names {
    slots: HashMap<Box<str>, Arc<Slot>>,
    oldest_first: VecDeque<Box<str>>,
}

impl Cache {
    pub fn new(limits: &Limits) -> Self {
        Self {
            names: Mutex::default(),
            count_max: usize::try_from(limits.dns_cached_max).unwrap_or(usize::MAX),
            ttl_ms: (limits.dns_ttl_ms_min, limits.dns_ttl_ms_max),
            negative_ms: (limits.dns_negative_ms_min, limits.dns_negative_ms_max),
        }
    }

    /// The slot of a name: what is known of it, or an empty one, to be filled by the first who comes.
    pub fn slot(&self, name: &str, now: Millis) -> Arc<Slot> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |slot: &&Arc<Slot>| slot.get().is_none_or(|cached| cached.until > now);
        if let Some(slot) = names.slots.get(name).filter(holds) {
            return slot.clone();
        }
        let slot = Arc::new(Slot::new());
        if names.slots.insert(name.into(), slot.clone()).is_none() {
            names.oldest_first.push_back(name.into());
        }
        while names.slots.len() > self.count_max
            && let Some(oldest) = names.oldest_first.pop_front()
        {
            names.slots.remove(&oldest);
        }
        slot
    }

    /// An answer of the name servers with the time that they give it, put within our bounds.
    pub fn bounded(
        &self,
        answer: Result<Resolved, Failure>,
        ttl_ms: Option<u64>,
        now: Millis,
    ) -> Cached {
        let hold_ms = match &answer {
            Ok(_) => ttl_ms.unwrap_or_default().clamp(self.ttl_ms.0, self.ttl_ms.1),
            Err(failure) if failure.class == FailureClass::Dns => {
                ttl_ms.map_or(0, |ttl_ms| ttl_ms.clamp(self.negative_ms.0, self.negative_ms.1))
            }
            Err(_) => 0,
        };
        Cached { answer, until: now.after(hold_ms) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Cache {
        Cache::new(&Limits {
            dns_cached_max: 2,
            dns_ttl_ms_min: 10,
            dns_ttl_ms_max: 100,
            dns_negative_ms_min: 20,
            dns_negative_ms_max: 30,
            ..Limits::default()
        })
    }

    #[test]
    fn answers_hold_for_their_time_within_bounds() {
        use FailureClass::{Dns, NameServers, NoFiles};
        let failed = |class| Err(Failure::new(class, ""));
        let rows = [
            (Ok(Resolved::default()), Some(50), 50),
            (Ok(Resolved::default()), Some(0), 10),
            (Ok(Resolved::default()), Some(1_000), 100),
            (failed(Dns), Some(25), 25),
            (failed(Dns), Some(0), 20),
            (failed(Dns), Some(1_000), 30),
            // What is said for no time at all is asked again when it is wanted again.
            (failed(Dns), None, 0),
            (failed(NameServers), Some(1_000), 0),
            (failed(NoFiles), None, 0),
        ];
        for (answer, ttl_ms, hold_ms) in rows {
            let cached = cache().bounded(answer.clone(), ttl_ms, Millis(5));
            assert_eq!(cached.until, Millis(5 + hold_ms), "{answer:?} {ttl_ms:?}");
        }
    }

    #[test]
    fn a_slot_is_shared_until_its_time_is_over() {
        let cache = cache();
        let first = cache.slot("a", Millis(0));
        assert!(Arc::ptr_eq(&first, &cache.slot("a", Millis(1_000))), "it is being filled");
        let answer = cache.bounded(Ok(Resolved::default()), Some(50), Millis(0));
        first.set(answer).expect("it is empty");
        let held = cache.slot("a", Millis(49));
        assert!(Arc::ptr_eq(&first, &held));
        assert_eq!(held.get().unwrap().at(Millis(49)).unwrap().ttl_ms, 1, "time has been running");
        assert!(!Arc::ptr_eq(&first, &cache.slot("a", Millis(50))));
    }

    #[test]
    fn the_oldest_name_is_forgotten() {
        let cache = cache();
        let slots = ["a", "b", "c"].map(|name| cache.slot(name, Millis(0)));
        assert!(Arc::ptr_eq(&slots[1], &cache.slot("b", Millis(0))));
        assert!(Arc::ptr_eq(&slots[2], &cache.slot("c", Millis(0))));
        assert!(!Arc::ptr_eq(&slots[0], &cache.slot("a", Millis(0))));
        assert_eq!(cache.names.lock().unwrap().slots.len(), 2);
    }
}
