//! Questions of the crawl's own to a host, robots.txt aside: its tdmrep.json, and a path that cannot be
//! there. They are paced and checked like any request, and archived; what they bring is no page.

use larm_core::parse::{Input, Kind, Page, parse};
use larm_core::soft::{Face, Finding, Glance};
use larm_core::url::CrawlUrl;
use larm_core::via::Via;
use larm_core::{Failure, Outcome};
use uuid::Uuid;

use super::settle::end_of;
use super::{Line, Read};
use crate::error::Result;
use crate::fetch::{Decoded, Fetched};
use crate::frontier::{Candidate, Errand, Fate, Learnt, Lease, RobotsRow, RobotsRules, Settlement};
use crate::robots::Permit;
use crate::writer::{Job, Work};

impl Line {
    /// The end of a request that the crawl made for itself, whichever that was.
    pub async fn settle_errand(
        &self,
        permit: Permit,
        answer: Result<Fetched, Failure>,
    ) -> Result<()> {
        let asked_itself = permit.url() == permit.lease().url();
        match permit.lease().errand() {
            Errand::Reservations | Errand::Probe if asked_itself => {
                self.settle_question(permit, answer).await
            }
            // Its own, or that of the origin in whose name something else was to be asked.
            _ => self.settle_robots(permit, answer).await,
        }
    }

    async fn settle_question(
        &self,
        permit: Permit,
        answer: Result<Fetched, Failure>,
    ) -> Result<()> {
        let fetched = match answer {
            Ok(fetched) => fetched,
            Err(failure) => return self.fail(permit.into_lease(), failure).await,
        };
        let robots = self.learn(permit.lease(), &fetched);
        let unused = Settlement::unused(fetched.ended, Fate::Errand);
        let settlement = Settlement { end: end_of(&fetched), robots, ..unused };
        let (fetched, place) = fetched.split_reservation();
        let visit = self.errand_visit(&permit, fetched);
        let kept = Some((self.encoders.encode_all(&visit), visit));
        self.send(Work::settle(Job {
            lease: permit.into_lease(),
            settlement,
            kept,
            place,
            told: None,
            unread: self.unread.mark(),
        }))
        .await
    }

    /// What the answer teaches. A wall teaches nothing.
    fn learn(&self, lease: &Lease, fetched: &Fetched) -> Option<Learnt> {
        let body = self.decode(fetched);
        if self.wall(fetched, &body).is_some() {
            return None;
        }
        Some(match lease.errand() {
            Errand::Probe => self.learn_from_probe(lease, fetched, &body),
            _ => self.robots.learn_reservations(lease.url(), fetched, fetched.ended),
        })
    }

    fn learn_from_probe(&self, lease: &Lease, fetched: &Fetched, body: &Decoded<'_>) -> Learnt {
        let (page, _) = self.parse(lease, fetched, body);
        let is_page = fetched.status == 200 && is_html(&page);
        let face = is_page.then(|| self.face(lease.url(), fetched, body, &page));
        self.soft.found(lease.host(), face);
        let why = || format!("answered {}", fetched.status).into();
        let rules = match face {
            Some(face) => RobotsRules::Text(face.to_bytes().into()),
            None => RobotsRules::Absent { why: why() },
        };
        let origin = probe_key(lease.url().host());
        Learnt::Probed(RobotsRow { origin, at: fetched.ended, rules })
    }

    /// Whether a page is what its host answers to any path. It may be that this has to be found out.
    pub(super) fn doubt(
        &self,
        lease: &Lease,
        fetched: &Fetched,
        body: &Decoded<'_>,
        read: &mut Read,
    ) -> Result<()> {
        let is_page = read.outcome == Outcome::Fetched { status: 200 } && lease.errand().counts();
        let Some(page) = read.page.as_ref().filter(|page| is_page && is_html(page)) else {
            return Ok(());
        };
        if !self.probe || lease.url().is_file() {
            return Ok(());
        }
        let look = || {
            let face = || self.face(lease.url(), fetched, body, page);
            self.soft.look(lease.host(), glance(lease.url(), body, page), face)
        };
        let mut finding = look();
        if finding == Finding::Suspicion && self.recall_probe(lease)? {
            finding = look();
        }
        match finding {
            Finding::Page => {}
            Finding::Suspicion => read.asks.push(probe_beside(lease)),
            Finding::Soft => read.mark_soft(),
        }
        Ok(())
    }

    /// Whether the host was asked before, in an earlier run or long ago; it is then known again.
    fn recall_probe(&self, lease: &Lease) -> Result<bool> {
        let row = self.frontier().robots(&probe_key(lease.url().host()))?;
        let Some(row) = row else { return Ok(false) };
        let face = match &row.rules {
            RobotsRules::Text(bytes) => Face::from_bytes(bytes),
            RobotsRules::Absent { .. } => None,
        };
        self.soft.found(lease.host(), face);
        Ok(true)
    }

    /// Reads a page for its words, once more where its text was not asked for.
    fn face(&self, url: &CrawlUrl, fetched: &Fetched, body: &Decoded<'_>, page: &Page) -> Face {
        let glance = glance(url, body, page);
        if self.reads_text {
            return Face::new(glance, &page.text, url.path_and_query());
        }
        let content_type = fetched.content_type();
        let input = Input { url: &url.to_url(), content_type, body: &body.bytes, text: true };
        Face::new(glance, &parse(&input, &self.limits).text, url.path_and_query())
    }
}

fn is_html(page: &Page) -> bool {
    matches!(page.kind, Kind::Html | Kind::Xhtml)
}

fn glance(url: &CrawlUrl, body: &Decoded<'_>, page: &Page) -> Glance {
    let title = page.title.as_deref().unwrap_or_default();
    Glance::new(title, page.link_count(), body.bytes.len(), url.path_and_query())
}

/// A path that cannot be there, in the same directory as the page that raised the doubt.
fn probe_beside(lease: &Lease) -> Candidate {
    let url = lease.url();
    let directory = url.path().rsplit_once('/').map_or("", |(directory, _)| directory);
    let text = format!("{}{directory}/larm-probe-{}", url.origin(), Uuid::new_v4().simple());
    let probe = CrawlUrl::from_canonical(&text).expect("PROBE: a directory with a name is a URL");
    Candidate {
        url: probe,
        depth: lease.item().depth,
        via: Via::Probe,
        parent: Some(url.as_str().into()),
        redirects: 0,
        errand: Errand::Probe,
    }
}

/// Where the frontier keeps what a probe found.
fn probe_key(host: &str) -> Box<str> {
    format!("probe {host}").into()
}
