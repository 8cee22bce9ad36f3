//! `larm links`: who links to a page, and where it leads.
//!
//! Asked of the link log, which a running crawl may be writing: it is read as far as it goes.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use larm_crawl::directory;
use larm_crawl::explain::outcome_in_words;
use larm_crawl::frontier::PageRow;
use larm_graph::LinkFact;
use larm_graph::log::{self, LogReader, Visit};
use larm_graph::query::{InLink, OutLinks, in_links, out_links};
use serde_json::{Value, json};

use super::lookup::Lookup;
use crate::cli::LinksArgs;
use crate::exit::Exit;
use crate::human;

/// Prints them.
pub fn links(args: &LinksArgs) -> Result<Exit> {
    let Some(url) = &args.url else { return dump(&args.dir) };
    let url = Lookup::open(&args.dir)?.find(url)?.url;
    let incoming = match args.outgoing {
        true => None,
        false => Some(in_links(&args.dir, &url, args.limit)?),
    };
    let outgoing = match args.incoming {
        true => None,
        false => Some(outgoing(&args.dir, &url, args.limit)?),
    };
    let text = match args.json {
        true => serde_json::to_string_pretty(&as_json(&url, incoming, outgoing))?,
        false => human::plain(&in_words(&url, incoming, outgoing)),
    };
    writeln!(std::io::stdout(), "{}", text.trim_end())?;
    Ok(Exit::Done)
}

/// The links of a page, each with what became of its target.
struct Outgoing {
    /// `None` where the page was not visited.
    page: Option<OutLinks>,
    /// What became of the first targets.
    targets: Vec<Option<PageRow>>,
}

fn outgoing(dir: &Path, url: &str, limit: usize) -> Result<Outgoing> {
    let page = out_links(dir, url)?;
    let lookup = Lookup::open(dir)?;
    let links = page.iter().flat_map(OutLinks::links).take(limit);
    let targets = links.map(|link| lookup.page(link.to)).collect::<Result<_>>()?;
    Ok(Outgoing { page, targets })
}

/// A link to a page, for programs.
pub fn in_json(link: &InLink) -> Value {
    let InLink { from, position, of, via, text, rel, verdict } = link;
    json!({
        "from": from, "position": position, "of": of, "via": via.word(), "text": text, "rel": rel,
        "verdict": verdict,
    })
}

fn out_json(link: LinkFact<'_>, position: usize) -> Value {
    let LinkFact { to, via, text, rel, verdict } = link;
    json!({
        "to": to, "position": position, "via": via.word(), "text": text, "rel": rel,
        "verdict": verdict,
    })
}

fn as_json(url: &str, incoming: Option<(Vec<InLink>, bool)>, outgoing: Option<Outgoing>) -> Value {
    let mut whole = json!({ "url": url });
    if let Some((links, more)) = incoming {
        whole["in"] = links.iter().map(in_json).collect();
        whole["in_more"] = more.into();
    }
    if let Some(Outgoing { page: Some(page), targets }) = outgoing {
        let links = page.links().zip(&targets).enumerate().map(|(index, (link, target))| {
            let mut line = out_json(link, index + 1);
            if let Some(row) = target {
                line["outcome"] = row.outcome.word().into();
                line["status"] = row.outcome.status().into();
            }
            line
        });
        whole["out"] = links.collect();
        whole["out_more"] = (page.links().len() > targets.len()).into();
    }
    whole
}

fn in_words(
    url: &str,
    incoming: Option<(Vec<InLink>, bool)>,
    outgoing: Option<Outgoing>,
) -> String {
    let mut lines = vec![url.to_owned()];
    if let Some((links, more)) = incoming {
        lines.extend(incoming_words(&links, more));
    }
    if let Some(outgoing) = outgoing {
        lines.extend(outgoing_words(&outgoing));
    }
    lines.join("\n")
}

fn incoming_words(links: &[InLink], more: bool) -> Vec<String> {
    if links.is_empty() {
        return vec!["  no page links to it, as far as pages were fetched".to_owned()];
    }
    let count = human::counted(links.len() as u64, "link", "links");
    let cut = if more { "first " } else { "" };
    let mut lines = vec![format!("  {cut}{count} to it, from")];
    lines.extend(links.iter().map(|link| {
        let InLink { from, position, of, via, text, rel, verdict } = link;
        let label = label(LinkFact { to: "", via: *via, text, rel, verdict });
        format!("    {from}  {label}, link {position} of {of}{}", objection(verdict))
    }));
    lines
}

fn outgoing_words(Outgoing { page, targets }: &Outgoing) -> Vec<String> {
    let Some(page) = page else { return vec!["  it was not visited".to_owned()] };
    let count = page.links().len();
    if count == 0 {
        return vec![format!("  it leads nowhere ({})", page.visit.ended.word())];
    }
    let counted = human::counted(count as u64, "link", "links");
    let cut = match targets.len() < count {
        true => format!(", the first {} of them", targets.len()),
        false => String::new(),
    };
    let mut lines = vec![format!("  it has {counted}, in this order{cut}")];
    lines.extend(page.links().zip(targets).enumerate().map(|(index, (link, target))| {
        let fate = match target {
            Some(row) => format!(": {}", outcome_in_words(&row.outcome)),
            None if link.is_rejected() => objection(link.verdict),
            None => ": not fetched yet".to_owned(),
        };
        format!("    {}. {}  {}{fate}", index + 1, link.to, label(link))
    }));
    lines
}

/// What a reader sees of a link, or how it was found; and its rel.
fn label(link: LinkFact<'_>) -> String {
    let text = match link.text {
        "" => format!("({})", link.via.word()),
        text => format!("“{}”", human::cut(text, 60)),
    };
    let rel = if link.rel.is_empty() { String::new() } else { format!(" rel={}", link.rel) };
    format!("{text}{rel}")
}

fn objection(verdict: &str) -> String {
    let is_none = verdict == larm_graph::link::PASSED;
    if is_none { String::new() } else { format!(": not followed, {verdict}") }
}

/// Prints every visit with its links, one JSON object a line.
fn dump(dir: &Path) -> Result<Exit> {
    directory::identify(dir)?;
    let path = log::path_in(dir);
    let mut reader = LogReader::open(&path).context("the crawl has no link log")?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut visit = Visit::default();
    while reader.next(&mut visit)? {
        let links = visit.links.iter().enumerate();
        let links =
            links.map(|(index, &number)| out_json(reader.chapter().link(number), index + 1));
        let line = json!({
            "from": visit.url, "at": visit.at.to_string(), "outcome": visit.ended.word(),
            "status": visit.ended.status(), "via": visit.via.word(), "depth": visit.depth,
            "links": links.collect::<Vec<_>>(),
        });
        serde_json::to_writer(&mut out, &line).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
