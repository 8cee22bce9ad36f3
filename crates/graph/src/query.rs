//! Who links to a URL, and where a page leads: asked of the link log of a crawl directory.
//!
//! Every link counts here, whatever it is worth to the graph: images, sitemaps, links that are not to be
//! followed. Who links to a URL is found by reading the log from front to back. That is cheap, since each
//! different link of a chapter is looked at once; and it holds while a crawl runs.

use std::ops::{ControlFlow, Range};
use std::path::Path;

use larm_core::url::Fingerprint;
use larm_core::via::Via;

use crate::link::LinkFact;
use crate::log::{self, Chapter, LogReader, Visit};
use crate::stored::{Freshness, StoredGraph};
use crate::{Result, stored};

/// A link that leads to a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InLink {
    /// The page that has it.
    pub from: String,
    /// Its place among the links of the page, from 1 on.
    pub position: usize,
    /// How many links the page has.
    pub of: usize,
    /// How it was found.
    pub via: Via,
    /// Anchor text.
    pub text: String,
    /// The `rel` attribute.
    pub rel: String,
    /// `ok`, or the reason of the filter that said no.
    pub verdict: String,
}

/// The links to a URL, in the order of the crawl, at most so many; and whether there may be more.
pub fn in_links(dir: &Path, url: &str, links_max: usize) -> Result<(Vec<InLink>, bool)> {
    let mut found = Vec::new();
    let mut has_more = false;
    each_in_link(dir, url, u64::MAX, |visit, index, link| {
        has_more = found.len() == links_max;
        if has_more {
            return ControlFlow::Break(());
        }
        found.push(in_link(visit, index, link));
        ControlFlow::Continue(())
    })?;
    Ok((found, has_more))
}

/// A part of the links to a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InLinks {
    /// The part that was asked for, in the order of the crawl.
    pub links: Vec<InLink>,
    /// How many there are in all.
    pub total: u64,
    /// Whether the log is longer than what was read, so that there may be more.
    pub is_cut: bool,
}

