//! What was asked for: how much, which pages, and which more than once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::usage::cpu_seconds;

/// Counts, shared by all threads of the server.
pub struct Ledger {
    asked: Vec<AtomicU64>,
    requests: AtomicU64,
    pages: AtomicU64,
    repeated: AtomicU64,
    gzipped: AtomicU64,
    connections: AtomicU64,
    bytes: AtomicU64,
    first: OnceLock<(Instant, u128)>,
}

impl Ledger {
    /// For a web of so many pages, all hosts together.
    pub fn new(pages: usize) -> Self {
        let asked = std::iter::repeat_with(AtomicU64::default).take(pages.div_ceil(64)).collect();
        let [requests, pages, repeated, gzipped, connections, bytes] = Default::default();
        let first = OnceLock::new();
        Self { asked, requests, pages, repeated, gzipped, connections, bytes, first }
    }

    /// Somebody connected.
    pub fn connected(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    /// A request came. Gives the time since the first one.
    pub fn requested(&self) -> Duration {
        self.requests.fetch_add(1, Relaxed);
        let now = || (Instant::now(), epoch_ms());
        self.first.get_or_init(now).0.elapsed()
    }

    /// It was for this page, counted over all hosts.
    pub fn page(&self, index: usize) {
        let (word, bit) = (&self.asked[index / 64], 1 << (index % 64));
        let count = match word.fetch_or(bit, Relaxed) & bit {
            0 => &self.pages,
            _ => &self.repeated,
        };
        count.fetch_add(1, Relaxed);
    }

    /// So many bytes go out.
    pub fn answered(&self, bytes: usize, gzip: bool) {
        self.bytes.fetch_add(bytes as u64, Relaxed);
        self.gzipped.fetch_add(u64::from(gzip), Relaxed);
    }

    /// All of it, and the processor time of this process.
    pub fn report(&self) -> Value {
        let (user, sys) = cpu_seconds();
        json!({
            "requests": self.requests.load(Relaxed),
            "pages": self.pages.load(Relaxed),
            "repeated": self.repeated.load(Relaxed),
            "gzipped": self.gzipped.load(Relaxed),
            "connections": self.connections.load(Relaxed),
            "bytes": self.bytes.load(Relaxed),
            "first_request_epoch_ms": self.first.get().map(|(_, ms)| *ms as u64),
            "user": user,
            "sys": sys,
        })
    }
}

fn epoch_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_millis()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_counts_once_and_then_as_repeated() {
        let ledger = Ledger::new(70);
        [0, 69, 69].iter().for_each(|&index| ledger.page(index));
        let report = ledger.report();
        assert_eq!((report["pages"].as_u64(), report["repeated"].as_u64()), (Some(2), Some(1)));
    }
}
