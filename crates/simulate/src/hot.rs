//! Which pages are important, and which of them are hot.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use larm_core::Limits;
use larm_graph::rank::{self, PageRank};

use crate::{Error, Result, Web, urls};

/// What makes a page important, in the whole graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// PageRank.
    #[default]
    Pagerank,
    /// Links from other pages.
    Backlinks,
}

impl FromStr for By {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "pagerank" => Ok(Self::Pagerank),
            "backlinks" | "backlink" => Ok(Self::Backlinks),
            _ => Err(format!("importance is by pagerank or backlinks, not by `{word}`")),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pagerank => "pagerank",
            Self::Backlinks => "backlinks",
        })
    }
}

/// Hot pages as they are asked for: `10%`, `backlinks>=100`, `@FILE`.
#[derive(Debug, Clone, PartialEq)]
pub enum HotSpec {
    /// So large a part of all pages, the most important, and whatever is as important as the last of them.
    Share(f64),
    /// At least so important.
    AtLeast(By, f64),
    /// The pages of a list: a number or a URL a line.
    List(PathBuf),
}

impl FromStr for HotSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` says nothing of hot pages; write 10%, backlinks>=100 or @FILE");
        if let Some(path) = text.strip_prefix('@').filter(|path| !path.is_empty()) {
            return Ok(Self::List(path.into()));
        }
        if let Some((by, least)) = text.split_once(">=") {
            let least = least.trim().parse().map_err(|_| wrong())?;
            return Ok(Self::AtLeast(by.trim().parse()?, least));
        }
        let share = share_of(text).ok_or_else(wrong)?;
        if share <= 0.0 || share >= 1.0 {
            return Err("hot pages are more than 0% and fewer than 100% of all".into());
        }
        Ok(Self::Share(share))
    }
}

/// `10%` or `0.1`.
pub fn share_of(text: &str) -> Option<f64> {
    match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse().ok().map(|percent: f64| percent / 100.0),
        None => text.trim().parse().ok(),
    }
}

/// What every page is worth in the whole graph, and which are hot.
#[derive(Debug)]
pub struct Hot {
    /// What makes a page important; `None` for a list.
    pub by: Option<By>,
    /// The importance of the least important hot page.
    pub least: Option<f64>,
    /// How many there are.
    pub pages: u32,
    pub(crate) is_hot: Vec<bool>,
    pub(crate) importance: Vec<f64>,
    /// All importances, the highest first.
    pub(crate) sorted: Vec<f64>,
}

impl Hot {
    /// Works it out. A spec that names what importance is by goes before `by`.
    pub fn of(web: &Web, spec: &HotSpec, by: By, limits: &Limits) -> Result<Self> {
        let by = match spec {
            HotSpec::AtLeast(by, _) => *by,
            _ => by,
        };
        let importance = importance(web, by, limits);
        let mut sorted = importance.clone();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let (by, least, is_hot) = match spec {
            HotSpec::List(path) => (None, None, listed(web, path, limits)?),
            HotSpec::AtLeast(by, least) => (Some(*by), Some(*least), at_least(&importance, *least)),
            HotSpec::Share(share) => {
                let least = sorted[place(*share, sorted.len()) - 1];
                (Some(by), Some(least), at_least(&importance, least))
            }
        };
        let pages = is_hot.iter().filter(|is_hot| **is_hot).count() as u32;
        if pages == 0 {
            return Err(Error::asked("no page of the graph is hot by that"));
        }
        Ok(Self { by, least, pages, is_hot, importance, sorted })
    }
}

/// How many pages a share of all is, at least one.
pub(crate) fn place(share: f64, nodes: usize) -> usize {
    // A share such as 0.07 of 100 is 7, and not the 7.000000000000001 that floats make of it.
    ((share * nodes as f64 - 1e-9).ceil() as usize).clamp(1, nodes)
}

fn at_least(importance: &[f64], least: f64) -> Vec<bool> {
    // Sums in another order differ in the last digits; pages alike in importance are alike.
    importance.iter().map(|&value| value >= least * (1.0 - 1e-9)).collect()
}

fn importance(web: &Web, by: By, limits: &Limits) -> Vec<f64> {
    match by {
        By::Backlinks => web.backlinks().into_iter().map(f64::from).collect(),
        By::Pagerank => {
            let how = PageRank { rounds_max: limits.graph_rounds_max, ..PageRank::default() };
            rank::pagerank(web.graph(), &how).values
        }
    }
}

fn listed(web: &Web, path: &Path, limits: &Limits) -> Result<Vec<bool>> {
    let lines = urls::lines(path, limits)?;
    let mut is_hot = vec![false; web.nodes() as usize];
    let by_url: std::collections::HashMap<&str, u32> =
        (0..web.nodes()).filter_map(|node| Some((web.url(node)?, node))).collect();
    for line in &lines {
        let node = match by_url.get(line.as_str()) {
            Some(&node) => node,
            None => web.find(line)?,
        };
        is_hot[node as usize] = true;
    }
    Ok(is_hot)
}
