//! Several virtual crawlers that share a web (Cho, Garcia-Molina: "Parallel crawlers").
//!
//! Each process has pages that wait, and an order of its own, which knows what the process knows. They take
//! turns: each fetches a page, then the next one does. What they do about links to pages of others is the
//! [`Mode`]; which pages are whose is in [`partition`].
//!
//! What is told of a run, N being the pages that were fetched, I the different ones among them, U all
//! that can be reached from the starts, and E the URLs that were sent from one process to another:
//! overlap (N − I) / I, coverage I / U, quality: the share of hot pages that was found, and
//! communication E / N.

pub mod fleet;
pub mod partition;

use std::fmt;
use std::str::FromStr;

use larm_core::Limits;
use larm_core::order::{Order, Tuning};

pub use fleet::Measures;
pub use partition::{Assignment, Partition, Shares};

use crate::experiment::{check, each, mean_and_spread};
use crate::model::POINTS;
use crate::{Error, Hot, Result, Web};

/// What a process does about links to pages that are not its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// It follows them: there are no pages of others. Nobody knows what the others do.
    Independent,
    /// It ignores them.
    Firewall,
    /// It sends them to whose they are, so many pages' worth at a time.
    #[default]
    Exchange,
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "independent" => Ok(Self::Independent),
            "firewall" => Ok(Self::Firewall),
            "exchange" => Ok(Self::Exchange),
            _ => Err(format!("a mode is independent, firewall or exchange, not `{word}`")),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Independent => "independent",
            Self::Firewall => "firewall",
            Self::Exchange => "exchange",
        })
    }
}

/// What is to be found out.
pub struct Parallel<'a> {
    /// Where.
    pub web: &'a Web,
    /// What is looked for.
    pub hot: &'a Hot,
    /// Which pages are whose; its length is the number of processes.
    pub shares: &'a Shares,
    /// What is done about links to others.
    pub mode: Mode,
    /// Pages that a process fetches between two times at which it sends URLs.
    pub exchange_every: u32,
    /// The pages that each run begins with.
    pub runs: &'a [Vec<u32>],
    /// How scores are computed.
    pub tuning: Tuning,
    /// Threads at most.
    pub threads: usize,
}

/// What came of one order, on average over the runs.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// After each hundredth of as many fetches as there are pages; the standard deviation of quality beside it.
    pub points: Vec<(Measures, f64)>,
    /// When nothing was left to do.
    pub end: Measures,
}

impl Parallel<'_> {
    /// Lets the processes crawl by every order, in every run.
    pub fn run(&self, orders: &[Order], limits: &Limits) -> Result<Vec<Outcome>> {
        orders.iter().try_for_each(|order| check(order, self.web))?;
        let processes = self.shares.processes();
        if processes as u64 > limits.simulate_crawls_max {
            return Err(Error::asked("that are more processes than simulate_crawls_max allows"));
        }
        self.web.fits(processes, limits)?;
        let fitting = self.web.room_for(processes * self.threads, limits) / processes;
        let jobs: Vec<(&Order, &Vec<u32>)> =
            orders.iter().flat_map(|order| self.runs.iter().map(move |run| (order, run))).collect();
        let runs = each(&jobs, fitting.max(1), |(order, starts)| fleet::run(self, order, starts));
        Ok(runs.chunks(self.runs.len()).map(mean).collect())
    }
}

fn mean(runs: &[Vec<Measures>]) -> Outcome {
    let at = |point: usize| {
        let (_, spread) = mean_and_spread(runs.iter().map(|run| run[point].quality));
        (Measures::mean(runs.iter().map(|run| &run[point])), spread)
    };
    Outcome { points: (0..POINTS).map(at).collect(), end: at(POINTS).0 }
}
