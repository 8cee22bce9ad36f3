//! What holds for every path of the API, added to its description in one place: who gets in, and what can go wrong.

use utoipa::PartialSchema;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, OpenApi, Ref, RefOr, Response, ResponseBuilder, SecurityRequirement,
};

use crate::problem::Problem;

/// What any request can be answered with.
const ALWAYS: &[(&str, &str)] = &[
    ("400", "It is no proper request."),
    ("401", "The token is missing or wrong."),
    ("403", "It was not sent by the page of this server."),
    ("421", "The server does not answer to that name."),
    ("429", "Too many wrong tokens."),
    ("500", "Our own machine failed."),
    ("503", "Too much is going on."),
    ("504", "It took too long."),
];

/// The same for paths that name something.
const NAMED: &[(&str, &str)] = &[("404", "There is no such thing.")];

/// The same for requests with parameters or a body.
const GIVEN: &[(&str, &str)] = &[
    ("409", "It cannot be done as things stand."),
    ("413", "The body is too long."),
    ("415", "The body is no JSON."),
    ("422", "A value is not understood; `key` names it."),
];

/// The whole description.
pub fn complete(mut document: OpenApi) -> OpenApi {
    let components = document.components.get_or_insert_default();
    components.schemas.entry("Problem".to_owned()).or_insert_with(Problem::schema);
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let session = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("larm_session_PORT")));
    components.add_security_scheme("token", bearer);
    components.add_security_scheme("session", session);
    let either =
        ["token", "session"].map(|name| SecurityRequirement::new::<_, [&str; 0], &str>(name, []));
    document.security = Some(either.to_vec());
    for (path, item) in &mut document.paths.paths {
        let is_named = path.contains('{');
        operations(item).for_each(|operation| {
            name(operation);
            describe(operation, is_named);
        });
    }
    document
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, post, patch, delete, put, .. } = item;
    [get, post, patch, delete, put].into_iter().flatten()
}

/// Handlers are named for the file that they are in; a program that is made from the description has one place for
/// all.
fn name(operation: &mut Operation) {
    let tag = operation.tags.iter().flatten().next();
    if let Some((tag, id)) = tag.zip(operation.operation_id.as_mut()) {
        *id = format!("{tag}_{id}");
    }
}

fn describe(operation: &mut Operation, is_named: bool) {
    let is_given = operation.request_body.is_some() || operation.parameters.is_some();
    let named = if is_named { NAMED } else { &[] };
    let given = if is_given { GIVEN } else { &[] };
    let responses = &mut operation.responses.responses;
    for (status, what) in [ALWAYS, named, given].concat() {
        responses.insert(status.to_owned(), RefOr::T(problem(what)));
    }
    for (status, response) in
        responses.iter_mut().filter(|(status, _)| status.starts_with(['4', '5']))
    {
        let said = match response {
            RefOr::T(response) if !response.description.is_empty() => response.description.clone(),
            _ => format!("Status {status}."),
        };
        *response = RefOr::T(problem(&said));
    }
}

fn problem(what: &str) -> Response {
    let schema = Ref::from_schema_name("Problem");
    let content = ContentBuilder::new().schema(Some(schema)).build();
    ResponseBuilder::new().description(what).content("application/problem+json", content).build()
}
