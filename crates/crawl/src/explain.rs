//! `larm why`: for any URL, what became of it, or which rule said no, or what it waits for.

use larm_core::near::BITS_MAX;
use larm_core::scope::{Subject, Verdict};
use larm_core::url::CrawlUrl;
use larm_core::via::Via;
use larm_core::worth::Finding;
use larm_core::{Fact, Millis, Outcome};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::frontier::{CANONICAL, Frontier, HostStatus, PageRow, Ranked};
use crate::reasons::Reasons;
use crate::rules::Rules;

/// Name of the fact about a page whose canonical URL was fetched and says the same.
const VARIANT: &str = "variant";

/// What is known of a URL.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Explanation {
    /// The URL in its canonical form.
    pub url: String,
    /// Where it stands.
    pub stand: Stand,
    /// The name that its host's name is an alias of, where that is known.
    #[serde(default)]
    pub alias: Option<String>,
}

impl Explanation {
    /// The same with what went wrong last, in words.
    pub fn with_words(mut self, reasons: &Reasons) -> Self {
        if let Stand::Waiting { host, .. } = &mut self.stand {
            *host = host.take().map(|host| reasons.tell(host));
        }
        self
    }
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
        /// How it stands in the order of a running crawl, where that is not breadth-first.
        #[serde(default)]
        order: Option<Ranked>,
        /// The rule of today by which it will be left out when its turn comes.
        #[serde(default)]
        rejected_by: Option<String>,
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
    let host = || frontier.host_status(url.host(), now);
    let stand = if let Some(page) = frontier.page(url)? {
        Stand::Settled { page: Box::new(with_variant(frontier, page)?) }
    } else if frontier.knows(url)? {
        let (finding, order) = (frontier.finding(url), frontier.ranked(url));
        let rejected_by = objection(rules.judge_url(url));
        Stand::Waiting { host: host(), finding, order, rejected_by }
    } else {
        Stand::Unknown { rejected_by: replaced(frontier, url).or_else(|| rejection(rules, url)) }
    };
    let alias = host().and_then(|host| host.alias);
    Ok(Explanation { url: url.to_string(), stand, alias })
}

/// A page that names another as its canonical one may have been there before it: what came of that is
/// seen only now.
fn with_variant(frontier: &dyn Frontier, mut page: PageRow) -> Result<PageRow> {
    let named = page.fact(CANONICAL).and_then(CrawlUrl::from_canonical);
    let row = named.as_ref().map_or(Ok(None), |url| frontier.page(url))?;
    let Some(row) = row.filter(PageRow::is_page) else { return Ok(page) };
    let is_same = page.digest.is_some() && page.digest == row.digest;
    let bits = page.content().simhash.zip(row.content().simhash);
    let bits = bits.map(|(one, other)| one.distance(other)).filter(|bits| *bits <= BITS_MAX);
    let said = match (is_same, bits) {
        (true, _) => "the same body".to_owned(),
        (false, Some(bits)) => format!("nearly the same words, {bits} of 64 bits apart"),
        (false, None) => return Ok(page),
    };
    page.facts.push(Fact::new(VARIANT, format!("of {}, which was fetched: {said}", row.url)));
    Ok(page)
}

/// The URL that stands for one that is never asked for.
fn replaced(frontier: &dyn Frontier, url: &CrawlUrl) -> Option<String> {
    let instead = frontier.alias_rules().instead_of(url)?;
    Some(format!("{}: {}", instead.rule, instead.why))
}

fn rejection(rules: &Rules, url: &CrawlUrl) -> Option<String> {
    let subject = Subject { url, depth: 0, via: Via::Anchor, from: None, redirects: 0 };
    objection(rules.judge(&subject))
}

fn objection(verdict: Verdict) -> Option<String> {
    match verdict {
        Verdict::Pass => None,
        Verdict::Reject(reason) => Some(reason.to_string()),
    }
}

/// An outcome as a person would say it.
pub fn outcome_in_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Fetched { status } => format!("fetched: {status}"),
        Outcome::Redirected { status, to } => format!("redirected: {status} to {to}"),
        Outcome::Denied { rule } => format!("not fetched: robots.txt forbids it ({rule})"),
        Outcome::Rejected { filter, detail } => format!("not fetched: {filter}: {detail}"),
        Outcome::Failed { class, detail } => format!("failed: {class}: {detail}"),
        Outcome::HostUnreachable { class } => {
            format!("not fetched: its host could not be reached ({class})")
        }
    }
}
