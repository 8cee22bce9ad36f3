//! From visits to a graph and back, with little memory and much, while the log grows.

use std::path::Path;

use larm_core::Millis;
use larm_core::url::Fingerprint;
use larm_core::via::Via;

use super::*;
use crate::link::LinkFact;
use crate::log::{Ended, LogWriter, VisitHead};
use crate::query::{in_links, in_links_by_graph, in_links_part, out_links};
use crate::rank::pagerank;

struct Log {
    dir: tempfile::TempDir,
    writer: LogWriter,
    bytes: Vec<u8>,
}

impl Log {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("links")).unwrap();
        Self { dir, writer: LogWriter::new(500).unwrap(), bytes: Vec::new() }
    }

    fn dir(&self) -> &Path {
        self.dir.path()
    }

    fn visit(&mut self, url: &str, via: Via, ended: Ended, links: &[(&str, Via)]) {
        let head = VisitHead { url, at: Millis(1), ended, via, depth: 1 };
        let links = links.iter();
        let links = links.map(|&(to, via)| LinkFact { text: "x", ..LinkFact::new(to, via) });
        self.writer.add(&head, links);
        let begin = self.bytes.len() as u64;
        self.writer.pack(begin, &mut self.bytes).unwrap();
        std::fs::write(log_path(self.dir()), &self.bytes).unwrap();
    }

    fn page(&mut self, url: &str, links: &[&str]) {
        let links: Vec<_> = links.iter().map(|&to| (to, Via::Anchor)).collect();
        self.visit(url, Via::Anchor, Ended::Fetched(200), &links);
    }

    fn graph(&self, sort_bytes: u64) -> StoredGraph {
        let limits = Limits { graph_sort_bytes_max: sort_bytes, ..Limits::default() };
        build(self.dir(), &limits, &mut |_| ()).unwrap();
        StoredGraph::open(self.dir()).unwrap().unwrap()
    }
}

fn log_path(dir: &Path) -> PathBuf {
    crate::log::path_in(dir)
}

const A: &str = "http://a.test/";
const B: &str = "http://a.test/b?x=1&y=2";
const C: &str = "http://c.test/";
const ELSEWHERE: &str = "http://elsewhere.test/";

fn small() -> Log {
    let mut log = Log::new();
    log.visit(
        A,
        Via::Seed,
        Ended::Fetched(200),
        &[(B, Via::Anchor), (B, Via::Link), (A, Via::Anchor)],
    );
    log.page(B, &[C, "mailto:x@a.test", ELSEWHERE]);
    log.visit("http://a.test/map.xml", Via::Robots, Ended::Fetched(200), &[(C, Via::Sitemap)]);
    log.page(C, &[]);
    log
}

/// The arcs of the graph, as URLs.
fn arcs(graph: &StoredGraph) -> Vec<(String, String)> {
    let url = |node: u32| graph.nodes().url(node).unwrap();
    let whole = graph.forward().unwrap().to_graph().unwrap();
    assert_eq!(graph.backward().unwrap().to_graph().unwrap(), whole.transposed());
    whole.rows().flat_map(|(from, row)| row.iter().map(move |&to| (url(from), url(to)))).collect()
}

#[test]
fn visits_become_nodes_and_links_arcs() {
    let log = small();
    let graph = log.graph(1 << 20);
    let expected = [(A, A), (A, B), (B, C), (B, ELSEWHERE)];
    let expected = expected.map(|(from, to)| (from.to_owned(), to.to_owned()));
    assert_eq!(arcs(&graph), expected);
    let extent = graph.extent();
    assert_eq!((extent.nodes, extent.pages, extent.arcs), (5, 3, 4));
    assert_eq!((extent.visits, extent.links), (4, 7));
    let node = graph.nodes().find(Fingerprint::of(B)).unwrap().unwrap();
    assert_eq!(graph.nodes().url(node).unwrap(), B);
    assert_eq!(graph.nodes().find(Fingerprint::of("http://nobody.test/")).unwrap(), None);
    let unvisited = graph.nodes().find(Fingerprint::of(ELSEWHERE)).unwrap().unwrap();
    assert_eq!(graph.nodes().facts()[unvisited as usize], None);
}

#[test]
fn pages_alone_are_a_view() {
    let log = small();
    let graph = log.graph(1 << 20);
    let view = graph.view(Scope::Pages).unwrap();
    let urls: Vec<String> =
        view.stored.iter().map(|&node| graph.nodes().url(node).unwrap()).collect();
    assert_eq!(urls, [A, B, C]);
    assert_eq!(view.graph, Graph::of_arcs(3, vec![(0, 0), (0, 1), (1, 2)]));
    assert_eq!(graph.view(Scope::All).unwrap().graph.nodes(), 5);
}

#[test]
fn ranks_are_found_by_fingerprint() {
    let log = small();
    let graph = log.graph(1 << 20);
    let ranks = Ranks::open(log.dir()).unwrap().unwrap();
    assert_eq!(ranks.len(), 3);
    let expected = pagerank(&graph.view(Scope::Pages).unwrap().graph, &PageRank::default()).values;
    for (url, expected) in [A, B, C].into_iter().zip(expected) {
        let found = ranks.of(Fingerprint::of(url)).unwrap().unwrap();
        assert!((f64::from(found) - expected).abs() < 1e-6, "{url}: {found}");
    }
    assert_eq!(ranks.of(Fingerprint::of(ELSEWHERE)).unwrap(), None);
    let best =
        [A, B, C].map(|url| ranks.rank_of(Fingerprint::of(url)).unwrap().unwrap().percentile);
    assert!(best.contains(&0.0) && best.iter().any(|&share| share > 0.6), "{best:?}");
}

