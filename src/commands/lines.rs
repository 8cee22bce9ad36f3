//! What the program adds to a crawl: the search index, and one line per URL while it runs, JSON for
//! programs (`--jsonl`) and words for people (`-v`).
//!
//! The lines are a copy, not a record: they go out when a URL is settled, and after a crash some may come
//! again. The record is `logs/crawl.jsonl`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use larm_crawl::store::{CallSink, CrawlLogSink, Kept, StorePlan};
use larm_crawl::{Crawl, Plan, Sink, Visit};
use larm_search::SearchSink;

use crate::cli::RunArgs;
use crate::config::Config;
use crate::config::file::is_dash;
use crate::console::Console;
use crate::human;

/// Adds what was asked for to a crawl.
pub fn add_sinks(
    mut crawl: Crawl,
    plan: &Plan,
    config: &Config,
    run: &RunArgs,
    console: &Console,
) -> Result<Crawl> {
    match config.settings.no_index {
        Some(true) => SearchSink::go_on_without(&plan.dir),
        _ => crawl = crawl.sink(SearchSink::new(&plan.dir, &plan.limits)),
    }
    if let Some(path) = &config.settings.jsonl {
        crawl = crawl.sink(for_programs(path, plan)?);
    }
    if run.verbose > 0 {
        let console = console.clone();
        crawl = crawl.sink(CallSink::new("console", move |visit: &Visit, _: &Kept| {
            console.say(in_words(visit));
            Ok(())
        }));
    }
    Ok(crawl)
}

/// The crawl log's own lines, written to a file or to standard output.
fn for_programs(path: &Path, plan: &Plan) -> Result<impl Sink + use<>> {
    let mut out = Some(open(path)?);
    let encode = CrawlLogSink::new(Arc::new(store_plan(plan))).encoder();
    Ok(CallSink::new("jsonl", move |visit: &Visit, kept: &Kept| {
        let mut line = encode(visit).bytes;
        if let Some(place) = &kept.warc {
            let place = format!(",\"warc\":\"{}\",\"offset\":{}", place.name, place.offset);
            line.extend_from_slice(place.as_bytes());
        }
        line.extend_from_slice(b"}\n");
        // A reader that went away must not end the crawl.
        out = write_on(out.take(), &line);
        Ok(())
    }))
}

/// Writes to it, and keeps it as long as that works.
fn write_on(out: Option<Box<dyn Write + Send>>, bytes: &[u8]) -> Option<Box<dyn Write + Send>> {
    let mut out = out?;
    out.write_all(bytes).and_then(|()| out.flush()).ok().map(|()| out)
}

fn open(path: &Path) -> Result<Box<dyn Write + Send>> {
    if is_dash(path) {
        return Ok(Box::new(io::stdout()));
    }
    let file = OpenOptions::new().create(true).append(true).open(path);
    Ok(Box::new(file.with_context(|| format!("--jsonl {}", path.display()))?))
}

/// Only the encoder of the log is used, and it looks at the visit alone.
fn store_plan(plan: &Plan) -> StorePlan {
    StorePlan {
        dir: plan.dir.clone(),
        crawl_id: String::new(),
        title: String::new(),
        user_agent: plan.fetch.user_agent.clone(),
        robots: String::new(),
        operator: None,
        contact: None,
        accept: plan.selection.accept.clone(),
        limits: plan.limits.clone(),
    }
}

fn in_words(visit: &Visit) -> String {
    let url = &visit.url;
    let what = larm_crawl::explain::outcome_in_words(&visit.outcome);
    let size = visit.exchange.as_ref().map(|exchange| exchange.payload().len() as u64);
    let size = size.map(|bytes| format!(", {}", human::bytes(bytes))).unwrap_or_default();
    format!("{url}  {what}{size}, {} ms", visit.timings.total_ms)
}
