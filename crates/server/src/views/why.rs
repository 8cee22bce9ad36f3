//! Why a URL was fetched, or not: from the crawl log, the link log and the archived robots.txt; and from the crawl
//! itself while it runs, which alone knows what waits and for what.

use larm_core::robots::{Robots, product_token};
use larm_core::url::CrawlUrl;
use larm_crawl::explain::{Explanation, Stand};
use serde::Serialize;
use utoipa::ToSchema;

use super::Looked;
use super::detail::{Link, archived, head, row_of};
use crate::problem::Problem;
use crate::table::Whole;

/// Links that are named.
const LINKS_NAMED: usize = 20;

/// What the robots.txt of the URL's host says about it, as it is in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RobotsSays {
    /// Whether it may be fetched.
    pub allowed: bool,
    /// Line of the file that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What that line says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The file.
    pub url: String,
}

/// Why a URL was fetched, or not.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Why {
    /// The URL in its canonical form.
    pub url: String,
    /// An outcome of the crawl log, or `waiting`, `rejected`, `unknown`.
    pub verdict: String,
    /// The same and its reasons, in sentences.
    pub words: Vec<String>,
    /// What robots.txt says, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robots: Option<RobotsSays>,
    /// The name that its host's name is an alias of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Where it stands, as the running crawl says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub stand: Option<Stand>,
    /// Who links to it, the first ones.
    pub linked_from: Vec<Link>,
}

/// What others than the files say of a URL.
#[derive(Debug, Default)]
pub struct Said {
    /// What the crawl says, if it runs.
    pub told: Option<Explanation>,
    /// The rule that is against it, where the crawl cannot be asked.
    pub against: Option<String>,
}

/// What is known of a URL before it is put into words.
struct Known {
    row: Option<Whole>,
    told: Option<Explanation>,
    against: Option<String>,
    robots: Option<RobotsSays>,
    links: Vec<Link>,
}

/// Why a URL was fetched, or not. `links` is who links to it.
pub fn why(
    looked: &Looked<'_>,
    url: &CrawlUrl,
    Said { told, against }: Said,
    mut links: Vec<Link>,
) -> Result<Why, Problem> {
    links.truncate(LINKS_NAMED);
    let row = row_of(looked, url.as_str())?;
    let known = Known { row, told, against, robots: robots(looked, url), links };
    let (verdict, words) = known.in_words();
    Ok(Why {
        url: url.to_string(),
        verdict,
        words,
        robots: known.robots,
        alias: known.told.as_ref().and_then(|told| told.alias.clone()),
        stand: known.told.map(|told| told.stand),
        linked_from: known.links,
    })
}

/// What the archived robots.txt of the URL's origin says, by the name that it was asked for with.
fn robots(looked: &Looked<'_>, url: &CrawlUrl) -> Option<RobotsSays> {
    let address = format!("{}/robots.txt", url.origin());
    let (whole, answer) = archived(looked, &address, None).ok()??;
    let says = |allowed, rule: Option<String>, line| RobotsSays {
        allowed,
        rule,
        line,
        url: address.clone(),
    };
    if whole.row.status.is_some_and(|status| (400..500).contains(&status)) {
        return Some(says(true, None, None));
    }
    if whole.row.status != Some(200) {
        return None;
    }
    let request = head(&answer.request)?;
    let agent = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("user-agent"));
    let agent = agent.map_or("larm", |(_, agent)| product_token(agent));
    let body = answer.body(looked.limits);
    let robots = Robots::parse(&body, looked.limits);
    let verdict = robots.judge(agent, url.path_and_query());
    Some(says(verdict.allowed, verdict.rule.map(|rule| rule.to_string()), verdict.line))
}

impl Known {
    fn in_words(&self) -> (String, Vec<String>) {
        let (verdict, mut words) = match (&self.row, &self.told) {
            (Some(whole), _) => (whole.row.outcome.clone(), settled(whole)),
            (None, Some(told)) => self.unsettled(&told.stand),
            (None, None) => self.unasked(),
        };
        words.extend(self.robots_words().filter(|_| verdict != "denied"));
        words.push(self.linked_words());
        (verdict, words)
    }

