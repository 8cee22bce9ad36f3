//! The link log → the graph of a crawl directory, in memory that does not grow with the crawl.
//!
//! One pass over the log gives URLs and arcs between fingerprints. URLs are sorted and get numbers; arcs
//! are sorted three times, by source, by target and by source again, and pick up the numbers on the way.
//! Of a page that was visited more than once, the last visit counts.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use larm_core::Limits;
use larm_core::url::{CrawlUrl, Fingerprint};
use larm_core::via::Via;

use super::arcs::{self, ArcSorter};
use super::extent::Extent;
use super::nodes::{Facts, FingerprintsWriter, NodesWriter, facts_bytes};
use super::{StoredGraph, path_in, rank};
use crate::bytes::{Cursor, put_number, put_text};
use crate::link::LinkFact;
use crate::log::{self, LogReader, Visit};
use crate::sort::{Item, Sorted, Sorter};
use crate::{Error, Result};

/// Told now and then how many visits were read.
pub type Progress<'a> = &'a mut dyn FnMut(u64);

/// Visits between two reports of progress.
const REPORT: u64 = 10_000;
/// Fingerprints that are remembered, so that a URL that many pages lead to is sorted a few times only.
const RECENT: usize = 1 << 18;

/// Makes the graph of a crawl directory from as much of its link log as is whole, and puts it in the
/// place of the old one. One at a time: another one waits.
pub fn build(dir: &Path, limits: &Limits, progress: Progress<'_>) -> Result<()> {
    let log = log::path_in(dir);
    let lock = File::open(&log).map_err(Error::io(&log))?;
    lock.lock().map_err(Error::io(&log))?;
    let (graph, temporary) = (path_in(dir), dir.join("graph.tmp"));
    remove(&temporary)?;
    fs::create_dir(&temporary).map_err(Error::io(&temporary))?;
    let extent = Builder::new(&temporary, limits).build(dir, progress)?;
    extent.write(&temporary)?;
    if let Some(made) = open_at(&temporary)? {
        rank(&made, limits)?;
    }
    remove(&graph)?;
    fs::rename(&temporary, &graph).map_err(Error::io(&graph))
}

fn open_at(graph: &Path) -> Result<Option<StoredGraph>> {
    let Some(extent) = Extent::read(graph)? else { return Ok(None) };
    let nodes = super::Nodes::open(graph, extent.nodes)?;
    Ok(Some(StoredGraph { dir: graph.to_path_buf(), extent, nodes }))
}

fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(dir)(error)),
        _ => Ok(()),
    }
}

struct Builder {
    dir: PathBuf,
    sort_bytes_max: u64,
    nodes_max: u64,
    urls: Sorter<Mention>,
    arcs: ArcSorter,
    recent: Vec<u64>,
}

impl Builder {
    fn new(dir: &Path, limits: &Limits) -> Self {
        // Two sorters are at work at a time.
        let sort_bytes_max = limits.graph_sort_bytes_max / 2;
        Self {
            dir: dir.to_path_buf(),
            sort_bytes_max,
            nodes_max: limits.graph_nodes_max,
            urls: Sorter::new(dir.join("urls"), sort_bytes_max),
            arcs: Sorter::new(dir.join("arcs"), sort_bytes_max),
            recent: vec![0; RECENT],
        }
    }

    fn build(mut self, dir: &Path, progress: Progress<'_>) -> Result<Extent> {
        let mut reader = LogReader::open(&log::path_in(dir))?;
        let (visits, links) = self.read(&mut reader, progress)?;
        let mut extent = Extent::new(dir, reader.end(), reader.block_begin())?;
        let Self { dir, sort_bytes_max, nodes_max, urls, arcs, .. } = self;
        let numbers = Sorter::new(dir.join("numbers"), sort_bytes_max);
        let numbered = number(&dir, urls.finish()?, numbers, nodes_max)?;
        extent.pages = numbered.pages;
        extent.nodes = numbered.nodes;
        let by_target = Sorter::new(dir.join("by-target"), sort_bytes_max);
        let fingerprints = FingerprintsWriter::create(&dir)?;
        let by_target =
            arcs::number_sources(arcs.finish()?, numbered.numbers, fingerprints, by_target)?;
        extent.arcs = arcs::write(&dir, by_target, numbered.nodes, sort_bytes_max)?;
        (extent.visits, extent.links) = (visits, links);
        Ok(extent)
    }

    /// Takes the URLs and arcs of all visits; returns how many visits and links there were.
    fn read(&mut self, reader: &mut LogReader, progress: Progress<'_>) -> Result<(u64, u64)> {
        let (mut visits, mut links) = (0, 0);
        let (mut visit, mut targets) = (Visit::default(), Targets::default());
        while reader.next(&mut visit)? {
            visits += 1;
            links += visit.links.len() as u64;
            self.take(&visit, visits as u32, reader, &mut targets)?;
            if visits % REPORT == 0 {
                progress(visits);
            }
        }
        progress(visits);
        Ok((visits, links))
    }

    fn take(
        &mut self,
        visit: &Visit,
        turn: u32,
        reader: &LogReader,
        targets: &mut Targets,
    ) -> Result<()> {
        let Some(mention) = Mention::of_visit(visit, turn) else { return Ok(()) };
        let from = Fingerprint::of(&visit.url).0;
        self.urls.push(mention)?;
        targets.turn_to(visit.place.chapter);
        for &number in &visit.links {
            let target = targets.of(number, reader, |url| self.mention(url))?;
            if let Target::Arc(to) = target {
                self.arcs.push((from, turn, to))?;
            }
        }
        Ok(())
    }

