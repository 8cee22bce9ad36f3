//! Trouble with the end of a body: lengths that lie, chunks that lie, and bytes that do not come.

use std::io;

use super::{HTML_HEAD, family, until_client_leaves};
use crate::exchange::Exchange;

family! {
    /// Ways to be wrong about where a body ends.
    Body {
        /// The connection closes long before the promised length.
        Short = "short-body",
        /// Far more than the promised length.
        Long = "long-body",
        /// A chunked body that goes on until the client leaves.
        Endless = "endless-body",
        /// A body without any length that goes on until the client leaves.
        EndlessPlain = "endless-plain-body",
        /// A byte a second.
        Dripping = "dripping-body",
        /// The first half, and then silence.
        Stalled = "stalled-body",
        /// An exabyte is promised.
        HugeLength = "huge-length",
        /// A length below nothing.
        NegativeLength = "negative-length",
        /// A length that is no number.
        WordLength = "word-length",
        /// A length that fits into no number.
        OverflowingLength = "overflowing-length",
        /// The length twice, and the same.
        LengthTwice = "length-twice",
        /// Two lengths.
        TwoLengths = "two-lengths",
        /// A length and chunks.
        LengthAndChunks = "length-and-chunks",
        /// A chunk size that is no number.
        BrokenChunks = "broken-chunks",
        /// A chunk size far beyond what comes.
        LyingChunks = "lying-chunks",
        /// More in a chunk than its size says.
        OverfullChunk = "overfull-chunk",
        /// A chunk size that fits into no number.
        OverflowingChunk = "overflowing-chunk",
        /// A chunk size with an extension that goes on until the client leaves.
        EndlessChunkSize = "endless-chunk-size",
        /// Trailer fields until the client leaves.
        EndlessTrailers = "endless-trailers",
        /// An answer that has no body by its status, and has one.
        BodyOfNone = "body-of-204",
    }
}

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n\r\n";

/// Misbehaves in the body.
pub(super) async fn send(exchange: &mut Exchange<'_>, body: Body) -> io::Result<()> {
    if let Some(wire) = at_once(body) {
        return exchange.last(wire.as_bytes()).await;
    }
    let text = "<p>And so on, and so on, for as long as you care to listen.</p>\n".repeat(256);
    let head = |framing: &str| format!("{HTML_HEAD}{framing}");
    match body {
        Body::Endless => {
            exchange.send(head(CHUNKED).as_bytes()).await?;
            let chunk = format!("{:x}\r\n{text}\r\n", text.len());
            until_client_leaves(exchange, chunk.as_bytes()).await
        }
        Body::EndlessPlain => {
            exchange.send(head("\r\n").as_bytes()).await?;
            until_client_leaves(exchange, text.as_bytes()).await
        }
        Body::Dripping => {
            exchange.send(head("Content-Length: 20000\r\n\r\n").as_bytes()).await?;
            exchange.drip(text.as_bytes()).await
        }
        Body::Stalled => {
            let half = head(&format!("Content-Length: {}\r\n\r\n{text}", 2 * text.len()));
            exchange.send(half.as_bytes()).await?;
            exchange.stall().await
        }
        Body::EndlessChunkSize => {
            exchange.send(head(&format!("{CHUNKED}4\r\n<p>a\r\n5;")).as_bytes()).await?;
            until_client_leaves(exchange, "and=on;".repeat(1_000).as_bytes()).await
        }
        _ => {
            exchange.send(head(&format!("{CHUNKED}4\r\n<p>a\r\n0\r\n")).as_bytes()).await?;
            until_client_leaves(exchange, "X-And: on\r\n".repeat(1_000).as_bytes()).await
        }
    }
}

/// The bytes of an answer that is over soon.
fn at_once(body: Body) -> Option<String> {
    let cut = "cut ".repeat(250);
    let fields = match body {
        Body::Short => format!("Content-Length: 5000\r\n\r\n<p>{cut}"),
        Body::Long => format!("Content-Length: 100\r\n\r\n{}", "much more ".repeat(100)),
        Body::HugeLength => format!("Content-Length: 1152921504606846976\r\n\r\n<p>{cut}"),
        Body::NegativeLength => "Content-Length: -5\r\n\r\n<p>Less than nothing.".to_owned(),
        Body::WordLength => "Content-Length: some\r\n\r\n<p>Some.".to_owned(),
        Body::OverflowingLength => {
            format!("Content-Length: {}\r\n\r\n<p>Very much.", "9".repeat(40))
        }
        Body::LengthTwice => "Content-Length: 9\r\nContent-Length: 9\r\n\r\n<p>Twice.".to_owned(),
        Body::TwoLengths => "Content-Length: 9\r\nContent-Length: 5\r\n\r\n<p>Which?".to_owned(),
        Body::LengthAndChunks => {
            format!("Content-Length: 7\r\n{CHUNKED}8\r\n<p>Both.\r\n0\r\n\r\n")
        }
        Body::BrokenChunks => format!("{CHUNKED}4\r\n<p>a\r\nzz\r\nwhat?\r\n"),
        Body::LyingChunks => format!("{CHUNKED}fffff\r\n<p>{cut}"),
        Body::OverfullChunk => format!("{CHUNKED}4\r\n<p>a and more\r\n0\r\n\r\n"),
        Body::OverflowingChunk => format!("{CHUNKED}4\r\n<p>a\r\nfffffffffffffffff\r\nb"),
        Body::BodyOfNone => {
            return Some("HTTP/1.1 204 No Content\r\n\r\n<p>There is some.".to_owned());
        }
        _ => return None,
    };
    Some(format!("{HTML_HEAD}{fields}"))
}
