//! The steps of the line: what [`pipeline`](crate::pipeline) calls, one function per step.
//!
//! Here are the steps up to the parsed page; `links` judges where it leads, `visit` puts together
//! what the sinks see, `settle` ends the lease.

mod links;
mod settle;
mod visit;

use std::net::IpAddr;
use std::sync::Arc;

use larm_core::digest::{BodyDigest, Sha1Digest};
use larm_core::parse::{Input, Page, parse, parse_sitemap};
use larm_core::scope::{Subject, Verdict};
use larm_core::url::{self, CrawlUrl};
use larm_core::{Failure, FailureClass, Limits, Millis, Outcome, Truncated};
use tokio::sync::{Notify, mpsc};

use crate::clock::Clock;
use crate::error::Result;
use crate::fetch::{BoxFuture, Fetch, Fetched, Guard, gunzip};
use crate::frontier::sieve::Recent;
use crate::frontier::{Errand, Frontier, Lease, SharedFrontier};
use crate::login::{Door, Logins};
use crate::places::Meter;
use crate::robots::{Answer, Permit, RobotsCache};
use crate::rules::SharedRules;
use crate::store::{Encoders, SameAs, Visit};
use crate::writer::Job;

pub use links::JudgedLinks;

/// Called for each page that was fetched, and awaited.
pub type PageHandler = Arc<dyn for<'a> Fn(&'a Visit) -> BoxFuture<'a, ()> + Send + Sync>;

/// Everything that a step may use.
pub struct Line {
    /// All that waits.
    pub frontier: SharedFrontier,
    /// The filters in force.
    pub rules: SharedRules,
    /// What need not be offered again.
    pub recent: Arc<Recent>,
    /// Hosts that want to know who asks.
    pub logins: Logins,
    /// The only maker of permits.
    pub robots: RobotsCache,
    /// Which addresses may be reached.
    pub guard: Guard,
    /// The network.
    pub fetcher: Arc<dyn Fetch>,
    /// The workers' half of the sinks.
    pub encoders: Encoders,
    /// The writer's inbox.
    pub writer: mpsc::Sender<Job>,
    /// Wakes the engine.
    pub wake: Arc<Notify>,
    /// Counts how fetches end.
    pub meter: Meter,
    /// The library user's handler.
    pub handler: Option<PageHandler>,
    /// Whether a sink or the handler reads the text of pages.
    pub reads_text: bool,
    /// Product token, for robots directives.
    pub agent: String,
    /// Whether nofollow is obeyed.
    pub obey: bool,
    /// The maxima.
    pub limits: Arc<Limits>,
    /// Time.
    pub clock: Clock,
}

/// What a host says at its door.
pub enum Entry {
    /// Come in.
    Open(Permit),
    /// First this step of the login.
    Login(Permit),
    /// The login has failed, because of this.
    Shut(Lease, String),
}

/// What reading an answer gave.
pub struct Read {
    /// What became of the URL.
    pub outcome: Outcome,
    /// The parsed body, where there is one to read.
    pub page: Option<Page>,
    /// What kept the body from being decoded whole.
    pub note: Option<&'static str>,
    /// Identity of the body.
    pub digest: Digested,
}

/// Identity of a body, and the page that had it first.
#[derive(Default)]
pub struct Digested {
    /// The digest, for bodies that count.
    pub body: Option<BodyDigest>,
    /// The body's SHA-1, as far as it was worked out.
    pub sha1: Option<Sha1Digest>,
    /// The first page with it.
    pub same_as: Option<SameAs>,
}

impl Line {
    /// Step 2 once more, right before the fetch: rules may have changed while the URL waited.
    pub fn judge_again(&self, lease: &Lease) -> Verdict {
        let item = lease.item();
        if let Errand::Robots { .. } = item.errand {
            return Verdict::Pass;
        }
        let parent = item.parent.as_deref().and_then(CrawlUrl::from_canonical);
        self.rules.read().judge(&Subject {
            url: lease.url(),
            depth: item.depth,
            via: item.via,
            from: parent.as_ref(),
            redirects: u32::from(item.redirects),
        })
    }

    /// Whether the address may be reached at all.
    pub fn guard(&self, lease: &Lease, address: IpAddr) -> Result<(), String> {
        if lease.url().is_file() {
            return Ok(());
        }
        self.guard.check(lease.url().host(), lease.url().port(), address)
    }

    /// Step 6.
    pub fn ask_robots(&self, lease: Lease, address: IpAddr) -> Result<Answer> {
        let stored = |origin: &str| self.frontier().robots(origin);
        self.robots.answer(lease, address, self.clock.now(), stored)
    }

    /// Whether the host lets us in, or wants a login first.
    pub fn knock(&self, permit: Permit) -> Entry {
        match self.logins.door(permit.url()) {
            Door::Open => Entry::Open(permit),
            Door::Shut(why) => Entry::Shut(permit.into_lease(), why),
            Door::First(url, form) => {
                match self.guard.check(url.host(), url.port(), permit.address()) {
                    Ok(()) => Entry::Login(permit.for_login(url, form)),
                    Err(why) => Entry::Shut(permit.into_lease(), why),
                }
            }
        }
    }

