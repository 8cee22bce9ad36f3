//! `/crawls/{id}/url`: everything about one URL.

use axum::Json;
use axum::extract::{Path, State};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::params::{OneUrl, Params};
use super::urls::add_titles;
use super::why::said;
use crate::access::Asker;
use crate::app::Shared;
use crate::problem::Problem;
use crate::views::detail::{Detail, archived, both_links, head, row_of, text_of};
use crate::views::why::why;
use crate::views::{self, typed_url};

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(url))
}

/// Everything about one URL
#[utoipa::path(get, path = "/crawls/{id}/url", tag = "found", params(("id" = String, Path, description = "The crawl."), OneUrl),
    responses((status = 200, body = Detail), (status = "4XX", body = Problem)))]
async fn url(
    State(app): State<Shared>,
    asker: Asker,
    Path(id): Path<String>,
    Params(asked): Params<OneUrl>,
) -> Result<Json<Detail>, Problem> {
    let url = typed_url(&asked.url)?;
    let said = said(&app, &id, &url).await?;
    let detail = views::pass(&app, id.clone(), move |looked| {
        let text = url.as_str();
        let mut row = row_of(looked, text)?;
        // A record that cannot be read is no reason to keep back the rest.
        let kept = archived(looked, text, None).ok().flatten();
        let (incoming, out) = both_links(looked, text)?;
        let why = why(looked, &url, said, incoming.links.clone())?;
        if let Some(whole) = &mut row {
            add_titles(looked, std::slice::from_mut(&mut whole.row));
        }
        Ok(Detail {
            request: kept.as_ref().and_then(|(_, answer)| head(&answer.request)),
            response: kept.as_ref().and_then(|(_, answer)| head(&answer.head)),
            facts: row.as_ref().map(|whole| whole.facts.clone()).unwrap_or_default(),
            notes: row.as_ref().map(|whole| whole.notes.clone()).unwrap_or_default(),
            text: kept.as_ref().and_then(|(whole, answer)| text_of(looked, whole, answer)),
            archived: kept.is_some(),
            replay: kept.is_some().then(|| looked.views.replay_path(asker, &id, 0, text)),
            row: row.map(|whole| whole.row),
            incoming,
            out,
            why,
        })
    });
    Ok(Json(detail.await?))
}
