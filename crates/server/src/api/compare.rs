//! `/compare`: two crawls side by side.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::params::Params;
use super::settings::{in_force, told};
use crate::app::Shared;
use crate::crawl::{self, Crawl};
use crate::problem::Problem;
use crate::views;
use crate::views::compare::{ChangedSettings, Differences, compare as compare_both};

#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Both {
    /// The one crawl.
    a: String,
    /// The other.
    b: String,
}

/// Two crawls side by side.
#[derive(Debug, Serialize, ToSchema)]
struct Compared {
    /// The one.
    a: Crawl,
    /// The other.
    b: Crawl,
    #[serde(flatten)]
    differences: Differences,
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(compare))
}

/// Two crawls side by side
#[utoipa::path(get, path = "/compare", tag = "found", params(Both), responses((status = 200, body = Compared), (status = "4XX", body = Problem)))]
async fn compare(
    State(app): State<Shared>,
    Params(both): Params<Both>,
) -> Result<Json<Compared>, Problem> {
    let (dir_a, a) = crawl::find(&app, &both.a).await?;
    let (dir_b, b) = crawl::find(&app, &both.b).await?;
    let (since_a, since_b) = (changed(&app, &dir_a).await, changed(&app, &dir_b).await);
    let unknown = [(&since_a, &a.name), (&since_b, &b.name)].into_iter();
    let unknown = unknown.filter(|(since, _)| since.is_err());
    let notes: Vec<String> = unknown.map(|(_, name)| unknown_changes(name)).collect();
    let since = [since_a.unwrap_or_default(), since_b.unwrap_or_default()];
    let differences = views::pass_over(&app, move |app| {
        compare_both(&app.looked(&both.a)?, &app.looked(&both.b)?, &since)
    });
    let mut differences = differences.await?;
    differences.notes.extend(notes);
    Ok(Json(Compared { a, b, differences }))
}

/// The settings of a crawl that are not what its `larm.toml` says.
async fn changed(app: &Shared, dir: &Path) -> Result<ChangedSettings, Problem> {
    let told = told(app, dir).await?;
    Ok(in_force(app, dir, &told)?.changed)
}

fn unknown_changes(name: &str) -> String {
    format!("What was changed while {name} ran cannot be read, and is not compared.")
}
