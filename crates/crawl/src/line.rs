//! The steps of the line: what [`pipeline`](crate::pipeline) calls, one function per step.

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use larm_core::digest::BodyDigest;
use larm_core::parse::{Input, Kind, Mime, Page, parse, parse_sitemap};
use larm_core::robots::Directives;
use larm_core::scope::{Reason, Subject, Verdict};
use larm_core::url::{self, CrawlUrl};
use larm_core::via::Via;
use larm_core::workbench::End;
use larm_core::{Failure, FailureClass, Limits, Millis, Outcome};
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::fetch::{BoxFuture, Fetch, Fetched, Guard, gunzip, retry_after_ms};
use crate::frontier::{
    Candidate, Errand, Fate, Frontier, Item, Learnt, Lease, PageRow, Settlement,
};
use crate::robots::{Answer, Permit, Reading, RobotsCache};
use crate::rules::SharedRules;
use crate::store::{
    Encoders, Exchange, LinkFact, PageFacts, SameAs, Timings, Truncated, Visit, Wire,
};
use crate::writer::Job;

/// The frontier, shared by the engine, the line and the writer. Held for short calls only.
pub type SharedFrontier = Arc<Mutex<Box<dyn Frontier>>>;

/// Called for each page that was fetched, and awaited.
pub type PageHandler = Arc<dyn for<'a> Fn(&'a Visit) -> BoxFuture<'a, ()> + Send + Sync>;

/// Everything that a step may use.
pub struct Line {
    /// All that waits.
    pub frontier: SharedFrontier,
    /// The filters in force.
    pub rules: SharedRules,
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
    /// The library user's handler.
    pub handler: Option<PageHandler>,
    /// Product token, for robots directives.
    pub agent: String,
    /// Whether nofollow is obeyed.
    pub obey: bool,
    /// The maxima.
    pub limits: Arc<Limits>,
    /// Time.
    pub clock: Clock,
}

/// What reading an answer gave.
pub struct Read {
    /// What became of the URL.
    pub outcome: Outcome,
    /// The parsed body.
    pub page: Option<Page>,
    /// Identity of the body.
    pub digest: Digested,
}

/// Identity of a body, and the page that had it first.
#[derive(Default)]
pub struct Digested {
    /// The digest, for bodies that count.
    pub body: Option<BodyDigest>,
    /// The first page with it.
    pub same_as: Option<SameAs>,
}

/// The links of a page, judged.
#[derive(Default)]
pub struct JudgedLinks {
    /// In scope, each once.
    pub candidates: Vec<Candidate>,
    /// All of them, for the link log.
    pub facts: Vec<LinkFact>,
    /// How many each filter rejected.
    pub rejected: BTreeMap<String, u32>,
}

impl Line {
    /// Step 2 once more, right before the fetch: rules may have changed while the URL waited.
    pub fn judge_again(&self, lease: &Lease) -> Verdict {
        match lease.errand() {
            Errand::Robots { .. } => Verdict::Pass,
            _ => self.rules.read().judge(&lease.subject()),
        }
    }

    /// Whether the address may be reached at all.
    pub fn guard(&self, lease: &Lease, address: IpAddr) -> Result<(), String> {
        self.guard.check(lease.url().host(), lease.url().port(), address)
    }

    /// Step 6.
    pub fn ask_robots(&self, lease: Lease, address: IpAddr) -> Result<Answer> {
        let stored = |origin: &str| self.frontier().robots(origin);
        self.robots.answer(lease, address, self.clock.now(), stored)
    }

    /// Step 7.
    pub async fn fetch(&self, permit: &Permit) -> Result<Fetched, Failure> {
        let host = permit.lease().host();
        let sent = move |at: Millis| self.frontier().sent(host, at);
        self.fetcher.fetch(permit, &sent).await
    }

    /// Whether an answer is one to wait and ask again for, and why.
    pub fn worth_another_try(&self, lease: &Lease, fetched: &Fetched) -> Option<Failure> {
        let class = match fetched.status {
            429 => FailureClass::TooManyRequests,
            503 => FailureClass::Unavailable,
            500..=599 => FailureClass::ServerError,
            _ => return None,
        };
        self.may_try_again(lease)
            .then(|| Failure::new(class, format!("the server answered {}", fetched.status)))
    }

