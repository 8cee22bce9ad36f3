//! What can be wrong with the TLS of a host.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::{Host, page};
use crate::hostile::family;
use crate::server::read_head;

family! {
    /// Ways in which TLS fails.
    Tls {
        /// Not at all: all is well.
        Fine = "fine",
        /// The certificate has expired.
        Expired = "expired",
        /// The certificate is for a later time.
        NotYetValid = "not-yet-valid",
        /// The certificate is for another name.
        WrongName = "wrong-name",
        /// The certificate vouches for itself.
        SelfSigned = "self-signed",
        /// The certificate is signed by somebody whom nobody knows.
        UnknownAuthority = "unknown-authority",
        /// Noise instead of a handshake.
        Garbage = "garbage",
        /// HTTP without TLS.
        PlainHttp = "plain-http",
        /// Closes the connection during the handshake.
        Closes = "closes",
        /// Resets the connection during the handshake.
        Resets = "resets",
        /// Never answers the first message.
        Silent = "silent",
        /// Speaks no version that is still in use.
        OldVersion = "old-version",
        /// Wants a certificate of the client's.
        WantsCertificate = "wants-certificate",
        /// Shakes hands, and then sends noise.
        BreaksLater = "breaks-later",
        /// Hangs up without the farewell that TLS asks for.
        NoFarewell = "no-farewell",
    }
}

/// A fatal alert: protocol_version (RFC 8446 section 6).
const ALERT: &[u8] = &[0x15, 3, 1, 0, 2, 2, 70];
/// No record of TLS begins so.
const NOISE: &[u8] = &[0xff; 2_000];

/// Serves one connection.
pub(super) async fn serve(host: &Host, trouble: Tls, mut stream: TcpStream) -> io::Result<()> {
    let instead = match trouble {
        Tls::Garbage => NOISE,
        Tls::PlainHttp => b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
        Tls::OldVersion => ALERT,
        Tls::Closes | Tls::Resets | Tls::Silent => b"",
        _ => return converse(host, trouble, host.acceptor.accept(stream).await?).await,
    };
    while stream.read(&mut [0; 4_096]).await? > 0 && trouble == Tls::Silent {}
    if trouble == Tls::Resets {
        return stream.set_zero_linger();
    }
    stream.write_all(instead).await?;
    stream.shutdown().await
}

/// Answers requests behind a handshake that went well.
async fn converse(host: &Host, trouble: Tls, mut stream: TlsStream<TcpStream>) -> io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(head) = read_head(&mut stream, &mut buffer).await {
        if trouble == Tls::BreaksLater {
            return stream.get_mut().0.write_all(NOISE).await;
        }
        let head = String::from_utf8_lossy(&head);
        let path = head.split(' ').nth(1).unwrap_or_default();
        stream.write_all(answer(host, trouble, path).as_bytes()).await?;
        stream.flush().await?;
        if trouble == Tls::NoFarewell {
            return Ok(());
        }
    }
    stream.shutdown().await
}

fn answer(host: &Host, trouble: Tls, path: &str) -> String {
    let word = trouble.word();
    let (kind, body) = match path {
        "/robots.txt" => ("text/plain", "User-agent: *\nDisallow:\n".to_owned()),
        "/" => ("text/html", page::start(word, &host.others)),
        _ => ("text/html", page::leaf(word, path)),
    };
    let length = match trouble {
        Tls::NoFarewell => "Connection: close\r\n".to_owned(),
        _ => format!("Content-Length: {}\r\n", body.len()),
    };
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{length}\r\n{body}")
}
