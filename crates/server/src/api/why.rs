//! `/crawls/{id}/why`: why a URL was fetched, or not.

use axum::Json;
use axum::extract::{Path, State};
use larm_core::url::CrawlUrl;
use larm_crawl::control::{Request, ask};
use larm_crawl::explain::Explanation;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::params::{OneUrl, Params};
use super::rules::objection;
use crate::app::Shared;
use crate::problem::Problem;
use crate::views::detail::{Way, links};
use crate::views::why::{Said, Why, why as explain};
use crate::views::{self, typed_url};

/// Links that are looked for.
const LINKS_MAX: u64 = 20;

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(why))
}

/// Why a URL was fetched, or not
#[utoipa::path(get, path = "/crawls/{id}/why", tag = "found", params(("id" = String, Path, description = "The crawl."), OneUrl),
    responses((status = 200, body = Why), (status = "4XX", body = Problem)))]
async fn why(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Params(asked): Params<OneUrl>,
) -> Result<Json<Why>, Problem> {
    let url = typed_url(&asked.url)?;
    let said = said(&app, &id, &url).await?;
    let why = views::pass(&app, id, move |looked| {
        let links = links(looked, url.as_str(), Way::In, 0, LINKS_MAX)?.links;
        explain(looked, &url, said, links)
    });
    Ok(Json(why.await?))
}

/// What the crawl says of a URL, if it runs; else what its rules are. One that does not answer is asked no more: its files
/// are.
pub async fn said(app: &Shared, id: &str, url: &CrawlUrl) -> Result<Said, Problem> {
    let dir = app.dir(id)?;
    let answer = ask(&dir, Request::Why { url: url.to_string() }).await.ok().flatten();
    let told = answer.and_then(|answer| serde_json::from_value::<Explanation>(answer).ok());
    let against = match &told {
        Some(_) => None,
        None => objection(app, &dir, url).await,
    };
    Ok(Said { told, against })
}
