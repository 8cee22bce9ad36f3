//! Live events: one reader per crawl, however many browsers listen.
//!
//! The reader makes each event once, as the bytes that go over the wire, and everybody gets those. A browser that
//! does not read is taken ahead to the newest event; nobody waits for it, the crawl least of all. A reader ends
//! when nobody listens any more.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde::Serialize;
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::access::Asker;
use crate::app::Shared;
use crate::crawl;
use crate::problem::Problem;
use crate::tail::Tail;

/// How often a crawl is looked at.
const CRAWL_TICK: Duration = Duration::from_secs(1);

/// How often all are.
const ALL_TICK: Duration = Duration::from_secs(2);

/// A word now and then, so that a dead connection is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What can be listened to: a crawl by its id, or all of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Topic {
    /// One crawl.
    Crawl(String),
    /// All crawls.
    All,
}

/// Who listens to what.
pub struct Live {
    topics: Mutex<HashMap<Topic, Channel>>,
    places: Arc<Semaphore>,
    waiting_max: usize,
}

struct Channel {
    events: Sender<Bytes>,
    /// What a newcomer is told at once.
    last: Arc<Mutex<Bytes>>,
}

impl Live {
    /// Room for so many listeners, and for so many events that wait for each.
    pub fn new(listeners_max: u64, waiting_max: u64) -> Self {
        let bounded = |max: u64| usize::try_from(max).unwrap_or(usize::MAX);
        let places = Semaphore::new(bounded(listeners_max).min(Semaphore::MAX_PERMITS));
        let waiting_max = bounded(waiting_max).clamp(1, 1 << 16);
        Self { topics: Mutex::default(), places: Arc::new(places), waiting_max }
    }

    fn topics(&self) -> MutexGuard<'_, HashMap<Topic, Channel>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One listener.
struct Listener {
    events: Receiver<Bytes>,
    first: Option<Bytes>,
    closing: watch::Receiver<bool>,
    /// Who listens: for as long as they may.
    asker: Asker,
    departures: watch::Receiver<()>,
    app: Shared,
    _place: OwnedSemaphorePermit,
}

/// Streams the events of a topic.
pub fn listen(app: &Shared, asker: Asker, topic: Topic) -> Result<Response, Problem> {
    let full = |_| {
        let detail = "Too many listen already.";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(5)
    };
    let place = app.live.places.clone().try_acquire_owned().map_err(full)?;
    let (events, first) = subscribe(app, topic);
    let (closing, departures) = (app.closing.subscribe(), app.access.departures());
    let app = app.clone();
    let listener = Listener { events, first, closing, asker, departures, app, _place: place };
    let events = stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok::<Bytes, Infallible>(event), listener))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Proxies should pass events on as they come.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::from_stream(events)).into_response())
}

impl Listener {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let Self { events, closing, asker, departures, app, .. } = self;
        let may_listen = || app.access.holds(*asker, &app.settings.limits);
        let closed = async { closing.wait_for(|closing| *closing).await.is_ok() };
        let left = async { departures.wait_for(|()| !may_listen()).await.is_ok() };
        let event = tokio::select! {
            event = next_of(events) => event,
            _ = closed => None,
            _ = left => None,
        };
        // A session may also have come to its end by itself.
        event.filter(|_| may_listen())
    }
}

async fn next_of(events: &mut Receiver<Bytes>) -> Option<Bytes> {
    loop {
        match timeout(KEEP_ALIVE, events.recv()).await {
            Err(_) => return Some(Bytes::from_static(b": still here\n\n")),
            Ok(Ok(event)) => return Some(event),
            Ok(Err(RecvError::Closed)) => return None,
            // Too slow: what was missed is gone, and what is told next is the newest.
            Ok(Err(RecvError::Lagged(_))) => *events = events.resubscribe(),
        }
    }
}

/// Joins those who listen; the first of them starts the reader.
fn subscribe(app: &Shared, topic: Topic) -> (Receiver<Bytes>, Option<Bytes>) {
    let mut topics = app.live.topics();
    if let Some(channel) = topics.get(&topic) {
        let last = channel.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        return (channel.events.subscribe(), Some(last).filter(|last| !last.is_empty()));
    }
    let (events, receiver) = broadcast::channel(app.live.waiting_max);
    let last = Arc::new(Mutex::new(Bytes::new()));
    topics.insert(topic.clone(), Channel { events: events.clone(), last: last.clone() });
    start(app.clone(), topic, Teller { events, last });
    (receiver, None)
}

#[expect(
    clippy::disallowed_methods,
    reason = "one task per topic that is listened to, ended with its last listener"
)]
fn start(app: Shared, topic: Topic, teller: Teller) {
    tokio::spawn(async move {
        match &topic {
            Topic::Crawl(id) => tell_of_one(&app, &topic, id, &teller).await,
            Topic::All => tell_of_all(&app, &topic, &teller).await,
        }
        app.live.topics().remove(&topic);
    });
}

/// Tells everybody who listens to one topic.
struct Teller {
    events: Sender<Bytes>,
    last: Arc<Mutex<Bytes>>,
}

impl Teller {
    fn tell(&self, event: Bytes) {
        // That nobody listens is found out by the reader.
        let _ = self.events.send(event);
    }

    fn keep(&self, event: Bytes) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = event;
    }
}

/// Whether nobody listens any more. The topic is gone then, so that the next listener starts it anew.
fn is_over(app: &Shared, topic: &Topic, teller: &Teller) -> bool {
    let mut topics = app.live.topics();
    let over = teller.events.receiver_count() == 0;
    if over {
        topics.remove(topic);
    }
    over
}

async fn tell_of_one(app: &Shared, topic: &Topic, id: &str, teller: &Teller) {
    let Ok(dir) = app.dir(id) else { return };
    let mut tail = Tail::new(&dir);
    let mut tick = ticking(CRAWL_TICK);
    while !is_over(app, topic, teller) {
        tick.tick().await;
        if !dir.is_dir() {
            return;
        }
        let status = event("status", &crawl::look(app, id, &dir).await);
        teller.keep(status.clone());
        teller.tell(status);
        // A crawl that has not begun has no log.
        let fetches = tail.read(&app.settings.limits).unwrap_or_default();
        if !fetches.rows.is_empty() {
            teller.tell(event("fetches", &fetches));
        }
    }
}

async fn tell_of_all(app: &Shared, topic: &Topic, teller: &Teller) {
    let mut tick = ticking(ALL_TICK);
    let mut before = Bytes::new();
    while !is_over(app, topic, teller) {
        tick.tick().await;
        let crawls = crawl::look_at_all(app).await;
        let now = event("crawls", &serde_json::json!({ "crawls": crawls }));
        teller.keep(now.clone());
        if now != before {
            teller.tell(now.clone());
            before = now;
        }
    }
}

fn ticking(every: Duration) -> tokio::time::Interval {
    let mut tick = interval(every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick
}

/// JSON has no line breaks of its own, so that an event is one line of data.
fn event(name: &str, data: &impl Serialize) -> Bytes {
    let json = serde_json::to_string(data).unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {json}\n\n"))
}