    /// Takes note of a URL that a link leads to, and returns its fingerprint.
    fn mention(&mut self, url: &CrawlUrl) -> Result<u64> {
        let fingerprint = url.fingerprint().0;
        let place = &mut self.recent[fingerprint as usize % RECENT];
        if *place != fingerprint {
            *place = fingerprint;
            self.urls.push(Mention { key: key_of(url), url: url.as_str().into(), visit: None })?;
        }
        Ok(fingerprint)
    }
}

/// What the links of a chapter lead to, each worked out once.
#[derive(Default)]
struct Targets {
    chapter: Option<u64>,
    known: Vec<Target>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Target {
    Unknown,
    /// No URL, or not a link from page to page.
    Nothing,
    /// The fingerprint of a URL.
    Arc(u64),
}

impl Targets {
    fn turn_to(&mut self, chapter: u64) {
        if self.chapter != Some(chapter) {
            self.chapter = Some(chapter);
            self.known.clear();
        }
    }

    fn of(
        &mut self,
        number: u32,
        reader: &LogReader,
        mention: impl FnOnce(&CrawlUrl) -> Result<u64>,
    ) -> Result<Target> {
        let index = number as usize;
        if self.known.len() <= index {
            self.known.resize(reader.chapter().len(), Target::Unknown);
        }
        if self.known[index] == Target::Unknown {
            self.known[index] = target_of(reader.chapter().link(number), mention)?;
        }
        Ok(self.known[index])
    }
}

fn target_of(link: LinkFact<'_>, mention: impl FnOnce(&CrawlUrl) -> Result<u64>) -> Result<Target> {
    let is_listed = link.via == Via::Sitemap;
    if !link.is_arc() && !is_listed {
        return Ok(Target::Nothing);
    }
    let Some(url) = CrawlUrl::from_canonical(link.to) else { return Ok(Target::Nothing) };
    let fingerprint = mention(&url)?;
    Ok(if is_listed { Target::Nothing } else { Target::Arc(fingerprint) })
}

/// URLs sort by domain, the top-level first, then by path: neighbours link to each other, and a graph
/// in that order is small.
fn key_of(url: &CrawlUrl) -> Box<str> {
    url.surt().into()
}

/// A URL that a visit or a link is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Mention {
    key: Box<str>,
    url: Box<str>,
    /// The visit's turn in the crawl, and what is known of it.
    visit: Option<(u32, [u8; 20])>,
}

impl Mention {
    fn of_visit(visit: &Visit, turn: u32) -> Option<Self> {
        let url = CrawlUrl::from_canonical(&visit.url)?;
        let Visit { ended, via, depth, place, .. } = *visit;
        let facts = facts_bytes(Some(&Facts { ended, via, depth, place }));
        Some(Self { key: key_of(&url), url: visit.url.as_str().into(), visit: Some((turn, facts)) })
    }
}

impl Item for Mention {
    fn put(&self, out: &mut Vec<u8>) {
        put_text(out, self.key.as_bytes());
        put_text(out, self.url.as_bytes());
        if let Some((turn, facts)) = &self.visit {
            put_number(out, u64::from(*turn));
            out.extend_from_slice(facts);
        }
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<Self> {
        let key = std::str::from_utf8(cursor.text()?).ok()?.into();
        let url = std::str::from_utf8(cursor.text()?).ok()?.into();
        let visit = match cursor.0.is_empty() {
            true => None,
            false => {
                Some((u32::try_from(cursor.number()?).ok()?, *cursor.take(20)?.first_chunk()?))
            }
        };
        Some(Self { key, url, visit })
    }

    fn extra_bytes(&self) -> usize {
        self.key.len() + self.url.len() + 32
    }
}

/// What numbering the nodes gave.
struct Numbered {
    nodes: u32,
    pages: u32,
    /// Fingerprint, number and the turn of the last visit of each node.
    numbers: Sorted<(u64, u32, u64)>,
}

/// Gives every URL a number in order, and writes URLs and facts.
fn number(
    dir: &Path,
    mut urls: Sorted<Mention>,
    mut numbers: Sorter<(u64, u32, u64)>,
    nodes_max: u64,
) -> Result<Numbered> {
    let mut writer = NodesWriter::create(dir)?;
    let mut pages = 0;
    let mut waiting = urls.next()?;
    while let Some(mut mention) = waiting {
        waiting = urls.next()?;
        // Visits sort behind links, and later ones behind earlier ones.
        while let Some(same) = waiting.take_if(|next| next.url == mention.url) {
            mention = same;
            waiting = urls.next()?;
        }
        let facts = mention.visit.and_then(|(_, facts)| Facts::of_bytes(&facts));
        pages += u32::from(facts.is_some_and(|facts| facts.is_page()));
        let node = writer.push(&mention.url, facts.as_ref())?;
        if u64::from(node) >= nodes_max {
            return Err(Error::unfit(dir, "it would have more nodes than `graph_nodes_max`"));
        }
        let turn = mention.visit.map_or(0, |(turn, _)| turn);
        numbers.push((Fingerprint::of(&mention.url).0, node, u64::from(turn)))?;
    }
    Ok(Numbered { nodes: writer.finish()?, pages, numbers: numbers.finish()? })
}