    /// Steps 8 and 9: digest and parse.
    pub fn read(&self, lease: &Lease, fetched: &Fetched) -> Result<Read> {
        let outcome = outcome_of(lease, fetched);
        let digest = self.digest(&outcome, fetched)?;
        let readable = matches!(outcome, Outcome::Fetched { .. });
        let page = readable.then(|| self.parse(lease, fetched));
        Ok(Read { outcome, page, digest })
    }

    fn digest(&self, outcome: &Outcome, fetched: &Fetched) -> Result<Digested> {
        let counts = matches!(outcome, Outcome::Fetched { status: 200 })
            && fetched.truncated.is_none()
            && !fetched.payload.is_empty();
        if !counts {
            return Ok(Digested::default());
        }
        let body = BodyDigest::of(&fetched.payload);
        let same_as = self.frontier().original(&body)?;
        Ok(Digested { body: Some(body), same_as })
    }

    fn parse(&self, lease: &Lease, fetched: &Fetched) -> Page {
        let decoded = fetched.decoded(&self.limits);
        let is_sitemap = matches!(lease.errand(), Errand::Sitemap);
        let unpacked = is_sitemap.then(|| unpack_sitemap(&decoded.bytes, &self.limits)).flatten();
        let input = Input {
            url: lease.url().as_url(),
            content_type: fetched.content_type(),
            body: unpacked.as_deref().unwrap_or(&decoded.bytes),
        };
        if is_sitemap { parse_sitemap(&input, &self.limits) } else { parse(&input, &self.limits) }
    }

    /// Steps 1 and 2 for everything that the answer leads to.
    pub fn judge_links(
        &self,
        lease: &Lease,
        fetched: &Fetched,
        page: &Option<Page>,
    ) -> JudgedLinks {
        let mut judged = JudgedLinks::default();
        if let Some(location) = redirect_of(fetched) {
            self.judge_redirect(lease, location, &mut judged);
        }
        let Some(page) = page else { return judged };
        let nofollow = self.nofollow(fetched, page);
        let base = page.base.as_ref().unwrap_or(lease.url().as_url());
        let parent: Arc<str> = lease.url().as_str().into();
        let rules = self.rules.read();
        let mut offered = HashSet::new();
        for link in page.links() {
            let mut fact = LinkFact {
                to: link.target.to_owned(),
                via: link.via,
                text: link.text.to_owned(),
                rel: link.rel.to_owned(),
                verdict: String::from("ok"),
            };
            let resolved = url::resolve(link.target, Some(base), Some(page.encoding()))
                .and_then(|url| url::canonicalise(url, rules.url_rules()));
            let verdict = match resolved {
                Err(error) => Err(Reason::new(error.word(), error.to_string())),
                Ok(url) => {
                    fact.to = url.to_string();
                    self.judge_link(&rules, lease, url, link.via, link.nofollow, nofollow)
                }
            };
            match verdict {
                Err(reason) => judged.reject(&reason, &mut fact),
                Ok(url) if offered.insert(url.fingerprint()) => {
                    let parent = Some(parent.clone());
                    judged.candidates.push(candidate(lease, url, link.via, parent));
                }
                Ok(_) => {}
            }
            judged.facts.push(fact);
        }
        judged
    }

    fn judge_link(
        &self,
        rules: &crate::rules::Rules,
        lease: &Lease,
        url: CrawlUrl,
        via: Via,
        link_nofollow: bool,
        page_nofollow: Option<&'static str>,
    ) -> Result<CrawlUrl, Reason> {
        if let Some(by) = page_nofollow.filter(|_| !via.is_embed()) {
            return Err(Reason::new("nofollow", format!("the page says so ({by})")));
        }
        if link_nofollow && self.obey {
            return Err(Reason::new("nofollow", "the link says so (rel)".to_owned()));
        }
        let subject = Subject {
            url: &url,
            depth: depth_of(lease.item(), via),
            via,
            from: Some(lease.url()),
            redirects: 0,
        };
        match rules.judge(&subject) {
            Verdict::Pass => Ok(url),
            Verdict::Reject(reason) => Err(reason),
        }
    }

