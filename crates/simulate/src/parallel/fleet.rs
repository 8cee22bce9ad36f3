//! One run of several processes.

use std::collections::HashSet;

use larm_core::order::{Order, Tuning};

use super::{Mode, Parallel};
use crate::crawler::Crawler;
use crate::experiment::score;
use crate::model;

/// Stands for a group without an owner.
const NOBODY: u32 = u32::MAX;

/// How a run stands.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    /// Pages fetched, as a share of all: N / nodes.
    pub crawled: f64,
    /// (N − I) / I.
    pub overlap: f64,
    /// I / U.
    pub coverage: f64,
    /// Share of hot pages that was found.
    pub quality: f64,
    /// E / N.
    pub communication: f64,
}

impl Measures {
    pub(super) fn mean<'m>(runs: impl Iterator<Item = &'m Self> + Clone) -> Self {
        let count = runs.clone().count().max(1) as f64;
        let mean = |of: fn(&Self) -> f64| runs.clone().map(of).sum::<f64>() / count;
        Self {
            crawled: mean(|run| run.crawled),
            overlap: mean(|run| run.overlap),
            coverage: mean(|run| run.coverage),
            quality: mean(|run| run.quality),
            communication: mean(|run| run.communication),
        }
    }
}

/// Crawls until nothing waits; how it stood at each point, and at the end. Where it ended before a point,
/// what was last stays.
pub(super) fn run(plan: &Parallel<'_>, order: &Order, starts: &[u32]) -> Vec<Measures> {
    let mut fleet = Fleet::new(plan, order);
    fleet.begin(starts);
    let mut points = model::points(plan.hot).peekable();
    let mut measures = Vec::new();
    while fleet.turn() {
        while points.next_if(|pages| fleet.fetched >= *pages as u64).is_some() {
            measures.push(fleet.measures());
        }
    }
    let end = fleet.measures();
    measures.extend(points.map(|_| end));
    measures.push(end);
    measures
}

struct Fleet<'a> {
    plan: &'a Parallel<'a>,
    processes: Vec<Process<'a>>,
    owners: Vec<u32>,
    is_fetched: Vec<bool>,
    reachable: u64,
    fetched: u64,
    different: u64,
    hot: u64,
    sent: u64,
    next: usize,
}

struct Process<'a> {
    crawler: Crawler<'a>,
    /// Links to pages of others, from page to page.
    outbox: Vec<(u32, u32)>,
    /// Pages fetched since it was sent.
    pages: u32,
}

impl<'a> Fleet<'a> {
    fn new(plan: &'a Parallel<'a>, order: &Order) -> Self {
        let process = |number: usize| {
            let seed = plan.tuning.seed.wrapping_add(number as u64);
            let tuning = Tuning { seed, ..plan.tuning.clone() };
            let crawler = Crawler::new(plan.web, score(order, &tuning, plan.web));
            Process { crawler, outbox: Vec::new(), pages: 0 }
        };
        let owners = plan.shares.owners().map(<[u32]>::to_vec);
        Self {
            plan,
            processes: (0..plan.shares.processes()).map(process).collect(),
            owners: owners.unwrap_or_else(|| vec![NOBODY; plan.shares.groups()]),
            is_fetched: vec![false; plan.web.nodes() as usize],
            reachable: 0,
            fetched: 0,
            different: 0,
            hot: 0,
            sent: 0,
            next: 0,
        }
    }

    /// Gives the starts to whose they are, or, where nothing is anybody's, to one after the other.
    fn begin(&mut self, starts: &[u32]) {
        let depths = larm_graph::rank::depths(self.plan.web.graph(), starts.iter().copied());
        let reached = depths.iter().filter(|depth| **depth != larm_graph::rank::UNREACHED);
        self.reachable = reached.count() as u64;
        for (at, &node) in starts.iter().enumerate() {
            let process = match self.plan.mode {
                Mode::Independent => at % self.processes.len(),
                _ => self.owner(node),
            };
            self.processes[process].crawler.start(node);
        }
    }

    /// Lets the next process that can fetch a page. Where none can, what was not sent yet is; false if
    /// that changes nothing.
    fn turn(&mut self) -> bool {
        for _ in 0..self.processes.len() {
            let process = self.next;
            self.next = (self.next + 1) % self.processes.len();
            if let Some(node) = self.processes[process].crawler.take() {
                self.fetch(process, node);
                return true;
            }
        }
        (0..self.processes.len()).for_each(|process| self.send(process));
        self.processes.iter().any(|process| process.crawler.waiting() > 0)
    }

    fn fetch(&mut self, process: usize, node: u32) {
        self.fetched += 1;
        if !std::mem::replace(&mut self.is_fetched[node as usize], true) {
            self.different += 1;
            self.hot += u64::from(self.plan.hot.is_hot[node as usize]);
        }
        let row = self.plan.web.graph().successors(node);
        let mut own = Vec::with_capacity(row.len());
        for &to in row {
            match self.plan.mode == Mode::Independent || self.owner(to) == process {
                true => own.push(to),
                false => self.processes[process].outbox.push((node, to)),
            }
        }
        self.processes[process].crawler.learn(node, &own);
        self.processes[process].pages += 1;
        if self.processes[process].pages >= self.plan.exchange_every {
            self.send(process);
        }
    }

    /// Sends the links to pages of others, or, behind a firewall, forgets them. A URL is sent once in a
    /// batch, with all the pages that it stands on.
    fn send(&mut self, process: usize) {
        self.processes[process].pages = 0;
        let outbox = std::mem::take(&mut self.processes[process].outbox);
        if self.plan.mode != Mode::Exchange {
            return;
        }
        self.sent += outbox.iter().map(|(_, to)| to).collect::<HashSet<_>>().len() as u64;
        let mut links: Vec<Vec<u32>> = vec![Vec::new(); self.processes.len()];
        for page in outbox.chunk_by(|a, b| a.0 == b.0) {
            for &(_, to) in page {
                links[self.owner(to)].push(to);
            }
            for (owner, links) in
                links.iter_mut().enumerate().filter(|(_, links)| !links.is_empty())
            {
                self.processes[owner].crawler.learn(page[0].0, links);
                links.clear();
            }
        }
    }

    /// Whose a page is; if it is nobody's yet, that of the process with the least to do.
    fn owner(&mut self, node: u32) -> usize {
        let group = self.plan.shares.group(node);
        if self.owners[group] == NOBODY {
            let waiting = |process: &usize| self.processes[*process].crawler.waiting();
            let least = (0..self.processes.len()).min_by_key(waiting);
            self.owners[group] = least.expect("there is a process") as u32;
        }
        self.owners[group] as usize
    }

    fn measures(&self) -> Measures {
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        Measures {
            crawled: share(self.fetched, u64::from(self.plan.web.nodes())),
            overlap: share(self.fetched - self.different, self.different),
            coverage: share(self.different, self.reachable),
            quality: share(self.hot, u64::from(self.plan.hot.pages)),
            communication: share(self.sent, self.fetched),
        }
    }
}
