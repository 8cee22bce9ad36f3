//! Proxies: real ones, of a few lines each, between us and a server.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

use super::server::*;
use super::tls::{Farewell, permit_for, site, trusting};
use super::*;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// What proxies were asked for.
type Asked = Arc<Mutex<Vec<String>>>;

/// A SOCKS5 proxy that leads everything to `server`, and wants `user`, if any.
async fn socks(server: SocketAddr, user: Option<&'static str>) -> (SocketAddr, Asked) {
    let asked = Asked::default();
    let log = asked.clone();
    let (address, _) = start(move |_, mut stream| {
        let log = log.clone();
        async move {
            let count = stream.read_u16().await.unwrap() & 0xff;
            let mut methods = vec![0; usize::from(count)];
            stream.read_exact(&mut methods).await.unwrap();
            let method = if user.is_some() { 2 } else { 0 };
            stream.write_all(&[5, method]).await.unwrap();
            if let Some(user) = user {
                let mut given = vec![0; 1];
                stream.read_exact(&mut given).await.unwrap();
                let given = [text(&mut stream).await, text(&mut stream).await].join(":");
                let refused = u8::from(given != user);
                let _ = stream.write_all(&[1, refused]).await;
                if refused > 0 {
                    return;
                }
            }
            let mut head = [0; 4];
            stream.read_exact(&mut head).await.unwrap();
            let host = match head[3] {
                1 => std::net::Ipv4Addr::from(stream.read_u32().await.unwrap()).to_string(),
                _ => text(&mut stream).await,
            };
            let port = stream.read_u16().await.unwrap();
            log.lock().unwrap().push(format!("{host}:{port}"));
            stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
            let mut onward = TcpStream::connect(server).await.unwrap();
            let _ = copy_bidirectional(&mut stream, &mut onward).await;
        }
    })
    .await;
    (address, asked)
}

async fn text(stream: &mut TcpStream) -> String {
    let mut bytes = vec![0; usize::from(stream.read_u8().await.unwrap())];
    stream.read_exact(&mut bytes).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

/// An HTTP proxy: CONNECT leads to `server` after `answer`, anything else is answered by itself.
async fn http(server: SocketAddr, answer: &'static [u8]) -> (SocketAddr, Asked) {
    let asked = Asked::default();
    let log = asked.clone();
    let (address, _) = start(move |_, mut stream| {
        let log = log.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                let request = String::from_utf8(request).unwrap();
                let tunnel = request.starts_with("CONNECT ");
                log.lock().unwrap().push(request);
                let _ = stream.write_all(if tunnel { answer } else { OK }).await;
                if tunnel {
                    let mut onward = TcpStream::connect(server).await.unwrap();
                    let _ = copy_bidirectional(&mut stream, &mut onward).await;
                    return;
                }
            }
        }
    })
    .await;
    (address, asked)
}

fn by_way_of(proxy: &str) -> FetchPlan {
    let proxy: Option<Proxy> = Some(proxy.parse().unwrap());
    let proxies = ProxyPlan { https: proxy.clone(), http: proxy, ..ProxyPlan::default() };
    FetchPlan { proxies, ..FetchPlan::default() }
}

async fn get_by(plan: FetchPlan, permit: &Permit) -> Result<Fetched, Failure> {
    let fetcher = HttpFetch::new(plan, None, Limits::default(), Clock::start()).unwrap();
    fetcher.fetch(permit, &|_| {}).await
}

