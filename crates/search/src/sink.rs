//! The index as a sink: visits go into a journal with the crawl's commits, and from there into the index.
//!
//! Writing is an append, and a flush is a write: all that costs happens in the encoder, in parallel, and
//! on the indexer's own thread. A flush means that what the one before it handed over is durable by
//! now, since commits follow each other: so far the indexer may read ([`INDEX-1`](crate::indexer)).
//!
//! The index is never a reason for the crawl to fail. One that cannot be opened is made anew, one that
//! fails is left alone until the next start, and both are said aloud. Only the journal is held to what
//! every sink is held to: a disk that does not take it ends the crawl.

use std::path::Path;
use std::sync::Arc;

use larm_core::Limits;
use larm_crawl::store::{Encoded, Encoder, Flushed, Kept, Lag, PageFacts, Position, Sink};
use larm_crawl::{Error, Result, Visit};
use tantivy::Index;
use tracing::warn;

use crate::anchors::Known;
use crate::entry::{
    Place, Text, Wording, anchors_of, can_be_read_again, encode, is_page, push_anchor, push_sized,
};
use crate::fold::{is_sound, position_of};
use crate::indexer::Indexer;
use crate::journal::{self, Journal};
use crate::layout::Layout;
use crate::schema;
use crate::texts::bytes_of;

/// An entry that changes nothing: its head alone.
const EMPTY_BYTES: usize = 6;
/// Where a journal begins.
const BEGIN: Position = Position { file: 1, offset: 0 };

/// Writes `search/` of a crawl directory.
pub struct SearchSink {
    layout: Layout,
    limits: Arc<Limits>,
    journal: Journal,
    known: Known,
    indexer: Option<Indexer>,
    /// Where the last flush ended, and what was appended since.
    flushed: Position,
    appended: u64,
    /// Of the last flush.
    flushed_bytes: u64,
    /// Where the words of the visit at hand are, and its links that were not kept before.
    behind: Vec<u8>,
    /// All pages of the crawl are given to it.
    rebuilds: bool,
    /// The index has failed, and the journal is full.
    is_off: bool,
}

impl SearchSink {
    /// The index of the crawl in `dir`. Nothing is touched so far.
    pub fn new(dir: &Path, limits: &Limits) -> Self {
        let layout = Layout::new(dir);
        Self {
            journal: Journal::new(layout.journal(), limits),
            known: Known::new(limits),
            layout,
            limits: Arc::new(limits.clone()),
            indexer: None,
            flushed: BEGIN,
            appended: 0,
            flushed_bytes: 0,
            behind: Vec::new(),
            rebuilds: false,
            is_off: false,
        }
    }

    /// Says that all pages of the crawl will be written, also those of earlier runs: when this begins
    /// with an empty index, nothing is missing in it.
    pub fn rebuilding(mut self) -> Self {
        self.rebuilds = true;
        self
    }

    /// Says that the crawl in `dir` goes on without its index, if it has one: what is fetched from here on is
    /// missing in it.
    pub fn go_on_without(dir: &Path) {
        let layout = Layout::new(dir);
        if layout.index().is_dir() {
            layout.note_incomplete("they were fetched when no index was kept");
        }
    }

    /// Nothing was ever committed: whatever is there belongs to nobody.
    fn begin(&mut self) -> Result<(Option<Index>, Position)> {
        self.journal.clear()?;
        self.layout.forget_incomplete()?;
        if !self.rebuilds && self.layout.has_settled() {
            self.layout.note_incomplete("they were fetched when no index was kept");
        }
        Ok((self.new_index(), BEGIN))
    }

    /// Goes on at a committed position, with as much of the index as is left.
    fn go_on(&mut self, committed: Position) -> Result<(Option<Index>, Position)> {
        let path = self.layout.index();
        let is_sound = is_sound(&path).map_err(Error::io(&path))?;
        let index = if is_sound { schema::open(&path).ok() } else { None };
        let indexed = index.as_ref().and_then(position_of);
        let journal_is_whole = self.journal.recover(committed).is_ok();
        if !journal_is_whole {
            self.journal.begin_anew()?;
        }
        let from = match indexed {
            Some(indexed) if self.has_nothing_between(indexed, committed)? => committed,
            // Further than the log: the crawl's state is an older copy. What is there twice is
            // replaced when it comes again.
            Some(indexed) => self.behind_removed(indexed.min(committed))?,
            None => self.oldest_entry(committed)?,
        };
        if !journal_is_whole && from < committed {
            self.layout.note_incomplete("the journal of the index is lost");
        }
        let index = index.filter(|_| indexed.is_some()).or_else(|| self.new_index());
        Ok((index, if journal_is_whole { from } else { self.journal.flush()?.position }))
    }

    /// Whether nothing was written between two positions: what the index has read is removed (INDEX-2), and the next
    /// start begins the next file.
    fn has_nothing_between(&self, indexed: Position, committed: Position) -> Result<bool> {
        let oldest = journal::oldest(&self.layout.journal())?;
        let is_removed = oldest.is_none_or(|oldest| oldest >= committed.file);
        Ok(indexed < committed && committed.offset == 0 && is_removed)
    }

