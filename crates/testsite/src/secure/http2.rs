//! What can be wrong with the HTTP/2 of a host.
//!
//! Every host serves a robots.txt, a start page and the pages that it links to, in the order in which it is
//! asked: what a request is for is not looked at. Request number [`BAD_REQUEST`] meets the trouble, once;
//! asked again, the host is well. So a crawler that tries again finds every page, and one that does not
//! misses a single one. Those that fail before any request fail each time.

use std::io;
use std::sync::atomic::Ordering;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::frame::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, GOAWAY, HEADERS, PING, PUSH_PROMISE,
    RST_STREAM, SETTINGS, block, frame, read_preface, text,
};
use super::{Host, page};
use crate::hostile::{ENDLESS_BYTES_MAX, family};

family! {
    /// Ways in which HTTP/2 fails.
    Http2 {
        /// Not at all: all is well.
        Fine = "h2-fine",
        /// Resets the stream: an error of its own.
        ResetsStream = "h2-resets-stream",
        /// Resets the stream: it was not looked at.
        RefusesStream = "h2-refuses-stream",
        /// Resets the stream in the middle of the body.
        ResetsBody = "h2-resets-body",
        /// Goes away without having looked at the request.
        GoesAway = "h2-goes-away",
        /// Goes away and complains about the client.
        GoesAwayAngry = "h2-goes-away-angry",
        /// Hangs up.
        HangsUp = "h2-hangs-up",
        /// Hangs up in the middle of the body.
        HangsUpInBody = "h2-hangs-up-in-body",
        /// Header fields, and then nothing.
        Stalls = "h2-stalls",
        /// No answer.
        Silent = "h2-silent",
        /// Settings until the client leaves.
        SettingsFlood = "h2-settings-flood",
        /// Pings until the client leaves.
        PingFlood = "h2-ping-flood",
        /// The same in the middle of a body.
        PingFloodInBody = "h2-ping-flood-in-body",
        /// A header block until the client leaves.
        ContinuationFlood = "h2-continuation-flood",
        /// Data until the client leaves, however little it asked for.
        DataFlood = "h2-data-flood",
        /// Data of no bytes until the client leaves.
        EmptyDataFlood = "h2-empty-data-flood",
        /// A small header block that means fifty megabytes.
        HeaderBomb = "h2-header-bomb",
        /// Less than the promised length.
        ShortBody = "h2-short-body",
        /// An answer to what nobody asked.
        UnaskedStream = "h2-unasked-stream",
        /// Pushes what the client does not want.
        Pushes = "h2-pushes",
        /// A frame larger than any may be.
        HugeFrame = "h2-huge-frame",
        /// Allows no stream at all, ever.
        NoStreams = "h2-no-streams",
        /// No settings and no answer, from the start.
        Deaf = "h2-deaf",
        /// No HTTP/2 at all.
        Garbage = "h2-garbage",
    }
}

/// The request that meets the trouble: robots.txt is number 0.
const BAD_REQUEST: usize = 3;

const NO_ERROR: u32 = 0;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;
const ENHANCE_YOUR_CALM: u32 = 11;

type Stream = TlsStream<TcpStream>;

/// Serves one connection.
pub(super) async fn serve(host: &Host, trouble: Http2, stream: TcpStream) -> io::Result<()> {
    let mut stream = host.acceptor.accept(stream).await?;
    read_preface(&mut stream).await?;
    match trouble {
        Http2::Garbage => return last(&mut stream, &[0x55; 3_000]).await,
        Http2::Deaf => return stall(&mut stream).await,
        // SETTINGS_MAX_CONCURRENT_STREAMS is 3.
        Http2::NoStreams => send(&mut stream, &frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 0])).await?,
        _ => send(&mut stream, &frame(SETTINGS, 0, 0, b"")).await?,
    }
    while let Some(frame) = Frame::read(&mut stream).await {
        match frame.kind {
            SETTINGS if frame.flags & ACK == 0 => acknowledge(&mut stream, SETTINGS, b"").await?,
            PING if frame.flags & ACK == 0 => {
                acknowledge(&mut stream, PING, &frame.payload).await?
            }
            HEADERS => {
                let nth = host.requests.fetch_add(1, Ordering::Relaxed);
                match nth == BAD_REQUEST && trouble != Http2::Fine {
                    true => misbehave(&mut stream, trouble, frame.stream).await?,
                    false => answer(&mut stream, frame.stream, nth, trouble).await?,
                }
            }
            _ => {}
        }
    }
    Ok(())
}

async fn acknowledge(stream: &mut Stream, kind: u8, payload: &[u8]) -> io::Result<()> {
    send(stream, &frame(kind, ACK, 0, payload)).await
}

async fn answer(stream: &mut Stream, id: u32, nth: usize, trouble: Http2) -> io::Result<()> {
    if nth == 0 {
        let head = frame(HEADERS, END_HEADERS | END_STREAM, id, &block(404, &[]));
        return send(stream, &head).await;
    }
    let word = trouble.word();
    let body = match nth {
        1 => page::start(word, &[]),
        _ => page::leaf(word, &format!("number {nth}")),
    };
    let data = frame(DATA, END_STREAM, id, body.as_bytes());
    send(stream, &[head(id, body.len()), data].concat()).await
}

