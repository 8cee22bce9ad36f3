//! What a server is told when it starts, as plain values.

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
    /// Every maximum.
    pub limits: Limits,
}
