//! The socket: accepts connections, as many as there are places, and closes down gracefully.
//!
//! A connection that does not send its header in time is closed, and so is one that does not take what it asked
//! for: slow senders and slow readers cannot hold all places.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use larm_core::Limits;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use crate::access::Peer;

/// How long open connections may go on when the server ends.
const GRACE: Duration = Duration::from_secs(3);

/// How long accepting rests after our own machine refused, for want of files or memory.
const REST: Duration = Duration::from_millis(100);

/// The smallest header buffer that the HTTP implementation takes.
const HEADER_BYTES_MIN: usize = 8 * 1_024;

type Impatient = Pin<Box<TimeoutStream<TcpStream>>>;

/// Answers on `listener` until `end` comes; then all are told by `closing`, and what is under way is finished.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &Limits,
    closing: &watch::Sender<bool>,
    end: impl Future<Output = ()>,
) {
    let places = usize::try_from(limits.server_connections_max).unwrap_or(usize::MAX);
    let places = Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
    let mut connections = JoinSet::new();
    let mut end = pin!(end);
    loop {
        let accepted = async {
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        tokio::select! {
            () = &mut end => break,
            (place, accepted) = accepted => match accepted {
                Ok((stream, from)) => {
                    let stream = impatient(stream, limits);
                    let answering = answer(stream, from, router.clone(), http(limits), closing.subscribe());
                    connections.spawn(async move {
                        answering.await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "no connection could be accepted");
                    sleep_until(tokio::time::Instant::now() + REST).await;
                }
            },
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    // Streams of events end with their server.
    closing.send_replace(true);
    let _ = timeout(GRACE, async { while connections.join_next().await.is_some() {} }).await;
}

fn http(limits: &Limits) -> http1::Builder {
    let header_bytes = usize::try_from(limits.server_header_bytes_max).unwrap_or(usize::MAX);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(limits.server_header_ms_max))
        .max_buf_size(header_bytes.max(HEADER_BYTES_MIN));
    http
}

/// A connection that fails when nobody takes what is written to it.
fn impatient(stream: TcpStream, limits: &Limits) -> Impatient {
    // Small answers and events should leave at once.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(Duration::from_millis(limits.server_write_ms_max)));
    Box::pin(stream)
}

async fn answer(
    stream: Impatient,
    from: SocketAddr,
    router: Router,
    http: http1::Builder,
    mut closed: watch::Receiver<bool>,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Peer(from));
        router.clone().oneshot(request)
    });
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let is_closing = async { closed.wait_for(|closed| *closed).await.is_ok() };
    tokio::select! {
        // Whoever goes away in mid-sentence has no claim to an answer.
        _ = connection.as_mut() => return,
        _ = is_closing => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