/// Counts the links to a URL in the first `log_bytes_max` bytes of the log or so, and gives those of `part`.
pub fn in_links_part(
    dir: &Path,
    url: &str,
    part: Range<u64>,
    log_bytes_max: u64,
) -> Result<InLinks> {
    let mut found = InLinks::default();
    found.is_cut = each_in_link(dir, url, log_bytes_max, |visit, index, link| {
        if part.contains(&found.total) {
            found.links.push(in_link(visit, index, link));
        }
        found.total += 1;
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// The same as the graph knows it, where there is one: pages that lead to a URL by links that count, as of when it was
/// made, one link each. That takes no pass over the log.
pub fn in_links_by_graph(dir: &Path, url: &str, part: Range<u64>) -> Result<Option<InLinks>> {
    let Some(graph) = StoredGraph::open(dir)? else { return Ok(None) };
    let Some(node) = graph.nodes().find(Fingerprint::of(url))? else { return Ok(None) };
    let pages = graph.backward()?.successors(node)?;
    let (mut reader, mut visit) = (LogReader::open(&log::path_in(dir))?, Visit::default());
    let mut links = Vec::new();
    for (_, &page) in (0..).zip(&pages).filter(|(place, _)| part.contains(place)) {
        let Some(facts) = graph.nodes().facts()[page as usize] else { continue };
        reader.read_at(facts.place, &mut visit)?;
        let number = |number: &u32| reader.chapter().link(*number).to == url;
        let found = visit.links.iter().enumerate().find(|(_, link)| number(link));
        links.extend(
            found.map(|(index, &link)| in_link(&visit, index, reader.chapter().link(link))),
        );
    }
    Ok(Some(InLinks { links, total: pages.len() as u64, is_cut: true }))
}

/// Calls `each` with every link to a URL, until it breaks or the log is read so far. Says whether the latter was it.
fn each_in_link(
    dir: &Path,
    url: &str,
    log_bytes_max: u64,
    mut each: impl FnMut(&Visit, usize, LinkFact<'_>) -> ControlFlow<()>,
) -> Result<bool> {
    let path = log::path_in(dir);
    if !path.exists() {
        return Ok(false);
    }
    let mut reader = LogReader::open(&path)?;
    let (mut visit, mut wanted) = (Visit::default(), Wanted::new(url));
    while reader.next(&mut visit)? {
        if reader.block_begin() >= log_bytes_max {
            return Ok(true);
        }
        wanted.look(visit.place.chapter, reader.chapter());
        if wanted.numbers.is_empty() {
            continue;
        }
        for (index, &number) in visit.links.iter().enumerate() {
            if wanted.numbers.contains(&number)
                && each(&visit, index, reader.chapter().link(number)).is_break()
            {
                return Ok(false);
            }
        }
    }
    Ok(false)
}

fn in_link(visit: &Visit, index: usize, link: LinkFact<'_>) -> InLink {
    InLink {
        from: visit.url.clone(),
        position: index + 1,
        of: visit.links.len(),
        via: link.via,
        text: link.text.to_owned(),
        rel: link.rel.to_owned(),
        verdict: link.verdict.to_owned(),
    }
}

/// The links of the present chapter that lead to a URL.
struct Wanted<'a> {
    url: &'a str,
    chapter: Option<u64>,
    looked: usize,
    numbers: Vec<u32>,
}

impl<'a> Wanted<'a> {
    fn new(url: &'a str) -> Self {
        Self { url, chapter: None, looked: 0, numbers: Vec::new() }
    }

    /// Looks at the links that came since.
    fn look(&mut self, begin: u64, chapter: &Chapter) {
        if self.chapter != Some(begin) {
            (self.chapter, self.looked) = (Some(begin), 0);
            self.numbers.clear();
        }
        let new = self.looked as u32..chapter.len() as u32;
        self.numbers.extend(new.filter(|&number| chapter.link(number).to == self.url));
        self.looked = chapter.len();
    }
}

/// What the last visit of a URL found, and the links of the page by [`OutLinks::links`].
pub struct OutLinks {
    /// The visit.
    pub visit: Visit,
    reader: LogReader,
}

impl OutLinks {
    /// The links, in the order of the page.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkFact<'_>> {
        self.visit.links.iter().map(|&number| self.reader.chapter().link(number))
    }
}

/// Where the page at a URL leads; `None` if it was never visited.
pub fn out_links(dir: &Path, url: &str) -> Result<Option<OutLinks>> {
    out_links_within(dir, url, u64::MAX)
}

/// The same, looked for in the first `log_bytes_max` bytes of the log or so, unless the graph knows the place.
pub fn out_links_within(dir: &Path, url: &str, log_bytes_max: u64) -> Result<Option<OutLinks>> {
    let path = log::path_in(dir);
    if !path.exists() {
        return Ok(None);
    }
    let place = match place_by_graph(dir, url)? {
        Some(place) => Some(place),
        None => last_visit(&path, url, log_bytes_max)?,
    };
    let Some(place) = place else { return Ok(None) };
    let (mut reader, mut visit) = (LogReader::open(&path)?, Visit::default());
    reader.read_at(place, &mut visit)?;
    Ok(Some(OutLinks { visit, reader }))
}

/// Where the graph says that the URL's last visit is, if the graph covers the whole log.
fn place_by_graph(dir: &Path, url: &str) -> Result<Option<log::Place>> {
    if stored::Extent::freshness(dir)? != Freshness::Fresh {
        return Ok(None);
    }
    let Some(graph) = StoredGraph::open(dir)? else { return Ok(None) };
    let node = graph.nodes().find(Fingerprint::of(url))?;
    let facts = node.and_then(|node| graph.nodes().facts()[node as usize]);
    Ok(facts.map(|facts| facts.place))
}

fn last_visit(path: &Path, url: &str, log_bytes_max: u64) -> Result<Option<log::Place>> {
    let (mut reader, mut visit) = (LogReader::open(path)?, Visit::default());
    let mut place = None;
    while reader.next(&mut visit)? && reader.block_begin() < log_bytes_max {
        if visit.url == url {
            place = Some(visit.place);
        }
    }
    Ok(place)
}
