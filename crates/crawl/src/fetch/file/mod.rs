//! Files and directories of this machine as answers (step 7 of the line).
//!
//! A file's answer is its bytes, with a type by its name or its first bytes; a directory's is a listing
//! that we make; a symbolic link, and a directory's name without its slash, are redirects to what they
//! lead to. There is no status but 200 and 301: what cannot be read is a failure, with the reason in plain
//! words, and is not tried again.
//!
//! What may be opened is decided in [`open`], by the real path of what was opened. Reading happens on
//! threads that may wait, bodies share the memory of all others, and no file is read beyond
//! `body_bytes_max` or longer than `fetch_ms_max`.

mod listing;
mod open;
#[cfg(unix)]
#[cfg(test)]
mod tests;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, LAST_MODIFIED, LOCATION};
use http::{HeaderMap, HeaderValue};
use larm_core::url::CrawlUrl;
use larm_core::url::file::listed_from;
use larm_core::{Fact, Failure, FailureClass, Limits, Millis, Protocol, Truncated, media};
use tokio::task::spawn_blocking;
use tokio::time::timeout_at;

use super::budget::{Budget, Reservation};
use super::plan::Wanted;
use super::{BoxFuture, Fetch, Fetched, HttpFetch, failure};
use crate::clock::Clock;
use crate::robots::Permit;

use open::{Found, Trees};

/// Which files may be read.
#[derive(Debug, Clone, Default)]
pub struct FilePlan {
    /// Where the crawl begins; those that are files open their trees.
    pub seeds: Vec<CrawlUrl>,
    /// Whether symbolic links are followed out of these trees.
    pub follow_symlinks: bool,
    /// A directory that is not looked into: the crawl's own.
    pub own_dir: PathBuf,
    /// Content types wanted; empty for all.
    pub accept: Vec<String>,
}

/// Reads files.
pub struct FileFetch {
    desk: Arc<Desk>,
    budget: Arc<Budget>,
    clock: Clock,
}

/// What the reading threads need.
struct Desk {
    trees: Trees,
    wanted: Wanted,
    limits: Limits,
}

impl Fetch for FileFetch {
    fn fetch<'a>(
        &'a self,
        permit: &'a Permit,
        _: &'a (dyn Fn(Millis) + Send + Sync),
    ) -> BoxFuture<'a, Result<Fetched, Failure>> {
        Box::pin(self.run(permit.url(), permit.is_errand()))
    }
}

/// What was found at a URL, as far as it has been read.
enum Answer {
    Elsewhere(CrawlUrl),
    Whole(Body),
    Begun(Reading),
}

/// A body with what is known of it.
struct Body {
    bytes: Vec<u8>,
    kind: &'static str,
    modified: Option<String>,
    truncated: Option<Truncated>,
    facts: Vec<Fact>,
    notes: Vec<&'static str>,
}

/// A file that is being read.
struct Reading {
    file: File,
    before: Metadata,
    is_at_end: bool,
    body: Body,
}

impl FileFetch {
    /// A fetcher for one crawl, whose bodies share the memory of `web`'s.
    pub fn new(plan: &FilePlan, limits: Limits, clock: Clock, web: &HttpFetch) -> Self {
        Self::with_budget(plan, limits, clock, web.budget())
    }

    fn with_budget(plan: &FilePlan, limits: Limits, clock: Clock, budget: Arc<Budget>) -> Self {
        let (trees, wanted) = (Trees::new(plan), Wanted::new(&plan.accept));
        Self { desk: Arc::new(Desk { trees, wanted, limits }), budget, clock }
    }

