//! Who may ask: before anything else looks at a request.
//!
//! - DOOR-1: nothing private is read and nothing is changed without the token, or a session that began
//!   with it.
//! - DOOR-2: a request by a name that is not ours is refused, whatever it carries (DNS rebinding).
//! - DOOR-3: with a session, only a page of this very server changes anything (cross-site requests).
//!
//! What is open to everybody is written down in one place, [`Door::of`]. The order is: name, door, token or
//! session, sender.

pub mod guesses;
pub mod origin;
pub mod sessions;
pub mod token;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use larm_core::Millis;
use larm_crawl::clock::Clock;

use self::guesses::Guesses;
use self::origin::{Names, Sender};
use self::sessions::Sessions;
use self::token::Token;
use crate::app::Shared;
use crate::problem::Problem;
use crate::settings::Settings;

/// Name of the cookie that holds a session.
const COOKIE: &str = "larm_session";

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// Who may ask.
pub struct Access {
    names: Names,
    token: Option<Token>,
    sessions: Mutex<Sessions>,
    guesses: Mutex<Guesses>,
    clock: Clock,
}

/// What a path needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// Open to everybody: nothing private lies behind it, or it has a lock of its own.
    Open,
    /// The token is needed.
    Locked,
    /// Nothing is there.
    Absent,
}

impl Door {
    /// The door of a path. Archived pages below `/replay/` are behind random paths of their own; the page is the
    /// same for everybody, and brings no data with it.
    pub fn of(path: &str, public_search: bool) -> Self {
        let is_api = path.starts_with("/api/") || path == "/metrics";
        let is_replay = path.starts_with("/replay/");
        let is_told = matches!(path, "/api/v1/health" | "/api/v1/openapi.json");
        let is_search = path == "/api/v1/search";
        match (public_search, is_api) {
            (false, true) if is_told => Self::Open,
            (false, true) => Self::Locked,
            (false, false) => Self::Open,
            (true, true) if is_told || is_search => Self::Open,
            (true, false) if is_replay || path == "/" || path.starts_with("/page/") => Self::Open,
            (true, _) => Self::Absent,
        }
    }
}

/// What a request showed.
enum Shown {
    Bearer,
    Session,
}

impl Access {
    /// Access by these settings. Without a token nobody gets in.
    pub fn new(settings: &Settings) -> Self {
        Self {
            names: Names::new(settings.listen, &settings.hosts),
            token: settings.token.as_deref().map(Token::of),
            sessions: Mutex::default(),
            guesses: Mutex::default(),
            clock: Clock::start(),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn guesses(&self) -> MutexGuard<'_, Guesses> {
        self.guesses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Millis {
        self.clock.now()
    }
}

/// Lets a request in, or says why not.
pub async fn guard(State(app): State<Shared>, request: Request, next: Next) -> Response {
    match admit(&app, &request) {
        Ok(None) => next.run(request).await,
        Ok(Some(answer)) => answer,
        Err(problem) => problem.into_response(),
    }
}

fn admit(app: &Shared, request: &Request) -> Result<Option<Response>, Problem> {
    let (path, headers) = (request.uri().path(), request.headers());
    if !app.access.names.fit(request.uri(), headers) {
        return Err(misdirected());
    }
    let public_search = app.settings.public_search;
    match Door::of(path, public_search) {
        Door::Absent => Err(Problem::not_found("Only search is served here.")),
        Door::Open => match token_of_query(request).filter(|_| !public_search) {
            Some(token) => log_in(app, request, &token).map(Some),
            None => Ok(None),
        },
        Door::Locked => {
            let shown = show(app, request)?;
            check_sender(&shown, request.method(), headers)?;
            Ok(None)
        }
    }
}

fn misdirected() -> Problem {
    let detail = "This server does not answer to that name.";
    Problem::new(StatusCode::MISDIRECTED_REQUEST, detail)
        .hint("Ask by its address or as localhost, or start it with --host and the name.")
}

/// The token or session that a request shows.
fn show(app: &Shared, request: &Request) -> Result<Shown, Problem> {
    let access = &app.access;
    let (headers, now) = (request.headers(), access.now());
    if let Some(text) = bearer_of(headers) {
        check_token(app, peer_of(request), text)?;
        return Ok(Shown::Bearer);
    }
    let limits = &app.settings.limits;
    let known = |text: &str| access.sessions().knows(text, now, limits);
    match cookies_of(headers).any(known) {
        true => Ok(Shown::Session),
        false => Err(unauthorised("A token is needed here.")),
    }
}

/// Whoever tries too often is not listened to, unless the token cannot be guessed: then others behind the same
/// address need not suffer for them.
fn check_token(app: &Shared, from: IpAddr, text: &str) -> Result<(), Problem> {
    let (access, limits, now) = (&app.access, &app.settings.limits, app.access.now());
    let is_right = access.token.is_some_and(|token| token.is(text));
    let is_long = access.token.is_some_and(|token| token.is_long());
    let wait = access.guesses().wait_seconds(from, now, limits);
    if let Some(seconds) = wait.filter(|_| !(is_right && is_long)) {
        let detail = format!("Too many wrong tokens came from there; try again in {seconds} s.");
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).retry_after(seconds));
    }
    if is_right {
        return Ok(());
    }
    access.guesses().wrong(from, now, limits);
    Err(unauthorised("That token is not the right one."))
}

