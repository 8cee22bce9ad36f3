//! `larm inspect robots`: what a robots.txt says to an agent about URLs.

use std::io::Write;

use anyhow::Result;
use larm_core::Limits;
use larm_core::robots::{Robots, product_token};
use larm_core::signals::Signals;
use larm_core::url::resolve;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::InspectRobots;
use crate::human;

/// A line of `--jsonl`.
#[derive(Deserialize)]
pub struct Question {
    robots: String,
    agent: String,
    url: String,
}

/// Answers a line.
pub fn answer(question: Question, limits: &Limits) -> Value {
    let Some(path) = path_of(&question.url) else {
        return json!({"error": format!("not a URL: {}", question.url)});
    };
    let robots = Robots::parse(question.robots.as_bytes(), limits);
    let agent = product_token(&question.agent);
    let verdict = robots.judge(agent, &path);
    json!({
        "allowed": verdict.allowed,
        "rule": verdict.rule,
        "crawl_delay": robots.crawl_delay_ms(agent).map(seconds),
        "sitemaps": robots.sitemaps().collect::<Vec<_>>(),
        "signals": signals(&robots, agent, &path, limits),
    })
}

/// What the file says of the use of a path, one line each.
fn signals(robots: &Robots, agent: &str, path: &str, limits: &Limits) -> Vec<String> {
    let mut signals = Signals::default();
    for line in robots.signals(agent, path) {
        signals.read_line(&line, limits);
    }
    signals.into_facts().map(|fact| format!("{}: {}", fact.name, fact.value)).collect()
}

/// Whole seconds as an integer, others as a fraction.
fn seconds(ms: u64) -> Value {
    if ms.is_multiple_of(1_000) { json!(ms / 1_000) } else { json!(ms as f64 / 1_000.0) }
}

/// Path and query of a URL, or of a path alone.
fn path_of(text: &str) -> Option<String> {
    if text.starts_with('/') && !text.starts_with("//") {
        return Some(text.split('#').next().unwrap_or_default().to_owned());
    }
    let url = resolve(text, None, None).ok()?;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    Some(format!("{}{query}", url.path()))
}

/// Prints it for people.
pub fn show(args: &InspectRobots) -> Result<()> {
    let bytes = super::read(args.file.as_deref().expect("clap asks for a file or --jsonl"))?;
    let limits = Limits::default();
    let robots = Robots::parse(&bytes, &limits);
    let agent = product_token(&args.agent);
    let mut out = std::io::stdout().lock();
    for text in &args.urls {
        let Some(path) = path_of(text) else {
            writeln!(out, "{text}\n  is no URL")?;
            continue;
        };
        let verdict = robots.judge(agent, &path);
        let word = if verdict.allowed { "allowed" } else { "forbidden" };
        let why = match (&verdict.rule, verdict.line) {
            (Some(rule), Some(line)) => format!("line {line}: {rule}"),
            (Some(rule), None) => rule.to_string(),
            (None, _) => "no rule matches".to_owned(),
        };
        writeln!(out, "{text}\n  {word} for {agent}: {why}")?;
        for signal in signals(&robots, agent, &path, &limits) {
            writeln!(out, "  {signal}")?;
        }
    }
    if let Some(ms) = robots.crawl_delay_ms(agent) {
        writeln!(out, "crawl-delay for {agent}: {}", human::time(ms))?;
    }
    for sitemap in robots.sitemaps() {
        writeln!(out, "sitemap: {sitemap}")?;
    }
    Ok(())
}
