//! Memory for responses, used again and again (step 7 of the line).
//!
//! Most responses fit into one buffer of [`BUFFER_BYTES`]. It is taken when the first byte of a response
//! comes, and comes back when the last part of larm that looks at the response lets go of it. A buffer
//! that had to grow is given up instead, so that what waits here is bounded in number and in size.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use larm_core::Limits;

/// Room of one buffer: most pages of the web and their header blocks.
pub(super) const BUFFER_BYTES: usize = 32 * 1024;
/// Idle buffers take at most this share of what bodies may take.
const IDLE_SHARE: u64 = 8;

/// Buffers that wait to be used.
#[derive(Debug)]
pub(super) struct Buffers {
    idle: Mutex<Vec<Vec<u8>>>,
    idle_max: usize,
}

impl Buffers {
    pub fn new(limits: &Limits) -> Arc<Self> {
        let idle_max = limits.bodies_bytes_max / IDLE_SHARE / BUFFER_BYTES as u64;
        let idle_max = usize::try_from(idle_max).unwrap_or(usize::MAX);
        Arc::new(Self { idle: Mutex::default(), idle_max })
    }

    /// An empty buffer.
    pub fn take(&self) -> Vec<u8> {
        self.lock().pop().unwrap_or_else(|| Vec::with_capacity(BUFFER_BYTES))
    }

    /// Bytes that nobody changes any more, in their buffer, which comes back when they are dropped.
    pub fn freeze(self: &Arc<Self>, bytes: Vec<u8>) -> Bytes {
        Bytes::from_owner(Frozen { bytes, home: self.clone() })
    }

    fn put(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        let mut idle = self.lock();
        if buffer.capacity() == BUFFER_BYTES && idle.len() < self.idle_max {
            idle.push(buffer);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Frozen {
    bytes: Vec<u8>,
    home: Arc<Buffers>,
}

impl AsRef<[u8]> for Frozen {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.home.put(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_empty_when_the_last_slice_of_it_is_dropped() {
        let buffers = Buffers::new(&Limits::default());
        let mut buffer = buffers.take();
        buffer.extend_from_slice(b"head and body");
        let place = buffer.as_ptr();
        let whole = buffers.freeze(buffer);
        let body = whole.slice(9..);
        drop(whole);
        assert!(buffers.lock().is_empty(), "the body still looks at it");
        assert_eq!(body, &b"body"[..]);
        drop(body);
        let again = buffers.take();
        assert_eq!((again.len(), again.as_ptr()), (0, place));
    }

    #[test]
    fn buffers_that_grew_or_are_too_many_are_given_up() {
        let limits =
            Limits { bodies_bytes_max: 2 * IDLE_SHARE * BUFFER_BYTES as u64, ..Limits::default() };
        let buffers = Buffers::new(&limits);
        let taken: Vec<_> = (0..3).map(|_| buffers.take()).collect();
        taken.into_iter().for_each(|buffer| drop(buffers.freeze(buffer)));
        assert_eq!(buffers.lock().len(), 2);
        let mut large = buffers.take();
        large.resize(BUFFER_BYTES + 1, 0);
        drop(buffers.freeze(large));
        assert_eq!(buffers.lock().len(), 1);
    }
}
