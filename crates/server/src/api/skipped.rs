//! `/crawls/{id}/skipped`: what was left out, and why.

use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::params::Params;
use crate::app::Shared;
use crate::problem::Problem;
use crate::views;
use crate::views::linked::skipped::Group;
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
    let skipped = views::pass(&app, id, move |looked| {
        let linked = looked.views.linked.of(looked)?;
        let (groups, next) = page.part(&linked.skipped, looked.limits)?;
        let (groups, notes) = (groups.to_vec(), linked.notes.clone());
        Ok(Skipped { groups, total: linked.skipped.len() as u64, next, notes })
    });
    Ok(Json(skipped.await?))
}
