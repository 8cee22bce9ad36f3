//! `larm why`: was a URL fetched; if not, which rule said no, and who links to it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use anyhow::Result;
use larm_core::Outcome;
use larm_core::parse::Note;
use larm_crawl::explain::{Explanation, Stand, outcome_in_words};
use larm_crawl::frontier::{PageRow, Ranked};
use larm_graph::query::{InLink, in_links};
use serde_json::json;

use super::links::in_json;
use super::lookup::Lookup;
use crate::cli::WhyArgs;
use crate::exit::{Exit, shell_word, shown};
use crate::progress::waiting_for;
use crate::{human, worth};

/// Links that are looked for.
const LINKS_MAX: usize = 20;
/// Links that are shown to people.
const LINKS_SHOWN: usize = 5;

/// What is known of the links to a URL.
#[derive(Debug, Default)]
struct Linked {
    /// The first of them.
    links: Vec<InLink>,
    /// Pages with more links than were kept. Looked for only where no link was found.
    cut_pages: u64,
}

impl Linked {
    fn find(dir: &Path, url: &str) -> Result<Self> {
        let (links, _) = in_links(dir, url, LINKS_MAX)?;
        let cut_pages = if links.is_empty() { cut_pages(dir) } else { 0 };
        Ok(Self { links, cut_pages })
    }

    /// That nobody links to it, as far as that is known.
    fn nobody(&self) -> String {
        let cut = human::counted(self.cut_pages, "page has", "pages have");
        match self.cut_pages {
            0 => "no page that was fetched links to it".to_owned(),
            _ => format!(
                "no link to it was kept, but {cut} more links than the limit `page_links_max` or \
                 `sitemap_urls_max`"
            ),
        }
    }
}

/// Prints the answer.
pub fn why(args: &WhyArgs) -> Result<Exit> {
    let lookup = Lookup::open(&args.dir)?;
    let found = lookup.find(&args.url)?;
    let robots = lookup.robots(&found.url);
    drop(lookup);
    let linked = Linked::find(&args.dir, &found.url)?;
    let text = if args.json {
        let whole = json!({
            "url": found.url, "stand": found.stand, "alias": found.alias, "robots": robots,
            "linked_from": linked.links.iter().map(in_json).collect::<Vec<_>>(),
            "pages_cut": linked.cut_pages,
        });
        serde_json::to_string_pretty(&whole)?
    } else {
        human::plain(&in_words(&args.dir, &found, robots.as_deref(), &linked))
    };
    writeln!(std::io::stdout(), "{}", text.trim_end())?;
    Ok(Exit::Done)
}

fn in_words(dir: &Path, found: &Explanation, robots: Option<&str>, linked: &Linked) -> String {
    let mut out = format!("{}\n", found.url);
    let mut line = |text: String| {
        // Writing to a text cannot fail.
        let _ = writeln!(out, "  {text}");
    };
    match &found.stand {
        Stand::Settled { page } => settled(dir, page).into_iter().for_each(&mut line),
        Stand::Waiting { host, finding, order, rejected_by } => {
            line(match rejected_by {
                None => "waiting: known, in scope, and not fetched yet".to_owned(),
                Some(rule) => format!("waiting, and left out when its turn comes: {rule}"),
            });
            order.iter().map(in_order).for_each(&mut line);
            let lines = finding.iter().flat_map(|finding| worth::why_waiting(finding, dir));
            lines.for_each(&mut line);
            let budget = host.as_ref().and_then(|host| worth::why_spent(host, dir));
            budget.into_iter().for_each(&mut line);
            host.as_ref().and_then(waiting_for).into_iter().for_each(&mut line);
        }
        Stand::Unknown { rejected_by } => {
            let why = unknown(rejected_by.as_deref(), linked);
            line(format!("not part of this crawl: {why}"));
        }
    }
    if let Some(alias) = &found.alias {
        line(format!("its host is an alias of {alias}"));
    }
    if let Some(robots) = robots.filter(|_| !is_denied(&found.stand)) {
        line(format!("robots.txt {robots}"));
    }
    linked_from(linked).into_iter().for_each(&mut line);
    out
}

/// How a waiting URL stands in the order of the crawl.
fn in_order(ranked: &Ranked) -> String {
    let Ranked { by, worth, ahead } = ranked;
    let ahead = match ahead {
        0 => "it is the next of its host".to_owned(),
        1 => "1 URL of its host comes before it".to_owned(),
        ahead => format!("{} URLs of its host come before it", human::count(*ahead)),
    };
    format!("by {by} it is worth {worth:.2} (an average page: about 1); {ahead}")
}