    /// A redirect is a link. One that leads a seed to another name of its own site takes the scope
    /// along: whoever asks for example.com wants what www.example.com has.
    fn judge_redirect(&self, lease: &Lease, location: &str, judged: &mut JudgedLinks) {
        let mut fact = LinkFact {
            to: location.to_owned(),
            via: Via::Redirect,
            text: String::new(),
            rel: String::new(),
            verdict: String::from("ok"),
        };
        let url_rules = self.rules.read();
        let target = url::resolve(location, Some(lease.url().as_url()), None)
            .and_then(|url| url::canonicalise(url, url_rules.url_rules()));
        let target = match target {
            Ok(target) => target,
            Err(error) => {
                judged.reject(&Reason::new(error.word(), error.to_string()), &mut fact);
                judged.facts.push(fact);
                return;
            }
        };
        fact.to = target.to_string();
        if is_seed_chain(lease.item()) && target.site() == lease.url().site() {
            self.rules.adopt_seed(&target);
        }
        let redirects = u32::from(lease.item().redirects) + 1;
        let subject = Subject {
            url: &target,
            depth: lease.item().depth,
            via: Via::Redirect,
            from: Some(lease.url()),
            redirects,
        };
        match self.rules.read().judge(&subject) {
            Verdict::Reject(reason) => judged.reject(&reason, &mut fact),
            Verdict::Pass => judged.candidates.push(Candidate {
                redirects: u8::try_from(redirects).unwrap_or(u8::MAX),
                errand: lease.errand().clone(),
                ..candidate(lease, target, Via::Redirect, Some(lease.url().as_str().into()))
            }),
        }
        judged.facts.push(fact);
    }

