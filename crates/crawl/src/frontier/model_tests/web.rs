//! A made-up web: what is offered, and how requests end.

use larm_core::digest::{BodyDigest, Sha1Digest};
use larm_core::worth::{Harvest, Print};

use super::*;
use crate::disk::faulty::Dice;
use crate::frontier::{RobotsRow, RobotsRules};
use crate::store::WarcRef;

const HOSTS: u64 = 9;
/// Hosts of one site are in one partition.
const SITES: u64 = 3;

/// Chance, with the habits of the web.
pub(super) struct Web {
    pub(super) dice: Dice,
}

impl Web {
    fn origin(&mut self) -> String {
        let host = self.dice.below(HOSTS);
        let host = format!("h{host}.s{}.test", host % SITES);
        match self.dice.below(6) {
            0 => format!("https://{host}"),
            1 => format!("http://{host}:8080"),
            _ => format!("http://{host}"),
        }
    }

    pub(super) fn candidate(&mut self) -> Candidate {
        let directory = if self.dice.below(4) > 0 { "/t" } else { "" };
        let url = format!("{}{directory}/{}", self.origin(), self.dice.below(40));
        let errand = if self.dice.below(12) == 0 { Errand::Sitemap } else { Errand::Page };
        let depth = self.dice.below(3) as u32;
        let elsewhere = (self.dice.below(3) == 0).then(|| format!("{}/", self.origin()).into());
        Candidate { depth, via: Via::Anchor, errand, parent: elsewhere, ..page(&url) }
    }

    pub(super) fn candidates(&mut self) -> Vec<Candidate> {
        (0..self.dice.below(7)).map(|_| self.candidate()).collect()
    }

    pub(super) fn name_failure(&mut self) -> Option<Failure> {
        match self.dice.below(12) {
            0 => Some(Failure::new(FailureClass::ForbiddenAddress, "")),
            1..4 => Some(Failure::new(FailureClass::Dns, "")),
            _ => None,
        }
    }

    /// How a lease ends, in all the ways in which the line ends them.
    pub(super) fn settlement(&mut self, lease: &Lease, at: Millis) -> Settlement {
        match (lease.turn(), lease.errand().clone()) {
            (Turn::GivenUp(_), Errand::Robots { .. }) => Settlement::unused(at, Fate::Errand),
            (Turn::GivenUp(class), _) => {
                let row = row(lease, Outcome::HostUnreachable { class }, at);
                Settlement::unused(at, Fate::Done(Box::new(row)))
            }
            (_, Errand::Robots { origin, hops }) => {
                self.errand_settlement(lease, &origin, hops, at)
            }
            _ => self.page_settlement(lease, at),
        }
    }

    fn answered(&mut self) -> End {
        End::Answered { response_ms: self.dice.below(300) }
    }

    fn failed(&mut self, classes: &[FailureClass]) -> End {
        let class = classes[self.dice.below(classes.len() as u64) as usize];
        let retry_after_ms = (self.dice.below(4) == 0).then(|| self.dice.below(20_000));
        End::Failed { class, retry_after_ms }
    }

    fn page_settlement(&mut self, lease: &Lease, at: Millis) -> Settlement {
        use FailureClass::*;
        let origin = lease.url().origin();
        let unused = |fate| Settlement::unused(at, fate);
        match self.dice.below(16) {
            0 => {
                let denied = row(lease, Outcome::Denied { rule: "no".into() }, at);
                unused(Fate::Done(Box::new(denied)))
            }
            1..3 => {
                let later = at.after(self.dice.below(30_000));
                let classes = [Reset, FirstByteTimeout, TooManyRequests, Unavailable, ServerError];
                Settlement { end: self.failed(&classes), ..unused(Fate::Again(later)) }
            }
            3..5 => {
                let classes = [Refused, Tls, ConnectTimeout, Unroutable, RobotsUnreachable];
                Settlement { end: self.failed(&classes), ..unused(Fate::Back) }
            }
            5 => Settlement {
                robots: Some(self.rules(origin, at)),
                end: self.answered(),
                offers: vec![Candidate { errand: Errand::Sitemap, ..self.candidate() }],
                ..unused(Fate::Back)
            },
            6 => self.redirected(origin, 1, unused(Fate::Back)),
            7 => unused(Fate::Back),
            _ => Settlement {
                end: self.answered(),
                offers: self.candidates(),
                links: self.dice.below(9) as u32,
                rejected: vec![("scope".to_owned(), self.dice.below(3) as u32)],
                harvest: self.harvest(lease),
                is_spam: self.dice.below(12) == 0,
                ..unused(Fate::Done(Box::new(self.fetched(lease, at))))
            },
        }
    }

