//! Bodies: whole, cut, broken, endless, unwanted.

use std::sync::Arc;

use larm_core::Truncated;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::server::*;
use super::*;

#[tokio::test]
async fn bodies_end_where_they_say() {
    #[rustfmt::skip]
    let rows: &[(&str, &[u8], &[u8])] = &[
        ("length", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", b"abc"),
        ("chunks", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x=y\r\nbc\r\n0\r\nT: u\r\n\r\n", b"abc"),
        ("close", b"HTTP/1.1 200 OK\r\n\r\nabc", b"abc"),
        ("no body", b"HTTP/1.1 204 No\r\n\r\n", b""),
        ("not modified, with a length", b"HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n", b""),
        ("nothing until close", b"HTTP/1.1 200 OK\r\n\r\n", b""),
    ];
    for (name, bytes, payload) in rows {
        let fetched = outcome_of(bytes, Limits::default()).await.unwrap();
        assert_eq!(fetched.payload.as_ref(), *payload, "{name}");
        assert_eq!(fetched.raw.as_ref(), *bytes, "{name}");
        assert_eq!(fetched.truncated, None, "{name}");
        assert!(fetched.notes.is_empty(), "{name}: {:?}", fetched.notes);
    }
}

#[tokio::test]
async fn what_comes_after_the_end_is_dropped_with_a_note() {
    #[rustfmt::skip]
    let rows: &[(&[u8], &[u8])] = &[
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", b"abc"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"3\r\nabc\r\n0\r\n\r\n"),
        (b"HTTP/1.1 204 No\r\n\r\n", b""),
    ];
    for (head, body) in rows {
        let bytes = [head, *body, b"HTTP/1.1 200 OK\r\n\r\nforged"].concat().leak();
        let fetched = outcome_of(bytes, Limits::default()).await.unwrap();
        assert_eq!(fetched.raw, [*head, *body].concat());
        assert_eq!((fetched.truncated, fetched.notes.len()), (None, 1));
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_kept_as_far_as_it_came() {
    #[rustfmt::skip]
    let rows: &[(&str, &[u8], &[u8])] = &[
        ("length", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", b"abc"),
        ("nothing of it", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b""),
        ("in a chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", b"abc"),
        ("no last chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", b"abc"),
        ("not a chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzzz\r\n", b"abc"),
    ];
    for (name, bytes, payload) in rows {
        let fetched = outcome_of(bytes, Limits::default()).await.unwrap();
        assert_eq!(fetched.truncated, Some(Truncated::Disconnect), "{name}");
        assert_eq!(fetched.payload.as_ref(), *payload, "{name}");
        assert_eq!(fetched.raw.as_ref(), *bytes, "{name}");
    }
}

/// The header blocks of three ways to send a body without end, and what is repeated.
const ENDLESS: &[(&[u8], &[u8])] = &[
    (b"HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 1_000]),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", &[b'x'; 1_000]),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
];

#[tokio::test]
async fn a_body_without_end_is_cut_at_its_limit() {
    for body_small_bytes_max in [1_000, 100_000] {
        for (head, rest) in ENDLESS {
            let limits =
                Limits { body_small_bytes_max, body_bytes_max: 50_001, ..Limits::default() };
            let fetched = get(&fetcher(limits), endless(head, rest).await).await.unwrap();
            assert_eq!(fetched.truncated, Some(Truncated::Length));
            assert_eq!(fetched.raw.len() - fetched.head_bytes, 50_001);
            assert_eq!(fetched.reservation.bytes(), 50_001, "all of it is covered");
            assert!(fetched.payload.iter().all(|&byte| byte == b'x'));
            assert!(fetched.payload.len() > 8_000);
        }
    }
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_whole() {
    for bytes in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"[..],
        b"HTTP/1.1 200 OK\r\n\r\n0123456789",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789 and more",
    ] {
        let limits = Limits { body_bytes_max: 10, ..Limits::default() };
        let fetched = outcome_of(bytes, limits).await.unwrap();
        assert_eq!(fetched.payload.as_ref(), b"0123456789");
        assert_eq!(fetched.truncated, None);
    }
    let limits = Limits { body_bytes_max: 9, ..Limits::default() };
    let fetched = outcome_of(b"HTTP/1.1 200 OK\r\n\r\n0123456789", limits).await.unwrap();
    assert_eq!(
        (fetched.payload.as_ref(), fetched.truncated),
        (&b"012345678"[..], Some(Truncated::Length))
    );
}

#[tokio::test]
async fn a_body_that_takes_too_long_is_cut() {
    tokio::join!(
        stalls_after(b"HTTP/1.1 200 OK\r\n\r\nabc"),
        stalls_after(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
        stalls_after(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"),
    );
}

async fn stalls_after(bytes: &'static [u8]) {
    let limits = Limits { fetch_ms_max: 1_000, ..Limits::default() };
    let fetched = get(&fetcher(limits), stalling(bytes).await).await.unwrap();
    assert_eq!(fetched.truncated, Some(Truncated::Time));
    assert_eq!((fetched.payload.as_ref(), fetched.raw.as_ref()), (&b"abc"[..], bytes));
}

#[tokio::test]
async fn a_body_that_comes_byte_by_byte_is_cut_when_the_time_is_over() {
    let (server, _) = start(|_, mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while stream.write_all(b"x").await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let limits = Limits { fetch_ms_max: 1_000, ..Limits::default() };
    let fetched = get(&fetcher(limits), server).await.unwrap();
    assert_eq!(fetched.truncated, Some(Truncated::Time));
    assert!(fetched.payload.iter().all(|&byte| byte == b'x'));
}

#[tokio::test]
async fn a_body_that_drips_does_not_hold_its_place_for_as_long_as_a_fetch_may_take() {
    let (server, _) = start(|_, mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").await;
        let _ = stream.write_all(b"abc").await;
        let _ = stream.read(&mut [0; 1]).await;
    })
    .await;
    let limits = Limits { fetch_ms_max: 3_600_000, body_slow_ms_max: 50, ..Limits::default() };
    let fetched = get(&fetcher(limits), server).await.unwrap();
    assert_eq!((fetched.payload.as_ref(), fetched.truncated), (&b"abc"[..], Some(Truncated::Time)));
}

#[tokio::test]
async fn bytes_that_came_buy_time_for_the_rest() {
    let (server, _) = start(|_, mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1009\r\n\r\n").await;
        let _ = stream.write_all(&[b'x'; 1_000]).await;
        // Longer than the time of grace, in which the client has nothing to say.
        let silence = std::time::Duration::from_millis(30);
        let _ = tokio::time::timeout(silence, stream.read(&mut [0; 1])).await;
        let _ = stream.write_all(b"the rest.").await;
    })
    .await;
    let limits = Limits { body_slow_ms_max: 1, body_bytes_per_second_min: 10, ..Limits::default() };
    let fetched = get(&fetcher(limits), server).await.unwrap();
    assert_eq!((fetched.payload.len(), fetched.truncated), (1_009, None));
}

#[tokio::test]
async fn types_that_nobody_asked_for_are_not_read() {
    const VIDEO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n";
    let server = endless(VIDEO, &[0; 1_000]).await;
    let plan = FetchPlan { accept: vec!["audio/*".to_owned()], ..FetchPlan::default() };
    let fetcher = HttpFetch::new(plan, None, Limits::default(), Clock::start()).unwrap();
    let fetched = get(&fetcher, server).await.unwrap();
    assert_eq!(fetched.truncated, Some(Truncated::Unwanted));
    assert_eq!((fetched.raw.as_ref(), fetched.payload.len()), (VIDEO, 0));
    let server = answering_once(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nabc").await;
    assert_eq!(get(&fetcher, server).await.unwrap().payload.as_ref(), b"abc");
}

#[tokio::test]
async fn a_body_is_decoded_as_its_headers_say() {
    let text = b"text ".repeat(1_000);
    let zipped = zstd::encode_all(&text[..], 3).unwrap();
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n";
    let fetched =
        outcome_of([&head[..], &zipped].concat().leak(), Limits::default()).await.unwrap();
    assert_eq!(fetched.payload, zipped);
    assert_eq!(fetched.decoded(&Limits::default()).bytes, text);
}

#[tokio::test]
async fn large_bodies_wait_for_each_other_and_the_wait_does_not_count() {
    let limits = Limits {
        body_small_bytes_max: 1_000,
        body_bytes_max: 100_000,
        bodies_bytes_max: 100_000,
        fetch_ms_max: 1_000,
        ..Limits::default()
    };
    let go_on = Arc::new(Notify::new());
    let server = pausing(go_on.clone()).await;
    let (fetcher, clock) = (fetcher(limits), Clock::start());
    go_on.notify_one();
    let first = get(&fetcher, server).await.unwrap();
    let mut second = Box::pin(get(&fetcher, server));
    let late = clock.now().after(1_200);
    while fetcher.counts().large_waits == 0 || clock.now() < late {
        assert!(is_pending(&mut second).await);
        tokio::task::yield_now().await;
    }
    drop(first);
    assert!(is_pending(&mut second).await, "its time is not over yet");
    go_on.notify_one();
    let second = second.await.unwrap();
    assert_eq!((second.payload.len(), second.truncated), (4_000, None));
}

/// Answers with two halves of a body, the second one when it is told to go on.
async fn pausing(go_on: Arc<Notify>) -> SocketAddr {
    let serve = move |_, mut stream: TcpStream| {
        let go_on = go_on.clone();
        async move {
            while read_request(&mut stream).await.is_some() {
                let head = b"HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n";
                let _ = stream.write_all(&[&head[..], &[b'x'; 2_000]].concat()).await;
                go_on.notified().await;
                let _ = stream.write_all(&[b'x'; 2_000]).await;
            }
        }
    };
    start(serve).await.0
}
