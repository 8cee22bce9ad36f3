//! Requests and header blocks.

use super::server::*;
use super::*;

#[tokio::test]
async fn what_was_sent_and_what_came_is_kept_byte_for_byte() {
    const RESPONSE: &[u8] =
        b"HTTP/1.1 200 Fine\r\ncontent-TYPE: text/html\r\nContent-Length: 5\r\nX-A: \xe4\r\n\r\nhello";
    let server = answering_once(RESPONSE).await;
    let (fetcher, calls) = (fetcher(Limits::default()), Calls::default());
    let fetched = fetcher.fetch(&permit(server, "/a?b"), &|at| calls.add(at)).await.unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let request = format!(
        "GET /a?b HTTP/1.1\r\nHost: {server}\r\nUser-Agent: larm/{version}\r\n\
         Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
         Accept-Encoding: gzip, deflate, br, zstd\r\n\r\n"
    );
    assert_eq!(String::from_utf8_lossy(&fetched.request), request);
    assert_eq!(fetched.raw, RESPONSE);
    assert_eq!(fetched.raw[fetched.head_bytes..], *b"hello");
    assert_eq!(fetched.payload.as_ptr(), fetched.raw[fetched.head_bytes..].as_ptr(), "not copied");
    assert_eq!((fetched.status, fetched.truncated), (200, None));
    assert_eq!(fetched.content_type(), Some("text/html"));
    assert_eq!(fetched.header("x-a"), None, "not UTF-8");
    assert_eq!(fetched.peer, Some(server));
    let [sent] = calls.all()[..] else { panic!("{:?}", calls.all()) };
    // Ends are rounded up to the millisecond, so `sent` may lie one behind the first byte.
    let times = [fetched.started, sent, fetched.ended];
    assert!(times.is_sorted(), "{times:?}");
    let times = [fetched.started, fetched.first_byte, fetched.ended];
    assert!(times.is_sorted(), "{times:?}");
}

