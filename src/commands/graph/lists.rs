//! Lists of pages and hosts: the foremost, those without links to them, by distance.

use anyhow::Result;
use larm_graph::hosts::host_graph;
use larm_graph::rank::{UNREACHED, depths, in_degrees, tally, top as foremost};
use serde_json::{Value, json};

use super::{Asked, backlinks, scores};
use crate::cli::GraphOrder;
use crate::human::count;

/// Pages that are named for each distance.
const EXAMPLES: usize = 3;

/// The foremost pages.
pub(super) fn top(asked: &Asked<'_>, limit: usize) -> Result<String> {
    let (graph, by) = (&asked.view.graph, asked.args.by);
    let scores = scores(graph, by, &asked.how());
    let links = in_degrees(graph);
    let mut rows = Vec::new();
    for node in foremost(&scores, limit) {
        let (score, links) = (scores[node as usize], links[node as usize]);
        rows.push((asked.url(node)?, score, links, graph.degree(node)));
    }
    if asked.args.json {
        let row = |(url, score, links, out): &(String, f64, u32, u32)| json!({"url": url, "score": score, "backlinks": links, "links": out});
        return Ok(serde_json::to_string_pretty(&rows.iter().map(row).collect::<Vec<_>>())?);
    }
    let head = format!("{:>12} {:>9} {:>7}  page", heading(by), "linked by", "links");
    let lines = rows.iter().map(|(url, score, links, out)| {
        let (links, out) = (count(u64::from(*links)), count(u64::from(*out)));
        format!("{:>12} {links:>9} {out:>7}  {url}", shown(by, *score))
    });
    Ok(std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n"))
}

fn heading(by: GraphOrder) -> &'static str {
    match by {
        GraphOrder::Pagerank => "PageRank",
        GraphOrder::Backlinks => "back-links",
        GraphOrder::Hubs => "hub",
        GraphOrder::Authorities => "authority",
    }
}

/// A score for people: counts as counts, shares of the whole in per cent.
fn shown(by: GraphOrder, score: f64) -> String {
    match by {
        GraphOrder::Backlinks => count(score as u64),
        _ => format!("{:.4} %", 100.0 * score),
    }
}

/// The foremost hosts in the graph between hosts.
pub(super) fn hosts(asked: &Asked<'_>, limit: usize) -> Result<String> {
    let mut urls = asked.stored.nodes().lookup();
    let url = |node: u32| -> Result<String> {
        Ok(urls.url(asked.view.stored[node as usize])?.to_owned())
    };
    let hosts = host_graph(&asked.view.graph, url)?;
    let by = asked.args.by;
    let scores = scores(&hosts.graph, by, &asked.how());
    let links = in_degrees(&hosts.graph);
    let rows = foremost(&scores, limit).into_iter().map(|host| {
        let index = host as usize;
        (
            &hosts.names[index],
            scores[index],
            links[index],
            hosts.graph.degree(host),
            hosts.pages[index],
        )
    });
    if asked.args.json {
        let rows = rows.map(|(host, score, links, out, pages)| {
            json!({"host": host, "score": score, "backlinks": links, "links": out, "pages": pages})
        });
        return Ok(serde_json::to_string_pretty(&rows.collect::<Vec<_>>())?);
    }
    let head =
        format!("{:>12} {:>9} {:>7} {:>9}  host", heading(by), "linked by", "links", "pages");
    let lines = rows.map(|(host, score, links, out, pages)| {
        let [links, out, pages] = [links, out, pages].map(|number| count(u64::from(number)));
        format!("{:>12} {links:>9} {out:>7} {pages:>9}  {host}", shown(by, score))
    });
    Ok(std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n"))
}

/// Pages that no other page links to.
pub(super) fn orphans(asked: &Asked<'_>) -> Result<String> {
    let links = backlinks(&asked.view.graph);
    let facts = asked.stored.nodes().facts();
    let mut urls = asked.stored.nodes().lookup();
    let mut rows = Vec::new();
    for (node, _) in links.iter().enumerate().filter(|(_, links)| **links == 0) {
        let stored = asked.view.stored[node];
        let via = facts[stored as usize].map_or("sitemap", |facts| facts.via.word());
        rows.push((urls.url(stored)?.to_owned(), via));
    }
    if asked.args.json {
        let rows: Vec<Value> =
            rows.iter().map(|(url, via)| json!({"url": url, "found": via})).collect();
        return Ok(serde_json::to_string_pretty(&rows)?);
    }
    if rows.is_empty() {
        return Ok("Every page has a link from another one.".to_owned());
    }
    let lines = rows.iter().map(|(url, via)| format!("{via:<10} {url}"));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// How many pages are how many links away from a seed, with examples.
pub(super) fn depth(asked: &Asked<'_>) -> Result<String> {
    let depths = depths(&asked.view.graph, asked.seeds());
    let (counts, unreached) = tally(&depths);
    let mut rows = Vec::new();
    let distances = (0..counts.len() as u32).chain((unreached > 0).then_some(UNREACHED));
    for distance in distances {
        let nodes = depths.iter().enumerate().filter(|(_, depth)| **depth == distance);
        let examples = nodes.take(EXAMPLES).map(|(node, _)| asked.url(node as u32));
        let pages = counts.get(distance as usize).copied().unwrap_or(unreached);
        rows.push((distance, pages, examples.collect::<Result<Vec<_>>>()?));
    }
    if asked.args.json {
        let rows = rows.iter().map(|(distance, pages, examples)| {
            let distance = Some(distance).filter(|distance| **distance != UNREACHED);
            json!({"depth": distance, "pages": pages, "examples": examples})
        });
        return Ok(serde_json::to_string_pretty(&rows.collect::<Vec<_>>())?);
    }
    let lines = rows.iter().map(|(distance, pages, examples)| {
        let name = match *distance {
            UNREACHED => "no path".to_owned(),
            distance => distance.to_string(),
        };
        format!("{name:>7} {:>10}  {}", count(*pages), examples.join(" "))
    });
    let head = format!("{:>7} {:>10}  such as", "links", "pages");
    Ok(std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n"))
}

/// How many pages are at each distance from a seed, and how many cannot be reached.
pub(super) fn depth_counts(asked: &Asked<'_>) -> (Vec<u64>, u64) {
    tally(&depths(&asked.view.graph, asked.seeds()))
}

/// `1 seed, 20 at 1, 400 at 2 links; 3 cannot be reached`.
pub(super) fn in_depths(counts: &[u64], unreached: u64) -> String {
    const SHOWN: usize = 8;
    let shown = counts.iter().enumerate().take(SHOWN);
    let shown = shown.map(|(depth, pages)| format!("{depth}: {}", count(*pages)));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if counts.len() > SHOWN {
        text.push_str(&format!(", … to {}", counts.len() - 1));
    }
    format!("{text} links from a seed; {} without a path (--depth)", count(unreached))
}
