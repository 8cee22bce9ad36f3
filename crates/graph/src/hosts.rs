//! The graph between hosts: a host leads to another if a page of it does.

use std::collections::{HashMap, HashSet};

use larm_core::url::CrawlUrl;

use crate::Result;
use crate::graph::Graph;

/// A graph of hosts.
pub struct HostGraph {
    /// The hosts, in the order of their first pages.
    pub names: Vec<String>,
    /// How many nodes of the graph of pages each has.
    pub pages: Vec<u32>,
    /// The host of each node of the graph of pages.
    pub of: Vec<u32>,
    /// Who leads to whom; links within a host are left out.
    pub graph: Graph,
}

/// Puts the nodes of a graph together by host. `url` gives the URL of a node; nodes are asked for in
/// order.
pub fn host_graph<E>(
    graph: &Graph,
    mut url: impl FnMut(u32) -> Result<String, E>,
) -> Result<HostGraph, E> {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let (mut names, mut pages, mut hosts) = (Vec::new(), Vec::new(), Vec::new());
    for node in 0..graph.nodes() {
        let host = host_of(&url(node)?);
        let next = names.len() as u32;
        let number = *numbers.entry(host.clone()).or_insert(next);
        if number == next {
            names.push(host);
            pages.push(0);
        }
        pages[number as usize] += 1;
        hosts.push(number);
    }
    let host = |node: u32| hosts[node as usize];
    let pairs = graph.rows().flat_map(|(from, row)| row.iter().map(move |&to| (from, to)));
    let pairs = pairs.map(|(from, to)| (host(from), host(to))).filter(|(from, to)| from != to);
    let arcs: HashSet<(u32, u32)> = pairs.collect();
    let graph = Graph::of_arcs(names.len() as u32, arcs.into_iter().collect());
    Ok(HostGraph { names, pages, of: hosts, graph })
}

/// The host of a URL with its port, if that is not the usual one.
fn host_of(url: &str) -> String {
    let parsed = CrawlUrl::from_canonical(url);
    let origin = parsed.as_ref().map_or(url, CrawlUrl::origin);
    origin.split_once("://").map_or(origin, |(_, host)| host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_host_are_one_node() {
        let urls = ["http://a.test/", "https://a.test/x", "http://a.test:81/", "http://b.test/"];
        let graph = Graph::of_arcs(4, vec![(0, 1), (0, 3), (1, 3), (3, 2)]);
        let url = |node: u32| Ok::<_, std::convert::Infallible>(urls[node as usize].to_owned());
        let Ok(hosts) = host_graph(&graph, url);
        assert_eq!(hosts.names, ["a.test", "a.test:81", "b.test"]);
        assert_eq!(hosts.pages, [2, 1, 1]);
        assert_eq!(hosts.graph, Graph::of_arcs(3, vec![(0, 2), (2, 1)]));
    }
}
