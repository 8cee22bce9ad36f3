//! Long answers, made piece by piece as the other end takes them: between two pieces nothing is held but the
//! state, so that a slow reader costs nobody a place.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;

use crate::app::Shared;
use crate::problem::Problem;
use crate::views;

/// Makes the next piece of an answer; nothing at its end.
pub trait Pieces: Send + 'static {
    /// The next piece.
    fn next(&mut self, app: &crate::app::App) -> Result<Option<Vec<u8>>, Problem>;
}

/// The pieces as a body. What goes wrong on the way breaks it off, which the other end notices.
pub fn body(app: Shared, pieces: impl Pieces) -> Body {
    let stream = unfold(Some((app, pieces)), |state| async move {
        let (app, mut pieces) = state?;
        let made = views::read(&app, move |app| {
            let piece = pieces.next(app)?;
            Ok((pieces, piece))
        });
        match made.await {
            Ok((pieces, Some(piece))) => Some((Ok(Bytes::from(piece)), Some((app, pieces)))),
            Ok((_, None)) => None,
            Err(problem) => Some((Err(std::io::Error::other(problem.detail)), None)),
        }
    });
    Body::from_stream(stream)
}

/// A table for spreadsheets, to be saved under a name.
pub fn csv(app: Shared, name: &str, pieces: impl Pieces) -> Response {
    let mut response = body(app, pieces).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    headers.insert(header::CONTENT_DISPOSITION, attachment(name));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// What to save an answer as. Of a name only letters, digits, dots, hyphens and underscores are kept.
pub fn attachment(name: &str) -> HeaderValue {
    let safe = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' };
    let name: String = name.chars().map(safe).collect();
    HeaderValue::from_str(&format!("attachment; filename=\"{name}\""))
        .expect("ASCII letters are the value of a field")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_add_a_field() {
        let value = attachment("a\"; x=\r\nSet-Cookie: b");
        assert_eq!(value, "attachment; filename=\"a___x___Set-Cookie__b\"");
    }
}
