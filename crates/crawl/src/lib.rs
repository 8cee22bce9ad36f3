//! The larm crawler as a library: everything that waits.
//!
//! ```no_run
//! use larm_core::url::{UrlRules, seed};
//! use larm_crawl::{Crawl, Plan};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let seeds = vec![seed("example.com", &UrlRules::default())?];
//! let summary = Crawl::new(Plan::new("example.larm", seeds)).run().await?;
//! assert!(summary.fetched > 0);
//! # Ok(())
//! # }
//! ```
//!
//! The path of one URL is [`pipeline::process`]; start reading there. `ARCHITECTURE.md` has the map.

pub mod archived;
pub mod change;
pub mod changes;
pub mod clock;
pub mod compact;
pub mod control;
mod crawl;
pub mod directory;
pub mod disk;
mod ends;
mod engine;
pub mod error;
pub mod explain;
pub mod fetch;
pub mod files;
pub mod frontier;
pub mod handle;
pub mod housekeeping;
mod jar;
mod ledger;
pub mod line;
pub mod login;
pub mod memory;
mod network;
mod obey;
pub mod order;
pub mod pdf;
pub mod pipeline;
mod places;
pub mod plan;
pub mod readings;
pub mod reasons;
pub mod rebuild;
mod report;
pub mod robots;
pub mod rules;
mod share;
mod soft;
pub mod store;
mod workers;
mod writer;

pub use crawl::{Crawl, Running};
pub use error::{Error, Result};
pub use handle::{Handle, Phase, Status};
pub use plan::{Duplicates, Keep, Plan, Selection, SignalPlan};
pub use report::summarise;
pub use store::{Sink, Summary, Visit};