fn head(id: u32, length: usize) -> Vec<u8> {
    let fields = [("content-type", "text/html"), ("content-length", &length.to_string())];
    frame(HEADERS, END_HEADERS, id, &block(200, &fields))
}

async fn misbehave(stream: &mut Stream, trouble: Http2, id: u32) -> io::Result<()> {
    if let Some(piece) = endless(trouble, id) {
        return flood(stream, opening(trouble, id), &piece).await;
    }
    let wire = match trouble {
        Http2::ResetsStream => frame(RST_STREAM, 0, id, &INTERNAL_ERROR.to_be_bytes()),
        Http2::RefusesStream => frame(RST_STREAM, 0, id, &REFUSED_STREAM.to_be_bytes()),
        Http2::ResetsBody => {
            let reset = frame(RST_STREAM, 0, id, &INTERNAL_ERROR.to_be_bytes());
            [head(id, 1_000), frame(DATA, 0, id, b"<p>So far"), reset].concat()
        }
        Http2::GoesAway => return last(stream, &farewell(id - 2, NO_ERROR)).await,
        Http2::GoesAwayAngry => farewell(id - 2, ENHANCE_YOUR_CALM),
        Http2::HangsUp => return stream.shutdown().await,
        Http2::HangsUpInBody => {
            let begun = [head(id, 1_000), frame(DATA, 0, id, b"<p>So far")].concat();
            return last(stream, &begun).await;
        }
        Http2::Stalls => head(id, 1_000),
        Http2::HeaderBomb => frame(HEADERS, END_HEADERS | END_STREAM, id, &bomb()),
        Http2::ShortBody => [head(id, 1_000), frame(DATA, END_STREAM, id, b"<p>Short")].concat(),
        Http2::UnaskedStream => frame(HEADERS, END_HEADERS, id + 100, &block(200, &[])),
        Http2::Pushes => {
            let promise = [&(id + 1).to_be_bytes()[..], &block(200, &[])].concat();
            frame(PUSH_PROMISE, END_HEADERS, id, &promise)
        }
        Http2::HugeFrame => {
            let claimed = [0xff, 0xff, 0xff, DATA, 0];
            [&head(id, 1_000), &claimed[..], &id.to_be_bytes(), &[0; 50_000]].concat()
        }
        _ => Vec::new(),
    };
    send(stream, &wire).await
}

/// What is sent again and again, if the trouble is that it never ends.
fn endless(trouble: Http2, id: u32) -> Option<Vec<u8>> {
    let more = || [&[0, 1, b'a'][..], &[100], &[b'x'; 100]].concat().repeat(100);
    match trouble {
        Http2::SettingsFlood => Some(frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]).repeat(500)),
        Http2::PingFlood | Http2::PingFloodInBody => {
            Some(frame(PING, 0, 0, b"are you?").repeat(500))
        }
        Http2::ContinuationFlood => Some(frame(CONTINUATION, 0, id, &more())),
        Http2::DataFlood => Some(frame(DATA, 0, id, &[b'x'; 16_384])),
        Http2::EmptyDataFlood => Some(frame(DATA, 0, id, b"").repeat(1_000)),
        _ => None,
    }
}

/// What comes before it.
fn opening(trouble: Http2, id: u32) -> Vec<u8> {
    match trouble {
        Http2::ContinuationFlood => frame(HEADERS, 0, id, &block(200, &[])),
        Http2::DataFlood | Http2::EmptyDataFlood | Http2::PingFloodInBody => {
            head(id, 1_000_000_000)
        }
        _ => Vec::new(),
    }
}

async fn flood(stream: &mut Stream, opening: Vec<u8>, piece: &[u8]) -> io::Result<()> {
    send(stream, &opening).await?;
    let mut sent = 0;
    while sent < ENDLESS_BYTES_MAX {
        send(stream, piece).await?;
        sent += piece.len() as u64;
    }
    stream.shutdown().await
}

/// A field of 4 KB that enters the dynamic table, and is named twelve thousand times (index 62).
fn bomb() -> Vec<u8> {
    let mut out = block(200, &[]);
    out.push(0x40);
    text(&mut out, "a");
    text(&mut out, &"x".repeat(4_000));
    out.extend_from_slice(&[0xbe; 12_000]);
    out
}

fn farewell(last_stream: u32, why: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last_stream.to_be_bytes(), why.to_be_bytes()].concat())
}

async fn send(stream: &mut Stream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

async fn last(stream: &mut Stream, bytes: &[u8]) -> io::Result<()> {
    send(stream, bytes).await?;
    stream.shutdown().await
}

async fn stall(stream: &mut Stream) -> io::Result<()> {
    while Frame::read(stream).await.is_some() {}
    Ok(())
}
