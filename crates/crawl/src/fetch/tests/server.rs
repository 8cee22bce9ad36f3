//! Servers for one test each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Starts a server that gives each connection, with its number, to `serve`.
#[expect(clippy::disallowed_methods, reason = "a server needs a life of its own beside the fetch")]
pub async fn start<F>(
    serve: impl Fn(usize, TcpStream) -> F + Send + 'static,
) -> (SocketAddr, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accepted = Arc::new(AtomicUsize::new(0));
    let counter = accepted.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(counter.fetch_add(1, Ordering::SeqCst), stream));
        }
    });
    (address, accepted)
}

/// Answers the first request of each connection with `bytes`, then hangs up.
pub async fn answering_once(bytes: &'static [u8]) -> SocketAddr {
    start(move |_, mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(bytes).await;
    })
    .await
    .0
}

/// Answers every request of each connection with `bytes`, and never hangs up.
pub async fn answering(bytes: &'static [u8]) -> (SocketAddr, Arc<AtomicUsize>) {
    start(move |_, mut stream| async move {
        while read_request(&mut stream).await.is_some() {
            let _ = stream.write_all(bytes).await;
        }
    })
    .await
}

/// Sends `first`, then `rest` again and again, as fast as it can.
pub async fn endless(first: &'static [u8], rest: &'static [u8]) -> SocketAddr {
    start(move |_, mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(first).await;
        while stream.write_all(rest).await.is_ok() {}
    })
    .await
    .0
}

/// Sends `bytes` and then nothing more, holding the line.
pub async fn stalling(bytes: &'static [u8]) -> SocketAddr {
    start(move |_, mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(bytes).await;
        let _ = stream.read(&mut [0; 1]).await;
    })
    .await
    .0
}

/// The bytes of one request, or `None` if the client hung up.
pub async fn read_request(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.ok()?);
    }
    Some(request)
}
