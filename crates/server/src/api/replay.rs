//! `/crawls/{id}/replay`: where an archived page can be seen; and `/replay/…`, where it is.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::params::{OneUrl, Params};
use crate::access::Asker;
use crate::app::Shared;
use crate::problem::Problem;
use crate::replay::{Place, answer};
use crate::views::{self, typed_url};

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct AtText {
    /// The wanted time, in milliseconds since 1970; the last answer if nothing is said.
    #[param(required = false, value_type = u64)]
    at: String,
}

/// Where an archived page can be seen.
#[derive(Debug, Serialize, ToSchema)]
struct Frame {
    /// A path of this server, for a frame.
    frame: String,
    /// When the copy was taken, in milliseconds since 1970; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
}

/// Where archived pages can be seen.
pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(frame))
}

/// The archived pages themselves. They are no part of the API: their paths are given out by it.
pub fn pages() -> Router<Shared> {
    Router::new().route("/replay/{*rest}", get(page))
}

/// Where an archived page can be seen
#[utoipa::path(get, path = "/crawls/{id}/replay", tag = "found", params(("id" = String, Path, description = "The crawl."), OneUrl, AtText),
    responses((status = 200, body = Frame), (status = "4XX", body = Problem)))]
async fn frame(
    State(app): State<Shared>,
    asker: Asker,
    Path(id): Path<String>,
    Params(asked): Params<OneUrl>,
    Params(at): Params<AtText>,
) -> Result<Json<Frame>, Problem> {
    app.dir(&id)?;
    let url = typed_url(&asked.url)?;
    let at = match at.at.trim() {
        "" => Some(0),
        text => text.parse().ok().filter(|at| *at < 10_000_000_000_000_000),
    };
    let at =
        at.ok_or_else(|| Problem::invalid("at", "`at` is a time in milliseconds since 1970."))?;
    let frame = app.views.replay_path(asker, &id, at, url.as_str());
    let wanted = Some(at).filter(|at| *at > 0);
    let taken = views::look(&app, id, move |looked| answer::taken_at(looked, url.as_str(), wanted));
    Ok(Json(Frame { frame, at: taken.await? }))
}

async fn page(State(app): State<Shared>, uri: Uri, headers: HeaderMap) -> Response {
    shown(app, uri, headers).await.unwrap_or_else(Problem::into_response)
}

async fn shown(app: Shared, uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    let path = uri.path_and_query().map(|path| path.as_str().to_owned()).unwrap_or_default();
    let closed = || {
        Problem::not_found("There is no archived page at this path, or not any more.")
            .hint("Paths of archived pages are good until you log out, or the server starts again.")
    };
    let place = Place::parse(&path).ok_or_else(closed)?;
    let holds = |session| app.access.holds_number(session, &app.settings.limits);
    if !app.views.capabilities.opens(place.capability, place.id, holds) {
        return Err(closed());
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let policy = answer::policy(host, &place);
    let id = place.id.to_owned();
    let shown = {
        let path = path.clone();
        views::look(&app, id, move |looked| {
            let place = Place::parse(&path)
                .ok_or_else(|| Problem::internal("a path that was read is none"))?;
            answer::shown(looked, &place)
        })
    };
    Ok(answer::response(shown.await?, &policy))
}