    /// Which directive of the page forbids following its links.
    fn nofollow(&self, fetched: &Fetched, page: &Page) -> Option<&'static str> {
        if !self.obey {
            return None;
        }
        let header = fetched.headers.get_all("x-robots-tag").iter();
        let header = header.filter_map(|value| value.to_str().ok());
        if header.map(|value| Directives::from_header(value, &self.agent)).any(|said| said.nofollow)
        {
            return Some("X-Robots-Tag");
        }
        let metas = page.robots_meta.iter();
        let mut metas =
            metas.filter_map(|(name, text)| Directives::from_meta(name, text, &self.agent));
        metas.any(|said| said.nofollow).then_some("meta robots")
    }

    /// Puts together what the sinks will see.
    pub fn visit(
        &self,
        lease: &Lease,
        fetched: Fetched,
        outcome: Outcome,
        page: Option<Page>,
        links: &JudgedLinks,
        same_as: Option<SameAs>,
    ) -> Visit {
        let page_notes = page.iter().flat_map(|page| page.notes.iter()).map(ToString::to_string);
        let notes = fetched.notes.iter().map(|&note| note.to_owned()).chain(page_notes).collect();
        let item = lease.item();
        Visit {
            url: lease.url().clone(),
            depth: item.depth,
            via: item.via,
            parent: item.parent.as_deref().map(str::to_owned),
            outcome,
            tries: u32::from(item.tries) + 1,
            at: fetched.started,
            timings: Timings {
                wait_ms: None,
                connect_ms: None,
                first_byte_ms: Some(fetched.first_byte.since(fetched.started)),
                total_ms: fetched.ended.since(fetched.started),
            },
            page: page.map(|page| page_facts(&fetched, page)),
            exchange: Some(exchange(fetched)),
            links: links.facts.clone(),
            same_as,
            notes,
        }
    }

    /// The library user's own step.
    pub async fn call_handler(&self, visit: &Visit) {
        if let Some(handler) = &self.handler {
            handler(visit).await;
        }
    }

    /// Steps 11 and 12: what was fetched goes to the writer, which writes it and settles the lease.
    pub async fn submit(
        &self,
        lease: Lease,
        visit: Visit,
        links: JudgedLinks,
        digest: Option<BodyDigest>,
    ) -> Result<()> {
        let at = visit.at.after(visit.timings.total_ms);
        let settlement = Settlement {
            at,
            end: end_of(&visit),
            fate: Fate::Done(Box::new(row_of(&lease, &visit, digest))),
            offers: links.candidates,
            robots: None,
            links: u32::try_from(links.facts.len()).unwrap_or(u32::MAX),
            rejected: links.rejected.into_iter().collect(),
        };
        self.settle(lease, settlement, Some(visit)).await
    }

    /// Settles a URL for which nothing was sent.
    pub async fn settle_unasked(&self, lease: Lease, outcome: Outcome) -> Result<()> {
        if let Errand::Robots { .. } = lease.errand() {
            // No page of anybody's. The frontier takes the news to whom it was for (FRONT-4).
            let unused = Settlement::unused(self.clock.now(), Fate::Errand);
            return self.settle(lease, unused, None).await;
        }
        let visit = self.unasked_visit(&lease, outcome);
        let fate = Fate::Done(Box::new(row_of(&lease, &visit, None)));
        let settlement = Settlement::unused(visit.at, fate);
        self.settle(lease, settlement, Some(visit)).await
    }

    /// Settles a URL whose origin was given up.
    pub async fn give_up(&self, lease: Lease, class: FailureClass) -> Result<()> {
        self.settle_unasked(lease, Outcome::HostUnreachable { class }).await
    }

    /// A fetch failed: try again later, or settle it as failed.
    pub async fn fail(&self, lease: Lease, failure: Failure) -> Result<()> {
        let at = self.clock.now();
        let end = End::Failed { class: failure.class, retry_after_ms: None };
        if failure.class.is_connection_level() {
            let back = Settlement { end, ..Settlement::unused(at, Fate::Back) };
            return self.settle(lease, back, None).await;
        }
        if self.may_try_again(&lease) {
            let again = Fate::Again(at.after(self.retry_delay_ms(&lease, failure.class)));
            let settlement = Settlement { end, ..Settlement::unused(at, again) };
            return self.settle(lease, settlement, None).await;
        }
        let Failure { class, detail } = failure;
        let visit = self.unasked_visit(&lease, Outcome::Failed { class, detail });
        let visit = Visit { tries: u32::from(lease.item().tries) + 1, ..visit };
        let fate = Fate::Done(Box::new(row_of(&lease, &visit, None)));
        self.settle(lease, Settlement { end, ..Settlement::unused(at, fate) }, Some(visit)).await
    }

    /// The server answered that it cannot now: wait as it asks, or as the table says.
    pub async fn try_again(&self, lease: Lease, fetched: &Fetched, failure: Failure) -> Result<()> {
        let asked =
            fetched.header("retry-after").and_then(|text| retry_after_ms(text, fetched.ended));
        let retry_after_ms = asked.map(|ms| ms.min(self.limits.retry_after_ms_max));
        let wait = retry_after_ms.unwrap_or_else(|| self.retry_delay_ms(&lease, failure.class));
        let settlement = Settlement {
            end: End::Failed { class: failure.class, retry_after_ms },
            ..Settlement::unused(fetched.ended, Fate::Again(fetched.ended.after(wait)))
        };
        self.settle(lease, settlement, None).await
    }

    /// The end of a request for a robots.txt.
    pub async fn settle_robots(
        &self,
        permit: Permit,
        answer: Result<Fetched, Failure>,
    ) -> Result<()> {
        let now = self.clock.now();
        let (origin, hops, fate) = match permit.lease().errand() {
            Errand::Robots { origin, hops } => (origin.clone(), *hops, Fate::Errand),
            _ => (permit.lease().url().origin().into(), 0, Fate::Back),
        };
        let is_errand = matches!(fate, Fate::Errand);
        let reading = self.robots.read(permit.url(), hops, &answer, now);
        let at = answer.as_ref().map_or(now, |fetched| fetched.ended);
        let response_ms = answer.as_ref().map_or(0, |fetched| fetched.ended.since(fetched.started));
        let mut settlement = Settlement::unused(at, fate);
        settlement.end = End::Answered { response_ms };
        let lease = permit.into_lease();
        match reading {
            Reading::Rules(rules) => {
                let (learnt, sitemaps) = self.robots.learn(&origin, rules, now);
                settlement.robots = Some(learnt);
                settlement.offers = self.judge_sitemaps(&origin, &sitemaps);
            }
            Reading::Elsewhere(target) => {
                settlement.robots = Some(Learnt::Elsewhere { origin: origin.clone() });
                settlement.offers = vec![robots_errand(&lease, target, origin, hops + 1)];
            }
            Reading::Unreachable(failure, retry_after_ms) => {
                settlement.end = End::Failed { class: failure.class, retry_after_ms };
                if is_errand {
                    settlement.robots = Some(Learnt::Unreachable { origin, retry_after_ms });
                }
            }
        }
        self.settle(lease, settlement, None).await
    }

    /// The sitemaps that a robots.txt names, those in scope.
    fn judge_sitemaps(&self, origin: &str, sitemaps: &[String]) -> Vec<Candidate> {
        let rules = self.rules.read();
        let Some(base) = CrawlUrl::from_canonical(&format!("{origin}/robots.txt")) else {
            return Vec::new();
        };
        let urls = sitemaps.iter().filter_map(|text| {
            let url = url::resolve(text, Some(base.as_url()), None).ok()?;
            url::canonicalise(url, rules.url_rules()).ok()
        });
        let candidates = urls.map(|url| Candidate {
            url,
            depth: 0,
            via: Via::Robots,
            parent: Some(base.as_str().into()),
            redirects: 0,
            errand: Errand::Sitemap,
        });
        let in_scope = |candidate: &Candidate| {
            let subject = Subject {
                url: &candidate.url,
                depth: 0,
                via: Via::Robots,
                from: Some(&base),
                redirects: 0,
            };
            matches!(rules.judge(&subject), Verdict::Pass)
        };
        candidates.filter(in_scope).collect()
    }

    async fn settle(
        &self,
        lease: Lease,
        settlement: Settlement,
        visit: Option<Visit>,
    ) -> Result<()> {
        let kept = visit.map(|visit| (self.encoders.encode_all(&visit), visit));
        let job = Job { lease, settlement, kept };
        let closed = |_| Error::Stopped("the writer has stopped".to_owned());
        self.writer.send(job).await.map_err(closed)
    }

    fn unasked_visit(&self, lease: &Lease, outcome: Outcome) -> Visit {
        let item = lease.item();
        Visit {
            url: lease.url().clone(),
            depth: item.depth,
            via: item.via,
            parent: item.parent.as_deref().map(str::to_owned),
            outcome,
            tries: u32::from(item.tries),
            at: self.clock.now(),
            timings: Timings::default(),
            exchange: None,
            page: None,
            links: Vec::new(),
            same_as: None,
            notes: Vec::new(),
        }
    }

    fn may_try_again(&self, lease: &Lease) -> bool {
        u64::from(lease.item().tries) + 1 < self.limits.url_tries_max
    }

    fn retry_delay_ms(&self, lease: &Lease, class: FailureClass) -> u64 {
        class.delay_ms(u32::from(lease.item().tries) + 1, self.limits.host_chances_ms_max)
    }

    fn frontier(&self) -> std::sync::MutexGuard<'_, Box<dyn Frontier>> {
        self.frontier.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JudgedLinks {
    fn reject(&mut self, reason: &Reason, fact: &mut LinkFact) {
        *self.rejected.entry(reason.filter.to_string()).or_default() += 1;
        fact.verdict = reason.to_string();
    }
}