    async fn run(&self, url: &CrawlUrl, is_errand: bool) -> Result<Fetched, Failure> {
        let started = self.clock.now();
        let deadline = started.after(self.desk.limits.fetch_ms_max);
        let mut reservation = Reservation::default();
        self.cover(&mut reservation, 1).await;
        let (desk, asked, bytes) = (self.desk.clone(), url.clone(), reservation.bytes());
        let answer =
            self.blocking(deadline, move || desk.answer(&asked, is_errand, bytes)).await??;
        let body = match answer {
            Answer::Elsewhere(to) => return Ok(self.redirect(&to, started)),
            Answer::Whole(body) => body,
            Answer::Begun(reading) => self.read_on(reading, &mut reservation, deadline).await?,
        };
        self.cover(&mut reservation, body.bytes.len() as u64).await;
        Ok(Fetched { reservation, ..self.fetched(body, started) })
    }

    /// Reads to the end of a file, or as far as it may take.
    async fn read_on(
        &self,
        mut reading: Reading,
        reservation: &mut Reservation,
        deadline: Millis,
    ) -> Result<Body, Failure> {
        let bytes_max = self.desk.limits.body_bytes_max;
        while !reading.is_at_end && reservation.bytes() < bytes_max {
            self.cover(reservation, reservation.bytes() + 1).await;
            let bytes = reservation.bytes().min(bytes_max);
            let read = move || reading.read_up_to(bytes).map(|()| reading);
            reading =
                self.blocking(deadline, read).await?.map_err(|error| failure::reading(&error))?;
        }
        Ok(reading.finish(bytes_max))
    }

    /// Makes a reservation cover so many bytes.
    async fn cover(&self, reservation: &mut Reservation, bytes: u64) {
        let bytes = bytes.min(self.desk.limits.body_bytes_max);
        while reservation.bytes() < bytes {
            if !self.budget.try_grow(reservation) {
                self.budget.take_large_place(reservation).await;
            }
        }
    }

    /// Does what may wait for a disk on a thread that may. One that waits for a dead one is left behind.
    async fn blocking<T: Send + 'static>(
        &self,
        deadline: Millis,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let deadline = self.clock.instant_of(deadline).into();
        let done = timeout_at(deadline, spawn_blocking(work)).await.map_err(|_| {
            let ms = self.desk.limits.fetch_ms_max;
            unreadable(format!("the file system did not answer within {ms} ms"))
        })?;
        Ok(done.expect("reading a file does not panic"))
    }

    fn redirect(&self, to: &CrawlUrl, started: Millis) -> Fetched {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, value(to.as_str()));
        self.answered(301, headers, Bytes::new(), started)
    }

    fn fetched(&self, body: Body, started: Millis) -> Fetched {
        let Body { bytes, kind, modified, truncated, mut facts, notes } = body;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CONTENT_LENGTH, bytes.len().into());
        if let Some(modified) = modified {
            headers.insert(LAST_MODIFIED, value(&modified));
            facts.push(Fact::new("last-modified", modified));
        }
        let fetched = self.answered(200, headers, bytes.into(), started);
        Fetched { truncated, facts, notes, ..fetched }
    }

    fn answered(&self, status: u16, headers: HeaderMap, body: Bytes, started: Millis) -> Fetched {
        Fetched {
            status,
            headers,
            request: Vec::new(),
            raw: body.clone(),
            head_bytes: 0,
            payload: body,
            protocol: Protocol::File,
            peer: None,
            started,
            connect_ms: None,
            first_byte: started,
            ended: self.clock.end(),
            truncated: None,
            facts: Vec::new(),
            ask_again: false,
            notes: Vec::new(),
            reservation: Reservation::default(),
        }
    }
}

