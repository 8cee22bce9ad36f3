//! A stream that keeps what passes through it (step 7 of the line).
//!
//! An archive holds the bytes as they came over the wire, and an HTTP library gives them parsed. The
//! [`Tee`] sits between the two: whatever is read or written goes onto a [`Tape`] first. A tape holds
//! one exchange; it is rewound before each request. It is bounded: while headers are awaited the tee
//! refuses to read past `header_bytes_max`, and afterwards whoever reads the body stops at its limit. Of
//! HTTP/2, which has frames that are neither, it refuses those that come in no proportion to the body.
//!
//! The tee understands nothing of HTTP beyond where our own request ends and where headers do.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use larm_core::{Millis, Protocol};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::buffer::Buffers;
use super::dial::Duplex;
use super::frame;
use crate::clock::Clock;

/// Frames of HTTP/2 that may come beside the header block and the body that was taken: a full window of
/// the body may be among them, and so many questions and settings that nobody needs more.
const FRAMES_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes on the wire for each byte of a body that was taken, at most: its frames may hold one byte each.
const FRAMES_PER_BYTE_MAX: usize = 16;

/// The exact bytes of one exchange, both ways, with their times.
#[derive(Debug)]
pub(super) struct Tape {
    /// Bytes written.
    pub request: Vec<u8>,
    /// Bytes read.
    pub response: Vec<u8>,
    /// When the last byte of the request had been written and flushed.
    pub sent: Option<Millis>,
    /// When the first byte was read.
    pub first_byte: Option<Millis>,
    /// The stream ended without the farewell that TLS asks for.
    pub abrupt: bool,
    /// The headers were longer than allowed.
    pub overflowed: bool,
    /// The longest header block, while one is awaited.
    head_bytes_max: Option<usize>,
    /// Bytes that the response is expected not to exceed; growing stops doubling there.
    response_bytes_max: usize,
    /// Whether what passes is what is to be kept. HTTP/2's frames are not: only their times count.
    is_plain: bool,
    /// Bytes of frames read since the tape was rewound.
    frames_bytes: usize,
    /// Something was written since the tape was rewound.
    wrote: bool,
    /// Whether the other side should be told at once what was read.
    news: News,
    buffers: Arc<Buffers>,
}

/// What was read, as far as the other side has to be told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    /// Nothing was read since it was last told.
    None,
    /// Something was, and it may well be all.
    Heard,
    /// Something was, and more is waited for.
    Awaited,
}

impl Tape {
    fn new(buffers: Arc<Buffers>, is_plain: bool) -> Self {
        Self {
            is_plain,
            frames_bytes: 0,
            wrote: false,
            news: News::None,
            request: Vec::new(),
            response: Vec::new(),
            sent: None,
            first_byte: None,
            abrupt: false,
            overflowed: false,
            head_bytes_max: None,
            response_bytes_max: 0,
            buffers,
        }
    }

    /// Makes the tape ready for the next exchange.
    pub fn rewind(&mut self, head_bytes_max: usize, body_bytes_max: usize) {
        self.take();
        self.head_bytes_max = Some(head_bytes_max);
        self.response_bytes_max = head_bytes_max.saturating_add(body_bytes_max);
    }

    /// What is on the tape, which is empty from here on.
    pub fn take(&mut self) -> Self {
        let empty = Self::new(self.buffers.clone(), self.is_plain);
        std::mem::replace(self, empty)
    }

    /// Says that what was read is not enough. Returns whether the tee should be asked once more, so that it
    /// tells the other side what came.
    pub fn want_more(&mut self) -> bool {
        let has_heard = self.news == News::Heard;
        if has_heard {
            self.news = News::Awaited;
        }
        has_heard
    }

    /// Whether the other side is to be told what came, now that nothing more is there.
    fn takes_news(&mut self) -> bool {
        let is_awaited = self.news == News::Awaited;
        if is_awaited {
            self.news = News::None;
        }
        is_awaited
    }

    /// The bytes read, for good.
    pub fn freeze_response(&mut self) -> Bytes {
        self.buffers.freeze(std::mem::take(&mut self.response))
    }

