//! What comes with a request, read so that what is wrong with it can be said.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use crate::answers::too_long;
use crate::app::Shared;
use crate::problem::Problem;

/// A body of JSON. A form of another site's page cannot send one without asking us first, so the content type
/// has to say that it is JSON.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Shared> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Shared) -> Result<Self, Problem> {
        if !is_json(&request) {
            let detail = "The body has to be JSON.";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail)
                .hint("Send it with `Content-Type: application/json`."));
        }
        let bytes = Bytes::from_request(request, app).await.map_err(|refused| {
            let max = app.settings.limits.server_body_bytes_max;
            match refused.status() {
                StatusCode::PAYLOAD_TOO_LARGE => too_long(max),
                status => Problem::new(status, refused.body_text()),
            }
        })?;
        let value = serde_json::from_slice(&bytes).map_err(|error| {
            Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("The body is not understood: {error}."),
            )
        })?;
        Ok(Self(value))
    }
}

fn is_json(request: &Request) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}
