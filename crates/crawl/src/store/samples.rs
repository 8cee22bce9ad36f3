//! Visits for the tests of the sinks: every shape of answer that an archive has to hold.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use larm_core::url::{CrawlUrl, UrlRules, seed};
use larm_core::via::Via;
use larm_core::{FailureClass, Limits, Millis, Outcome, Protocol, Truncated};

use super::*;
use crate::Result;

/// Everything that a crawl directory holds, in the order that lets the log tell where things are.
pub fn all_sinks(plan: &Arc<StorePlan>) -> Result<Vec<Box<dyn Sink>>> {
    Ok(vec![
        Box::new(WarcSink::new(plan.clone())?),
        Box::new(PagesSink::new(plan.clone(), true)),
        Box::new(LinksSink::new(plan.clone())?),
        Box::new(CrawlLogSink::new(plan.clone())),
    ])
}

pub const NOON: u64 = 1_794_772_801_042;

pub fn plan(dir: &Path, limits: Limits) -> Arc<StorePlan> {
    Arc::new(StorePlan {
        dir: dir.to_owned(),
        crawl_id: "test-1".into(),
        title: "A \"test\"".into(),
        user_agent: "larm/0 (+http://example.org/bot)".into(),
        robots: "obey".into(),
        operator: Some("The operator".into()),
        contact: Some("ops@example.org".into()),
        accept: Vec::new(),
        limits,
    })
}

/// A place for files that need not outlive the test; in memory where there is such a place.
pub fn temp_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub fn url(text: &str) -> CrawlUrl {
    seed(text, &UrlRules::default()).unwrap()
}

/// A visit that got an answer: status line, header lines and payload as given.
pub fn answered(text: &str, status: u16, headers: &[&str], payload: &[u8]) -> Visit {
    let url = url(text);
    let mut response = format!("HTTP/1.1 {status} Whatever\r\n");
    for header in headers {
        response.push_str(header);
        response.push_str("\r\n");
    }
    response.push_str("\r\n");
    let head_bytes = response.len();
    let mut response = response.into_bytes();
    response.extend_from_slice(payload);
    let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", url.path_and_query(), url.host());
    let content_type = headers.iter().find_map(|header| header.strip_prefix("Content-Type: "));
    let wire = Wire {
        request: Bytes::from(request),
        response: Bytes::from(response),
        head_bytes,
        status,
        content_type: content_type.map(str::to_owned),
        protocol: Protocol::Http1,
        peer: Some("192.0.2.7:80".parse().unwrap()),
        truncated: None,
    };
    visit(url, Outcome::Fetched { status }, Some(Exchange::new(wire)))
}

pub fn visit(url: CrawlUrl, outcome: Outcome, exchange: Option<Exchange>) -> Visit {
    Visit {
        at: Millis(NOON + url.fingerprint().0 % 100_000_000),
        url,
        depth: 2,
        via: Via::Anchor,
        parent: Some("http://example.org/".into()),
        outcome,
        tries: 1,
        timings: Timings { first_byte_ms: Some(4), total_ms: 9, ..Timings::default() },
        exchange,
        page: None,
        links: LinkFacts::default(),
        same_as: None,
        archived: None,
        facts: Vec::new(),
        notes: Vec::new(),
    }
}

/// An HTML page with a link.
pub fn page(text: &str, title: &str) -> Visit {
    let body = format!("<title>{title}</title><a href=/x>x</a>");
    let length = format!("Content-Length: {}", body.len());
    let mut visit = answered(text, 200, &["Content-Type: text/html", &length], body.as_bytes());
    visit.page = Some(Arc::new(PageFacts {
        title: title.into(),
        lang: "en".into(),
        content_type: "text/html".into(),
        text: "x".into(),
        ..PageFacts::default()
    }));
    let link = LinkFact::new("http://example.org/x", Via::Anchor);
    visit.links.push(LinkFact { text: "x", verdict: "new", ..link });
    visit
}

