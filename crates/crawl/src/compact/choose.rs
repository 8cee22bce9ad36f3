//! Which pages are the best: by the order of the crawl, with all that the directory knows.
//!
//! Breadth-first says nothing of pages that were fetched, so by that order it is PageRank that decides. Of pages that
//! are worth the same, those fewer links from a seed are better, and then chance decides, always the same way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;

use larm_core::order::{Name, Order};
use larm_core::url::Fingerprint;
use serde::Serialize;

use super::is_candidate;
use crate::error::{Error, Result};
use crate::frontier::{Board, DROPPED, DiskFrontier, PageRow};
use crate::order::{self, Ranker, recall};
use crate::plan::Plan;
use crate::readings::Readings;
use crate::store::durable;

/// The pages that stay, and how many do not.
pub struct Choice {
    /// The order that they were judged by.
    pub by: String,
    /// The best, from the first on.
    pub pages: Vec<Judged>,
    /// Answers in the archive that are not among them.
    pub to_drop: u64,
    /// Answers that had to go before.
    pub gone: u64,
}

/// A page, and what it is worth: the better the greater.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Judged {
    /// The bits of its worth, which rise with it.
    worth: u32,
    depth: Reverse<u32>,
    url: Reverse<Fingerprint>,
    text: Box<str>,
}

/// One line of the list.
#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    worth: f32,
    depth: u32,
}

impl Judged {
    fn new(row: &PageRow, worth: f32) -> Self {
        let url = Reverse(Fingerprint::of(&row.url));
        let worth = worth.max(0.0).to_bits();
        Self { worth, depth: Reverse(row.depth), url, text: row.url.clone() }
    }

    /// Which page.
    pub fn url(&self) -> Fingerprint {
        self.url.0
    }

    fn line(&self) -> String {
        let worth = f32::from_bits(self.worth);
        let line = Line { url: &self.text, worth, depth: self.depth.0 };
        serde_json::to_string(&line).expect("texts and numbers are JSON") + "\n"
    }
}

impl Choice {
    /// Writes the list, the best page first.
    pub fn write(&self, path: &Path) -> Result<()> {
        durable::replace(path, |out| {
            let mut lines = self.pages.iter().map(Judged::line);
            lines.try_for_each(|line| out.write_all(line.as_bytes()).map_err(Error::io(path)))
        })
    }
}

/// The best `pages_max` pages of a crawl.
pub fn choose(
    frontier: &DiskFrontier,
    plan: &Plan,
    state: &Path,
    pages_max: u64,
) -> Result<Choice> {
    let (mut ranker, by) = ranker(plan, state)?;
    frontier.each_page(&mut |row| {
        ranker.introduce(&row.url, row.depth);
        Ok(())
    })?;
    recall::recall(&mut ranker, frontier, &plan.dir, &plan.limits)?;
    ranker.work_out();
    let (mut best, mut kept_before, mut gone) = (BinaryHeap::new(), 0, 0);
    frontier.each_page(&mut |row| {
        gone += u64::from(row.has_fact(DROPPED));
        kept_before += u64::from(row.warc.is_some());
        if is_candidate(&row) {
            best.push(Reverse(Judged::new(&row, ranker.worth(Fingerprint::of(&row.url)))));
        }
        if best.len() as u64 > pages_max {
            best.pop();
        }
        Ok(())
    })?;
    let pages: Vec<Judged> = best.into_sorted_vec().into_iter().map(|Reverse(page)| page).collect();
    Ok(Choice { by, to_drop: kept_before - pages.len() as u64, gone, pages })
}

/// Whoever judges pages, and the order that they are judged by.
fn ranker(plan: &Plan, state: &Path) -> Result<(Ranker, String)> {
    let Plan { order, topic, limits, .. } = plan;
    let by_worth = match order == &Order::by(Name::Breadth) && topic.is_empty() {
        true => Order::by(Name::Pagerank),
        false => order.clone(),
    };
    let scoring = order::score(&by_worth, topic, &plan.tuning(), limits)?;
    let scoring = scoring.expect("every order but breadth-first has a score");
    let by = by_worth.to_string();
    let board = Arc::new(Board::new(limits, by.clone(), order::needs_urls(&by_worth)));
    let readings = (!topic.is_empty()).then(|| Readings::open(state, topic, None)).transpose()?;
    Ok((Ranker::new(scoring, board).noting(readings.map(Arc::new)), by))
}
