//! The API, one file per thing that can be asked for. Its description is made from the same code.

mod archive;
mod broken;
mod compare;
mod crawls;
mod events;
mod graph;
mod health;
mod hosts;
mod links;
mod params;
pub mod replay;
mod rules;
mod runs;
mod search;
mod server;
mod settings;
mod skipped;
mod status;
mod stream;
mod url;
mod urls;
mod why;

use axum::Router;
use axum::routing::get;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa_axum::router::OpenApiRouter;

use crate::app::Shared;
use crate::{describe, metrics};

#[derive(OpenApi)]
#[openapi(info(title = "larm", description = "Crawls: start, watch, steer, search."))]
struct About;

/// Every path below `/api/v1`, and `/metrics`, with its description.
pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(About::openapi()).nest("/api/v1", all()).merge(metrics::router())
}

fn all() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(crawls::router())
        .merge(events::router())
        .merge(health::router())
        .merge(hosts::router())
        .merge(server::router())
        .merge(settings::router())
        .merge(rules::router())
        .merge(status::router())
        .merge(found())
}

/// What is shown of a crawl.
fn found() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(urls::router())
        .merge(url::router())
        .merge(why::router())
        .merge(links::router())
        .merge(broken::router())
        .merge(skipped::router())
        .merge(search::router())
        .merge(graph::router())
        .merge(archive::router())
        .merge(replay::router())
        .merge(runs::router())
        .merge(compare::router())
}

/// The description itself, as a path.
pub fn document(document: Document) -> Router<Shared> {
    let document = describe::complete(document);
    Router::new().route("/api/v1/openapi.json", get(async move || axum::Json(document.clone())))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Every operation with its path.
    fn operations() -> Vec<(String, Value)> {
        let (_, document) = router().split_for_parts();
        let document = serde_json::to_value(describe::complete(document)).unwrap();
        let paths = document["paths"].as_object().unwrap().clone();
        let of_path = |(path, item): (String, Value)| {
            let operations = item.as_object().unwrap().values().cloned().collect::<Vec<_>>();
            operations.into_iter().map(move |operation| (path.clone(), operation))
        };
        paths.into_iter().flat_map(of_path).collect()
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let mut names = BTreeSet::new();
        for (path, operation) in operations() {
            let name = operation["operationId"].as_str().unwrap_or_default().to_owned();
            assert!(!name.is_empty() && names.insert(name.clone()), "{path}: {name}");
        }
        assert!(names.contains("server_metrics"), "{names:?}");
    }

    #[test]
    fn what_is_said_to_be_in_a_path_is_there() {
        for (path, operation) in operations() {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap();
                let is_there = path.contains(&format!("{{{name}}}"));
                assert_eq!(parameter["in"] == "path", is_there, "{path}: {name}");
            }
        }
    }
}
