//! What a server is told when it starts, as plain values.

use std::net::SocketAddr;
use std::path::PathBuf;

use larm_core::Limits;

/// How a server is to behave.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Crawl directories to show, each by itself.
    pub dirs: Vec<PathBuf>,
    /// Where new crawls are made; all crawls in it are shown.
    pub root: Option<PathBuf>,
    /// Only search is served, without a token.
    pub public_search: bool,
    /// What opens it; without one nobody gets in.
    pub token: Option<String>,
    /// Where it listens.
    pub listen: Option<SocketAddr>,
    /// Names by which it may be asked, beside that address.
    pub hosts: Vec<String>,
    /// The only hosts that crawls started here may ask; none named means all.
    pub confined_to: Vec<String>,
    /// Fetches at a time of all crawls that run, together.
    pub concurrency_max: Option<u64>,
    /// Bytes per second of all crawls that run, together.
    pub bandwidth_max: Option<u64>,
    /// Crawls go on when the server ends.
    pub leave_running: bool,
    /// Every maximum.
    pub limits: Limits,
}
