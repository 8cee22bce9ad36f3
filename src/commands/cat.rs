//! `larm cat`: a page from the archive.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use larm_core::Limits;
use larm_core::parse::{Input, Part};
use larm_crawl::archived::{Answer, RecordPlace, read_answer};
use larm_crawl::explain::{Stand, outcome_in_words};
use larm_crawl::frontier::PageRow;
use serde_json::{Value, json};

use super::inspect::page::{facts, markdown_of};
use super::lookup::Lookup;
use crate::cli::CatArgs;
use crate::exit::{Exit, shell_word, shown, usage};
use crate::human;
use crate::pdf::parse_any;

/// Prints it.
pub fn cat(args: &CatArgs) -> Result<Exit> {
    if args.whole && !args.form.text && !args.form.markdown {
        return Err(usage("--whole goes with --text or --markdown".to_owned()));
    }
    let lookup = Lookup::open(&args.dir)?;
    let found = lookup.find(&args.url)?;
    let why = format!("larm why {} {}", shown(&args.dir), shell_word(&args.url));
    let Stand::Settled { page } = found.stand else {
        return Err(usage(format!("{} is not in the archive; ask: {why}", found.url)));
    };
    if page.warc.is_none() {
        let what = outcome_in_words(&page.outcome);
        return Err(usage(format!("{} is not in the archive ({what}); ask: {why}", page.url)));
    }
    let archived = read(&lookup, args, &page)?;
    let limits = lookup.limits().clone();
    // Whoever reads what is printed may take their time, and others want the crawl.
    drop(lookup);
    print(&limits, args, &page, &archived)?;
    Ok(Exit::Done)
}

/// Reads a record, and for a revisit the one that it stands for.
fn read(lookup: &Lookup, args: &CatArgs, page: &PageRow) -> Result<Answer> {
    let place_of = |row: &PageRow| {
        let place = row.warc.as_ref()?;
        Some(RecordPlace { name: place.name.to_string(), offset: place.offset })
    };
    let place = place_of(page).with_context(|| format!("{} is not in the archive", page.url))?;
    let original = |url: &str| {
        let row =
            lookup.page(url).map_err(|error| larm_crawl::Error::Stopped(format!("{error:#}")))?;
        Ok(row.as_ref().and_then(place_of))
    };
    Ok(read_answer(&args.dir, &place, lookup.limits(), original)?)
}

fn print(limits: &Limits, args: &CatArgs, page: &PageRow, archived: &Answer) -> Result<()> {
    let mut out = io::stdout().lock();
    if args.form.headers {
        return Ok(out.write_all(&head_of(page, archived))?);
    }
    if args.form.raw {
        out.write_all(&archived.head)?;
        return Ok(out.write_all(&archived.payload)?);
    }
    let body = archived.body(limits);
    let url = larm_core::url::resolve(&page.url, None, None)?;
    let content_type = page.content_type.as_deref();
    let input = Input { url: &url, content_type, body: &body, text: true };
    if args.form.text {
        let page = parse_any(&input, limits);
        let text = if args.whole { page.text } else { page.main_text() };
        return Ok(writeln!(out, "{}", human::plain(text.trim_end()))?);
    }
    if args.form.markdown {
        let page = parse_any(&input, limits);
        let part = if args.whole { Part::Whole } else { Part::Main };
        let text = markdown_of(&input, &page, part, limits);
        return Ok(writeln!(out, "{}", human::plain(text.trim_end()))?);
    }
    if args.form.json {
        let whole = everything(page, archived, facts(&input, limits));
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&whole)?)?);
    }
    if io::stdout().is_terminal() && is_binary(&body) {
        return Err(usage(format!(
            "{} is no text and would upset your terminal; send it to a file with `> FILE`",
            page.url
        )));
    }
    Ok(out.write_all(&body)?)
}

/// The head as it was sent, or what is known of a file in its form.
fn head_of(page: &PageRow, archived: &Answer) -> Vec<u8> {
    if !archived.head.is_empty() {
        return archived.head.clone();
    }
    let kind = page.content_type.as_deref().map(|kind| format!("content-type: {kind}\n"));
    let facts = page.facts.iter().map(|fact| format!("{}: {}\n", fact.name, fact.value));
    kind.into_iter().chain(facts).collect::<String>().into_bytes()
}

fn everything(page: &PageRow, archived: &Answer, facts: Value) -> Value {
    let head = String::from_utf8_lossy(&archived.head);
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let headers: Vec<_> = fields.map(|(name, value)| json!([name.trim(), value.trim()])).collect();
    let mut whole = json!({
        "url": page.url,
        "status": page.outcome.status(),
        "at": page.at.to_string(),
        "depth": page.depth,
        "via": page.via,
        "parent": page.parent,
        "content_type": page.content_type,
        "headers": headers,
        "warc": page.warc,
        "same_as": page.same_as.as_ref().map(|same| &same.url),
    });
    if let (Value::Object(whole), Value::Object(facts)) = (&mut whole, facts) {
        whole.extend(facts);
    }
    whole
}

/// Control characters that no text has tell binary data from text.
fn is_binary(body: &[u8]) -> bool {
    let unusual = |byte: &u8| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127);
    body.iter().take(4_096).any(unusual)
}
