//! The memory of bodies in flight: one budget, which is also the back-pressure (step 7 of the line).
//!
//! A body is covered before it is read, in steps that double, up to `body_small_bytes_max` out of the
//! common part of `bodies_bytes_max`. To grow beyond, or when the common part is spent, it waits for one
//! of the few large places, each of which covers the largest body that there can be. It is covered until
//! what was made of it is written, so that a slow disk makes reading wait, and that makes leasing wait.
//!
//! There is no deadlock: whoever waits for a large place needs nothing else to come to its end, there is
//! at least one such place, and the queue for them is first come, first served.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use larm_core::Limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::buffer::BUFFER_BYTES;

/// Permits count KiB, so that the largest budget that can be set fits their 32 bits.
const UNIT_BYTES: u64 = 1024;

/// A body's place in memory. Dropping it gives the place to others.
#[derive(Debug, Default)]
pub struct Reservation {
    bytes: u64,
    common: Option<OwnedSemaphorePermit>,
    large: Option<OwnedSemaphorePermit>,
}

impl Reservation {
    /// How much of a body it covers.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// What is left for bodies.
#[derive(Debug)]
pub(super) struct Budget {
    common: Arc<Semaphore>,
    large: Arc<Semaphore>,
    small_bytes_max: u64,
    body_bytes_max: u64,
    waits: AtomicU64,
}

impl Budget {
    pub fn new(limits: &Limits) -> Self {
        let total = units(limits.bodies_bytes_max);
        let per_large = units(limits.body_bytes_max);
        // `Limits::validate` sees to it that one fits; rounding to units must not undo it.
        let large = (total / 2).max(per_large);
        Self {
            common: Arc::new(Semaphore::new(total.saturating_sub(large) as usize)),
            large: Arc::new(Semaphore::new(large as usize)),
            small_bytes_max: limits.body_small_bytes_max.min(limits.body_bytes_max),
            body_bytes_max: limits.body_bytes_max,
            waits: AtomicU64::new(0),
        }
    }

    /// Makes a reservation cover more, without waiting. Says whether that was possible.
    pub fn try_grow(&self, reservation: &mut Reservation) -> bool {
        let step = reservation.bytes.max(BUFFER_BYTES as u64);
        let bytes = (reservation.bytes + step).min(self.small_bytes_max);
        let more = units(bytes.saturating_sub(reservation.bytes));
        let permit = (more > 0).then(|| self.common.clone().try_acquire_many_owned(more));
        let Some(Ok(permit)) = permit else { return false };
        reservation.bytes = bytes;
        match &mut reservation.common {
            Some(common) => common.merge(permit),
            none => *none = Some(permit),
        }
        true
    }

    /// Waits for a large place, which covers any body.
    pub async fn take_large_place(&self, reservation: &mut Reservation) {
        let units = units(self.body_bytes_max);
        let permit = match self.large.clone().try_acquire_many_owned(units) {
            Ok(permit) => permit,
            Err(_) => {
                self.waits.fetch_add(1, Ordering::Relaxed);
                let place = self.large.clone().acquire_many_owned(units).await;
                place.expect("the semaphore is never closed")
            }
        };
        reservation.large = Some(permit);
        reservation.common = None;
        reservation.bytes = self.body_bytes_max;
    }

    /// How often a body had to wait for its place.
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

    const BUFFER: u64 = BUFFER_BYTES as u64;

    fn budget(bodies_bytes_max: u64) -> Budget {
        Budget::new(&Limits {
            body_bytes_max: 4 * BUFFER,
            body_small_bytes_max: 2 * BUFFER,
            bodies_bytes_max,
            ..Limits::default()
        })
    }

    #[test]
    fn a_body_grows_in_steps_up_to_what_is_small() {
        let budget = budget(100 * BUFFER);
        let mut body = Reservation::default();
        assert!(budget.try_grow(&mut body));
        assert_eq!(body.bytes(), BUFFER);
        assert!(budget.try_grow(&mut body));
        assert_eq!(body.bytes(), 2 * BUFFER);
        assert!(!budget.try_grow(&mut body), "beyond, it is large");
    }

    #[test]
    fn the_common_part_is_spent_by_those_that_hold_it_and_comes_back() {
        let budget = budget(6 * BUFFER);
        let mut bodies: Vec<Reservation> = (0..3).map(|_| Reservation::default()).collect();
        let grown: Vec<bool> = bodies.iter_mut().map(|body| budget.try_grow(body)).collect();
        assert_eq!(grown, [true, true, false], "four of six are for large bodies");
        bodies.clear();
        assert!(budget.try_grow(&mut Reservation::default()));
    }

    #[tokio::test]
    async fn a_large_body_waits_until_another_is_dropped_and_then_needs_no_more() {
        let budget = budget(4 * BUFFER);
        let (mut first, mut second) = (Reservation::default(), Reservation::default());
        budget.take_large_place(&mut first).await;
        assert_eq!(first.bytes(), 4 * BUFFER);
        let mut waiting = Box::pin(budget.take_large_place(&mut second));
        let pending = poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_pending())).await;
        assert!(pending);
        drop(first);
        waiting.await;
        assert_eq!((second.bytes(), budget.waits()), (4 * BUFFER, 1));
    }

    #[tokio::test]
    async fn the_largest_budget_that_can_be_set_fits() {
        let mut limits = Limits::default();
        for name in ["bodies_bytes_max", "body_bytes_max", "body_decoded_bytes_max"] {
            limits.set(name, 64 << 30).unwrap();
        }
        Budget::new(&limits).take_large_place(&mut Reservation::default()).await;
    }
}
