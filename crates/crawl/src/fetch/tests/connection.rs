//! Connections: opened, used again, found dead.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::server::*;
use super::*;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn a_connection_is_used_again() {
    for bytes in [
        OK,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 304 No\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
    ] {
        let (server, accepted) = answering(bytes).await;
        let fetcher = fetcher(Limits::default());
        for _ in 0..3 {
            let fetched = get(&fetcher, server).await.unwrap();
            assert_eq!(fetched.raw.as_ref(), bytes, "each exchange has its own bytes");
            assert!(fetched.request.starts_with(b"GET / "));
        }
        assert_eq!(accepted.load(Ordering::SeqCst), 1);
        assert_eq!((fetcher.counts().opened, fetcher.counts().reused), (1, 2));
    }
}

#[tokio::test]
async fn a_connection_is_not_used_again_after_a_body_without_a_known_end() {
    #[rustfmt::skip]
    let rows: &[(&str, &[u8])] = &[
        ("asked to close", b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"),
        ("HTTP/1.0", b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ("something after the end", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok?"),
        ("cut", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n012345678"),
    ];
    for (name, bytes) in rows {
        let (server, accepted) = answering(bytes).await;
        let limits = Limits { body_bytes_max: 5, ..Limits::default() };
        let fetcher = fetcher(limits);
        for _ in 0..2 {
            assert_eq!(get(&fetcher, server).await.unwrap().status, 200);
        }
        assert_eq!(accepted.load(Ordering::SeqCst), 2, "{name}");
    }
}

#[tokio::test]
async fn an_idle_connection_that_the_server_closed_is_replaced() {
    let (server, accepted) = start(|_, mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(OK).await;
    })
    .await;
    let fetcher = fetcher(Limits::default());
    for _ in 0..3 {
        assert_eq!(get(&fetcher, server).await.unwrap().payload.as_ref(), b"ok");
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn an_idle_connection_that_dies_on_the_request_is_replaced_once() {
    // The first connection answers once and then hangs up on what is asked next.
    let (server, accepted) = start(|number, mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(OK).await;
        read_request(&mut stream).await;
        if number > 0 {
            let _ = stream.write_all(OK).await;
        }
    })
    .await;
    let (fetcher, calls) = (fetcher(Limits::default()), Calls::default());
    get(&fetcher, server).await.unwrap();
    let fetched = fetcher.fetch(&permit(server, "/"), &|at| calls.add(at)).await.unwrap();
    assert_eq!(fetched.payload.as_ref(), b"ok");
    assert_eq!(fetched.notes.len(), 1, "{:?}", fetched.notes);
    assert_eq!(calls.all().len(), 1);
    assert_eq!(accepted.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_fresh_connection_that_dies_is_not_tried_again() {
    let (server, accepted) = start(|_, mut stream| async move {
        read_request(&mut stream).await;
    })
    .await;
    let failure = get(&fetcher(Limits::default()), server).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Reset);
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_used_connection_that_breaks_within_an_answer_is_not_replaced() {
    let (server, accepted) = start(|_, mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(OK).await;
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 O").await;
    })
    .await;
    let fetcher = fetcher(Limits::default());
    get(&fetcher, server).await.unwrap();
    assert_eq!(get(&fetcher, server).await.unwrap_err().class, FailureClass::Reset);
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn nobody_at_the_port_is_a_refusal() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let calls = Calls::default();
    let fetcher = fetcher(Limits::default());
    let failure = fetcher.fetch(&permit(server, "/"), &|at| calls.add(at)).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Refused);
    assert!(calls.all().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn a_fetch_that_is_given_up_hangs_up() {
    let hung_up = Arc::new(Notify::new());
    let notify = hung_up.clone();
    let (server, accepted) = start(move |_, mut stream| {
        let notify = notify.clone();
        async move {
            while stream.read_u8().await.is_ok() {}
            notify.notify_one();
        }
    })
    .await;
    let fetcher = fetcher(Limits::default());
    let mut fetch = Box::pin(get(&fetcher, server));
    while accepted.load(Ordering::SeqCst) == 0 {
        assert!(is_pending(&mut fetch).await);
        tokio::task::yield_now().await;
    }
    drop(fetch);
    hung_up.notified().await;
}

#[tokio::test]
async fn a_body_longer_than_any_header_block_does_not_count_as_one() {
    let bytes = [&b"HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n"[..], &[b'x'; 4_000]].concat();
    let (server, accepted) = answering(bytes.leak()).await;
    let fetcher = fetcher(Limits { header_bytes_max: 100, ..Limits::default() });
    for _ in 0..2 {
        assert_eq!(get(&fetcher, server).await.unwrap().payload.len(), 4_000);
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
}
