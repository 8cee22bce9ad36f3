//! A query taken apart → what tantivy is asked, and what of it is scored.
//!
//! Which forms a word has depends on the languages of the pages: it is stemmed by the rules of each
//! language that the index holds, and all of these stems stand for it.
//!
//! A word that stands on more than half of the pages chooses none of them, as long as others do: on the
//! pages of a product, that is the name of the product, and in every language, its smallest words. It
//! still counts for the order. No list of such words is needed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use larm_core::{Limits, Millis};
use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, PhraseQuery, RangeQuery,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, Term};

use super::word::{Forms, PartTerm, WordQuery};
use super::{By, Clause, Filter, Need, Part, Query, What};
use crate::anchored::anchored_by;
use crate::language::Lang;
use crate::schema::{Fields, PAGE};
use crate::words::{Words, plain, terms_of};

type BoxQuery = Box<dyn tantivy::query::Query>;

/// With fewer pages than this, every word chooses.
const COMMON_PAGES_MIN: u64 = 100;
/// Terms that are looked at to find those with a prefix.
const PREFIX_TERMS_MAX: usize = 100_000;
/// What two words of a query next to each other on a page add, against the same as a phrase.
const PAIR_WEIGHT: f32 = 0.1;
/// What being said by links counts, against being said by the text.
const ANCHOR_WEIGHT: f32 = 1.5;
/// Further links that say the same count less and less.
const ANCHOR_FREQUENCY_MAX: f32 = 8.0;

/// Where words are looked for: part, weight, how much its length matters, and whether words of it
/// have positions.
struct Place {
    part: Part,
    field: Field,
    weight: f32,
    length_matters: f32,
    has_positions: bool,
}

fn places(fields: &Fields) -> [Place; 6] {
    let place = |part, field, weight, length_matters| Place {
        part,
        field,
        weight,
        length_matters,
        has_positions: matches!(part, Part::Title | Part::Text),
    };
    [
        place(Part::Title, fields.title, 2.0, 0.5),
        place(Part::Heading, fields.headings, 1.0, 0.5),
        place(Part::Emphasis, fields.emphasis, 0.3, 0.5),
        place(Part::Text, fields.text, 1.0, 0.75),
        // Navigation and notices: good enough to be found by, not to be ranked by.
        place(Part::Text, fields.rest, 0.3, 0.75),
        place(Part::Url, fields.url_words, 0.5, 0.25),
    ]
}

/// What the index says of itself.
pub(crate) struct Vocabulary<'a> {
    searcher: &'a Searcher,
    fields: Fields,
    limits: &'a Limits,
    places: [Place; 6],
    /// Languages of the pages, and none.
    langs: Vec<Lang>,
    pub pages: u64,
    usual_words: Vec<f32>,
}

/// Where a word may stand.
#[derive(Clone, Copy, PartialEq)]
enum Spots {
    /// On the page or in links to it.
    Anywhere,
    /// On the page itself.
    Own,
    Part(Part),
}

impl Spots {
    fn contain(self, part: Part) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Own => part != Part::Anchor,
            Self::Part(only) => part == only,
        }
    }
}

/// What is asked of the index, and what is scored.
pub(crate) struct Meaning {
    pub query: BoxQuery,
    pub scored: Vec<Scored>,
    /// Terms to be shown in snippets, with what they are worth.
    pub shown: HashMap<String, f32>,
    /// Words that no page has.
    pub missing: Vec<String>,
}

/// A clause that adds to scores.
pub(crate) struct Scored {
    pub label: String,
    pub rule: Rule,
}

/// How it does.
pub(crate) enum Rule {
    Word(WordQuery),
    Other(BoxQuery),
}

impl<'a> Vocabulary<'a> {
    pub fn new(
        searcher: &'a Searcher,
        fields: Fields,
        limits: &'a Limits,
    ) -> tantivy::Result<Self> {
        let pages = searcher.doc_freq(&Term::from_field_text(fields.kind, PAGE))?;
        let places = places(&fields);
        let usual = |place: &Place| -> tantivy::Result<f32> {
            let mut words = 0;
            for reader in searcher.segment_readers() {
                words += reader.inverted_index(place.field)?.total_num_tokens();
            }
            Ok((words as f32 / pages.max(1) as f32).max(1.0))
        };
        let usual_words = places.iter().map(usual).collect::<tantivy::Result<_>>()?;
        let langs = langs_of(searcher, &fields)?;
        Ok(Self { searcher, fields, limits, places, langs, pages, usual_words })
    }

