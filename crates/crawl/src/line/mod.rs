//! The steps of the line: what [`pipeline`](crate::pipeline) calls, one function per step.
//!
//! Here are the steps up to the parsed page, which give a `read`; `names` finds a host's addresses, `links`
//! judges where a page leads, `weigh` says what it brings, `near` and `twins` compare a page with others,
//! `visit` puts together what the sinks see, `settle` ends the lease, `errands` asks what the crawl itself
//! wants to know.

mod ascend;
mod directives;
mod errands;
mod links;
mod names;
mod near;
mod read;
mod settle;
mod tell;
mod trouble;
mod twins;
mod visit;
mod weigh;

use std::net::IpAddr;
use std::sync::Arc;

use larm_core::digest::{BodyDigest, Sha1Digest};
use larm_core::parse::{Input, Kind, Page, parse, parse_sitemap};
use larm_core::scope::{Subject, Verdict, type_wanted};
use larm_core::signals::{Reader, Signals, UseSet};
use larm_core::url::{self, CrawlUrl};
use larm_core::wall::{self, Sight};
use larm_core::{Fact, Failure, FailureClass, Limits, Millis, Outcome, Protocol, Truncated};
use tokio::sync::{Notify, mpsc};

use crate::clock::Clock;
use crate::error::Result;
use crate::fetch::{BoxFuture, Decoded, Fetch, Fetched, Guard, Resolve, gunzip};
use crate::frontier::near::Index;
use crate::frontier::sieve::Recent;
use crate::frontier::{
    Errand, Frontier, Lease, NO_SITEMAP, Originals, SOFT_404, SharedAliases, SharedFrontier,
};
use crate::login::{Door, Logins};
use crate::network::Network;
use crate::order::unread::Unread;
use crate::pdf::PdfReaders;
use crate::places::Meter;
use crate::plan::Duplicates;
use crate::robots::{Answer, Permit, RobotsCache};
use crate::rules::SharedRules;
use crate::soft::SoftHosts;
use crate::store::{Encoders, Visit};
use crate::writer::Work;

pub use directives::NOINDEX;
pub use links::JudgedLinks;
pub use names::Named;
pub use read::{Archived, Digested, Read};
pub use trouble::Troubles;

/// The filter that is named where a type was not asked for: the same as for URLs.
const TYPES: &str = "types";

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
    /// Which pages have nearly the same words.
    pub near: Arc<Index>,
    /// Which bodies are known.
    pub originals: Arc<Originals>,
    /// Names that were found to be aliases.
    pub aliases: SharedAliases,
    /// What is done about pages that are there already.
    pub duplicates: Duplicates,
    /// Hosts that want to know who asks.
    pub logins: Logins,
    /// The only maker of permits.
    pub robots: RobotsCache,
    /// Which addresses may be reached.
    pub guard: Guard,
    /// What went wrong last, in words.
    pub troubles: Arc<Troubles>,
    /// The way to names.
    pub resolver: Arc<dyn Resolve>,
    /// The way to servers.
    pub fetcher: Arc<dyn Fetch>,
    /// Whether there is a way at all.
    pub network: Arc<Network>,
    /// The workers' half of the sinks.
    pub encoders: Encoders,
    /// The writer's inbox.
    pub writer: mpsc::Sender<Work>,
    /// Whether the order of pages depends on where they lead.
    pub tells_links: bool,
    /// Whether it depends on what sitemaps and feeds say of pages.
    pub tells_hints: bool,
    /// Whether it depends on what pages say, too.
    pub tells_text: bool,
    /// Pages that were not read yet, where the order waits for that.
    pub unread: Unread,
    /// Wakes the engine.
    pub wake: Arc<Notify>,
    /// Counts how fetches end.
    pub meter: Meter,
    /// The library user's handler.
    pub handler: Option<PageHandler>,
    /// Whether a sink or the handler reads the text of pages.
    pub reads_text: bool,
    /// Whether it matters what pages are worth.
    pub learns: bool,
    /// Product token, for robots directives.
    pub agent: String,
    /// Whether nofollow is obeyed.
    pub obey: bool,
    /// Uses that are not made of a page whose owner reserves them.
    pub respect: UseSet,
    /// Hosts that may answer every path alike.
    pub soft: SoftHosts,
    /// Whether they are asked for a path that cannot be there.
    pub probe: bool,
    /// Whether a sitemap is looked for where sitemaps usually are.
    pub usual_sitemap: bool,
    /// Whether the folders of what is found are asked for besides.
    pub path_ascending: bool,
    /// What PDFs are read by.
    pub pdf: PdfReaders,
    /// Content types that are kept; empty for all.
    pub accept: Vec<String>,
    /// Whether what pages embed is kept besides, whatever its type.
    pub assets: bool,
    /// The maxima.
    pub limits: Arc<Limits>,
    /// Time.
    pub clock: Clock,
}

