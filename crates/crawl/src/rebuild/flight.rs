//! Answers of an archive on their way through the line, several at a time.
//!
//! As many as keep all threads busy, and no more bytes than the bodies of a crawl may have. Two answers of one URL are
//! never under way together: which of them counts would be a matter of chance.

use std::collections::HashSet;

use larm_core::Limits;
use larm_core::url::Fingerprint;
use tokio::task::JoinSet;

use crate::error::{Error, Result};

/// Answers that are read at a time, per thread.
const READ_AHEAD: usize = 4;
/// URLs that are remembered as under way.
const URLS_MAX: usize = 10_000;

/// Answers on their way through the line: so many, and so many bytes.
pub(super) struct Flight {
    tasks: JoinSet<Result<u64>>,
    bytes: u64,
    places: usize,
    bytes_max: u64,
    /// What may not be settled yet: of two answers of one URL, the first has to be when the second starts.
    urls: HashSet<Fingerprint>,
}

impl Flight {
    /// With nothing under way.
    pub fn new(limits: &Limits) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            tasks: JoinSet::new(),
            bytes: 0,
            places: threads * READ_AHEAD,
            bytes_max: limits.bodies_bytes_max,
            urls: HashSet::new(),
        }
    }

    /// Whether an answer of this URL may start. If not, another one may not be settled yet, or too many may not:
    /// then all of them have to be waited for.
    pub fn takes(&self, url: Fingerprint) -> bool {
        self.urls.len() < URLS_MAX && !self.urls.contains(&url)
    }

    /// All that was started is settled.
    pub fn forget(&mut self) {
        self.urls.clear();
    }

    /// Starts an answer of a URL, when there is room for so many bytes.
    pub async fn start(
        &mut self,
        url: Fingerprint,
        bytes: u64,
        task: impl Future<Output = Result<()>> + Send + 'static,
    ) -> Result<()> {
        let is_full = |flight: &Self| {
            flight.tasks.len() >= flight.places || flight.bytes + bytes > flight.bytes_max
        };
        while is_full(self) && !self.tasks.is_empty() {
            self.land().await?;
        }
        self.bytes += bytes;
        self.urls.insert(url);
        self.tasks.spawn(async move { task.await.map(|()| bytes) });
        Ok(())
    }

    async fn land(&mut self) -> Result<()> {
        let panicked =
            |error| Error::Stopped(format!("larm has a bug: reading panicked ({error})"));
        if let Some(landed) = self.tasks.join_next().await {
            self.bytes -= landed.map_err(panicked)??;
        }
        Ok(())
    }

    /// Waits for all that were started; the writer may not have settled them.
    pub async fn land_all(&mut self) -> Result<()> {
        while !self.tasks.is_empty() {
            self.land().await?;
        }
        Ok(())
    }
}
