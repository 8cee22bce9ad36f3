//! One HTTP/1.1 connection and the tape on it (step 7 of the line).
//!
//! hyper splits a connection into a handle that takes requests and a future that does the reading and
//! writing. Both are kept together here, and the future is only polled while somebody waits for
//! something on this connection. So nothing runs in the background, nothing outlives a fetch, and an
//! idle connection costs no task.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use larm_core::{Failure, Limits, Millis};

use super::buffer::Buffers;
use super::dial::Duplex;
use super::failure;
use super::tee::{SharedTape, Tee};
use crate::clock::Clock;

/// A request without a body; larm sends no other.
pub(super) type Get = Request<Empty<Bytes>>;

/// The smallest buffer that hyper works with.
const BUFFER_BYTES_MIN: usize = 64 * 1024;

/// An open connection.
pub(super) struct Connection {
    requests: http1::SendRequest<Empty<Bytes>>,
    traffic: http1::Connection<TokioIo<Tee<Box<dyn Duplex>>>, Empty<Bytes>>,
    ended: bool,
    /// What is and was on the wire during the current exchange.
    pub tape: SharedTape,
}

impl Connection {
    /// Speaks HTTP/1.1 over `stream`, with the limits on headers.
    pub async fn open(
        stream: Box<dyn Duplex>,
        buffers: Arc<Buffers>,
        limits: &Limits,
        clock: Clock,
    ) -> Result<Box<Self>, Failure> {
        let tape = SharedTape::new(buffers);
        let stream = TokioIo::new(Tee::new(stream, tape.clone(), clock));
        let (requests, traffic) = options(limits)
            .handshake(stream)
            .await
            .map_err(|error| failure::answering(&error, b"", limits))?;
        Ok(Box::new(Self { requests, traffic, ended: false, tape }))
    }

    /// Sends a request and waits for the headers of its response. The tape starts anew.
    pub async fn ask(
        &mut self,
        request: Get,
        limits: &Limits,
        sent: &mut Sent<'_>,
    ) -> hyper::Result<Response<Incoming>> {
        self.tape.lock().rewind(bytes(limits.header_bytes_max), bytes(limits.body_bytes_max));
        let response = self.requests.send_request(request);
        self.drive(response, sent).await
    }

    /// Waits for `work` while the connection does what `work` needs it to do.
    pub async fn drive<T>(&mut self, work: impl Future<Output = T>, sent: &mut Sent<'_>) -> T {
        let mut work = pin!(work);
        poll_fn(|cx| {
            self.poll_traffic(cx);
            sent.look_at(&self.tape);
            work.as_mut().poll(cx)
        })
        .await
    }

    /// Whether another request can be sent, as far as can be seen from here without waiting. Notices
    /// a server that has hung up or has said something unasked.
    pub async fn is_reusable(&mut self) -> bool {
        poll_fn(|cx| {
            self.poll_traffic(cx);
            Poll::Ready(!self.ended && matches!(self.requests.poll_ready(cx), Poll::Ready(Ok(()))))
        })
        .await
    }

    fn poll_traffic(&mut self, cx: &mut Context<'_>) {
        // Errors are not lost here: hyper hands them to whoever waits for the response or the body.
        if !self.ended && Pin::new(&mut self.traffic).poll(cx).is_ready() {
            self.ended = true;
        }
    }
}

/// Strict about limits, lenient about form: a header line that is no such line is skipped, as browsers
/// do, and the archive has it anyway.
fn options(limits: &Limits) -> http1::Builder {
    let mut options = http1::Builder::new();
    options
        .title_case_headers(true)
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .ignore_invalid_headers_in_responses(true)
        .max_headers(bytes(limits.header_fields_max))
        .max_header_size(bytes(limits.header_bytes_max))
        .max_buf_size(bytes(limits.header_bytes_max).max(BUFFER_BYTES_MIN));
    options
}

/// A limit as a size in memory.
pub(super) fn bytes(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Tells, once, when the request has been sent.
pub(super) struct Sent<'a> {
    tell: Option<&'a (dyn Fn(Millis) + Send + Sync)>,
}

impl<'a> Sent<'a> {
    pub fn new(tell: &'a (dyn Fn(Millis) + Send + Sync)) -> Self {
        Self { tell: Some(tell) }
    }

    fn look_at(&mut self, tape: &SharedTape) {
        if self.tell.is_none() {
            return;
        }
        let at = tape.lock().sent;
        if let Some(at) = at
            && let Some(tell) = self.tell.take()
        {
            tell(at);
        }
    }
}
