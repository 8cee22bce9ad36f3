//! The graph in a dozen lines.

use std::fs;

use anyhow::Result;
use larm_graph::hosts::host_graph;
use larm_graph::rank::{strong_components, weak_components};
use serde_json::json;

use super::lists::{depth_counts, in_depths};
use super::{Asked, backlinks};
use crate::human::{self, count};

pub(super) fn overview(asked: &Asked<'_>) -> Result<String> {
    let (graph, extent) = (&asked.view.graph, asked.stored.extent());
    let mut urls = asked.stored.nodes().lookup();
    let url = |node: u32| -> Result<String> {
        Ok(urls.url(asked.view.stored[node as usize])?.to_owned())
    };
    let hosts = host_graph(graph, url)?;
    let dead_ends = graph.rows().filter(|(_, row)| row.is_empty()).count() as u64;
    let orphans = backlinks(graph).iter().filter(|&&links| links == 0).count() as u64;
    let (weak, strong) = (weak_components(graph), strong_components(graph));
    let (depths, unreached) = depth_counts(asked);
    let bits = bits_per_link(asked);
    if asked.args.json {
        let whole = json!({
            "visits": extent.visits, "links": extent.links, "urls": extent.nodes,
            "nodes": graph.nodes(), "arcs": graph.arcs(), "all": asked.args.all,
            "hosts": hosts.names.len(), "host_arcs": hosts.graph.arcs(),
            "dead_ends": dead_ends, "orphans": orphans,
            "components": weak.sizes.len(), "largest_component": weak.largest(),
            "strong_components": strong.sizes.len(), "largest_strong_component": strong.largest(),
            "depths": depths, "unreached": unreached, "bits_per_link": bits,
        });
        return Ok(serde_json::to_string_pretty(&whole)?);
    }
    let nodes = u64::from(graph.nodes());
    let of = match asked.args.all {
        true => "; all URLs that are known".to_owned(),
        false => format!(", of {} URLs that links lead to (--all)", count(extent.nodes.into())),
    };
    let average = graph.arcs() as f64 / nodes.max(1) as f64;
    let lines = [
        ("pages", format!("{}{of}", count(nodes))),
        (
            "links",
            format!("{} between them, {average:.1} of a page on average", count(graph.arcs())),
        ),
        (
            "hosts",
            format!(
                "{}, {} links between them",
                count(hosts.names.len() as u64),
                count(hosts.graph.arcs())
            ),
        ),
        ("dead ends", format!("{} that lead to none of the others", count(dead_ends))),
        ("orphans", format!("{} that none of the others links to (--orphans)", count(orphans))),
        ("parts", parts(&weak.sizes, weak.largest(), strong.largest())),
        ("depth", in_depths(&depths, unreached)),
        ("size", format!("{bits:.1} bits a link, in graph/links.graph")),
    ];
    Ok(lines.map(|(name, text)| format!("{name:<10} {text}")).join("\n"))
}

fn parts(sizes: &[u32], largest: u32, strong: u32) -> String {
    let parts = human::counted(sizes.len() as u64, "part", "parts");
    let [largest, strong] = [largest, strong].map(|pages| count(pages.into()));
    format!(
        "{parts} without links between them, the largest of {largest}; {strong} can all reach each other"
    )
}

/// Bits of the compressed graph for each of its arcs.
fn bits_per_link(asked: &Asked<'_>) -> f64 {
    let path = asked.stored.basename().with_extension("graph");
    let bytes = fs::metadata(path).map_or(0, |file| file.len());
    8.0 * bytes as f64 / asked.stored.extent().arcs.max(1) as f64
}