#[test]
fn little_memory_gives_the_same_graph() {
    let mut log = Log::new();
    let urls: Vec<String> = (0..400).map(|n| format!("http://h{}.test/p/{n}", n % 7)).collect();
    for n in 0..400_usize {
        let url = &urls[n];
        let links = [3, 7, 11].map(|step| (urls[(n * step + step) % 400].as_str(), Via::Anchor));
        log.visit(url, Via::Anchor, Ended::Fetched(200), &links);
    }
    let roomy = arcs(&log.graph(1 << 24));
    let ranks = std::fs::read(log.dir().join("graph/ranks")).unwrap();
    assert_eq!(arcs(&log.graph(4_096)), roomy);
    assert_eq!(std::fs::read(log.dir().join("graph/ranks")).unwrap(), ranks);
    assert!(roomy.len() > 1_000);
    let mut files: Vec<_> = std::fs::read_dir(log.dir().join("graph"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files.len(), 12, "no run is left: {files:?}");
}

#[test]
fn of_several_visits_the_last_one_counts() {
    let mut log = small();
    log.page(B, &[A]);
    let graph = log.graph(1 << 20);
    let from_b: Vec<(String, String)> =
        arcs(&graph).into_iter().filter(|(from, _)| from == B).collect();
    assert_eq!(from_b, [(B.to_owned(), A.to_owned())]);
    let out = out_links(log.dir(), B).unwrap().unwrap();
    assert_eq!(out.links().map(|link| link.to.to_owned()).collect::<Vec<_>>(), [A]);
}

#[test]
fn a_graph_knows_whether_the_log_has_changed() {
    let mut log = small();
    let freshness = |log: &Log| Extent::freshness(log.dir()).unwrap();
    assert_eq!(freshness(&log), Freshness::Missing);
    log.graph(1 << 20);
    assert_eq!(freshness(&log), Freshness::Fresh);
    let before = log.bytes.clone();
    log.page("http://a.test/new", &[A]);
    assert_eq!(freshness(&log), Freshness::Behind((log.bytes.len() - before.len()) as u64));
    std::fs::write(log_path(log.dir()), &before[..before.len() - 1]).unwrap();
    assert_eq!(freshness(&log), Freshness::Other, "the log was cut back");
    let mut other = Log::new();
    other.page("http://a.test/else", &[A]);
    let long = [other.bytes.as_slice(), &before].concat();
    std::fs::write(log_path(log.dir()), long).unwrap();
    assert_eq!(freshness(&log), Freshness::Other, "the log is another one");
}

#[test]
fn links_are_found_with_and_without_a_graph() {
    let log = small();
    for with_graph in [false, true] {
        if with_graph {
            log.graph(1 << 20);
        }
        let (links, more) = in_links(log.dir(), C, 9).unwrap();
        let from: Vec<(&str, usize, Via)> =
            links.iter().map(|link| (link.from.as_str(), link.position, link.via)).collect();
        assert_eq!(from, [(B, 1, Via::Anchor), ("http://a.test/map.xml", 1, Via::Sitemap)]);
        assert!(!more);
        assert!(in_links(log.dir(), B, 1).unwrap().1, "there is another one");
        let out = out_links(log.dir(), B).unwrap().unwrap();
        let to: Vec<&str> = out.links().map(|link| link.to).collect();
        assert_eq!(to, [C, "mailto:x@a.test", ELSEWHERE]);
        assert!(out_links(log.dir(), ELSEWHERE).unwrap().is_none());
    }
}

#[test]
fn an_empty_log_is_an_empty_graph() {
    let log = Log::new();
    std::fs::write(log_path(log.dir()), b"").unwrap();
    let graph = log.graph(1 << 20);
    assert_eq!((graph.extent().nodes, graph.extent().arcs), (0, 0));
    assert_eq!(Ranks::open(log.dir()).unwrap().unwrap().len(), 0);
}

#[test]
fn the_graph_and_the_log_know_the_same_links_to_a_page() {
    let mut log = Log::new();
    for number in 0..20 {
        log.page(&format!("http://a.test/{number}"), &[A, C, A]);
    }
    log.page(A, &[B]);
    assert_eq!(in_links_by_graph(log.dir(), A, 0..9).unwrap(), None, "there is no graph yet");
    log.graph(1 << 20);
    let by_log = in_links_part(log.dir(), C, 5..9, u64::MAX).unwrap();
    assert_eq!((by_log.total, by_log.links.len(), by_log.is_cut), (20, 4, false));
    let by_graph = in_links_by_graph(log.dir(), C, 0..100).unwrap().unwrap();
    let mut pages: Vec<_> = by_graph.links.iter().map(|link| link.from.as_str()).collect();
    pages.sort_unstable();
    let all = in_links_part(log.dir(), C, 0..100, u64::MAX).unwrap();
    let mut expected: Vec<_> = all.links.iter().map(|link| link.from.as_str()).collect();
    expected.sort_unstable();
    assert_eq!((pages, by_graph.total), (expected, 20));
    assert_eq!(in_links_part(log.dir(), A, 0..1, u64::MAX).unwrap().total, 40);
    let some = in_links_part(log.dir(), C, 0..100, 1).unwrap();
    assert!(some.is_cut && some.total < 20, "{some:?}");
}
