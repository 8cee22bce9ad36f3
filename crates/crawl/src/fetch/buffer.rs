//! Memory for responses, used again and again (step 7 of the line).
//!
//! Most responses fit into one buffer of [`BUFFER_BYTES`]. It is taken when the first byte of a response
//! comes, and comes back when the last part of larm that looks at the response lets go of it. A buffer
//! that had to grow is given up instead, so that what waits here is bounded in number and in size.
//!
//! A response is let go on the writer's thread, as a rule, and another one is read into its buffer wherever that is
//! taken next. Its bytes are still in the cache of the processor that read it, and another one would have to fetch them from there
//! before it may write over them. So threads have shelves of their own, and a buffer goes back to the one it came from.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use larm_core::Limits;

/// Room of one buffer: most pages of the web and their header blocks.
pub(super) const BUFFER_BYTES: usize = 32 * 1024;
/// Idle buffers take at most this share of what bodies may take, or one for each shelf.
const IDLE_SHARE: u64 = 8;

/// Shelves; threads share them where there are more.
const SHELVES: usize = 8;

/// Buffers that wait to be used.
#[derive(Debug)]
pub(super) struct Buffers {
    shelves: [Shelf; SHELVES],
    /// On one shelf.
    idle_max: usize,
}

/// Those of a thread.
#[derive(Debug, Default)]
struct Shelf(Mutex<Vec<Vec<u8>>>);

impl Shelf {
    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which shelf is that of this thread.
fn own_shelf() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SHELF: usize = THREADS.fetch_add(1, Ordering::Relaxed) % SHELVES;
    }
    SHELF.with(|shelf| *shelf)
}

impl Buffers {
    pub fn new(limits: &Limits) -> Arc<Self> {
        let idle_max = limits.bodies_bytes_max / IDLE_SHARE / BUFFER_BYTES as u64;
        let idle_max = usize::try_from(idle_max).unwrap_or(usize::MAX).div_ceil(SHELVES);
        Arc::new(Self { shelves: Default::default(), idle_max })
    }

    /// An empty buffer.
    pub fn take(&self) -> Vec<u8> {
        let idle = self.shelves[own_shelf()].lock().pop();
        idle.unwrap_or_else(|| Vec::with_capacity(BUFFER_BYTES))
    }

    /// Bytes that nobody changes any more, in their buffer, which comes back when they are dropped.
    pub fn freeze(self: &Arc<Self>, bytes: Vec<u8>) -> Bytes {
        Bytes::from_owner(Frozen { bytes, home: self.clone(), shelf: own_shelf() })
    }

    fn put(&self, mut buffer: Vec<u8>, shelf: usize) {
        buffer.clear();
        let mut idle = self.shelves[shelf].lock();
        if buffer.capacity() == BUFFER_BYTES && idle.len() < self.idle_max {
            idle.push(buffer);
        }
    }
}

struct Frozen {
    bytes: Vec<u8>,
    home: Arc<Buffers>,
    shelf: usize,
}

impl AsRef<[u8]> for Frozen {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.home.put(std::mem::take(&mut self.bytes), self.shelf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(buffers: &Buffers) -> usize {
        buffers.shelves.iter().map(|shelf| shelf.lock().len()).sum()
    }

    #[test]
    fn a_buffer_comes_back_empty_when_the_last_slice_of_it_is_dropped() {
        let buffers = Buffers::new(&Limits::default());
        let mut buffer = buffers.take();
        buffer.extend_from_slice(b"head and body");
        let place = buffer.as_ptr();
        let whole = buffers.freeze(buffer);
        let body = whole.slice(9..);
        drop(whole);
        assert_eq!(idle(&buffers), 0, "the body still looks at it");
        assert_eq!(body, &b"body"[..]);
        drop(body);
        let again = buffers.take();
        assert_eq!((again.len(), again.as_ptr()), (0, place));
    }

    #[test]
    fn a_buffer_that_is_dropped_elsewhere_comes_back_to_its_thread() {
        let buffers = Buffers::new(&Limits::default());
        let (here, shelf) = (buffers.freeze(buffers.take()), own_shelf());
        std::thread::scope(|scope| scope.spawn(|| drop(here)).join().unwrap());
        assert_eq!(buffers.shelves[shelf].lock().len(), 1);
        assert_eq!(idle(&buffers), 1);
    }

    #[test]
    fn buffers_that_grew_or_are_too_many_are_given_up() {
        let bodies_bytes_max = 2 * (SHELVES as u64) * IDLE_SHARE * BUFFER_BYTES as u64;
        let buffers = Buffers::new(&Limits { bodies_bytes_max, ..Limits::default() });
        let taken: Vec<_> = (0..3).map(|_| buffers.take()).collect();
        taken.into_iter().for_each(|buffer| drop(buffers.freeze(buffer)));
        assert_eq!(idle(&buffers), 2);
        let mut large = buffers.take();
        large.resize(BUFFER_BYTES + 1, 0);
        drop(buffers.freeze(large));
        assert_eq!(idle(&buffers), 1);
    }
}
