//! The index as a fold over the journal: entry by entry, and now and then a commit.
//!
//! Each commit carries the position behind the last entry that it holds. That is all there is to
//! recovery: whoever opens the index reads on from there, with this same code.
//!
//! Documents are gathered in a [`Draft`], which becomes a segment when it is full or when it is time for a
//! commit. tantivy commits segments, merges them, and removes the files of those that are no more.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::io;
use std::path::Path;

use larm_core::Limits;
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_crawl::store::Position;
use percent_encoding::percent_decode_str;
use tantivy::directory::error::{OpenDirectoryError, OpenReadError};
use tantivy::indexer::IndexWriterOptions;
use tantivy::{DocId, Index, IndexWriter, ReloadPolicy, TantivyError};

use crate::anchors::{AsItIs, Gathered, Said};
use crate::archive;
use crate::draft::{Draft, Entry};
use crate::entry::{Anchors, Change, PageEntry, Place, Text};
use crate::language::Lang;
use crate::merging::BySize;
use crate::outdated::{Outdated, Written};
use crate::parts::{joined, main_and_rest};
use crate::schema::{ANCHORS, COPY, Fields, PAGE, VERSION, open_to_read, schema};
use crate::vocabulary::Vocabulary;

/// What tantivy takes at least. None of it is used: it is given no documents.
const MEMORY_BYTES_MIN: usize = 15_000_000;
/// Of the memory, so much may be terms.
const VOCABULARY_SHARE: usize = 4;

/// An index that is being written.
pub(crate) struct Fold {
    writer: IndexWriter,
    fields: Fields,
    gathered: Gathered,
    vocabulary: Vocabulary,
    /// Documents that are no segment yet.
    draft: Option<Draft>,
    /// The URLs that changed since there was one, and which of its documents they are, if any.
    changed: HashMap<u64, Option<DocId>, BuildHasherDefault<AsItIs>>,
    /// Documents of the draft that others have replaced.
    gone: Vec<DocId>,
    written: Written,
    memory_max: usize,
}

impl Fold {
    /// Goes on with the index in a directory.
    pub fn new(index: &Index, dir: &Path, limits: &Limits) -> tantivy::Result<Self> {
        let memory = usize::try_from(limits.index_memory_bytes_max).unwrap_or(usize::MAX);
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(MEMORY_BYTES_MIN)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let writer = index.writer_with_options(options)?;
        writer.set_merge_policy(Box::new(BySize::new(dir, limits.index_merge_bytes_max)?));
        Ok(Self {
            writer,
            fields: schema().1,
            gathered: Gathered::new(limits),
            vocabulary: Vocabulary::of_an_index(),
            draft: None,
            changed: HashMap::default(),
            gone: Vec::new(),
            written: Written::default(),
            memory_max: memory.max(MEMORY_BYTES_MIN),
        })
    }

    /// Takes one change.
    pub fn apply(&mut self, change: &Change<'_>, words: &Words<'_>) -> tantivy::Result<()> {
        match change {
            Change::Page(entry) => self.add_page(entry, words),
            Change::Copy { url, original, digest } => self.add_copy(url, *original, *digest),
            Change::Gone { url_key } => {
                self.change(*url_key, None);
                Ok(())
            }
        }
    }

    /// Takes what links say.
    pub fn gather(&mut self, lang: Lang, anchors: Anchors<'_>) -> tantivy::Result<()> {
        anchors.for_each(|anchor| self.gathered.add(lang, anchor));
        if self.gathered.is_full() {
            self.add_gathered()?;
        }
        Ok(())
    }