    /// Keeps bytes of the response.
    pub fn hear(&mut self, bytes: &[u8], now: Millis) {
        if bytes.is_empty() {
            return;
        }
        if self.first_byte.is_none() {
            self.first_byte = Some(now);
            self.response = self.buffers.take();
        }
        self.make_room(bytes.len());
        self.response.extend_from_slice(bytes);
    }

    /// Doubles, but never past what the response may need: half of a large body's memory would
    /// otherwise be held without being counted anywhere.
    fn make_room(&mut self, more: usize) {
        let needed = self.response.len() + more;
        if needed > self.response.capacity() {
            let target = (self.response.capacity() * 2).min(self.response_bytes_max).max(needed);
            self.response.reserve_exact(target - self.response.len());
        }
    }

    /// More bytes than a header block may have, and still no end of one. Interim responses count, so
    /// that a server cannot go on with them for ever.
    fn is_head_too_long(&mut self) -> bool {
        if !self.is_plain {
            let beside = self.head_bytes_max.map(|max| max.saturating_add(FRAMES_BYTES_MAX));
            let taken = self.response.len().saturating_mul(FRAMES_PER_BYTE_MAX);
            let is_flood = |beside: usize| self.frames_bytes > beside.saturating_add(taken);
            self.overflowed |= beside.is_some_and(is_flood);
            return self.overflowed;
        }
        if self.head_bytes_max.is_none_or(|max| self.response.len() <= max) {
            return false;
        }
        self.overflowed = frame::final_head(&self.response).is_none();
        self.head_bytes_max = None;
        self.overflowed
    }

    /// A GET ends with its header block, and an empty line cannot stand inside one. A form's answer is
    /// written at once with its header block.
    fn is_request_complete(&self) -> bool {
        match self.is_plain {
            true => memchr::memmem::find(&self.request, b"\r\n\r\n").is_some(),
            false => self.wrote,
        }
    }

    fn passed_in(&mut self, bytes: &[u8], now: Millis) {
        self.news = News::Heard;
        match self.is_plain {
            true => self.hear(bytes, now),
            false => self.frames_bytes = self.frames_bytes.saturating_add(bytes.len()),
        }
    }

    /// Whether what passes is what is kept, as with HTTP/1.1.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    fn passed_out(&mut self, bytes: &[u8]) {
        self.wrote = true;
        if self.is_plain {
            self.request.extend_from_slice(bytes);
        }
    }
}

/// A tape in the hands of both the tee and the fetch.
#[derive(Debug, Clone)]
pub(super) struct SharedTape(Arc<Mutex<Tape>>);

impl SharedTape {
    /// An empty tape, which takes its memory from `buffers`.
    pub fn new(buffers: Arc<Buffers>, protocol: Protocol) -> Self {
        let is_plain = protocol == Protocol::Http1;
        Self(Arc::new(Mutex::new(Tape::new(buffers, is_plain))))
    }

