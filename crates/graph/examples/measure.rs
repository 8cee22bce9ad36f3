//! What links and graphs cost, for whoever runs it under `time`.
//!
//! `measure log FILE PAGES` writes a link log of pages with 71 links each, on hosts of 200 pages;
//! `measure json PAGES` makes the same links into packed JSON lines, for comparison;
//! `measure scan FILE` reads a log; `measure build DIR` makes the graph of a crawl directory;
//! `measure pagerank NODES` ranks a made-up graph of 20 arcs a node; `measure rank FILE` one that is given.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use larm_core::via::Via;
use larm_core::{Limits, Millis};
use larm_graph::log::{Ended, LogReader, LogWriter, Visit, VisitHead};
use larm_graph::rank::{PageRank, Scores, pagerank};
use larm_graph::{Graph, LinkFact, stored};

type Done = Result<(), Box<dyn std::error::Error>>;

fn main() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["log", file, pages] => write_log(file, pages.parse()?),
        ["json", pages] => write_json(pages.parse()?),
        ["scan", file] => scan(file),
        ["build", dir] => Ok(stored::build(Path::new(dir), &Limits::default(), &mut |_| ())?),
        ["pagerank", nodes] => say(&pagerank(&made_up(nodes.parse()?), &PageRank::default())),
        ["rank", file] => {
            say(&pagerank(&Graph::read(Path::new(file), &Limits::default())?, &PageRank::default()))
        }
        _ => Err("see the head of this file".into()),
    }
}

/// Numbers that look random and are the same every time.
fn random(seed: u64) -> u64 {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

const WORDS: [&str; 8] = ["harbour", "the", "quiet", "archive", "of", "winter", "ledgers", "rooms"];

fn url(host: u64, page: u64) -> String {
    let [first, second] = [page, page / 7].map(|word| WORDS[(word % 8) as usize]);
    format!("http://h{host}.bench.test:8080/{first}/{second}-{page}.html")
}

/// A page's links: target and text.
fn links_of(page: u64) -> Vec<(String, String)> {
    let (host, own) = (page / 200, page % 200);
    let link = |place: u64| {
        let dice = random(page * 71 + place);
        let host = if dice.is_multiple_of(13) { dice % 100 } else { host };
        let target = if place < 20 { place } else { (dice >> 8) % 200 };
        let text =
            format!("{} {} {target}", WORDS[(target % 8) as usize], WORDS[(own % 8) as usize]);
        (url(host, target), text)
    };
    (0..71).map(link).collect()
}

fn write_log(file: &str, pages: u64) -> Done {
    let limits = Limits::default();
    let mut log = LogWriter::new(limits.links_chapter_bytes_max)?;
    let (mut out, mut written) = (File::create(file)?, 0);
    let mut block = Vec::new();
    for page in 0..pages {
        let (url, links) = (url(page / 200, page % 200), links_of(page));
        let head = VisitHead {
            url: &url,
            at: Millis(1_700_000_000_000 + page),
            ended: Ended::Fetched(200),
            via: Via::Anchor,
            depth: 3,
        };
        let links = links.iter();
        let links = links.map(|(to, text)| LinkFact { text, ..LinkFact::new(to, Via::Anchor) });
        log.add(&head, links);
        // About what comes together in a tenth of a second.
        if page % 200 == 199 {
            block.clear();
            log.pack(written, &mut block)?;
            out.write_all(&block)?;
            written += block.len() as u64;
        }
    }
    writeln!(io::stdout(), "{pages} pages, {written} bytes")?;
    Ok(())
}

fn write_json(pages: u64) -> Done {
    let (mut lines, mut written) = (Vec::new(), 0);
    for page in 0..pages {
        let links = links_of(page);
        write!(lines, "{{\"from\":\"{}\",\"links\":[", url(page / 200, page % 200))?;
        for (to, text) in &links {
            write!(lines, "{{\"to\":\"{to}\",\"text\":\"{text}\"}},")?;
        }
        lines.extend_from_slice(b"]}\n");
        if page % 200 == 199 {
            written += zstd::bulk::compress(&lines, 1)?.len();
            lines.clear();
        }
    }
    writeln!(io::stdout(), "{pages} pages, {written} bytes")?;
    Ok(())
}

fn scan(file: &str) -> Done {
    let (mut reader, mut visit) = (LogReader::open(Path::new(file))?, Visit::default());
    let (mut visits, mut links) = (0_u64, 0);
    while reader.next(&mut visit)? {
        visits += 1;
        links += visit.links.len();
    }
    writeln!(io::stdout(), "{visits} visits, {links} links")?;
    Ok(())
}

/// A graph in which most arcs lead to near nodes, and some to a few famous ones.
fn made_up(nodes: u64) -> Graph {
    let mut builder = Graph::builder(nodes * 20);
    let mut row = Vec::new();
    for node in 0..nodes {
        row.clear();
        for place in 0..20 {
            let dice = random(node * 20 + place);
            let to = match dice % 10 {
                0 => dice / 10 % (nodes / 1_000 + 1),
                1 => dice / 10 % nodes,
                _ => (node + dice / 10 % 200) % nodes,
            };
            row.push(to as u32);
        }
        row.sort_unstable();
        row.dedup();
        builder.push(&row);
    }
    builder.finish()
}

fn say(scores: &Scores) -> Done {
    let Scores { values, rounds, change } = scores;
    writeln!(io::stdout(), "{} nodes, {rounds} rounds, {change:e}", values.len())?;
    Ok(())
}
