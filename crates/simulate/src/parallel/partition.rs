//! Which page is whose.
//!
//! Pages are put into groups, and a group has one owner. A group is a page (`url`), a site (`site`), or all
//! pages whose host and path begin alike (`hierarchy`). Assigned statically, a group's owner follows from
//! its name before anything is crawled: by hash, or, in a hierarchy, by size, so that everybody has about the same number
//! of pages. Assigned dynamically, a group gets its owner when its first page is found: the
//! process that has the fewest pages waiting.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use larm_core::partition::partition;
use larm_core::url::CrawlUrl;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Error, Result, Web};

/// Parts of host and path that a hierarchy looks at, at most.
const LEVELS_MAX: usize = 8;
/// How much more than its fair share the largest group of a hierarchy should have at most.
const EVEN: f64 = 1.25;

/// What has an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Partition {
    /// Each page.
    Url,
    /// Each site: a registrable domain.
    #[default]
    Site,
    /// Pages whose host and path begin alike: from the top-level domain down, as far as it takes.
    Hierarchy,
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "url" => Ok(Self::Url),
            "site" => Ok(Self::Site),
            "hierarchy" | "hierarchical" => Ok(Self::Hierarchy),
            _ => Err(format!("a partition is by url, site or hierarchy, not by `{word}`")),
        }
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Url => "url",
            Self::Site => "site",
            Self::Hierarchy => "hierarchy",
        })
    }
}

/// When it is decided who owns what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Assignment {
    /// Before the crawl.
    #[default]
    Static,
    /// When the first page of a group is found.
    Dynamic,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "static" => Ok(Self::Static),
            "dynamic" => Ok(Self::Dynamic),
            _ => Err(format!("an assignment is static or dynamic, not `{word}`")),
        }
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Static { "static" } else { "dynamic" })
    }
}

/// The groups of a web and, as far as that is decided beforehand, their owners.
#[derive(Debug, Clone)]
pub struct Shares {
    groups: Vec<u32>,
    sizes: Vec<u32>,
    owners: Option<Vec<u32>>,
    processes: u32,
    /// How many parts of host and path a group of a hierarchy has in common.
    pub level: Option<usize>,
}

impl Shares {
    /// For processes that share nothing out.
    pub fn none(processes: u32) -> Self {
        Self { groups: Vec::new(), sizes: Vec::new(), owners: None, processes, level: None }
    }

    /// Puts pages into groups; says why where that makes no sense.
    pub fn of(web: &Web, by: Partition, how: Assignment, processes: u32) -> Result<Self> {
        if by != Partition::Url && !web.has_urls() {
            let why = "needs URLs: name a list with --urls, or use --partition url";
            return Err(Error::asked(format!("--partition {by} {why}")));
        }
        let (groups, names, level) = match by {
            Partition::Url => ((0..web.nodes()).collect(), Vec::new(), None),
            Partition::Site => {
                let (groups, names) = grouped(web, site);
                (groups, names, None)
            }
            Partition::Hierarchy => hierarchy(web, processes),
        };
        let count = groups.iter().max().map_or(0, |last| last + 1);
        if count < processes {
            return Err(too_few(by, count, processes));
        }
        let mut sizes = vec![0; count as usize];
        groups.iter().for_each(|&group| sizes[group as usize] += 1);
        let owners = (how == Assignment::Static).then(|| match by {
            Partition::Url => (0..count).map(|node| owner_of_page(web, node, processes)).collect(),
            Partition::Site => {
                let processes = u16::try_from(processes).unwrap_or(u16::MAX);
                names.iter().map(|name| u32::from(partition(name, processes))).collect()
            }
            Partition::Hierarchy => by_size(&sizes, processes),
        });
        Ok(Self { groups, sizes, owners, processes, level })
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.processes as usize
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.sizes.len()
    }

