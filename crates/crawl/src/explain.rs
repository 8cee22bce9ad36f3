//! `larm why`: for any URL, what became of it, or which rule said no, or what it waits for.

use larm_core::Millis;
use larm_core::scope::{Subject, Verdict};
use larm_core::url::CrawlUrl;
use larm_core::via::Via;
use larm_core::worth::Finding;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::frontier::{Frontier, HostStatus, PageRow};
use crate::rules::Rules;

/// What is known of a URL.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Explanation {
    /// The URL in its canonical form.
    pub url: String,
    /// Where it stands.
    pub stand: Stand,
}

/// Where a URL stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Stand {
    /// Settled: fetched, denied, failed, …
    Settled {
        /// What is kept of it.
        page: Box<PageRow>,
    },
    /// In the frontier.
    Waiting {
        /// What its host is doing, where that is in memory.
        host: Option<HostStatus>,
        /// What is thought of URLs like it, if they are not simply good.
        #[serde(default)]
        finding: Option<Finding>,
    },
    /// Never accepted: no page led to it, or a rule is against it.
    Unknown {
        /// The rule that would reject it, found on a page in scope.
        rejected_by: Option<String>,
    },
}

/// Looks a URL up in the frontier, and asks the rules about it if it is not there.
pub fn explain(
    frontier: &dyn Frontier,
    rules: &Rules,
    url: &CrawlUrl,
    now: Millis,
) -> Result<Explanation> {
    let stand = if let Some(page) = frontier.page(url)? {
        Stand::Settled { page: Box::new(page) }
    } else if frontier.knows(url)? {
        let (host, finding) = (frontier.host_status(url.host(), now), frontier.finding(url));
        Stand::Waiting { host, finding }
    } else {
        Stand::Unknown { rejected_by: rejection(rules, url) }
    };
    Ok(Explanation { url: url.to_string(), stand })
}

fn rejection(rules: &Rules, url: &CrawlUrl) -> Option<String> {
    let subject = Subject { url, depth: 0, via: Via::Anchor, from: None, redirects: 0 };
    match rules.judge(&subject) {
        Verdict::Pass => None,
        Verdict::Reject(reason) => Some(reason.to_string()),
    }
}
