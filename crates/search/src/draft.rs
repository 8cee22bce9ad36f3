//! A segment of the index while it is written: the files of tantivy, by a shorter way.
//!
//! tantivy would look every word of every field up in one large table, which is in no cache, and that
//! was half of what an index costs ([ADR 25](../../../docs/adr/0025-segments-of-our-own.md)). Here
//! terms are gathered by number and sorted at the end. What is written is the same, file by file: field
//! norms, postings, positions and terms by its serializers, columns and stored texts by its writers. It
//! reads, merges and deletes these segments like its own, and a test holds both against each other.

use tantivy::columnar::{ColumnType, ColumnarWriter};
use tantivy::directory::TerminatingWrite;
use tantivy::fastfield::write_alive_bitset;
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer, FieldNormsWriter};
use tantivy::index::{SegmentComponent, SegmentId, SegmentMeta};
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::{Document, Field, IndexRecordOption, Schema};
use tantivy::store::StoreWriter;
use tantivy::{BitSet, DocId, Opstamp, Segment};

use larm_core::parse::Span;

use crate::language::Lang;
use crate::postings::{Desk, Keys, Postings};
use crate::vocabulary::Vocabulary;
use crate::words::push_tag;

/// tantivy takes no longer ones for terms.
const TERM_BYTES_MAX: usize = u16::MAX as usize - 5;

/// A segment that is not part of the index yet.
pub(crate) struct Draft {
    segment: Segment,
    schema: Schema,
    documents: DocId,
    norms: FieldNormsWriter,
    /// By number of the field, as the next ones; most are empty.
    postings: Vec<Postings>,
    keys: Vec<Keys>,
    desk: Desk,
    words: PlacedWords,
    columns: ColumnarWriter,
    store: StoreWriter,
    stored: Stored,
}

impl Draft {
    pub fn new(segment: Segment) -> tantivy::Result<Self> {
        let schema = segment.schema();
        let settings = segment.index().settings();
        let store = StoreWriter::new(
            segment.open_write(SegmentComponent::Store)?,
            settings.docstore_compression,
            settings.docstore_blocksize,
            settings.docstore_compress_dedicated_thread,
        )?;
        let mut columns = ColumnarWriter::default();
        for (_, entry) in schema.fields().filter(|(_, entry)| entry.is_fast()) {
            columns.record_column_type(entry.name(), ColumnType::U64, false);
        }
        Ok(Self {
            documents: 0,
            norms: FieldNormsWriter::for_schema(&schema),
            postings: schema.fields().map(|_| Postings::default()).collect(),
            keys: schema.fields().map(|_| Keys::default()).collect(),
            desk: Desk::default(),
            words: PlacedWords::default(),
            columns,
            store,
            stored: Stored::default(),
            schema,
            segment,
        })
    }

    pub fn id(&self) -> SegmentId {
        self.segment.id()
    }

    /// Begins the next document. What is added to it belongs to it until it is ended.
    pub fn document<'d>(&'d mut self, vocabulary: &'d mut Vocabulary) -> Entry<'d> {
        Entry { draft: self, vocabulary }
    }

    /// What it takes in memory together with its terms, and will take while it is finished.
    pub fn bytes(&self, vocabulary: &Vocabulary) -> usize {
        let gathered: usize = self.postings.iter().map(Postings::gathered_bytes).sum();
        let written = self.postings.iter().map(Postings::written_bytes).max().unwrap_or_default();
        let keys: usize = self.keys.iter().map(Keys::bytes).sum();
        let terms = vocabulary.bytes() + vocabulary.end() * Desk::TERM_BYTES;
        gathered + written + keys + terms + self.columns.mem_usage() + self.store.mem_usage()
    }

    /// Writes what is left, without the documents that are gone by now.
    pub fn finish(
        mut self,
        vocabulary: &Vocabulary,
        gone: &[DocId],
        now: Opstamp,
    ) -> tantivy::Result<SegmentMeta> {
        self.norms.fill_up_to_max_doc(self.documents);
        let out = self.segment.open_write(SegmentComponent::FieldNorms)?;
        self.norms.serialize(FieldNormsSerializer::from_write(out)?, None)?;
        self.write_postings(vocabulary)?;
        let mut out = self.segment.open_write(SegmentComponent::FastFields)?;
        self.columns.serialize(self.documents, None, &mut out)?;
        out.terminate()?;
        self.store.close()?;
        let mut segment = self.segment.with_max_doc(self.documents);
        if !gone.is_empty() {
            segment = segment.with_delete_meta(gone.len() as u32, now);
            let mut alive = BitSet::with_max_value_and_full(self.documents);
            gone.iter().for_each(|document| alive.remove(*document));
            let mut out = segment.open_write(SegmentComponent::Delete)?;
            write_alive_bitset(&alive, &mut out)?;
            out.terminate()?;
        }
        Ok(segment.meta().clone())
    }

