//! `/crawls/{id}/search`: full-text search over one crawl, also while it runs; `/search`: over all of them.

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
use crate::access::Asker;
use crate::app::{App, Shared};
use crate::crawls;
use crate::problem::Problem;
use crate::views;
use crate::views::search::{Found, Hit, filter, problem};

/// Hits of a page, if nobody says how many, and at most.
const HITS: usize = 10;
const HITS_MAX: usize = 100;
/// How far one can go through the hits of all crawls.
const OFFSET_MAX: usize = 200;

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
        if larm_search::query::parse(&self.q, limits).asks_nothing() && filters.is_empty() {
            return Err(Problem::invalid(
                "q",
                "There is nothing to look for: `q` has no word in it.",
            ));
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
    OpenApiRouter::new().routes(routes!(search)).routes(routes!(search_all))
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

/// Full-text search over all crawls
#[utoipa::path(get, path = "/search", tag = "found", params(SearchText),
    responses((status = 200, body = Found), (status = "4XX", body = Problem)))]
async fn search_all(
    State(app): State<Shared>,
    asker: Asker,
    Params(text): Params<SearchText>,
) -> Result<Json<Found>, Problem> {
    let request = text.request(&app.settings.limits)?;
    let found = views::read(&app, move |app| {
        let clock = Clock::start();
        let begin = clock.now();
        let found = over_all(app, asker, &request)?;
        Ok(Found { ms: clock.now().since(begin), ..found })
    });
    Ok(Json(found.await?))
}

/// Searches every crawl that has an index, and puts the hits together by score.
fn over_all(app: &App, asker: Asker, request: &Request) -> Result<Found, Problem> {
    if request.offset > OFFSET_MAX {
        return Err(Problem::invalid(
            "offset",
            format!("Over all crawls, `offset` is at most {OFFSET_MAX}."),
        ));
    }
    let crawls = crawls::list(&app.settings);
    let limits = &app.settings.limits;
    let crawls_max = usize::try_from(limits.server_searched_max).unwrap_or(usize::MAX);
    let wanted = Request { offset: 0, limit: request.offset + request.limit, ..request.clone() };
    let mut all = Found::default();
    if crawls.len() > crawls_max {
        all.notes.push(format!("Only {crawls_max} of {} crawls were searched.", crawls.len()));
    }
    for (id, dir) in crawls.into_iter().take(crawls_max) {
        // A crawl without an index, or with one that cannot be read, does not hide the others.
        let Ok(index) = app.views.indexes.open(&dir, limits) else { continue };
        let Ok(found) = index.search(&wanted) else { continue };
        all.total += found.total;
        all.pages += found.pages;
        all.hits.extend(found.hits.into_iter().map(|hit| Hit {
            replay: Some(app.views.replay_path(asker, &id, 0, &hit.url)),
            crawl: Some(id.clone()),
            ..hit
        }));
    }
    all.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    all.hits = all.hits.into_iter().skip(request.offset).take(request.limit).collect();
    Ok(all)
}
