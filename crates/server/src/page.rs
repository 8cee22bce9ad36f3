//! The page: files inside the program, and nothing from anywhere else.
//!
//! Files are at `/page/NAME` and may be kept by browsers as long as their tag is the same. Every path that is
//! nobody else's is a view of the page, which finds out by itself what to show.

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::app::Shared;
use crate::problem::Problem;

/// What a browser asks for by itself.
const INDEX: &str = "index.html";

const ICON: &str = "logo.svg";

/// The head of a page that is search alone.
const PUBLIC_HEAD: &str = "<head>\n<meta name=\"larm-mode\" content=\"public-search\">";

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        /// Every file of the page, by name.
        const FILES: &[(&str, &[u8])] = &[
            $(($name, include_bytes!(concat!("../page/", $name))),)+
        ];
    };
}

files![
    "api.js",
    "base.css",
    "chart.js",
    "crawl.js",
    "detail.js",
    "dom.js",
    "format.js",
    "icons.svg",
    "index.html",
    "keys.js",
    "layout.css",
    "logo.svg",
    "main.js",
    "network.js",
    "stage.js",
    "steer.js",
    "table.js",
    "tail.js",
    "theme.js",
    "views.css",
    "views/archive.js",
    "views/broken.js",
    "views/compare.js",
    "views/crawls.js",
    "views/graph.js",
    "views/hosts.js",
    "views/new.js",
    "views/now.js",
    "views/runs.js",
    "views/search.js",
    "views/settings.js",
    "views/skipped.js",
    "views/urls.js",
    "widgets.js",
    "words.js",
];

/// The page at every path that is not the API's.
pub fn router() -> Router<Shared> {
    Router::new()
        .route("/page/{*name}", get(file))
        .route("/favicon.ico", get(icon))
        .route("/robots.txt", get(robots))
        .fallback(view)
}

/// What browsers ask for whatever the page says.
async fn icon(headers: HeaderMap) -> Response {
    find(ICON).map_or_else(
        || StatusCode::NOT_FOUND.into_response(),
        |bytes| tell(ICON, Bytes::from_static(bytes), &headers),
    )
}

/// Others' crawlers have no business here, but for the page of a public search.
async fn robots(State(app): State<Shared>) -> &'static str {
    match app.settings.public_search {
        true => "User-agent: *\nDisallow: /api/\nDisallow: /replay/\n",
        false => "User-agent: *\nDisallow: /\n",
    }
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    match find(&name) {
        Some(bytes) => tell(&name, Bytes::from_static(bytes), &headers),
        None => Problem::not_found("The page has no such file.").into_response(),
    }
}

/// A view of the page; a path that the API might have had is none.
async fn view(State(app): State<Shared>, request: Request) -> Response {
    let path = request.uri().path();
    let others = ["/api/", "/replay/", "/metrics"].iter().any(|other| path.starts_with(other));
    let is_asked = matches!(*request.method(), Method::GET | Method::HEAD);
    match find(INDEX).filter(|_| !others && is_asked) {
        Some(index) => tell(INDEX, meant_for(index, &app), request.headers()),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Where only search is served, the page is told so: it may not ask.
fn meant_for(index: &'static [u8], app: &Shared) -> Bytes {
    match app.settings.public_search {
        true => String::from_utf8_lossy(index).replacen("<head>", PUBLIC_HEAD, 1).into(),
        false => Bytes::from_static(index),
    }
}

fn find(name: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}

/// A file, unless the browser has this very one already.
fn tell(name: &str, bytes: Bytes, headers: &HeaderMap) -> Response {
    let tag = tag_of(&bytes);
    let kept = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind_of(name))),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::ETAG, tag.clone()),
    ];
    match is_known(headers.get(header::IF_NONE_MATCH), &tag) {
        true => (StatusCode::NOT_MODIFIED, kept).into_response(),
        false => (kept, bytes).into_response(),
    }
}

fn is_known(given: Option<&HeaderValue>, tag: &HeaderValue) -> bool {
    let tags = given.and_then(|given| given.to_str().ok()).unwrap_or_default().split(',');
    tags.map(|given| given.trim().trim_start_matches("W/")).any(|given| given.as_bytes() == tag)
}

fn tag_of(bytes: &[u8]) -> HeaderValue {
    let digest = Sha256::digest(bytes);
    let word: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::from_str(&format!("\"{word}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("webmanifest" | "json") => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    fn names_in(dir: &Path, base: &Path, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match path.is_dir() {
                true => names_in(&path, base, names),
                false => {
                    let name = path.strip_prefix(base).unwrap().to_string_lossy().into_owned();
                    names.insert(name);
                }
            }
        }
    }

    #[test]
    fn every_file_of_the_page_is_in_the_program_and_has_a_type() {
        let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let mut there = BTreeSet::new();
        names_in(&base, &base, &mut there);
        let here: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(here, there);
        for name in here {
            assert_ne!(kind_of(&name), "application/octet-stream", "{name}");
        }
    }

    #[test]
    fn the_page_asks_nobody_else_for_anything() {
        for (name, bytes) in FILES {
            let text = String::from_utf8_lossy(bytes);
            for place in ["src=\"http", "href=\"http", "url(http", "from \"http", "import(\"http"] {
                assert!(!text.contains(place), "{name} has {place}");
            }
        }
    }

    #[test]
    fn a_file_that_the_browser_has_is_not_sent_again() {
        let tag = tag_of(b"x");
        let rows = [(tag.to_str().unwrap().to_owned(), true), ("\"other\"".to_owned(), false)];
        for (given, known) in rows {
            let given = HeaderValue::from_str(&given).unwrap();
            assert_eq!(is_known(Some(&given), &tag), known);
        }
        assert!(!is_known(None, &tag));
    }
}