    /// What a running crawl says of a URL that has not settled in the log.
    fn unsettled(&self, stand: &Stand) -> (String, Vec<String>) {
        match stand {
            Stand::Settled { page } => {
                let words = larm_crawl::explain::outcome_in_words(&page.outcome);
                (page.outcome.word().to_owned(), vec![format!("What became of it: {words}.")])
            }
            Stand::Waiting { rejected_by: Some(rule), .. } => {
                ("waiting".to_owned(), vec![left_out_later(rule)])
            }
            Stand::Waiting { order, .. } => {
                let order = order.iter().map(|ranked| match ranked.ahead {
                    0 => format!("By {} it is the next of its host.", ranked.by),
                    ahead => {
                        format!("By {} there are {ahead} URLs of its host before it.", ranked.by)
                    }
                });
                ("waiting".to_owned(), std::iter::once(WAITING.to_owned()).chain(order).collect())
            }
            Stand::Unknown { rejected_by } => {
                let verdict = self.objection().map(str::to_owned).or_else(|| rejected_by.clone());
                rejected(verdict)
            }
        }
    }

    /// What the files say of it, where nobody can be asked.
    fn unasked(&self) -> (String, Vec<String>) {
        let is_wanted = self.links.iter().any(|link| link.verdict.is_none());
        match (is_wanted, &self.against) {
            (true, Some(rule)) => ("waiting".to_owned(), vec![left_out_later(rule)]),
            (true, None) => ("waiting".to_owned(), vec![WAITING.to_owned()]),
            (false, _) => rejected(self.objection().map(str::to_owned)),
        }
    }

    /// The reason against it in the link log, which knows best.
    fn objection(&self) -> Option<&str> {
        self.links.iter().find_map(|link| link.verdict.as_deref())
    }

    fn robots_words(&self) -> impl Iterator<Item = String> {
        let says = self.robots.iter().map(|robots| {
            let word = if robots.allowed { "allows" } else { "forbids" };
            match (&robots.rule, robots.line) {
                (Some(rule), Some(line)) => format!("robots.txt {word} it: line {line}, `{rule}`."),
                (Some(rule), None) => format!("robots.txt {word} it: {rule}."),
                (None, _) => format!("robots.txt {word} it: no line is about it."),
            }
        });
        says.collect::<Vec<_>>().into_iter()
    }

    fn linked_words(&self) -> String {
        match self.links.len() {
            0 => "No page that was fetched links to it, as far as links were kept.".to_owned(),
            1 => format!("1 link leads to it, from {}.", self.links[0].url),
            count if count >= LINKS_NAMED => format!(
                "{LINKS_NAMED} links or more lead to it, the first from {}.",
                self.links[0].url
            ),
            count => format!("{count} links lead to it, the first from {}.", self.links[0].url),
        }
    }
}

const WAITING: &str = "It is known and in scope, and has not been fetched yet.";

/// What is said of a URL that waits, and that a rule of today is against.
fn left_out_later(rule: &str) -> String {
    format!("It waits, and is left out when its turn comes, without being asked for: {rule}.")
}

fn rejected(verdict: Option<String>) -> (String, Vec<String>) {
    match verdict {
        Some(verdict) => {
            ("rejected".to_owned(), vec![format!("It is not part of this crawl: {verdict}.")])
        }
        None => ("unknown".to_owned(), vec!["This crawl does not know it.".to_owned()]),
    }
}

fn settled(whole: &Whole) -> Vec<String> {
    let row = &whole.row;
    let reason = row.reason.as_deref().unwrap_or_default();
    let status = row.status.map(|status| status.to_string()).unwrap_or_default();
    let what = match row.outcome.as_str() {
        "fetched" => format!("It was fetched, with status {status}."),
        "redirected" => {
            format!(
                "It is redirected ({status}) to {}.",
                row.redirect.as_deref().unwrap_or_default()
            )
        }
        "denied" => format!("It was not fetched: robots.txt forbids it ({reason})."),
        "rejected" => format!("It was not fetched: {reason}."),
        "failed" => format!("It failed: {reason}."),
        _ => format!("It was not fetched: {reason}."),
    };
    let found = match &row.from {
        Some(from) => {
            format!("It was found on {from}, as {}, {} from a seed.", row.via, hops(row.depth))
        }
        None => format!("It was found as {}.", row.via),
    };
    let same = row.same_as.iter().map(|url| format!("Its body is the same as that of {url}."));
    let near =
        row.near.iter().map(|near| format!("It says nearly the same as another page: {near}."));
    [what, found].into_iter().chain(same).chain(near).collect()
}

fn hops(depth: u32) -> String {
    if depth == 1 { "1 hop".to_owned() } else { format!("{depth} hops") }
}
