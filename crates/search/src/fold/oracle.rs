//! Segments of our own against segments of tantivy: the same documents, written both ways, have to be the
//! same in every file, before and after a merge.

use std::borrow::Cow;

use larm_core::parse::Marks;
use larm_core::random::Random;
use tantivy::indexer::NoMergePolicy;
use tantivy::postings::Postings;
use tantivy::schema::{IndexRecordOption, Type};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{DocSet, SegmentReader, TERMINATED, TantivyDocument, Term};

use super::*;
use crate::entry::{self, Anchor, Wording, push_anchor, push_sized};
use crate::schema::{self, TOKENIZER};
use crate::words::{push_tag, terms_of, untagged};

/// The terms of a tagged text, as tantivy asks for them.
#[derive(Clone)]
struct PageTokenizer;

struct Tokens {
    terms: std::vec::IntoIter<(usize, String)>,
    token: Token,
}

impl Tokenizer for PageTokenizer {
    type TokenStream<'a> = Tokens;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Tokens {
        let (lang, text) = untagged(text);
        Tokens { terms: terms_of(text, lang).into_iter(), token: Token::default() }
    }
}

impl TokenStream for Tokens {
    fn advance(&mut self) -> bool {
        let Some((position, text)) = self.terms.next() else { return false };
        self.token = Token { position, text, ..Token::default() };
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// The same fold, by the way that tantivy has for it.
struct Oracle {
    writer: IndexWriter,
    fields: Fields,
    gathered: Gathered,
}

impl Oracle {
    fn new(index: &mut Index) -> Self {
        index.tokenizers().register(TOKENIZER, TextAnalyzer::from(PageTokenizer));
        let writer = index.writer_with_num_threads(1, 50_000_000).unwrap();
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Self { writer, fields: schema().1, gathered: Gathered::new(&Limits::default()) }
    }

    fn apply(&mut self, entry: &[u8]) {
        let (change, words, anchors) = parts_of(entry);
        match change {
            None => {}
            Some(Change::Page(entry)) => {
                let key = Fingerprint::of(&entry.url).0;
                self.replace(key, Some(page_document(&self.fields, &entry, &words, key)));
            }
            Some(Change::Copy { url, original, digest }) => {
                let key = Fingerprint::of(&url).0;
                let mut document = TantivyDocument::default();
                document.add_text(self.fields.kind, COPY);
                document.add_u64(self.fields.url_key, key);
                document.add_text(self.fields.url, &url);
                document.add_u64(self.fields.original, original);
                document.add_u64(self.fields.digest, digest);
                self.replace(key, Some(document));
            }
            Some(Change::Gone { url_key }) => self.replace(url_key, None),
        }
        anchors.for_each(|anchor| self.gathered.add(words.lang, anchor));
    }

    fn replace(&mut self, key: u64, document: Option<TantivyDocument>) {
        self.writer.delete_term(Term::from_field_u64(self.fields.url_key, key));
        document.map(|document| self.writer.add_document(document).unwrap());
    }

    fn commit(&mut self) {
        for (target, said) in self.gathered.take() {
            let mut document = TantivyDocument::default();
            document.add_text(self.fields.kind, ANCHORS);
            document.add_u64(self.fields.target, target);
            document.add_u64(self.fields.links, said.links);
            for (lang, text) in &said.texts {
                document.add_text(self.fields.anchor, tagged(*lang, text));
            }
            self.writer.add_document(document).unwrap();
        }
        self.writer.commit().unwrap();
    }
}

fn tagged(lang: Lang, text: &str) -> String {
    let mut tagged = String::new();
    push_tag(lang, &mut tagged);
    tagged + text
}

/// An entry of the journal that has its words with it.
fn parts_of(entry: &[u8]) -> (Option<Change<'_>>, Words<'_>, Anchors<'_>) {
    let entry::Entry { change, lang, wording, anchors } = entry::Entry::read(entry).unwrap();
    let text = match wording {
        Some(Wording::Here { text, place: None }) => text,
        other => panic!("{other:?}"),
    };
    (change, Words { lang, text, place: None }, anchors)
}

fn apply(fold: &mut Fold, entry: &[u8]) {
    let (change, words, anchors) = parts_of(entry);
    change.iter().for_each(|change| fold.apply(change, &words).unwrap());
    fold.gather(words.lang, anchors).unwrap();
}

fn page_document(
    fields: &Fields,
    entry: &PageEntry<'_>,
    words: &Words<'_>,
    key: u64,
) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_text(fields.kind, PAGE);
    document.add_u64(fields.url_key, key);
    document.add_text(fields.url, &entry.url);
    let Words { lang, text: Text { title, description, text, marks }, .. } = words;
    let lang = *lang;
    let (main, rest) = main_and_rest(text, marks);
    let headings: Vec<_> = marks.headings.iter().map(|(_, span)| span.clone()).collect();
    for (field, text) in [
        (fields.title, (*title).to_owned()),
        (fields.text, joined(text, &main)),
        (fields.rest, joined(text, &rest)),
        (fields.headings, joined(text, &headings)),
        (fields.emphasis, joined(text, &marks.emphasis)),
    ] {
        if !text.is_empty() {
            document.add_text(field, tagged(lang, &text));
        }
    }
    if !description.is_empty() {
        document.add_text(fields.description, description);
    }
    let url = CrawlUrl::from_canonical(&entry.url).unwrap();
    let words = percent_decode_str(url.path_and_query()).decode_utf8_lossy();
    document.add_text(fields.url_words, tagged(Lang::NONE, &format!("{} {words}", url.host())));
    document.add_text(fields.host, url.host());
    domains_of(&url).for_each(|domain| document.add_text(fields.site, domain));
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

/// Words of all sorts: known and new, short and long, of several scripts, and what is none.
fn text(random: &mut Random, words_max: u64) -> String {
    let mut text = String::new();
    for _ in 0..random.below(words_max + 1) {
        match random.below(60) {
            0 => text.push_str("Donaudampfschifffahrtsgesellschaftskapitän"),
            1 => text.push_str(&"x".repeat(90 + random.below(20) as usize)),
            2 => text.push_str("東京都は日本の首都です"),
            3 => text.push_str("Ünïcödé straße"),
            4 => text.push_str(&format!("number{}", random.below(1_000_000))),
            5 => text.push('\u{200d}'),
            n => text.push_str(&format!("Word{}ing", random.below(n * 2))),
        }
        text.push_str([" ", ", ", ".\n", "-"][random.below(4) as usize]);
    }
    text
}

/// A text of some parts, of which each may be marked in any way.
fn marked_text(random: &mut Random) -> (String, Marks) {
    let (mut all, mut marks) = (String::new(), Marks::default());
    for _ in 0..random.below(12) {
        let start = all.len() as u32;
        all.push_str(&text(random, 12));
        let span = start..all.len() as u32;
        if random.below(3) > 0 {
            marks.main.push(span.clone());
        }
        if random.below(4) == 0 {
            marks.headings.push((2, span.clone()));
        }
        if random.below(5) == 0 {
            marks.emphasis.push(span);
        }
    }
    (all, marks)
}

/// An entry of the journal, of one of so many URLs.
fn entry(random: &mut Random, urls: u64) -> Vec<u8> {
    let url = format!("http://h{}.example.org/a%20b/{}", random.below(3), random.below(urls));
    let page = PageEntry {
        url: url.clone().into(),
        media: ["text/html", "application/xhtml+xml", "text/text", ""][random.below(4) as usize]
            .into(),
        date: random.below(u64::MAX),
        near: Some(random.below(9)).filter(|near| *near > 4),
        digest: random.below(u64::MAX),
    };
    let change = match random.below(10) {
        0 => Change::Gone { url_key: Fingerprint::of(&url).0 },
        1 => Change::Copy { url: url.into(), original: random.below(9), digest: 7 },
        _ => Change::Page(Box::new(page)),
    };
    let (title, description) = (text(random, 5), text(random, 3));
    let (words, marks) = marked_text(random);
    let marks = Cow::Owned(marks);
    let words = Text { title: &title, description: &description, text: &words, marks };
    let mut bytes = Vec::new();
    push_sized(&mut bytes, Some(&change));
    bytes.extend_from_slice([b"en", b"de", b"ja", b"--"][random.below(4) as usize]);
    push_sized(&mut bytes, Some(&Wording::Here { text: words, place: None }));
    for _ in 0..random.below(3) {
        let said = text(random, 3);
        push_anchor(&mut bytes, Anchor { target: random.below(urls), text: &said });
    }
    bytes
}

/// Everything that a segment says.
fn contents(reader: &SegmentReader) -> Vec<String> {
    let mut lines = vec![format!("{} of {} documents", reader.num_docs(), reader.max_doc())];
    let schema = reader.schema().clone();
    let store = reader.get_store_reader(10).unwrap();
    for doc in 0..reader.max_doc() {
        let document: TantivyDocument = store.get(doc).unwrap();
        let is_alive = !reader.is_deleted(doc);
        lines.push(format!("{doc} {is_alive} {}", tantivy::Document::to_json(&document, &schema)));
    }
    for (field, entry) in schema.fields() {
        let name = entry.name();
        if entry.is_fast() {
            let column = reader.fast_fields().u64(name).unwrap();
            for doc in 0..reader.max_doc() {
                let values: Vec<u64> = column.values_for_doc(doc).collect();
                lines.push(format!("{name} {doc} {values:?}"));
            }
        }
        if entry.has_fieldnorms() {
            let norms = reader.get_fieldnorms_reader(field).unwrap();
            let norms: Vec<u32> = (0..reader.max_doc()).map(|doc| norms.fieldnorm(doc)).collect();
            lines.push(format!("{name} {norms:?}"));
        }
        if !entry.is_indexed() {
            continue;
        }
        let option = entry.field_type().index_record_option().unwrap();
        let index = reader.inverted_index(field).unwrap();
        lines.push(format!("{name} {} tokens", index.total_num_tokens()));
        let mut terms = index.terms().stream().unwrap();
        while terms.advance() {
            let info = terms.value();
            lines.push(format!("{name} {:?} {}", terms.key(), info.doc_freq));
            let mut postings = index.read_postings_from_terminfo(info, option).unwrap();
            while postings.doc() != TERMINATED {
                let mut positions = Vec::new();
                if option == IndexRecordOption::WithFreqsAndPositions {
                    postings.positions(&mut positions);
                }
                lines.push(format!("{} {} {positions:?}", postings.doc(), postings.term_freq()));
                postings.advance();
            }
        }
        assert!(matches!(entry.field_type().value_type(), Type::Str | Type::U64), "{name}");
    }
    lines
}

fn readers(index: &Index) -> Vec<SegmentReader> {
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().unwrap();
    let mut readers = reader.searcher().segment_readers().to_vec();
    readers.sort_by_key(|reader| reader.max_doc());
    readers
}

fn assert_same(ours: &Index, theirs: &Index, when: &str) {
    let (ours, theirs) = (readers(ours), readers(theirs));
    assert_eq!(ours.len(), theirs.len(), "{when}");
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let (ours, theirs) = (contents(ours), contents(theirs));
        let first = ours.iter().zip(&theirs).find(|(one, other)| one != other);
        assert_eq!(first, None, "{when}");
        assert_eq!(ours.len(), theirs.len(), "{when}");
    }
}

fn merge_all(index: &Index) {
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 50_000_000).unwrap();
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let mut ids = Vec::new();
    ids.extend(readers(index).iter().map(SegmentReader::segment_id));
    writer.merge(&ids).wait().unwrap();
    writer.wait_merging_threads().unwrap();
}