impl Desk {
    /// What is at a URL; of a file, the first `bytes`.
    fn answer(&self, url: &CrawlUrl, is_errand: bool, bytes: u64) -> Result<Answer, Failure> {
        Ok(match self.trees.find(url)? {
            Found::Elsewhere(to) => Answer::Elsewhere(to),
            Found::Directory(directory) => {
                let from = listed_from(url).unwrap_or_default();
                let entries_max = listing::entries_max(&self.limits);
                let listing = directory.list(&from, entries_max);
                let listing = listing.map_err(|error| failure::reading(&error))?;
                let mut body = Body::new("text/html");
                body.facts.push(Fact::new("listing", listing.summary()));
                body.bytes = listing.to_html(url).into_bytes();
                Answer::Whole(body)
            }
            Found::File { file, metadata, real_path } => {
                let facts = real_path.map(|path| Fact::new("real-path", path));
                let mut reading = Reading::new(file, metadata, media::of_name(name_of(url)));
                reading.body.facts.extend(facts);
                self.begin(reading, url, is_errand, bytes)
                    .map_err(|error| failure::reading(&error))?
            }
        })
    }

    /// Reads the beginning of a file, unless its type is one that nobody asked for.
    fn begin(
        &self,
        mut reading: Reading,
        url: &CrawlUrl,
        is_errand: bool,
        bytes: u64,
    ) -> io::Result<Answer> {
        let wanted = |kind: &str| is_errand || self.wanted.wants(url, Some(kind));
        if reading.has_type() && !wanted(reading.body.kind) {
            return Ok(Answer::Whole(reading.body.unwanted()));
        }
        reading.read_up_to(bytes)?;
        if !reading.has_type() {
            reading.body.kind = media::of_bytes(&reading.body.bytes);
        }
        Ok(match wanted(reading.body.kind) {
            true => Answer::Begun(reading),
            false => Answer::Whole(reading.body.unwanted()),
        })
    }
}

/// A time as HTTP writes it, if it can: between 1970 and the end of 9999.
fn http_date(time: SystemTime) -> Option<String> {
    const LAST_S: u64 = 253_402_300_799;
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    (since.as_secs() <= LAST_S).then(|| httpdate::fmt_http_date(time))
}

impl Reading {
    fn new(file: File, before: Metadata, kind: Option<&'static str>) -> Self {
        let mut body = Body::new(kind.unwrap_or_default());
        body.modified = before.modified().ok().and_then(http_date);
        Self { file, before, is_at_end: false, body }
    }

    fn has_type(&self) -> bool {
        !self.body.kind.is_empty()
    }

    /// Reads one byte more than that, if there is one: then it is known that there is more.
    fn read_up_to(&mut self, bytes: u64) -> io::Result<()> {
        let have = self.body.bytes.len() as u64;
        let room = bytes.saturating_add(1).saturating_sub(have);
        let expected = self.before.len().saturating_add(1).saturating_sub(have).min(room);
        self.body.bytes.reserve(usize::try_from(expected).unwrap_or_default());
        let read = self.file.by_ref().take(room).read_to_end(&mut self.body.bytes)? as u64;
        self.is_at_end = read < room;
        Ok(())
    }

    /// The body, cut where it is too long, with a note if the file is not what it was.
    fn finish(mut self, bytes_max: u64) -> Body {
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        if self.body.bytes.len() > bytes_max {
            self.body.bytes.truncate(bytes_max);
            self.body.truncated = Some(Truncated::Length);
        }
        let is_same = |after: Metadata| {
            after.len() == self.before.len() && after.modified().ok() == self.before.modified().ok()
        };
        if !self.file.metadata().is_ok_and(is_same) {
            self.body.notes.push("the file changed while it was read");
        }
        self.body
    }
}

impl Body {
    fn new(kind: &'static str) -> Self {
        Self {
            bytes: Vec::new(),
            kind,
            modified: None,
            truncated: None,
            facts: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The same without its bytes: nobody asked for them.
    fn unwanted(self) -> Self {
        Self { bytes: Vec::new(), truncated: Some(Truncated::Unwanted), ..self }
    }
}

fn name_of(url: &CrawlUrl) -> &str {
    url.path().rsplit('/').next().unwrap_or_default()
}

fn unreadable(why: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Unreadable, why)
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("URLs and dates are plain ASCII")
}
