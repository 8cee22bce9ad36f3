//! The page: files inside the program, and nothing from anywhere else.

use axum::Router;
use axum::response::Html;
use axum::routing::get;

use crate::app::Shared;

/// The page at every path that is not the API's.
pub fn router() -> Router<Shared> {
    Router::new().route("/", get(async || Html("larm")))
}
