//! `/rules`: patterns and hosts that are left out; adding one, and lifting it again.
//!
//! URLs that wait are not taken out of their queues when a rule comes: each is settled as left out when its turn comes, without
//! a request, and without a wait.

use std::collections::HashSet;
use std::path::Path as FilePath;

use axum::Json;
use axum::extract::{Path, Query, State};
use larm_core::scope::{FilterSpec, Filters, ScopeInput, Verdict};
use larm_core::url::CrawlUrl;
use larm_crawl::change::Change;
use larm_crawl::control::{Request, ask_patiently};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::settings::{Changed, SettingsOf, told};
use crate::app::{Shared, with_launcher, written};
use crate::input::Body;
use crate::launch::Launcher;
use crate::problem::Problem;
use crate::steer::{sentence, set_all};

/// Rules that are told.
const RULES_SHOWN: usize = 1_000;

/// A rule: one of the two.
#[derive(Debug, Clone, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
struct Rule {
    /// URLs that match this regular expression are left out.
    #[serde(default)]
    exclude: Option<String>,
    /// This host is left alone.
    #[serde(default)]
    block: Option<String>,
}

/// What a rule would leave out.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
struct RulePreview {
    /// URLs that wait.
    waiting: u64,
    /// How many of them it would leave out; estimated, if not all were looked at.
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
    /// How many waiting URLs it leaves out, each when its turn comes.
    matching: u64,
    /// The same as a sentence.
    words: String,
}

/// Rules of a crawl.
#[derive(Debug, Serialize, ToSchema)]
struct Rules {
    /// Patterns of URLs that are left out, and hosts that are left alone: now, or when it goes on.
    rules: Vec<Changed>,
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(preview)).routes(routes!(rules, add, lift))
}

/// How many waiting URLs a rule would leave out
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
///
/// URLs that wait are left out when their turn comes, without being asked for.
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
    let ahead = look_ahead(&app, &dir, &rule).await?;
    let change = rule.set()?;
    hold(&app, &dir, &change).await?;
    Ok(Json(RuleSet {
        rule: Changed::from(&change),
        matching: ahead.matching,
        words: ahead.words(),
    }))
}

/// The patterns and hosts that are left out
#[utoipa::path(
    get, path = "/crawls/{id}/rules", tag = "settings", params(("id" = String, Path)),
    responses((status = 200, body = Rules), (status = 404, body = Problem))
)]
async fn rules(State(app): State<Shared>, Path(id): Path<String>) -> Result<Json<Rules>, Problem> {
    let dir = app.dir(&id)?;
    shown(&app, &dir).await.map(Json)
}

/// Lift a rule; what it left out already stays so
#[utoipa::path(
    delete, path = "/crawls/{id}/rules", tag = "settings", params(("id" = String, Path), Rule),
    responses(
        (status = 200, body = Rules), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 422, body = Problem),
    )
)]
async fn lift(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Query(rule): Query<Rule>,
) -> Result<Json<Rules>, Problem> {
    let dir = app.dir(&id)?;
    let set = Changed::from(&rule.set()?);
    if !rules_of(&told(&app, &dir).await?).contains(&set) {
        let detail = format!("This crawl has no rule `{}` with `{}`.", set.key, set.value);
        return Err(Problem::not_found(detail).hint("GET …/rules lists them."));
    }
    hold(&app, &dir, &rule.lifted()?).await?;
    shown(&app, &dir).await.map(Json)
}

impl Rule {
    fn set(&self) -> Result<Change, Problem> {
        match (self.exclude.as_deref(), self.block.as_deref()) {
            (Some(pattern), None) if !pattern.trim().is_empty() => {
                Ok(Change::Exclude(pattern.to_owned()))
            }
            (None, Some(host)) => Change::parse("block", host)
                .map_err(|error| Problem::invalid("block", sentence(&error.to_string()))),
            _ => Err(Problem::invalid(
                "exclude",
                "A rule is either `exclude` with a pattern or `block` with a host.",
            )),
        }
    }

    fn lifted(&self) -> Result<Change, Problem> {
        Ok(match self.set()? {
            Change::Block(host) => Change::Unblock(host),
            set => Change::Unexclude(set.value()),
        })
    }
}

impl RulePreview {
    fn words(&self) -> String {
        let about = if self.sampled { "About " } else { "" };
        match self.matching {
            0 => "Nothing that waits matches; it holds for what is found from now on.".to_owned(),
            1 => format!(
                "{about}1 waiting URL is left out when its turn comes, without being asked for."
            ),
            count => format!(
                "{about}{count} waiting URLs are left out when their turn comes, without being asked for."
            ),
        }
    }
}