/// What the guard says to a lease.
pub enum Guarded {
    /// Its address may be reached; of its others those are left that may be, too.
    Yes(Lease),
    /// It may not, but this other address of the host may.
    Elsewhere(Lease, IpAddr),
    /// No address of the host may be reached, and why not that of the lease.
    No(Lease, String),
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

impl Line {
    /// Step 2 once more, right before the fetch: rules may have changed while the URL waited.
    pub fn judge_again(&self, lease: &Lease) -> Verdict {
        let item = lease.item();
        let parent = item.parent.as_deref().and_then(CrawlUrl::from_canonical);
        let subject = Subject {
            url: lease.url(),
            depth: item.depth,
            via: item.via,
            from: parent.as_ref(),
            redirects: u32::from(item.redirects),
        };
        let rules = self.rules.read();
        match item.errand {
            // Where robots.txt files lie is for their owners to say; what is never asked, for us.
            Errand::Robots { .. } | Errand::Reservations => rules.judge_safety(&subject),
            _ => rules.judge(&subject),
        }
    }

    /// Which addresses of the host may be reached.
    pub fn guard(&self, mut lease: Lease, address: IpAddr) -> Guarded {
        if lease.url().is_file() {
            return Guarded::Yes(lease);
        }
        let (host, port) = (lease.url().host().to_owned(), lease.url().port());
        let check = |address| self.guard.check(&host, port, address);
        lease.keep_others(|address| check(address).is_ok());
        match (check(address), lease.others().first().copied()) {
            (Ok(()), _) => Guarded::Yes(lease),
            (Err(_), Some(other)) => Guarded::Elsewhere(lease, other),
            (Err(why), None) => Guarded::No(lease, why),
        }
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
            if self.frontier.sent(host, at) {
                self.wake.notify_one();
            }
        };
        let answer = self.fetcher.fetch(permit, &sent).await;
        self.meter.count(&answer);
        match answer {
            Ok(fetched) => {
                self.network.heard_of(host);
                Ok(fetched)
            }
            Err(failure) => Err(self.network.judge(host, failure).await),
        }
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
        let refused = refusal(fetched.status);
        let broke =
            (fetched.truncated == Some(Truncated::Disconnect)).then_some(FailureClass::BodyBroken);
        let class = refused.or(broke)?;
        let detail = || match refused {
            Some(_) => format!("the server answered {}", fetched.status),
            None => Truncated::Disconnect.note().to_owned(),
        };
        self.may_try_again(lease).then(|| Failure::new(class, detail()))
    }

    /// Whether an answer to a step of a login asks to come again later. A server's own errors are for the
    /// login to judge: it begins anew, with a fresh form.
    pub fn asks_for_patience(&self, lease: &Lease, fetched: &Fetched) -> Option<Failure> {
        use FailureClass::{TooManyRequests, Unavailable};
        let failure = self.worth_another_try(lease, fetched)?;
        matches!(failure.class, TooManyRequests | Unavailable).then_some(failure)
    }

