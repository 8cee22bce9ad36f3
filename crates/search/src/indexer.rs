//! The thread that reads the journal and writes the index.
//!
//! INDEX-1: the index is never ahead of the crawl's log. The thread is told up to which position the
//! log is durable and reads no further, so no commit of the index holds a page that a crash could take
//! back. It may be behind: what it lacks lies in the journal, and is read at the next start.
//!
//! INDEX-2: an entry of the journal is removed only when a commit of the index holds it.
//!
//! When the index fails, the crawl goes on: the journal keeps what comes, up to a bound, and the next
//! start tries again.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use larm_core::{Limits, Millis};
use larm_crawl::clock::Clock;
use larm_crawl::store::{Lag, PageFacts, Position};
use tantivy::Index;

use crate::archive::Archive;
use crate::entry::{Change, Entry, Text, Wording};
use crate::fold::{Fold, Words};
use crate::journal::{JournalReader, forget_before};
use crate::layout::Layout;
use crate::texts::{Texts, bytes_of};

/// The first commit of a run comes so much sooner: whoever has just started a crawl tries it out.
const FIRST_COMMIT_SHARE: u64 = 5;
/// What is read between two looks at the clock.
const READ_BYTES: u64 = 1_024 * 1_024;

/// The thread, as the sink sees it.
pub(crate) struct Indexer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    texts: Mutex<Texts>,
}

struct State {
    /// Up to here the journal may be read.
    durable: Position,
    /// Bytes of the journal that are durable, and those that were read.
    durable_bytes: u64,
    read_bytes: u64,
    order: Order,
    /// What went wrong, if the thread has given up.
    failed: Option<String>,
    is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    GoOn,
    /// Read everything, commit, and end.
    Finish,
    /// End without a commit.
    Leave,
}

impl Indexer {
    /// Starts the thread, which goes on with `index` at `from`.
    pub fn start(
        index: Index,
        layout: &Layout,
        from: Position,
        limits: &Limits,
    ) -> std::io::Result<Self> {
        let state = State {
            durable: from,
            durable_bytes: 0,
            read_bytes: 0,
            order: Order::GoOn,
            failed: None,
            is_over: false,
        };
        let texts = Mutex::new(Texts::new(limits.index_texts_bytes_max));
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), texts });
        let work = Work {
            shared: shared.clone(),
            reader: JournalReader::new(layout.journal(), from),
            archive: layout.archive(limits),
            layout: layout.clone(),
            clock: Clock::start(),
            commit_ms_max: limits.index_commit_ms_max,
            commit_bytes_max: limits.index_commit_bytes_max,
            uncommitted: None,
            commits: 0,
        };
        let limits = limits.clone();
        let run = move || work.run(&index, &limits);
        let thread = Builder::new().name("larm-index".to_owned()).spawn(run)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Tells that the crawl's log is durable up to a position of the journal, `bytes` further on.
    pub fn advance(&self, durable: Position, bytes: u64) {
        let mut state = self.shared.state();
        if durable != state.durable {
            state.durable = durable;
            state.durable_bytes += bytes;
            self.shared.changed.notify_all();
        }
    }

    /// Whether a page can be held in memory until its entry is read. Where nobody will read it, it need not be.
    pub fn has_room_for(&self, page: &PageFacts) -> bool {
        self.shared.texts().has_room_for(page) || self.shared.state().is_over
    }

    /// Holds the page of the entry at a position of the journal.
    pub fn hold(&self, entry: Position, page: &Arc<PageFacts>) {
        let mut texts = self.shared.texts();
        if texts.has_room_for(page) {
            texts.hold(entry, page.clone());
        }
    }

    /// If more than `bytes_max` wait to be read: waits until that is over, or the thread has given up.
    pub fn lag(&self, bytes_max: u64) -> Option<Lag> {
        let is_full = move |state: &mut State| {
            !state.is_over && state.durable_bytes.saturating_sub(state.read_bytes) > bytes_max
        };
        let shared = self.shared.clone();
        let wait = move || drop(shared.changed.wait_while(shared.state(), is_full));
        is_full(&mut self.shared.state()).then(|| Box::new(wait) as Lag)
    }

    /// What went wrong, if the thread has given up.
    pub fn failed(&self) -> Option<String> {
        self.shared.state().failed.clone()
    }

    /// Bytes that wait to be read.
    pub fn waiting(&self) -> u64 {
        let state = self.shared.state();
        state.durable_bytes.saturating_sub(state.read_bytes)
    }

    /// Waits until everything durable is in the index.
    pub fn finish(&mut self) -> Option<String> {
        self.end(Order::Finish);
        self.failed()
    }

    fn end(&mut self, order: Order) {
        self.shared.state().order = order;
        self.shared.changed.notify_all();
        let Some(thread) = self.thread.take() else { return };
        if thread.join().is_err() {
            self.shared.give_up("larm has a bug: the indexer panicked".to_owned());
        }
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        self.end(Order::Leave);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up(&self, why: String) {
        self.state().failed.get_or_insert(why);
    }
}

/// The thread's own state.
struct Work {
    shared: Arc<Shared>,
    reader: JournalReader,
    archive: Archive,
    layout: Layout,
    clock: Clock,
    commit_ms_max: u64,
    commit_bytes_max: u64,
    /// What was read since the last commit.
    uncommitted: Option<Uncommitted>,
    commits: u64,
}

#[derive(Clone, Copy)]
struct Uncommitted {
    since: Millis,
    bytes: u64,
}

