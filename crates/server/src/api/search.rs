//! `/crawls/{id}/search`: full-text search over one crawl, also while it runs.

use axum::Json;
use axum::extract::{Path, State};
use larm_core::Limits;
use larm_crawl::clock::Clock;
use larm_search::Request;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::params::Params;
use crate::app::Shared;
use crate::problem::Problem;
use crate::views;
use crate::views::search::{Found, filter, problem};

/// Hits of a page, if nobody says how many, and at most.
const HITS: usize = 10;
const HITS_MAX: usize = 100;

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchText {
    /// What to look for: words, `"phrases"`, `+must`, `-not`, `begin*`, `title:word`.
    #[param(required = false)]
    q: String,
    /// Hits wanted: 10 if nothing is said, at most 100.
    #[param(required = false, value_type = u64, minimum = 1, maximum = 100)]
    limit: String,
    /// Hits that were shown already.
    #[param(required = false, value_type = u64)]
    offset: String,
    /// Only pages of this host.
    #[param(required = false)]
    host: String,
    /// Only pages in this language, by two letters.
    #[param(required = false)]
    lang: String,
    /// Only pages of this type: `html`, `pdf`, `text/plain`, …
    #[serde(rename = "type")]
    #[param(required = false)]
    media: String,
    /// Only pages not older than this day, such as `2026-11-15`.
    #[param(required = false)]
    since: String,
    /// Only pages not newer than this day.
    #[param(required = false)]
    until: String,
}

impl SearchText {
    /// What is meant.
    pub(super) fn request(&self, limits: &Limits) -> Result<Request, Problem> {
        let given = [
            ("host", &self.host),
            ("lang", &self.lang),
            ("type", &self.media),
            ("since", &self.since),
            ("until", &self.until),
        ];
        let filters = given.into_iter().map(|(name, value)| filter(name, value));
        let filters: Vec<_> =
            filters.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        if self.q.trim().is_empty() && filters.is_empty() {
            return Err(Problem::invalid("q", "There is nothing to look for: `q` is empty."));
        }
        let ranked_max = usize::try_from(limits.search_ranked_max).unwrap_or(usize::MAX);
        Ok(Request {
            query: self.q.clone(),
            filters,
            limit: number("limit", &self.limit, HITS, 1..=HITS_MAX)?,
            offset: number("offset", &self.offset, 0, 0..=ranked_max)?,
            similar: false,
            snippets: true,
            explain: false,
        })
    }
}

fn number(
    key: &str,
    text: &str,
    usual: usize,
    range: std::ops::RangeInclusive<usize>,
) -> Result<usize, Problem> {
    match text.trim() {
        "" => Some(usual),
        text => text.parse().ok().filter(|number| range.contains(number)),
    }
    .ok_or_else(|| {
        let (low, high) = (range.start(), range.end());
        Problem::invalid(key, format!("`{key}` is a number from {low} to {high}."))
    })
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(search))
}

/// Full-text search over one crawl
#[utoipa::path(get, path = "/crawls/{id}/search", tag = "found", params(("id" = String, Path, description = "The crawl."), SearchText),
    responses((status = 200, body = Found), (status = "4XX", body = Problem)))]
async fn search(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Params(text): Params<SearchText>,
) -> Result<Json<Found>, Problem> {
    let request = text.request(&app.settings.limits)?;
    let found = views::look(&app, id, move |looked| {
        let clock = Clock::start();
        let begin = clock.now();
        let index = looked.views.indexes.open(&looked.dir, looked.limits).map_err(problem)?;
        let found = index.search(&request).map_err(problem)?;
        Ok(Found { ms: clock.now().since(begin), ..found })
    });
    Ok(Json(found.await?))
}
