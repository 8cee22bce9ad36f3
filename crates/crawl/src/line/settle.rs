//! The end of a lease (steps 11 and 12): whatever happened goes to the writer, which writes it and then
//! settles the lease.

use larm_core::url::CrawlUrl;
use larm_core::via::Via;
use larm_core::workbench::End;
use larm_core::{Blame, Failure, FailureClass, Outcome, Protocol};

use super::visit::row_of;
use super::{JudgedLinks, Line, Read, refusal};
use crate::error::{Error, Result};
use crate::fetch::{Fetched, Reservation, retry_after_ms};
use crate::frontier::{Candidate, Errand, Fate, Learnt, Lease, PageRow, Settlement};
use crate::robots::{Permit, Reading};
use crate::store::Visit;
use crate::writer::{Job, Work};

impl Line {
    /// An answer was read and its links judged: keep it.
    pub async fn keep(
        &self,
        lease: Lease,
        fetched: Fetched,
        read: Read,
        links: JudgedLinks,
    ) -> Result<()> {
        let (at, end) = (fetched.ended, end_of(&fetched));
        let (digest, likeness) = (read.digest.body, read.likeness.clone());
        let (harvest, is_spam) = (read.harvest.clone(), read.is_spam);
        let sightings = read.sightings.clone();
        let offers = links.candidates.into_iter().chain(read.asks.iter().cloned()).collect();
        let link_count = u32::try_from(links.facts.len()).unwrap_or(u32::MAX);
        let (fetched, place) = fetched.split_reservation();
        let told = self.tell(&lease, &read, &links.facts);
        let visit = self.visit(&lease, fetched, read, links.facts);
        if let Some(handler) = &self.handler {
            handler(&visit).await;
        }
        let settlement = Settlement {
            at,
            end,
            fate: Fate::Done(Box::new(PageRow { likeness, ..row_of(&lease, &visit, digest) })),
            offers,
            sightings,
            robots: None,
            links: link_count,
            rejected: links
                .rejected
                .into_iter()
                .map(|(filter, n)| (filter.into_owned(), n))
                .collect(),
            moved: None,
            harvest,
            is_spam,
        };
        let kept = Some((self.encoders.encode_all(&visit), visit));
        let unread = self.unread.mark();
        self.send(Work::settle(Job { lease, settlement, kept, place, told, unread })).await
    }

    /// Settles a URL for which nothing was sent.
    pub async fn settle_unasked(&self, lease: Lease, outcome: Outcome) -> Result<()> {
        if lease.errand().is_own() {
            // No page of anybody's. The frontier takes the news to whom it was for (FRONT-4).
            let unused = Settlement::unused(self.clock.now(), Fate::Errand);
            return self.settle(lease, unused, None).await;
        }
        let given_up = matches!(outcome, Outcome::HostUnreachable { .. });
        let trouble = given_up.then(|| self.troubles.of(lease.url().origin())).flatten();
        let notes = trouble.into_iter().collect();
        let visit = Visit { notes, ..self.unasked_visit(&lease, outcome) };
        let fate = Fate::Done(Box::new(row_of(&lease, &visit, None)));
        let offers = self.other_names(&lease);
        let settlement = Settlement { offers, ..Settlement::unused(visit.at, fate) };
        self.settle(lease, settlement, Some(visit)).await
    }

    /// Settles a URL whose origin was given up.
    pub async fn give_up(&self, lease: Lease, class: FailureClass) -> Result<()> {
        self.settle_unasked(lease, Outcome::HostUnreachable { class }).await
    }

    /// Our own machine could not carry the lease out, or the host is to be asked at another of its
    /// addresses: as if it had never been given.
    pub async fn give_back(&self, lease: Lease, failure: &Failure) -> Result<()> {
        let end = match failure.class {
            FailureClass::Offline => End::Spared,
            _ => End::Unused,
        };
        let unused = Settlement::unused(self.clock.now(), Fate::Back);
        let back = Settlement { end, moved: failure.elsewhere, ..unused };
        self.settle(lease, back, None).await
    }

