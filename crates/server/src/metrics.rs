//! `/metrics`: every crawl in numbers, in the text form of Prometheus.

use std::fmt::Write;

use axum::extract::State as Extract;
use axum::http::header;
use axum::response::IntoResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::crawl::{Crawl, State, look_at_all};

/// What is told of each crawl: name, kind, what it is, and its value, where there is one.
type Metric = (&'static str, &'static str, &'static str, fn(&Crawl) -> Option<f64>);

#[rustfmt::skip]
const METRICS: &[Metric] = &[
    ("larm_urls_total", "counter", "URLs settled", |c| Some(c.counts.urls as f64)),
    ("larm_pages_total", "counter", "Answers that are no redirects", |c| Some(c.counts.fetched as f64)),
    ("larm_redirects_total", "counter", "Redirects", |c| Some(c.counts.redirects as f64)),
    ("larm_denied_total", "counter", "URLs that robots.txt forbids", |c| Some(c.counts.denied as f64)),
    ("larm_failed_total", "counter", "URLs that failed for good", |c| Some(c.counts.failed as f64)),
    ("larm_duplicates_total", "counter", "Answers with a known body", |c| Some(c.counts.duplicates as f64)),
    ("larm_links_total", "counter", "Links found", |c| Some(c.counts.links as f64)),
    ("larm_bytes_total", "counter", "Bytes received", |c| Some(c.counts.bytes as f64)),
    ("larm_active_seconds_total", "counter", "Time spent crawling", |c| Some(c.active_ms as f64 / 1_000.0)),
    ("larm_archive_bytes", "gauge", "Bytes of the archive", |c| Some(c.counts.warc_bytes as f64)),
    ("larm_waiting", "gauge", "URLs that wait", |c| Some(c.counts.queued as f64)),
    ("larm_hosts", "gauge", "Hosts met", |c| Some(c.counts.hosts as f64)),
    ("larm_in_flight", "gauge", "Fetches under way", |c| c.rates.as_ref().map(|r| r.in_flight as f64)),
    ("larm_memory_bytes", "gauge", "Memory of its process", |c| c.rates.as_ref().and_then(|r| r.memory).map(|b| b as f64)),
    ("larm_places", "gauge", "Fetches that there may be", |c| c.rates.as_ref().map(|r| r.places as f64)),
    ("larm_pages_per_second", "gauge", "Pages per second", |c| c.rates.as_ref().map(|r| r.pages_per_second)),
    ("larm_bytes_per_second", "gauge", "Bytes per second", |c| c.rates.as_ref().map(|r| r.bytes_per_second)),
];

/// The path.
pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(metrics))
}

/// Every crawl in numbers, in the text form of Prometheus
#[utoipa::path(
    get, path = "/metrics", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain"))
)]
async fn metrics(Extract(app): Extract<Shared>) -> impl IntoResponse {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, text(&look_at_all(&app).await))
}

fn text(crawls: &[Crawl]) -> String {
    let mut out = String::new();
    // Writing to a text cannot fail.
    for (name, kind, about, value) in METRICS {
        let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} {kind}");
        for crawl in crawls {
            if let Some(value) = value(crawl) {
                let _ = writeln!(out, "{name}{{crawl=\"{}\"}} {value}", escaped(&crawl.id));
            }
        }
    }
    let _ = writeln!(out, "# HELP larm_state Where a crawl stands\n# TYPE larm_state gauge");
    for crawl in crawls {
        for state in State::ALL {
            let (id, is_it) = (escaped(&crawl.id), u8::from(state == crawl.state));
            let _ =
                writeln!(out, "larm_state{{crawl=\"{id}\",state=\"{}\"}} {is_it}", state.word());
        }
    }
    out
}

/// A label's value as the format wants it.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawl::Counts;

    #[test]
    fn every_line_is_a_comment_or_a_name_with_a_number() {
        let crawl = Crawl {
            id: "a\"b\\c\nd".to_owned(),
            name: "x".to_owned(),
            dir: "/x".to_owned(),
            state: State::Finished,
            reason: None,
            seeds: Vec::new(),
            seeds_total: 0,
            started: None,
            ended: None,
            active_ms: 1_500,
            counts: Counts { fetched: 7, ..Counts::default() },
            rates: None,
            seconds_left: None,
            managed: true,
            deletable: true,
        };
        let text = text(&[crawl]);
        assert!(text.contains("larm_pages_total{crawl=\"a\\\"b\\\\c\\nd\"} 7\n"), "{text}");
        assert!(
            text.contains("state=\"finished\"} 1\n") && text.contains("state=\"running\"} 0\n")
        );
        assert!(!text.contains("larm_in_flight{"), "one that does not run has no rates");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok() && name.ends_with('}'), "{line}");
        }
    }
}
