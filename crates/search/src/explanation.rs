//! Where the score of a hit comes from, so that nobody has to guess.

use tantivy::query::{EnableScoring, Query};
use tantivy::{DocAddress, DocSet as _, Searcher};

use crate::query::Part;
use crate::query::meaning::{Rule, Scored};
use crate::rank::Candidate;

/// A score, taken apart. `text` is the sum of what the words add, and the score is `text` times `factor`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Explanation {
    /// What each word, phrase or pair of words adds.
    pub words: Vec<Worth>,
    /// All of that.
    pub text: f32,
    /// How important the page is by its links; 1 is the average page.
    pub importance: f32,
    /// Links that were counted for it, where no graph says more.
    pub links: Option<u64>,
    /// What the text's worth is multiplied by for its links.
    pub factor: f32,
}

/// What a word adds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Worth {
    /// As it was typed; two words in quotes stand next to each other on the page.
    pub word: String,
    /// All that it adds.
    pub score: f32,
    /// By where it stands.
    pub parts: Vec<(&'static str, f32)>,
}

pub(crate) fn explain(
    searcher: &Searcher,
    found: &Candidate,
    scored: &[Scored],
) -> tantivy::Result<Explanation> {
    let words = scored.iter().map(|scored| worth_of(searcher, found.doc, scored));
    let words: Vec<Worth> = words.collect::<tantivy::Result<_>>()?;
    Ok(Explanation {
        words: words.into_iter().filter(|worth| worth.score > 0.0).collect(),
        text: found.text,
        importance: found.links.importance,
        links: found.links.counted,
        factor: found.links.factor(),
    })
}

fn worth_of(searcher: &Searcher, doc: DocAddress, scored: &Scored) -> tantivy::Result<Worth> {
    let word = scored.label.clone();
    match &scored.rule {
        Rule::Word(rule) => {
            let reader = searcher.segment_reader(doc.segment_ord);
            let parts = rule.parts_of(reader, doc.doc_id)?;
            let score = parts.iter().map(|(_, score)| score).sum();
            let parts = parts.into_iter().map(|(part, score)| (part.word(), score)).collect();
            Ok(Worth { word, score, parts })
        }
        Rule::Other(query) => {
            let score = score_of(searcher, doc, &**query)?;
            Ok(Worth { word, score, parts: Vec::new() })
        }
    }
}

/// What a query adds to a page; nothing if the page does not match. Not asked by `Query::explain`, which wants a
/// page that does.
fn score_of(searcher: &Searcher, doc: DocAddress, query: &dyn Query) -> tantivy::Result<f32> {
    let weight = query.weight(EnableScoring::enabled_from_searcher(searcher))?;
    let mut scorer = weight.scorer(searcher.segment_reader(doc.segment_ord), 1.0)?;
    let is_match = scorer.doc() <= doc.doc_id && scorer.seek(doc.doc_id) == doc.doc_id;
    Ok(if is_match { scorer.score() } else { 0.0 })
}

impl Part {
    /// Its name in explanations and queries.
    pub fn word(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Heading => "heading",
            Self::Emphasis => "emphasis",
            Self::Text => "text",
            Self::Anchor => "anchor",
            Self::Url => "url",
        }
    }
}
