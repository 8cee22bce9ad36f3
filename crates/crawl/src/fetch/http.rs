//! Fetching over HTTP (step 7 of the line).
//!
//! One permit, one request, one response. A connection that waited in the pool and turns out to be dead
//! before the server said anything is replaced, once, by a fresh one: the request was then never
//! answered, and asking again is safe for a GET (RFC 9112 section 9.3.1).
//!
//! Times: connecting, waiting for headers and the whole fetch have a limit each. Once headers have come,
//! running out of time, of bytes or of connection cuts the body instead of failing. Waiting for our own
//! memory is not the server's fault and does not count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::response::Parts;
use http::{HeaderName, Response};
use hyper::body::{Body, Incoming};
use larm_core::{Fact, Failure, FailureClass, Limits, Millis, Protocol, Truncated};
use tokio::time::{Instant, timeout_at};

use super::body::{BodyReader, Reading};
use super::budget::Budget;
use super::buffer::Buffers;
use super::connection::{Asked, Connection, Sent, bytes};
use super::cookies::Cookies;
use super::dial::{Target, dial};
use super::frame::{self, Framing};
use super::plan::{FetchPlan, Wanted};
use super::pool::Pool;
use super::proxy::ProxyPlan;
use super::request::{Outgoing, Requests, blot_cookies, redacted};
use super::tee::Tape;
use super::tls::Tls;
use super::{BoxFuture, Fetch, Fetched, failure, http2};
use crate::clock::Clock;
use crate::robots::Permit;

/// Fetches over the network.
pub struct HttpFetch {
    requests: Requests,
    wanted: Wanted,
    assets: bool,
    proxies: ProxyPlan,
    tls: Tls,
    pool: Pool<Box<Connection>>,
    budget: Arc<Budget>,
    buffers: Arc<Buffers>,
    limits: Limits,
    clock: Clock,
    opened: AtomicU64,
    reused: AtomicU64,
}

/// How often things happened since the fetcher was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchCounts {
    /// Connections opened.
    pub opened: u64,
    /// Requests that used a connection again.
    pub reused: u64,
    /// Idle connections closed because there were too many (`fetch.pool_evicted`).
    pub pool_evicted: u64,
    /// Idle connections closed because of their age (`fetch.pool_expired`).
    pub pool_expired: u64,
    /// Bodies that had to wait for memory (`fetch.large_waits`).
    pub large_waits: u64,
}

impl Fetch for HttpFetch {
    fn fetch<'a>(
        &'a self,
        permit: &'a Permit,
        sent: &'a (dyn Fn(Millis) + Send + Sync),
    ) -> BoxFuture<'a, Result<Fetched, Failure>> {
        Box::pin(self.run(permit, Sent::new(sent)))
    }
}

/// What belongs to one call of `fetch`, whichever connection it ends up on.
struct Turn<'a> {
    permit: &'a Permit,
    target: Target<'a>,
    sent: Sent<'a>,
    started: Millis,
    /// When the whole fetch has to be over.
    deadline: Millis,
    /// What connecting took, if it was necessary.
    connect_ms: Option<u64>,
    notes: Vec<&'static str>,
}

/// No response, and whether that is because the connection had died before the request.
struct Unanswered {
    failure: Failure,
    connection_was_dead: bool,
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        Self { failure, connection_was_dead: false }
    }
}

/// A response whose body has been read, as far as it was.
struct Answer {
    parts: Parts,
    tape: Tape,
    head_bytes: usize,
    framing: Framing,
    reading: Reading,
    secrets: Secrets,
    protocol: Protocol,
    facts: Vec<Fact>,
}

/// What is to be blotted out of an exchange.
struct Secrets {
    fields: Vec<HeaderName>,
    has_form: bool,
    is_answer: bool,
    /// What a server sets may be what a login makes valid later.
    keeps_cookies: bool,
}

impl Secrets {
    fn of(outgoing: &Outgoing, permit: &Permit, keeps_cookies: bool) -> Self {
        let (fields, is_answer) = (outgoing.secrets.clone(), outgoing.is_answer());
        Self { fields, has_form: permit.form().is_some(), is_answer, keeps_cookies }
    }

    /// A request without secrets is kept as it is.
    fn blot(&self, tape: &mut Tape, head_bytes: usize) {
        let has_secrets = !self.fields.is_empty() || self.has_form;
        if has_secrets {
            tape.request = redacted(&tape.request, &self.fields, self.has_form);
        }
        if !has_secrets && !self.keeps_cookies {
            return;
        }
        blot_cookies(&mut tape.response[..head_bytes]);
    }
}

