//! What every answer says besides: how a browser is to treat it.
//!
//! An answer that says something of its own, as an archived page does, keeps it.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

/// What a page of ours may do: load its own files and speak with us, nothing else. It cannot be framed, and
/// what hostile titles smuggle into it cannot run.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

fn headers(path: &str) -> impl Iterator<Item = (HeaderName, &'static str)> + use<> {
    // An archived page has an origin that is nobody's, shows pictures of its own, and is shown in a frame: in
    // ours, or in that of another archived page. Nothing in it can be clicked to anybody's harm.
    let is_replay = path.starts_with("/replay/");
    let resource = if is_replay { "cross-origin" } else { "same-origin" };
    let frame = (!is_replay).then_some((header::X_FRAME_OPTIONS, "DENY"));
    let all = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), resource),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    all.into_iter().chain(frame)
}

/// Adds them.
pub async fn add(request: Request, next: Next) -> Response {
    let added = headers(request.uri().path());
    let mut response = next.run(request).await;
    for (name, value) in added {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