/// Holds a rule, or lifts it, from now on or for the next run.
async fn hold(app: &Shared, dir: &FilePath, change: &Change) -> Result<(), Problem> {
    let (at, kept) = (dir.to_owned(), change.clone());
    match written(app, dir, move |launcher| launcher.keep(&at, &[kept])).await? {
        true => Ok(()),
        false => set_all(dir, std::slice::from_ref(change)).await,
    }
}

/// Looks at what waits: the crawl does, if it runs; else its files are read.
async fn look_ahead(app: &Shared, dir: &FilePath, rule: &Rule) -> Result<RulePreview, Problem> {
    let set = rule.set()?;
    let spec = match &set {
        Change::Block(host) => FilterSpec::Blocklist { hosts: vec![host.clone()] },
        set => FilterSpec::Exclude { patterns: vec![set.value()] },
    };
    let urls_max = app.settings.limits.rule_preview_urls_max;
    let wrong = |why: String| Problem::invalid(set.key(), sentence(&why));
    let answer = ask_patiently(dir, Request::Preview { rule: spec.clone(), urls_max }).await;
    let answer = match answer {
        Ok(Some(answer)) => answer,
        Ok(None) => {
            still(app, dir, spec, urls_max).await.map_err(|problem| match problem.status {
                422 => Problem { key: Some(set.key().to_owned()), ..problem },
                _ => problem,
            })?
        }
        Err(larm_crawl::Error::Plan(why)) => return Err(wrong(why)),
        Err(error) => return Err(Problem::internal(error)),
    };
    serde_json::from_value(answer).map_err(Problem::internal)
}

async fn still(
    app: &Shared,
    dir: &FilePath,
    spec: FilterSpec,
    urls_max: u64,
) -> Result<Value, Problem> {
    let dir = dir.to_owned();
    let looked = move |launcher: &dyn Launcher| launcher.preview_rule(&dir, &spec, urls_max);
    let preview = with_launcher(app, looked).await?;
    serde_json::to_value(preview).map_err(Problem::internal)
}

async fn shown(app: &Shared, dir: &FilePath) -> Result<Rules, Problem> {
    let mut rules = rules_of(&told(app, dir).await?);
    rules.truncate(RULES_SHOWN);
    Ok(Rules { rules })
}

/// The rules in force: those of the settings that were not lifted, and those that came later.
pub(super) fn rules_of(told: &SettingsOf) -> Vec<Changed> {
    let rule = |key: &str, value: &str| Changed { key: key.to_owned(), value: value.to_owned() };
    let changes = &told.changes;
    let set = told.settings.get("exclude").and_then(Value::as_array).into_iter().flatten();
    let mut met = HashSet::new();
    let set = set.filter_map(Value::as_str).filter(|pattern| met.insert(*pattern));
    let held = set.filter(|pattern| !changes.contains(&rule("unexclude", pattern)));
    let since = changes.iter().filter(|change| change.key == "exclude" || change.key == "block");
    held.map(|pattern| rule("exclude", pattern)).chain(since.cloned()).collect()
}

/// The rule in force that is against a URL.
pub(super) async fn objection(app: &Shared, dir: &FilePath, url: &CrawlUrl) -> Option<String> {
    let rules = rules_of(&told(app, dir).await.ok()?);
    let values = |key: &str| {
        rules.iter().filter(|rule| rule.key == key).map(|rule| rule.value.clone()).collect()
    };
    let specs = [
        FilterSpec::Exclude { patterns: values("exclude") },
        FilterSpec::Blocklist { hosts: values("block") },
    ];
    let filters = Filters::build(&specs, &ScopeInput::default()).ok()?;
    match filters.judge_url(url) {
        Verdict::Pass => None,
        Verdict::Reject(reason) => Some(reason.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_in_force_are_those_of_the_settings_and_those_since() {
        let changed = |(key, value): (&str, &str)| Changed { key: key.into(), value: value.into() };
        let changes =
            [("block", "x.test"), ("delay", "2s"), ("exclude", "/c/"), ("unexclude", "/a/")];
        let told = SettingsOf {
            settings: json!({"exclude": ["/a/", "/b/", "/b/"]}).as_object().unwrap().clone(),
            changes: changes.map(changed).to_vec(),
        };
        let expected = [("exclude", "/b/"), ("block", "x.test"), ("exclude", "/c/")].map(changed);
        assert_eq!(rules_of(&told), expected);
    }
}
