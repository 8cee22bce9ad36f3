//! What the index holds of a page, a copy and the links to a page, and how an index is opened.
//!
//! Three kinds of documents share one index, so that one commit covers all of them:
//!
//! - a *page*: its words by where they stand, what it can be filtered by, and what is shown of it;
//! - a *copy*: another URL that brought the very bytes of a page;
//! - *anchors*: what links say of a URL, gathered from many pages. A query joins them to the page.

use std::path::Path;

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;
use tantivy::{Index, IndexSettings};

use crate::directory::{IndexDirectory, Purpose};

/// Raised when what is indexed changes; an index of another version is made anew.
pub(crate) const VERSION: u32 = 2;
/// What makes terms of texts. tantivy only knows the name: terms come to it made.
pub(crate) const TOKENIZER: &str = "larm";
const RAW: &str = "raw";

/// The kinds of documents, as the field `kind` has them.
pub(crate) const PAGE: &str = "page";
pub(crate) const COPY: &str = "copy";
pub(crate) const ANCHORS: &str = "anchors";

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// Fingerprint of the URL.
    pub url_key: Field,
    pub kind: Field,
    pub url: Field,
    pub title: Field,
    pub headings: Field,
    pub emphasis: Field,
    /// The main part of the text.
    pub text: Field,
    /// What else the page says: navigation, notices, frame.
    pub rest: Field,
    pub url_words: Field,
    pub description: Field,
    /// Where the archive has the page, if its text is to be read there: see `archive`.
    pub place: Field,
    /// With and without a port.
    pub host: Field,
    /// The host and every domain above it.
    pub site: Field,
    /// `text/html`, and what people call it.
    pub media: Field,
    pub lang: Field,
    /// Of the page, in milliseconds since 1970.
    pub date: Field,
    /// Fingerprint of the URL that this page is a near-duplicate of.
    pub near: Field,
    /// First bytes of the payload's digest.
    pub digest: Field,
    /// Of a copy: fingerprint of the page that it is a copy of.
    pub original: Field,
    /// Of anchors: fingerprint of the URL that the links lead to.
    pub target: Field,
    pub anchor: Field,
    /// Of anchors: how many links were gathered.
    pub links: Field,
}

/// The schema, and its fields.
pub(crate) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = |option| TextOptions::default().set_indexing_options(indexing(TOKENIZER, option));
    let placed = words(IndexRecordOption::WithFreqsAndPositions).set_stored();
    let counted = words(IndexRecordOption::WithFreqs);
    let raw = indexing(RAW, IndexRecordOption::Basic).set_fieldnorms(false);
    let raw = TextOptions::default().set_indexing_options(raw);
    let fields = Fields {
        url_key: schema.add_u64_field("url_key", INDEXED | FAST),
        kind: schema.add_text_field("kind", raw.clone()),
        url: schema.add_text_field("url", STORED),
        title: schema.add_text_field("title", placed.clone()),
        headings: schema.add_text_field("headings", counted.clone()),
        emphasis: schema.add_text_field("emphasis", counted.clone()),
        text: schema.add_text_field("text", placed.clone()),
        rest: schema.add_text_field("rest", placed),
        url_words: schema.add_text_field("url_words", counted.clone()),
        description: schema.add_text_field("description", STORED),
        place: schema.add_text_field("place", STORED),
        host: schema.add_text_field("host", raw.clone()),
        site: schema.add_text_field("site", raw.clone()),
        media: schema.add_text_field("media", raw.clone().set_stored()),
        lang: schema.add_text_field("lang", raw.set_stored()),
        date: schema.add_u64_field("date", FAST),
        near: schema.add_u64_field("near", FAST),
        digest: schema.add_u64_field("digest", FAST),
        original: schema.add_u64_field("original", INDEXED | FAST),
        target: schema.add_u64_field("target", INDEXED | FAST),
        anchor: schema.add_text_field("anchor", counted),
        links: schema.add_u64_field("links", FAST),
    };
    (schema.build(), fields)
}

fn indexing(tokenizer: &str, option: IndexRecordOption) -> TextFieldIndexing {
    TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(option)
}

/// Opens the index in a directory to search it.
pub(crate) fn open_to_read(dir: &Path) -> tantivy::Result<Index> {
    Index::open(IndexDirectory::open(dir, Purpose::Search)?)
}

/// Opens the index in a directory to write to it.
pub(crate) fn open(dir: &Path) -> tantivy::Result<Index> {
    Index::open(IndexDirectory::open(dir, Purpose::Write)?)
}

/// Makes an index in an empty directory.
pub(crate) fn create(dir: &Path) -> tantivy::Result<Index> {
    let settings = IndexSettings {
        docstore_compression: Compressor::Lz4,
        // One more thread would save nothing: the crawl has all the cores busy.
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let directory = IndexDirectory::open(dir, Purpose::Write)?;
    Index::create(directory, schema().0, settings)
}
