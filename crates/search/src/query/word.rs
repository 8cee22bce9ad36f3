//! One word of a query against all parts of a page: BM25F.
//!
//! What a word counts on a page is put together before it is weighed, as Robertson, Zaragoza and Taylor
//! proposed (CIKM 2004): occurrences in every part, each by the part's weight and against the part's
//! usual length, make one frequency, and only that one saturates. So a word in title, heading and text
//! counts as one that is said often, not as three words.
//!
//! What links say of a page stands in other documents. It is looked up before, and comes along as a
//! list of pages.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentId;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

use super::Part;

/// How fast further occurrences stop to matter.
const K1: f32 = 1.5;

/// A word, with all forms that it may have in the index.
#[derive(Debug, Clone)]
pub(crate) struct WordQuery(Arc<Forms>);

/// What a word is looked up by.
#[derive(Debug)]
pub(crate) struct Forms {
    pub terms: Vec<PartTerm>,
    /// Pages that links say the word of, by segment, in order; with how much they say it.
    pub anchored: HashMap<SegmentId, Vec<(DocId, f32)>>,
    /// How rare the word is.
    pub rarity: f32,
}

/// A term of one part of the page.
#[derive(Debug, Clone)]
pub(crate) struct PartTerm {
    pub part: Part,
    pub term: Term,
    pub weight: f32,
    /// How much the part's length matters, from 0 to 1.
    pub length_matters: f32,
    /// Words that the part has on average.
    pub usual_words: f32,
}

impl WordQuery {
    pub fn new(forms: Forms) -> Self {
        Self(Arc::new(forms))
    }

    /// What each part of a page adds to its score.
    pub fn parts_of(
        &self,
        reader: &SegmentReader,
        doc: DocId,
    ) -> tantivy::Result<Vec<(Part, f32)>> {
        let mut scorer = self.scorer(reader, 1.0)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Ok(Vec::new());
        }
        let total = scorer.frequency();
        let share = scorer.score() / total.max(f32::MIN_POSITIVE);
        let mut parts: Vec<(Part, f32)> = Vec::new();
        for (part, frequency) in scorer.frequencies().collect::<Vec<_>>() {
            match parts.iter_mut().find(|(known, _)| *known == part) {
                Some((_, sum)) => *sum += frequency * share,
                None => parts.push((part, frequency * share)),
            }
        }
        Ok(parts)
    }

    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<WordScorer> {
        let mut lists = Vec::new();
        for term in &self.0.terms {
            let index = reader.inverted_index(term.term.field())?;
            if let Some(postings) = index.read_postings(&term.term, IndexRecordOption::WithFreqs)? {
                let lengths = reader.get_fieldnorms_reader(term.term.field())?;
                lists.push(List { postings, lengths, term: term.clone() });
            }
        }
        let anchored = self.0.anchored.get(&reader.segment_id()).cloned().unwrap_or_default();
        let mut scorer = WordScorer {
            lists,
            anchored: anchored.into_iter().peekable(),
            doc: 0,
            factor: self.0.rarity * boost,
        };
        scorer.doc = scorer.first_doc();
        Ok(scorer)
    }
}

impl Query for WordQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for WordQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(Self::scorer(self, reader, boost)?))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let parts = self.parts_of(reader, doc)?;
        Ok(Explanation::new("a word", parts.iter().map(|(_, score)| score).sum()))
    }
}

/// The pages of a segment that have the word, with their scores.
struct WordScorer {
    lists: Vec<List>,
    anchored: std::iter::Peekable<std::vec::IntoIter<(DocId, f32)>>,
    doc: DocId,
    factor: f32,
}

struct List {
    postings: SegmentPostings,
    lengths: FieldNormReader,
    term: PartTerm,
}

impl List {
    fn frequency(&self) -> f32 {
        let words = self.lengths.fieldnorm(self.postings.doc()) as f32;
        let length = words / self.term.usual_words;
        let matters = self.term.length_matters;
        self.postings.term_freq() as f32 * self.term.weight / (1.0 - matters + matters * length)
    }
}

impl WordScorer {
    /// The first page that any list stands at.
    fn first_doc(&mut self) -> DocId {
        let anchored = self.anchored.peek().map_or(TERMINATED, |(doc, _)| *doc);
        self.lists.iter().map(|list| list.postings.doc()).fold(anchored, DocId::min)
    }

    /// How often each part of the page at hand has the word, weighed.
    fn frequencies(&mut self) -> impl Iterator<Item = (Part, f32)> {
        let doc = self.doc;
        let anchored = self.anchored.peek().filter(|(at, _)| *at == doc);
        let anchored = anchored.map(|(_, frequency)| (Part::Anchor, *frequency));
        let lists = self.lists.iter().filter(move |list| list.postings.doc() == doc);
        lists.map(|list| (list.term.part, list.frequency())).chain(anchored)
    }

    fn frequency(&mut self) -> f32 {
        self.frequencies().map(|(_, frequency)| frequency).sum()
    }
}

impl DocSet for WordScorer {
    fn advance(&mut self) -> DocId {
        let behind = self.doc.saturating_add(1);
        if self.doc == TERMINATED { TERMINATED } else { self.seek(behind) }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        for list in self.lists.iter_mut().filter(|list| list.postings.doc() < target) {
            list.postings.seek(target);
        }
        while self.anchored.next_if(|(doc, _)| *doc < target).is_some() {}
        self.doc = self.first_doc();
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        let longest = self.lists.iter().map(|list| list.postings.size_hint()).max();
        longest.unwrap_or_default().max(u32::try_from(self.anchored.len()).unwrap_or(u32::MAX))
    }
}

impl Scorer for WordScorer {
    fn score(&mut self) -> Score {
        let frequency = self.frequency();
        self.factor * frequency * (K1 + 1.0) / (K1 + frequency)
    }
}
