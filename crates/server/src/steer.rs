//! Requests to a crawl that runs, with what it says to them.

use std::path::Path;

use larm_crawl::Error;
use larm_crawl::change::Change;
use larm_crawl::control::{Request, ask_patiently};
use serde_json::Value;

use crate::problem::Problem;

/// Changes settings of a crawl that runs: all of them, or none.
pub async fn set_all(dir: &Path, changes: &[Change]) -> Result<(), Problem> {
    if changes.is_empty() {
        return Ok(());
    }
    let answer = demand(dir, Request::set(changes)).await;
    answer.map(drop).map_err(|problem| match problem.status {
        422 => Problem { key: Some(blamed(changes, &problem.detail).to_owned()), ..problem },
        _ => problem,
    })
}

/// The key that a crawl complains about.
fn blamed(changes: &[Change], words: &str) -> &'static str {
    // What is wrong with the delay of a host is told as what is wrong with any.
    let is_named = |key: &&str| words.contains(key.trim_start_matches("host-"));
    let about_pattern = |key: &&str| *key == "exclude" && words.contains("pattern");
    let keys = || changes.iter().map(Change::key);
    keys()
        .find(is_named)
        .or_else(|| keys().find(about_pattern))
        .or_else(|| keys().next())
        .unwrap_or("settings")
}

/// Asks something of a crawl that must run for it.
async fn demand(dir: &Path, request: Request) -> Result<Value, Problem> {
    match ask_patiently(dir, request).await {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(Problem::conflict("This crawl does not run.").hint("Start it first.")),
        Err(Error::Plan(why)) => {
            Err(Problem::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, sentence(&why)))
        }
        Err(error) => Err(Problem::internal(error)),
    }
}

/// Words of an error as a sentence.
pub fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str().trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_that_is_complained_about_is_named() {
        let rows = [
            (&["host-pause=a.test", "host-delay=a.test:0s"][..], "a delay of 0 is", "host-delay"),
            (&["delay=1s", "concurrency=9"], "a concurrency of 9 is above", "concurrency"),
            (&["delay=1s", "exclude=("], "`(` is no pattern", "exclude"),
            (&["rate=1"], "something else", "rate"),
            (&[], "something else", "settings"),
        ];
        for (changes, words, key) in rows {
            let changes = changes.iter().map(|text| text.split_once('=').unwrap());
            let changes = changes.map(|(key, value)| Change::parse(key, value).unwrap());
            assert_eq!(blamed(&changes.collect::<Vec<_>>(), words), key, "{words}");
        }
    }
}
