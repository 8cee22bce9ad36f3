//! Pages that have left the line and were not read yet: how far an order by text is behind the crawl.
//!
//! Such an order chooses a page by what the pages before it said. So nothing is leased while more pages wait to be read
//! than are on their way: a crawl that fetches one page at a time knows all that it has fetched, however fast its
//! servers are and whatever else this machine has to do. Orders by links alone go without.
//!
//! - UNREAD-1: a page counts from before its fetch is over until its mark is dropped, wherever that happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// How many there are; none where nobody reads.
#[derive(Debug, Clone, Default)]
pub struct Unread(Option<Arc<Count>>);

#[derive(Debug)]
struct Count {
    pages: AtomicUsize,
    /// Who leases.
    wake: Arc<Notify>,
}

impl Unread {
    /// Wakes whoever leases when a page was read.
    pub fn new(wake: Arc<Notify>) -> Self {
        Self(Some(Arc::new(Count { pages: AtomicUsize::new(0), wake })))
    }

    /// One page more, where somebody reads.
    pub fn mark(&self) -> Option<Mark> {
        let count = self.0.clone()?;
        count.pages.fetch_add(1, Ordering::SeqCst);
        Some(Mark(count))
    }

    /// How many wait to be read.
    pub fn pages(&self) -> usize {
        self.0.as_ref().map_or(0, |count| count.pages.load(Ordering::SeqCst))
    }
}

/// A page that was not read yet. It was, once this is dropped.
#[derive(Debug)]
pub struct Mark(Arc<Count>);

impl Drop for Mark {
    fn drop(&mut self) {
        self.0.pages.fetch_sub(1, Ordering::SeqCst);
        self.0.wake.notify_one();
    }
}