    /// How many pages each process owns, if that is decided.
    pub fn pages(&self) -> Option<Vec<u32>> {
        let mut pages = vec![0; self.processes()];
        let owners = self.owners.as_ref()?;
        owners.iter().zip(&self.sizes).for_each(|(&owner, size)| pages[owner as usize] += size);
        Some(pages)
    }

    pub(crate) fn group(&self, node: u32) -> usize {
        self.groups[node as usize] as usize
    }

    pub(crate) fn owners(&self) -> Option<&[u32]> {
        self.owners.as_deref()
    }
}

fn too_few(by: Partition, count: u32, processes: u32) -> Error {
    let instead = match by {
        Partition::Site => "; --partition hierarchy divides sites by their paths",
        _ => "",
    };
    let groups = match by {
        Partition::Site => "site(s)",
        Partition::Url => "page(s)",
        Partition::Hierarchy => "place(s) in the hierarchy",
    };
    Error::asked(format!("{processes} processes cannot share {count} {groups}{instead}"))
}

fn site(url: &str) -> String {
    CrawlUrl::from_canonical(url).map_or_else(|| url.to_owned(), |url| url.site().to_owned())
}

/// A number for every page by what `name` makes of its URL, and the names.
fn grouped(web: &Web, name: impl Fn(&str) -> String) -> (Vec<u32>, Vec<String>) {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut names = Vec::new();
    let number = |node: u32| {
        let name = name(web.url(node).unwrap_or_default());
        *numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as u32 - 1
        })
    };
    ((0..web.nodes()).map(number).collect(), names)
}

/// The fewest parts of host and path by which pages fall into even groups, or the most even there are.
fn hierarchy(web: &Web, processes: u32) -> (Vec<u32>, Vec<String>, Option<usize>) {
    let mut best: Option<(u32, usize)> = None;
    for level in 1..=LEVELS_MAX {
        let (groups, names) = grouped(web, |url| prefix(url, level));
        let mut sizes = vec![0_u32; names.len()];
        groups.iter().for_each(|&group| sizes[group as usize] += 1);
        let largest = sizes.iter().copied().max().unwrap_or(0);
        if names.len() >= processes as usize && best.is_none_or(|(before, _)| largest < before) {
            best = Some((largest, level));
        }
        if f64::from(largest) <= EVEN * f64::from(web.nodes()) / f64::from(processes) {
            break;
        }
    }
    let level = best.map_or(LEVELS_MAX, |(_, level)| level);
    let (groups, names) = grouped(web, |url| prefix(url, level));
    (groups, names, Some(level))
}

/// The first parts of a URL: labels of its host from the last on, then directories of its path.
fn prefix(url: &str, level: usize) -> String {
    let Some(url) = CrawlUrl::from_canonical(url) else { return url.to_owned() };
    let directory = url.path().rsplit_once('/').map_or("", |(directory, _)| directory);
    let host = url.host().rsplit('.');
    let parts = host.chain(directory.split('/').filter(|part| !part.is_empty()));
    parts.take(level).collect::<Vec<_>>().join("/")
}

fn owner_of_page(web: &Web, node: u32, processes: u32) -> u32 {
    let hash = match web.url(node) {
        Some(url) => xxh3_64(url.as_bytes()),
        None => xxh3_64(&web.label(node).to_le_bytes()),
    };
    (hash % u64::from(processes)) as u32
}

/// The largest group to whoever has the fewest pages, and so on.
fn by_size(sizes: &[u32], processes: u32) -> Vec<u32> {
    let mut groups: Vec<usize> = (0..sizes.len()).collect();
    groups.sort_by_key(|&group| (std::cmp::Reverse(sizes[group]), group));
    let (mut owners, mut pages) = (vec![0; sizes.len()], vec![0_u64; processes as usize]);
    for group in groups {
        let least = (0..pages.len()).min_by_key(|&process| pages[process]);
        let process = least.expect("there is a process");
        owners[group] = process as u32;
        pages[process] += u64::from(sizes[group]);
    }
    owners
}