#[tokio::test]
async fn the_lease_says_where_to_connect_and_the_url_what_to_ask_for() {
    let server = answering_once(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let url = format!("http://elsewhere.invalid:{}/", server.port());
    let permit = Permit::for_test(CrawlUrl::from_canonical(&url).unwrap(), server.ip());
    let fetched = fetcher(Limits::default()).fetch(&permit, &|_| {}).await.unwrap();
    let host = format!("\r\nHost: elsewhere.invalid:{}\r\n", server.port());
    assert!(String::from_utf8_lossy(&fetched.request).contains(&host));
    assert_eq!(fetched.peer, Some(server));
}

#[tokio::test]
async fn redirects_are_answers() {
    const RESPONSE: &[u8] =
        b"HTTP/1.1 301 Moved\r\nLocation: /b\xc3\xa4\r\nContent-Length: 0\r\n\r\n";
    let (server, accepted) = answering(RESPONSE).await;
    let fetched = get(&fetcher(Limits::default()), server).await.unwrap();
    assert_eq!((fetched.status, fetched.header("location")), (301, Some("/bä")));
    assert_eq!(accepted.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[tokio::test]
async fn interim_responses_are_left_out() {
    let fetched = outcome_of(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
          HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        Limits::default(),
    )
    .await
    .unwrap();
    assert_eq!(fetched.raw, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    assert_eq!((fetched.status, fetched.payload.as_ref()), (200, &b"ok"[..]));
    assert_eq!(fetched.header("link"), None);
}

#[tokio::test]
async fn sloppy_header_blocks_are_read() {
    #[rustfmt::skip]
    let rows: &[(&str, &[u8], Option<&str>)] = &[
        ("bare line feeds", b"HTTP/1.1 200 OK\nX: a\nContent-Length: 2\n\nok", Some("a")),
        ("no reason", b"HTTP/1.1 200\r\nX: a\r\nContent-Length: 2\r\n\r\nok", Some("a")),
        ("a line that is none", b"HTTP/1.1 200 OK\r\nwhat?\r\nX: a\r\nContent-Length: 2\r\n\r\nok", Some("a")),
        ("space before the colon", b"HTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 2\r\n\r\nok", Some("a")),
        ("folded", b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok", Some("a b")),
        ("HTTP/1.0", b"HTTP/1.0 200 OK\r\nX: a\r\n\r\nok", Some("a")),
        ("length twice", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", None),
        ("length and chunks", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", None),
    ];
    for (name, bytes, x) in rows {
        let fetched = outcome_of(bytes, Limits::default()).await;
        let fetched = fetched.unwrap_or_else(|class| panic!("{name}: {class}"));
        assert_eq!(fetched.payload.as_ref(), b"ok", "{name}");
        assert_eq!(fetched.header("x"), *x, "{name}");
        assert_eq!(fetched.raw.as_ref(), *bytes, "{name}");
    }
}

#[tokio::test]
async fn what_is_not_http_breaks_the_protocol() {
    #[rustfmt::skip]
    let rows: &[(&str, &[u8])] = &[
        ("garbage", b"\x00\x01\x02\x03\xff\xfe"),
        ("HTTP/0.9", b"<html><title>old</title></html>"),
        ("another protocol", b"SSH-2.0-OpenSSH_9.9\r\n"),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("a version to come", b"HTTP/3.0 200 OK\r\n\r\n"),
        ("no status", b"HTTP/1.1 OK\r\n\r\n"),
        ("length that is none", b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nok"),
        ("two lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"),
        ("negative length", b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok"),
        ("chunks in HTTP/1.0", b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("unasked upgrade", b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    ];
    for (name, bytes) in rows {
        let class = outcome_of(bytes, Limits::default()).await.map(|fetched| fetched.status);
        assert_eq!(class, Err(FailureClass::Protocol), "{name}");
    }
}

#[tokio::test]
async fn a_server_that_speaks_first_is_not_a_web_server() {
    let (server, _) = start(|_, mut stream| async move {
        use tokio::io::AsyncWriteExt;
        let _ = stream.write_all(b"220 mail.example ESMTP\r\n").await;
        read_request(&mut stream).await;
    })
    .await;
    let failure = get(&fetcher(Limits::default()), server).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Protocol);
}

#[tokio::test]
async fn header_blocks_have_limits() {
    let limits = Limits {
        header_bytes_max: 1_000,
        header_fields_max: 10,
        first_byte_ms_max: 20_000,
        ..Limits::default()
    };
    #[rustfmt::skip]
    let rows: &[(&str, &[u8], &[u8])] = &[
        ("one long field", b"HTTP/1.1 200 OK\r\nX: ", &[b'a'; 4_096]),
        ("many fields", b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"),
        ("a status line without end", b"HTTP/1.1 200 ", &[b'a'; 4_096]),
        ("interim responses without end", b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        ("empty lines without end", b"", b"\r\n\r\n\r\n\r\n"),
    ];
    for (name, first, rest) in rows {
        let server = endless(first, rest).await;
        let class = get(&fetcher(limits.clone()), server).await.map_err(|failure| failure.class);
        assert_eq!(class.map(|fetched| fetched.status), Err(FailureClass::Protocol), "{name}");
    }
}

#[tokio::test]
async fn header_blocks_up_to_the_limits_are_read() {
    const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\n\r\n";
    let head_bytes = RESPONSE.len() as u64;
    for (header_bytes_max, header_fields_max, read) in
        [(head_bytes, 2, true), (head_bytes - 1, 2, false), (head_bytes, 1, false)]
    {
        let limits = Limits { header_bytes_max, header_fields_max, ..Limits::default() };
        assert_eq!(outcome_of(RESPONSE, limits).await.is_ok(), read, "{header_bytes_max}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_up_before_its_headers_are_complete_is_reset() {
    for bytes in [&b""[..], b"HTTP", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"] {
        let class = outcome_of(bytes, Limits::default()).await.map(|fetched| fetched.status);
        assert_eq!(class, Err(FailureClass::Reset), "{bytes:?}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_finish_its_headers_is_given_up() {
    let limits = Limits { first_byte_ms_max: 50, ..Limits::default() };
    for bytes in [&b""[..], b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"] {
        let server = stalling(bytes).await;
        let failure = get(&fetcher(limits.clone()), server).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::FirstByteTimeout, "{bytes:?}");
    }
}

#[tokio::test]
async fn a_robots_txt_that_leads_to_a_file_of_this_machine_is_none() {
    use crate::robots::{Reading, RobotsCache};
    let answer = b"HTTP/1.1 301 Moved\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n";
    let fetched = outcome_of(answer, Limits::default()).await.unwrap();
    let cache = RobotsCache::new(
        "larm",
        true,
        crate::plan::SignalPlan::default(),
        std::sync::Arc::new(Limits::default()),
    );
    let asked = CrawlUrl::from_canonical("http://h/robots.txt").unwrap();
    let reading = cache.read(&asked, 0, &Ok(fetched), Millis(0));
    assert!(matches!(reading, Reading::Rules(_)), "{reading:?}");
}
