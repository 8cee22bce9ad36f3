//! Requests: what they say, to whom, and what is left of it for the archive.

use larm_core::url::{UrlRules, canonicalise, resolve};

use super::*;
use crate::fetch::{HostAccess, ProxyPlan};

fn url(text: &str) -> CrawlUrl {
    canonicalise(resolve(text, None, None).unwrap(), &UrlRules::default()).unwrap()
}

fn requests(plan: &FetchPlan) -> Requests {
    Requests::new(plan, None, &Limits::default()).unwrap()
}

fn ask(requests: &Requests, proxies: &ProxyPlan, text: &str, protocol: Protocol) -> Outgoing {
    let permit = Permit::for_test(url(text), "192.0.2.1".parse().unwrap());
    let target = Target::of(&permit, proxies).unwrap();
    requests.request(&permit, &target, protocol).unwrap()
}

fn plain(requests: &Requests, text: &str) -> Outgoing {
    ask(requests, &ProxyPlan::default(), text, Protocol::Http1)
}

#[test]
fn a_request_names_the_host_as_the_url_does() {
    let requests = requests(&FetchPlan::default());
    #[rustfmt::skip]
    let rows = [
        ("http://h/", "h", "/"),
        ("http://h:8080/a?b=c|d", "h:8080", "/a?b=c|d"),
        ("https://[::1]/a//b", "[::1]", "/a//b"),
        ("http://h//a", "h", "//a"),
        ("http://h/[a]^{b}'~?`{}|\\^[]'", "h", "/[a]%5E%7Bb%7D'~?`{}|\\^[]%27"),
    ];
    for (text, host, line) in rows {
        let Outgoing { request, .. } = plain(&requests, text);
        assert_eq!(request.headers()[HOST], host, "{text}");
        assert_eq!(request.uri().to_string(), line, "{text}");
    }
}

#[test]
fn http2_and_proxies_that_read_requests_get_the_whole_url() {
    let requests = requests(&FetchPlan::default());
    let http: Option<crate::fetch::Proxy> = Some("http://u:p@proxy:1".parse().unwrap());
    let proxies = ProxyPlan { https: http.clone(), http, ..ProxyPlan::default() };
    let plain = ask(&requests, &proxies, "http://h/x", Protocol::Http1);
    assert_eq!(plain.request.uri().to_string(), "http://h/x");
    assert_eq!(plain.request.headers()[PROXY_AUTHORIZATION], "Basic dTpw");
    assert_eq!(plain.secrets, [PROXY_AUTHORIZATION]);
    let tunnelled = ask(&requests, &proxies, "https://h/x", Protocol::Http1);
    assert_eq!(tunnelled.request.uri().to_string(), "/x");
    assert!(!tunnelled.request.headers().contains_key(PROXY_AUTHORIZATION));
    let http2 = ask(&requests, &ProxyPlan::default(), "https://h/x", Protocol::Http2);
    assert_eq!(http2.request.uri().to_string(), "https://h/x");
    assert!(!http2.request.headers().contains_key(HOST));
}

#[test]
fn header_fields_of_the_plan_replace_defaults_and_keep_their_number() {
    let headers = [("accept", "audio/*"), ("X-Key", "1"), ("X-Key", "2")];
    let headers = headers.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
    let hosts = vec![HostAccess {
        host: "other".to_owned(),
        headers: vec![("Accept".to_owned(), "image/*".to_owned())],
        ..HostAccess::default()
    }];
    let homes = vec![url("https://h/")];
    let requests = requests(&FetchPlan { headers, homes, hosts, ..FetchPlan::default() });
    let all = |text: &str, name: &str| {
        let request = plain(&requests, text).request;
        let values = request.headers().get_all(name).iter();
        values.map(|value| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(all("https://h/", "accept"), ["audio/*"]);
    assert_eq!(all("https://h/", "x-key"), ["1", "2"]);
    assert_eq!(all("https://other/", "accept"), ["image/*"]);
    assert!(all("https://other/", "x-key").is_empty());
}

#[test]
fn header_fields_that_would_break_the_request_are_refused() {
    for (name, text) in [("Host", "x"), ("content-length", "5"), ("a b", "x"), ("a", "x\r\ny: z")] {
        let headers = vec![(name.to_owned(), text.to_owned())];
        let plan = FetchPlan { headers, ..FetchPlan::default() };
        let made = Requests::new(&plan, None, &Limits::default());
        assert!(matches!(made, Err(crate::Error::Plan(_))), "{name}: {text:?}");
    }
}

#[test]
fn a_challenge_is_answered_once_and_remembered() {
    let password = Credentials::Password { user: "u".to_owned(), password: "p".to_owned() };
    let plan = FetchPlan {
        credentials: Some(password),
        homes: vec![url("http://h/")],
        ..FetchPlan::default()
    };
    let requests = requests(&plan);
    let mut headers = HeaderMap::new();
    headers.insert(http::header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"r\""));
    let first = plain(&requests, "http://h/a");
    assert!(!first.is_answer() && first.secrets.is_empty(), "nothing before it is asked for");
    assert!(requests.hear(&url("http://h/a"), 401, &headers, false));
    let second = plain(&requests, "http://h/b");
    assert_eq!(second.request.headers()[AUTHORIZATION], "Basic dTpw");
    assert!(second.is_answer());
    assert!(!requests.hear(&url("http://h/b"), 401, &headers, true), "refused is refused");
    assert!(!requests.hear(&url("http://evil/"), 401, &headers, false), "not for others");
    assert!(!plain(&requests, "http://evil/").request.headers().contains_key(AUTHORIZATION));
}

#[test]
fn secrets_do_not_reach_the_archive() {
    let sent = b"POST / HTTP/1.1\r\nHost: h\r\nAuthorization: Basic c2VjcmV0\r\nx-key: id=7\r\n\r\npass=word";
    let secrets = [AUTHORIZATION, HeaderName::from_static("x-key")];
    let kept = String::from_utf8(redacted(sent, &secrets, true)).unwrap();
    let expected =
        "POST / HTTP/1.1\r\nHost: h\r\nAuthorization: redacted\r\nx-key: redacted\r\n\r\n";
    assert_eq!(kept, expected);
}

#[test]
fn cookies_that_are_set_are_blotted_out_in_place() {
    let mut head =
        *b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=s3cret; Path=/\r\nset-cookie:a=b\r\nSet-Cookie: t0ken; a=b\r\nX: y=z\r\n\r\n";
    blot_cookies(&mut head);
    let expected = "HTTP/1.1 200 OK\r\nSet-Cookie: sid=******; Path=/\r\nset-cookie:a=*\r\nSet-Cookie: *****; a=b\r\nX: y=z\r\n\r\n";
    assert_eq!(String::from_utf8_lossy(&head), expected);
}
