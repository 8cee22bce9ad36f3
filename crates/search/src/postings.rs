//! What stands where, gathered document by document and written term by term.
//!
//! Gathering is appending: the numbers of a document's terms, in the order of its text. When there are so
//! many that they are about to leave the processor's cache, they are sorted by term, in two passes: how often each
//! term stands there, and then every place to where its term begins. What comes of it is a [`Sheaf`]. When the
//! segment is full, each term takes its places out of one sheaf after the other. So a word costs no search
//! and hardly a miss of the cache, however large the vocabulary is, and four bytes of memory.

use tantivy::DocId;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::{Field, IndexRecordOption};

use crate::vocabulary::{NO_TERM, Vocabulary};

/// Words of a sheaf, about. Tests have many sheaves.
const SHEAF_WORDS: usize = if cfg!(test) { 64 } else { 128 * 1_024 };
/// Bits of a place that say which word of its document it is. The others have room for all documents of a sheaf.
const POSITION_BITS: u32 = 15;
/// A document of more words is a sheaf by itself, and one bit is enough for documents.
const SHARED_WORDS_MAX: usize = if cfg!(test) { 32 } else { 1 << POSITION_BITS };
const POSITION_BITS_ALONE: u32 = 31;

/// The terms of one field.
#[derive(Default)]
pub(crate) struct Postings {
    /// Of one document after the other; the position is the place within the document's.
    numbers: Vec<u32>,
    /// The documents that have any, and where theirs end.
    documents: Vec<(DocId, u32)>,
    sheaves: Vec<Sheaf>,
    sheaves_bytes: usize,
    /// Parts of all sheaves.
    parts: usize,
}

/// Terms of some documents, sorted.
struct Sheaf {
    documents: Box<[DocId]>,
    /// The terms by number, in the order in which they came, and where the places of each end.
    terms: Box<[(u32, u32)]>,
    /// Which of the documents, and which word of it.
    places: Box<[u32]>,
    position_bits: u32,
}

/// The places of one term in one sheaf.
#[derive(Clone, Copy, Default)]
struct Part {
    sheaf: u32,
    start: u32,
    end: u32,
}

/// Memory to sort in, for one field after the other.
#[derive(Default)]
pub(crate) struct Desk {
    /// By number of a term: how many there are, then where the next one belongs. All are zero in between.
    ends: Vec<u32>,
    /// Terms by their first bytes, with their number.
    order: Vec<(u64, u32)>,
    parts: Vec<Part>,
    deltas: Vec<u32>,
}

impl Postings {
    /// Adds all words of a text.
    pub fn read(&mut self, vocabulary: &mut Vocabulary, text: &str) {
        vocabulary.read(text, |_, number| self.numbers.push(number));
    }

    /// Adds words that were looked up already.
    pub fn take(&mut self, numbers: &[u32]) {
        self.numbers.extend_from_slice(numbers);
    }

    /// Adds a text that is a term as it stands.
    pub fn push(&mut self, vocabulary: &mut Vocabulary, term: &str) {
        self.numbers.push(vocabulary.number_of_term(term));
    }

    /// Ends a document; says how many terms it has, or nothing if nothing was added.
    pub fn end(
        &mut self,
        document: DocId,
        vocabulary: &Vocabulary,
        desk: &mut Desk,
    ) -> Option<u32> {
        let start = self.documents.last().map_or(0, |(_, end)| *end as usize);
        let added = &self.numbers[start..];
        if added.is_empty() {
            return None;
        }
        let terms = added.iter().filter(|number| **number != NO_TERM).count();
        let is_alone = added.len() > SHARED_WORDS_MAX;
        if is_alone {
            let alone = self.numbers.split_off(start);
            self.bind(POSITION_BITS, vocabulary, desk);
            self.numbers = alone;
        }
        let end = u32::try_from(self.numbers.len()).expect("a segment is bounded by memory");
        self.documents.push((document, end));
        if is_alone {
            self.bind(POSITION_BITS_ALONE, vocabulary, desk);
        } else if self.numbers.len() >= SHEAF_WORDS {
            self.bind(POSITION_BITS, vocabulary, desk);
        }
        Some(terms as u32)
    }

    /// What it takes in memory.
    pub fn gathered_bytes(&self) -> usize {
        let loose = size_of_val(self.numbers.as_slice()) + size_of_val(self.documents.as_slice());
        loose + self.sheaves_bytes
    }

    /// What it will take while it is written, beside that and what each term takes.
    pub fn written_bytes(&self) -> usize {
        (self.parts + self.numbers.len()) * size_of::<Part>()
    }

    /// Makes a sheaf of what was added since the last one.
    fn bind(&mut self, position_bits: u32, vocabulary: &Vocabulary, desk: &mut Desk) {
        let sheaf = desk.sort(&self.numbers, &self.documents, position_bits, vocabulary);
        self.numbers.clear();
        self.documents.clear();
        if !sheaf.terms.is_empty() {
            self.parts += sheaf.terms.len();
            self.sheaves_bytes += sheaf.bytes();
            self.sheaves.push(sheaf);
        }
    }

