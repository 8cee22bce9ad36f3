//! Whatever a server does: its good pages are kept, what is bad has an outcome in plain words, and the
//! crawl ends.
//!
//! A table for each family of misbehaviour. All hosts of a table are crawled at once, each with good pages
//! beside what is bad. Times are those of a busy machine, and set small only where running out of time is
//! what a row is about.

use larm_core::Limits;
use larm_crawl::store::summary::State;
use larm_testsite::{
    Body, Content, Encoding, Head, Kind, Misbehaviour as Bad, Redirect, Reset, Retry, RobotsFile,
    WebPlan,
};

use crate::kept::{Kept, story, text};
use crate::world::{World, assert_harmless, assert_none, crawl, url};

/// How a server misbehaves, what becomes of the URL, and words of the reason or of the notes.
type Row = (Bad, &'static str, &'static str);

const HEADS: &[Row] = &[
    (Bad::Head(Head::Endless), "failed", "protocol: not an HTTP response: it has more than 128"),
    (Bad::Head(Head::EndlessLine), "failed", "header block is longer than 65536 bytes"),
    (Bad::Head(Head::InterimFlood), "failed", "protocol: header block longer than 65536 bytes"),
    (Bad::Head(Head::CookieFlood), "failed", "it has more than 128 header fields"),
    (Bad::Head(Head::ManyCookies), "fetched", ""),
    (Bad::Head(Head::Http09), "failed", "protocol: not an HTTP response: a page came without"),
    (Bad::Head(Head::Garbage), "failed", "it does not begin with a status line"),
    (Bad::Head(Head::Http2Frames), "failed", "it speaks HTTP/2, which was not asked for"),
    (Bad::Head(Head::UnknownVersion), "failed", "it claims a version of HTTP that"),
    (Bad::Head(Head::WordStatus), "failed", "its status is not a number"),
    (Bad::Head(Head::OddStatus), "fetched", ""),
    (Bad::Head(Head::SwitchesProtocols), "failed", "switched to a protocol that was not asked for"),
    (Bad::Head(Head::ZeroHead), "failed", "it does not begin with a status line"),
];

const BODIES: &[Row] = &[
    (Bad::Body(Body::Short), "fetched", "disconnect: the body broke off before its end"),
    (Bad::Body(Body::Long), "fetched", "more bytes came after the end"),
    (Bad::Body(Body::Endless), "fetched", "length: the body is longer than the limit"),
    (Bad::Body(Body::EndlessPlain), "fetched", "length: the body is longer than the limit"),
    (Bad::Body(Body::HugeLength), "fetched", "disconnect: the body broke off"),
    (
        Bad::Body(Body::NegativeLength),
        "failed",
        "protocol: not an HTTP response: its Content-Length",
    ),
    (Bad::Body(Body::WordLength), "failed", "its Content-Length is not a number"),
    (Bad::Body(Body::OverflowingLength), "failed", "its Content-Length is beyond all measure"),
    (Bad::Body(Body::LengthTwice), "fetched", ""),
    (Bad::Body(Body::TwoLengths), "failed", "two Content-Length fields that contradict each other"),
    (Bad::Body(Body::LengthAndChunks), "fetched", ""),
    (Bad::Body(Body::BrokenChunks), "fetched", "the body broke off"),
    (Bad::Body(Body::LyingChunks), "fetched", "the body broke off"),
    (Bad::Body(Body::OverfullChunk), "fetched", "the body broke off"),
    (Bad::Body(Body::OverflowingChunk), "fetched", "the body broke off"),
    (Bad::Body(Body::EndlessChunkSize), "fetched", "the body broke off"),
    (Bad::Body(Body::EndlessTrailers), "fetched", "the body broke off"),
    (Bad::Body(Body::BodyOfNone), "fetched", "more bytes came after the end"),
];