    /// What a query means.
    pub fn meaning_of(&self, query: &Query) -> tantivy::Result<Meaning> {
        let mut made = Making::default();
        for clause in &query.clauses {
            self.add_clause(clause, &mut made)?;
        }
        self.add_pairs(&query.clauses, &mut made)?;
        for filter in &query.filters {
            let occur = if filter.excludes { Occur::MustNot } else { Occur::Must };
            made.clauses.push((occur, unscored(self.filter(filter))));
        }
        Ok(made.finish(self.every_page()))
    }

    fn every_page(&self) -> BoxQuery {
        Box::new(TermQuery::new(
            Term::from_field_text(self.fields.kind, PAGE),
            IndexRecordOption::Basic,
        ))
    }

    fn add_clause(&self, clause: &Clause, made: &mut Making) -> tantivy::Result<()> {
        let text = clause.what.text();
        let spots = match (clause.need, clause.part) {
            (_, Some(part)) => Spots::Part(part),
            // A page is not to blame for what others say of it.
            (Need::Not, None) => Spots::Own,
            _ => Spots::Anywhere,
        };
        let found = match &clause.what {
            What::Phrase(_) => self.phrase(text, spots)?,
            What::Word(_) => self.word(&self.forms_of(text), spots)?,
            What::Prefix(_) => self.word(&self.begin_with(text, spots)?, spots)?,
        };
        if clause.need == Need::Not {
            made.clauses.push((Occur::MustNot, found.query));
            return Ok(());
        }
        if found.pages == 0 {
            made.missing.push(text.to_owned());
        }
        found.terms.into_iter().for_each(|term| {
            let worth = made.shown.entry(term).or_default();
            *worth = worth.max(found.rarity);
        });
        let is_common = self.pages >= COMMON_PAGES_MIN && found.pages * 2 > self.pages;
        match clause.need {
            Need::Must => {
                made.requires_words = true;
                made.clauses.push((Occur::Must, found.query));
            }
            _ if is_common => made.common.push(found.query),
            _ => made.choosing.push(found.query),
        }
        made.scored.push(Scored { label: text.to_owned(), rule: found.rule });
        Ok(())
    }

    /// The terms that a word may have become, by the languages of the pages.
    fn forms_of(&self, word: &str) -> BTreeSet<String> {
        let stems = self.langs.iter().flat_map(|lang| terms_of(word, *lang));
        stems.map(|(_, term)| term).collect()
    }

    /// Terms that begin like this, the most frequent ones; and the stem of it, since a word may have
    /// been longer than what became of it.
    fn begin_with(&self, text: &str, spots: Spots) -> tantivy::Result<BTreeSet<String>> {
        let prefix = plain(text);
        let mut found: HashMap<String, u64> = HashMap::new();
        let anchors = spots.contain(Part::Anchor).then_some(self.fields.anchor);
        let fields = self.places_of(spots).map(|(place, _)| place.field).chain(anchors);
        for field in fields {
            for reader in self.searcher.segment_readers() {
                let index = reader.inverted_index(field)?;
                let mut terms = index.terms().range().ge(prefix.as_bytes()).into_stream()?;
                let mut looked_at = 0;
                while terms.advance() && looked_at < PREFIX_TERMS_MAX {
                    let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
                    if !term.starts_with(&prefix) {
                        break;
                    }
                    *found.entry(term.to_owned()).or_default() += u64::from(terms.value().doc_freq);
                    looked_at += 1;
                }
            }
        }
        let mut terms: Vec<(String, u64)> = found.into_iter().collect();
        terms.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        terms.truncate(usize::try_from(self.limits.query_prefix_words_max).unwrap_or(usize::MAX));
        Ok(terms.into_iter().map(|(term, _)| term).chain(self.forms_of(text)).collect())
    }

    fn places_of(&self, spots: Spots) -> impl Iterator<Item = (&Place, f32)> {
        let places = self.places.iter().zip(self.usual_words.iter().copied());
        places.filter(move |(place, _)| spots.contain(place.part))
    }

