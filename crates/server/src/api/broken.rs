//! `/crawls/{id}/broken` and `/crawls/{id}/redirects`: what links lead to that is not there, or elsewhere by now.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::params::Params;
use super::stream::{self, Pieces};
use crate::app::{App, Shared};
use crate::problem::Problem;
use crate::table::{Table, Whole};
use crate::views::linked::chains::{End, ends};
use crate::views::linked::lines::LinkLines;
use crate::views::linked::{From, Kind, Linked, Target};
use crate::views::pages::PageText;
use crate::views::{self, Looked, detail};

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct Containing {
    /// A piece of the URL.
    #[param(required = false)]
    q: String,
}

/// A URL that is broken.
#[derive(Debug, Serialize, ToSchema)]
struct Broken {
    /// The URL.
    url: String,
    /// `fetched`, `failed` or `host-unreachable`.
    outcome: String,
    /// Status of the answer, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// What is wrong.
    reason: String,
    /// How many links lead to it.
    from_total: u64,
    /// Some of the pages that have them.
    from: Vec<From>,
}

/// A URL that is redirected.
#[derive(Debug, Serialize, ToSchema)]
struct Redirect {
    /// The URL.
    url: String,
    /// Status of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// Where it leads.
    target: String,
    /// Where it leads in the end; absent if it leads in a circle.
    #[serde(rename = "final", skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    /// Status of the end, if that was fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    final_status: Option<u16>,
    /// Redirects on the way.
    hops: u32,
    /// How many links lead to it.
    from_total: u64,
    /// Some of the pages that have them.
    from: Vec<From>,
}

/// A page of groups.
#[derive(Debug, Serialize, ToSchema)]
struct Groups<T> {
    /// The groups, those with most links first.
    groups: Vec<T>,
    /// How many there are.
    total: u64,
    /// Where the next page begins; null at the end.
    next: Option<String>,
    /// Why something may be missing, in sentences.
    notes: Vec<String>,
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(broken))
        .routes(routes!(broken_csv))
        .routes(routes!(redirects))
        .routes(routes!(redirects_csv))
}

/// Broken URLs, with who links to them
#[utoipa::path(get, path = "/crawls/{id}/broken", tag = "found", params(("id" = String, Path, description = "The crawl."), Containing, PageText),
    responses((status = 200, body = Groups<Broken>), (status = "4XX", body = Problem)))]
async fn broken(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Params(containing): Params<Containing>,
    Params(page): Params<PageText>,
) -> Result<Json<Groups<Broken>>, Problem> {
    let groups = views::pass(&app, id, move |looked| {
        let shown = Shown::find(looked, Kind::Broken, &containing.q, &page)?;
        let groups = shown.targets.iter().map(|(target, whole)| in_broken(target, whole));
        Ok(shown.page(groups.collect()))
    });
    Ok(Json(groups.await?))
}

/// Redirected URLs, with who links to them and where they lead in the end
#[utoipa::path(get, path = "/crawls/{id}/redirects", tag = "found", params(("id" = String, Path, description = "The crawl."), Containing, PageText),
    responses((status = 200, body = Groups<Redirect>), (status = "4XX", body = Problem)))]
async fn redirects(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Params(containing): Params<Containing>,
    Params(page): Params<PageText>,
) -> Result<Json<Groups<Redirect>>, Problem> {
    let groups = views::pass(&app, id, move |looked| {
        let shown = Shown::find(looked, Kind::Redirected, &containing.q, &page)?;
        let to: Vec<String> = shown
            .targets
            .iter()
            .map(|(_, whole)| whole.row.redirect.clone().unwrap_or_default())
            .collect();
        let ends = looked.table(|table| ends(table, &to))?;
        let groups = shown
            .targets
            .iter()
            .zip(ends)
            .map(|((target, whole), end)| in_redirect(target, whole, end));
        Ok(shown.page(groups.collect()))
    });
    Ok(Json(groups.await?))
}

