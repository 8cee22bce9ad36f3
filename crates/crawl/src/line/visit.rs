//! What the sinks will see of a URL, and what the page table keeps of it.

use std::sync::Arc;

use larm_core::digest::{BodyDigest, Sha1Digest};
use larm_core::parse::{Kind, Mime, Page};
use larm_core::url::CrawlUrl;
use larm_core::via::Via;
use larm_core::{Outcome, Truncated, media};

use super::{Line, Read, outcome_of};
use crate::fetch::Fetched;
use crate::frontier::{Errand, Lease, PageRow};
use crate::robots::Permit;
use crate::store::{Exchange, LinkFacts, PageFacts, Timings, Visit, Wire};

impl Line {
    /// Puts together what the sinks will see.
    pub fn visit(&self, lease: &Lease, fetched: Fetched, read: Read, links: LinkFacts) -> Visit {
        let Read { outcome, page, note, digest, facts, archived, .. } = read;
        let page_notes = page.iter().flat_map(|page| page.notes.iter()).map(ToString::to_string);
        let cut = fetched.truncated.map(Truncated::note);
        let notes = fetched.notes.iter().copied().chain(cut).chain(note).map(str::to_owned);
        let notes = notes.chain(page_notes).collect();
        Visit {
            tries: u32::from(lease.item().tries) + 1,
            at: fetched.started,
            timings: Timings {
                connect_ms: fetched.connect_ms,
                first_byte_ms: Some(fetched.first_byte.since(fetched.started)),
                total_ms: fetched.ended.since(fetched.started),
            },
            facts: fetched.facts.iter().cloned().chain(facts).collect(),
            page: page.map(|page| Arc::new(page_facts(lease.url(), &fetched, page))),
            exchange: outcome.answered().then(|| exchange(fetched, digest.sha1)),
            links,
            same_as: digest.same_as,
            archived,
            notes,
            ..self.unasked_visit(lease, outcome)
        }
    }

    /// What the sinks see of an answer to the crawl itself, such as a robots.txt: it is part of what was
    /// seen, and so of the archive.
    pub(super) fn errand_visit(&self, permit: &Permit, fetched: Fetched) -> Visit {
        let lease = permit.lease();
        let read = Read::unread(outcome_of(permit.url(), &fetched));
        let visit = self.visit(lease, fetched, read, LinkFacts::default());
        let (via, parent) = match lease.errand() {
            Errand::Probe if permit.url() == lease.url() => (visit.via, visit.parent),
            _ => (Via::Robots, None),
        };
        Visit { url: permit.url().clone(), via, parent, ..visit }
    }

    /// What the sinks see of a URL for which nothing came back.
    pub(super) fn unasked_visit(&self, lease: &Lease, outcome: Outcome) -> Visit {
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
            links: LinkFacts::default(),
            same_as: None,
            archived: None,
            facts: item.is_guess().then(super::no_sitemap).into_iter().collect(),
            notes: Vec::new(),
        }
    }
}

/// What the page table keeps. Where it lies in the archive is added by the writer.
pub(super) fn row_of(lease: &Lease, visit: &Visit, digest: Option<BodyDigest>) -> PageRow {
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
        payload_digest: exchange.map(Exchange::payload_digest),
        same_as: visit.same_as.clone(),
        likeness: None,
        warc: None,
        facts: visit.facts.clone(),
        notes: visit.notes.clone(),
    }
}

fn page_facts(url: &CrawlUrl, fetched: &Fetched, page: Page) -> PageFacts {
    let header = fetched.header("x-robots-tag").map(str::to_owned);
    let metas = page.robots_meta.iter().map(|(name, text)| format!("{name}: {text}"));
    PageFacts {
        robots: header.into_iter().chain(metas).collect::<Vec<_>>().join("; "),
        content_type: essence_of(url, fetched, &fetched.payload, &page),
        charset: page.encoding().name().to_owned(),
        title: page.title.unwrap_or_default(),
        lang: page.lang.unwrap_or_default(),
        text: page.text,
        marks: page.marks,
        language: page.language.unwrap_or_default().to_owned(),
        description: page.description.unwrap_or_default(),
        published: page.published,
        modified: page.modified,
        alternates: page.alternates,
        canonical: page.canonical,
    }
}

/// The type that the server named; where that says nothing, what the name or the bytes show.
pub(super) fn essence_of(url: &CrawlUrl, fetched: &Fetched, body: &[u8], page: &Page) -> String {
    let named = fetched.content_type().and_then(Mime::parse).map(|mime| mime.essence().to_owned());
    if let Some(named) = named.as_ref().filter(|named| !media::says_nothing(named)) {
        return named.clone();
    }
    let shown = match page.kind {
        Kind::Html => "text/html",
        Kind::Xhtml => "application/xhtml+xml",
        Kind::Css => "text/css",
        Kind::Text => "text/plain",
        Kind::Pdf => "application/pdf",
        Kind::Xml | Kind::Sitemap | Kind::SitemapIndex | Kind::Feed => "application/xml",
        Kind::Other => media::of_file(url.path(), body),
    };
    shown.to_owned()
}

fn exchange(fetched: Fetched, body_sha1: Option<Sha1Digest>) -> Exchange {
    let content_type = fetched.content_type().map(str::to_owned);
    // What is archived is the body itself, unless it came in chunks.
    let is_body = fetched.raw.len() - fetched.head_bytes == fetched.payload.len();
    let wire = Wire {
        request: fetched.request.into(),
        response: fetched.raw,
        head_bytes: fetched.head_bytes,
        status: fetched.status,
        content_type,
        protocol: fetched.protocol,
        peer: fetched.peer,
        truncated: fetched.truncated,
    };
    match body_sha1.filter(|_| is_body) {
        Some(digest) => Exchange::with_digest(wire, digest),
        None => Exchange::new(wire),
    }
}