    /// Step 7.
    pub async fn fetch(&self, permit: &Permit) -> Result<Fetched, Failure> {
        let host = permit.lease().host();
        let sent = move |at: Millis| {
            // The engine must hear of it if others have a time to wait for from here on.
            if self.frontier().sent(host, at) {
                self.wake.notify_one();
            }
        };
        let answer = self.fetcher.fetch(permit, &sent).await;
        self.meter.count(&answer);
        answer
    }

    /// Whether the server asked who we are, and the next request will say so.
    pub fn answers_challenge(&self, lease: &Lease, fetched: &Fetched) -> bool {
        fetched.ask_again && self.may_try_again(lease)
    }

    /// Whether the host no longer knows us, though we had logged in.
    pub fn has_lost_session(&self, lease: &Lease, fetched: &Fetched) -> bool {
        let lost = || self.logins.lost(lease.url(), &outcome_of(lease.url(), fetched));
        !self.logins.is_empty() && lost() && self.may_try_again(lease)
    }

    /// Whether an answer is one to wait and ask again for, and why.
    pub fn worth_another_try(&self, lease: &Lease, fetched: &Fetched) -> Option<Failure> {
        let class = refusal(fetched.status)?;
        self.may_try_again(lease)
            .then(|| Failure::new(class, format!("the server answered {}", fetched.status)))
    }

    /// Steps 8 and 9: digest and parse.
    pub fn read(&self, lease: &Lease, fetched: &Fetched) -> Result<Read> {
        let outcome = outcome_of(lease.url(), fetched);
        let digest = self.digest(&outcome, fetched)?;
        let readable = matches!(outcome, Outcome::Fetched { .. });
        let (page, note) = readable.then(|| self.parse(lease, fetched)).unzip();
        Ok(Read { outcome, page, note: note.flatten(), digest })
    }

    fn digest(&self, outcome: &Outcome, fetched: &Fetched) -> Result<Digested> {
        let counts = matches!(outcome, Outcome::Fetched { status: 200 })
            && fetched.truncated.is_none()
            && !fetched.payload.is_empty();
        if !counts {
            return Ok(Digested::default());
        }
        let sha1 = Sha1Digest::of(&fetched.payload);
        let body = BodyDigest::with_sha1(&sha1, &fetched.payload);
        let same_as = self.frontier().original(&body)?;
        Ok(Digested { body: Some(body), sha1: Some(sha1), same_as })
    }

    fn parse(&self, lease: &Lease, fetched: &Fetched) -> (Page, Option<&'static str>) {
        let decoded = fetched.decoded(&self.limits);
        let is_sitemap = matches!(lease.errand(), Errand::Sitemap);
        let unpacked = is_sitemap.then(|| unpack_sitemap(&decoded.bytes, &self.limits)).flatten();
        let input = Input {
            url: &lease.url().to_url(),
            content_type: fetched.content_type(),
            body: unpacked.as_deref().unwrap_or(&decoded.bytes),
            text: self.reads_text,
        };
        let parse = if is_sitemap { parse_sitemap } else { parse };
        (parse(&input, &self.limits), decoded.note)
    }

    fn frontier(&self) -> std::sync::MutexGuard<'_, Box<dyn Frontier>> {
        self.frontier.look()
    }
}

/// What a server means that answers with an error of its own.
fn refusal(status: u16) -> Option<FailureClass> {
    match status {
        429 => Some(FailureClass::TooManyRequests),
        503 => Some(FailureClass::Unavailable),
        500..=599 => Some(FailureClass::ServerError),
        _ => None,
    }
}

fn outcome_of(url: &CrawlUrl, fetched: &Fetched) -> Outcome {
    let status = fetched.status;
    if let Some(location) = redirect_of(fetched) {
        let to = url::resolve(location, Some(&url.to_url()), None);
        let to = to.map_or_else(|_| location.to_owned(), String::from);
        return Outcome::Redirected { status, to };
    }
    if status == 429 {
        let detail = "the server answered 429 to every try".to_owned();
        return Outcome::Failed { class: FailureClass::TooManyRequests, detail };
    }
    if fetched.truncated == Some(Truncated::Unwanted) {
        let kind = fetched.content_type().unwrap_or("no type");
        let detail = format!("{kind} is not a type that was asked for");
        return Outcome::Rejected { filter: "types".to_owned(), detail };
    }
    Outcome::Fetched { status }
}

fn redirect_of(fetched: &Fetched) -> Option<&str> {
    let redirects = matches!(fetched.status, 301 | 302 | 303 | 307 | 308);
    fetched.header("location").filter(|_| redirects)
}

/// Sitemaps are often kept as gzip files, which is not an encoding of the transfer.
fn unpack_sitemap(bytes: &[u8], limits: &Limits) -> Option<Vec<u8>> {
    bytes.starts_with(&[0x1f, 0x8b]).then(|| gunzip(bytes, limits.sitemap_bytes_max))
}
