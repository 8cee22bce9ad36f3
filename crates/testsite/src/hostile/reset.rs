//! Connections that break, at every moment of an exchange.
//!
//! A reset is the hard end of a connection (RST), as crashed servers and meddling boxes give it; the
//! rest of this web ends connections softly.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{HTML_HEAD, Place, family};
use crate::exchange::Exchange;

family! {
    /// Moments at which a connection breaks.
    Reset {
        /// Nobody listens at the address.
        Refuses = "refuses",
        /// Right after it was accepted.
        AfterAccept = "reset-after-accept",
        /// In the middle of the request.
        InRequest = "reset-in-request",
        /// After the request, before a byte of the answer.
        BeforeHeaders = "reset-before-headers",
        /// In the header block.
        InHeaders = "reset-in-headers",
        /// In the body.
        InBody = "reset-in-body",
        /// Right after the body.
        AfterBody = "reset-after-body",
        /// It ends softly, without a byte of an answer.
        EmptyReply = "empty-reply",
        /// A server of another kind, which speaks before it is asked.
        SpeaksFirst = "speaks-first",
        /// Accepts connections and does nothing with them.
        Deaf = "deaf",
    }
}

impl Reset {
    /// Where it breaks.
    pub(super) fn place(self) -> Place {
        match self {
            Self::Refuses
            | Self::AfterAccept
            | Self::InRequest
            | Self::SpeaksFirst
            | Self::Deaf => Place::Connection,
            _ => Place::Path,
        }
    }

    /// Status that the client gets to see; 0 where there is none to be had.
    pub(super) fn status(self) -> u16 {
        if matches!(self, Self::InBody | Self::AfterBody) { 200 } else { 0 }
    }
}

/// Breaks a connection on which a request was read.
pub(super) async fn send(exchange: &mut Exchange<'_>, reset: Reset) -> io::Result<()> {
    let body = "<p>So far, so good.</p>".repeat(40);
    let head = format!("{HTML_HEAD}Content-Length: {}\r\n\r\n", body.len());
    match reset {
        Reset::InHeaders => exchange.send(HTML_HEAD.as_bytes()).await?,
        Reset::InBody => {
            exchange.send(&[head.as_bytes(), &body.as_bytes()[..400]].concat()).await?
        }
        Reset::AfterBody => exchange.send(&[head.as_bytes(), body.as_bytes()].concat()).await?,
        Reset::EmptyReply => return exchange.last(b"").await,
        _ => {}
    }
    exchange.reset()
}

/// Breaks a connection before a request was read.
pub(super) async fn receive(mut stream: TcpStream, reset: Reset) -> io::Result<()> {
    match reset {
        Reset::SpeaksFirst => return stream.write_all(b"220 mail.test ready\r\n").await,
        Reset::Deaf => while stream.read(&mut [0; 4_096]).await? > 0 {},
        Reset::InRequest => drop(stream.read(&mut [0; 8]).await),
        _ => {}
    }
    stream.set_zero_linger()
}
