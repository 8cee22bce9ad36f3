//! `/crawls/{id}/links`: who links to a URL, or where it leads.

use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::params::{OneUrl, Params};
use crate::app::Shared;
use crate::problem::Problem;
use crate::views::detail::{Link, Way, links as links_of};
use crate::views::pages::PageText;
use crate::views::{self, typed_url};

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct WayText {
    /// `in`: who links to it, or `out`: where it leads. `in` if nothing is said.
    #[param(required = false)]
    direction: String,
}

impl WayText {
    fn way(&self) -> Result<Way, Problem> {
        match self.direction.as_str() {
            "" | "in" => Ok(Way::In),
            "out" => Ok(Way::Out),
            _ => Err(Problem::invalid("direction", "`direction` is `in` or `out`.")),
        }
    }
}

/// A page of links.
#[derive(Debug, Serialize, ToSchema)]
struct LinkPage {
    /// The links, in the order of the crawl or of the page.
    links: Vec<Link>,
    /// How many there are in all.
    total: u64,
    /// Where the next page begins; null at the end.
    next: Option<String>,
    /// Whether the link log is longer than what was read of it, so that there may be more.
    partial: bool,
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(links))
}

/// Links to a URL, or from it
#[utoipa::path(get, path = "/crawls/{id}/links", tag = "found", params(("id" = String, Path, description = "The crawl."), OneUrl, WayText, PageText),
    responses((status = 200, body = LinkPage), (status = "4XX", body = Problem)))]
async fn links(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Params(asked): Params<OneUrl>,
    Params(way): Params<WayText>,
    Params(page): Params<PageText>,
) -> Result<Json<LinkPage>, Problem> {
    let url = typed_url(&asked.url)?;
    let (way, begin) = (way.way()?, page.begin()? as u64);
    let limit = page.limit(&app.settings.limits)? as u64;
    let found =
        views::pass(&app, id, move |looked| links_of(looked, url.as_str(), way, begin, limit))
            .await?;
    let end = begin + found.links.len() as u64;
    let next = (end < found.total && !found.links.is_empty()).then(|| end.to_string());
    Ok(Json(LinkPage { links: found.links, total: found.total, next, partial: found.partial }))
}
