//! Serving the web: HTTP/1.1 with keep-alive by hand, one `writev` for an answer.
//!
//! Each thread has a listener of its own on the same port and an event loop of its own; the kernel
//! shares the connections out. Who connects to an address that is no host of the web, such as 127.0.0.1,
//! is told what was asked for so far. Latency is a timer, so thousands of answers may wait at a time.

use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use memchr::{memchr, memmem};
use socket2::{Domain, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::latency::Plan;
use crate::ledger::Ledger;
use crate::web::{PARTS, Resource, Scratch, Web};

const BACKLOG: i32 = 4_096;
/// A longer request is not answered.
const REQUEST_BYTES_MAX: usize = 16 * 1024;

/// What all connections share.
pub struct Shared {
    /// What is served.
    pub web: Web,
    /// What was asked for.
    pub ledger: Ledger,
    /// When it is answered.
    pub latency: Plan,
}

/// Opens a listener for one thread.
pub fn listen(port: u16) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)).into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Serves on this listener for good.
pub async fn serve(listener: std::net::TcpListener, shared: Arc<Shared>) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        // Too many open files, or a peer that is gone already: the next one may do better.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        shared.ledger.connected();
        tokio::spawn(converse(stream, shared.clone()));
    }
}

/// One connection until the peer closes it or breaks it; neither is of interest.
async fn converse(mut stream: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let host = shared.web.host(stream.local_addr()?.ip());
    let (mut buffer, mut scratch) = (Vec::with_capacity(1_024), Scratch::default());
    let Some(host) = host else { return tell(stream, &shared.ledger).await };
    while let Some(end) = request_end(&mut stream, &mut buffer).await? {
        let request = Request::read(&buffer[..end]);
        let latency = shared.latency.at(shared.ledger.requested());
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        let place = (host, shared.web.resource(request.path));
        answer(&mut stream, &shared, place, &request, &mut scratch).await?;
        if request.closes {
            break;
        }
        buffer.drain(..end);
    }
    Ok(())
}

/// What was asked for so far, for whoever connects to an address that is no host of the web. It does
/// not count as a request.
async fn tell(mut stream: TcpStream, ledger: &Ledger) -> io::Result<()> {
    let report = ledger.report().to_string();
    let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", report.len());
    stream.write_all((head + &report).as_bytes()).await?;
    // Read to the end: closing with unread bytes would reset the connection.
    stream.shutdown().await?;
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.map(|_| ())
}

async fn answer(
    stream: &mut TcpStream,
    shared: &Shared,
    place: (usize, Resource),
    request: &Request<'_>,
    scratch: &mut Scratch,
) -> io::Result<()> {
    let spec = shared.web.spec();
    let gzip = spec.gzip && request.gzip && matches!(place.1, Resource::Page(_));
    let parts = shared.web.answer(place, gzip, scratch);
    let mut parts = if request.head_only { head_only(parts) } else { parts };
    if let (host, Resource::Page(page)) = place {
        shared.ledger.page(host * spec.pages + page);
    }
    shared.ledger.answered(parts.iter().map(|part| part.len()).sum(), gzip);
    write_all(stream, &mut parts).await
}

fn head_only(parts: [&[u8]; PARTS]) -> [&[u8]; PARTS] {
    let end = memmem::find(parts[0], b"\r\n\r\n").expect("the head ends") + 4;
    let mut only = [&[][..]; PARTS];
    only[0] = &parts[0][..end];
    only
}

/// One system call, unless the peer is slow.
async fn write_all(stream: &mut TcpStream, parts: &mut [&[u8]]) -> io::Result<()> {
    let mut slices: [IoSlice; PARTS] = std::array::from_fn(|at| IoSlice::new(parts[at]));
    let mut slices = &mut slices[..];
    while slices.iter().any(|slice| !slice.is_empty()) {
        let written = stream.write_vectored(slices).await?;
        IoSlice::advance_slices(&mut slices, written);
    }
    Ok(())
}

/// Reads until the buffer begins with a whole request; none if the peer has closed.
async fn request_end(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
    loop {
        if let Some(end) = memmem::find(buffer, b"\r\n\r\n") {
            return Ok(Some(end + 4));
        }
        if buffer.len() > REQUEST_BYTES_MAX || stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

/// The little that a request says to us.
struct Request<'a> {
    path: &'a [u8],
    head_only: bool,
    gzip: bool,
    closes: bool,
}

impl<'a> Request<'a> {
    fn read(bytes: &'a [u8]) -> Self {
        let has = |needle: &[u8]| memmem::find(bytes, needle).is_some();
        let old = has(b" HTTP/1.0\r\n") && !has(b"eep-");
        Self {
            path: path(bytes).unwrap_or_default(),
            head_only: bytes.starts_with(b"HEAD "),
            gzip: has(b"gzip"),
            closes: old || has(b"onnection: close") || has(b"onnection: Close"),
        }
    }
}

fn path(request: &[u8]) -> Option<&[u8]> {
    let rest = &request[memchr(b' ', request)? + 1..];
    Some(&rest[..memchr(b' ', rest)?])
}