    /// Writes the field, if there is anything in it.
    pub fn write(
        &mut self,
        field: Field,
        option: IndexRecordOption,
        norms: Option<FieldNormReader>,
        vocabulary: &Vocabulary,
        desk: &mut Desk,
        out: &mut InvertedIndexSerializer,
    ) -> tantivy::Result<()> {
        self.bind(POSITION_BITS, vocabulary, desk);
        let total: usize = self.sheaves.iter().map(|sheaf| sheaf.places.len()).sum();
        if total == 0 {
            return Ok(());
        }
        desk.arrange(&self.sheaves, vocabulary);
        let Desk { ends, order, parts, deltas } = desk;
        let mut out = out.new_field(field, total as u64, norms)?;
        let mut start = 0;
        for (_, number) in order.iter() {
            let end = std::mem::take(&mut ends[*number as usize]) as usize;
            let parts = &parts[std::mem::replace(&mut start, end)..end];
            let parts = || parts.iter().map(|part| (&self.sheaves[part.sheaf as usize], *part));
            let has_freq = option.has_freq();
            let count = || parts().map(|(sheaf, part)| sheaf.count_documents(part)).sum();
            let count = if has_freq { count() } else { 0 };
            out.new_term(vocabulary.term(*number).as_bytes(), count, has_freq)?;
            for (sheaf, part) in parts() {
                for places in sheaf.places_of(part) {
                    deltas.clear();
                    if option.has_positions() {
                        sheaf.push_deltas(places, deltas);
                    }
                    out.write_doc(sheaf.document_of(places[0]), places.len() as u32, deltas);
                }
            }
            out.close_term()?;
        }
        Ok(out.close()?)
    }
}

impl Sheaf {
    fn bytes(&self) -> usize {
        let documents = size_of_val(&*self.documents);
        size_of::<Self>() + documents + size_of_val(&*self.terms) + size_of_val(&*self.places)
    }

    /// The places of a part, document by document.
    fn places_of(&self, part: Part) -> impl Iterator<Item = &[u32]> {
        let bits = self.position_bits;
        let places = &self.places[part.start as usize..part.end as usize];
        places.chunk_by(move |one, next| one >> bits == next >> bits)
    }

    /// How many documents a part has, in a loop that the compiler turns into vectors.
    fn count_documents(&self, part: Part) -> u32 {
        let places = &self.places[part.start as usize..part.end as usize];
        let differ = |(one, next): (&u32, &u32)| u32::from((one ^ next) >> self.position_bits != 0);
        1 + places.iter().zip(&places[1..]).map(differ).sum::<u32>()
    }

    fn document_of(&self, place: u32) -> DocId {
        self.documents[(place >> self.position_bits) as usize]
    }

    /// Appends the positions of places in one document, each as its distance from the one before it.
    fn push_deltas(&self, places: &[u32], deltas: &mut Vec<u32>) {
        let mut last = 0;
        for place in places {
            let position = place & ((1 << self.position_bits) - 1);
            deltas.push(position - std::mem::replace(&mut last, position));
        }
    }
}

impl Desk {
    /// What a term takes.
    pub const TERM_BYTES: usize = size_of::<u32>() + size_of::<(u64, u32)>();

    /// Sorts the terms of documents.
    fn sort(
        &mut self,
        numbers: &[u32],
        documents: &[(DocId, u32)],
        position_bits: u32,
        vocabulary: &Vocabulary,
    ) -> Sheaf {
        let ends = &mut self.ends;
        ends.resize(vocabulary.end().max(ends.len()), 0);
        let mut terms = Vec::new();
        for number in numbers {
            let count = &mut ends[*number as usize];
            if *count == 0 && *number != NO_TERM {
                terms.push((*number, 0));
            }
            *count += 1;
        }
        ends[NO_TERM as usize] = 0;
        let mut total = 0;
        for (number, _) in &terms {
            let count = &mut ends[*number as usize];
            total += std::mem::replace(count, total);
        }
        let mut places = vec![0; total as usize];
        let mut start = 0;
        for ((_, end), document) in documents.iter().zip(0_u32..) {
            let numbers = &numbers[std::mem::replace(&mut start, *end as usize)..start];
            for (number, position) in numbers.iter().zip(0_u32..) {
                if *number != NO_TERM {
                    let end = &mut ends[*number as usize];
                    places[*end as usize] = document << position_bits | position;
                    *end += 1;
                }
            }
        }
        for (number, end) in &mut terms {
            *end = std::mem::take(&mut ends[*number as usize]);
        }
        let documents = documents.iter().map(|(document, _)| *document).collect();
        Sheaf { documents, terms: terms.into(), places: places.into(), position_bits }
    }

    /// Puts the terms of sheaves in the order of their bytes, and their parts in the order of the terms; `ends` says
    /// where those of each term end.
    fn arrange(&mut self, sheaves: &[Sheaf], vocabulary: &Vocabulary) {
        let Self { ends, order, parts, .. } = self;
        order.clear();
        for (number, _) in sheaves.iter().flat_map(|sheaf| &sheaf.terms) {
            let count = &mut ends[*number as usize];
            if *count == 0 {
                order.push((first_bytes(vocabulary.term(*number)), *number));
            }
            *count += 1;
        }
        order.sort_unstable_by(|one, other| {
            one.0.cmp(&other.0).then_with(|| vocabulary.term(one.1).cmp(vocabulary.term(other.1)))
        });
        let mut total = 0;
        for (_, number) in order.iter() {
            let count = &mut ends[*number as usize];
            total += std::mem::replace(count, total);
        }
        parts.clear();
        parts.resize(total as usize, Part::default());
        for (sheaf, nth) in sheaves.iter().zip(0_u32..) {
            let mut start = 0;
            for (number, end) in &sheaf.terms {
                let place = &mut ends[*number as usize];
                let start = std::mem::replace(&mut start, *end);
                parts[*place as usize] = Part { sheaf: nth, start, end: *end };
                *place += 1;
            }
        }
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
