//! `/crawls/{id}/graph`: the foremost pages, the hosts and the distances; made when asked for.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::problem::Problem;
use crate::views;
use crate::views::graph::{GraphView, make_in_background};

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(graph, make))
}

/// The graph of a crawl
#[utoipa::path(get, path = "/crawls/{id}/graph", tag = "found", params(("id" = String, Path, description = "The crawl.")),
    responses((status = 200, body = GraphView), (status = 404, body = Problem, description = "There is no such crawl, or its graph has not been made yet.")))]
async fn graph(
    State(app): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<GraphView>, Problem> {
    views::pass(&app, id, |looked| looked.views.graphs.of(looked)).await.map(Json)
}

/// Make the graph of a crawl
#[utoipa::path(post, path = "/crawls/{id}/graph", tag = "found", params(("id" = String, Path, description = "The crawl.")),
    responses((status = 202, description = "It is being made; ask for it in a moment."), (status = 409, body = Problem), (status = "4XX", body = Problem)))]
async fn make(State(app): State<Shared>, Path(id): Path<String>) -> Result<StatusCode, Problem> {
    let dir = app.dir(&id)?;
    if !larm_graph::log::path_in(&dir).exists() {
        return Err(Problem::conflict("This crawl keeps no links, so it has no graph."));
    }
    make_in_background(&app, dir)?;
    Ok(StatusCode::ACCEPTED)
}
