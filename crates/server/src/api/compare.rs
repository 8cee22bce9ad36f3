//! `/compare`: two crawls side by side.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::params::Params;
use crate::app::Shared;
use crate::crawl::{self, Crawl};
use crate::problem::Problem;
use crate::views;
use crate::views::compare::{Differences, compare as compare_both};

#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Both {
    /// The one crawl.
    a: String,
    /// The other.
    b: String,
}

/// Two crawls side by side.
#[derive(Debug, Serialize, ToSchema)]
struct Compared {
    /// The one.
    a: Crawl,
    /// The other.
    b: Crawl,
    #[serde(flatten)]
    differences: Differences,
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(compare))
}

/// Two crawls side by side
#[utoipa::path(get, path = "/compare", tag = "found", params(Both), responses((status = 200, body = Compared), (status = "4XX", body = Problem)))]
async fn compare(
    State(app): State<Shared>,
    Params(both): Params<Both>,
) -> Result<Json<Compared>, Problem> {
    let (_, a) = crawl::find(&app, &both.a).await?;
    let (_, b) = crawl::find(&app, &both.b).await?;
    let differences = views::pass_over(&app, move |app| {
        compare_both(&app.looked(&both.a)?, &app.looked(&both.b)?)
    });
    let differences = differences.await?;
    Ok(Json(Compared { a, b, differences }))
}
