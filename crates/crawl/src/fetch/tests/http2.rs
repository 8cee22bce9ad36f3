//! HTTP/2, spoken with a real server, and with one that breaks it.

use bytes::Bytes;
use larm_core::{Protocol, Truncated};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::server::start;
use super::tls::{Spoken, acceptor, permit_for, trusting};
use super::*;

/// A server of HTTP/2 with `answer` for each stream.
async fn http2_site<F>(
    answer: impl Fn(h2::server::SendResponse<Bytes>) -> F + Send + Clone + 'static,
) -> Spoken
where
    F: Future<Output = ()> + Send,
{
    let (acceptor, pem) = acceptor("h.example", &[b"h2"]);
    let (address, accepted) = start(move |_, stream| {
        let (acceptor, answer) = (acceptor.clone(), answer.clone());
        async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((_, respond))) = connection.accept().await {
                // The connection has to be driven for the answer to get out.
                let answer = answer(respond);
                tokio::pin!(answer);
                tokio::select! {
                    () = &mut answer => {}
                    _ = connection.accept() => return,
                }
            }
        }
    })
    .await;
    Spoken { address, pem, accepted }
}

async fn fetch(site: &Spoken, http2: bool) -> Result<Fetched, Failure> {
    let plan = FetchPlan { http2, ..trusting(&site.pem) };
    let fetcher = HttpFetch::new(plan, None, Limits::default(), Clock::start()).unwrap();
    fetcher.fetch(&permit_for("h.example", site.address), &|_| {}).await
}

#[tokio::test]
async fn an_answer_is_written_down_as_http1_and_says_that_it_came_by_h2() {
    let site = http2_site(|mut respond| async move {
        let head = ::http::Response::builder().status(200).header("content-type", "text/html");
        let mut body = respond.send_response(head.body(()).unwrap(), false).unwrap();
        body.send_data(Bytes::from_static(b"hello "), false).unwrap();
        body.send_data(Bytes::from_static(b"world"), true).unwrap();
    })
    .await;
    let calls = Calls::default();
    let plan = FetchPlan { http2: true, ..trusting(&site.pem) };
    let fetcher = HttpFetch::new(plan, None, Limits::default(), Clock::start()).unwrap();
    for _ in 0..2 {
        let permit = permit_for("h.example", site.address);
        let fetched = fetcher.fetch(&permit, &|at| calls.add(at)).await.unwrap();
        assert_eq!(fetched.protocol, Protocol::Http2);
        let expected = &b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\nhello world"[..];
        assert_eq!(fetched.raw, expected);
        assert_eq!((fetched.truncated, &fetched.payload[..]), (None, &b"hello world"[..]));
        let request = String::from_utf8(fetched.request).unwrap();
        let host = format!(
            "GET / HTTP/1.1\r\nHost: h.example:{}\r\nuser-agent: larm/",
            site.address.port()
        );
        assert!(request.starts_with(&host) && request.ends_with("\r\n\r\n"), "{request}");
        let names: Vec<&str> = fetched.facts.iter().map(|fact| &*fact.name).collect();
        assert_eq!(names, ["tls-version", "tls-cipher-suite", "tls-certificate"]);
    }
    assert_eq!(calls.all().len(), 2, "each request tells when it was sent");
    assert_eq!(
        site.accepted.load(std::sync::atomic::Ordering::SeqCst),
        1,
        "one connection for both"
    );
}

#[tokio::test]
async fn without_being_asked_for_http2_is_not_offered() {
    let site = http2_site(|_| async {}).await;
    let failure = fetch(&site, false).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Tls, "the server knows nothing else: {failure}");
}

#[tokio::test]
async fn a_stream_that_is_reset_is_a_failure_before_the_head_and_a_cut_after_it() {
    let site = http2_site(|mut respond| async move {
        respond.send_reset(h2::Reason::ENHANCE_YOUR_CALM);
    })
    .await;
    let failure = fetch(&site, true).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Reset);
    assert!(failure.detail.contains("ended the HTTP/2 stream"), "{failure}");
    let site = http2_site(|mut respond| async move {
        let mut body = respond.send_response(::http::Response::new(()), false).unwrap();
        body.send_data(Bytes::from_static(b"half"), false).unwrap();
        // What was given to the library has to be written first.
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        body.send_reset(h2::Reason::INTERNAL_ERROR);
    })
    .await;
    let fetched = fetch(&site, true).await.unwrap();
    assert_eq!(fetched.truncated, Some(Truncated::Disconnect));
}

/// A server that answers the preface with these bytes, again and again if it is to.
async fn frames(first: &'static [u8], again: &'static [u8]) -> Spoken {
    let (acceptor, pem) = acceptor("h.example", &[b"h2"]);
    let (address, accepted) = start(move |_, stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let _ = stream.write_all(first).await;
            while !again.is_empty() && stream.write_all(again).await.is_ok() {}
            let _ = stream.read(&mut [0; 64]).await;
            while matches!(stream.read(&mut [0; 1024]).await, Ok(n) if n > 0) {}
        }
    })
    .await;
    Spoken { address, pem, accepted }
}

#[tokio::test]
async fn servers_that_break_http2_are_failures_with_a_reason() {
    const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    // GOAWAY, last stream 0, ENHANCE_YOUR_CALM.
    const GOAWAY: &[u8] =
        &[0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11];
    // A HEADERS frame of 4 bytes that no table explains, on stream 1.
    const BROKEN: &[u8] =
        &[0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 1, 5, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff];
    #[rustfmt::skip]
    let rows: &[(&str, &'static [u8], &'static [u8], FailureClass)] = &[
        ("goes away", GOAWAY, b"", FailureClass::Reset),
        ("speaks HTTP/1", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"", FailureClass::Protocol),
        ("headers that cannot be read", BROKEN, b"", FailureClass::Protocol),
        ("settings without end", SETTINGS, SETTINGS, FailureClass::FirstByteTimeout),
        ("nothing but silence", b"", b"", FailureClass::FirstByteTimeout),
    ];
    for (name, first, again, class) in rows {
        let site = frames(first, again).await;
        let plan = FetchPlan { http2: true, ..trusting(&site.pem) };
        let limits = Limits { first_byte_ms_max: 300, ..Limits::default() };
        let fetcher = HttpFetch::new(plan, None, limits, Clock::start()).unwrap();
        let answer = fetcher.fetch(&permit_for("h.example", site.address), &|_| {}).await;
        let failure = answer.map(|_| ()).unwrap_err();
        assert_eq!(failure.class, *class, "{name}: {failure}");
    }
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let site = http2_site(|mut respond| async move {
        let mut head = ::http::Response::builder();
        for n in 0..400 {
            head = head.header(format!("x-{n}"), "v".repeat(1_000));
        }
        let _ = respond.send_response(head.body(()).unwrap(), true);
    })
    .await;
    let failure = fetch(&site, true).await.unwrap_err();
    assert!(matches!(failure.class, FailureClass::Protocol | FailureClass::Reset), "{failure}");
}