    /// A fetch failed: try again later, or settle it as failed.
    ///
    /// A failure to connect is the origin's: the URL takes its place again, and waits for the origin's
    /// next chance or its end.
    pub async fn fail(&self, lease: Lease, failure: Failure) -> Result<()> {
        if failure.class.retry().blame == Blame::UrlForGood {
            let Failure { class, detail, .. } = failure;
            return self.settle_unasked(lease, Outcome::Failed { class, detail }).await;
        }
        self.fail_asking(lease, failure, None).await
    }

    /// A wall stands before the page: nothing of it is kept, and its host is left alone for a while.
    pub async fn turn_back(&self, lease: Lease, fetched: &Fetched, failure: Failure) -> Result<()> {
        self.fail_asking(lease, failure, asked_wait_ms(fetched)).await
    }

    async fn fail_asking(
        &self,
        lease: Lease,
        failure: Failure,
        asked_ms: Option<u64>,
    ) -> Result<()> {
        let at = self.clock.end();
        let end = End::Failed { class: failure.class, retry_after_ms: asked_ms };
        self.troubles.note(lease.url().origin(), &failure.detail);
        if failure.class.is_connection_level() {
            let back = Settlement { end, ..Settlement::unused(at, Fate::Back) };
            return self.settle(lease, back, None).await;
        }
        if self.may_try_again(&lease) {
            let asked_ms = asked_ms.map(|ms| ms.min(self.limits.retry_after_ms_max));
            let wait_ms = asked_ms.unwrap_or_else(|| self.retry_delay_ms(&lease, failure.class));
            let again = Fate::Again(at.after(wait_ms));
            let settlement = Settlement { end, ..Settlement::unused(at, again) };
            return self.settle(lease, settlement, None).await;
        }
        if lease.errand().is_own() {
            let gone = Settlement { end, ..Settlement::unused(at, Fate::Errand) };
            return self.settle(lease, gone, None).await;
        }
        let Failure { class, detail, .. } = failure;
        let visit = self.unasked_visit(&lease, Outcome::Failed { class, detail });
        let visit = Visit { tries: u32::from(lease.item().tries) + 1, ..visit };
        let fate = Fate::Done(Box::new(row_of(&lease, &visit, None)));
        self.settle(lease, Settlement { end, ..Settlement::unused(at, fate) }, Some(visit)).await
    }

    /// The server answered that it cannot now: wait as it asks, or as the table says.
    pub async fn try_again(&self, lease: Lease, fetched: &Fetched, failure: Failure) -> Result<()> {
        self.troubles.note(lease.url().origin(), &failure.detail);
        let asked = asked_wait_ms(fetched).map(|ms| ms.min(self.limits.retry_after_ms_max));
        let wait = asked.unwrap_or_else(|| self.retry_delay_ms(&lease, failure.class));
        let settlement = Settlement {
            end: end_of(fetched),
            ..Settlement::unused(fetched.ended, Fate::Again(fetched.ended.after(wait)))
        };
        self.settle(lease, settlement, None).await
    }

    /// The answer was about us, not about the URL: ask once more, now that we know better.
    pub async fn ask_again(&self, lease: Lease, fetched: &Fetched) -> Result<()> {
        let settlement = Settlement {
            end: end_of(fetched),
            ..Settlement::unused(fetched.ended, Fate::Again(fetched.ended))
        };
        self.settle(lease, settlement, None).await
    }

