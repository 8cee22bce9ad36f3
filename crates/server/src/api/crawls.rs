//! `/crawls`: made, listed, started, paused, stopped, deleted.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use larm_crawl::control::{Request, ask};
use larm_crawl::directory::in_use;
use larm_crawl::handle::{Phase, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::crawl::{self, Crawl};
use crate::input::Body;
use crate::keeper::Ending;
use crate::make;
use crate::problem::Problem;
use crate::wanted::Want;

/// All crawls.
#[derive(Debug, Serialize, ToSchema)]
pub struct Crawls {
    /// Each of them, by id.
    pub crawls: Vec<Crawl>,
}

/// A crawl to be made.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewCrawl {
    /// Its name; if there is none, it is named after its first URL.
    #[serde(default)]
    name: Option<String>,
    /// Keys of `larm.toml`, and `seeds`: where it begins.
    #[schema(value_type = Object, example = json!({"seeds": ["https://example.com/"], "max-pages": 100}))]
    settings: Map<String, Value>,
    /// Whether it begins at once.
    #[serde(default = "yes")]
    start: bool,
}

/// What a crawl would do.
#[derive(Debug, Serialize, ToSchema)]
pub struct Previewed {
    /// In sentences.
    words: Vec<String>,
    /// Every setting that would hold, the defaults included.
    #[schema(value_type = Object)]
    settings: Map<String, Value>,
    /// What it would be called.
    name: String,
    /// Where it would be kept.
    dir: String,
}

fn yes() -> bool {
    true
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(preview))
        .routes(routes!(get, delete))
        .routes(routes!(start))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(stop))
}

/// All crawls
#[utoipa::path(get, path = "/crawls", tag = "crawls", responses((status = 200, body = Crawls)))]
async fn list(State(app): State<Shared>) -> Json<Crawls> {
    Json(Crawls { crawls: crawl::look_at_all(&app).await })
}

/// What a crawl with these settings would do; nothing is made
#[utoipa::path(
    post, path = "/crawls/preview", tag = "crawls", request_body = NewCrawl,
    responses(
        (status = 200, body = Previewed),
        (status = 409, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem),
    )
)]
async fn preview(
    State(app): State<Shared>,
    Body(new): Body<NewCrawl>,
) -> Result<Json<Previewed>, Problem> {
    let preview = app.launcher()?.preview(&new.settings)?;
    let dir = make::dir_for(&app, new.name.as_deref(), &preview.name)?;
    let (name, dir) = (crawl::name_of(&dir), dir.display().to_string());
    Ok(Json(Previewed { words: preview.words, settings: preview.settings, name, dir }))
}

/// Make a crawl, and start it
#[utoipa::path(
    post, path = "/crawls", tag = "crawls", request_body = NewCrawl,
    responses(
        (status = 201, body = Crawl),
        (status = 409, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem),
    )
)]
async fn create(
    State(app): State<Shared>,
    Body(new): Body<NewCrawl>,
) -> Result<(StatusCode, Json<Crawl>), Problem> {
    let dir = make::make(&app, new.name.as_deref(), &new.settings)?;
    if new.start {
        app.keeper.start(&app, &dir)?;
    }
    let id = make::id_of(&app, &dir)?;
    Ok((StatusCode::CREATED, Json(crawl::look(&app, &id, &dir).await)))
}

/// One crawl
#[utoipa::path(
    get, path = "/crawls/{id}", tag = "crawls", params(("id" = String, Path)),
    responses((status = 200, body = Crawl), (status = 404, body = Problem))
)]
async fn get(State(app): State<Shared>, Path(id): Path<String>) -> Result<Json<Crawl>, Problem> {
    Ok(Json(crawl::find(&app, &id).await?.1))
}

/// Delete a crawl that does not run, with all that it kept
#[utoipa::path(
    delete, path = "/crawls/{id}", tag = "crawls", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem), (status = 409, body = Problem))
)]
async fn delete(State(app): State<Shared>, Path(id): Path<String>) -> Result<StatusCode, Problem> {
    let dir = app.dir(&id)?;
    make::remove(&app, &dir)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Start a crawl, or let it go on
#[utoipa::path(
    post, path = "/crawls/{id}/start", tag = "crawls", params(("id" = String, Path)),
    responses((status = 200, body = Crawl), (status = 404, body = Problem), (status = 409, body = Problem))
)]
async fn start(State(app): State<Shared>, Path(id): Path<String>) -> Result<Json<Crawl>, Problem> {
    let dir = app.dir(&id)?;
    let status = ask_only(&dir, Request::Status { hosts: 0 }).await?;
    let status = status.as_ref().map(Status::read).transpose().map_err(Problem::internal)?;
    match status.map(|status| status.phase) {
        Some(Phase::Stopping) => app.keeper.start_again(&dir, Ending::Stopping)?,
        None if in_use(&dir) => app.keeper.start_again(&dir, Ending::Silent)?,
        _ => {
            app.keeper.start(&app, &dir)?;
            // One that rests is woken.
            ask_only(&dir, Request::Resume).await?;
        }
    }
    Ok(Json(crawl::look(&app, &id, &dir).await))
}

/// Let a running crawl rest
#[utoipa::path(
    post, path = "/crawls/{id}/pause", tag = "crawls", params(("id" = String, Path)),
    responses((status = 200, body = Crawl), (status = 404, body = Problem), (status = 409, body = Problem))
)]
async fn pause(State(app): State<Shared>, Path(id): Path<String>) -> Result<Json<Crawl>, Problem> {
    steer(&app, &id, Request::Pause, Want::Paused).await
}

/// Wake a crawl that rests
#[utoipa::path(
    post, path = "/crawls/{id}/resume", tag = "crawls", params(("id" = String, Path)),
    responses((status = 200, body = Crawl), (status = 404, body = Problem), (status = 409, body = Problem))
)]
async fn resume(State(app): State<Shared>, Path(id): Path<String>) -> Result<Json<Crawl>, Problem> {
    steer(&app, &id, Request::Resume, Want::Running).await
}

/// End a crawl; it can go on later
#[utoipa::path(
    post, path = "/crawls/{id}/stop", tag = "crawls", params(("id" = String, Path)),
    responses((status = 200, body = Crawl), (status = 404, body = Problem), (status = 409, body = Problem))
)]
async fn stop(State(app): State<Shared>, Path(id): Path<String>) -> Result<Json<Crawl>, Problem> {
    let dir = app.dir(&id)?;
    if app.keeper.entry(&dir).want == Want::Running
        && ask_only(&dir, Request::Stop).await?.is_none()
    {
        // It had died and would have been started again; or it is starting, and is stopped as soon as it listens.
        app.keeper.stop(&dir)?;
        return Ok(Json(crawl::look(&app, &id, &dir).await));
    }
    steer(&app, &id, Request::Stop, Want::Stopped).await
}

async fn ask_only(dir: &std::path::Path, request: Request) -> Result<Option<Value>, Problem> {
    ask(dir, request).await.map_err(Problem::internal)
}

async fn steer(
    app: &Shared,
    id: &str,
    request: Request,
    want: Want,
) -> Result<Json<Crawl>, Problem> {
    let dir = app.dir(id)?;
    if ask_only(&dir, request).await?.is_none() {
        return Err(Problem::conflict("This crawl does not run, or has only just been started.")
            .hint(format!("POST /api/v1/crawls/{id}/start starts it.")));
    }
    // What was started in a terminal stays the business of whoever sits there.
    if app.keeper.knows(&dir) {
        app.keeper.want(&dir, want)?;
    }
    Ok(Json(crawl::look(app, id, &dir).await))
}