const ENCODINGS: &[Row] = &[
    (Bad::Encoding(Encoding::GzipBomb), "fetched", "the decoded body is beyond the limits"),
    (Bad::Encoding(Encoding::BrotliBomb), "fetched", "the decoded body is beyond the limits"),
    (Bad::Encoding(Encoding::ZstdBomb), "fetched", "the decoded body is beyond the limits"),
    (Bad::Encoding(Encoding::BombInGzip), "fetched", "the decoded body is beyond the limits"),
    (Bad::Encoding(Encoding::CutGzip), "fetched", "the encoded body is cut or broken"),
    (Bad::Encoding(Encoding::CutBrotli), "fetched", "the encoded body is cut or broken"),
    (Bad::Encoding(Encoding::CutZstd), "fetched", "the encoded body is cut or broken"),
    (Bad::Encoding(Encoding::DamagedGzip), "fetched", "the encoded body is cut or broken"),
    (Bad::Encoding(Encoding::GzipInGzip), "fetched", ""),
    (Bad::Encoding(Encoding::GzipTenDeep), "fetched", "more than three content encodings"),
    (Bad::Encoding(Encoding::GzipHidden), "fetched", "malformed-charset"),
    (Bad::Encoding(Encoding::NotGzip), "fetched", "not encoded as announced"),
    (Bad::Encoding(Encoding::UnknownCoding), "fetched", "unknown content encoding"),
];

const REDIRECTS: &[Row] = &[
    (Bad::Redirect(Redirect::ToItself), "redirected", "/bad"),
    (Bad::Redirect(Redirect::Loop), "redirected", "/bad/1"),
    (Bad::Redirect(Redirect::Chain), "redirected", "/bad/1"),
    (Bad::Redirect(Redirect::Endless), "redirected", "/bad/1"),
    (Bad::Redirect(Redirect::ToFile), "redirected", "file:///etc/passwd"),
    (Bad::Redirect(Redirect::ToPrivate), "redirected", "http://10.0.0.1/admin"),
    (Bad::Redirect(Redirect::ToMetadata), "redirected", "http://169.254.169.254/latest/"),
    (Bad::Redirect(Redirect::ToData), "redirected", "data:text/html"),
    (Bad::Redirect(Redirect::ToScript), "redirected", "javascript:"),
    (Bad::Redirect(Redirect::ToNonsense), "redirected", "http://[nobody/"),
    (Bad::Redirect(Redirect::ToNothing), "redirected", "/bad"),
    (Bad::Redirect(Redirect::Nowhere), "fetched", ""),
    (Bad::Redirect(Redirect::ToLong), "redirected", "/bad/long/long"),
];

const RETRIES: &[Row] = &[
    (Bad::Retry(Retry::BusySeconds), "fetched", ""),
    (Bad::Retry(Retry::BusyDate), "fetched", ""),
    (Bad::Retry(Retry::BusyNonsense), "fetched", ""),
    (Bad::Retry(Retry::BusyPast), "fetched", ""),
    (Bad::Retry(Retry::DownSeconds), "fetched", ""),
    (Bad::Retry(Retry::DownDate), "fetched", ""),
    (Bad::Retry(Retry::DownNonsense), "fetched", ""),
    (Bad::Retry(Retry::DownPast), "fetched", ""),
    (Bad::Retry(Retry::DownForever), "fetched", ""),
    (
        Bad::Retry(Retry::BusyAlways),
        "failed",
        "too-many-requests: the server answered 429 to every",
    ),
    (Bad::Retry(Retry::DownAlways), "fetched", ""),
];

const ROBOTS: &[Row] = &[
    (Bad::Robots(RobotsFile::Endless), "fetched", ""),
    (Bad::Robots(RobotsFile::Binary), "fetched", ""),
    (Bad::Robots(RobotsFile::Html), "fetched", ""),
    (Bad::Robots(RobotsFile::Zeros), "fetched", ""),
    (Bad::Robots(RobotsFile::Loop), "fetched", ""),
    (Bad::Robots(RobotsFile::FailsTwice), "fetched", ""),
    (Bad::Robots(RobotsFile::Changing), "fetched", ""),
    (
        Bad::Robots(RobotsFile::Garbage),
        "host-unreachable",
        "and this URL not asked for: robots.txt: not an HTTP response: it does not",
    ),
    (
        Bad::Robots(RobotsFile::Reset),
        "host-unreachable",
        "and this URL not asked for: robots.txt: connection reset",
    ),
    (
        Bad::Robots(RobotsFile::Cut),
        "host-unreachable",
        "and this URL not asked for: robots.txt broke off before its end",
    ),
];