    /// The end of one step of a login. The URL that waits for it goes back to its place.
    pub async fn settle_login(
        &self,
        permit: Permit,
        answer: Result<Fetched, Failure>,
    ) -> Result<()> {
        let settlement = match &answer {
            Ok(fetched) => {
                self.logins.hear(permit.url(), fetched);
                Settlement { end: end_of(fetched), ..Settlement::unused(fetched.ended, Fate::Back) }
            }
            Err(failure) => Settlement {
                end: End::Failed { class: failure.class, retry_after_ms: None },
                ..Settlement::unused(self.clock.end(), Fate::Back)
            },
        };
        self.settle(permit.into_lease(), settlement, None).await
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
        let reading = match self.wall_before(&answer) {
            Some((failure, asked_ms)) => Reading::Unreachable(failure, asked_ms),
            None => self.robots.read(permit.url(), hops, &answer, now),
        };
        let mut settlement = match &answer {
            Ok(fetched) => Settlement {
                end: End::Answered { response_ms: fetched.ended.since(fetched.started) },
                ..Settlement::unused(fetched.ended, fate)
            },
            Err(_) => Settlement::unused(self.clock.end(), fate),
        };
        let has_news = !matches!(reading, Reading::Unreachable(..));
        let fetched = answer.ok().filter(|_| has_news).map(Fetched::split_reservation);
        let (visit, place) =
            fetched.map(|(fetched, place)| (self.errand_visit(&permit, fetched), place)).unzip();
        let lease = permit.into_lease();
        match reading {
            Reading::Rules(rules) => {
                let (learnt, sitemaps) = self.robots.learn(&origin, rules, now);
                settlement.robots = Some(learnt);
                settlement.offers = match sitemaps.as_slice() {
                    [] => self.usual_sitemap(&origin).into_iter().collect(),
                    named => self.judge_sitemaps(&origin, named),
                };
                let reservations = self.robots.reservations_of(&origin);
                settlement.offers.extend(reservations.map(reservations_errand));
            }
            Reading::Elsewhere(target) => {
                settlement.robots = Some(Learnt::Elsewhere { origin: origin.clone() });
                let errand = Errand::Robots { origin, hops: hops + 1 };
                settlement.offers = vec![robots_errand(target, errand)];
            }
            Reading::Unreachable(failure, retry_after_ms) => {
                self.troubles.note(&origin, &failure.detail);
                settlement.end = End::Failed { class: failure.class, retry_after_ms };
                if is_errand {
                    settlement.robots = Some(Learnt::Unreachable { origin, retry_after_ms });
                }
            }
        }
        let kept = visit.map(|visit| (self.encoders.encode_all(&visit), visit));
        let place = place.unwrap_or_default();
        let (told, unread) = (None, self.unread.mark());
        self.send(Work::settle(Job { lease, settlement, kept, place, told, unread })).await
    }

    /// A wall before a robots.txt: what it says is not known, whatever the status.
    fn wall_before(&self, answer: &Result<Fetched, Failure>) -> Option<(Failure, Option<u64>)> {
        let fetched = answer.as_ref().ok()?;
        let failure = self.wall(fetched, &self.decode(fetched))?;
        let detail = format!("robots.txt: {}", failure.detail);
        Some((Failure { detail, ..failure }, asked_wait_ms(fetched)))
    }

    async fn settle(
        &self,
        lease: Lease,
        settlement: Settlement,
        visit: Option<Visit>,
    ) -> Result<()> {
        let kept = visit.map(|visit| (self.encoders.encode_all(&visit), visit));
        let place = Reservation::default();
        let (told, unread) = (None, self.unread.mark());
        self.send(Work::settle(Job { lease, settlement, kept, place, told, unread })).await
    }

    pub(super) async fn send(&self, work: Work) -> Result<()> {
        let closed = |_| Error::Stopped("the writer has stopped".to_owned());
        self.writer.send(work).await.map_err(closed)
    }

    pub(super) fn may_try_again(&self, lease: &Lease) -> bool {
        u64::from(lease.item().tries) + 1 < self.limits.url_tries_max
    }

    fn retry_delay_ms(&self, lease: &Lease, class: FailureClass) -> u64 {
        class.delay_ms(u32::from(lease.item().tries) + 1, self.limits.host_back_off_ms_max)
    }
}

/// An answer of 5xx is an answer, but not one of a healthy host. To read a file, nobody was asked.
pub(super) fn end_of(fetched: &Fetched) -> End {
    if fetched.protocol == Protocol::File {
        return End::Unused;
    }
    match refusal(fetched.status) {
        Some(class) => End::Failed { class, retry_after_ms: asked_wait_ms(fetched) },
        None => End::Answered { response_ms: fetched.ended.since(fetched.started) },
    }
}

/// The wait that the server asks for.
fn asked_wait_ms(fetched: &Fetched) -> Option<u64> {
    fetched.header("retry-after").and_then(|text| retry_after_ms(text, fetched.ended))
}

fn reservations_errand(url: CrawlUrl) -> Candidate {
    robots_errand(url, Errand::Reservations)
}

fn robots_errand(url: CrawlUrl, errand: Errand) -> Candidate {
    Candidate { url, depth: 0, via: Via::Robots, parent: None, redirects: 0, errand }
}
