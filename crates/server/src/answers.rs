//! Bounds for every request, and one form for everything that goes wrong.
//!
//! What the framework refuses by itself (an unknown path, a wrong method, JSON that is none) is told in plain
//! text; here it becomes a [`Problem`] like all others. A request that takes too long, or one too many at a time,
//! is given up with words.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::app::Shared;
use crate::problem::Problem;

/// Bytes of a plain refusal that are repeated.
const WORDS_BYTES_MAX: usize = 4_096;

/// Places for requests.
#[derive(Debug, Clone)]
pub struct Places {
    requests: Arc<Semaphore>,
    patience: Duration,
}

impl Places {
    /// So many at a time, each for so long.
    pub fn new(requests_max: u64, request_ms_max: u64) -> Self {
        let requests_max = usize::try_from(requests_max).unwrap_or(Semaphore::MAX_PERMITS);
        let requests = Arc::new(Semaphore::new(requests_max.min(Semaphore::MAX_PERMITS)));
        Self { requests, patience: Duration::from_millis(request_ms_max) }
    }
}

/// Answers within bounds.
pub async fn bound(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let Ok(_place) = app.places.requests.try_acquire() else {
        let detail = "The server has too much to do at the moment.";
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
            .retry_after(1)
            .into_response();
    };
    let bytes_max = app.settings.limits.server_body_bytes_max;
    if claims_more_than(bytes_max, &request) {
        return too_long(bytes_max).into_response();
    }
    match timeout(app.places.patience, next.run(request)).await {
        Ok(response) => in_words(response).await,
        Err(_) => {
            let detail = "This took too long, and was given up.";
            Problem::new(StatusCode::GATEWAY_TIMEOUT, detail).into_response()
        }
    }
}

/// Whether a body is too long by its own word: there is no need to wait for it.
fn claims_more_than(bytes_max: u64, request: &Request) -> bool {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|text| text.to_str().ok());
    length.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > bytes_max)
}

/// A body that is too long.
pub fn too_long(bytes_max: u64) -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("The body has more than {bytes_max} bytes."),
    )
    .hint("The limit is `server_body_bytes_max`.")
}

async fn in_words(response: Response) -> Response {
    let (status, headers) = (response.status(), response.headers());
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_plain = kind.is_empty() || kind.starts_with(b"text/plain");
    if !(status.is_client_error() || status.is_server_error()) || !is_plain {
        return response;
    }
    let allowed = headers.get(header::ALLOW).cloned();
    let mut problem = as_problem(status, response.into_body()).await.into_response();
    if let Some(allowed) = allowed {
        problem.headers_mut().insert(header::ALLOW, allowed);
    }
    problem
}

async fn as_problem(status: StatusCode, body: Body) -> Problem {
    let bytes = to_bytes(body, WORDS_BYTES_MAX).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&bytes);
    match (status, said.trim()) {
        (StatusCode::NOT_FOUND, "") => Problem::not_found("There is nothing at this path.")
            .hint("GET /api/v1/openapi.json describes all paths."),
        (StatusCode::METHOD_NOT_ALLOWED, "") => {
            Problem::new(status, "This path does not take that method.")
        }
        (_, "") => Problem::new(status, "The request was refused."),
        (_, said) => Problem::new(status, said),
    }
}
