//! HTTP/2 on one connection (step 7 of the line): one request at a time, as on any other.
//!
//! HTTP/2 has no bytes that an archive could keep: header fields are compressed against a state that both
//! ends share. What is kept is the same exchange written down as HTTP/1.1, and the archive says that it
//! came by `h2`. A connection is used for its own origin alone, whatever else its certificate is for, so
//! no host is ever reached without its own look-up and its own turn.
//!
//! hyper hands parts of its work to an executor. Ours keeps them until the connection is driven next, and
//! drops them with it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http2;
use larm_core::Limits;

use super::connection::{Asked, Taped};
use super::tee::Tape;

/// What the server may send of a body before we have taken any of it.
const WINDOW_BYTES: u32 = 1024 * 1024;

/// An open HTTP/2 connection.
pub(super) struct Http2 {
    requests: http2::SendRequest<Full<Bytes>>,
    traffic: http2::Connection<Taped, Full<Bytes>, Tasks>,
    tasks: Tasks,
}

impl Http2 {
    /// Sends the preface. What the server says to it comes later.
    pub async fn open(stream: Taped, limits: &Limits) -> hyper::Result<Self> {
        let tasks = Tasks::default();
        let header_bytes_max = u32::try_from(limits.header_bytes_max).unwrap_or(u32::MAX);
        let (requests, traffic) = http2::Builder::new(tasks.clone())
            .max_header_list_size(header_bytes_max)
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .handshake(stream)
            .await?;
        Ok(Self { requests, traffic, tasks })
    }

    /// Sends a request, and writes it onto the tape as HTTP/1.1 would have it.
    pub fn ask(
        &mut self,
        request: Asked,
        tape: &mut Tape,
    ) -> impl Future<Output = hyper::Result<Response<Incoming>>> + use<> {
        let line = format!("{} {} HTTP/1.1\r\n", request.method(), path_of(&request));
        tape.request.extend_from_slice(line.as_bytes());
        if let Some(authority) = request.uri().authority() {
            tape.request.extend_from_slice(format!("Host: {authority}\r\n").as_bytes());
        }
        write_fields(request.headers(), &mut tape.request);
        self.requests.send_request(request)
    }

    /// Whether another request can be sent.
    pub fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<hyper::Result<()>> {
        self.requests.poll_ready(cx)
    }

    /// Reads and writes what there is. Ready at the connection's end.
    pub fn poll_traffic(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let ended = Pin::new(&mut self.traffic).poll(cx).map(drop);
        self.tasks.poll_all(cx);
        ended
    }
}

impl Drop for Http2 {
    /// The parts hold the executor that holds them.
    fn drop(&mut self) {
        self.tasks.lock().clear();
    }
}

/// The head of a response as HTTP/1.1 would have it.
pub(super) fn head_of(response: &Response<Incoming>) -> Vec<u8> {
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).into_bytes();
    write_fields(response.headers(), &mut head);
    head
}

fn path_of(request: &Asked) -> &str {
    request.uri().path_and_query().map_or("/", |path| path.as_str())
}

fn write_fields(fields: &HeaderMap, out: &mut Vec<u8>) {
    for (name, value) in fields {
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Work that hyper has handed over. There are as many as streams and one more: two.
#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<Vec<Task>>>);

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, task: F) {
        self.lock().push(Box::pin(task));
    }
}

impl Tasks {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets each go on, and those that they hand over in turn. The list is not held meanwhile.
    fn poll_all(&self, cx: &mut Context<'_>) {
        let mut pending = Vec::new();
        loop {
            let mut tasks = std::mem::take(&mut *self.lock());
            if tasks.is_empty() {
                break;
            }
            tasks.retain_mut(|task| task.as_mut().poll(cx).is_pending());
            pending.append(&mut tasks);
        }
        self.lock().append(&mut pending);
    }
}
