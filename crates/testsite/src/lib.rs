//! A deterministic hostile web on loopback, for tests, benches and demonstrations.
//!
//! It knows the truth about itself ([`Truth`]: every URL that a perfect crawler finds) and notes every
//! request with its time ([`Request`]). Together they judge a crawler ([`audit`]): coverage, overlap,
//! obedience and spacing. It uses no other part of larm, since it is there to judge them.
//!
//! ```
//! use larm_testsite::{TestSite, WebPlan};
//!
//! let site = TestSite::start(WebPlan::default())?;
//! assert_eq!(site.truth().pages.len(), 3 * 10);
//! assert!(site.requests().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Listens on loopback only. Starts its own threads, so that it can be used with and without an async
//! runtime, and stops when it is dropped.

mod answer;
pub mod audit;
mod charset;
mod dice;
mod exchange;
mod feature;
mod hostile;
mod html;
mod log;
mod maze;
mod page;
mod plan;
mod prose;
mod resource;
mod robots;
#[cfg(feature = "tls")]
pub mod secure;
mod server;
mod site;
mod theme;
mod threads;
mod trap;
mod truth;
mod web;

pub use audit::{Audit, Concurrency, Coverage, Gaps, Pace};
pub use hostile::{
    BOMB_BYTES, Body, Content, ENDLESS_BYTES_MAX, Encoding, Head, Misbehaviour, Redirect, Reset,
    Retry, RobotsFile,
};
pub use log::{LOG_MAX, Request};
pub use plan::{Features, WebPlan};
pub use robots::Rules;
pub use site::TestSite;
pub use trap::Trap;
pub use truth::{Expect, HostTruth, Kind, Truth, Via};