    fn write_postings(&mut self, vocabulary: &Vocabulary) -> tantivy::Result<()> {
        let norms = FieldNormReaders::open(self.segment.open_read(SegmentComponent::FieldNorms)?)?;
        let mut out = InvertedIndexSerializer::open(&self.segment)?;
        for (field, entry) in self.schema.fields() {
            let at = field.field_id() as usize;
            self.keys[at].write(field, norms.get_field(field)?, &mut out)?;
            let option = entry.field_type().index_record_option();
            let option = option.unwrap_or(IndexRecordOption::Basic);
            let norms = norms.get_field(field)?;
            self.postings[at].write(field, option, norms, vocabulary, &mut self.desk, &mut out)?;
        }
        Ok(out.close()?)
    }
}

/// A document that is being added. The schema says what becomes of each value.
pub(crate) struct Entry<'d> {
    draft: &'d mut Draft,
    vocabulary: &'d mut Vocabulary,
}

impl Entry<'_> {
    /// Adds a text of words, if it is not empty.
    pub fn text(&mut self, field: Field, lang: Lang, text: &str) {
        if text.is_empty() {
            return;
        }
        self.vocabulary.set_lang(lang);
        self.draft.postings[field.field_id() as usize].read(self.vocabulary, text);
        if self.draft.schema.get_field_entry(field).is_stored() {
            self.store(field, lang, text);
        }
    }

    /// Looks up the words of a text, of which parts are then added to fields.
    pub fn read(&mut self, lang: Lang, text: &str) {
        self.vocabulary.set_lang(lang);
        let PlacedWords { starts, numbers } = &mut self.draft.words;
        starts.clear();
        numbers.clear();
        self.vocabulary.read(text, |word, number| {
            starts.push(word.start as u32);
            numbers.push(number);
        });
    }

    /// Adds those words of the text that begin in some of its parts.
    pub fn parts<'s>(&mut self, field: Field, spans: impl IntoIterator<Item = &'s Span>) {
        let PlacedWords { starts, numbers } = &self.draft.words;
        let postings = &mut self.draft.postings[field.field_id() as usize];
        for span in spans {
            let from = starts.partition_point(|start| *start < span.start);
            let count = starts[from..].partition_point(|start| *start < span.end);
            postings.take(&numbers[from..from + count]);
        }
    }

    /// Keeps a text to be shown, with its language.
    pub fn store(&mut self, field: Field, lang: Lang, text: &str) {
        if !text.is_empty() {
            push_tag(lang, &mut self.draft.stored.text);
            self.draft.stored.push(field, text);
        }
    }

    /// Adds a text that counts as a whole.
    pub fn value(&mut self, field: Field, text: &str) {
        let entry = self.draft.schema.get_field_entry(field);
        if entry.is_indexed() && text.len() <= TERM_BYTES_MAX {
            self.draft.postings[field.field_id() as usize].push(self.vocabulary, text);
        }
        if entry.is_stored() {
            self.draft.stored.push(field, text);
        }
    }

    /// Adds a number.
    pub fn number(&mut self, field: Field, number: u64) {
        let Draft { schema, documents, norms, keys, columns, .. } = &mut *self.draft;
        let entry = schema.get_field_entry(field);
        columns.record_numerical(*documents, entry.name(), number);
        if entry.is_indexed() {
            keys[field.field_id() as usize].push(number, *documents);
            norms.record(*documents, field, 1);
        }
    }

    /// Ends the document, and returns its number.
    pub fn end(self) -> tantivy::Result<DocId> {
        let Draft { schema, documents, norms, postings, desk, store, stored, .. } = self.draft;
        let document = *documents;
        for (field, postings) in (0..).map(Field::from_field_id).zip(postings) {
            if let Some(terms) = postings.end(document, self.vocabulary, desk) {
                norms.record(document, field, terms);
            }
        }
        store.store(stored, schema)?;
        stored.clear();
        *documents += 1;
        Ok(document)
    }
}

/// The words of the text at hand: where each begins, and the number of its term.
#[derive(Default)]
struct PlacedWords {
    starts: Vec<u32>,
    numbers: Vec<u32>,
}

/// What is stored of the document at hand.
#[derive(Default)]
struct Stored {
    text: String,
    /// The fields, and where their texts end.
    fields: Vec<(Field, usize)>,
}

impl Stored {
    fn push(&mut self, field: Field, text: &str) {
        self.text.push_str(text);
        self.fields.push((field, self.text.len()));
    }

    fn clear(&mut self) {
        self.text.clear();
        self.fields.clear();
    }
}

impl Document for Stored {
    type Value<'a> = &'a str;
    type FieldsValuesIter<'a> = Box<dyn Iterator<Item = (Field, &'a str)> + 'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        Box::new(self.fields.iter().scan(0, |start, (field, end)| {
            Some((*field, &self.text[std::mem::replace(start, *end)..*end]))
        }))
    }
}
