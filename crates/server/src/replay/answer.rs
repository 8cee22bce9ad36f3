//! What is answered below `/replay/`.

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use larm_core::parse::{Input, Kind, text_of};
use larm_core::url::{CrawlUrl, UrlRules, canonicalise, resolve};
use larm_crawl::archived::Answer;

use super::place::{Mapper, Place};
use super::{css, html};
use crate::problem::Problem;
use crate::table::Whole;
use crate::views::Looked;
use crate::views::detail::archived;

/// Types that browsers show without doing anything else.
const SHOWN: [&str; 5] = ["image/", "audio/", "video/", "font/", "application/font-"];
/// Types that are text, and shown as such.
const TEXTS: [&str; 4] =
    ["application/json", "application/xml", "application/atom+xml", "application/rss+xml"];

/// An archived answer, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// 200, 302 or 404.
    pub status: StatusCode,
    /// Its type.
    pub content_type: String,
    /// Whether it is saved instead of shown.
    pub is_download: bool,
    /// Where it leads, for a redirect.
    pub location: Option<String>,
    /// Status with which it came.
    pub archived_status: Option<u16>,
    /// The body.
    pub body: Vec<u8>,
}

/// The answer to a path whose capability was checked.
pub fn shown(looked: &Looked<'_>, place: &Place<'_>) -> Result<Shown, Problem> {
    let address = place.address();
    let at = Some(place.at).filter(|at| *at > 0);
    for url in spellings(&address) {
        if let Some((whole, answer)) = archived(looked, &url, at)? {
            return Ok(of_answer(looked, place, &whole, answer));
        }
    }
    Ok(missing(&address))
}

/// When the answer was taken that would be shown for a URL; nothing if there is none.
pub fn taken_at(looked: &Looked<'_>, url: &str, at: Option<u64>) -> Result<Option<u64>, Problem> {
    for url in spellings(url) {
        if let Some((whole, _)) = archived(looked, &url, at)? {
            return Ok(Some(whole.row.at));
        }
    }
    Ok(None)
}

/// Under which names a URL may be in the archive: as it stands, as the crawl writes it, by the other scheme.
fn spellings(address: &str) -> Vec<String> {
    let bare = address.split('#').next().unwrap_or_default();
    let mut spellings = vec![bare.to_owned()];
    let canonical =
        resolve(bare, None, None).ok().and_then(|url| canonicalise(url, &UrlRules::default()).ok());
    spellings.extend(canonical.map(|url: CrawlUrl| url.to_string()));
    let others: Vec<String> = spellings
        .iter()
        .filter_map(|url| match url.split_once(':')? {
            ("https", rest) => Some(format!("http:{rest}")),
            ("http", rest) => Some(format!("https:{rest}")),
            _ => None,
        })
        .collect();
    spellings.extend(others);
    spellings.dedup();
    spellings
}

fn of_answer(looked: &Looked<'_>, place: &Place<'_>, whole: &Whole, answer: Answer) -> Shown {
    let row = &whole.row;
    let plain = Shown {
        status: StatusCode::OK,
        content_type: "application/octet-stream".to_owned(),
        is_download: false,
        location: None,
        archived_status: row.status,
        body: Vec::new(),
    };
    if let Some(target) = &row.redirect {
        let location = Place::path(place.capability, place.id, place.at, target);
        return Shown { status: StatusCode::FOUND, location: Some(location), ..plain };
    }
    let decoded = answer.body(looked.limits);
    let Ok(base) = resolve(&row.url, None, None) else { return missing(&row.url) };
    let prefix =
        Place::path(place.capability, place.id, if place.at > 0 { place.at } else { row.at }, "");
    let bytes_max = usize::try_from(looked.limits.server_replay_bytes_max).unwrap_or(usize::MAX);
    let media = row.media.as_deref();
    let input = Input { url: &base, content_type: media, body: &decoded, text: false };
    let essence = essence(media);
    let (kind, text) = text_of(&input);
    let mapper = Mapper::new(prefix, base.clone());
    let utf8 = |kind: &str| format!("{kind}; charset=utf-8");
    match kind {
        Kind::Html | Kind::Xhtml => Shown {
            content_type: utf8("text/html"),
            body: html::rewrite(&text, mapper, bytes_max).into_bytes(),
            ..plain
        },
        Kind::Css => {
            let sheet = css::rewrite(larm_core::parse::cut(&text, bytes_max as u64), &mapper);
            Shown { content_type: utf8("text/css"), body: sheet.into_bytes(), ..plain }
        }
        _ if SHOWN.iter().any(|shown| essence.starts_with(shown)) => {
            Shown { content_type: essence, body: decoded, ..plain }
        }
        _ if !text.is_empty()
            && (essence.starts_with("text/") && essence != "text/javascript"
                || TEXTS.contains(&essence.as_str())) =>
        {
            Shown {
                content_type: utf8("text/plain"),
                body: text.into_owned().into_bytes(),
                ..plain
            }
        }
        _ => Shown { is_download: true, body: decoded, ..plain },
    }
}

