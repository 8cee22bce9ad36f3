//! What is done every five seconds: statistics, summary, disk space, the file of blocked hosts.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use larm_core::{Limits, Millis};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::handle::Shared;
use crate::memory::resident;
use crate::report::summarise;
use crate::store::summary::State;

/// Of a small disk, this share is the floor rather than the limit's absolute number.
const SMALL_DISK_SHARE: u64 = 20;

/// One line of `logs/stats.jsonl`.
#[derive(Debug, Serialize)]
struct Line {
    at: String,
    pages: u64,
    pages_per_second: f64,
    bytes: u64,
    bytes_per_second: f64,
    in_flight: u64,
    places: u64,
    places_reason: &'static str,
    refused: u64,
    waiting: u64,
    failed: u64,
    retries: u64,
    memory: Option<u64>,
}

/// Keeps the books of one run.
pub(crate) struct Housekeeper {
    dir: PathBuf,
    stats: File,
    seeds: u64,
    disk_free_bytes_min: u64,
    disk_wait_ms_max: u64,
    disk_low_since: Option<Millis>,
}

impl Housekeeper {
    pub fn new(dir: &Path, seeds: u64, limits: &Limits) -> Result<Self> {
        let path = dir.join("logs").join("stats.jsonl");
        let stats = OpenOptions::new().create(true).append(true).open(&path);
        Ok(Self {
            dir: dir.to_owned(),
            stats: stats.map_err(Error::io(&path))?,
            seeds,
            disk_free_bytes_min: limits.disk_free_bytes_min,
            disk_wait_ms_max: limits.disk_wait_ms_max,
            disk_low_since: None,
        })
    }

    /// Does it all once. Says whether there is room on the disk.
    pub fn tick(&mut self, shared: &Shared) -> Result<bool> {
        self.write_stats(shared)?;
        self.write_summary(shared, State::Running, None)?;
        match shared.rules.reread_block_file() {
            Ok(true) => tracing::info!("the file of blocked hosts was read again"),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, "the file of blocked hosts cannot be read; the old list stays")
            }
        }
        self.check_disk(shared.clock.now())
    }

    /// Writes `summary.json`.
    pub fn write_summary(&self, shared: &Shared, state: State, limit: Option<&str>) -> Result<()> {
        let frontier = shared.frontier.look();
        let summary = summarise(&**frontier, self.seeds, shared.clock.now());
        drop(frontier);
        let limit = limit.map(str::to_owned);
        let summary = crate::store::Summary { state, limit, gain: shared.gain(), ..summary }
            .with_archive(&self.dir)?;
        summary.write(&self.dir.join("summary.json"))
    }

    fn write_stats(&mut self, shared: &Shared) -> Result<()> {
        let now = shared.clock.now();
        let frontier = shared.frontier.look();
        let totals = frontier.totals();
        let mut meter = shared.meter.lock().unwrap_or_else(PoisonError::into_inner);
        meter.note(now, totals.answered, totals.bytes);
        let rates = meter.rates;
        let standing = shared.places();
        let line = Line {
            at: now.to_string(),
            pages: totals.answered,
            pages_per_second: rates.pages_per_second,
            bytes: totals.bytes,
            bytes_per_second: rates.bytes_per_second,
            in_flight: shared.in_flight.load(Ordering::Relaxed),
            places: standing.places,
            places_reason: standing.reason.word(),
            refused: standing.refused,
            waiting: frontier.waiting(),
            failed: totals.failed.values().sum(),
            retries: totals.retries,
            memory: resident(),
        };
        drop((meter, frontier));
        tracing::info!(
            pages = line.pages,
            waiting = line.waiting,
            in_flight = line.in_flight,
            places = line.places,
            "statistics"
        );
        let mut json = serde_json::to_vec(&line).expect("numbers are JSON");
        json.push(b'\n');
        self.stats.write_all(&json).map_err(Error::io(self.dir.join("logs").join("stats.jsonl")))
    }

    fn check_disk(&mut self, now: Millis) -> Result<bool> {
        let Some((free, total)) = disk_space(&self.dir) else { return Ok(true) };
        let floor = self.disk_free_bytes_min.min(total / SMALL_DISK_SHARE);
        if free >= floor {
            if self.disk_low_since.take().is_some() {
                tracing::info!(free, "there is room on the disk again; going on");
            }
            return Ok(true);
        }
        let since = *self.disk_low_since.get_or_insert(now);
        if since == now {
            tracing::warn!(free, floor, "the disk is nearly full: paused until there is room");
        }
        if now.since(since) >= self.disk_wait_ms_max {
            let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(Error::Io { path: self.dir.clone(), source });
        }
        Ok(false)
    }
}

/// Free and total bytes of the disk that holds `path`.
#[cfg(unix)]
pub fn disk_space(path: &Path) -> Option<(u64, u64)> {
    let stat = rustix::fs::statvfs(path).ok()?;
    let fragment = stat.f_frsize;
    Some((stat.f_bavail * fragment, stat.f_blocks * fragment))
}

/// Not known here; a full disk is then noticed by the write that fails.
#[cfg(not(unix))]
pub fn disk_space(_path: &Path) -> Option<(u64, u64)> {
    None
}
