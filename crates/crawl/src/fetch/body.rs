//! Reading a body onto the tape, within bytes, time and memory (step 7 of the line).
//!
//! A body is read as far as its reservation covers it; then that has to grow. Waiting for memory is our
//! own doing, so the deadline moves by as much. A body that only drips does not hold its place until the
//! deadline, which may be hours away: after a time of grace, every byte has to buy the time it took.
//! Reading stops, it never fails: why it stopped is part of the result.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use larm_core::{Limits, Millis, Truncated};
use tokio::time::timeout_at;

use super::budget::{Budget, Reservation};
use super::connection::{Connection, Sent, bytes};
use crate::clock::Clock;

/// How the reading of a body came to its end.
#[derive(Debug)]
pub(super) struct Reading {
    /// What stopped it before HTTP's end of the body, if anything did.
    pub stopped: Option<Truncated>,
    pub reservation: Reservation,
}

impl Reading {
    /// A body that nobody asked for.
    pub fn unwanted() -> Self {
        Self { stopped: Some(Truncated::Unwanted), reservation: Reservation::default() }
    }
}

/// Reads one body.
pub(super) struct BodyReader<'a, 's> {
    pub connection: &'a mut Connection,
    pub sent: &'a mut Sent<'s>,
    pub limits: &'a Limits,
    pub clock: Clock,
    /// Where the body starts on the tape.
    pub head_bytes: usize,
    /// When the fetch has to be over.
    pub deadline: Millis,
}

/// What reading up to some size came to.
enum Progress {
    Ended,
    Full,
    Broken,
    Late,
}

impl BodyReader<'_, '_> {
    /// Reads until the body ends, or something ends the reading.
    pub async fn read(mut self, mut body: Incoming, budget: &Budget) -> Reading {
        let mut reservation = Reservation::default();
        let mut begun = self.clock.now();
        let stopped = loop {
            let waited_ms = self.cover_more(&mut reservation, budget).await;
            begun = begun.after(waited_ms);
            self.deadline = self.deadline.after(waited_ms);
            match self.read_up_to(reservation.bytes(), begun, &mut body).await {
                Progress::Full if reservation.bytes() < self.limits.body_bytes_max => {}
                Progress::Ended => break None,
                Progress::Full => break Some(Truncated::Length),
                Progress::Broken => break Some(Truncated::Disconnect),
                Progress::Late => break Some(Truncated::Time),
            }
        };
        Reading { stopped, reservation }
    }

    /// Makes the reservation larger, and tells how long that had to be waited for.
    async fn cover_more(&mut self, reservation: &mut Reservation, budget: &Budget) -> u64 {
        if budget.try_grow(reservation) {
            return 0;
        }
        let before = self.clock.now();
        budget.take_large_place(reservation).await;
        self.clock.now().since(before)
    }

    async fn read_up_to(
        &mut self,
        body_bytes_max: u64,
        begun: Millis,
        body: &mut Incoming,
    ) -> Progress {
        let tape_bytes_max = self.head_bytes.saturating_add(bytes(body_bytes_max));
        loop {
            let paid = self.paid_until(begun);
            let deadline = self.clock.instant_of(paid).into();
            match timeout_at(deadline, self.fill(tape_bytes_max, body)).await {
                Ok(progress) => return progress,
                Err(_) if self.paid_until(begun) <= paid => return Progress::Late,
                // More came meanwhile, and bought more time.
                Err(_) => {}
            }
        }
    }

    /// When reading ends if nothing more comes: the time of grace, and what the bytes so far have bought,
    /// but not past the deadline.
    fn paid_until(&self, begun: Millis) -> Millis {
        let came =
            self.connection.tape.lock().response.len().saturating_sub(self.head_bytes) as u64;
        let bought_ms = came.saturating_mul(1_000) / self.limits.body_bytes_per_second_min;
        let paid = begun.after(self.limits.body_slow_ms_max.saturating_add(bought_ms));
        paid.min(self.deadline)
    }

    /// What a frame holds is on the tape, or goes there now.
    async fn fill(&mut self, tape_bytes_max: usize, body: &mut Incoming) -> Progress {
        loop {
            if self.connection.tape.lock().response.len() > tape_bytes_max {
                return Progress::Full;
            }
            match self.connection.drive(body.frame(), self.sent).await {
                Some(Ok(frame)) => self.connection.keep(frame, self.clock.now()),
                Some(Err(_)) => return Progress::Broken,
                None => return Progress::Ended,
            }
        }
    }
}
