//! One integration binary against the hostile test web: one module per promise of the README.
//!
//! Every test puts up its own web on loopback and crawls into its own temporary directory, so that all
//! of them can run at the same time. Nothing sleeps: tests wait for what they are about. No test asks
//! how long something took at most, since the machine may be busy.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that fails says so, and one that is skipped, too"
)]

mod access;
mod archive;
mod ascent;
mod chaos;
mod content;
mod coverage;
mod duplicates;
mod durability;
mod explain;
mod files;
mod focus;
mod graph;
mod hand;
mod hostile;
mod http2_hostile;
mod kept;
mod larm;
mod library;
mod limits;
mod order;
mod politeness;
mod rebuild;
mod resume;
mod safety;
mod search;
mod secure;
mod seeds;
mod serve;
mod signals;
mod simulate;
mod tidy;
mod trouble;
mod views;
mod walls;
mod webkb;
mod world;
mod worth;