#[tokio::test]
async fn socks_gets_an_address_or_a_name_as_its_kind_says() {
    let server = answering_once(OK).await;
    let url = CrawlUrl::from_canonical("http://h.example:81/").unwrap();
    let permit = Permit::for_test(url, "192.0.2.7".parse().unwrap());
    for (kind, expected, peer) in
        [("socks5", "192.0.2.7:81", Some("192.0.2.7:81")), ("socks5h", "h.example:81", None)]
    {
        let (proxy, asked) = socks(server, None).await;
        let fetched = get_by(by_way_of(&format!("{kind}://{proxy}")), &permit).await.unwrap();
        assert_eq!(fetched.payload, "ok");
        assert_eq!(*asked.lock().unwrap(), [expected]);
        assert_eq!(fetched.peer, peer.map(|peer| peer.parse().unwrap()), "{kind}");
        assert!(String::from_utf8_lossy(&fetched.request).starts_with("GET / HTTP/1.1\r\n"));
        assert_eq!(&*fetched.facts[0].name, "proxy");
    }
}

#[tokio::test]
async fn socks_with_a_password_lets_in_those_who_have_it() {
    let server = answering_once(OK).await;
    let url = CrawlUrl::from_canonical("http://h.example/").unwrap();
    let permit = Permit::for_test(url, "192.0.2.7".parse().unwrap());
    let (proxy, _) = socks(server, Some("u:p")).await;
    assert!(get_by(by_way_of(&format!("socks5://u:p@{proxy}")), &permit).await.is_ok());
    let failure = get_by(by_way_of(&format!("socks5://u:q@{proxy}")), &permit).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Proxy, "{failure}");
    assert!(!failure.detail.contains("u:q"), "no password in words: {failure}");
}

#[tokio::test]
async fn an_http_proxy_reads_plain_requests_and_tunnels_the_others() {
    let site = site("h.example", OK, Farewell::Said).await;
    let (proxy, asked) = http(site.address, b"HTTP/1.1 200 Go on\r\nVia: x\r\n\r\n").await;
    let plan =
        FetchPlan { ca_file: trusting(&site.pem).ca_file, ..by_way_of(&format!("u:p@{proxy}")) };
    let url = CrawlUrl::from_canonical("http://h.example/a?b").unwrap();
    let plain = Permit::for_test(url, "192.0.2.7".parse().unwrap());
    let fetched = get_by(plan.clone(), &plain).await.unwrap();
    let request = String::from_utf8(fetched.request).unwrap();
    assert!(request.contains("\r\nProxy-Authorization: redacted\r\n"), "{request}");
    let secure = permit_for("h.example", site.address);
    let fetched = get_by(plan, &secure).await.unwrap();
    assert_eq!(fetched.payload, "ok");
    assert!(!String::from_utf8_lossy(&fetched.request).contains("Proxy-"));
    let asked = asked.lock().unwrap();
    assert!(
        asked[0].starts_with("GET http://h.example/a?b HTTP/1.1\r\nHost: h.example\r\n"),
        "{}",
        asked[0]
    );
    let connect = format!("CONNECT h.example:{} HTTP/1.1\r\n", site.address.port());
    assert!(asked[1].starts_with(&connect) && asked[1].contains("Basic dTpw"), "{}", asked[1]);
}

#[tokio::test]
async fn what_a_proxy_refuses_is_held_against_the_one_at_fault() {
    let site = site("h.example", OK, Farewell::Said).await;
    #[rustfmt::skip]
    let rows: &[(&'static [u8], FailureClass)] = &[
        (b"HTTP/1.1 407 No\r\n\r\n", FailureClass::Proxy),
        (b"HTTP/1.1 403 No\r\n\r\n", FailureClass::Refused),
        (b"HTTP/1.1 504 Late\r\n\r\n", FailureClass::Unroutable),
        (b"SSH-2.0-x\r\n\r\n", FailureClass::Proxy),
    ];
    for (answer, class) in rows {
        let (proxy, _) = http(site.address, answer).await;
        let permit = permit_for("h.example", site.address);
        let failure = get_by(by_way_of(&format!("http://{proxy}")), &permit).await.unwrap_err();
        assert_eq!(failure.class, *class, "{failure}");
    }
    let permit = permit_for("h.example", site.address);
    let failure = get_by(by_way_of("http://127.0.0.1:1"), &permit).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Proxy, "{failure}");
}