    /// A word that has any of these terms.
    fn word(&self, forms: &BTreeSet<String>, spots: Spots) -> tantivy::Result<Meant> {
        let mut terms = Vec::new();
        let mut pages = 0;
        for (place, usual_words) in self.places_of(spots) {
            let mut pages_here = 0;
            for form in forms {
                let term = Term::from_field_text(place.field, form);
                let pages_of_term = self.searcher.doc_freq(&term)?;
                pages_here += pages_of_term;
                if pages_of_term > 0 {
                    terms.push(PartTerm {
                        part: place.part,
                        term,
                        weight: place.weight,
                        length_matters: place.length_matters,
                        usual_words,
                    });
                }
            }
            pages = pages.max(pages_here.min(self.pages));
        }
        let mut anchored = HashMap::new();
        if spots.contain(Part::Anchor) {
            let targets;
            (anchored, targets) = anchored_by(self.searcher, &self.fields, forms, self.limits)?;
            for (_, frequency) in anchored.values_mut().flatten() {
                *frequency = frequency.min(ANCHOR_FREQUENCY_MAX) * ANCHOR_WEIGHT;
            }
            pages = pages.max(targets.min(self.pages));
        }
        let rarity = self.rarity(pages);
        let word = WordQuery::new(Forms { terms, anchored, rarity });
        Ok(Meant {
            query: Box::new(word.clone()),
            rule: Rule::Word(word),
            terms: forms.iter().cloned().collect(),
            pages,
            rarity,
        })
    }

    /// How much a word that stands on so many pages tells.
    fn rarity(&self, pages: u64) -> f32 {
        let (all, pages) = (self.pages as f32, pages as f32);
        (1.0 + (all - pages + 0.5).max(0.0) / (pages + 0.5)).ln()
    }

    /// Words next to each other.
    fn phrase(&self, text: &str, spots: Spots) -> tantivy::Result<Meant> {
        let forms: BTreeSet<Vec<(usize, String)>> =
            self.langs.iter().map(|lang| terms_of(text, *lang)).collect();
        if forms.iter().all(|terms| terms.len() < 2) {
            let terms = forms.into_iter().flatten().map(|(_, term)| term).collect();
            return self.word(&terms, spots);
        }
        if !self.places_of(spots).any(|(place, _)| place.has_positions) {
            return self.all_of(text, spots);
        }
        let query = self.any_phrase(&forms, spots);
        let pages = query.count(self.searcher)? as u64;
        let terms: BTreeSet<String> =
            forms.iter().flatten().map(|(_, term)| term.clone()).collect();
        Ok(Meant {
            rule: Rule::Other(query.box_clone()),
            query,
            terms: terms.into_iter().collect(),
            pages,
            rarity: self.rarity(pages),
        })
    }

    /// All words of a text, in parts of which no positions are kept.
    fn all_of(&self, text: &str, spots: Spots) -> tantivy::Result<Meant> {
        let words = Words::of(text).map(|word| self.word(&self.forms_of(word.of(text)), spots));
        let words: Vec<Meant> = words.collect::<tantivy::Result<_>>()?;
        let pages = words.iter().map(|word| word.pages).min().unwrap_or_default();
        let terms = words.iter().flat_map(|word| word.terms.clone()).collect();
        let all = words.into_iter().map(|word| word.query).collect();
        let query: BoxQuery = Box::new(BooleanQuery::intersection(all));
        let rule = Rule::Other(query.box_clone());
        Ok(Meant { query, rule, terms, pages, rarity: self.rarity(pages) })
    }

    fn any_phrase(&self, forms: &BTreeSet<Vec<(usize, String)>>, spots: Spots) -> BoxQuery {
        let mut any: Vec<BoxQuery> = Vec::new();
        for (place, _) in self.places_of(spots).filter(|(place, _)| place.has_positions) {
            for terms in forms.iter().filter(|terms| terms.len() > 1) {
                let terms =
                    terms.iter().map(|(at, term)| (*at, Term::from_field_text(place.field, term)));
                let phrase = PhraseQuery::new_with_offset(terms.collect());
                any.push(Box::new(BoostQuery::new(Box::new(phrase), place.weight)));
            }
        }
        match any.is_empty() {
            true => Box::new(EmptyQuery),
            false => Box::new(BooleanQuery::union(any)),
        }
    }

