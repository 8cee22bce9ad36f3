//! Requests to a crawl that runs, with what it says to them.

use std::path::Path;

use larm_crawl::Error;
use larm_crawl::change::Change;
use larm_crawl::control::{Request, ask};
use serde_json::Value;

use crate::problem::Problem;

/// Changes a setting of a crawl that runs.
pub async fn set(dir: &Path, key: &str, value: &str) -> Result<(), Problem> {
    Change::parse(key, value)
        .map_err(|error| Problem::invalid(key, sentence(&error.to_string())))?;
    let request = Request::Set { key: key.to_owned(), value: value.to_owned() };
    demand(dir, request).await.map(drop).map_err(|problem| match problem.status {
        422 => Problem { key: Some(key.to_owned()), ..problem },
        _ => problem,
    })
}

/// Asks something of a crawl that must run for it.
pub async fn demand(dir: &Path, request: Request) -> Result<Value, Problem> {
    match ask(dir, request).await {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(Problem::conflict("This crawl does not run.").hint("Start it first.")),
        Err(Error::Plan(why)) => {
            Err(Problem::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, sentence(&why)))
        }
        Err(error) => Err(Problem::internal(error)),
    }
}

/// Words of an error as a sentence.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str().trim_end_matches('.'))
}