fn unauthorised(detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, detail).hint(
        "Open the link that `larm serve` printed, or send the header `Authorization: Bearer TOKEN`.",
    )
}

/// A browser adds the cookie to whatever a page sends to us; who has the token in hand is no page.
fn check_sender(shown: &Shown, method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let changes = !matches!(*method, Method::GET | Method::HEAD);
    match (shown, Sender::of(headers)) {
        (Shown::Bearer, _) | (Shown::Session, Sender::Ours) => Ok(()),
        (Shown::Session, Sender::Unknown) if !changes => Ok(()),
        (Shown::Session, _) => {
            let detail = "This request was not sent by the page of this server.";
            Err(Problem::new(StatusCode::FORBIDDEN, detail).hint(
                "With a session, `Origin` must name this server. Programs send the token as Bearer.",
            ))
        }
    }
}

/// The link with the token was opened: from here on a cookie takes its place, and the token leaves the
/// address line.
fn log_in(app: &Shared, request: &Request, token: &str) -> Result<Response, Problem> {
    check_token(app, peer_of(request), token)?;
    let access = &app.access;
    let session = access.sessions().begin(access.now(), &app.settings.limits);
    let secure = if is_behind_tls(request.headers()) { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict{secure}");
    let cookie = HeaderValue::from_str(&cookie).map_err(Problem::internal)?;
    // Two slashes would begin another host.
    let path = request.uri().path();
    let place = if path.starts_with("//") { "/" } else { path };
    let place = HeaderValue::from_str(place).map_err(Problem::internal)?;
    let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, place)];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

fn is_behind_tls(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|value| value.as_bytes() == b"https")
}

fn bearer_of(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// Other servers of this machine may have set cookies of the same name.
fn cookies_of(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs =
        lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

fn token_of_query(request: &Request) -> Option<String> {
    let is_page = *request.method() == Method::GET && !request.uri().path().starts_with("/replay/");
    let pairs =
        Query::<Vec<(String, String)>>::try_from_uri(request.uri()).ok().filter(|_| is_page)?;
    pairs.0.into_iter().find(|(name, _)| name == "token").map(|(_, value)| value)
}

fn peer_of(request: &Request) -> IpAddr {
    let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    request.extensions().get::<Peer>().map_or(nobody, |peer| peer.0.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_a_short_list() {
        use Door::{Absent, Locked, Open};
        let rows = [
            ("/", Open, Open),
            ("/page/app.js", Open, Open),
            ("/crawls/x/now", Open, Absent),
            ("/replay/c/x/1/http://h/", Open, Open),
            ("/api/v1/health", Open, Open),
            ("/api/v1/openapi.json", Open, Open),
            ("/api/v1/search", Locked, Open),
            ("/api/v1/crawls", Locked, Absent),
            ("/api/v1/crawls/x/search", Locked, Absent),
            ("/api/v1/health/", Locked, Absent),
            ("/api/v2/health", Locked, Absent),
            ("/api/", Locked, Absent),
            ("/metrics", Locked, Absent),
        ];
        for (path, usual, public) in rows {
            assert_eq!(Door::of(path, false), usual, "{path}");
            assert_eq!(Door::of(path, true), public, "{path}");
        }
    }
}