impl HttpFetch {
    /// A fetcher for one crawl, which keeps and sends `cookies` if there is a jar for them. Fails if the plan cannot be carried out: header fields that are none,
    /// certificates that cannot be read.
    pub fn new(
        plan: FetchPlan,
        cookies: Option<Arc<Cookies>>,
        limits: Limits,
        clock: Clock,
    ) -> crate::Result<Self> {
        Ok(Self {
            requests: Requests::new(&plan, cookies, &limits)?,
            wanted: Wanted::new(&plan.accept),
            assets: plan.assets,
            tls: Tls::new(&plan)?,
            proxies: plan.proxies,
            pool: Pool::new(&limits),
            budget: Arc::new(Budget::new(&limits)),
            buffers: Buffers::new(&limits),
            limits,
            clock,
            opened: AtomicU64::new(0),
            reused: AtomicU64::new(0),
        })
    }

    /// The memory of bodies, to be shared with whoever else reads some.
    pub(super) fn budget(&self) -> Arc<Budget> {
        self.budget.clone()
    }

    /// What happened so far.
    pub fn counts(&self) -> FetchCounts {
        FetchCounts {
            opened: self.opened.load(Ordering::Relaxed),
            reused: self.reused.load(Ordering::Relaxed),
            pool_evicted: self.pool.evicted(),
            pool_expired: self.pool.expired(),
            large_waits: self.budget.waits(),
        }
    }

    async fn run(&self, permit: &Permit, sent: Sent<'_>) -> Result<Fetched, Failure> {
        let started = self.clock.now();
        let deadline = started.after(self.limits.fetch_ms_max);
        let target = Target::of(permit, &self.proxies)?;
        let mut turn =
            Turn { permit, target, sent, started, deadline, connect_ms: None, notes: Vec::new() };
        if let Some(connection) = self.idle_connection(&turn.target).await {
            match self.exchange(connection, &mut turn).await {
                Err(unanswered) if unanswered.connection_was_dead => {
                    turn.notes.push("the idle connection was dead, connected anew");
                }
                result => return result.map_err(|unanswered| unanswered.failure),
            }
        }
        let connection = self.connect(&mut turn).await?;
        let result = self.exchange(connection, &mut turn).await;
        result.map_err(|unanswered| unanswered.failure)
    }

    async fn idle_connection(&self, target: &Target<'_>) -> Option<Box<Connection>> {
        let mut connection = self.pool.take(&target.origin, target.peer, self.clock.now())?;
        let reusable = connection.is_reusable().await;
        self.reused.fetch_add(u64::from(reusable), Ordering::Relaxed);
        reusable.then_some(connection)
    }

    async fn connect(&self, turn: &mut Turn<'_>) -> Result<Box<Connection>, Failure> {
        let begun = self.clock.now();
        self.opened.fetch_add(1, Ordering::Relaxed);
        let deadline = self.deadline(self.limits.connect_ms_max, turn);
        let dialled = timeout_at(deadline, dial(&turn.target, &self.tls, &self.limits)).await;
        let dialled = dialled.map_err(|_| {
            let by_way = turn.target.proxy.map(|proxy| format!(" by way of {proxy}"));
            let by_way = by_way.unwrap_or_default();
            let detail = format!("no connection{by_way} within {} ms", self.limits.connect_ms_max);
            Failure::new(FailureClass::ConnectTimeout, detail)
        })??;
        turn.connect_ms = Some(self.clock.now().since(begun));
        let peer = dialled.peer;
        let buffers = self.buffers.clone();
        let connection = Connection::open(dialled, buffers, &self.limits, self.clock).await?;
        if peer == turn.target.peer {
            return Ok(connection);
        }
        // EYES-1: nothing is sent there before the host's turn there.
        self.pool.put(turn.target.origin.clone(), peer, connection, self.clock.now());
        Err(Failure::elsewhere(peer.ip()))
    }

    async fn exchange(
        &self,
        mut connection: Box<Connection>,
        turn: &mut Turn<'_>,
    ) -> Result<Fetched, Unanswered> {
        let outgoing = self.requests.request(turn.permit, &turn.target, connection.protocol())?;
        let secrets = Secrets::of(&outgoing, turn.permit, self.requests.keeps_cookies());
        let response = self.ask(&mut connection, outgoing.request, turn).await?;
        if let Some(failure) = turn.target.refusal_of_proxy(response.status()) {
            return Err(failure.into());
        }
        let head_bytes = match connection.protocol() {
            Protocol::Http2 => put_head(&mut connection.tape.lock(), &response, self.clock.now()),
            _ => cut_head(&mut connection.tape.lock())?,
        };
        let (parts, body) = response.into_parts();
        let framing = Framing::of(body.size_hint().exact(), &parts.headers);
        let wanted = || self.wanted.wants(turn.permit.url(), content_type(&parts));
        let is_asset = self.assets && turn.permit.lease().item().via.is_embed();
        let reading = if turn.permit.is_errand() || is_asset || wanted() {
            let reader = BodyReader {
                connection: &mut connection,
                sent: &mut turn.sent,
                limits: &self.limits,
                clock: self.clock,
                head_bytes,
                deadline: turn.deadline,
            };
            reader.read(body, &self.budget).await
        } else {
            Reading::unwanted()
        };
        let tape = connection.tape.lock().take();
        let protocol = connection.protocol();
        let facts = connection.facts.clone();
        let answer = Answer { parts, tape, head_bytes, framing, reading, secrets, protocol, facts };
        let fetched = self.assemble(answer, turn);
        if fetched.truncated.is_none() && connection.is_reusable().await {
            let Target { origin, peer, .. } = &turn.target;
            self.pool.put(origin.clone(), *peer, connection, self.clock.now());
        }
        Ok(fetched)
    }

