//! Several orders from several starts, and what each finds on average.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use larm_core::Limits;
use larm_core::order::{Order, Tuning};

use crate::buffer::Buffer;
use crate::model::{self, POINTS};
use crate::starts::Start;
use crate::{Crawler, Error, Hot, Model, Result, Web};

/// What is to be found out.
pub struct Experiment<'a> {
    /// Where.
    pub web: &'a Web,
    /// What is looked for.
    pub hot: &'a Hot,
    /// How crawls are judged.
    pub model: Model,
    /// Where crawls begin, one at each.
    pub starts: &'a [Start],
    /// How scores are computed. A random order has another seed at each start.
    pub tuning: Tuning,
    /// Threads at most; the result does not depend on them.
    pub threads: usize,
}

/// How far an order came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Pages fetched, as a share of all.
    pub crawled: f64,
    /// What the model counts, on average over the starts.
    pub hot: f64,
    /// Standard deviation over the starts; 0 for a single one.
    pub spread: f64,
}

/// What came of one order: a point after each hundredth of all pages.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The points.
    pub points: Vec<Point>,
}

impl Experiment<'_> {
    /// Lets every order crawl from every start.
    pub fn run(&self, orders: &[Order], limits: &Limits) -> Result<Vec<Outcome>> {
        orders.iter().try_for_each(|order| check(order, self.web))?;
        let jobs: Vec<(&Order, usize)> = orders
            .iter()
            .flat_map(|order| (0..self.starts.len()).map(move |at| (order, at)))
            .collect();
        let threads = self.web.room_for(self.threads.min(jobs.len()), limits);
        self.web.fits(threads, limits)?;
        let curves = each(&jobs, threads, |&(order, at)| self.crawl(order, at));
        Ok(curves.chunks(self.starts.len()).map(mean).collect())
    }

    /// What one crawl comes to at each point.
    fn crawl(&self, order: &Order, at: usize) -> Vec<f64> {
        let seed = self.tuning.seed.wrapping_add(at as u64);
        let score = score(order, &Tuning { seed, ..self.tuning.clone() }, self.web);
        let mut crawler = Crawler::new(self.web, score);
        crawler.start(self.starts[at].node);
        match self.model {
            Model::Buffer(room) => self.buffered(crawler, room),
            Model::Threshold => model::found(self.hot, &fetch_all(crawler)),
            Model::Stop => model::stopped(self.hot, &fetch_all(crawler)),
        }
    }

    fn buffered(&self, mut crawler: Crawler<'_>, room: u32) -> Vec<f64> {
        let mut buffer = Buffer::new(room, self.web.nodes());
        let best = f64::from(room.min(self.hot.pages));
        let mut fetched = 0;
        let share = |pages: usize| {
            while fetched < pages {
                let Some(node) = crawler.step() else { break };
                buffer.take(node, &crawler, self.hot);
                fetched += 1;
            }
            buffer.hot() as f64 / best
        };
        model::points(self.hot).map(share).collect()
    }
}

/// Everything that a crawl fetches, in its order.
fn fetch_all(mut crawler: Crawler<'_>) -> Vec<u32> {
    std::iter::from_fn(|| crawler.step()).collect()
}

/// The score of an order that was checked, with room for all links of the graph.
pub(crate) fn score(order: &Order, tuning: &Tuning, web: &Web) -> Box<dyn larm_core::order::Score> {
    let tuning = Tuning { arcs_max: web.arcs(), ..tuning.clone() };
    order.score(&tuning, &mut |_| None).unwrap_or_else(|name| panic!("{name} was refused"))
}

/// Refuses what the graph cannot tell.
pub(crate) fn check(order: &Order, web: &Web) -> Result<()> {
    for (name, _) in order.parts() {
        if name.needs_hints() {
            let why = "judges by dates of sitemaps and feeds, which a graph does not have";
            return Err(Error::asked(format!("order `{name}` {why}")));
        }
        if name.needs_text() {
            let why = "judges by the text of pages, which a graph does not have";
            return Err(Error::asked(format!("order `{name}` {why}")));
        }
        if name.needs_urls() && !web.has_urls() {
            let why = "judges by URLs, and the graph has none: name a list with --urls";
            return Err(Error::asked(format!("order `{name}` {why}")));
        }
    }
    Ok(())
}

/// Does jobs on threads; results are in the order of jobs.
pub(crate) fn each<J: Sync, T: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(jobs.iter().map(|_| None).collect::<Vec<Option<T>>>());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(at) else { break };
                    let result = work(job);
                    results.lock().expect("no thread panicked")[at] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("no thread panicked");
    results.into_iter().map(|result| result.expect("every job was done")).collect()
}

fn mean(curves: &[Vec<f64>]) -> Outcome {
    let point = |at: usize| {
        let (hot, spread) = mean_and_spread(curves.iter().map(|curve| curve[at]));
        Point { crawled: (at + 1) as f64 / POINTS as f64, hot, spread }
    };
    Outcome { points: (0..POINTS).map(point).collect() }
}

/// Mean and standard deviation.
pub(crate) fn mean_and_spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count.max(1.0);
    let apart: f64 = values.map(|value| (value - mean) * (value - mean)).sum();
    (mean, (apart / (count - 1.0).max(1.0)).sqrt())
}
