//! `larm demo`: a small web on this machine, crawled before your eyes. No network is needed.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use larm_core::scope::ScopeMode;
use larm_crawl::Summary;
use larm_testsite::{TestSite, WebPlan};

use crate::cli::{DemoArgs, RunArgs};
use crate::config::value::Time;
use crate::config::{Config, Settings};
use crate::console::Console;
use crate::exit::{Exit, shell_word, shown};

/// The web is our own, and small: a short pause is enough to see how it goes.
const DELAY_MS: u64 = 100;
/// Far enough for every page; the calendar, which goes on for years, is left early.
const DEPTH: u32 = 8;

/// Crawls it.
pub fn demo(args: &DemoArgs) -> Result<Exit> {
    let site = TestSite::start(WebPlan::demo()).context("cannot serve a web on loopback")?;
    let dir = directory(args.keep)?;
    let run = RunArgs { verbose: 1, ..RunArgs::default() };
    let console = Console::new(&run);
    let hosts = site.resolve_rules().len();
    console.say(format!("serving a web of {hosts} hosts on loopback, and crawling it:\n"));
    let config = Config::new(settings(&site), Settings::default())?;
    let exit = super::crawl::launch(super::crawl::Launch {
        config,
        dir: dir.clone(),
        held: None,
        told: Vec::new(),
        run,
        console,
    })?;
    drop(site);
    print_next(&dir, args.keep)?;
    Ok(exit)
}

fn settings(site: &TestSite) -> Settings {
    let rules = site.resolve_rules().into_iter();
    Settings {
        seeds: site.seeds(),
        scope: Some(ScopeMode::Any),
        delay: Some(Time(DELAY_MS)),
        depth: Some(DEPTH),
        resolve: rules.map(|(name, port, address)| format!("{name}:{port}:{address}")).collect(),
        ..Settings::default()
    }
}

/// A directory that is not there yet.
fn directory(keep: bool) -> Result<PathBuf> {
    let parent = if keep { PathBuf::new() } else { std::env::temp_dir() };
    let name = |number: u32| parent.join(format!("larm-demo-{number}.larm"));
    for dir in (1..).map(name) {
        match std::fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("{}", dir.display())),
        }
    }
    unreachable!("numbers do not run out")
}

/// Commands that work on what was just crawled.
fn print_next(dir: &Path, keep: bool) -> Result<()> {
    let words = shown(dir);
    let found = examples(dir);
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nNow look around:")?;
    writeln!(out, "  larm status {words}")?;
    writeln!(out, "  larm search {words} WORDS")?;
    if let Some(page) = &found.page {
        writeln!(out, "  larm cat {words} {} --text", shell_word(page))?;
    }
    for url in [&found.denied, &found.missing, &found.page].into_iter().flatten().take(2) {
        writeln!(out, "  larm why {words} {}", shell_word(url))?;
    }
    writeln!(out, "  ls {words}/*   the archive, its index and the logs, readable without larm")?;
    if !keep {
        writeln!(out, "It lies among temporary files; `larm demo --keep` puts it here instead.")?;
    }
    Ok(())
}

/// URLs worth a look.
#[derive(Default)]
struct Examples {
    page: Option<String>,
    denied: Option<String>,
    missing: Option<String>,
}

/// Finds them in the crawl log.
fn examples(dir: &Path) -> Examples {
    let mut found = Examples::default();
    let log = std::fs::read_to_string(dir.join("logs").join("crawl.jsonl")).unwrap_or_default();
    for line in log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
    {
        let url = line["url"].as_str().map(str::to_owned);
        let html = line["type"].as_str().is_some_and(|kind| kind.starts_with("text/html"));
        match (line["outcome"].as_str(), line["status"].as_u64()) {
            (Some("fetched"), Some(200)) if html && line["depth"] != 0 => {
                found.page = found.page.or(url);
            }
            (Some("fetched"), Some(404)) if line["via"] != "robots" => {
                found.missing = found.missing.or(url);
            }
            (Some("denied"), _) => found.denied = found.denied.or(url),
            _ => {}
        }
    }
    found
}

/// The summary of a small crawl of a web on loopback: the self-test of `larm doctor`.
pub fn self_test() -> Result<Summary> {
    let plan = WebPlan { hosts: 1, pages_per_host: 3, ..WebPlan::default() };
    let site = TestSite::start(plan).context("cannot listen on loopback")?;
    let dir = directory(false)?;
    let settings = Settings { delay: Some(Time(0)), ..settings(&site) };
    let config = Config::new(settings, Settings::default())?;
    let plan = crate::config::plan::build(&config, dir.clone())?;
    let summary = super::block_on(async { Ok(larm_crawl::Crawl::new(plan).run().await?) });
    // Left-overs of a self-test among temporary files are no reason to complain.
    let _ = std::fs::remove_dir_all(&dir);
    summary
}