impl Work {
    fn run(mut self, index: &Index, limits: &Limits) {
        // Told whatever happens, or somebody would wait for ever.
        let _over = Over(self.shared.clone());
        let opened =
            Fold::new(index, &self.layout.index(), limits).map_err(|error| error.to_string());
        if let Err(why) = opened.and_then(|fold| self.work(fold)) {
            self.shared.give_up(why);
        }
    }

    fn work(&mut self, mut fold: Fold) -> Result<(), String> {
        loop {
            let (durable, order) = self.wait();
            if order == Order::Leave {
                // Whoever opens the index next must not find files going away under it.
                return fold.finish().map_err(|error| error.to_string());
            }
            self.read(&mut fold, durable)?;
            let is_last = order == Order::Finish && self.reader.position() >= durable;
            if self.is_due() || (is_last && self.uncommitted.is_some()) {
                self.commit(&mut fold)?;
            }
            if is_last {
                return fold.finish().map_err(|error| error.to_string());
            }
        }
    }

    /// Waits until there is something to read, to commit or to obey.
    fn wait(&self) -> (Position, Order) {
        let position = self.reader.position();
        let idle = |state: &mut State| state.durable <= position && state.order == Order::GoOn;
        let state = self.shared.state();
        let state = match self.uncommitted {
            None => self.shared.changed.wait_while(state, idle),
            Some(uncommitted) => {
                let left = uncommitted.since.after(self.commit_ms()).since(self.clock.now());
                let time = Duration::from_millis(left);
                let waited = self.shared.changed.wait_timeout_while(state, time, idle);
                waited
                    .map(|(state, _)| state)
                    .map_err(|error| PoisonError::new(error.into_inner().0))
            }
        };
        let state = state.unwrap_or_else(PoisonError::into_inner);
        (state.durable, state.order)
    }

    /// Reads on for a while.
    fn read(&mut self, fold: &mut Fold, until: Position) -> Result<(), String> {
        let now = self.clock.now();
        let mut read = 0;
        while read < READ_BYTES {
            match self.reader.next(until) {
                Ok(Some((at, entry))) => {
                    let page = self.shared.texts().take(at);
                    read += (entry.len() + page.as_deref().map_or(0, bytes_of)) as u64;
                    if let Some(why) = apply(fold, entry, page.as_deref(), &self.archive)? {
                        self.layout.note_incomplete(&why);
                    }
                }
                Ok(None) => break,
                Err(error) => self.skip_to(until, &error),
            }
        }
        if read > 0 {
            self.uncommitted.get_or_insert(Uncommitted { since: now, bytes: 0 }).bytes += read;
        }
        let mut state = self.shared.state();
        state.read_bytes += read;
        if self.reader.position() >= state.durable {
            // What was skipped counts, or the crawl would wait for it.
            state.read_bytes = state.durable_bytes;
        }
        drop(state);
        self.shared.changed.notify_all();
        Ok(())
    }

    /// What cannot be read is left out: better an index that lacks pages, and says so, than none.
    fn skip_to(&mut self, until: Position, error: &larm_crawl::Error) {
        self.layout.note_incomplete(&format!("its journal could not be read: {error}"));
        self.reader = JournalReader::new(self.layout.journal(), until);
    }

    fn commit_ms(&self) -> u64 {
        let share = if self.commits == 0 { FIRST_COMMIT_SHARE } else { 1 };
        self.commit_ms_max / share
    }

    fn is_due(&self) -> bool {
        self.uncommitted.is_some_and(|uncommitted| {
            let waited = self.clock.now().since(uncommitted.since);
            waited >= self.commit_ms() || uncommitted.bytes >= self.commit_bytes_max
        })
    }

    fn commit(&mut self, fold: &mut Fold) -> Result<(), String> {
        let position = self.reader.position();
        fold.commit(position).map_err(|error| error.to_string())?;
        self.uncommitted = None;
        self.commits += 1;
        forget_before(&self.layout.journal(), position).map_err(|error| error.to_string())
    }
}

/// Takes one entry, whose bytes are known to be ours by their checksum, with the words of its page: held, in the
/// entry, or in the archive. Says why the page is left out, if it is.
fn apply(
    fold: &mut Fold,
    entry: &[u8],
    held: Option<&PageFacts>,
    archive: &Archive,
) -> Result<Option<String>, String> {
    let Some(Entry { change, lang, wording, anchors }) = Entry::read(entry) else {
        return Ok(None);
    };
    let (mut read, mut lost) = (None, None);
    let (text, place) = match wording {
        Some(Wording::Here { text, place }) => (Some(text), place),
        Some(Wording::Archived(place)) => {
            if let (None, Some(Change::Page(entry))) = (held, &change) {
                match archive.page(&entry.url, place) {
                    Ok(page) => read = Some(page),
                    Err(why) => {
                        lost = Some(format!("the archive does not have {}: {why}", entry.url))
                    }
                }
            }
            (held.map(Text::from).or(read.as_ref().map(Text::from)), Some(place))
        }
        None => (None, None),
    };
    if let Some(change) = change.filter(|_| lost.is_none()) {
        let words = Words { lang, text: text.unwrap_or_default(), place };
        fold.apply(&change, &words).map_err(|error| error.to_string())?;
    }
    fold.gather(lang, anchors).map_err(|error| error.to_string())?;
    Ok(lost)
}

/// Tells at its end that the thread is over.
struct Over(Arc<Shared>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.state().is_over = true;
        self.0.changed.notify_all();
    }
}
