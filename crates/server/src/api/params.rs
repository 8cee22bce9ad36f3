//! The parameters of a request's query; what cannot be read is a problem like any other.

use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::problem::Problem;

/// The parameters behind the `?`.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        let Query(params) = query.map_err(|error| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                format!("The query cannot be read: {}.", error.body_text()),
            )
        })?;
        Ok(Self(params))
    }
}

/// One URL that is asked about.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OneUrl {
    /// The URL.
    pub url: String,
}
