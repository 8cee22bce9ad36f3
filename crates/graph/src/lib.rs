//! The links of a crawl: kept as it goes, and as a graph.
//!
//! Three layers, each of use without the next:
//!
//! - [`log`]: the link log that a crawl writes, its visits with their links.
//! - [`Graph`]: from an edge list, a WebGraph file or a crawl directory; [`rank`] has what can be
//!   computed on any of them.
//! - [`StoredGraph`]: what a crawl directory keeps of its graph in `graph/`, made from its link log.
//!
//! Files and threads, but no clock, no async, no network; nothing is printed. Memory is bounded by
//! [`Limits`](larm_core::Limits) and by the size of what a caller asks to hold.

pub mod bv;
pub mod edges;
pub mod error;
pub mod export;
pub mod graph;
pub mod hosts;
pub mod link;
pub mod log;
pub mod query;
pub mod rank;
pub mod stored;

mod bytes;
mod sort;

pub use error::{Error, Result};
pub use graph::Graph;
pub use link::LinkFact;
pub use stored::{Ranks, StoredGraph};
