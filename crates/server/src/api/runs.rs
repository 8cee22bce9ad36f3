//! `/crawls/{id}/runs`: when a crawl ran, and what each run brought.

use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::problem::Problem;
use crate::views;
use crate::views::runs::{Run, runs as runs_of};

/// The runs of a crawl.
#[derive(Debug, Serialize, ToSchema)]
struct Runs {
    /// The first one first.
    runs: Vec<Run>,
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(runs))
}

/// The runs of a crawl
#[utoipa::path(get, path = "/crawls/{id}/runs", tag = "found", params(("id" = String, Path, description = "The crawl.")),
    responses((status = 200, body = Runs), (status = "4XX", body = Problem)))]
async fn runs(State(app): State<Shared>, Path(id): Path<String>) -> Result<Json<Runs>, Problem> {
    let runs = views::look(&app, id, runs_of).await?;
    Ok(Json(Runs { runs }))
}
