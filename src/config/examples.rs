//! What a crawl looks for: the words of `--query`, and the pages of `--like` and `--unlike`.
//!
//! What an example says is kept in the crawl directory, `examples.jsonl`, when the crawl begins: files go away
//! and pages change, and a crawl that goes on should look for the same. Those that are URLs are fetched
//! before (see `commands::examples`); until then they are missing here.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use larm_core::Limits;
use larm_core::order::focus::Topic;
use larm_core::parse::Input;
use larm_crawl::Error;
use larm_crawl::store::durable;
use serde::{Deserialize, Serialize};

use super::raw::Settings;
use crate::exit::{shown, usage};
use crate::pdf::parse_any;

/// The file that keeps what examples say.
const FILE: &str = "examples.jsonl";

/// What one example says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Example {
    /// The file or URL, as it was named.
    pub source: String,
    pub title: String,
    pub text: String,
}

/// What is looked for, as far as its examples are known.
pub fn topic(settings: &Settings, dir: &Path, limits: &Limits) -> Result<Topic> {
    let query = settings.query.as_deref().unwrap_or_default();
    let mut topic = Topic::query(query, limits);
    if topic.is_empty() && !query.is_empty() {
        return Err(usage(format!("--query: there is no word in `{query}`")));
    }
    if settings.like.is_empty() && !settings.unlike.is_empty() {
        return Err(usage("--unlike goes with --like: what else should pages be like?".to_owned()));
    }
    let kept = kept(dir)?;
    for (flag, sources) in [("--like", &settings.like), ("--unlike", &settings.unlike)] {
        for source in sources {
            let example = find(source, &kept, limits);
            let example = example.map_err(|error| usage(format!("{flag} {source}: {error}")))?;
            let Some(example) = example else { continue };
            let Example { title, text, .. } = &example;
            let taken = match flag {
                "--like" => topic.like(title, text, limits),
                _ => topic.unlike(title, text, limits),
            };
            if !taken {
                let why = why_not(sources.len(), limits);
                return Err(usage(format!("{flag} {source}: {why}")));
            }
        }
    }
    Ok(topic)
}

fn why_not(examples: usize, limits: &Limits) -> String {
    let max = limits.focus_examples_max;
    match examples as u64 > max {
        true => format!("there are more examples than {max} (focus_examples_max)"),
        false => "there are no words in it to learn from; leave it out".to_owned(),
    }
}

/// The examples that have to be fetched first.
pub fn missing(settings: &Settings, dir: &Path) -> Result<Vec<String>> {
    let kept = kept(dir)?;
    let sources = settings.like.iter().chain(&settings.unlike);
    let missing = sources.filter(|source| is_url(source) && !kept.contains_key(*source));
    Ok(missing.cloned().collect())
}

/// Keeps what the examples say, those that were `fetched` among them.
pub fn keep(settings: &Settings, dir: &Path, fetched: Vec<Example>, limits: &Limits) -> Result<()> {
    let mut kept = kept(dir)?;
    kept.extend(fetched.into_iter().map(|example| (example.source.clone(), example)));
    let mut lines = String::new();
    for source in settings.like.iter().chain(&settings.unlike) {
        if let Some(example) = find(source, &kept, limits)? {
            lines.push_str(&serde_json::to_string(&example)?);
            lines.push('\n');
        }
    }
    let path = dir.join(FILE);
    let write = |out: &mut dyn Write| out.write_all(lines.as_bytes()).map_err(Error::io(&path));
    Ok(durable::replace(&path, write)?)
}

fn kept(dir: &Path) -> Result<BTreeMap<String, Example>> {
    let path = dir.join(FILE);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        text => text.with_context(|| format!("cannot read {}", shown(&path)))?,
    };
    let example = |line: &str| {
        let example: Example = serde_json::from_str(line)
            .with_context(|| format!("a line of {} is no example", shown(&path)))?;
        Ok((example.source.clone(), example))
    };
    text.lines().map(example).collect()
}

fn find(
    source: &str,
    kept: &BTreeMap<String, Example>,
    limits: &Limits,
) -> Result<Option<Example>> {
    match kept.get(source) {
        Some(example) => Ok(Some(example.clone())),
        None if is_url(source) => Ok(None),
        None => read(source, limits).map(Some),
    }
}

fn is_url(source: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        source.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    })
}

/// Reads a file as the crawl would read a page.
fn read(source: &str, limits: &Limits) -> Result<Example> {
    let path = PathBuf::from(source);
    let file = fs::File::open(&path)?;
    let mut body = Vec::new();
    file.take(limits.body_bytes_max).read_to_end(&mut body)?;
    let url = larm_core::url::resolve("http://example.invalid/", None, None)?;
    let extension = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let content_type = match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" | "xhtml" => Some("text/html"),
        "txt" | "md" => Some("text/plain"),
        "pdf" => Some("application/pdf"),
        _ => None,
    };
    let page = parse_any(&Input { url: &url, content_type, body: &body, text: true }, limits);
    Ok(Example {
        source: source.to_owned(),
        title: page.title.unwrap_or_default(),
        text: page.text,
    })
}
