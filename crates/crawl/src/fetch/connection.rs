//! One connection, HTTP/1.1 or HTTP/2, and the tape on it (step 7 of the line).
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
use http_body_util::Full;
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use larm_core::{Fact, Failure, Limits, Millis, Protocol};

use super::buffer::Buffers;
use super::dial::{Dialled, Duplex};
use super::failure;
use super::http2::Http2;
use super::tee::{SharedTape, Tee};
use crate::clock::Clock;

/// A request; all but those of a login are without a body.
pub(super) type Asked = Request<Full<Bytes>>;

/// A stream as hyper takes it.
pub(super) type Taped = TokioIo<Tee<Box<dyn Duplex>>>;

/// The smallest buffer that hyper works with.
const BUFFER_BYTES_MIN: usize = 64 * 1024;

/// An open connection.
pub(super) struct Connection {
    speaker: Speaker,
    ended: bool,
    /// What is and was on the wire during the current exchange.
    pub tape: SharedTape,
    /// What is known of the connection, and so of every answer that comes by it.
    pub facts: Vec<Fact>,
}

enum Speaker {
    Http1(Http1),
    Http2(Http2),
}

struct Http1 {
    requests: http1::SendRequest<Full<Bytes>>,
    traffic: http1::Connection<Taped, Full<Bytes>>,
}

impl Connection {
    /// Speaks what was agreed upon over a stream, with the limits on headers.
    pub async fn open(
        dialled: Dialled,
        buffers: Arc<Buffers>,
        limits: &Limits,
        clock: Clock,
    ) -> Result<Box<Self>, Failure> {
        let Dialled { stream, protocol, facts, .. } = dialled;
        let tape = SharedTape::new(buffers, protocol);
        let stream = TokioIo::new(Tee::new(stream, tape.clone(), clock));
        let speaker = match protocol {
            Protocol::Http2 => Http2::open(stream, limits).await.map(Speaker::Http2),
            _ => {
                let opened = options(limits).handshake(stream).await;
                opened.map(|(requests, traffic)| Speaker::Http1(Http1 { requests, traffic }))
            }
        };
        let speaker = speaker.map_err(|error| failure::answering(&error, b"", limits))?;
        Ok(Box::new(Self { speaker, ended: false, tape, facts }))
    }

    /// What is spoken.
    pub fn protocol(&self) -> Protocol {
        match self.speaker {
            Speaker::Http1(_) => Protocol::Http1,
            Speaker::Http2(_) => Protocol::Http2,
        }
    }

    /// Sends a request and waits for the headers of its response. The tape starts anew.
    pub async fn ask(
        &mut self,
        request: Asked,
        limits: &Limits,
        sent: &mut Sent<'_>,
    ) -> hyper::Result<Response<Incoming>> {
        self.tape.lock().rewind(bytes(limits.header_bytes_max), bytes(limits.body_bytes_max));
        match &mut self.speaker {
            Speaker::Http1(http1) => {
                let response = http1.requests.send_request(request);
                self.drive(response, sent).await
            }
            Speaker::Http2(http2) => {
                let response = http2.ask(request, &mut self.tape.lock());
                self.drive(response, sent).await
            }
        }
    }

    /// Puts a piece of a body onto the tape, if it is not there already.
    pub fn keep(&mut self, frame: Frame<Bytes>, now: Millis) {
        if let (Speaker::Http2(_), Ok(data)) = (&self.speaker, frame.into_data()) {
            self.tape.lock().hear(&data, now);
        }
    }

    /// Waits for `work` while the connection does what `work` needs it to do. What came already needs nothing of it; and what is
    /// asked for is asked for before the connection looks what there is to do.
    pub async fn drive<T>(&mut self, work: impl Future<Output = T>, sent: &mut Sent<'_>) -> T {
        let mut work = pin!(work);
        poll_fn(|cx| {
            let polled = work.as_mut().poll(cx);
            if polled.is_ready() {
                sent.look_at(&self.tape);
                return polled;
            }
            self.poll_traffic(cx);
            sent.look_at(&self.tape);
            let polled = work.as_mut().poll(cx);
            if polled.is_pending() && self.tape.lock().want_more() {
                self.poll_traffic(cx);
            }
            polled
        })
        .await
    }

    /// Whether another request can be sent, as far as can be seen from here without waiting. Notices
    /// a server that has hung up or has said something unasked.
    pub async fn is_reusable(&mut self) -> bool {
        poll_fn(|cx| {
            self.poll_traffic(cx);
            let ready = match &mut self.speaker {
                Speaker::Http1(http1) => http1.requests.poll_ready(cx),
                Speaker::Http2(http2) => http2.poll_ready(cx),
            };
            Poll::Ready(!self.ended && matches!(ready, Poll::Ready(Ok(()))))
        })
        .await
    }

    fn poll_traffic(&mut self, cx: &mut Context<'_>) {
        // Errors are not lost here: hyper hands them to whoever waits for the response or the body.
        self.ended = self.ended
            || match &mut self.speaker {
                Speaker::Http1(http1) => Pin::new(&mut http1.traffic).poll(cx).is_ready(),
                Speaker::Http2(http2) => http2.poll_traffic(cx).is_ready(),
            };
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
