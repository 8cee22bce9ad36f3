//! Ranking against an outside judge: the Cranfield collection, crawled as pages and searched.
//!
//! 1,400 abstracts, 225 questions, and which abstracts answer them. The measures are those of trec_eval
//! with binary relevance; the baseline beside the collection was made with another BM25. Run with
//! `--nocapture` to see the figures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use larm_core::Limits;
use larm_crawl::Crawl;
use larm_search::{Request, SearchIndex, SearchSink};
use serde_json::Value;

use crate::hand::{Hand, with_body};
use crate::world::run;

/// Abstracts that a page of the list links to.
const LISTED: usize = 200;
/// How far a ranking is looked at.
const DEPTH: usize = 1_000;
/// Of the baseline's nDCG@10, what must be reached.
const SHARE: f64 = 0.95;

/// Questions by number, and which abstracts answer them.
type Judgements = BTreeMap<usize, BTreeSet<usize>>;

struct Collection {
    /// Title and text.
    abstracts: Vec<(String, String)>,
    questions: Vec<String>,
    judgements: Judgements,
    baseline: Value,
}

impl Collection {
    fn read() -> Option<Self> {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/testdata");
        let folder = std::env::var_os("LARM_TESTDATA").map_or(beside, PathBuf::from).join("ir");
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let abstracts = text("cranfield.docs.txt")?;
        let abstracts = entries(&abstracts).map(|entry| (part(entry, ".T"), part(entry, ".W")));
        // They are numbered by their order: the numbers in the file are others.
        let questions = text("cranfield.queries.txt")?;
        Some(Self {
            abstracts: abstracts.collect(),
            questions: entries(&questions).map(|entry| part(entry, ".W")).collect(),
            judgements: judgements(&text("cranfield.qrels.txt")?),
            baseline: serde_json::from_str(&text("bm25_baseline.json")?).expect("JSON"),
        })
    }

    /// A page for each abstract, and pages that list them.
    fn serve(&self) -> Hand {
        let html = "text/html; charset=utf-8";
        let numbered: Vec<(usize, &(String, String))> = (1..).zip(&self.abstracts).collect();
        let mut pages = vec![];
        let mut lists = String::new();
        for (list, chunk) in numbered.chunks(LISTED).enumerate() {
            lists += &format!("<a href=/list/{list}>{list}</a> ");
            let links = chunk.iter().map(|(number, _)| format!("<a href=/{number}>{number}</a> "));
            let body = format!("<title>List</title><p>{}", links.collect::<String>());
            pages.push((format!("cran/list/{list}"), with_body(html, &body)));
        }
        pages.push(("cran/".to_owned(), with_body(html, &format!("<title>Lists</title>{lists}"))));
        for (number, (title, text)) in numbered {
            let head = "<!doctype html><html lang=en>";
            let body = format!("{head}<title>{title}</title><body><h1>{title}</h1><p>{text}");
            pages.push((format!("cran/{number}"), with_body(html, &body)));
        }
        Hand::serve(|_| pages)
    }
}

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n.I ").filter(|entry| !entry.trim().is_empty())
}

/// The lines behind a mark, up to the next one; safe to stand in HTML.
fn part(entry: &str, mark: &str) -> String {
    let lines = entry.lines().skip_while(|line| line.trim() != mark).skip(1);
    let lines = lines.take_while(|line| !matches!(line.trim(), ".T" | ".A" | ".B" | ".W"));
    lines.collect::<Vec<_>>().join(" ").replace('&', "&amp;").replace('<', "&lt;")
}

fn judgements(text: &str) -> Judgements {
    let mut judgements = Judgements::new();
    for line in text.lines() {
        let numbers: Vec<i64> = line.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        if let [question, answer, 1..=4] = numbers[..] {
            judgements.entry(question as usize).or_default().insert(answer as usize);
        }
    }
    judgements
}

/// The means over all questions.
#[derive(Debug, Default)]
struct Measures {
    ndcg_10: f64,
    map: f64,
    precision_10: f64,
    recall_100: f64,
}

impl Measures {
    fn add(&mut self, ranking: &[usize], answers: &BTreeSet<usize>, share: f64) {
        let hits =
            |depth| ranking.iter().take(depth).filter(|n| answers.contains(n)).count() as f64;
        let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let places = ranking.iter().enumerate().filter(|(_, number)| answers.contains(number));
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        let ideal: f64 = (0..answers.len().min(10)).map(gain).sum();
        let gained: f64 =
            places.iter().filter(|place| **place < 10).map(|place| gain(*place)).sum();
        let precisions = (1..).zip(&places).map(|(n, place)| f64::from(n) / (*place as f64 + 1.0));
        let all = answers.len() as f64;
        self.ndcg_10 += share * gained / ideal;
        self.map += share * precisions.sum::<f64>() / all;
        self.precision_10 += share * hits(10) / 10.0;
        self.recall_100 += share * hits(100) / all;
    }
}

#[test]
fn rankings_are_as_good_as_those_of_an_outside_bm25() {
    let Some(collection) = Collection::read() else {
        println!("skipped: no testdata");
        return;
    };
    assert_eq!((collection.abstracts.len(), collection.questions.len()), (1_400, 225));
    let hand = collection.serve();
    let mut plan = hand.plan("cran/", &["cran"]);
    plan.probe = false;
    let sink = SearchSink::new(&plan.dir, &plan.limits);
    run(Crawl::new(plan).sink(sink)).expect("the crawl ends well");
    let index = SearchIndex::open(&hand.dir(), &Limits::default()).expect("an index");
    let share = 1.0 / collection.judgements.len() as f64;
    let mut measures = Measures::default();
    for (number, question) in (1..).zip(&collection.questions) {
        let ranking = ranking(&index, question);
        measures.add(&ranking, &collection.judgements[&number], share);
    }
    println!("{measures:.4?}; baseline: {}", collection.baseline);
    let baseline = collection.baseline["ndcg_cut_10"].as_f64().expect("a number");
    assert!(measures.ndcg_10 >= SHARE * baseline, "{measures:?} against {baseline}");
}

fn ranking(index: &SearchIndex, question: &str) -> Vec<usize> {
    let request = Request { query: question.to_owned(), limit: DEPTH, ..Request::default() };
    let found = index.search(&request, &|_| None).expect("an answer");
    let numbers = found.hits.iter().map(|hit| hit.url.rsplit('/').next().unwrap_or_default());
    numbers.filter_map(|number| number.parse().ok()).collect()
}
