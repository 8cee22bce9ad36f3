//! The log of every request, with its times.
//!
//! A request is entered when its head has been read, and closed *before* its last bytes are handed to
//! the kernel. So whoever has the whole answer finds it in the log; and the gap between `end_us` and
//! the next `start_us` is never shorter than the client's own: no client is accused falsely.
//!
//! Memory is bounded: past [`LOG_MAX`] requests are counted, not kept.

use std::fs::File;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;

/// Requests kept in memory.
pub const LOG_MAX: usize = 5_000_000;

/// One request as the server saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Request {
    /// Host name as asked for, in lower case, without port.
    pub host: String,
    /// Address that was connected to.
    pub address: IpAddr,
    /// Port that was connected to.
    pub port: u16,
    /// Path and query as asked for.
    pub path: String,
    /// User agent as given.
    pub agent: String,
    /// When the head had been read, in microseconds since the server started.
    pub start_us: u64,
    /// When the last bytes were about to be written; the start while the answer is under way.
    pub end_us: u64,
    /// Status of the answer; 0 when it was no HTTP.
    pub status: u16,
    /// Bytes of the answer, its head included.
    pub bytes: u64,
    /// Number of the connection.
    pub connection: u64,
    /// Everything that was to be sent was taken by the kernel.
    pub complete: bool,
}

impl Request {
    /// The URL that was asked for.
    pub fn url(&self) -> String {
        format!("http://{}:{}{}", self.host, self.port, self.path)
    }
}

/// What is kept of a request: names that repeat are shared.
#[derive(Debug)]
pub(crate) struct Entry {
    pub host: Arc<str>,
    pub agent: Arc<str>,
    pub path: Box<str>,
    pub address: IpAddr,
    pub start_us: u64,
    pub end_us: u64,
    pub bytes: u64,
    pub connection: u64,
    pub status: u16,
    pub complete: bool,
}

/// The place of an entry; none when the log was full.
pub(crate) type Ticket = Option<usize>;

/// All requests since the start.
#[derive(Debug)]
pub(crate) struct Log {
    started: Instant,
    port: u16,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: Vec<Entry>,
    dropped: u64,
    file: Option<File>,
}

impl Log {
    /// An empty log whose clock starts now.
    #[expect(
        clippy::disallowed_methods,
        reason = "the server's own clock, from which all times are"
    )]
    pub fn new(port: u16) -> Self {
        Self { started: Instant::now(), port, kept: Mutex::default() }
    }

    /// Microseconds since the start.
    pub fn now_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Enters a request whose answer is about to begin.
    pub fn open(&self, entry: Entry) -> Ticket {
        let mut kept = self.kept();
        if kept.entries.len() >= LOG_MAX {
            kept.dropped += 1;
            return None;
        }
        kept.entries.push(entry);
        Some(kept.entries.len() - 1)
    }

    /// Closes a request: `bytes` in all, the last of them about to be written.
    pub fn close(&self, ticket: Ticket, bytes: u64) {
        let end_us = self.now_us();
        self.update(ticket, |entry| {
            (entry.end_us, entry.bytes, entry.complete) = (end_us, bytes, true);
        });
        self.append(ticket);
    }

    /// The client left, or the answer is one that does not end well.
    pub fn broken(&self, ticket: Ticket, bytes: u64) {
        let end_us = self.now_us();
        let mut first = true;
        self.update(ticket, |entry| {
            first = !entry.complete;
            (entry.end_us, entry.bytes, entry.complete) = (end_us, bytes, false);
        });
        if first {
            self.append(ticket);
        }
    }

    fn update(&self, ticket: Ticket, change: impl FnOnce(&mut Entry)) {
        let mut kept = self.kept();
        if let Some(entry) = ticket.and_then(|at| kept.entries.get_mut(at)) {
            change(entry);
        }
    }

    /// Writes a closed request to the file, if there is one. A full disk must not disturb the web.
    fn append(&self, ticket: Ticket) {
        let mut kept = self.kept();
        let Some(at) = ticket.filter(|_| kept.file.is_some()) else {
            return;
        };
        let request = self.request(&kept.entries[at]);
        let line = serde_json::to_string(&request).unwrap_or_default() + "\n";
        if let Some(file) = &mut kept.file {
            let _ = file.write_all(line.as_bytes());
        }
    }

    /// Appends each request from now on to a file, as a JSON line.
    pub fn to_file(&self, path: &Path) -> io::Result<()> {
        let file = File::options().create(true).append(true).open(path)?;
        self.kept().file = Some(file);
        Ok(())
    }

    /// The requests so far, in the order of their start.
    pub fn requests(&self) -> Vec<Request> {
        let kept = self.kept();
        let mut requests: Vec<_> = kept.entries.iter().map(|entry| self.request(entry)).collect();
        drop(kept);
        requests.sort_by_key(|request| request.start_us);
        requests
    }

    /// Requests that came when the log was full.
    pub fn dropped(&self) -> u64 {
        self.kept().dropped
    }

    fn request(&self, entry: &Entry) -> Request {
        Request {
            host: entry.host.to_string(),
            address: entry.address,
            port: self.port,
            path: entry.path.to_string(),
            agent: entry.agent.to_string(),
            start_us: entry.start_us,
            end_us: entry.end_us,
            status: entry.status,
            bytes: entry.bytes,
            connection: entry.connection,
            complete: entry.complete,
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
