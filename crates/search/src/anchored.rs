//! The join of a query: from what links say to the pages that they lead to, and how many links there are.
//!
//! Links are known before and after the page itself, so what they say lies in documents of its own. A
//! link to a copy counts for the page that it is a copy of.

use std::collections::{BTreeSet, HashMap};

use larm_core::Limits;
use tantivy::index::SegmentId;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};

use crate::schema::Fields;

/// Pages by segment, in order, each with a number.
pub(crate) type BySegment = HashMap<SegmentId, Vec<(DocId, f32)>>;

/// The pages of which links say any of these terms, with how often; and how many URLs these are.
pub(crate) fn anchored_by(
    searcher: &Searcher,
    fields: &Fields,
    terms: &BTreeSet<String>,
    limits: &Limits,
) -> tantivy::Result<(BySegment, u64)> {
    let mut targets = targets_of(searcher, fields, terms)?;
    let count = targets.len() as u64;
    let most = usize::try_from(limits.search_anchored_max).unwrap_or(usize::MAX);
    targets.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    targets.truncate(most);
    let mut pages = BySegment::new();
    let of_copies = add_pages(searcher, fields, &targets, &mut pages)?;
    add_pages(searcher, fields, &of_copies, &mut pages)?;
    pages.values_mut().for_each(put_together);
    Ok((pages, count))
}

/// Adds up what was said of the same page.
fn put_together(pages: &mut Vec<(DocId, f32)>) {
    pages.sort_by_key(|(doc, _)| *doc);
    pages.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0.0 };
        is_same
    });
}

fn targets_of(
    searcher: &Searcher,
    fields: &Fields,
    terms: &BTreeSet<String>,
) -> tantivy::Result<Vec<(u64, f32)>> {
    let mut targets: HashMap<u64, f32> = HashMap::new();
    for reader in searcher.segment_readers() {
        let index = reader.inverted_index(fields.anchor)?;
        let target_of = reader.fast_fields().u64("target")?;
        for term in terms {
            let term = Term::from_field_text(fields.anchor, term);
            let Some(mut said) = index.read_postings(&term, IndexRecordOption::WithFreqs)? else {
                continue;
            };
            while said.doc() != TERMINATED {
                if let Some(target) = target_of.first(said.doc()) {
                    *targets.entry(target).or_default() += said.term_freq() as f32;
                }
                said.advance();
            }
        }
    }
    Ok(targets.into_iter().collect())
}

/// Finds the pages of these URLs, and returns what was said of copies, by their originals.
fn add_pages(
    searcher: &Searcher,
    fields: &Fields,
    targets: &[(u64, f32)],
    pages: &mut BySegment,
) -> tantivy::Result<Vec<(u64, f32)>> {
    let mut of_copies = Vec::new();
    for reader in searcher.segment_readers() {
        let original_of = reader.fast_fields().u64("original")?;
        for (url_key, frequency) in targets {
            for doc in docs_with(reader, fields.url_key, *url_key)? {
                match original_of.first(doc) {
                    Some(original) => of_copies.push((original, *frequency)),
                    None => pages.entry(reader.segment_id()).or_default().push((doc, *frequency)),
                }
            }
        }
    }
    Ok(of_copies)
}

/// Documents of a segment, deleted ones aside, that have a number in a field.
pub(crate) fn docs_with(
    reader: &SegmentReader,
    field: Field,
    number: u64,
) -> tantivy::Result<Vec<DocId>> {
    let index = reader.inverted_index(field)?;
    let term = Term::from_field_u64(field, number);
    let mut found = Vec::new();
    if let Some(mut docs) = index.read_postings(&term, IndexRecordOption::Basic)? {
        while docs.doc() != TERMINATED {
            if !reader.is_deleted(docs.doc()) {
                found.push(docs.doc());
            }
            docs.advance();
        }
    }
    Ok(found)
}

/// How many links to a URL were gathered.
pub(crate) fn links_to(searcher: &Searcher, fields: &Fields, url_key: u64) -> tantivy::Result<u64> {
    let mut links = 0;
    for reader in searcher.segment_readers() {
        let links_of = reader.fast_fields().u64("links")?;
        let docs = docs_with(reader, fields.target, url_key)?;
        links += docs.into_iter().filter_map(|doc| links_of.first(doc)).sum::<u64>();
    }
    Ok(links)
}