    /// Makes everything so far visible and durable, together with the position behind it.
    pub fn commit(&mut self, position: Position) -> tantivy::Result<()> {
        self.add_gathered()?;
        self.end_draft()?;
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&format!("{VERSION} {} {}", position.file, position.offset));
        commit.commit().map(drop)
    }

    /// Ends what goes on in the background.
    pub fn finish(self) -> tantivy::Result<()> {
        self.writer.wait_merging_threads()
    }

    fn add_page(&mut self, entry: &PageEntry<'_>, words: &Words<'_>) -> tantivy::Result<()> {
        let url_key = Fingerprint::of(&entry.url).0;
        let fields = self.fields;
        let Words { lang, text: Text { title, description, text, marks }, place } = words;
        let mut page = self.document(PAGE)?;
        page.number(fields.url_key, url_key);
        page.value(fields.url, &entry.url);
        page.text(fields.title, *lang, title);
        let (main, rest) = main_and_rest(text, marks);
        page.read(*lang, text);
        page.parts(fields.text, &main);
        page.parts(fields.rest, &rest);
        page.parts(fields.headings, marks.headings.iter().map(|(_, span)| span));
        page.parts(fields.emphasis, &marks.emphasis);
        match place {
            Some(place) => page.value(fields.place, &archive::in_words(*place)),
            None => {
                page.store(fields.text, *lang, &joined(text, &main));
                page.store(fields.rest, *lang, &joined(text, &rest));
            }
        }
        if !description.is_empty() {
            page.value(fields.description, description);
        }
        add_url(&mut page, &fields, &entry.url);
        media_names(&entry.media).for_each(|name| page.value(fields.media, name));
        if !lang.is_none() {
            page.value(fields.lang, lang.code());
        }
        page.number(fields.date, entry.date);
        page.number(fields.digest, entry.digest);
        if let Some(near) = entry.near {
            page.number(fields.near, near);
        }
        let document = page.end()?;
        self.change(url_key, Some(document));
        self.end_full_draft()
    }

    fn add_copy(&mut self, url: &str, original: u64, digest: u64) -> tantivy::Result<()> {
        let url_key = Fingerprint::of(url).0;
        let fields = self.fields;
        let mut copy = self.document(COPY)?;
        copy.number(fields.url_key, url_key);
        copy.value(fields.url, url);
        copy.number(fields.original, original);
        copy.number(fields.digest, digest);
        let document = copy.end()?;
        self.change(url_key, Some(document));
        self.end_full_draft()
    }

    fn add_gathered(&mut self) -> tantivy::Result<()> {
        for (target, Said { links, texts }) in self.gathered.take() {
            let fields = self.fields;
            let mut said = self.document(ANCHORS)?;
            said.number(fields.target, target);
            said.number(fields.links, links);
            texts.iter().for_each(|(lang, text)| said.text(fields.anchor, *lang, text));
            said.end()?;
            self.end_full_draft()?;
        }
        Ok(())
    }

    /// Begins a document of a kind.
    fn document(&mut self, kind: &str) -> tantivy::Result<Entry<'_>> {
        let draft = match &mut self.draft {
            Some(draft) => draft,
            none => none.insert(Draft::new(self.writer.new_segment())?),
        };
        let mut document = draft.document(&mut self.vocabulary);
        document.value(self.fields.kind, kind);
        Ok(document)
    }

    /// What was there of a URL goes, whatever it was.
    fn change(&mut self, url_key: u64, document: Option<DocId>) {
        let before = self.changed.insert(url_key, document);
        self.gone.extend(before.flatten());
    }

    /// Ends the draft if it or its terms take more memory than they may.
    fn end_full_draft(&mut self) -> tantivy::Result<()> {
        let has_all_terms = self.vocabulary.bytes() >= self.memory_max / VOCABULARY_SHARE;
        let draft = self.draft.as_ref().map_or(0, |draft| draft.bytes(&self.vocabulary));
        if has_all_terms || draft >= self.memory_max {
            self.end_draft()?;
        }
        if has_all_terms {
            self.vocabulary.forget();
        }
        Ok(())
    }

    /// Makes the draft a segment.
    ///
    /// First come the deletes: a merge may begin as soon as the segment is known, and must find in the queue
    /// all that is older than the segment.
    fn end_draft(&mut self) -> tantivy::Result<()> {
        let mut now = self.writer.commit_opstamp();
        if !self.changed.is_empty() {
            let changed = std::mem::take(&mut self.changed).into_keys();
            let outdated = Outdated::new(changed, &self.written);
            now = self.writer.delete_query(Box::new(outdated))?;
        }
        let gone = std::mem::take(&mut self.gone);
        match self.draft.take() {
            Some(draft) => {
                self.written.add(draft.id());
                self.writer.add_segment(draft.finish(&self.vocabulary, &gone, now)?)
            }
            None => Ok(()),
        }
    }
}

