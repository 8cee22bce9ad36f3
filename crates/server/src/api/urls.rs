//! `/crawls/{id}/urls`: every URL that settled, filtered, sorted and page by page; and as a table for spreadsheets.

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
use crate::table::{CSV_HEADER, Cursor, Filter, FilterText, PageAsk, Row, Sort, csv_line};
use crate::views::pages::PageText;
use crate::views::{self, Looked, detail};

/// Rows that are written to a table at a time.
const ROWS_AT_A_TIME: usize = 2_000;

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct SortText {
    /// `at`, `url`, `status`, `bytes`, `depth`, `ms` or `type`; with `-` before it the largest come first.
    #[param(required = false)]
    sort: String,
}

/// URLs of a crawl.
#[derive(Debug, Serialize, ToSchema)]
struct Urls {
    /// What became of each.
    rows: Vec<Row>,
    /// How many fit the filters.
    total: u64,
    /// How many there are in all.
    all: u64,
    /// Where the next page begins; null at the end.
    next: Option<String>,
    /// Rows that are older than what can be filtered and sorted.
    #[serde(skip_serializing_if = "is_none")]
    left_out: u64,
    /// Lines of the log that cannot be read.
    #[serde(skip_serializing_if = "is_none")]
    damaged: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(urls)).routes(routes!(csv))
}

/// URLs of a crawl
#[utoipa::path(get, path = "/crawls/{id}/urls", tag = "found", params(("id" = String, Path, description = "The crawl."), FilterText, SortText, PageText),
    responses((status = 200, body = Urls), (status = "4XX", body = Problem)))]
async fn urls(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Params(filter): Params<FilterText>,
    Params(sort): Params<SortText>,
    Params(page): Params<PageText>,
) -> Result<Json<Urls>, Problem> {
    views::look(&app, id, move |looked| found(looked, &filter, &sort, &page)).await.map(Json)
}

fn found(
    looked: &Looked<'_>,
    filter: &FilterText,
    sort: &SortText,
    page: &PageText,
) -> Result<Urls, Problem> {
    let ask = PageAsk {
        filter: Filter::parse(filter)?,
        sort: Sort::parse(&sort.sort)?,
        limit: page.limit(looked.limits)?,
        after: Cursor::parse(&page.after)?,
    };
    let mut urls = looked.table(|table| {
        let page = table.page(&ask)?;
        let rows = detail::rows(table, &page.rows)?;
        Ok(Urls {
            rows: rows.into_iter().map(|whole| whole.row).collect(),
            total: page.total,
            all: table.len() as u64 + table.left_out(),
            next: page.next.map(|next| next.text()),
            left_out: table.left_out(),
            damaged: table.damaged(),
        })
    })?;
    add_titles(looked, &mut urls.rows);
    Ok(urls)
}

/// Titles are in the search index; without one there are none.
pub fn add_titles(looked: &Looked<'_>, rows: &mut [Row]) {
    let Ok(index) = looked.views.indexes.open(&looked.dir, looked.limits) else { return };
    let mut pages: Vec<&mut Row> = rows.iter_mut().filter(|row| row.status == Some(200)).collect();
    let urls: Vec<&str> = pages.iter().map(|row| row.url.as_str()).collect();
    let titles = index.titles(&urls);
    pages.iter_mut().zip(titles).for_each(|(row, title)| row.title = title);
}

/// URLs of a crawl, as a table for spreadsheets
#[utoipa::path(get, path = "/crawls/{id}/urls.csv", tag = "found", params(("id" = String, Path, description = "The crawl."), FilterText, SortText),
    responses((status = 200, content_type = "text/csv"), (status = "4XX", body = Problem)))]
async fn csv(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Params(filter): Params<FilterText>,
    Params(sort): Params<SortText>,
) -> Result<Response, Problem> {
    let name = format!("{id}-urls.csv");
    let rows = Rows::find(&app, id, filter, sort).await?;
    Ok(stream::csv(app, &name, rows))
}

/// The rows of a table that are not written yet, by number.
struct Rows {
    id: String,
    numbers: std::vec::IntoIter<u64>,
    has_header: bool,
}

impl Rows {
    async fn find(
        app: &Shared,
        id: String,
        filter: FilterText,
        sort: SortText,
    ) -> Result<Self, Problem> {
        let (filter, sort) = (Filter::parse(&filter)?, Sort::parse(&sort.sort)?);
        let numbers = views::look(app, id.clone(), move |looked| {
            looked.table(|table| {
                let rows = table.all(&filter, sort).into_iter();
                Ok(rows.map(|row| table.number(row)).collect::<Vec<_>>())
            })
        });
        Ok(Self { id, numbers: numbers.await?.into_iter(), has_header: false })
    }
}

impl Pieces for Rows {
    fn next(&mut self, app: &App) -> Result<Option<Vec<u8>>, Problem> {
        if !std::mem::replace(&mut self.has_header, true) {
            return Ok(Some(CSV_HEADER.as_bytes().to_vec()));
        }
        let numbers: Vec<u64> = self.numbers.by_ref().take(ROWS_AT_A_TIME).collect();
        if numbers.is_empty() {
            return Ok(None);
        }
        app.looked(&self.id)?.table(|table| {
            let rows: Vec<usize> =
                numbers.iter().filter_map(|&number| table.index(number)).collect();
            let rows = detail::rows(table, &rows)?;
            Ok(Some(rows.iter().flat_map(|whole| csv_line(&whole.row).into_bytes()).collect()))
        })
    }
}
