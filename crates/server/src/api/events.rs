//! `/events`: what happens, as it happens (server-sent events).

use axum::extract::{Path, State};
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::Asker;
use crate::app::Shared;
use crate::live::{self, Topic};
use crate::problem::Problem;

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(all)).routes(routes!(one))
}

/// All crawls, whenever something changes: events `crawls`
#[utoipa::path(
    get, path = "/events", tag = "live",
    responses((status = 200, content_type = "text/event-stream"), (status = 503, body = Problem))
)]
async fn all(State(app): State<Shared>, asker: Asker) -> Result<Response, Problem> {
    live::listen(&app, asker, Topic::All)
}

/// One crawl: events `status` every second, and `fetches` with what was settled
#[utoipa::path(
    get, path = "/crawls/{id}/events", tag = "live", params(("id" = String, Path)),
    responses(
        (status = 200, content_type = "text/event-stream"),
        (status = 404, body = Problem), (status = 503, body = Problem),
    )
)]
async fn one(
    State(app): State<Shared>,
    asker: Asker,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    app.dir(&id)?;
    live::listen(&app, asker, Topic::Crawl(id))
}
