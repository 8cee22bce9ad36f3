//! The index as a fold over the journal: entry by entry, and now and then a commit.
//!
//! Each commit carries the position behind the last entry that it holds. That is all there is to
//! recovery: whoever opens the index reads on from there, with this same code.
//!
//! Documents on their way to tantivy's own thread are bounded in bytes, not in number: a page may be
//! a megabyte.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use larm_core::Limits;
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_crawl::store::Position;
use percent_encoding::percent_decode_str;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::schema::Document;
use tantivy::{Index, IndexWriter, ReloadPolicy, TantivyDocument, Term};

use crate::anchors::{Gathered, Said};
use crate::entry::{Change, PageEntry, decode};
use crate::language::Lang;
use crate::schema::{ANCHORS, COPY, Fields, PAGE, VERSION, schema};
use crate::words::tagged;

/// What tantivy takes at least.
const MEMORY_BYTES_MIN: usize = 15_000_000;
/// Of the memory, so much may be documents that wait.
const WAITING_SHARE: u64 = 8;
/// Segments of a size that are put together; more of them make searching slower, fewer cost more.
const MERGE_SEGMENTS: usize = 10;
/// Smaller segments count as being of one size.
const SMALL_SEGMENT_DOCS: u32 = 1_000;
/// Larger ones are left alone.
const LARGE_SEGMENT_DOCS: usize = 2_000_000;

/// An index that is being written.
pub(crate) struct Fold {
    writer: IndexWriter<Waiting>,
    fields: Fields,
    gathered: Gathered,
    queue: Arc<Queue>,
}

impl Fold {
    /// Goes on with an index.
    pub fn new(index: &Index, limits: &Limits) -> tantivy::Result<Self> {
        let memory = usize::try_from(limits.index_memory_bytes_max).unwrap_or(usize::MAX);
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(memory.max(MEMORY_BYTES_MIN))
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let writer = index.writer_with_options(options)?;
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(MERGE_SEGMENTS);
        policy.set_min_layer_size(SMALL_SEGMENT_DOCS);
        policy.set_max_docs_before_merge(LARGE_SEGMENT_DOCS);
        writer.set_merge_policy(Box::new(policy));
        let queue = Arc::new(Queue::new(limits.index_memory_bytes_max / WAITING_SHARE));
        Ok(Self { writer, fields: schema().1, gathered: Gathered::new(limits), queue })
    }

    /// Takes one entry. Its bytes are known to be ours by their checksum.
    pub fn apply(&mut self, entry: &[u8]) -> tantivy::Result<()> {
        let Some((change, lang, anchors)) = decode(entry) else { return Ok(()) };
        if let Some(change) = change {
            self.change(&change, lang)?;
        }
        anchors.for_each(|anchor| self.gathered.add(lang, anchor));
        if self.gathered.is_full() {
            self.add_gathered()?;
        }
        Ok(())
    }

    /// Makes everything so far visible and durable, together with the position behind it.
    pub fn commit(&mut self, position: Position) -> tantivy::Result<()> {
        self.add_gathered()?;
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&format!("{VERSION} {} {}", position.file, position.offset));
        commit.commit().map(drop)
    }

    /// Ends what goes on in the background.
    pub fn finish(self) -> tantivy::Result<()> {
        self.writer.wait_merging_threads()
    }

    fn change(&mut self, change: &Change<'_>, lang: Lang) -> tantivy::Result<()> {
        match change {
            Change::Page(entry) => {
                let url_key = Fingerprint::of(&entry.url).0;
                self.replace(url_key, page_document(&self.fields, entry, lang, url_key))
            }
            Change::Copy { url, original, digest } => {
                let url_key = Fingerprint::of(url).0;
                let mut document = self.document(COPY);
                document.add_u64(self.fields.url_key, url_key);
                document.add_text(self.fields.url, url);
                document.add_u64(self.fields.original, *original);
                document.add_u64(self.fields.digest, *digest);
                self.replace(url_key, document)
            }
            Change::Gone { url_key } => {
                self.delete(*url_key);
                Ok(())
            }
        }
    }

    fn document(&self, kind: &str) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_text(self.fields.kind, kind);
        document
    }

    /// What was there of a URL goes, whatever it was.
    fn replace(&self, url_key: u64, document: TantivyDocument) -> tantivy::Result<()> {
        self.delete(url_key);
        self.add(document)
    }

    fn delete(&self, url_key: u64) {
        self.writer.delete_term(Term::from_field_u64(self.fields.url_key, url_key));
    }

    fn add(&self, document: TantivyDocument) -> tantivy::Result<()> {
        let place = self.queue.place_for(size_of(&document));
        self.writer.add_document(Waiting { document, _place: place }).map(drop)
    }

    fn add_gathered(&mut self) -> tantivy::Result<()> {
        for (target, said) in self.gathered.take() {
            self.add(self.anchors_document(target, &said))?;
        }
        Ok(())
    }

    fn anchors_document(&self, target: u64, said: &Said) -> TantivyDocument {
        let mut document = self.document(ANCHORS);
        document.add_u64(self.fields.target, target);
        document.add_u64(self.fields.links, said.links);
        for (lang, text) in &said.texts {
            document.add_text(self.fields.anchor, tagged(*lang, text));
        }
        document
    }
}