const RESETS: &[Row] = &[
    (
        Bad::Reset(Reset::Refuses),
        "host-unreachable",
        "refused: the host was given up, and this URL not asked for: robots.txt: connection refused",
    ),
    (
        Bad::Reset(Reset::AfterAccept),
        "host-unreachable",
        "and this URL not asked for: robots.txt: connection",
    ),
    (
        Bad::Reset(Reset::InRequest),
        "host-unreachable",
        "and this URL not asked for: robots.txt: connection",
    ),
    (Bad::Reset(Reset::BeforeHeaders), "failed", "reset: connection reset"),
    (Bad::Reset(Reset::InHeaders), "failed", "reset: connection reset"),
    (Bad::Reset(Reset::InBody), "fetched", "disconnect: the body broke off before its end"),
    (Bad::Reset(Reset::AfterBody), "fetched", ""),
    (Bad::Reset(Reset::EmptyReply), "failed", "reset: connection closed before"),
    (
        Bad::Reset(Reset::SpeaksFirst),
        "host-unreachable",
        "the host was given up, and this URL not asked for: robots.txt: ",
    ),
];

const CONTENTS: &[Row] = &[
    (Bad::Content(Content::MillionLinks), "fetched", "links-truncated"),
    (Bad::Content(Content::MegabyteLink), "fetched", "link-too-long"),
    (Bad::Content(Content::ThousandLabels), "fetched", ""),
    (Bad::Content(Content::DeepMarkup), "fetched", ""),
    (Bad::Content(Content::ManyAttributes), "fetched", ""),
    (Bad::Content(Content::OpenComment), "fetched", ""),
    (Bad::Content(Content::LongTitle), "fetched", "meta-truncated"),
    (Bad::Content(Content::ZeroBytes), "fetched", ""),
    (Bad::Content(Content::Empty), "fetched", ""),
    (Bad::Content(Content::WrongCharset), "fetched", "malformed-charset"),
    (Bad::Content(Content::MixedCharsets), "fetched", ""),
    (Bad::Content(Content::UnknownCharset), "fetched", ""),
    (Bad::Content(Content::NoType), "fetched", ""),
    (Bad::Content(Content::UnknownType), "fetched", ""),
    (Bad::Content(Content::ImageAsPage), "fetched", ""),
    (Bad::Content(Content::PageAsImage), "fetched", ""),
    (Bad::Content(Content::NonsenseType), "fetched", ""),
    (Bad::Content(Content::BinaryWithoutType), "fetched", ""),
];

const SLOW: &[Row] = &[
    (Bad::Head(Head::NeverAnswers), "failed", "first-byte-timeout: no headers within 1500 ms"),
    (Bad::Head(Head::Dripping), "failed", "first-byte-timeout: no headers within 1500 ms"),
    (Bad::Body(Body::Dripping), "fetched", "time: the body came too slowly"),
    (Bad::Body(Body::Stalled), "fetched", "time: the body came too slowly"),
    (
        Bad::Robots(RobotsFile::Dripping),
        "host-unreachable",
        "robots-unreachable: the host was given up, and this URL not asked for: robots.txt broke off",
    ),
    (
        Bad::Robots(RobotsFile::Silent),
        "host-unreachable",
        "and this URL not asked for: robots.txt: no headers within 1500 ms",
    ),
    (Bad::Reset(Reset::Deaf), "host-unreachable", "robots.txt: no headers within 1500 ms"),
];

const TABLES: [&[Row]; 9] =
    [HEADS, BODIES, ENCODINGS, REDIRECTS, RETRIES, ROBOTS, RESETS, CONTENTS, SLOW];

/// A crawl of all hosts of a table.
struct Crawled {
    world: World,
    kept: Kept,
}

impl Crawled {
    /// Crawls the hosts of a table, and holds what came of them against its rows.
    fn by(rows: &[Row], limits: impl FnOnce(&mut Limits)) -> Self {
        let misbehaviours = rows.iter().map(|(bad, ..)| *bad).collect();
        let web = WebPlan { hosts: 2, misbehaviours, named_hosts: true, ..WebPlan::default() };
        let world = World::new(web);
        let mut plan = world.plan();
        plan.seeds = world.site.host_seeds().iter().map(|text| url(text)).collect();
        plan.limits.url_tries_max = 2;
        plan.limits.host_back_off_ms_max = 20;
        plan.limits.host_chances_ms_max = 300;
        plan.limits.retry_after_ms_max = 1_200;
        limits(&mut plan.limits);
        let summary = crawl(plan);
        assert_eq!((summary.state, summary.queued), (State::Finished, 0), "{summary:?}");
        let kept = Kept::of(&world.dir());
        let crawled = Self { world, kept };
        crawled.assert_rows(rows);
        crawled
    }

