//! The server: connections, times, the log, starting and stopping.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use larm_testsite::audit::{concurrency, gaps};
use larm_testsite::{Features, TestSite, WebPlan};
use url::Url;

use crate::client::{address, get, parse, request};

/// Reads one answer off a connection that stays open.
fn read_answer(stream: &mut BufReader<TcpStream>) -> (String, Vec<u8>) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

#[test]
fn one_connection_takes_many_requests() {
    let site = TestSite::start(WebPlan::default()).unwrap();
    let url = Url::parse(&site.seeds()[0]).unwrap();
    let mut stream = BufReader::new(TcpStream::connect(address(&site, &url)).unwrap());
    for n in 1..=5 {
        stream.get_mut().write_all(request(&url, "").as_bytes()).unwrap();
        read_answer(&mut stream);
        assert_eq!(site.requests().len(), n, "an answered request is in the log");
    }
    let requests = site.requests();
    assert!(requests.iter().all(|r| r.connection == 0 && r.complete && r.agent == "reference/1"));
    assert!(requests.windows(2).all(|pair| pair[0].end_us <= pair[1].start_us));
    assert_eq!(gaps(&requests).hosts.len(), 1);
}

#[test]
fn three_hundred_connections_at_once_are_all_answered() {
    let site = TestSite::start(WebPlan { latency_ms: 200, ..WebPlan::default() }).unwrap();
    let url = Url::parse(&site.seeds()[0]).unwrap();
    let mut streams: Vec<_> =
        (0..300).map(|_| TcpStream::connect(address(&site, &url)).unwrap()).collect();
    for stream in &mut streams {
        stream.write_all(request(&url, "Connection: close\r\n").as_bytes()).unwrap();
    }
    for mut stream in streams {
        let mut raw = Vec::new();
        stream.read_to_end(&mut raw).unwrap();
        assert_eq!(parse(raw).status, 200);
    }
    let most = concurrency(&site.requests());
    assert!(most.hosts.values().all(|most| most.requests > 1 && most.connections > 1));
}

#[test]
fn latency_shows_in_the_log() {
    let site = TestSite::start(WebPlan { latency_ms: 30, ..WebPlan::default() }).unwrap();
    get(&site, &site.seeds()[0]);
    let request = &site.requests()[0];
    assert!(request.end_us - request.start_us >= 30_000, "{request:?}");
}

#[test]
fn a_slow_page_takes_its_time_but_less_than_a_second() {
    let features = Features { slow: true, ..Features::none() };
    let site = TestSite::start(WebPlan { hosts: 1, features, ..WebPlan::default() }).unwrap();
    for path in ["slow/drops", "slow/chunks"] {
        let answer = get(&site, &format!("{}{path}", site.seeds()[0]));
        assert!(answer.body.ends_with(b"</html>\n"), "{path}");
    }
    for request in site.requests() {
        let took = request.end_us - request.start_us;
        assert!((400_000..1_000_000).contains(&took), "{request:?}");
    }
}

#[test]
fn a_flaky_page_says_when_to_come_back() {
    let features = Features { flaky: true, ..Features::none() };
    let site = TestSite::start(WebPlan { hosts: 1, features, ..WebPlan::default() }).unwrap();
    let fetch = |status: u16| get(&site, &format!("{}flaky/{status}", site.seeds()[0]));
    for (status, retry_after) in [(500, None), (503, Some("1")), (429, Some("GMT"))] {
        let first = fetch(status);
        assert_eq!(first.status, status);
        let field = first.field("Retry-After");
        assert!(
            field.zip(retry_after).is_none_or(|(field, end)| field.ends_with(end)),
            "{field:?}"
        );
        assert_eq!(field.is_some(), retry_after.is_some());
        assert_eq!(fetch(status).status, 200);
    }
}

#[test]
fn a_client_that_accepts_no_coding_gets_none() {
    let site = TestSite::start(WebPlan { gzip: true, ..WebPlan::default() }).unwrap();
    let url = Url::parse(&site.seeds()[0]).unwrap();
    assert_eq!(get(&site, url.as_str()).field("Content-Encoding"), Some("gzip"));
    let plain = request(&url, "Connection: close\r\n").replace("gzip, deflate", "identity");
    let mut stream = TcpStream::connect(address(&site, &url)).unwrap();
    stream.write_all(plain.as_bytes()).unwrap();
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw).unwrap();
    let answer = parse(raw);
    assert_eq!(answer.field("Content-Encoding"), None);
    assert_eq!(Some(answer.body), site.body(url.as_str()));
}

#[test]
fn pages_have_about_the_planned_size_and_links() {
    let plan = WebPlan {
        pages_per_host: 200,
        page_bytes: 28_000,
        links_per_page: 70,
        ..WebPlan::default()
    };
    let site = TestSite::start(plan).unwrap();
    for url in site.truth().pages.keys().take(50) {
        let body = site.body(url).unwrap();
        assert!((26_000..31_000).contains(&body.len()), "{}", body.len());
        let links = crate::html::scan(&String::from_utf8(body).unwrap()).links.len();
        assert!((70..75).contains(&links), "{links}");
    }
}

#[test]
fn the_log_goes_to_a_file_too() {
    let site = TestSite::start(WebPlan::default()).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    site.log_to(file.path()).unwrap();
    get(&site, &site.seeds()[0]);
    let text = std::fs::read_to_string(file.path()).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    assert_eq!((line["path"].as_str(), line["status"].as_u64()), (Some("/"), Some(200)));
}

#[test]
fn a_site_that_is_dropped_no_longer_listens() {
    let site = TestSite::start(WebPlan::default()).unwrap();
    let at = address(&site, &Url::parse(&site.seeds()[0]).unwrap());
    let open = TcpStream::connect(at).unwrap();
    drop(site);
    assert!(TcpStream::connect(at).is_err());
    let mut rest = Vec::new();
    assert_eq!((&open).read_to_end(&mut rest).unwrap_or(0), 0);
}

#[tokio::test]
async fn a_site_can_be_started_and_dropped_in_async_code() {
    let site = TestSite::start(WebPlan::default()).unwrap();
    let url = Url::parse(&site.seeds()[0]).unwrap();
    assert!(tokio::net::TcpStream::connect(address(&site, &url)).await.is_ok());
    drop(site);
}