fn outcome_of(lease: &Lease, fetched: &Fetched) -> Outcome {
    let status = fetched.status;
    if let Some(location) = redirect_of(fetched) {
        let to = url::resolve(location, Some(lease.url().as_url()), None);
        let to = to.map_or_else(|_| location.to_owned(), String::from);
        return Outcome::Redirected { status, to };
    }
    if status == 429 {
        let detail = "the server answered 429 to every try".to_owned();
        return Outcome::Failed { class: FailureClass::TooManyRequests, detail };
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

/// Whether the item is a seed, or where seeds were redirected to.
fn is_seed_chain(item: &Item) -> bool {
    item.depth == 0 && matches!(item.via, Via::Seed | Via::Redirect)
}

/// Redirects, embeds and lists of pages are no hops.
fn depth_of(item: &Item, via: Via) -> u32 {
    let hop = !matches!(via, Via::Redirect | Via::Embed | Via::Sitemap | Via::SitemapIndex);
    item.depth + u32::from(hop)
}

fn candidate(lease: &Lease, url: CrawlUrl, via: Via, parent: Option<Arc<str>>) -> Candidate {
    let errand = if via == Via::SitemapIndex { Errand::Sitemap } else { Errand::Page };
    Candidate { url, depth: depth_of(lease.item(), via), via, parent, redirects: 0, errand }
}

fn robots_errand(lease: &Lease, url: CrawlUrl, origin: Box<str>, hops: u8) -> Candidate {
    Candidate {
        url,
        depth: lease.item().depth,
        via: Via::Robots,
        parent: None,
        redirects: 0,
        errand: Errand::Robots { origin, hops },
    }
}

/// An answer of 5xx is an answer, but not one of a healthy host.
fn end_of(visit: &Visit) -> End {
    let response_ms = visit.timings.total_ms;
    let status = visit.exchange.as_ref().map(|exchange| exchange.wire().status);
    let class = match status {
        Some(429) => FailureClass::TooManyRequests,
        Some(503) => FailureClass::Unavailable,
        Some(500..=599) => FailureClass::ServerError,
        _ => return End::Answered { response_ms },
    };
    End::Failed { class, retry_after_ms: None }
}

fn row_of(lease: &Lease, visit: &Visit, digest: Option<BodyDigest>) -> PageRow {
    let exchange = visit.exchange.as_ref();
    PageRow {
        url: visit.url.as_str().into(),
        outcome: visit.outcome.clone(),
        at: visit.at,
        depth: visit.depth,
        via: visit.via,
        parent: lease.item().parent.clone(),
        tries: lease.item().tries,
        bytes: exchange.map_or(0, |exchange| exchange.payload().len() as u64),
        content_type: exchange.and_then(|x| x.wire().content_type.as_deref()).map(Into::into),
        digest,
        payload_digest: exchange.map(|exchange| exchange.payload_digest()),
        same_as: visit.same_as.clone(),
        warc: None,
        notes: visit.notes.clone(),
    }
}

fn page_facts(fetched: &Fetched, page: Page) -> PageFacts {
    let header = fetched.header("x-robots-tag").map(str::to_owned);
    let metas = page.robots_meta.iter().map(|(name, text)| format!("{name}: {text}"));
    PageFacts {
        robots: header.into_iter().chain(metas).collect::<Vec<_>>().join("; "),
        content_type: essence_of(fetched, &page),
        charset: page.encoding().name().to_owned(),
        title: page.title.unwrap_or_default(),
        lang: page.lang.unwrap_or_default(),
        text: page.text,
        canonical: page.canonical,
    }
}

/// The type that the server named, or the one that the bytes show.
fn essence_of(fetched: &Fetched, page: &Page) -> String {
    let named = fetched.content_type().and_then(Mime::parse).map(|mime| mime.essence().to_owned());
    let shown = match page.kind {
        Kind::Html => "text/html",
        Kind::Xhtml => "application/xhtml+xml",
        Kind::Css => "text/css",
        Kind::Text => "text/plain",
        Kind::Xml | Kind::Sitemap | Kind::SitemapIndex | Kind::Feed => "application/xml",
        Kind::Other => "application/octet-stream",
    };
    named.unwrap_or_else(|| shown.to_owned())
}

fn exchange(fetched: Fetched) -> Exchange {
    use crate::fetch::Truncated as Cut;
    let content_type = fetched.content_type().map(str::to_owned);
    Exchange::new(Wire {
        request: redacted(&fetched.request).into(),
        response: fetched.raw,
        head_bytes: fetched.head_bytes,
        status: fetched.status,
        content_type,
        peer: fetched.peer,
        truncated: fetched.truncated.map(|cut| match cut {
            Cut::Length => Truncated::Length,
            Cut::Time => Truncated::Time,
            Cut::Disconnect => Truncated::Disconnect,
            Cut::Unwanted => Truncated::Unspecified,
        }),
    })
}

/// Credentials never reach the archive: their values are replaced, the fields stay.
fn redacted(request: &[u8]) -> Vec<u8> {
    const SECRET: [&[u8]; 3] = [b"authorization:", b"cookie:", b"proxy-authorization:"];
    let mut out = Vec::with_capacity(request.len());
    for line in request.split_inclusive(|byte| *byte == b'\n') {
        let lower = line.to_ascii_lowercase();
        match SECRET.iter().find(|name| lower.starts_with(name)) {
            Some(name) => {
                out.extend_from_slice(&line[..name.len()]);
                out.extend_from_slice(b" redacted\r\n");
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}
