//! `/server`: this server, and what it may do.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use larm_crawl::directory::in_use;
use larm_crawl::housekeeping::disk_space;
use larm_crawl::memory::resident;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::log_out;
use crate::app::Shared;
use crate::crawls;

/// This server.
#[derive(Debug, Serialize, ToSchema)]
struct Server {
    /// Version of larm.
    version: &'static str,
    /// Where new crawls are made; absent if none can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    /// Crawls that are shown.
    crawls: usize,
    /// Those of them that run.
    running: usize,
    /// Fetches at a time, over all crawls.
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency_max: Option<u64>,
    /// Bytes per second, over all crawls.
    #[serde(skip_serializing_if = "Option::is_none")]
    bandwidth_max: Option<u64>,
    /// Free bytes on the disk of the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_free: Option<u64>,
    /// Bytes of memory that the server takes, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
    /// The only hosts that crawls started here may ask; none named means all.
    confined_to: Vec<String>,
    /// Whether only search is served.
    public_search: bool,
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(server)).routes(routes!(logout))
}

/// End the session of this browser
#[utoipa::path(post, path = "/logout", tag = "server", responses((status = 204)))]
async fn logout(State(app): State<Shared>, headers: HeaderMap) -> impl IntoResponse {
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, log_out(&app.access, &headers))])
}

/// This server, and what it may do
#[utoipa::path(get, path = "/server", tag = "server", responses((status = 200, body = Server)))]
async fn server(State(app): State<Shared>) -> Json<Server> {
    let settings = &app.settings;
    let crawls = crawls::list(settings);
    let here = settings.root.as_deref().or(settings.dirs.first().map(std::path::PathBuf::as_path));
    Json(Server {
        version: env!("CARGO_PKG_VERSION"),
        root: settings.root.as_ref().map(|root| root.display().to_string()),
        running: crawls.values().filter(|dir| in_use(dir)).count(),
        crawls: crawls.len(),
        concurrency_max: settings.concurrency_max,
        bandwidth_max: settings.bandwidth_max,
        disk_free: here.and_then(disk_space).map(|(free, _)| free),
        memory: resident(),
        confined_to: settings.confined_to.clone(),
        public_search: settings.public_search,
    })
}
