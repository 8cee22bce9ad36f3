//! The API, one file per thing that can be asked for. Its description is made from the same code.

mod archive;
mod broken;
mod compare;
mod crawls;
mod events;
mod graph;
mod health;
mod hosts;
mod links;
mod params;
pub mod replay;
mod runs;
mod search;
mod server;
mod settings;
mod skipped;
mod status;
mod stream;
mod url;
mod urls;
mod why;

use axum::Router;
use axum::routing::get;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa_axum::router::OpenApiRouter;

use crate::app::Shared;
use crate::describe;

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
        .merge(found())
}

/// What is shown of a crawl.
fn found() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(urls::router())
        .merge(url::router())
        .merge(why::router())
        .merge(links::router())
        .merge(broken::router())
        .merge(skipped::router())
        .merge(search::router())
        .merge(graph::router())
        .merge(archive::router())
        .merge(replay::router())
        .merge(runs::router())
        .merge(compare::router())
}

/// The description itself, as a path.
pub fn document(document: Document) -> Router<Shared> {
    let document = describe::complete(document);
    Router::new().route("/api/v1/openapi.json", get(async move || axum::Json(document.clone())))
}