    /// Sends the request and waits for the header block of the final response.
    async fn ask(
        &self,
        connection: &mut Connection,
        request: Asked,
        turn: &mut Turn<'_>,
    ) -> Result<Response<Incoming>, Unanswered> {
        let deadline = self.deadline(self.limits.first_byte_ms_max, turn);
        let answer = connection.ask(request, &self.limits, &mut turn.sent);
        let Ok(answer) = timeout_at(deadline, answer).await else {
            let detail = format!("no headers within {} ms", self.limits.first_byte_ms_max);
            return Err(Failure::new(FailureClass::FirstByteTimeout, detail).into());
        };
        let response = answer.map_err(|error| self.unanswered(&connection.tape.lock(), &error))?;
        if response.status() == http::StatusCode::SWITCHING_PROTOCOLS {
            let detail = "the server switched to a protocol that was not asked for";
            return Err(Failure::new(FailureClass::Protocol, detail).into());
        }
        Ok(response)
    }

    fn unanswered(&self, tape: &Tape, error: &hyper::Error) -> Unanswered {
        let protocol = |detail: String| Failure::new(FailureClass::Protocol, detail);
        let failure = if tape.overflowed && !tape.is_plain() {
            protocol("frames of HTTP/2 without end, and no answer among them".to_owned())
        } else if tape.overflowed {
            protocol(format!("header block longer than {} bytes", self.limits.header_bytes_max))
        } else if tape.sent.is_none() && !tape.response.is_empty() {
            protocol("the server spoke before it was asked".to_owned())
        } else {
            failure::answering(error, &tape.response, &self.limits)
        };
        let unseen = match tape.is_plain() {
            true => tape.response.is_empty(),
            false => failure::is_unseen(error) && !tape.overflowed,
        };
        let connection_was_dead = unseen || tape.sent.is_none();
        Unanswered { failure, connection_was_dead }
    }

    /// The body is cut out of what is on the tape, so that archive and payload always agree.
    fn assemble(&self, answer: Answer, turn: &mut Turn<'_>) -> Fetched {
        let Answer { parts, mut tape, head_bytes, framing, reading, secrets, protocol, facts } =
            answer;
        secrets.blot(&mut tape, head_bytes);
        let wire = tape.freeze_response();
        let body_bytes_max = match reading.stopped {
            Some(Truncated::Unwanted) => 0,
            _ => bytes(self.limits.body_bytes_max),
        };
        let body =
            wire.slice(head_bytes..wire.len().min(head_bytes.saturating_add(body_bytes_max)));
        let extent = frame::extent(&body, framing);
        let raw = wire.slice(..head_bytes + extent.end);
        let truncated = if extent.complete { None } else { reading.stopped };
        let mut notes = std::mem::take(&mut turn.notes);
        if truncated.is_none() && raw.len() < wire.len() {
            notes.push("more bytes came after the end of the response; they were dropped");
        }
        if tape.abrupt && framing == Framing::Close {
            notes.push("the server hung up without ending TLS; the body may not be whole");
        }
        let ended = self.clock.end();
        let (url, status) = (turn.permit.url(), parts.status.as_u16());
        let ask_again = self.requests.hear(url, status, &parts.headers, secrets.is_answer);
        Fetched {
            status,
            ask_again,
            headers: parts.headers,
            request: tape.request,
            raw,
            head_bytes,
            payload: extent.payload,
            protocol,
            peer: turn.target.known_peer(),
            started: turn.started,
            connect_ms: turn.connect_ms,
            first_byte: tape.first_byte.unwrap_or(ended),
            ended,
            truncated,
            facts,
            notes,
            reservation: reading.reservation,
        }
    }

    /// `limit_ms` from now, but not past the end of the whole fetch.
    fn deadline(&self, limit_ms: u64, turn: &Turn<'_>) -> Instant {
        let deadline = self.clock.now().after(limit_ms).min(turn.deadline);
        self.clock.instant_of(deadline).into()
    }
}

/// Takes interim responses off the tape, and gives the length of the final header block.
fn cut_head(tape: &mut Tape) -> Result<usize, Failure> {
    let head = frame::final_head(&tape.response).ok_or_else(|| {
        Failure::new(FailureClass::Protocol, "the end of the header block cannot be found")
    })?;
    tape.response.drain(..head.start);
    Ok(head.len())
}

/// Writes the head of an HTTP/2 response onto the tape, and gives its length.
fn put_head(tape: &mut Tape, response: &Response<Incoming>, now: Millis) -> usize {
    let head = http2::head_of(response);
    tape.hear(&head, now);
    head.len()
}

fn content_type(parts: &Parts) -> Option<&str> {
    parts.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok())
}
