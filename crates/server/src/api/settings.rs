//! `/settings` and `/rules`: what a crawl was told, and telling it something else.

use std::path::Path as FilePath;

use axum::Json;
use axum::extract::{Path, State};
use larm_core::scope::FilterSpec;
use larm_crawl::control::Request;
use larm_crawl::directory::in_use;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::input::Body;
use crate::problem::Problem;
use crate::steer::{demand, set};

/// Examples that a preview shows.
const RULES_SHOWN: usize = 1_000;

/// What a crawl was told.
#[derive(Debug, Serialize, ToSchema)]
struct SettingsOf {
    /// By its `larm.toml`; secrets are not shown.
    #[schema(value_type = Object)]
    settings: Map<String, Value>,
    /// What was changed while it ran, if it runs.
    changes: Vec<Changed>,
}

/// A setting that was changed while the crawl ran.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
struct Changed {
    /// The setting.
    key: String,
    /// Its value.
    value: String,
}

/// A rule: one of the two.
#[derive(Debug, Deserialize, ToSchema)]
struct Rule {
    /// URLs that match this regular expression are left out.
    #[serde(default)]
    exclude: Option<String>,
    /// This host is left alone.
    #[serde(default)]
    block: Option<String>,
}

/// What a rule would remove.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
struct RulePreview {
    /// URLs that wait.
    waiting: u64,
    /// How many of them it would remove; estimated, if not all were looked at.
    matching: u64,
    /// Whether not all were looked at.
    sampled: bool,
    /// Some of them.
    examples: Vec<String>,
}

/// A rule that holds now.
#[derive(Debug, Serialize, ToSchema)]
struct RuleSet {
    /// As it was set.
    rule: Changed,
    /// How many waiting URLs it removes.
    matching: u64,
}

/// Rules of a crawl.
#[derive(Debug, Serialize, ToSchema)]
struct Rules {
    /// Patterns of URLs that are left out, and hosts that are left alone.
    rules: Vec<Changed>,
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(settings, change))
        .routes(routes!(preview))
        .routes(routes!(rules, add))
}

/// What a crawl was told; secrets are not shown
#[utoipa::path(
    get, path = "/crawls/{id}/settings", tag = "settings", params(("id" = String, Path)),
    responses((status = 200, body = SettingsOf), (status = 404, body = Problem))
)]
async fn settings(
    State(app): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<SettingsOf>, Problem> {
    let dir = app.dir(&id)?;
    told(&app, &dir).await.map(Json)
}

/// Change settings: at once, if it runs; else for its next run
#[utoipa::path(
    patch, path = "/crawls/{id}/settings", tag = "settings", params(("id" = String, Path)),
    request_body(content = Object, example = json!({"delay": "2s", "max-pages": "1000"})),
    responses(
        (status = 200, body = SettingsOf), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem),
    )
)]
async fn change(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Body(changes): Body<Map<String, Value>>,
) -> Result<Json<SettingsOf>, Problem> {
    let dir = app.dir(&id)?;
    if in_use(&dir) {
        for (key, value) in &changes {
            set(&dir, key, &text_of(key, value)?).await?;
        }
    } else {
        app.launcher()?.change(&dir, &changes)?;
    }
    told(&app, &dir).await.map(Json)
}

/// How many waiting URLs a rule would remove
#[utoipa::path(
    post, path = "/crawls/{id}/rules/preview", tag = "settings", params(("id" = String, Path)),
    request_body = Rule,
    responses(
        (status = 200, body = RulePreview), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem),
    )
)]
async fn preview(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Body(rule): Body<Rule>,
) -> Result<Json<RulePreview>, Problem> {
    let dir = app.dir(&id)?;
    look_ahead(&app, &dir, &rule).await.map(Json)
}

/// Leave out URLs that match a pattern, or a host, from now on
#[utoipa::path(
    post, path = "/crawls/{id}/rules", tag = "settings", params(("id" = String, Path)), request_body = Rule,
    responses(
        (status = 200, body = RuleSet), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem),
    )
)]
async fn add(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Body(rule): Body<Rule>,
) -> Result<Json<RuleSet>, Problem> {
    let dir = app.dir(&id)?;
    let matching = look_ahead(&app, &dir, &rule).await?.matching;
    let (key, value) = rule.pair()?;
    set(&dir, key, value).await?;
    let rule = Changed { key: key.to_owned(), value: value.to_owned() };
    Ok(Json(RuleSet { rule, matching }))
}

/// The patterns and hosts that are left out
#[utoipa::path(
    get, path = "/crawls/{id}/rules", tag = "settings", params(("id" = String, Path)),
    responses((status = 200, body = Rules), (status = 404, body = Problem))
)]
async fn rules(State(app): State<Shared>, Path(id): Path<String>) -> Result<Json<Rules>, Problem> {
    let dir = app.dir(&id)?;
    let told = told(&app, &dir).await?;
    let set = told.settings.get("exclude").and_then(Value::as_array).into_iter().flatten();
    let set = set
        .filter_map(Value::as_str)
        .map(|pattern| Changed { key: "exclude".to_owned(), value: pattern.to_owned() });
    let is_rule = |change: &Changed| change.key == "exclude" || change.key == "block";
    let rules = set.chain(told.changes.into_iter().filter(is_rule)).take(RULES_SHOWN).collect();
    Ok(Json(Rules { rules }))
}

impl Rule {
    fn pair(&self) -> Result<(&'static str, &str), Problem> {
        match (self.exclude.as_deref(), self.block.as_deref()) {
            (Some(pattern), None) if !pattern.is_empty() => Ok(("exclude", pattern)),
            (None, Some(host)) if !host.is_empty() => Ok(("block", host)),
            _ => Err(Problem::invalid(
                "exclude",
                "A rule is either `exclude` with a pattern or `block` with a host.",
            )),
        }
    }
}

async fn look_ahead(app: &Shared, dir: &FilePath, rule: &Rule) -> Result<RulePreview, Problem> {
    let (key, value) = rule.pair()?;
    let spec = match key {
        "exclude" => FilterSpec::Exclude { patterns: vec![value.to_owned()] },
        _ => FilterSpec::Blocklist { hosts: vec![value.to_owned()] },
    };
    let urls_max = app.settings.limits.rule_preview_urls_max;
    let request = Request::Preview { rule: spec, urls_max };
    let answer = demand(dir, request).await.map_err(|problem| match problem.status {
        422 => Problem { key: Some(key.to_owned()), ..problem },
        _ => problem,
    })?;
    serde_json::from_value(answer).map_err(Problem::internal)
}

async fn told(app: &Shared, dir: &FilePath) -> Result<SettingsOf, Problem> {
    let told = app.launcher()?.told(dir, 0)?;
    let changes = match larm_crawl::control::ask(dir, Request::Changes).await {
        Ok(Some(changes)) => serde_json::from_value(changes).unwrap_or_default(),
        _ => Vec::new(),
    };
    Ok(SettingsOf { settings: told.settings, changes })
}

fn text_of(key: &str, value: &Value) -> Result<String, Problem> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(Problem::invalid(key, format!("`{key}` needs a text or a number."))),
    }
}