/// The same visit, broken off.
pub fn truncated(visit: Visit, payload_bytes: usize, why: Truncated) -> Visit {
    let wire = visit.exchange.as_ref().unwrap().wire().clone();
    let response = wire.response.slice(..wire.head_bytes + payload_bytes);
    let exchange = Exchange::new(Wire { response, truncated: Some(why), ..wire });
    Visit { exchange: Some(exchange), ..visit }
}

/// What the same bytes give under another URL.
pub fn copy_of(original: &Visit, text: &str) -> Visit {
    let url = url(text);
    let same_as = SameAs {
        url: original.url.as_str().to_owned(),
        at: original.at,
        payload_digest: original.exchange.as_ref().unwrap().payload_digest(),
    };
    let at = original.at.after(3_600_000);
    Visit {
        url,
        at,
        same_as: Some(same_as),
        page: None,
        links: LinkFacts::default(),
        ..original.clone()
    }
}

pub fn denied(text: &str) -> Visit {
    Visit { tries: 0, ..visit(url(text), Outcome::Denied { rule: "Disallow: /".into() }, None) }
}

pub fn failed(text: &str) -> Visit {
    let detail = "connection \"refused\"".into();
    visit(url(text), Outcome::Failed { class: FailureClass::Refused, detail }, None)
}

pub fn in_chunks(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in payload.chunks(100) {
        write!(out, "{:x}\r\n", chunk.len()).unwrap();
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

pub fn gzipped(payload: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(payload).unwrap();
    out.finish().unwrap()
}

/// Every shape of answer, by name of its path.
pub fn every_shape() -> Vec<Visit> {
    let text = "<p>All that is kept is kept as it came.</p>\n".repeat(20).into_bytes();
    let at = |path: &str| format!("http://example.org/{path}");
    let html = "Content-Type: text/html; charset=utf-8";
    let length = |body: &[u8]| format!("Content-Length: {}", body.len());
    let chunked = "Transfer-Encoding: chunked";
    let coded = "Content-Encoding: gzip";
    let packed = gzipped(&text);
    let plain = answered(&at("plain"), 200, &[html, &length(&text)], &text);
    let chunks = answered(&at("chunked"), 200, &[html, chunked], &in_chunks(&text));
    let mut redirect =
        answered(&at("redirect"), 301, &["Location: /plain", "Content-Length: 0"], b"");
    redirect.outcome = Outcome::Redirected { status: 301, to: at("plain") };
    let mut noted = answered(&at("noted?b=2&a=1"), 404, &[html, &length(&text)], &text);
    noted.notes = vec!["a note\r\nWARC-Type: forged".into()];
    let png = ["Content-Type: image/png", "Content-Length: 9"];
    vec![
        copy_of(&plain, &at("copy")),
        copy_of(&chunks, &at("copy-chunked")),
        answered(&at("gzip"), 200, &[html, coded, &length(&packed)], &packed),
        answered(&at("chunked-gzip"), 200, &[html, coded, chunked], &in_chunks(&packed)),
        answered(&at("empty"), 200, &[html, "Content-Length: 0"], b""),
        answered(&at("no-content"), 204, &[], b""),
        answered(&at("to-the-end"), 200, &["Content-Type: text/html", "Connection: close"], &text),
        truncated(
            answered(&at("cut"), 200, &[html, &length(&text)], &text),
            300,
            Truncated::Length,
        ),
        truncated(
            answered(&at("cut-chunked"), 200, &[html, chunked], &in_chunks(&text)),
            300,
            Truncated::Time,
        ),
        answered(&at("image.png"), 200, &png, b"\x89PNG\r\n\x1a\n\0"),
        redirect,
        noted,
        denied(&at("denied")),
        failed(&at("failed")),
        page(&at("page"), "A page"),
        plain,
        chunks,
    ]
}

/// Encodes and writes one visit.
pub fn keep(chain: &mut Chain, visit: &Visit) -> Kept {
    let encoded = chain.encoders().encode_all(visit);
    chain.write_all(visit, encoded).unwrap()
}

/// All files below a directory, by relative path.
pub fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}