    fn assert_rows(&self, rows: &[Row]) {
        let audit = self.world.audit();
        assert_none("missing", &audit.coverage.missing);
        assert_harmless(&audit);
        self.kept.assert_sound();
        let wrong = rows.iter().filter_map(|(bad, outcome, words)| {
            let line = self.kept.line(&self.url_of(*bad));
            let right = line["outcome"] == *outcome && story(line).contains(words);
            (!right).then(|| format!("{}: not {outcome} with `{words}`: {line}", bad.word()))
        });
        assert_none("rows that do not hold", wrong);
    }

    /// What is bad: a path of the host, or its start page where it is the host as a whole.
    fn url_of(&self, bad: Bad) -> String {
        let pages = self.world.site.truth().pages;
        let broken = pages.into_iter().find(|(_, page)| page.kind == Kind::Broken(bad));
        broken.map_or_else(|| self.at(bad, "/"), |(url, _)| url)
    }

    fn at(&self, bad: Bad, path: &str) -> String {
        format!("http://{}.hostile.test:{}{path}", bad.word(), self.world.site.port())
    }

    fn outcome(&self, url: &str) -> String {
        text(self.kept.line(url), "outcome")
    }

    /// What the link log says became of the only link of a URL.
    fn verdict(&self, bad: Bad) -> String {
        let links = self.kept.links_of(&self.url_of(bad));
        let [link] = links.as_slice() else { panic!("not one link: {links:?}") };
        text(link, "verdict")
    }
}

#[test]
fn every_way_to_misbehave_is_in_a_table() {
    let rows = TABLES.iter().flat_map(|table| table.iter().map(|(bad, ..)| *bad));
    let mut rows: Vec<Bad> = rows.collect();
    rows.sort_unstable();
    assert_eq!(rows, Bad::all());
}

#[test]
fn answers_that_are_no_http_fail_in_words_that_can_be_understood() {
    Crawled::by(HEADS, |_| {});
}

#[test]
fn bodies_that_lie_about_their_end_are_kept_as_far_as_they_came() {
    let crawled = Crawled::by(BODIES, |limits| limits.body_bytes_max = 500_000);
    let tries = |bad: Body| {
        crawled.kept.line(&crawled.url_of(Bad::Body(bad)))["tries"].as_u64().expect("a number")
    };
    assert_eq!((tries(Body::Short), tries(Body::Long)), (2, 1), "what broke off is tried again");
}

#[test]
fn codings_are_taken_off_within_the_limits() {
    let crawled = Crawled::by(ENCODINGS, |limits| {
        limits.body_bytes_max = 1_000_000;
        limits.body_decoded_bytes_max = 2_000_000;
    });
    let title = |bad: Encoding| {
        let url = crawled.url_of(Bad::Encoding(bad));
        let page = crawled.kept.pages.iter().find(|page| page["url"] == *url);
        page.map(|page| text(page, "title")).unwrap_or_default()
    };
    for readable in [Encoding::CutGzip, Encoding::CutBrotli, Encoding::CutZstd] {
        assert_eq!(title(readable), "Packed", "{}", readable.word());
    }
    for readable in [Encoding::GzipInGzip, Encoding::NotGzip, Encoding::UnknownCoding] {
        assert_eq!(title(readable), "Packed", "{}", readable.word());
    }
    assert_eq!(title(Encoding::BombInGzip), "Harmless");
}

