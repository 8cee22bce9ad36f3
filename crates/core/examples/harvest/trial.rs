//! Topics, seeds and methods, and what each of them comes to.

use std::collections::BTreeMap;

use larm_core::Limits;
use larm_core::order::focus::Topic;

use crate::crawl::{Scoring, Start};
use crate::live::Live;
use crate::options::Options;
use crate::random::Random;
use crate::web::{DEAD, Sheet, Web};

/// A class, a query that somebody might type for it, and one of a word.
pub const TOPICS: [(&str, &str, &str); 5] = [
    ("course", "course lecture homework syllabus exam", "course"),
    ("project", "research project group software system", "project"),
    ("faculty", "professor faculty research publications teaching", "professor"),
    ("student", "graduate student home page resume advisor", "student"),
    ("department", "department of computer science home page", "department"),
];
/// Where a crawl may go.
pub const UNIVERSES: [&str; 3] = ["cornell", "texas", "all"];
/// Hundredths of what can be reached, at which harvest is reported.
pub const SHARES: [usize; 4] = [5, 10, 20, 50];
/// Examples of a topic.
const EXAMPLES: usize = 20;
/// Pages of a class that must be in reach for a trial to mean something.
const RELEVANT_MIN: usize = 10;

/// In which order pages are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    Breadth,
    Random,
    Query,
    Word,
    Like,
    QueryOnce,
    LikeOnce,
    QueryInBatches,
    LikeInBatches,
}

impl Method {
    /// Those that are held against each other when something was changed.
    pub const MAIN: &[Self] = &[Self::Breadth, Self::Random, Self::Query, Self::Word, Self::Like];

    /// Those that are crawled as it goes live.
    pub const LIVE: &[Self] = &[Self::Breadth, Self::Query, Self::Like];

    pub const ALL: &[Self] = &[
        Self::Breadth,
        Self::Random,
        Self::Query,
        Self::Word,
        Self::Like,
        Self::QueryOnce,
        Self::LikeOnce,
        Self::QueryInBatches,
        Self::LikeInBatches,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Breadth => "breadth-first",
            Self::Random => "random",
            Self::Query => "query",
            Self::Word => "query of one word",
            Self::Like => "examples",
            Self::QueryOnce => "query, scored once",
            Self::LikeOnce => "examples, scored once",
            Self::QueryInBatches => "query, scored every sixteen pages",
            Self::LikeInBatches => "examples, scored every sixteen pages",
        }
    }
}

/// What is tried.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    pub universe: &'static str,
    pub topic: (&'static str, &'static str, &'static str),
    pub seeds: &'a [Vec<usize>],
    pub options: &'a Options,
}

/// One topic in one universe: what each method harvests, from several sets of seeds.
pub struct Panel {
    pub universe: &'static str,
    pub class: &'static str,
    /// The most that can be harvested of the first fifth.
    pub ceiling: f64,
    /// The share of relevant pages in all that can be reached.
    pub share: f64,
    pub runs: BTreeMap<Method, Runs>,
}

/// Harvest by hundredths of what can be reached, one curve for each set of seeds.
#[derive(Default)]
pub struct Runs(Vec<Vec<f64>>);

impl Runs {
    /// Mean and standard deviation at so many hundredths.
    pub fn harvest(&self, share: usize) -> (f64, f64) {
        let values = || self.0.iter().map(|curve| curve[share - 1]);
        let count = self.0.len() as f64;
        let mean = values().sum::<f64>() / count;
        let squares: f64 = values().map(|value| (value - mean).powi(2)).sum();
        (mean, (squares / count).sqrt())
    }

    /// The mean of the curve up to so many hundredths.
    pub fn harvest_until(&self, share: usize) -> f64 {
        (1..=share).map(|share| self.harvest(share).0).sum::<f64>() / share as f64
    }
}

impl Panel {
    /// `None` where too little is in reach.
    pub fn of(web: &Web, trial: &Trial<'_>) -> Option<Self> {
        let Trial { universe, topic: (class, query, word), seeds, options } = *trial;
        let mut panel = Self { universe, class, ceiling: 0.0, share: 0.0, runs: BTreeMap::new() };
        let queries = [query, word].map(|text| Topic::query(text, &Limits::default()));
        for (number, seeds) in seeds.iter().enumerate() {
            let within = |sheet: &Sheet| is_within(sheet, universe);
            let reached = web.reach(seeds, &within);
            let is_relevant = |page: &usize| reached[*page] && web.pages[*page].class == class;
            let relevant = (0..web.pages.len()).filter(is_relevant).count();
            if relevant < RELEVANT_MIN {
                return None;
            }
            let size = reached.iter().filter(|is_reached| **is_reached).count();
            panel.share += relevant as f64 / size as f64 / trial.seeds.len() as f64;
            let run = options.run(number);
            let like = examples(web, trial, &reached, run);
            let start = Start { web, seeds, within: &within, is_live: options.live };
            for &method in options.methods {
                let order = fetch(&start, method, &queries, &like, (run, size));
                panel.runs.entry(method).or_default().0.push(curve(web, &order, class, size));
            }
        }
        panel.ceiling = (panel.share / 0.2).min(1.0);
        Some(panel)
    }

