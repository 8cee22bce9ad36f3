//! Virtual crawls over stored graphs: which order finds the important pages first.
//!
//! A [`Web`] is a graph, perhaps with URLs. A [`Crawler`] crawls it as a live crawl would: it knows the
//! pages that it has found, chooses among them by a [`Score`](larm_core::order::Score) of larm-core, the
//! same that a live crawl uses, and learns the links of a page by fetching it. An [`Experiment`] lets
//! several orders crawl from several starts and counts what they find ([`model`]); [`parallel`] lets
//! several crawlers share a web; [`plot`] draws the result.
//!
//! Nothing is random that a seed does not fix: the same experiment on the same graph has the same result,
//! to the last byte, whatever the number of threads. Memory is known before anything runs, and bounded
//! ([`Web::fits`]). No clock, no network; nothing is printed.

pub mod crawler;
pub mod error;
pub mod experiment;
pub mod hot;
pub mod model;
pub mod parallel;
pub mod plot;
pub mod starts;
pub mod web;

mod buffer;
mod queue;
mod urls;

#[cfg(test)]
mod outside_tests;
#[cfg(test)]
mod tests;

pub use crawler::Crawler;
pub use error::{Error, Result};
pub use experiment::{Experiment, Outcome, Point};
pub use hot::{By, Hot, HotSpec};
pub use model::Model;
pub use web::Web;
