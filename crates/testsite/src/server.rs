//! A small HTTP/1.1 server by hand, so that it can also do what no server should.
//!
//! One task per connection; nothing is shared between connections but the log and the memory of how
//! often the paths were asked for whose answer depends on that. It never judges a client: it answers and takes note.

use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use crate::answer::{self, Ask};
use crate::exchange::Exchange;
use crate::hostile;
use crate::log::{Entry, Log};
use crate::resource::{Reply, Resource};
use crate::web::Web;

/// Longest head of a request.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Rest after a failed accept (no descriptors left), so as not to spin.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Server {
    pub web: Web,
    pub log: Log,
    connections: AtomicU64,
    /// How often each path was asked for whose answer depends on it; the web has so many, so the plan
    /// is their bound.
    tries: Mutex<HashMap<(usize, String), u32>>,
}

impl Server {
    /// A server for a web, not yet listening.
    pub fn new(web: Web) -> Self {
        let log = Log::new(web.port);
        Self { web, log, connections: AtomicU64::new(0), tries: Mutex::default() }
    }

    /// Serves a listener until the runtime ends.
    pub fn listen(self: &Arc<Self>, listener: TcpListener, runtime: &Handle) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (server, handle) = (self.clone(), runtime.clone());
        runtime.spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => {
                        handle.spawn(server.clone().serve(stream));
                    }
                    Err(_) => rest(ACCEPT_REST).await,
                }
            }
        });
        Ok(())
    }

    /// Answers one request after the other until either side has enough.
    async fn serve(self: Arc<Self>, mut stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let connection = self.connections.fetch_add(1, Ordering::Relaxed);
        let at = stream.local_addr().ok().and_then(|address| self.web.breaks_at(address.ip()));
        if let Some(bad) = at {
            let _ = hostile::receive(stream, bad).await;
            return;
        }
        let mut buffer = Vec::new();
        let mut agent: Arc<str> = "".into();
        while let Some(head) = read_head(&mut stream, &mut buffer).await {
            let Some(ask) = Ask::parse(&head) else { return };
            if *agent != *ask.agent {
                agent = ask.agent.into();
            }
            let Ok(true) = self.answer(&mut stream, &ask, connection, agent.clone()).await else {
                return;
            };
        }
    }

    /// Answers one request; `true` when the connection can take another.
    async fn answer(
        &self,
        stream: &mut TcpStream,
        ask: &Ask<'_>,
        connection: u64,
        agent: Arc<str>,
    ) -> io::Result<bool> {
        let start_us = self.log.now_us();
        let address = stream.local_addr()?.ip();
        let host = self.web.host_named(&ask.host);
        let resource = self.resource(host, ask.path);
        let name =
            host.map_or_else(|| ask.host.as_str().into(), |i| self.web.hosts[i].name.clone());
        let tries = self.tries_before(host, &resource, ask.path);
        let entry = Entry {
            host: name,
            agent,
            path: ask.path.into(),
            address,
            start_us,
            end_us: start_us,
            bytes: 0,
            connection,
            status: status_now(&resource, tries),
            complete: false,
        };
        let status = entry.status;
        let mut exchange = Exchange::new(stream, &self.log, self.log.open(entry));
        rest(Duration::from_millis(self.web.plan.latency_ms)).await;
        let host = host.map_or(0, |host| self.web.hosts[host].serves);
        answer::send(&self.web, &mut exchange, ask, answer::Turn { host, resource, status, tries })
            .await
    }

    fn resource(&self, host: Option<usize>, path: &str) -> Resource {
        host.map_or_else(|| Resource::status(421), |host| self.web.resource(host, path))
    }

    /// Counts this try, where the answer depends on it, and tells how many came before it.
    fn tries_before(&self, host: Option<usize>, resource: &Resource, path: &str) -> u32 {
        let counts = match resource.reply {
            Reply::Flaky { .. } => true,
            Reply::Bad(_) => !path.starts_with(hostile::BELOW_BAD.0),
            _ => false,
        };
        let Some(host) = host.filter(|_| counts) else { return 0 };
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        let count = tries.entry((host, path.to_owned())).or_default();
        *count += 1;
        *count - 1
    }
}

/// The status this time: flaky resources fail at the first try.
fn status_now(resource: &Resource, tries: u32) -> u16 {
    match &resource.reply {
        Reply::Flaky { first, .. } if tries == 0 => *first,
        reply => reply.status(),
    }
}

/// Reads up to the end of the next head; `None` when the client leaves or sends too much.
pub(crate) async fn read_head(
    stream: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
) -> Option<Vec<u8>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = buffer.split_off(end + 4);
            return Some(std::mem::replace(buffer, rest));
        }
        if buffer.len() > HEAD_BYTES_MAX || stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}

/// Plays a slow host.
#[expect(clippy::disallowed_methods, reason = "slowness is what is served here")]
pub(crate) async fn rest(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}
