//! Graphs in the format of WebGraph: `NAME.graph`, `NAME.offsets` and `NAME.properties`.
//!
//! The format is that of Boldi and Vigna ("The WebGraph Framework I"): the successors of a node are
//! given as parts of those of one of the nodes before it, then as runs of neighbours, then as gaps. The
//! files are read and written by the Java and Rust tools of WebGraph as well; a test lets the latter do
//! so. Why the code is our own: `docs/adr/0018-links-and-graph.md`.
//!
//! Any bytes give a graph or an error, never a panic or an endless loop.

mod bits;
mod properties;
mod read;
mod write;

pub use properties::Properties;
pub use read::{BvGraph, Rows};
pub use write::BvWriter;

use std::path::{Path, PathBuf};

/// `NAME` and an ending. Names may have dots of their own.
fn with_ending(name: &Path, ending: &str) -> PathBuf {
    let mut path = name.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

/// A whole number as one that is not negative, the way WebGraph does: 0, -1, 1, -2, 2, …
fn fold(number: i64) -> u64 {
    if number >= 0 { (number as u64) << 1 } else { ((-(number + 1) as u64) << 1) + 1 }
}

/// What [`fold`] was given.
fn unfold(number: u64) -> i64 {
    let half = (number >> 1) as i64;
    if number & 1 == 0 { half } else { -half - 1 }
}

#[cfg(test)]
mod tests;