#[test]
fn segments_are_what_tantivy_would_have_written() {
    let mut random = Random(7);
    for (round, urls) in [10, 300, 1_000_000].into_iter().enumerate() {
        let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [ours, mut theirs] = dirs.each_ref().map(|dir| schema::create(dir.path()).unwrap());
        let mut fold = Fold::new(&ours, dirs[0].path(), &Limits::default()).unwrap();
        // Nothing is merged until all is.
        fold.writer.set_merge_policy(Box::new(NoMergePolicy));
        let mut oracle = Oracle::new(&mut theirs);
        // Of different sizes, so that they can be told from each other.
        for (commit, entries) in [300, 90, 1].into_iter().enumerate() {
            for _ in 0..entries {
                let entry = entry(&mut random, urls);
                apply(&mut fold, &entry);
                oracle.apply(&entry);
            }
            fold.commit(Position { file: 1, offset: 0 }).unwrap();
            oracle.commit();
            assert_same(&ours, &theirs, &format!("round {round}, commit {commit}"));
        }
        fold.finish().unwrap();
        oracle.writer.wait_merging_threads().unwrap();
        merge_all(&ours);
        merge_all(&theirs);
        assert_eq!(readers(&ours).len(), 1);
        assert_same(&ours, &theirs, &format!("round {round}, merged"));
    }
}

