//! HTTP/2 that fails, in every way: one page at the most is lost, with a reason, and the crawl ends.
//!
//! Each host meets its trouble once, at the third request after its robots.txt. With one try, the page that
//! met it says what it was; with two, all pages are there.

use larm_crawl::Plan;
use larm_crawl::store::summary::State;
use larm_testsite::secure::{Http2, Trouble};

use crate::kept::{Kept, story};
use crate::secure::Secured;
use crate::world::{assert_none, crawl};

/// What is wrong, what becomes of the page that meets it, and words of the reason or of the notes.
type Row = (Http2, &'static str, &'static str);

const ROWS: &[Row] = &[
    (Http2::Fine, "fetched", ""),
    (Http2::ResetsStream, "failed", "reset: the server ended the HTTP/2 stream"),
    (Http2::RefusesStream, "fetched", "connected anew"),
    (Http2::ResetsBody, "fetched", "disconnect: the body broke off"),
    (Http2::GoesAway, "fetched", "connected anew"),
    (Http2::GoesAwayAngry, "failed", "reset: the server ended the HTTP/2 connection"),
    (Http2::HangsUp, "fetched", "connected anew"),
    (Http2::HangsUpInBody, "fetched", "disconnect: the body broke off"),
    (Http2::Stalls, "fetched", "time: the body came too slowly"),
    (Http2::Silent, "failed", "first-byte-timeout: no headers within 3000 ms"),
    (Http2::SettingsFlood, "failed", "protocol: frames of HTTP/2 without end"),
    (Http2::PingFlood, "failed", "protocol: frames of HTTP/2 without end"),
    (Http2::PingFloodInBody, "fetched", "disconnect: the body broke off"),
    (Http2::ContinuationFlood, "failed", "protocol: not sound HTTP/2: "),
    (Http2::DataFlood, "fetched", "length: the body is longer than the limit"),
    (Http2::EmptyDataFlood, "fetched", "disconnect: the body broke off"),
    (Http2::HeaderBomb, "failed", "protocol: not sound HTTP/2: "),
    (Http2::ShortBody, "fetched", "disconnect: the body broke off"),
    (Http2::UnaskedStream, "failed", "protocol: not sound HTTP/2: "),
    (Http2::Pushes, "failed", "protocol: not sound HTTP/2: "),
    (Http2::HugeFrame, "fetched", "disconnect: the body broke off"),
];

/// Hosts that fail before or at any request: each has an outcome of its own making.
const USELESS: [Http2; 3] = [Http2::NoStreams, Http2::Deaf, Http2::Garbage];

/// What meets the trouble.
const BAD: &str = "/2";

fn plan(secured: &Secured, tries: u64) -> Plan {
    let mut plan = secured.plan();
    plan.fetch.http2 = true;
    plan.limits.url_tries_max = tries;
    plan.limits.host_back_off_ms_max = 20;
    plan.limits.first_byte_ms_max = 3_000;
    plan.limits.fetch_ms_max = 4_000;
    plan.limits.body_bytes_max = 500_000;
    plan
}

/// Crawls all hosts, with so many tries for each page.
fn crawled(tries: u64) -> (Secured, Kept) {
    let troubles: Vec<Trouble> = Http2::ALL.iter().map(|http2| Trouble::Http2(*http2)).collect();
    let secured = Secured::new(&troubles);
    let summary = crawl(plan(&secured, tries));
    assert_eq!((summary.state, summary.queued), (State::Finished, 0), "{summary:?}");
    let kept = Kept::of(&secured.dir());
    kept.assert_sound();
    (secured, kept)
}

fn url(secured: &Secured, http2: Http2, path: &str) -> String {
    secured.site.url(Trouble::Http2(http2), path).expect("a host")
}

#[test]
fn every_way_in_which_http2_fails_has_its_reason_and_costs_one_page_at_the_most() {
    let (secured, kept) = crawled(1);
    let wrong = ROWS.iter().filter_map(|(http2, outcome, words)| {
        let line = kept.line(&url(&secured, *http2, BAD));
        let right = line["outcome"] == *outcome && story(line).contains(words);
        (!right).then(|| format!("{}: not {outcome} with `{words}`: {line}", http2.word()))
    });
    assert_none("rows that do not hold", wrong);
    let good = ROWS
        .iter()
        .flat_map(|(http2, ..)| ["/", "/1", "/3", "/4"].map(|path| url(&secured, *http2, path)));
    let lost = good.filter(|url| kept.line(url)["outcome"] != "fetched");
    assert_none("good pages that were lost", lost);
    let useless = USELESS.map(|http2| kept.line(&url(&secured, http2, "/")));
    let silent = useless.into_iter().filter(|line| story(line).len() < 10);
    assert_none("hosts of no use without a reason", silent);
    assert_eq!(ROWS.len() + USELESS.len(), Http2::ALL.len());
}

#[test]
fn whoever_is_asked_again_has_all_its_pages() {
    let (secured, kept) = crawled(2);
    let pages = ROWS.iter().flat_map(|(http2, ..)| {
        ["/", "/1", "/2", "/3", "/4"].map(|path| url(&secured, *http2, path))
    });
    let lost = pages.filter(|url| kept.line(url)["outcome"] != "fetched");
    assert_none("pages that were lost", lost);
}
