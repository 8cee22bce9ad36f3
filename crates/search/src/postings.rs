//! What stands where, gathered document by document and written term by term.
//!
//! Gathering is appending: the numbers of a document's terms, in the order of its text. Only when a
//! segment is full everything is sorted by term, in two passes over what was gathered: how often each
//! term stands there, and then every place to where its term begins. So a word costs no search and
//! hardly a miss of the cache, however large the vocabulary is.

use tantivy::DocId;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::{Field, IndexRecordOption};

use crate::vocabulary::{NO_TERM, Vocabulary};

/// The terms of one field.
#[derive(Default)]
pub(crate) struct Postings {
    /// Of one document after the other; the position is the place within the document's.
    numbers: Vec<u32>,
    /// The documents that have any, and where theirs end.
    documents: Vec<(DocId, u32)>,
}

/// A document and a position in it, in this order.
type Place = u64;

/// Memory to sort in, for one field after the other.
#[derive(Default)]
pub(crate) struct Desk {
    places: Vec<Place>,
    /// By number: how often it stands there, then where its next place belongs.
    ends: Vec<u32>,
    /// Terms by their first bytes, with their number.
    order: Vec<(u64, u32)>,
    deltas: Vec<u32>,
}

/// What a place takes while it is gathered and while it is sorted.
const GATHERED_BYTES: usize = size_of::<u32>();
const SORTED_BYTES: usize = size_of::<Place>();

impl Postings {
    /// Adds all words of a text.
    pub fn read(&mut self, vocabulary: &mut Vocabulary, text: &str) {
        vocabulary.read(text, &mut self.numbers);
    }

    /// Adds a text that is a term as it stands.
    pub fn push(&mut self, vocabulary: &mut Vocabulary, term: &str) {
        self.numbers.push(vocabulary.number_of_term(term));
    }

    /// Ends a document; says how many terms it has, or nothing if nothing was added.
    pub fn end(&mut self, document: DocId) -> Option<u32> {
        let start = self.documents.last().map_or(0, |(_, end)| *end as usize);
        let added = &self.numbers[start..];
        if added.is_empty() {
            return None;
        }
        let end = u32::try_from(self.numbers.len()).expect("a segment is bounded by memory");
        let terms = added.iter().filter(|number| **number != NO_TERM).count();
        self.documents.push((document, end));
        Some(terms as u32)
    }

    pub fn gathered_bytes(&self) -> usize {
        self.numbers.len() * GATHERED_BYTES + size_of_val(self.documents.as_slice())
    }

    pub fn sorted_bytes(&self) -> usize {
        self.numbers.len() * SORTED_BYTES
    }

    /// Writes the field, if there is anything in it.
    pub fn write(
        &self,
        field: Field,
        option: IndexRecordOption,
        norms: Option<FieldNormReader>,
        vocabulary: &Vocabulary,
        desk: &mut Desk,
        out: &mut InvertedIndexSerializer,
    ) -> tantivy::Result<()> {
        let total = desk.sort(self, vocabulary);
        if total == 0 {
            return Ok(());
        }
        let Desk { places, ends, order, deltas } = desk;
        let mut out = out.new_field(field, total as u64, norms)?;
        let mut start = 0;
        for (_, number) in order.iter() {
            let end = ends[*number as usize] as usize;
            let places = &places[std::mem::replace(&mut start, end)..end];
            let documents = || places.chunk_by(|one, next| document_of(*one) == document_of(*next));
            let count = if option.has_freq() { documents().count() as u32 } else { 0 };
            out.new_term(vocabulary.term(*number).as_bytes(), count, option.has_freq())?;
            for places in documents() {
                deltas.clear();
                if option.has_positions() {
                    let positions = places.iter().map(|place| *place as u32);
                    deltas.extend(positions.scan(0, |last, position| {
                        Some(position - std::mem::replace(last, position))
                    }));
                }
                out.write_doc(document_of(places[0]), places.len() as u32, deltas);
            }
            out.close_term()?;
        }
        Ok(out.close()?)
    }
}

fn document_of(place: Place) -> DocId {
    (place >> 32) as DocId
}

impl Desk {
    /// What a term takes.
    pub const TERM_BYTES: usize = size_of::<u32>() + size_of::<(u64, u32)>();

    /// Sorts the places of all terms, and returns how many there are.
    fn sort(&mut self, postings: &Postings, vocabulary: &Vocabulary) -> usize {
        self.ends.clear();
        self.ends.resize(vocabulary.end(), 0);
        for number in &postings.numbers {
            self.ends[*number as usize] += 1;
        }
        self.ends[NO_TERM as usize] = 0;
        self.order(vocabulary);
        let mut total = 0;
        for (_, number) in &self.order {
            let count = &mut self.ends[*number as usize];
            total += std::mem::replace(count, total);
        }
        self.places.clear();
        self.places.resize(total as usize, 0);
        let mut start = 0;
        for (document, end) in &postings.documents {
            let numbers = &postings.numbers[std::mem::replace(&mut start, *end as usize)..start];
            for (position, number) in numbers.iter().enumerate() {
                if *number != NO_TERM {
                    let end = &mut self.ends[*number as usize];
                    self.places[*end as usize] = u64::from(*document) << 32 | position as u64;
                    *end += 1;
                }
            }
        }
        total as usize
    }

    /// Puts the terms that stand somewhere in the order of their bytes.
    fn order(&mut self, vocabulary: &Vocabulary) {
        let counted = self.ends.iter().zip(0..).filter(|(count, _)| **count > 0);
        self.order.clear();
        self.order
            .extend(counted.map(|(_, number)| (first_bytes(vocabulary.term(number)), number)));
        self.order.sort_unstable_by(|one, other| {
            one.0.cmp(&other.0).then_with(|| vocabulary.term(one.1).cmp(vocabulary.term(other.1)))
        });
    }
}

/// The first eight bytes of a term, as a number that compares as they do.
fn first_bytes(term: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = term.len().min(8);
    bytes[..length].copy_from_slice(&term.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

/// Numbers of documents that they can be found by.
#[derive(Default)]
pub(crate) struct Keys(Vec<(u64, DocId)>);

impl Keys {
    pub fn push(&mut self, key: u64, document: DocId) {
        self.0.push((key, document));
    }

    pub fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }

    /// Writes the field, if there is anything in it.
    pub fn write(
        &mut self,
        field: Field,
        norms: Option<FieldNormReader>,
        out: &mut InvertedIndexSerializer,
    ) -> tantivy::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        self.0.sort_unstable();
        let mut out = out.new_field(field, self.0.len() as u64, norms)?;
        for alike in self.0.chunk_by(|one, next| one.0 == next.0) {
            out.new_term(&alike[0].0.to_be_bytes(), 0, false)?;
            alike.iter().for_each(|(_, document)| out.write_doc(*document, 1, &[]));
            out.close_term()?;
        }
        Ok(out.close()?)
    }
}
