//! What became of one URL, as the sinks see it (step 11 of the line).
//!
//! A visit is complete when it gets here: fetched, digested, parsed, its links judged. Sinks read it
//! and change nothing. Whoever makes one has already decided that it is to be kept.
//!
//! The payload of an exchange is what follows the response's head, byte for byte as it was sent, with
//! its transfer and content encoding: see `docs/adr/0002-warc-bytes.md`.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use larm_core::digest::Sha1Digest;
use larm_core::parse::Marks;
use larm_core::url::CrawlUrl;
use larm_core::via::Via;
use larm_core::{Fact, Millis, Outcome, Protocol, Truncated};
use serde::{Deserialize, Serialize};

use super::link_facts::LinkFacts;
use super::sink::WarcRef;

/// Everything that became of one URL.
#[derive(Debug, Clone)]
pub struct Visit {
    /// What was asked for.
    pub url: CrawlUrl,
    /// Hops from a seed.
    pub depth: u32,
    /// How the URL was found.
    pub via: Via,
    /// The page it was found on; seeds have none.
    pub parent: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// Tries it took, this one included; 0 if the server was never asked.
    pub tries: u32,
    /// When the request was sent, or the URL settled without one.
    pub at: Millis,
    /// Where the time went.
    pub timings: Timings,
    /// What went over the wire, if anything came back.
    pub exchange: Option<Exchange>,
    /// What parsing made of the body, if it was parsed. Whoever works on it later keeps it so long.
    pub page: Option<Arc<PageFacts>>,
    /// The links found, each with what became of it.
    pub links: LinkFacts,
    /// An earlier visit that brought the same payload.
    pub same_as: Option<SameAs>,
    /// Where the archive holds the answer already, if it was read from there.
    pub archived: Option<WarcRef>,
    /// What else is known of the answer.
    pub facts: Vec<Fact>,
    /// Oddities worth a word in the log.
    pub notes: Vec<String>,
}

impl Visit {
    /// The original, where it can stand in for this payload byte for byte.
    ///
    /// A revisit record claims an identical payload digest, and replay puts the original's bytes behind
    /// this response's head. The same body in other chunks would come out garbled, so it is kept again.
    pub fn revisit_of(&self) -> Option<&SameAs> {
        let digest = self.exchange.as_ref()?.payload_digest();
        self.same_as.as_ref().filter(|original| original.payload_digest == digest)
    }
}

/// Where the time of one visit went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// To connect, TLS included; nothing on a connection that was already open.
    pub connect_ms: Option<u64>,
    /// From the request to the first byte of the answer.
    pub first_byte_ms: Option<u64>,
    /// From the request to the end of the answer.
    pub total_ms: u64,
}

/// What went over the wire, byte for byte.
#[derive(Debug, Clone)]
pub struct Wire {
    /// The request as sent.
    pub request: Bytes,
    /// The response as received: head and payload.
    pub response: Bytes,
    /// Length of the response's head, the empty line included.
    pub head_bytes: usize,
    /// Status of the response.
    pub status: u16,
    /// Its `Content-Type`, as sent.
    pub content_type: Option<String>,
    /// How it came.
    pub protocol: Protocol,
    /// The other end, if that was the server itself.
    pub peer: Option<SocketAddr>,
    /// Why the response is not complete, if it is not.
    pub truncated: Option<Truncated>,
}

/// A request and its answer, with the digest of the payload, which is worked out once.
#[derive(Debug, Clone)]
pub struct Exchange {
    wire: Wire,
    payload_digest: Sha1Digest,
}

impl Exchange {
    /// Takes the bytes and works out the digest.
    pub fn new(wire: Wire) -> Self {
        let head_bytes = wire.head_bytes.min(wire.response.len());
        let payload_digest = Sha1Digest::of(&wire.response[head_bytes..]);
        Self { wire: Wire { head_bytes, ..wire }, payload_digest }
    }

    /// Takes the bytes, and the digest that somebody has worked out already.
    pub fn with_digest(wire: Wire, payload_digest: Sha1Digest) -> Self {
        Self { wire, payload_digest }
    }

    /// The bytes and what is known about them.
    pub fn wire(&self) -> &Wire {
        &self.wire
    }

    /// Status line and header fields of the response, the empty line included.
    pub fn head(&self) -> &[u8] {
        &self.wire.response[..self.wire.head_bytes]
    }

    /// What follows the head, as sent.
    pub fn payload(&self) -> &[u8] {
        &self.wire.response[self.wire.head_bytes..]
    }

    /// Digest of [`Exchange::payload`], as archives label it.
    pub fn payload_digest(&self) -> Sha1Digest {
        self.payload_digest
    }

    /// Value of a header field of the response, the first of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(self.head(), name)
    }
}

/// Value of a field of a head, the first of that name.
pub fn header<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    let lines = head.split(|&byte| byte == b'\n').skip(1);
    let fields = lines.filter_map(|line| line.split_at_checked(memchr::memchr(b':', line)?));
    let is_it = |found: &[u8]| found.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
    let mut values = fields.filter(|(found, _)| is_it(found));
    values.find_map(|(_, value)| std::str::from_utf8(&value[1..]).ok().map(str::trim))
}

/// What parsing made of a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageFacts {
    /// Title, white space collapsed.
    pub title: String,
    /// Language as declared.
    pub lang: String,
    /// Charset the body was read in.
    pub charset: String,
    /// Media type without parameters, in lower case.
    pub content_type: String,
    /// The text.
    pub text: String,
    /// Which parts of it mean more than the rest.
    pub marks: Marks,
    /// The language that the text is written in (ISO 639-1); empty where it cannot be told.
    pub language: String,
    /// What the page says of itself.
    pub description: String,
    /// When it says that it was published, as it says so.
    pub published: Option<String>,
    /// When it says that it was last changed, as it says so.
    pub modified: Option<String>,
    /// The page in other languages: language and link, as the page has them.
    pub alternates: Vec<(String, String)>,
    /// What the page says to robots: meta and header, as written.
    pub robots: String,
    /// The canonical URL that the page names.
    pub canonical: Option<String>,
}

impl PageFacts {
    /// Whether this is a page that a person would look at.
    pub fn is_html(&self) -> bool {
        matches!(self.content_type.as_str(), "text/html" | "application/xhtml+xml")
    }

    /// Whether this is a document that a person would read.
    pub fn is_pdf(&self) -> bool {
        matches!(self.content_type.as_str(), "application/pdf" | "application/x-pdf")
    }
}

/// An earlier visit with the same payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SameAs {
    /// Its URL.
    pub url: String,
    /// When it was.
    pub at: Millis,
    /// Digest of its payload, as archived: [`Exchange::payload_digest`] of then.
    pub payload_digest: Sha1Digest,
}
