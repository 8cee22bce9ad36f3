//! The API, one file per thing that can be asked for. Its description is made from the same code.

mod crawls;
mod events;
mod health;
mod hosts;
mod server;
mod settings;
mod status;

use axum::Router;
use axum::routing::get;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa_axum::router::OpenApiRouter;

use crate::app::Shared;

#[derive(OpenApi)]
#[openapi(info(title = "larm", description = "Crawls: start, watch, steer, search."))]
struct About;

/// Every path below `/api/v1`, with its description.
pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(About::openapi()).nest("/api/v1", all())
}

fn all() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(crawls::router())
        .merge(events::router())
        .merge(health::router())
        .merge(hosts::router())
        .merge(server::router())
        .merge(settings::router())
        .merge(status::router())
}

/// The description itself, as a path.
pub fn document(document: Document) -> Router<Shared> {
    Router::new().route("/api/v1/openapi.json", get(async move || axum::Json(document.clone())))
}
