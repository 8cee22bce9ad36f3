//! `larm inspect url`: the canonical form of a URL, and everything derived from it.

use std::io::Write;
use std::sync::LazyLock;

use anyhow::Result;
use larm_core::Limits;
use larm_core::url::{CrawlUrl, UrlError, UrlRules, canonicalise, resolve, seed};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::InspectUrl;

/// The default rules, made once for a million lines.
pub static RULES: LazyLock<UrlRules> = LazyLock::new(UrlRules::default);

/// A line of `--jsonl`. Without a base the URL must be absolute, as a link on a page would have to be.
#[derive(Deserialize)]
pub struct Question {
    url: String,
    base: Option<String>,
}

/// Answers a line.
pub fn answer(question: Question, _: &Limits) -> Value {
    match link(&question.url, question.base.as_deref(), &RULES) {
        Ok(url) => known(&url),
        Err(error) => json!({
            "url": null, "error": error.to_string(), "host": null, "site": null, "surt": null,
            "fingerprint": null,
        }),
    }
}

fn known(url: &CrawlUrl) -> Value {
    json!({
        "url": url.as_str(),
        "error": null,
        "host": url.host(),
        "site": url.site(),
        "surt": url.surt(),
        "fingerprint": url.fingerprint().to_string(),
    })
}

fn link(text: &str, base: Option<&str>, rules: &UrlRules) -> Result<CrawlUrl, UrlError> {
    let base = base.map(|base| resolve(base, None, None)).transpose()?;
    canonicalise(resolve(text, base.as_ref(), None)?, rules)
}

/// Prints URLs for people: as seeds, or as links where there is a base.
pub fn show(args: &InspectUrl) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for text in &args.urls {
        let url = match &args.base {
            Some(base) => link(text, Some(base), &RULES),
            None => seed(text, &RULES),
        };
        match url {
            Ok(url) => {
                writeln!(out, "{url}")?;
                writeln!(out, "  host         {}", url.host())?;
                writeln!(out, "  site         {}", url.site())?;
                writeln!(out, "  surt         {}", url.surt())?;
                writeln!(out, "  fingerprint  {}", url.fingerprint())?;
            }
            Err(error) => writeln!(out, "{text}\n  cannot be crawled: {error}")?,
        }
    }
    Ok(())
}