    /// Whether breadth-first leaves enough for another method to harvest twice as much.
    pub fn can_double(&self) -> bool {
        self.ceiling >= 2.0 * self.runs[&Method::Breadth].harvest(20).0
    }

    /// How many times the harvest of breadth-first.
    pub fn times(&self, method: Method, share: usize) -> f64 {
        self.runs[&method].harvest(share).0 / self.runs[&Method::Breadth].harvest(share).0
    }

    /// The same for the mean of the curve.
    pub fn times_until(&self, method: Method, share: usize) -> f64 {
        let breadth = self.runs[&Method::Breadth].harvest_until(share);
        self.runs[&method].harvest_until(share) / breadth
    }
}

fn fetch(
    start: &Start<'_>,
    method: Method,
    [query, word]: &[Topic; 2],
    like: &Topic,
    (seed, size): (u64, usize),
) -> Vec<usize> {
    let live = |topic| Live::new(start, topic, seed).crawl(size / 5);
    match method {
        Method::Breadth => start.breadth_first(),
        Method::Random => start.random(seed),
        Method::Query if start.is_live => live(query),
        Method::Like if start.is_live => live(like),
        Method::Query => start.focused(query, Scoring::AsLive),
        Method::Word => start.focused(word, Scoring::AsLive),
        Method::Like => start.focused(like, Scoring::AsLive),
        Method::QueryOnce => start.focused(query, Scoring::Once),
        Method::LikeOnce => start.focused(like, Scoring::Once),
        Method::QueryInBatches => start.focused(query, Scoring::InBatches),
        Method::LikeInBatches => start.focused(like, Scoring::InBatches),
    }
}

fn curve(web: &Web, fetched: &[usize], class: &str, size: usize) -> Vec<f64> {
    let harvest = |share: usize| {
        let count = (size * share / 100).clamp(1, fetched.len());
        let relevant = fetched[..count].iter().filter(|page| web.pages[**page].class == class);
        relevant.count() as f64 / count as f64
    };
    (1..=50).map(harvest).collect()
}

fn is_within(sheet: &Sheet, universe: &str) -> bool {
    sheet.university != DEAD && (universe == "all" || sheet.university == universe)
}

/// Pages of the class that the crawl cannot reach, of other universities than the one it is in.
fn examples(web: &Web, trial: &Trial<'_>, reached: &[bool], seed: u64) -> Topic {
    let Trial { universe, topic: (class, ..), .. } = *trial;
    let is_other = |sheet: &Sheet| universe == "all" || sheet.university != universe;
    let pool: Vec<usize> = (0..web.pages.len())
        .filter(|&page| !reached[page] && web.pages[page].class == class)
        .filter(|&page| is_other(&web.pages[page]))
        .collect();
    let (mut topic, mut random) = (Topic::default(), Random(100 + seed));
    for _ in 0..EXAMPLES {
        let sheet = &web.pages[random.pick(&pool)];
        topic.like(&sheet.title, &sheet.text, &Limits::default());
    }
    topic
}

/// The home page of the department, or the page that leads farthest; then pages by chance that lead far.
/// With other than the usual seed, only pages by chance.
pub fn seed_sets(web: &Web, universe: &str, options: &Options) -> Vec<Vec<usize>> {
    let within = |sheet: &Sheet| is_within(sheet, universe);
    let all: Vec<usize> = (0..web.pages.len()).filter(|&page| within(&web.pages[page])).collect();
    let is_home = |page: &usize| match universe {
        "all" => web.pages[*page].url.as_str() == "http://www.cs.bu.edu/courses/Home.html",
        _ => web.pages[*page].class == "department",
    };
    let mut found = Vec::new();
    if options.is_usual() {
        found.push(all.iter().copied().filter(is_home).collect::<Vec<_>>());
    }
    let (count, share) = if universe == "all" { (10, 0.3) } else { (1, 0.5) };
    let mut random = Random(options.seed);
    while found.len() < options.starts {
        let set: Vec<usize> = (0..count).map(|_| random.pick(&all)).collect();
        let reached = web.reach(&set, &within).iter().filter(|reached| **reached).count();
        if reached as f64 > share * all.len() as f64 {
            found.push(set);
        }
    }
    found
}