    fn errand_settlement(
        &mut self,
        lease: &Lease,
        origin: &str,
        hops: u8,
        at: Millis,
    ) -> Settlement {
        let unused = Settlement::unused(at, Fate::Errand);
        match self.dice.below(6) {
            0 if hops < 4 => self.redirected(origin, hops + 1, unused),
            1 => Settlement {
                end: self.failed(&[FailureClass::RobotsUnreachable, FailureClass::Refused]),
                robots: Some(Learnt::Unreachable { origin: origin.into(), retry_after_ms: None }),
                ..unused
            },
            2 => {
                let class = FailureClass::ForbiddenAddress;
                let row = row(lease, Outcome::Failed { class, detail: String::new() }, at);
                Settlement::unused(at, Fate::Done(Box::new(row)))
            }
            3 => unused,
            _ => {
                Settlement { end: self.answered(), robots: Some(self.rules(origin, at)), ..unused }
            }
        }
    }

    fn redirected(&mut self, origin: &str, hops: u8, settlement: Settlement) -> Settlement {
        let errand = Errand::Robots { origin: origin.into(), hops };
        let target = page(&format!("{}/robots.txt", self.origin()));
        Settlement {
            end: self.answered(),
            robots: Some(Learnt::Elsewhere { origin: origin.into() }),
            offers: vec![Candidate { errand, ..target }],
            ..settlement
        }
    }

    fn rules(&mut self, origin: &str, at: Millis) -> Learnt {
        let crawl_delay_ms = match self.dice.below(20) {
            0 => Some(120_000),
            1..4 => Some(self.dice.below(5_000)),
            _ => None,
        };
        rules(origin, crawl_delay_ms, at)
    }

    /// What lies below `/t` has little to say.
    pub(super) fn harvest(&mut self, lease: &Lease) -> Option<Harvest> {
        let chance = if lease.url().path().starts_with("/t/") { 16 } else { 2 };
        let text = if self.dice.below(chance) == 0 { self.dice.below(1_000) } else { 0 };
        match self.dice.below(10) {
            0 => None,
            1 => Some(Harvest::Redirect),
            2 => Some(Harvest::Body).filter(|_| text > 0),
            3 => Some(Harvest::Nothing),
            _ => Some(Harvest::Prints(vec![Print { hash: text as u32, letters: 64 }])),
        }
    }

    fn fetched(&mut self, lease: &Lease, at: Millis) -> PageRow {
        let outcome = match self.dice.below(4) {
            0 => Outcome::Redirected { status: 301, to: "http://h1.test/".into() },
            _ => Outcome::Fetched { status: 200 },
        };
        let body = [self.dice.below(30) as u8];
        PageRow {
            bytes: self.dice.below(10_000),
            digest: Some(BodyDigest::of(&body)),
            payload_digest: Some(Sha1Digest::of(&body)),
            ..row(lease, outcome, at)
        }
    }
}

/// The rules of an origin.
pub(super) fn rules(origin: &str, crawl_delay_ms: Option<u64>, at: Millis) -> Learnt {
    let rules = RobotsRules::Text(b"User-agent: *".to_vec());
    Learnt::Rules { row: RobotsRow { origin: origin.into(), at, rules }, crawl_delay_ms }
}

/// The row of a settled URL.
pub(super) fn row(lease: &Lease, outcome: Outcome, at: Millis) -> PageRow {
    let item = lease.item();
    PageRow {
        url: item.url.clone(),
        outcome,
        at,
        depth: item.depth,
        via: item.via,
        parent: None,
        tries: item.tries,
        bytes: 0,
        content_type: None,
        digest: None,
        payload_digest: None,
        same_as: None,
        likeness: None,
        warc: Some(WarcRef { file: 0, name: "a.warc.gz".into(), offset: 0, bytes: 1 }),
        facts: Vec::new(),
        notes: Vec::new(),
    }
}

/// Each host has an address of its own.
pub(super) fn address(name: &str) -> IpAddr {
    let number = crate::frontier::host_key(name).0 as u32;
    IpAddr::V4(Ipv4Addr::from(number | 0x0a00_0000))
}
