//! Reading a body onto the tape, within bytes, time and memory (step 7 of the line).
//!
//! A body is read as far as its reservation covers it; then that has to grow. Waiting for memory is our
//! own doing, so the deadline moves by as much. Reading stops, it never fails: why it stopped is part of
//! the result.

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
        let stopped = loop {
            self.cover_more(&mut reservation, budget).await;
            match self.read_up_to(reservation.bytes(), &mut body).await {
                Progress::Full if reservation.bytes() < self.limits.body_bytes_max => {}
                Progress::Ended => break None,
                Progress::Full => break Some(Truncated::Length),
                Progress::Broken => break Some(Truncated::Disconnect),
                Progress::Late => break Some(Truncated::Time),
            }
        };
        Reading { stopped, reservation }
    }

    async fn cover_more(&mut self, reservation: &mut Reservation, budget: &Budget) {
        if !budget.try_grow(reservation) {
            let before = self.clock.now();
            budget.take_large_place(reservation).await;
            self.deadline = self.deadline.after(self.clock.now().since(before));
        }
    }

    async fn read_up_to(&mut self, body_bytes_max: u64, body: &mut Incoming) -> Progress {
        let tape_bytes_max = self.head_bytes.saturating_add(bytes(body_bytes_max));
        let deadline = self.clock.instant_of(self.deadline).into();
        let reading = self.fill(tape_bytes_max, body);
        timeout_at(deadline, reading).await.unwrap_or(Progress::Late)
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
