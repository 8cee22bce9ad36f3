//! What larm is measured with: a synthetic web, and the least that a crawl of it can cost.
//!
//! Two programs: `web` serves pages that are a pure function of seed, host and number; `floor` fetches
//! all of them with nothing around it. `benches/run` drives both. Nothing here uses larm.

pub mod block;
pub mod latency;
pub mod ledger;
pub mod prose;
pub mod scan;
pub mod serve;
pub mod usage;
pub mod web;

/// Errors end the program; what they say is all that matters.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