/// What is stored of all documents that are not deleted.
fn alive(index: &Index) -> Vec<String> {
    let is_alive = |line: &String| line.split(' ').nth(1) == Some("true");
    let lines = readers(index).into_iter().flat_map(|reader| contents(&reader));
    let documents = lines.filter(is_alive).filter_map(|line| {
        let (_, document) = line.split_once("true ")?;
        Some(document.to_owned())
    });
    let mut documents: Vec<String> = documents.collect();
    documents.sort();
    documents
}

#[test]
fn what_is_replaced_goes_however_segments_are_cut_and_merged() {
    const FEW_BYTES: u64 = 40_000;
    for seed in 8..14 {
        let mut random = Random(seed);
        let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [ours, mut theirs] = dirs.each_ref().map(|dir| schema::create(dir.path()).unwrap());
        // By tens and mostly deleted ones alone; or hardly any but the latter.
        let bytes_max =
            if seed % 2 == 0 { Limits::default().index_merge_bytes_max } else { FEW_BYTES };
        let limits = Limits { index_merge_bytes_max: bytes_max, ..Limits::default() };
        let mut fold = Fold::new(&ours, dirs[0].path(), &limits).unwrap();
        let mut oracle = Oracle::new(&mut theirs);
        for round in 0..6 {
            // Now and then a segment of its own for each document, and terms that begin anew.
            fold.memory_max = if round % 3 == 0 { 1 << 20 } else { 1 };
            for _ in 0..random.below(30) {
                let entry = entry(&mut random, 10);
                apply(&mut fold, &entry);
                oracle.apply(&entry);
            }
            fold.commit(Position { file: 1, offset: 0 }).unwrap();
            oracle.commit();
            let (ours, theirs) = (alive(&ours), alive(&theirs));
            assert!(ours == theirs, "seed {seed}, round {round}");
        }
        fold.finish().unwrap();
        assert!(alive(&ours).len() > 9, "seed {seed}");
        assert!(alive(&ours) == alive(&theirs), "seed {seed}, after all merges");
    }
}
