//! `/status` and `/stats`: a crawl now, and how it was.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path as FilePath;

use axum::Json;
use axum::extract::{Path, Query, State};
use larm_core::Millis;
use larm_crawl::control::{Request, ask};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::crawl;
use crate::problem::Problem;

/// Bytes of statistics that are read, the newest: some 400,000 lines, or three weeks.
const STATS_BYTES_MAX: u64 = 100 * 1_024 * 1_024;

/// Hosts that a status tells of.
const HOSTS: usize = 20;

/// How many points.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Points {
    /// At most so many points; between them, some are left out.
    #[param(default = 300, minimum = 2, maximum = 5000)]
    points: Option<usize>,
}

/// How a crawl was.
#[derive(Debug, Serialize, ToSchema)]
struct Stats {
    points: Vec<Point>,
}

/// A crawl at one moment. The log has its time as text.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
struct Point {
    /// In milliseconds since 1970.
    #[serde(deserialize_with = "millis")]
    at: u64,
    /// Pages answered.
    pages: u64,
    /// Bytes received.
    bytes: u64,
    /// Pages per second.
    pages_per_second: f64,
    /// Bytes per second.
    bytes_per_second: f64,
    /// Fetches under way.
    in_flight: u64,
    /// URLs that wait.
    waiting: u64,
    /// Fetches that there may be.
    #[serde(default)]
    places: u64,
    /// URLs that failed for good.
    failed: u64,
    /// Tries that were repeated.
    retries: u64,
}

fn millis<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let text = String::deserialize(from)?;
    Millis::parse(&text).map(|at| at.0).ok_or_else(|| D::Error::custom("no time"))
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(status)).routes(routes!(stats))
}

/// A crawl, with everything that it says of itself while it runs
#[utoipa::path(
    get, path = "/crawls/{id}/status", tag = "live", params(("id" = String, Path)),
    responses((status = 200, body = Object), (status = 404, body = Problem))
)]
async fn status(State(app): State<Shared>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    let (dir, crawl) = crawl::find(&app, &id).await?;
    let mut whole = match ask(&dir, Request::Status { hosts: HOSTS }).await {
        Ok(Some(Value::Object(live))) => live,
        _ => Map::new(),
    };
    if let Value::Object(crawl) = serde_json::to_value(crawl).map_err(Problem::internal)? {
        whole.extend(crawl);
    }
    Ok(Json(Value::Object(whole)))
}

/// Its numbers over time
#[utoipa::path(
    get, path = "/crawls/{id}/stats", tag = "live", params(("id" = String, Path), Points),
    responses((status = 200, body = Stats), (status = 404, body = Problem))
)]
async fn stats(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Query(Points { points }): Query<Points>,
) -> Result<Json<Stats>, Problem> {
    let path = app.dir(&id)?.join("logs").join("stats.jsonl");
    let points = points.unwrap_or(300).clamp(2, 5_000);
    let read = tokio::task::spawn_blocking(move || read(&path)).await.map_err(Problem::internal)?;
    Ok(Json(Stats { points: thin(read, points) }))
}

fn read(path: &FilePath) -> Vec<Point> {
    let Ok(mut file) = File::open(path) else { return Vec::new() };
    let from = file.metadata().map_or(0, |meta| meta.len().saturating_sub(STATS_BYTES_MAX));
    if file.seek(SeekFrom::Start(from)).is_err() {
        return Vec::new();
    }
    BufReader::new(file)
        .split(b'\n')
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_slice(&line).ok())
        .collect()
}

/// Every so many, and always the last: rates are taken anew between those that stay, so that none is lost.
fn thin(points: Vec<Point>, points_max: usize) -> Vec<Point> {
    let step = points.len().div_ceil(points_max).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.into_iter().enumerate();
    let kept = kept.filter(|(index, _)| (last - index).is_multiple_of(step));
    let mut kept: Vec<Point> = kept.map(|(_, point)| point).collect();
    if step > 1 {
        for index in (1..kept.len()).rev() {
            let (before, point) = (kept[index - 1].clone(), &mut kept[index]);
            // Another run began in between: what that came to says nothing of this one.
            let seconds = point.at.saturating_sub(before.at) as f64 / 1_000.0;
            if seconds > 0.0 && point.pages >= before.pages {
                point.pages_per_second = (point.pages - before.pages) as f64 / seconds;
                point.bytes_per_second = point.bytes.saturating_sub(before.bytes) as f64 / seconds;
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_row_of_points_is_thinned_and_keeps_its_end() {
        let line = |number: u64| {
            let at = larm_core::Millis(number * 5_000);
            format!(
                r#"{{"at":"{at}","pages":{number},"pages_per_second":0.2,"bytes":0,"bytes_per_second":0,"in_flight":1,"places":4,"places_reason":"x","refused":0,"waiting":2,"failed":0,"retries":0}}"#
            )
        };
        let points: Vec<Point> =
            (0..1_000).filter_map(|number| serde_json::from_str(&line(number)).ok()).collect();
        assert_eq!(points.len(), 1_000);
        let thinned = thin(points.clone(), 100);
        assert!(thinned.len() <= 100 && thinned.len() > 90);
        assert_eq!(thinned.last().map(|point| point.pages), Some(999));
        assert!(thinned.iter().skip(1).all(|point| (point.pages_per_second - 0.2).abs() < 1e-9));
        assert_eq!(thin(points, 5_000).len(), 1_000);
        assert!(thin(Vec::new(), 100).is_empty());
    }
}