    /// Words of the query that stand next to each other there and on a page mean more together.
    fn add_pairs(&self, clauses: &[Clause], made: &mut Making) -> tantivy::Result<()> {
        for pair in clauses.windows(2) {
            let [What::Word(first), What::Word(second)] = [&pair[0].what, &pair[1].what] else {
                continue;
            };
            if pair.iter().any(|clause| clause.part.is_some() || clause.need == Need::Not) {
                continue;
            }
            let label = format!("{first} {second}");
            let forms = self.langs.iter().map(|lang| terms_of(&label, *lang)).collect();
            let query =
                Box::new(BoostQuery::new(self.any_phrase(&forms, Spots::Anywhere), PAIR_WEIGHT));
            made.beside.push(query.clone());
            made.scored.push(Scored { label: format!("\"{label}\""), rule: Rule::Other(query) });
        }
        Ok(())
    }

    fn filter(&self, filter: &Filter) -> BoxQuery {
        let is = |field, text: &str| -> BoxQuery {
            Box::new(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::Basic))
        };
        match &filter.by {
            By::Host(host) => is(self.fields.host, host),
            By::Site(site) => is(self.fields.site, site),
            By::Type(kind) => is(self.fields.media, kind),
            By::Lang(lang) => is(self.fields.lang, lang),
            By::Since(since) => self.dates(Some(*since), None),
            By::Until(until) => self.dates(None, Some(*until)),
        }
    }

    fn dates(&self, since: Option<Millis>, until: Option<Millis>) -> BoxQuery {
        let bound = |time: Option<Millis>| match time {
            Some(time) => Bound::Included(Term::from_field_u64(self.fields.date, time.0)),
            None => Bound::Unbounded,
        };
        Box::new(RangeQuery::new(bound(since), bound(until)))
    }
}

/// Languages that the index holds pages of, and none: of some pages it is not known.
fn langs_of(searcher: &Searcher, fields: &Fields) -> tantivy::Result<Vec<Lang>> {
    let mut langs: BTreeMap<Lang, ()> = BTreeMap::from([(Lang::NONE, ())]);
    for reader in searcher.segment_readers() {
        let index = reader.inverted_index(fields.lang)?;
        let mut terms = index.terms().stream()?;
        while terms.advance() {
            let lang = Lang::of(&String::from_utf8_lossy(terms.key()));
            if lang.algorithm().is_some() {
                langs.insert(lang, ());
            }
        }
    }
    Ok(langs.into_keys().collect())
}

/// What a clause means.
struct Meant {
    query: BoxQuery,
    rule: Rule,
    terms: Vec<String>,
    /// How many pages it is true of, about.
    pages: u64,
    rarity: f32,
}

/// A meaning that is being put together.
#[derive(Default)]
struct Making {
    clauses: Vec<(Occur, BoxQuery)>,
    /// Whether one of them is about what pages say.
    requires_words: bool,
    /// Words of which a page must have one, if nothing else is required.
    choosing: Vec<BoxQuery>,
    /// Words that most pages have.
    common: Vec<BoxQuery>,
    /// What only adds to the score.
    beside: Vec<BoxQuery>,
    scored: Vec<Scored>,
    shown: HashMap<String, f32>,
    missing: Vec<String>,
}

impl Making {
    fn finish(mut self, every_page: BoxQuery) -> Meaning {
        let has_words = !self.scored.is_empty();
        if has_words && !self.requires_words {
            let source =
                if self.choosing.is_empty() { &mut self.common } else { &mut self.choosing };
            let any = BooleanQuery::union(std::mem::take(source));
            self.clauses.push((Occur::Must, Box::new(any)));
        }
        if !has_words {
            self.clauses.push((Occur::Must, every_page));
        }
        let rest = self.choosing.into_iter().chain(self.common).chain(self.beside);
        self.clauses.extend(rest.map(|query| (Occur::Should, query)));
        Meaning {
            query: Box::new(BooleanQuery::new(self.clauses)),
            scored: self.scored,
            shown: self.shown,
            missing: self.missing,
        }
    }
}

fn unscored(query: BoxQuery) -> BoxQuery {
    Box::new(ConstScoreQuery::new(query, 0.0))
}
