//! One answer under way: raw bytes to the socket, counted, and closed in the log in time.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::log::{Log, Ticket};
use crate::server::rest;

/// So little is written behind the moment that the log calls the end.
const LAST_BYTES: usize = 16 * 1024;
/// Wait before each byte of an answer that drips.
const DRIP_WAIT: Duration = Duration::from_secs(1);

/// The way back to one client, for one request.
pub(crate) struct Exchange<'a> {
    stream: &'a mut TcpStream,
    log: &'a Log,
    ticket: Ticket,
    sent: u64,
    closed: bool,
}

impl<'a> Exchange<'a> {
    /// An answer that has not begun.
    pub fn new(stream: &'a mut TcpStream, log: &'a Log, ticket: Ticket) -> Self {
        Self { stream, log, ticket, sent: 0, closed: false }
    }

    /// Bytes sent so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Sends bytes that are not the last ones.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.sent += bytes.len() as u64;
        Ok(())
    }

    /// Sends the last bytes, having closed the request in the log just before.
    pub async fn last(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (most, rest) = bytes.split_at(bytes.len().saturating_sub(LAST_BYTES));
        if !most.is_empty() {
            self.send(most).await?;
        }
        self.log.close(self.ticket, self.sent + rest.len() as u64);
        self.closed = true;
        if let Err(error) = self.send(rest).await {
            self.log.broken(self.ticket, self.sent);
            return Err(error);
        }
        Ok(())
    }

    /// Sends a byte a second.
    pub async fn drip(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            rest(DRIP_WAIT).await;
            self.send(&[*byte]).await?;
        }
        self.last(b"").await
    }

    /// Says nothing until the client leaves.
    pub async fn stall(&mut self) -> io::Result<()> {
        while self.stream.read(&mut [0; 1_024]).await? > 0 {}
        Ok(())
    }

    /// Makes the connection end hard (RST), as soon as the server lets go of it.
    pub fn reset(&mut self) -> io::Result<()> {
        self.stream.set_zero_linger()
    }
}

impl Drop for Exchange<'_> {
    /// An answer that was given up half way, by the client or by the end of the server.
    fn drop(&mut self) {
        if !self.closed {
            self.log.broken(self.ticket, self.sent);
        }
    }
}
