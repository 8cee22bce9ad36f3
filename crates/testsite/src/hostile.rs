//! Broken HTTP, one way per host.
//!
//! Each misbehaving host answers badly at `/bad` and well everywhere else. The truth says about
//! `/bad`: to be asked for at least once, whatever becomes of it, and not to keep the crawler from
//! the host's other pages. The host that refuses connections has no pages at all.

use std::io::{self, Write};
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use crate::dice::Dice;
use crate::exchange::Exchange;

/// The most that an endless answer sends before it ends after all.
pub const ENDLESS_BYTES_MAX: u64 = 200_000_000;

/// What a gzip bomb grows to.
pub const BOMB_BYTES: usize = 100_000_000;

/// Ways to break HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misbehaviour {
    /// Nobody listens at the address.
    Refuses,
    /// The connection closes long before the promised length.
    ShortBody,
    /// Far more than the promised length.
    LongBody,
    /// A chunked body that goes on until the client leaves.
    EndlessBody,
    /// 100 KB of gzip that become 100 MB.
    GzipBomb,
    /// Header fields until the client leaves.
    EndlessHeaders,
    /// Bytes that are no HTTP.
    Garbage,
    /// The connection closes without a byte.
    EmptyReply,
    /// A chunk size that is no number.
    BrokenChunks,
}

impl Misbehaviour {
    /// All of them, with the word that names their host.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Refuses, "refuses"),
        (Self::ShortBody, "short-body"),
        (Self::LongBody, "long-body"),
        (Self::EndlessBody, "endless-body"),
        (Self::GzipBomb, "gzip-bomb"),
        (Self::EndlessHeaders, "endless-headers"),
        (Self::Garbage, "garbage"),
        (Self::EmptyReply, "empty-reply"),
        (Self::BrokenChunks, "broken-chunks"),
    ];

    /// Status that the client gets to see; 0 where there is none to be had.
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Refuses | Self::EndlessHeaders | Self::Garbage | Self::EmptyReply => 0,
            _ => 200,
        }
    }
}

const HTML_HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";

/// Answers as badly as asked. The connection is of no use afterwards.
pub(crate) async fn misbehave(exchange: &mut Exchange<'_>, bad: Misbehaviour) -> io::Result<()> {
    match bad {
        Misbehaviour::Refuses => Ok(()),
        Misbehaviour::ShortBody => {
            let promised =
                format!("{HTML_HEAD}Content-Length: 5000\r\n\r\n<p>{}", "cut ".repeat(250));
            exchange.last(promised.as_bytes()).await
        }
        Misbehaviour::LongBody => {
            let text =
                format!("{HTML_HEAD}Content-Length: 100\r\n\r\n{}", "much more ".repeat(100));
            exchange.last(text.as_bytes()).await
        }
        Misbehaviour::EndlessBody => endless_body(exchange).await,
        Misbehaviour::GzipBomb => {
            let (bomb, coding) = (bomb(), "Content-Encoding: gzip\r\n");
            let head = format!("{HTML_HEAD}{coding}Content-Length: {}\r\n\r\n", bomb.len());
            exchange.send(head.as_bytes()).await?;
            exchange.last(bomb).await
        }
        Misbehaviour::EndlessHeaders => endless_headers(exchange).await,
        Misbehaviour::Garbage => exchange.last(&garbage()).await,
        Misbehaviour::EmptyReply => exchange.last(b"").await,
        Misbehaviour::BrokenChunks => {
            let text = format!(
                "{HTML_HEAD}Transfer-Encoding: chunked\r\n\r\n4\r\n<p>a\r\nzz\r\nwhat?\r\n"
            );
            exchange.last(text.as_bytes()).await
        }
    }
}

async fn endless_body(exchange: &mut Exchange<'_>) -> io::Result<()> {
    let text = "<p>And so on, and so on, for as long as you care to listen.</p>\n".repeat(256);
    let chunk = format!("{:x}\r\n{text}\r\n", text.len());
    exchange.send(format!("{HTML_HEAD}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).await?;
    until_client_leaves(exchange, chunk.as_bytes()).await
}

async fn endless_headers(exchange: &mut Exchange<'_>) -> io::Result<()> {
    exchange.send(HTML_HEAD.as_bytes()).await?;
    let fields = format!("X-Another: {}\r\n", "and another ".repeat(20)).repeat(64);
    until_client_leaves(exchange, fields.as_bytes()).await
}

async fn until_client_leaves(exchange: &mut Exchange<'_>, piece: &[u8]) -> io::Result<()> {
    while exchange.sent() < ENDLESS_BYTES_MAX {
        exchange.send(piece).await?;
    }
    exchange.last(b"").await
}

/// The same bytes each time, and no line that HTTP could begin with.
fn garbage() -> Vec<u8> {
    let mut dice = Dice::of(&[6]);
    (0..2_000).map(|_| (dice.next() | 0x80) as u8).collect()
}

/// Zeros behind a little HTML, compressed once for all.
fn bomb() -> &'static [u8] {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| {
        let mut encoder = GzEncoder::new(b"".to_vec(), Compression::new(4));
        let zeros = vec![0; 1_000_000];
        let mut feed = |bytes: &[u8]| encoder.write_all(bytes).expect("memory takes all bytes");
        feed(b"<!DOCTYPE html><title>Harmless</title><p>Just a moment.");
        (0..BOMB_BYTES / zeros.len()).for_each(|_| feed(&zeros));
        encoder.finish().expect("memory takes all bytes")
    })
}
