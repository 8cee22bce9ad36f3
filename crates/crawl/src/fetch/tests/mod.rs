//! Fetches over real sockets on loopback, from servers that misbehave on purpose.
//!
//! No test measures time: where a time limit is the point it is set small, and the outcome is asserted.

mod body;
mod connection;
mod head;
mod http2;
mod proxy;
mod server;
mod tls;

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::task::Poll;

use larm_core::url::CrawlUrl;
use larm_core::{Failure, FailureClass, Limits, Millis};

use super::*;
use crate::clock::Clock;
use crate::robots::Permit;

/// A fetcher with these limits and nothing else out of the ordinary.
fn fetcher(limits: Limits) -> HttpFetch {
    HttpFetch::new(FetchPlan::default(), None, limits, Clock::start()).unwrap()
}

fn permit(server: SocketAddr, path: &str) -> Permit {
    let url = CrawlUrl::from_canonical(&format!("http://{server}{path}")).unwrap();
    Permit::for_test(url, server.ip())
}

async fn get(fetcher: &HttpFetch, server: SocketAddr) -> Result<Fetched, Failure> {
    fetcher.fetch(&permit(server, "/"), &|_| {}).await
}

/// What a server that sends `bytes` and hangs up is worth, with these limits.
async fn outcome_of(bytes: &'static [u8], limits: Limits) -> Result<Fetched, FailureClass> {
    let server = server::answering_once(bytes).await;
    get(&fetcher(limits), server).await.map_err(|failure| failure.class)
}

/// Whether a future has more to do, after letting it do something.
async fn is_pending(future: &mut (impl Future + Unpin)) -> bool {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx).is_pending())).await
}

/// The moments at which `sent` was called.
#[derive(Default)]
struct Calls(Mutex<Vec<Millis>>);

impl Calls {
    fn add(&self, at: Millis) {
        self.0.lock().unwrap().push(at);
    }

    fn all(&self) -> Vec<Millis> {
        self.0.lock().unwrap().clone()
    }
}
