//! Full-text search over a crawl: an index as a sink, and a reader for queries.
//!
//! [`SearchSink`] goes into the chain of a crawl's sinks, or of whoever else has visits to index: it
//! starts from an empty directory with nothing but a stream of visits. [`SearchIndex`] searches what it
//! made, also while it is being made.
//!
//! The crawl knows nothing of this package, and this package knows nothing of frontier and fetch. The
//! path of a page: `entry` (what is kept of a visit) → `journal` (until it is indexed) → `indexer`,
//! `fold` and `draft` (into the index) → `query` (what was asked) → `searcher` and `rank` (what was found).
//! Terms are made in `words`, for pages and queries alike.

mod anchored;
mod anchors;
mod archive;
mod date;
mod directory;
mod draft;
mod entry;
mod explanation;
mod fold;
mod indexer;
mod journal;
mod language;
mod layout;
mod merging;
mod outdated;
mod parts;
mod postings;
pub mod query;
mod rank;
mod schema;
mod searcher;
mod sink;
mod snippet;
mod texts;
mod vocabulary;
mod words;

#[cfg(test)]
mod tests;

pub use explanation::{Explanation, Worth};
pub use searcher::{Found, Hit, Importance, Request, SearchError, SearchIndex};
pub use sink::SearchSink;
pub use snippet::Snippet;