    /// A position, or where the files behind it begin: one that is gone was read to its end (INDEX-2).
    fn behind_removed(&self, position: Position) -> Result<Position> {
        let oldest = journal::oldest(&self.layout.journal())?;
        let next = oldest.filter(|oldest| *oldest > position.file);
        Ok(next.map_or(position, |file| Position { file, offset: 0 }))
    }

    /// Where an index that is made anew begins: with what the journal still has.
    fn oldest_entry(&self, committed: Position) -> Result<Position> {
        let oldest = journal::oldest(&self.layout.journal())?;
        let oldest = oldest.map_or(committed, |file| Position { file, offset: 0 });
        if oldest > BEGIN {
            self.layout.note_incomplete("the index was damaged, and is made anew from here on");
        }
        Ok(oldest)
    }

    fn new_index(&self) -> Option<Index> {
        let path = self.layout.empty_index().map_err(|error| error.to_string());
        let index = path.and_then(|path| schema::create(&path).map_err(|error| error.to_string()));
        index.inspect_err(|error| warn!("there will be no search index: {error}")).ok()
    }

    /// Where the words of a page are to be found: in the archive, if they can be read there again. They go through the
    /// journal all the same when memory is full of others, since reading costs more than writing.
    fn wording<'a>(&self, visit: &Visit, page: &'a PageFacts, kept: &'a Kept) -> Wording<'a> {
        let place = kept.warc.as_ref().filter(|_| can_be_read_again(visit, page)).map(Place::from);
        let is_held = self.indexer.as_ref().is_none_or(|indexer| indexer.has_room_for(page));
        match place {
            Some(place) if is_held => Wording::Archived(place),
            place => Wording::Here { text: Text::from(page), place },
        }
    }

    /// Goes on without the index when it has failed for good.
    fn look_after_indexer(&mut self) {
        let Some(indexer) = &self.indexer else { return };
        if let Some(why) = indexer.failed()
            && !self.is_off
            && indexer.waiting() > self.limits.index_backlog_bytes_max
        {
            self.layout.note_incomplete(&format!("it failed ({why}), and its journal is full"));
            self.is_off = true;
        }
    }
}

impl Sink for SearchSink {
    fn name(&self) -> &str {
        "search"
    }

    fn encoder(&self) -> Encoder {
        Arc::new(encode)
    }

    fn write(&mut self, visit: &Visit, encoded: Encoded, kept: &mut Kept) -> Result<()> {
        let Some(is_page) = is_page(&encoded).filter(|_| !self.is_off) else { return Ok(()) };
        let change = &encoded.bytes;
        let page = visit.page.as_ref().filter(|_| is_page);
        let wording = page.map(|page| self.wording(visit, page, kept));
        self.behind.clear();
        push_sized(&mut self.behind, wording.as_ref());
        let without_anchors = self.behind.len();
        for anchor in anchors_of(visit, kept, &self.limits) {
            if self.known.is_new(anchor) {
                push_anchor(&mut self.behind, anchor);
            }
        }
        if change.len() <= EMPTY_BYTES && self.behind.len() == without_anchors {
            return Ok(());
        }
        self.appended += (change.len() + self.behind.len()) as u64;
        let entry = self.journal.append(&[change, &self.behind])?;
        if let (Some(Wording::Archived(_)), Some(page), Some(indexer)) =
            (wording, page, &self.indexer)
        {
            self.appended += bytes_of(page) as u64;
            indexer.hold(entry, page);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<Flushed> {
        let flushed = self.journal.flush()?;
        if let Some(indexer) = &self.indexer {
            indexer.advance(self.flushed, self.flushed_bytes);
        }
        self.flushed = flushed.position;
        self.flushed_bytes = std::mem::take(&mut self.appended);
        self.look_after_indexer();
        Ok(flushed)
    }

    fn lag(&self) -> Option<Lag> {
        self.indexer.as_ref()?.lag(self.limits.index_backlog_bytes_max)
    }

    fn recover(&mut self, position: Option<Position>) -> Result<()> {
        // The thread of an earlier start must not read what is about to be cut.
        self.indexer = None;
        let (index, from) = match position {
            None => self.begin()?,
            Some(committed) => self.go_on(committed)?,
        };
        self.flushed = self.journal.flush()?.position;
        self.indexer = match index {
            Some(index) => {
                let started = Indexer::start(index, &self.layout, from, &self.limits);
                Some(started.map_err(Error::io(self.layout.index()))?)
            }
            None => None,
        };
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let Some(mut indexer) = self.indexer.take() else { return Ok(()) };
        indexer.advance(self.flushed, self.flushed_bytes);
        match indexer.finish() {
            // All of it is in the index.
            None => journal::forget_before(&self.layout.journal(), behind(self.flushed)),
            Some(why) => {
                warn!("the search index failed, and goes on at the next start: {why}");
                Ok(())
            }
        }
    }
}

/// The file after the one that a position is in.
fn behind(position: Position) -> Position {
    Position { file: position.file + 1, offset: 0 }
}
