//! What came back: bytes, headers, times (the result of step 7).

use std::net::SocketAddr;

use bytes::Bytes;
use http::HeaderMap;
use larm_core::{Fact, Limits, Millis, Protocol, Truncated};

use super::{Decoded, Reservation, decode};

/// One response, exactly as it came.
#[derive(Debug)]
pub struct Fetched {
    /// HTTP status of the final response.
    pub status: u16,
    /// Its header fields, parsed; `raw` has them as they were written.
    pub headers: HeaderMap,
    /// The bytes of the request, the values of secret fields blotted out.
    pub request: Vec<u8>,
    /// The bytes of the final response, header block and body. Interim responses (1xx) are left out,
    /// chunk framing is kept. It ends where the response ends, or where it was cut.
    pub raw: Bytes,
    /// `raw[..head_bytes]` is the status line, the header fields and the empty line.
    pub head_bytes: usize,
    /// The body without chunk framing, content encodings still on. Cut out of `raw`, and sharing its
    /// memory unless it came in several chunks.
    pub payload: Bytes,
    /// How it came.
    pub protocol: Protocol,
    /// Whom we were connected to, if that was the server itself.
    pub peer: Option<SocketAddr>,
    /// Before connecting.
    pub started: Millis,
    /// What connecting took, TLS included; nothing on a connection that was already open.
    pub connect_ms: Option<u64>,
    /// When the first byte of an answer arrived.
    pub first_byte: Millis,
    /// When the last byte had been read.
    pub ended: Millis,
    /// Why the body is not whole, if it is not.
    pub truncated: Option<Truncated>,
    /// What else is known of it.
    pub facts: Vec<Fact>,
    /// The server asked who we are, and there is an answer: the next request will have it.
    pub ask_again: bool,
    /// Oddities worth a line in the log.
    pub notes: Vec<&'static str>,
    /// The body's place in memory, held for as long as the body is.
    pub reservation: Reservation,
}

impl Fetched {
    /// The `Content-Type` as it was sent.
    pub fn content_type(&self) -> Option<&str> {
        self.header("content-type")
    }

    /// The first field of this name, where it is UTF-8.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok())
    }

    /// Parts the response from its place in memory, so that the place can be held for as long as
    /// anything made of the bytes lives.
    pub fn split_reservation(mut self) -> (Self, Reservation) {
        let reservation = std::mem::take(&mut self.reservation);
        (self, reservation)
    }

    /// The body without its content encodings, within the limits. Never fails: a stream that is cut,
    /// broken, too large or of an unknown encoding gives what can be had of it, and a note.
    pub fn decoded(&self, limits: &Limits) -> Decoded<'_> {
        decode::decode(&self.payload, &self.headers, limits)
    }
}