/// The position that the last commit of an index carries, if it is an index of this version.
pub(crate) fn position_of(index: &Index) -> Option<Position> {
    let payload = index.load_metas().ok()?.payload?;
    let mut parts = payload.split(' ');
    let version = parts.next()?.parse::<u32>().ok()?;
    let position =
        Position { file: parts.next()?.parse().ok()?, offset: parts.next()?.parse().ok()? };
    (version == VERSION).then_some(position)
}

/// Whether every file of an index is there and can be read.
pub(crate) fn is_sound(index: &Index) -> bool {
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
    index.schema() == schema().0 && reader.try_into().is_ok()
}

fn page_document(fields: &Fields, entry: &PageEntry<'_>, lang: Lang, key: u64) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_text(fields.kind, PAGE);
    document.add_u64(fields.url_key, key);
    document.add_text(fields.url, &entry.url);
    for (field, text) in [
        (fields.title, &entry.title),
        (fields.text, &entry.text),
        (fields.rest, &entry.rest),
        (fields.headings, &entry.headings),
        (fields.emphasis, &entry.emphasis),
    ] {
        if !text.is_empty() {
            document.add_text(field, tagged(lang, text));
        }
    }
    if !entry.description.is_empty() {
        document.add_text(fields.description, &entry.description);
    }
    add_url(&mut document, fields, &entry.url);
    media_names(&entry.media).for_each(|name| document.add_text(fields.media, name));
    if !lang.is_none() {
        document.add_text(fields.lang, lang.code());
    }
    document.add_u64(fields.date, entry.date);
    document.add_u64(fields.digest, entry.digest);
    if let Some(near) = entry.near {
        document.add_u64(fields.near, near);
    }
    document
}

fn add_url(document: &mut TantivyDocument, fields: &Fields, url: &str) {
    let Some(url) = CrawlUrl::from_canonical(url) else { return };
    let words = percent_decode_str(url.path_and_query()).decode_utf8_lossy();
    if url.is_file() {
        return document.add_text(fields.url_words, tagged(Lang::NONE, &words));
    }
    let host = url.host();
    document.add_text(fields.url_words, tagged(Lang::NONE, &format!("{host} {words}")));
    document.add_text(fields.host, host);
    let with_port = url.as_str().split('/').nth(2).filter(|authority| *authority != host);
    with_port.into_iter().for_each(|authority| document.add_text(fields.host, authority));
    domains_of(&url).for_each(|domain| document.add_text(fields.site, domain));
}

/// A host and every domain above it; an address is below none.
fn domains_of(url: &CrawlUrl) -> impl Iterator<Item = &str> {
    let host = url.host();
    let dots = host.match_indices('.').map(|(at, _)| at + 1);
    let above = dots.filter(|_| url.ip().is_none()).map(|at| &host[at..]);
    std::iter::once(host).chain(above).filter(|domain| !domain.is_empty())
}

/// `text/html`, `text`, `html`: whatever a person may call it.
fn media_names(media: &str) -> impl Iterator<Item = &str> {
    let short = match media {
        "application/xhtml+xml" => Some("html"),
        "text/plain" => Some("txt"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => Some("docx"),
        "application/vnd.oasis.opendocument.text" => Some("odt"),
        _ => None,
    };
    let whole = Some(media).filter(|media| !media.is_empty());
    whole.into_iter().chain(media.split('/').filter(|part| !part.is_empty())).chain(short)
}

fn size_of(document: &TantivyDocument) -> u64 {
    let values = document.field_values();
    let texts =
        values.filter_map(|(_, value)| tantivy::schema::Value::as_str(&value).map(str::len));
    texts.sum::<usize>() as u64
}

/// A document on its way to be indexed, with its place in memory.
struct Waiting {
    document: TantivyDocument,
    _place: Place,
}

impl Document for Waiting {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }
}

/// Bytes of documents that wait.
struct Queue {
    state: Mutex<QueueState>,
    freed: Condvar,
    bytes_max: u64,
}

#[derive(Default)]
struct QueueState {
    taken: u64,
    /// Somebody waits for a place. Waking is a system call, and for each document too many.
    is_awaited: bool,
}

impl Queue {
    fn new(bytes_max: u64) -> Self {
        Self { state: Mutex::default(), freed: Condvar::new(), bytes_max }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place. One document passes however large it is.
    fn place_for(self: &Arc<Self>, bytes: u64) -> Place {
        let is_full = |state: &mut QueueState| {
            state.is_awaited = state.taken > 0 && state.taken + bytes > self.bytes_max;
            state.is_awaited
        };
        let waited = self.freed.wait_while(self.state(), is_full);
        waited.unwrap_or_else(PoisonError::into_inner).taken += bytes;
        Place { queue: self.clone(), bytes }
    }
}

/// A place in the queue, free again when this goes away.
struct Place {
    queue: Arc<Queue>,
    bytes: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.taken -= self.bytes;
        if state.is_awaited {
            self.queue.freed.notify_one();
        }
    }
}
