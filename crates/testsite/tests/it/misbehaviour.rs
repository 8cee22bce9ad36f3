//! Each way of breaking HTTP, seen through a raw socket.

use flate2::read::GzDecoder;
use larm_testsite::{
    BOMB_BYTES, Body, Encoding, Features, Head, Kind, Misbehaviour, Reset, TestSite, WebPlan,
};

use crate::client::{Answer, READ_MAX, get};

fn hostile_web() -> TestSite {
    let features = Features { hostile: true, ..Features::none() };
    TestSite::start(WebPlan { features, ..WebPlan::default() }).unwrap()
}

fn url_of(site: &TestSite, wanted: Misbehaviour) -> String {
    let pages = site.truth().pages;
    let found = pages.into_iter().find(|(_, expect)| expect.kind == Kind::Broken(wanted));
    found.expect("the web has one").0
}

fn answer_of(wanted: Misbehaviour) -> Answer {
    let site = hostile_web();
    get(&site, &url_of(&site, wanted))
}

#[test]
fn a_short_body_ends_before_its_length() {
    let answer = answer_of(Misbehaviour::Body(Body::Short));
    let promised: usize = answer.field("Content-Length").unwrap().parse().unwrap();
    assert!(answer.body.len() < promised);
}

#[test]
fn a_long_body_goes_on_behind_its_length() {
    let answer = answer_of(Misbehaviour::Body(Body::Long));
    let promised: usize = answer.field("Content-Length").unwrap().parse().unwrap();
    assert!(answer.body.len() > promised);
}

#[test]
fn an_endless_body_goes_on_until_the_client_leaves() {
    let site = hostile_web();
    let url = url_of(&site, Misbehaviour::Body(Body::Endless));
    assert_eq!(get(&site, &url).raw.len() as u64, READ_MAX);
    let request = wait_for_end(&site, &url);
    assert!(!request.complete && request.bytes >= READ_MAX, "{request:?}");
}

/// The server learns a moment later than the client that it is alone.
fn wait_for_end(site: &TestSite, url: &str) -> larm_testsite::Request {
    loop {
        let ended = site.requests().into_iter().find(|r| r.url() == url && r.end_us > r.start_us);
        match ended {
            Some(request) => return request,
            None => std::thread::yield_now(),
        }
    }
}

#[test]
fn a_bomb_is_small_and_grows() {
    let answer = answer_of(Misbehaviour::Encoding(Encoding::GzipBomb));
    let start = answer.raw.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    assert!(answer.raw.len() < 500_000);
    let grown = std::io::copy(&mut GzDecoder::new(&answer.raw[start..]), &mut std::io::sink());
    assert!(grown.unwrap() >= BOMB_BYTES as u64);
}

#[test]
fn endless_headers_never_come_to_a_body() {
    let answer = answer_of(Misbehaviour::Head(Head::Endless));
    assert_eq!((answer.raw.len() as u64, answer.status), (READ_MAX, 0));
    assert!(answer.raw.starts_with(b"HTTP/1.1 200 OK\r\n"));
}

#[test]
fn garbage_is_no_http() {
    let answer = answer_of(Misbehaviour::Head(Head::Garbage));
    assert!(answer.raw.len() > 1_000 && answer.raw.iter().all(|byte| *byte >= 0x80));
}

#[test]
fn an_empty_reply_is_empty() {
    assert_eq!(answer_of(Misbehaviour::Reset(Reset::EmptyReply)).raw, b"");
}

#[test]
fn broken_chunks_start_well() {
    let answer = answer_of(Misbehaviour::Body(Body::BrokenChunks));
    assert_eq!(answer.body, b"<p>a");
    assert!(answer.raw.windows(4).any(|window| window == b"\r\nzz"));
}

#[test]
fn a_host_that_refuses_has_nobody_listening() {
    let site = hostile_web();
    if site.plan().named_hosts {
        return; // One address only: all hosts are there, and somebody always listens.
    }
    let unreachable: Vec<_> =
        site.truth().pages.into_iter().filter(|(_, e)| e.kind == Kind::Unreachable).collect();
    let [(url, expect)] = unreachable.as_slice() else { panic!("{unreachable:?}") };
    let url = url::Url::parse(url).unwrap();
    let refused = std::net::TcpStream::connect(crate::client::address(&site, &url)).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    assert!(!expect.required);
}

#[test]
fn a_misbehaving_host_serves_its_other_pages() {
    let site = hostile_web();
    let hosts = Misbehaviour::BASIC.len() - 1;
    let good = site.truth().pages.into_iter().filter(|(_, expect)| expect.kind == Kind::Page);
    assert_eq!(good.count(), 3 * 10 + hosts * 4);
}
