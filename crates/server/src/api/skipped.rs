//! `/crawls/{id}/skipped`: what was left out, and why.

use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::params::Params;
use super::rules::rules_of;
use super::settings::{SettingsOf, told};
use crate::app::Shared;
use crate::problem::Problem;
use crate::views;
use crate::views::linked::skipped::{Admitting, Group, NOT_AGAIN};
use crate::views::pages::PageText;

/// What was left out.
#[derive(Debug, Serialize, ToSchema)]
struct Skipped {
    /// By reason, most first.
    groups: Vec<Group>,
    /// How many reasons there are.
    total: u64,
    /// Where the next page begins; null at the end.
    next: Option<String>,
    /// Why something may be missing, in sentences.
    notes: Vec<String>,
    /// What becomes of what was left out already when something is let in, in sentences.
    again: String,
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(skipped))
}

/// What was left out, and why
#[utoipa::path(get, path = "/crawls/{id}/skipped", tag = "found", params(("id" = String, Path, description = "The crawl."), PageText),
    responses((status = 200, body = Skipped), (status = "4XX", body = Problem)))]
async fn skipped(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Params(page): Params<PageText>,
) -> Result<Json<Skipped>, Problem> {
    let dir = app.dir(&id)?;
    let skipped = views::pass(&app, id, move |looked| {
        let linked = looked.views.linked.of(looked)?;
        let (groups, next) = page.part(&linked.skipped, looked.limits)?;
        let (groups, notes) = (groups.to_vec(), linked.notes.clone());
        let again = NOT_AGAIN.replace("DIR", &looked.dir.to_string_lossy());
        Ok(Skipped { groups, total: linked.skipped.len() as u64, next, notes, again })
    });
    let mut skipped = skipped.await?;
    // A server that only shows crawls changes none.
    let told = told(&app, &dir).await.ok();
    for group in &mut skipped.groups {
        group.rule = group.rule.take().and_then(|rule| completed(rule, told.as_ref()?));
    }
    Ok(Json(skipped))
}

/// A list as a whole, with what is in it already; and of rules those that are there to be lifted.
fn completed(mut rule: Admitting, told: &SettingsOf) -> Option<Admitting> {
    let rules = || rules_of(told).into_iter();
    match (rule.key.as_str(), &mut rule.value) {
        ("include" | "accept", Value::Array(more)) => {
            let held = told.settings.get(&rule.key).and_then(Value::as_array);
            let held = held.into_iter().flatten().filter(|value| !more.contains(value));
            *more = held.cloned().chain(more.clone()).collect();
            Some(rule)
        }
        ("unexclude", value) => {
            rules().any(|held| held.key == "exclude" && *value == held.value).then_some(rule)
        }
        ("unblock", value) => {
            rules().any(|held| held.key == "block" && *value == held.value).then_some(rule)
        }
        _ => Some(rule),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::settings::Changed;

    #[test]
    fn lists_are_completed_and_rules_that_are_not_there_cannot_be_lifted() {
        let changed = |(key, value): (&str, &str)| Changed { key: key.into(), value: value.into() };
        let told = SettingsOf {
            settings: json!({"include": ["^a"], "exclude": ["/x/"]}).as_object().unwrap().clone(),
            changes: vec![changed(("block", "b.test"))],
        };
        let rows = [
            ("include", json!(["^b"]), Some(json!(["^a", "^b"]))),
            ("include", json!(["^a"]), Some(json!(["^a"]))),
            ("accept", json!(["text/html"]), Some(json!(["text/html"]))),
            ("unexclude", json!("/x/"), Some(json!("/x/"))),
            ("unexclude", json!("/y/"), None),
            ("unblock", json!("b.test"), Some(json!("b.test"))),
            ("unblock", json!("c.test"), None),
            ("assets", json!(true), Some(json!(true))),
        ];
        for (key, value, expected) in rows {
            let words = String::new();
            let rule = Admitting { key: key.to_owned(), value, while_running: false, words };
            assert_eq!(completed(rule, &told).map(|rule| rule.value), expected, "{key}");
        }
    }
}