/// The words of a page.
pub(crate) struct Words<'a> {
    pub lang: Lang,
    pub text: Text<'a>,
    /// Where they can be read again: then they are not stored.
    pub place: Option<Place<'a>>,
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

/// Whether there is an index of ours in a directory, and all of its files. An error is what may pass: too many open files, a
/// disk that cannot be read.
pub(crate) fn is_sound(dir: &Path) -> io::Result<bool> {
    // To search, since files that are mapped need not stay open, and there may be many.
    let opened = open_to_read(dir).and_then(|index| {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        Ok(index.schema() == schema().0 && reader.try_into().map(|_| true)?)
    });
    match opened {
        Ok(is_sound) => Ok(is_sound),
        Err(error) => system_error(&error).map_or(Ok(false), Err),
    }
}

/// What the system said, unless it is that something is not there.
fn system_error(error: &TantivyError) -> Option<io::Error> {
    let said = match error {
        TantivyError::IoError(error) => error,
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => io_error,
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => io_error,
        _ => return None,
    };
    let number = said.raw_os_error().filter(|_| said.kind() != io::ErrorKind::NotFound)?;
    Some(io::Error::from_raw_os_error(number))
}

fn add_url(page: &mut Entry<'_>, fields: &Fields, url: &str) {
    let Some(url) = CrawlUrl::from_canonical(url) else { return };
    let words = percent_decode_str(url.path_and_query()).decode_utf8_lossy();
    if url.is_file() {
        return page.text(fields.url_words, Lang::NONE, &words);
    }
    let host = url.host();
    page.text(fields.url_words, Lang::NONE, host);
    page.text(fields.url_words, Lang::NONE, &words);
    page.value(fields.host, host);
    let with_port = url.as_str().split('/').nth(2).filter(|authority| *authority != host);
    with_port.into_iter().for_each(|authority| page.value(fields.host, authority));
    domains_of(&url).for_each(|domain| page.value(fields.site, domain));
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

#[cfg(test)]
mod oracle;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_may_pass_is_told_from_damage() {
        const TOO_MANY_FILES: i32 = 24;
        const NO_SUCH_FILE: i32 = 2;
        let said = |number| io::Error::from_raw_os_error(number);
        let opening = |number| OpenReadError::wrap_io_error(said(number), "file".into());
        let cut_short = io::Error::from(io::ErrorKind::UnexpectedEof);
        let rows: [(TantivyError, bool); 6] = [
            (TantivyError::IoError(Arc::new(said(TOO_MANY_FILES))), true),
            (opening(TOO_MANY_FILES).into(), true),
            (opening(NO_SUCH_FILE).into(), false),
            (TantivyError::IoError(Arc::new(cut_short)), false),
            (OpenReadError::FileDoesNotExist("file".into()).into(), false),
            (TantivyError::SchemaError("another".to_owned()), false),
        ];
        for (error, passes) in rows {
            assert_eq!(system_error(&error).is_some(), passes, "{error}");
        }
    }

    #[test]
    fn an_index_is_sound_if_all_of_it_is_there() {
        let temp = tempfile::tempdir().unwrap();
        assert!(!is_sound(&temp.path().join("none")).unwrap());
        assert!(!is_sound(temp.path()).unwrap(), "there is nothing in it");
        let index = crate::schema::create(temp.path()).unwrap();
        let mut fold = Fold::new(&index, temp.path(), &Limits::default()).unwrap();
        fold.add_copy("http://a.example/", 1, 2).unwrap();
        fold.commit(Position { file: 1, offset: 0 }).unwrap();
        fold.finish().unwrap();
        assert!(is_sound(temp.path()).unwrap());
        let is_store = |file: &std::path::PathBuf| file.extension().is_some_and(|e| e == "store");
        let mut files = std::fs::read_dir(temp.path()).unwrap().map(|file| file.unwrap().path());
        std::fs::write(files.find(is_store).unwrap(), "").unwrap();
        assert!(!is_sound(temp.path()).unwrap(), "a file of it is empty");
    }
}