    /// The body without its content encodings.
    pub fn decode<'a>(&self, fetched: &'a Fetched) -> Decoded<'a> {
        fetched.decoded(&self.limits)
    }

    /// Whether a wall stands before what was asked for, and whose.
    pub fn wall(&self, fetched: &Fetched, body: &Decoded<'_>) -> Option<Failure> {
        // One that somebody saved as a file keeps nobody out.
        if fetched.protocol == Protocol::File {
            return None;
        }
        let header = |name: &str| fetched.header(name);
        let sight = Sight { status: fetched.status, header: &header, body: &body.bytes };
        let wall = wall::recognise(&sight, &self.limits)?;
        let detail = format!("{} asks for a browser ({})", wall.vendor, wall.evidence);
        Some(Failure::new(FailureClass::BotWall, detail))
    }

    /// Steps 8 and 9: digest and parse; what the owner says of its use, beforehand and here; whether it is
    /// a page at all, whether it was asked for, and what it brings.
    pub async fn read(
        &self,
        lease: &Lease,
        fetched: &Fetched,
        body: &Decoded<'_>,
        said: Signals,
    ) -> Result<Read> {
        let mut read = Read::unread(outcome_of(lease.url(), fetched));
        if let Outcome::Fetched { .. } = read.outcome {
            read.digest = self.digest(&read.outcome, fetched)?;
            let (page, note) = self.parse(lease, fetched, body);
            let page = match page.kind {
                Kind::Pdf => self.pdf.read(page, &body.bytes).await,
                _ => page,
            };
            (read.page, read.note) = (Some(page), note);
        }
        self.heed(lease, fetched, said, &mut read);
        self.mark_unindexed(fetched, &mut read);
        self.doubt(lease, fetched, body, &mut read)?;
        self.sort_out(lease, fetched, body, &mut read);
        dismiss_guess(lease, &mut read);
        self.weigh(lease, &mut read);
        Ok(read)
    }

    /// The same for an answer from an archive. What was found out about it then counts; and a page is no
    /// copy of itself.
    pub async fn read_archived(
        &self,
        lease: &Lease,
        archived: &Archived,
        body: &Decoded<'_>,
    ) -> Result<Read> {
        let mut read = self.read(lease, &archived.fetched, body, Signals::default()).await?;
        let known = &archived.fetched.facts;
        read.facts.retain(|fact| !known.iter().any(|one| one.name == fact.name));
        if known.iter().any(|fact| &*fact.name == SOFT_404) {
            read.page = None;
        }
        read.digest.same_as.take_if(|original| original.url == lease.url().as_str());
        read.asks.clear();
        read.archived = Some(archived.place.clone());
        Ok(read)
    }

    /// Takes note of what the owner says of the use of an answer, and keeps to it where that was asked.
    fn heed(&self, lease: &Lease, fetched: &Fetched, mut said: Signals, read: &mut Read) {
        let content_type = fetched.content_type().unwrap_or_default();
        let reader = Reader { agent: &self.agent, content_type, limits: &self.limits };
        for (name, value) in &fetched.headers {
            said.read_field(name.as_str(), value.as_bytes(), &reader);
        }
        for (name, content) in read.page.iter().flat_map(|page| &page.robots_meta) {
            said.read_meta(name, content, &reader);
        }
        if said.is_empty() {
            return;
        }
        let is_content = lease.errand().counts() && read.outcome.answered();
        if let Some((of, words)) = said.reserved(self.respect).filter(|_| is_content) {
            read.reject_reserved(format!("{of} is reserved by {words}"));
        }
        read.facts.extend(said.into_facts());
    }

    /// Lets go of what was only read to find what the crawl is for.
    fn sort_out(&self, lease: &Lease, fetched: &Fetched, body: &Decoded<'_>, read: &mut Read) {
        let is_embed = self.assets && lease.item().via.is_embed();
        let (Outcome::Fetched { status: 200..=299 }, Some(page)) = (&read.outcome, &read.page)
        else {
            return;
        };
        if self.accept.is_empty() || is_embed || !lease.errand().counts() {
            return;
        }
        let kind = visit::essence_of(lease.url(), fetched, &body.bytes, page);
        if !type_wanted(&self.accept, &kind) {
            read.pass_through(&kind);
        }
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
        let is_known = self.originals.knows(&body)?;
        let same_as = if is_known { self.frontier().original(&body)? } else { None };
        Ok(Digested { body: Some(body), sha1: Some(sha1), same_as })
    }

    fn parse(
        &self,
        lease: &Lease,
        fetched: &Fetched,
        body: &Decoded<'_>,
    ) -> (Page, Option<&'static str>) {
        let is_sitemap = matches!(lease.errand(), Errand::Sitemap);
        let unpacked = is_sitemap.then(|| unpack_sitemap(&body.bytes, &self.limits)).flatten();
        let input = Input {
            url: &lease.url().to_url(),
            content_type: fetched.content_type(),
            body: unpacked.as_deref().unwrap_or(&body.bytes),
            text: self.reads_text,
        };
        let parse = if is_sitemap { parse_sitemap } else { parse };
        (parse(&input, &self.limits), body.note)
    }

    fn frontier(&self) -> std::sync::MutexGuard<'_, Box<dyn Frontier>> {
        self.frontier.look()
    }
}

/// What stands where a sitemap was looked for counts only if it is one: many sites have a page for every
/// path.
fn dismiss_guess(lease: &Lease, read: &mut Read) {
    let is_list =
        |page: &Page| matches!(page.kind, Kind::Sitemap | Kind::SitemapIndex | Kind::Feed);
    let is_there = read.outcome == Outcome::Fetched { status: 200 };
    let leads_on = is_there && read.page.as_ref().is_some_and(is_list)
        || matches!(read.outcome, Outcome::Redirected { .. });
    if lease.item().is_guess() && !leads_on {
        read.page = None;
        read.digest = Digested::default();
        read.facts.push(no_sitemap());
    }
}

fn no_sitemap() -> Fact {
    Fact::new(NO_SITEMAP, "looked for where sitemaps usually are: robots.txt names none")
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
        return Outcome::Rejected { filter: TYPES.to_owned(), detail };
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
