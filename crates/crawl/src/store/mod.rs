//! What is written, and where (step 11 of the line).
//!
//! A [`Visit`] goes through a [`Chain`] of sinks: archive with index, pages, links, log, or a library
//! user's own. Workers encode, one writer writes, and now and then everything is brought to the disk
//! and the positions reached are committed elsewhere. After a crash each sink is cut back to its
//! committed position, so that work which is repeated is not kept twice.
//!
//! Sinks know nothing of frontier and fetch, and do not judge what is worth keeping. Every byte they
//! write is described in `docs/formats.md`.

pub mod appender;
pub mod cdxj;
pub mod chain;
pub mod durable;
mod gzip;
mod json;
pub mod link_facts;
pub mod plan;
pub mod runs;
pub mod sink;
pub mod summary;
pub mod visit;
pub mod warc;

mod crawl_log;
mod links;
mod null;
mod pages;

pub use chain::{Chain, Encoders, FlushedChain, Positions};
pub use crawl_log::CrawlLogSink;
pub use link_facts::{LinkFact, LinkFacts};
pub use links::LinksSink;
pub use null::{CallSink, NullSink};
pub use pages::PagesSink;
pub use plan::StorePlan;
pub use sink::{Encoded, Encoder, Flushed, Kept, Lag, Position, Sink, Unsynced, WarcRef};
pub use summary::Summary;
pub use visit::{Exchange, PageFacts, SameAs, Timings, Visit, Wire, header};
pub use warc::{WarcReader, WarcSink};

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