fn essence(media: Option<&str>) -> String {
    let essence =
        media.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'+' | b'.');
    if essence.bytes().all(plain) { essence } else { String::new() }
}

/// A page that says that there is none. The live URL stands there as text: nobody gets there by accident.
fn missing(address: &str) -> Shown {
    let mut url = String::new();
    super::escape::push_text(
        &mut url,
        &larm_core::parse::cut(address, 2_048).replace('&', "&amp;"),
    );
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Not in the archive</title>\
         <style>body{{font:16px/1.5 system-ui,sans-serif;margin:3rem auto;max-width:40rem;padding:0 1rem;color-scheme:light dark}}\
         code{{overflow-wrap:anywhere}}</style>\
         <h1>Not in the archive</h1><p>This crawl did not keep an answer of this URL:</p><p><code>{url}</code></p>"
    );
    Shown {
        status: StatusCode::NOT_FOUND,
        content_type: "text/html; charset=utf-8".to_owned(),
        is_download: false,
        location: None,
        archived_status: None,
        body: body.into_bytes(),
    }
}

/// REPLAY-1, REPLAY-2: what a browser may do with an archived page. `host` is who was asked.
pub fn policy(host: Option<&str>, place: &Place<'_>) -> String {
    let path = Place::path(place.capability, place.id, 0, "");
    let path = path.strip_suffix("0/").unwrap_or(&path);
    // Addresses other than this one are not matched with a path (CSP3 section 6.7.2.8).
    let is_name = |host: &&str| {
        let name = host.rsplit_once(':').map_or(*host, |(name, _)| name);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':');
        let is_address = name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        host.bytes().all(plain)
            && !name.is_empty()
            && !name.contains(':')
            && (!is_address || name == "127.0.0.1")
    };
    let own = match host.filter(is_name) {
        Some(host) => format!("{host}{path}"),
        None => "'self'".to_owned(),
    };
    format!(
        "sandbox; default-src 'none'; img-src {own} data:; style-src {own} 'unsafe-inline'; font-src {own} data:; \
         media-src {own} data:; frame-src {own}; form-action 'none'; base-uri 'none'"
    )
}

/// As an answer.
pub fn response(shown: Shown, policy: &str) -> Response {
    let is_font = shown.content_type.contains("font");
    let mut response = Response::new(Body::from(shown.body));
    *response.status_mut() = shown.status;
    let headers = response.headers_mut();
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    put(CONTENT_TYPE, &shown.content_type);
    put(CONTENT_SECURITY_POLICY, policy);
    put(X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(REFERRER_POLICY, "no-referrer");
    // A page in a sandbox that is opened by itself is refused by browsers with any other word here.
    put(HeaderName::from_static("cross-origin-opener-policy"), "unsafe-none");
    if shown.is_download {
        put(CONTENT_DISPOSITION, "attachment");
    }
    if is_font {
        // Fonts are asked for in the name of the page, and an archived page has none.
        put(ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    }
    if let Some(status) = shown.archived_status {
        put(HeaderName::from_static("larm-archived-status"), &status.to_string());
    }
    if let Some(location) = &shown.location {
        put(LOCATION, location);
    }
    response
}
