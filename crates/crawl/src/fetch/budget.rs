//! The memory of large bodies (step 7 of the line).
//!
//! A body up to `body_small_bytes_max` is free: there are at most `fetches_max` of them. To grow beyond,
//! a fetch takes a [`Reservation`] once, for the largest body that there can be, out of
//! `bodies_bytes_max`, and gives it back when what it fetched is dropped.
//!
//! There is no deadlock: a fetch asks at most once and holds nothing of the budget while it waits, the
//! budget holds at least one reservation, and the queue is first come, first served.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use larm_core::Limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Permits count KiB, so that the largest budget that can be set fits their 32 bits.
const UNIT_BYTES: u64 = 1024;

/// A large body's place in memory. Dropping it gives the place to the next.
#[derive(Debug)]
pub struct Reservation {
    _permit: OwnedSemaphorePermit,
}

/// What is left for large bodies.
#[derive(Debug)]
pub(super) struct Budget {
    places: Arc<Semaphore>,
    per_body: u32,
    waits: AtomicU64,
}

impl Budget {
    pub fn new(limits: &Limits) -> Self {
        let per_body = units(limits.body_bytes_max.saturating_sub(limits.body_small_bytes_max));
        // `Limits::validate` sees to it already; rounding to units must not undo it.
        let total = units(limits.bodies_bytes_max).max(per_body);
        Self {
            places: Arc::new(Semaphore::new(total as usize)),
            per_body,
            waits: AtomicU64::new(0),
        }
    }

    /// Waits for a place for one large body.
    pub async fn reserve(&self) -> Reservation {
        let places = self.places.clone();
        if let Ok(permit) = places.clone().try_acquire_many_owned(self.per_body) {
            return Reservation { _permit: permit };
        }
        self.waits.fetch_add(1, Ordering::Relaxed);
        let permit = places.acquire_many_owned(self.per_body).await;
        Reservation { _permit: permit.expect("the semaphore is never closed") }
    }

    /// How often a large body had to wait for its place.
    pub fn waits(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn a_large_body_waits_until_another_is_dropped() {
        let limits = Limits {
            body_bytes_max: 4_096,
            body_small_bytes_max: 1_024,
            bodies_bytes_max: 4_096,
            ..Limits::default()
        };
        let budget = Budget::new(&limits);
        let first = budget.reserve().await;
        let mut second = Box::pin(budget.reserve());
        let pending = poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx).is_pending())).await;
        assert!(pending);
        drop(first);
        second.await;
        assert_eq!(budget.waits(), 1);
    }

    #[tokio::test]
    async fn the_largest_budget_that_can_be_set_fits() {
        let mut limits = Limits::default();
        for name in ["bodies_bytes_max", "body_bytes_max", "body_decoded_bytes_max"] {
            limits.set(name, 64 << 30).unwrap();
        }
        Budget::new(&limits).reserve().await;
    }
}
