//! `/crawls/{id}/archive`: the archive's files, and their download, whole or in part.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::stream::{self, Pieces, attachment};
use crate::app::{App, Shared};
use crate::problem::Problem;
use crate::views;
use crate::views::archive::{self, Archive};
use crate::views::range::{Asked, asked};

/// Bytes of a file that are sent at a time.
const PIECE_BYTES: u64 = 256 * 1024;

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(files)).routes(routes!(download))
}

/// Files of the archive
#[utoipa::path(get, path = "/crawls/{id}/archive", tag = "found", params(("id" = String, Path, description = "The crawl.")),
    responses((status = 200, body = Archive), (status = "4XX", body = Problem)))]
async fn files(
    State(app): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<Archive>, Problem> {
    views::look(&app, id, archive::archive).await.map(Json)
}

/// A file of the archive
#[utoipa::path(get, path = "/crawls/{id}/archive/{name}", tag = "found",
    params(("id" = String, Path, description = "The crawl."), ("name" = String, Path, description = "A name of the list of files."),
        ("range" = Option<String>, Header, description = "One range of bytes.")),
    responses((status = 200, content_type = "application/octet-stream"), (status = 206, content_type = "application/octet-stream"),
        (status = 416, body = Problem), (status = "4XX", body = Problem)))]
async fn download(
    State(app): State<Shared>,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let opened = {
        let name = name.clone();
        views::look(&app, id, move |looked| {
            let file = archive::open(&looked.dir, &name)?;
            let bytes = file.metadata().map_err(Problem::internal)?.len();
            Ok((file, bytes))
        })
    };
    let (file, bytes) = opened.await?;
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let (status, part) = match asked(range, bytes) {
        Asked::Whole => (StatusCode::OK, 0..bytes),
        Asked::Part(part) => (StatusCode::PARTIAL_CONTENT, part),
        Asked::Nowhere => return Ok(nowhere(bytes)),
    };
    let length = part.end - part.start;
    let content_range = format!("bytes {}-{}/{bytes}", part.start, part.end.saturating_sub(1));
    let mut response =
        (status, stream::body(app, Part { file, at: part.start, end: part.end })).into_response();
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    fields.insert(header::CONTENT_DISPOSITION, attachment(&name));
    fields.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    fields.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if status == StatusCode::PARTIAL_CONTENT {
        let range =
            HeaderValue::from_str(&content_range).expect("numbers are the value of a field");
        fields.insert(header::CONTENT_RANGE, range);
    }
    Ok(response)
}

/// The answer to a range that the file does not have (RFC 9110 section 15.5.17).
fn nowhere(bytes: u64) -> Response {
    let detail = format!("The file has {bytes} bytes, and none of those that were asked for.");
    let mut response = Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, detail).into_response();
    let range = HeaderValue::from_str(&format!("bytes */{bytes}"))
        .expect("a number is the value of a field");
    response.headers_mut().insert(header::CONTENT_RANGE, range);
    response
}

/// A part of a file that is not sent yet.
struct Part {
    file: File,
    at: u64,
    end: u64,
}

impl Pieces for Part {
    fn next(&mut self, _: &App) -> Result<Option<Vec<u8>>, Problem> {
        let bytes = PIECE_BYTES.min(self.end - self.at);
        let mut piece = Vec::new();
        self.file.seek(SeekFrom::Start(self.at)).map_err(Problem::internal)?;
        let read = Read::by_ref(&mut self.file).take(bytes).read_to_end(&mut piece);
        self.at += read.map_err(Problem::internal)? as u64;
        // A file that was cut back ends early: better said than filled up.
        match piece.is_empty() && self.at < self.end {
            true => Err(Problem::internal("the file became shorter while it was sent")),
            false => Ok(Some(piece).filter(|piece| !piece.is_empty())),
        }
    }
}