    /// The tape. Both holders live in one task, so this never waits.
    pub fn lock(&self) -> MutexGuard<'_, Tape> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream whose traffic is taped.
pub(super) struct Tee<S> {
    stream: S,
    tape: SharedTape,
    clock: Clock,
}

impl<S> Tee<S> {
    pub fn new(stream: S, tape: SharedTape, clock: Clock) -> Self {
        Self { stream, tape, clock }
    }
}

impl<S: Duplex> AsyncRead for Tee<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.tape.lock().is_head_too_long() {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let before = buffer.filled().len();
        let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(cx, buffer) else {
            if self.tape.lock().takes_news() {
                self.stream.acknowledge();
            }
            return Poll::Pending;
        };
        match read {
            // Many servers hang up without TLS's close_notify. Where the length was announced the
            // HTTP layer notices what is missing; where it was not, the end is the end (RFC 9112
            // section 9.8), and a note tells of it.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.tape.lock().abrupt = true;
            }
            Err(error) => return Poll::Ready(Err(error)),
            Ok(()) => self.tape.lock().passed_in(&buffer.filled()[before..], self.clock.now()),
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: Duplex> AsyncWrite for Tee<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.tape.lock().passed_out(&bytes[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        let mut tape = self.tape.lock();
        if tape.sent.is_none() && tape.is_request_complete() {
            tape.sent = Some(self.clock.end());
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    use larm_core::Limits;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;

    impl Duplex for DuplexStream {}

    /// Counts how often it was asked to acknowledge.
    struct Counted(DuplexStream, Arc<AtomicUsize>);

    impl Duplex for Counted {
        fn acknowledge(&self) {
            self.1.fetch_add(1, Relaxed);
        }
    }

    impl AsyncRead for Counted {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(cx, buffer)
        }
    }

    impl AsyncWrite for Counted {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(cx, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }

    /// What reading gives at this moment.
    async fn read_now(tee: &mut Tee<Counted>) -> Option<usize> {
        let mut buffer = [0; 64];
        std::future::poll_fn(|cx| {
            let mut buffer = ReadBuf::new(&mut buffer);
            let polled = Pin::new(&mut *tee).poll_read(cx, &mut buffer);
            Poll::Ready(polled.is_ready().then(|| buffer.filled().len()))
        })
        .await
    }

    fn tee_of<S>(stream: S, head_bytes_max: usize) -> (Tee<S>, SharedTape) {
        let tape = SharedTape::new(Buffers::new(&Limits::default()), Protocol::Http1);
        tape.lock().rewind(head_bytes_max, 1_000);
        (Tee::new(stream, tape.clone(), Clock::start()), tape)
    }

    #[tokio::test]
    async fn a_tape_holds_both_directions_and_knows_when_the_request_is_out() {
        let (near, mut far) = tokio::io::duplex(64);
        let (mut tee, tape) = tee_of(near, 100);
        tee.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        tee.flush().await.unwrap();
        assert_eq!(tape.lock().sent, None, "half a request is not sent");
        tee.write_all(b"\r\n").await.unwrap();
        tee.flush().await.unwrap();
        assert!(tape.lock().sent.is_some());
        far.write_all(b"answer").await.unwrap();
        let mut buffer = [0; 6];
        tee.read_exact(&mut buffer).await.unwrap();
        assert_eq!(tape.lock().request, b"GET / HTTP/1.1\r\n\r\n");
        assert_eq!(tape.lock().response, b"answer");
    }

    #[tokio::test]
    async fn what_came_is_acknowledged_once_when_more_is_waited_for() {
        let (near, mut far) = tokio::io::duplex(64);
        let told = Arc::new(AtomicUsize::new(0));
        let (mut tee, tape) = tee_of(Counted(near, told.clone()), 100);
        assert!(read_now(&mut tee).await.is_none() && !tape.lock().want_more());
        far.write_all(b"head").await.unwrap();
        assert_eq!(read_now(&mut tee).await, Some(4));
        assert_eq!((read_now(&mut tee).await, told.load(Relaxed)), (None, 0), "it may be all");
        for is_news in [true, false] {
            assert_eq!(tape.lock().want_more(), is_news);
            assert_eq!((read_now(&mut tee).await, told.load(Relaxed)), (None, 1));
        }
    }

    #[tokio::test]
    async fn a_tee_does_not_read_past_the_longest_header_block() {
        let (near, mut far) = tokio::io::duplex(100);
        far.write_all(&[b'x'; 100]).await.unwrap();
        let (mut tee, tape) = tee_of(near, 10);
        let mut buffer = [0; 11];
        tee.read_exact(&mut buffer).await.unwrap();
        assert!(tee.read(&mut buffer).await.is_err());
        assert!(tape.lock().overflowed);
    }

    #[test]
    fn a_tape_does_not_double_past_its_limit() {
        let mut tape = Tape::new(Buffers::new(&Limits::default()), true);
        tape.rewind(0, 50_000);
        for _ in 0..50 {
            tape.hear(&[0; 1_000], Millis(1));
        }
        assert_eq!(tape.response.len(), 50_000);
        assert!(tape.response.capacity() <= 50_000, "{}", tape.response.capacity());
    }
}
