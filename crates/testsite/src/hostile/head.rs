//! Trouble before the body: no answer, no HTTP, or a header block that is one in name only.

use std::io;

use super::{HTML_HEAD, family, until_client_leaves, with_fields};
use crate::dice::Dice;
use crate::exchange::Exchange;

family! {
    /// Ways to go wrong before the body.
    Head {
        /// Takes the request and says nothing.
        NeverAnswers = "never-answers",
        /// A header block that comes a byte a second.
        Dripping = "dripping-headers",
        /// Header fields until the client leaves.
        Endless = "endless-headers",
        /// One header field until the client leaves.
        EndlessLine = "endless-header-line",
        /// Interim answers (1xx) until the client leaves.
        InterimFlood = "interim-flood",
        /// Thousands of cookies.
        CookieFlood = "cookie-flood",
        /// A hundred cookies, which is many and can be read.
        ManyCookies = "many-cookies",
        /// A page without status line and header fields, as before 1992.
        Http09 = "http-0-9",
        /// Bytes that are no HTTP.
        Garbage = "garbage",
        /// Frames of HTTP/2, which nobody asked for.
        Http2Frames = "http-2-frames",
        /// A version of HTTP that there is not.
        UnknownVersion = "unknown-version",
        /// A status that is no number.
        WordStatus = "word-status",
        /// A status that no standard knows.
        OddStatus = "odd-status",
        /// Switches to another protocol (101).
        SwitchesProtocols = "switches-protocols",
        /// Zero bytes where the answer should be.
        ZeroHead = "zero-head",
    }
}

impl Head {
    /// Status that the client gets to see; 0 where there is none to be had.
    pub(super) fn status(self) -> u16 {
        match self {
            Self::ManyCookies => 200,
            Self::OddStatus => 799,
            _ => 0,
        }
    }
}

/// Misbehaves before the body.
pub(super) async fn send(exchange: &mut Exchange<'_>, head: Head) -> io::Result<()> {
    match head {
        Head::NeverAnswers => exchange.stall().await,
        Head::Dripping => {
            exchange.drip(format!("{HTML_HEAD}X-More: {}", "and ".repeat(1_000)).as_bytes()).await
        }
        Head::Endless => {
            exchange.send(HTML_HEAD.as_bytes()).await?;
            let fields = format!("X-Another: {}\r\n", "and another ".repeat(20)).repeat(64);
            until_client_leaves(exchange, fields.as_bytes()).await
        }
        Head::EndlessLine => {
            exchange.send(format!("{HTML_HEAD}X-Long: ").as_bytes()).await?;
            until_client_leaves(exchange, "and on ".repeat(1_000).as_bytes()).await
        }
        Head::InterimFlood => {
            let interim = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n".repeat(100);
            until_client_leaves(exchange, interim.as_bytes()).await
        }
        Head::CookieFlood => with_fields(exchange, &cookies(5_000), b"<p>Crumbs.").await,
        Head::ManyCookies => with_fields(exchange, &cookies(100), b"<p>Fewer crumbs.").await,
        Head::Http09 => exchange.last(b"<html><title>1991</title><p>No head.</html>").await,
        Head::Garbage => exchange.last(&garbage()).await,
        Head::Http2Frames => exchange.last(HTTP2_FRAMES).await,
        Head::UnknownVersion => exchange.last(b"HTTP/9.9 200 OK\r\n\r\n<p>From the future.").await,
        Head::WordStatus => exchange.last(b"HTTP/1.1 fine OK\r\n\r\n<p>Fine.").await,
        Head::OddStatus => {
            let head = "HTTP/1.1 799 Whatever\r\nContent-Type: text/html\r\nContent-Length: 8";
            exchange.last(format!("{head}\r\n\r\n<p>Well?").as_bytes()).await
        }
        Head::SwitchesProtocols => {
            let switch = "HTTP/1.1 101 Switching\r\nUpgrade: gopher\r\nConnection: upgrade\r\n\r\n";
            exchange.last(switch.as_bytes()).await
        }
        Head::ZeroHead => exchange.last(&[0; 4_096]).await,
    }
}

fn cookies(count: usize) -> String {
    (0..count).map(|n| format!("Set-Cookie: crumb{n}={n}; Path=/\r\n")).collect()
}

/// The same bytes each time, and no line that HTTP could begin with.
fn garbage() -> Vec<u8> {
    let mut dice = Dice::of(&[6]);
    (0..2_000).map(|_| (dice.next() | 0x80) as u8).collect()
}

/// SETTINGS without any, and HEADERS of stream 1 with the status 200 (RFC 9113 section 6).
const HTTP2_FRAMES: &[u8] =
    b"\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x01\x01\x05\x00\x00\x00\x01\x88";
