//! What the sinks need to know about a crawl, as the binary resolved it.

use std::path::PathBuf;

use larm_core::Limits;

/// Where and on whose behalf a crawl is kept.
#[derive(Debug, Clone)]
pub struct StorePlan {
    /// The crawl directory.
    pub dir: PathBuf,
    /// Letters, digits and `_` that name this crawl, the same on every start; part of file names.
    pub crawl_id: String,
    /// Title of the collection, for people.
    pub title: String,
    /// The user agent as sent.
    pub user_agent: String,
    /// What is done about robots.txt: `obey` or `ignore`.
    pub robots: String,
    /// Who runs the crawl.
    pub operator: Option<String>,
    /// Where to reach them.
    pub contact: Option<String>,
    /// Content types that the crawl is for; empty for all.
    pub accept: Vec<String>,
    /// The maxima in force.
    pub limits: Limits,
}