fn settled(dir: &Path, page: &PageRow) -> Vec<String> {
    let mut what = outcome_in_words(&page.outcome);
    if let Some(content_type) = &page.content_type {
        let _ = write!(what, ", {content_type}");
    }
    if page.bytes > 0 {
        let _ = write!(what, ", {}", human::bytes(page.bytes));
    }
    let _ = write!(what, ", {}", page.at);
    let found = match &page.parent {
        Some(parent) => {
            format!("found on {parent} (as {}, {} from a seed)", page.via, hops(page.depth))
        }
        None => format!("found as {}", page.via),
    };
    let mut lines = vec![what, found];
    if let Some(original) = &page.same_as {
        lines.push(format!("the same body as {}", original.url));
    }
    lines.extend(page.facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value)));
    lines.extend(page.notes.iter().map(|note| format!("note: {note}")));
    if let Some(place) = &page.warc {
        let cat = format!("larm cat {} {}", shown(dir), shell_word(&page.url));
        lines.push(format!("kept in warc/{} at byte {}; {cat}", place.name, place.offset));
    }
    lines
}

fn hops(depth: u32) -> String {
    human::counted(u64::from(depth), "hop", "hops")
}

/// The rule that said no: as the link log has it, since it may depend on where the link was found.
fn unknown(rejected_by: Option<&str>, linked: &Linked) -> String {
    let logged = linked.links.iter().map(|link| link.verdict.as_str());
    let mut logged = logged.filter(|verdict| !is_accepted(verdict));
    match (logged.next(), rejected_by) {
        (Some(verdict), _) => verdict.to_owned(),
        (None, Some(rule)) => rule.to_owned(),
        (None, None) => linked.nobody(),
    }
}

/// Whether a verdict of the link log is no objection.
fn is_accepted(verdict: &str) -> bool {
    matches!(verdict, "ok" | "new" | "seen")
}

fn is_denied(stand: &Stand) -> bool {
    matches!(stand, Stand::Settled { page } if matches!(page.outcome, Outcome::Denied { .. }))
}

fn linked_from(linked: &Linked) -> Vec<String> {
    let links = &linked.links;
    if links.is_empty() {
        return vec![linked.nobody()];
    }
    let count = match links.len() {
        LINKS_MAX => format!("{LINKS_MAX} links or more"),
        count => human::counted(count as u64, "link", "links"),
    };
    let shown = links.iter().take(LINKS_SHOWN).map(|link| {
        let text = match link.text.as_str() {
            "" => format!("({})", link.via.word()),
            text => format!("“{}”", human::cut(text, 60)),
        };
        let objection = Some(&link.verdict).filter(|verdict| !is_accepted(verdict));
        let objection = objection.map(|verdict| format!(": {verdict}")).unwrap_or_default();
        format!("  {} {text}{objection}", link.from)
    });
    std::iter::once(format!("{count} to it, from")).chain(shown).collect()
}

/// Pages of which the crawl log says that they have more links than were kept.
fn cut_pages(dir: &Path) -> u64 {
    let notes = [Note::LinksTruncated, Note::SitemapTruncated];
    let needles = notes.map(|note| format!("\"{}\"", note.word()));
    let Ok(file) = File::open(dir.join("logs").join("crawl.jsonl")) else { return 0 };
    let lines = BufReader::new(file).lines().map_while(std::result::Result::ok);
    lines.filter(|line| needles.iter().any(|needle| line.contains(needle))).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(verdict: &str) -> InLink {
        InLink {
            from: "http://h/".to_owned(),
            position: 1,
            of: 1,
            via: larm_core::Via::Anchor,
            text: String::new(),
            rel: String::new(),
            verdict: verdict.to_owned(),
        }
    }

    #[test]
    fn the_alias_of_a_host_is_told() {
        let found = Explanation {
            url: "https://www.h.example/".to_owned(),
            stand: Stand::Unknown { rejected_by: None },
            alias: Some("edge.example.net".to_owned()),
        };
        let text = in_words(Path::new("d"), &found, None, &Linked::default());
        assert!(text.contains("its host is an alias of edge.example.net"), "{text}");
    }

    #[test]
    fn the_link_log_knows_best_why_a_url_is_not_there() {
        let scope = "scope: another host";
        let linked = Linked { links: vec![link("ok"), link(scope)], cut_pages: 0 };
        assert_eq!(unknown(Some("depth: too far"), &linked), scope);
        assert_eq!(unknown(Some("depth: too far"), &Linked::default()), "depth: too far");
        assert!(unknown(None, &Linked::default()).contains("no page"));
    }

    #[test]
    fn pages_whose_links_were_cut_are_told_where_no_link_is_known() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("logs")).unwrap();
        let log = "{\"url\":\"http://h/links-truncated\"}\n{\"notes\":[\"links-truncated\"]}\n";
        std::fs::write(temp.path().join("logs/crawl.jsonl"), log).unwrap();
        let linked = Linked::find(temp.path(), "http://h/x").unwrap();
        assert_eq!(linked.cut_pages, 1);
        assert!(linked.nobody().contains("1 page has more links than"), "{}", linked.nobody());
    }
}