#[test]
fn redirects_lead_nowhere_that_a_link_may_not_lead() {
    let crawled = Crawled::by(REDIRECTS, |_| {});
    for target in ["http://10.0.0.1/admin", "http://169.254.169.254/latest/meta-data/"] {
        let reason = text(crawled.kept.line(target), "reason");
        assert!(reason.starts_with("forbidden-address: "), "{target}: {reason}");
    }
    let rows = [
        (Redirect::ToFile, "a page of the web cannot lead to a file"),
        (Redirect::ToData, "scheme"),
        (Redirect::ToScript, "scheme"),
        (Redirect::ToNonsense, "not a URL"),
        (Redirect::ToLong, "length"),
    ];
    for (bad, words) in rows {
        let verdict = crawled.verdict(Bad::Redirect(bad));
        assert!(verdict.contains(words), "{}: {verdict}", bad.word());
    }
    let chain = |hop: usize| crawled.at(Bad::Redirect(Redirect::Chain), &format!("/bad/{hop}"));
    assert_eq!(crawled.outcome(&chain(5)), "redirected");
    assert!(!crawled.kept.settled().contains(&chain(6)), "more redirects in a row than allowed");
}

#[test]
fn a_server_that_asks_for_patience_gets_it_however_it_says_so() {
    let crawled = Crawled::by(RETRIES, |_| {});
    let requests = crawled.world.site.requests();
    for (bad, outcome, _) in RETRIES.iter().filter(|(_, outcome, _)| *outcome == "fetched") {
        let url = crawled.url_of(*bad);
        let asked: Vec<_> = requests.iter().filter(|request| request.url() == url).collect();
        let [first, second] = asked.as_slice() else { panic!("{outcome}: {asked:?}") };
        let waited_ms = (second.start_us - first.end_us) / 1_000;
        let word = bad.word();
        let asked_ms = if word.ends_with("seconds") || word.ends_with("date") { 1_000 } else { 0 };
        assert!(waited_ms >= asked_ms, "{word}: came back after {waited_ms} ms");
    }
}

#[test]
fn a_robots_file_counts_as_far_as_it_can_be_had() {
    let crawled = Crawled::by(ROBOTS, |limits| limits.body_bytes_max = 600_000);
    let rows = [
        (RobotsFile::Endless, "denied"),
        (RobotsFile::FailsTwice, "denied"),
        (RobotsFile::Changing, "denied"),
        (RobotsFile::Binary, "fetched"),
        (RobotsFile::Html, "fetched"),
        (RobotsFile::Zeros, "fetched"),
        (RobotsFile::Loop, "fetched"),
    ];
    for (file, outcome) in rows {
        let page = crawled.at(Bad::Robots(file), "/private/page");
        assert_eq!(crawled.outcome(&page), outcome, "{}", file.word());
    }
    let robots = crawled.at(Bad::Robots(RobotsFile::Changing), "/robots.txt");
    let asked = crawled.world.site.requests().iter().filter(|r| r.url() == robots).count();
    assert_eq!(asked, 1, "rules that change with every request hold as they were read");
}

#[test]
fn a_connection_may_break_at_any_moment() {
    Crawled::by(RESETS, |_| {});
}

#[test]
fn hard_pages_are_read_as_far_as_that_makes_sense() {
    let crawled = Crawled::by(CONTENTS, |limits| limits.page_links_max = 50);
    let unread = [Content::Empty, Content::ImageAsPage, Content::PageAsImage];
    let unread = |bad: &Content| unread.contains(bad) || *bad == Content::BinaryWithoutType;
    for bad in Content::ALL.iter().copied() {
        let linked = crawled.at(Bad::Content(bad), "/bad/linked");
        let found = crawled.kept.settled().contains(&linked);
        assert_eq!(found, !unread(&bad), "{}", bad.word());
    }
    let below = crawled.at(Bad::Content(Content::MillionLinks), "/bad/");
    let below = crawled.kept.settled().iter().filter(|url| url.starts_with(&below)).count();
    assert_eq!(below, 50, "links of the page that has a million");
    let links = crawled.kept.links_of(&crawled.url_of(Bad::Content(Content::ThousandLabels)));
    let refused = links.iter().filter(|link| link["verdict"].is_string()).count();
    assert_eq!((links.len(), refused), (2, 1), "a name of a thousand labels: {links:?}");
}

#[test]
fn a_server_that_is_slow_on_purpose_holds_nobody_up() {
    Crawled::by(SLOW, |limits| {
        limits.first_byte_ms_max = 1_500;
        limits.connect_ms_max = 1_500;
        limits.fetch_ms_max = 2_500;
        limits.host_chances_max = 2;
    });
}
