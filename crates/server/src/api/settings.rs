//! `/settings`: what a crawl was told, and telling it something else.
//!
//! The same JSON is taken whether it runs or not, and all of it is looked at before anything is changed.

use std::collections::HashSet;
use std::path::Path as FilePath;

use axum::Json;
use axum::extract::{Path, State};
use larm_core::scope::{FilterSpec, Filters, ScopeInput};
use larm_crawl::change::Change;
use larm_crawl::control::{Request, ask};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::rules::rules_of;
use crate::app::{Shared, written};
use crate::input::Body;
use crate::launch::InForce;
use crate::problem::Problem;
use crate::steer::{sentence, set_all};

/// What a crawl was told.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SettingsOf {
    /// By its `larm.toml`; secrets are not shown.
    #[schema(value_type = Object)]
    pub settings: Map<String, Value>,
    /// What was changed while it ran, and rules that were set since, which hold on top of that: now, or when it goes on.
    pub changes: Vec<Changed>,
}

/// What a crawl was told, and what comes of it.
#[derive(Debug, Serialize, ToSchema)]
struct SettingsShown {
    #[serde(flatten)]
    told: SettingsOf,
    /// The settings with the changes laid over them: what holds now, or when it goes on.
    #[schema(value_type = Object)]
    in_force: Map<String, Value>,
}

/// A setting that was changed while the crawl ran, or a rule that was set since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(super) struct Changed {
    /// The setting.
    pub key: String,
    /// Its value.
    pub value: String,
}

impl From<&Change> for Changed {
    fn from(change: &Change) -> Self {
        Self { key: change.key().to_owned(), value: change.value() }
    }
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(settings, change))
}

/// What a crawl was told; secrets are not shown
#[utoipa::path(
    get, path = "/crawls/{id}/settings", tag = "settings", params(("id" = String, Path)),
    responses((status = 200, body = SettingsShown), (status = 404, body = Problem))
)]
async fn settings(
    State(app): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<SettingsShown>, Problem> {
    let dir = app.dir(&id)?;
    shown(&app, &dir).await.map(Json)
}

/// Change settings: at once, if it runs; else for its next run
///
/// All of them, or none if one is wrong. A list takes the place of the one that is there; `exclude` may also be a text, one
/// pattern more. With null, a setting is what it is when nobody sets it: a limit is lifted, a list is empty.
#[utoipa::path(
    patch, path = "/crawls/{id}/settings", tag = "settings", params(("id" = String, Path)),
    request_body(content = Object, example = json!({"delay": "2s", "max-pages": 1000})),
    responses(
        (status = 200, body = SettingsShown), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem),
    )
)]
async fn change(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Body(mut changes): Body<Map<String, Value>>,
) -> Result<Json<SettingsShown>, Problem> {
    let dir = app.dir(&id)?;
    let excluded = excluded(&told(&app, &dir).await?);
    let exclude = changes.remove("exclude");
    let exclude = exclude.map(|value| patterns(&value, &excluded)).transpose()?;
    let (at, mut all) = (dir.clone(), changes.clone());
    all.extend(exclude.iter().map(|wanted| ("exclude".to_owned(), json!(wanted))));
    if !written(&app, &dir, move |launcher| launcher.change(&at, &all)).await? {
        let mut all = app.launcher()?.live(&dir, &changes)?;
        all.extend(exclude.iter().flat_map(|wanted| difference(&excluded, wanted)));
        set_all(&dir, &all).await?;
    }
    shown(&app, &dir).await.map(Json)
}

async fn shown(app: &Shared, dir: &FilePath) -> Result<SettingsShown, Problem> {
    let told = told(app, dir).await?;
    let in_force = in_force(app, dir, &told)?.settings;
    Ok(SettingsShown { told, in_force })
}

/// What comes of the settings of a crawl and of what was changed since.
pub(super) fn in_force(
    app: &Shared,
    dir: &FilePath,
    told: &SettingsOf,
) -> Result<InForce, Problem> {
    let changes = told.changes.iter().filter_map(|one| Change::parse(&one.key, &one.value).ok());
    app.launcher()?.in_force(dir, &changes.collect::<Vec<_>>())
}

/// What a crawl was told, by its settings and since.
pub(super) async fn told(app: &Shared, dir: &FilePath) -> Result<SettingsOf, Problem> {
    let settings = app.launcher()?.told(dir, 0)?.settings;
    let changes = match ask(dir, Request::Changes).await {
        Ok(Some(changes)) => serde_json::from_value(changes).map_err(Problem::internal)?,
        // A crawl that is just starting or ending goes on with what is kept.
        _ => app.launcher()?.changes(dir)?.iter().map(Changed::from).collect(),
    };
    Ok(SettingsOf { settings, changes })
}

fn excluded(told: &SettingsOf) -> Vec<String> {
    let rules = rules_of(told).into_iter();
    rules.filter(|rule| rule.key == "exclude").map(|rule| rule.value).collect()
}

/// The patterns that are wanted: a list as it is, or one more.
fn patterns(value: &Value, excluded: &[String]) -> Result<Vec<String>, Problem> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let wanted = match value {
        Value::Null => Some(Vec::new()),
        Value::String(one) => Some(excluded.iter().chain([one]).cloned().collect()),
        Value::Array(all) => all.iter().map(text).collect::<Option<Vec<String>>>(),
        _ => None,
    };
    let is_sound = |wanted: &Vec<String>| wanted.iter().all(|text| !text.trim().is_empty());
    let mut patterns = wanted.filter(is_sound).ok_or_else(|| {
        Problem::invalid("exclude", "`exclude` needs a pattern, or a list of patterns.")
    })?;
    // One that is named twice excludes nothing more.
    let mut met = HashSet::new();
    patterns.retain(|pattern| met.insert(pattern.clone()));
    let spec = FilterSpec::Exclude { patterns: patterns.clone() };
    Filters::build(&[spec], &ScopeInput::default())
        .map_err(|error| Problem::invalid("exclude", sentence(&error.to_string())))?;
    Ok(patterns)
}

/// What makes one list of patterns the other.
fn difference(before: &[String], after: &[String]) -> Vec<Change> {
    let gone = before.iter().filter(|pattern| !after.contains(pattern));
    let new = after.iter().filter(|pattern| !before.contains(pattern));
    gone.cloned().map(Change::Unexclude).chain(new.cloned().map(Change::Exclude)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_pattern_more_and_a_list_is_all_of_them() {
        let before = ["/a/".to_owned()];
        let rows = [
            (json!("/b/"), Some(vec!["/a/", "/b/"])),
            (json!(["/b/"]), Some(vec!["/b/"])),
            (json!([]), Some(vec![])),
            (json!(null), Some(vec![])),
            (json!("/a/"), Some(vec!["/a/"])),
            (json!(["/b/", "/c/", "/b/"]), Some(vec!["/b/", "/c/"])),
            (json!([1]), None),
            (json!(""), None),
            (json!("("), None),
            (json!(true), None),
        ];
        for (value, expected) in rows {
            let wanted = patterns(&value, &before).ok();
            let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect());
            assert_eq!(wanted, expected, "{value}");
        }
        let changes = difference(&before, &["/b/".to_owned()]);
        assert_eq!(
            changes,
            [Change::Unexclude("/a/".to_owned()), Change::Exclude("/b/".to_owned())]
        );
    }
}