/// The part of a list that is shown.
struct Shown {
    linked: Arc<Linked>,
    targets: Vec<(Target, Whole)>,
    total: u64,
    next: Option<String>,
}

impl Shown {
    /// The part of the list, told in groups.
    fn page<T>(&self, groups: Vec<T>) -> Groups<T> {
        let notes = self.linked.notes.clone();
        Groups { groups, total: self.total, next: self.next.clone(), notes }
    }

    fn find(
        looked: &Looked<'_>,
        kind: Kind,
        containing: &str,
        page: &PageText,
    ) -> Result<Self, Problem> {
        let linked = looked.views.linked.of(looked)?;
        let targets = match kind {
            Kind::Broken => &linked.broken,
            Kind::Redirected => &linked.redirects,
        };
        let (targets, total, next) = looked.table(|table| {
            let wanted = chosen(table, targets, containing);
            let (part, next) = page.part(&wanted, looked.limits)?;
            let rows: Vec<usize> = part.iter().map(|(row, _)| *row).collect();
            let rows = detail::rows(table, &rows)?;
            let part = part.iter().map(|(_, target)| (*target).clone()).zip(rows);
            Ok((part.collect(), wanted.len() as u64, next))
        })?;
        Ok(Self { targets, total, next, linked: linked.clone() })
    }
}

/// The targets whose URL has a text in it, each with the index of its row.
fn chosen<'a>(table: &Table, targets: &'a [Target], containing: &str) -> Vec<(usize, &'a Target)> {
    let containing = containing.trim().to_ascii_lowercase();
    let found = targets.iter().filter_map(|target| Some((table.index(target.row)?, target)));
    let fits = |row: usize| {
        containing.is_empty() || table.url(row).to_ascii_lowercase().contains(&containing)
    };
    found.filter(|(row, _)| fits(*row)).collect()
}

fn in_broken(target: &Target, whole: &Whole) -> Broken {
    let row = &whole.row;
    let answered = || row.status.map(|status| format!("The server answers {status}."));
    Broken {
        url: row.url.clone(),
        outcome: row.outcome.clone(),
        status: row.status,
        reason: row.reason.clone().or_else(answered).unwrap_or_default(),
        from_total: target.from_total,
        from: target.from.clone(),
    }
}

fn in_redirect(target: &Target, whole: &Whole, end: End) -> Redirect {
    let row = &whole.row;
    Redirect {
        url: row.url.clone(),
        status: row.status,
        target: row.redirect.clone().unwrap_or_default(),
        end: end.url,
        final_status: end.status,
        hops: end.hops,
        from_total: target.from_total,
        from: target.from.clone(),
    }
}

/// Links to broken URLs, as a table for spreadsheets
#[utoipa::path(get, path = "/crawls/{id}/broken.csv", tag = "found", params(("id" = String, Path, description = "The crawl.")),
    responses((status = 200, content_type = "text/csv"), (status = "4XX", body = Problem)))]
async fn broken_csv(
    State(app): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    csv(app, id, Kind::Broken, "broken").await
}

/// Links to redirected URLs, as a table for spreadsheets
#[utoipa::path(get, path = "/crawls/{id}/redirects.csv", tag = "found", params(("id" = String, Path, description = "The crawl.")),
    responses((status = 200, content_type = "text/csv"), (status = "4XX", body = Problem)))]
async fn redirects_csv(
    State(app): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    csv(app, id, Kind::Redirected, "redirects").await
}

async fn csv(app: Shared, id: String, kind: Kind, word: &str) -> Result<Response, Problem> {
    let lines = views::look(&app, id.clone(), move |looked| LinkLines::new(looked, kind)).await?;
    let name = format!("{id}-{word}.csv");
    Ok(stream::csv(app, &name, Lines { id, lines }))
}

struct Lines {
    id: String,
    lines: LinkLines,
}

impl Pieces for Lines {
    fn next(&mut self, app: &App) -> Result<Option<Vec<u8>>, Problem> {
        let looked = app.looked(&self.id)?;
        Ok(self.lines.next(&looked)?.map(String::into_bytes))
    }
}
