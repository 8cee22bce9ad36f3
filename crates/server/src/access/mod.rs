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

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::{FromRequestParts, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use larm_core::{Limits, Millis};
use larm_crawl::clock::Clock;
use tokio::sync::watch;

use self::guesses::Guesses;
use self::origin::{Names, Sender};
use self::sessions::{Session, Sessions};
use self::token::Token;
use crate::app::Shared;
use crate::problem::Problem;
use crate::settings::Settings;

/// Name of the cookie that holds a session, with the port behind it: browsers show a cookie to every server of a
/// machine, and two of them would log each other out.
const COOKIE: &str = "larm_session";

/// Where a browser is sent that showed a wrong token.
const WRONG_TOKEN: &str = "/?wrong-token";

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// Who may ask.
pub struct Access {
    names: Names,
    cookie: String,
    token: Option<Token>,
    sessions: Mutex<Sessions>,
    guesses: Mutex<Guesses>,
    clock: Clock,
    /// Told whenever somebody logs out.
    left: watch::Sender<()>,
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
            (true, false) if is_replay || is_page(path) => Self::Open,
            (true, _) => Self::Absent,
        }
    }
}

/// Files of the page, and what is asked for beside it.
fn is_page(path: &str) -> bool {
    matches!(path, "/" | "/favicon.ico" | "/robots.txt") || path.starts_with("/page/")
}

/// What a request showed.
enum Shown {
    Bearer,
    Session(Session),
}

/// Whom a request is from: the session that it showed, if it showed one and not the token.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asker(pub Option<Session>);

impl<S: Send + Sync> FromRequestParts<S> for Asker {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().copied().unwrap_or_default())
    }
}

/// What becomes of a request at the door.
enum Admitted {
    /// It is let in.
    In(Asker),
    /// It is answered there.
    Answered(Response),
}

impl Access {
    /// Access by these settings. Without a token nobody gets in.
    pub fn new(settings: &Settings) -> Self {
        Self {
            names: Names::new(settings.listen, &settings.hosts),
            cookie: cookie_of(settings),
            token: settings.token.as_deref().map(Token::of),
            sessions: Mutex::default(),
            guesses: Mutex::default(),
            clock: Clock::start(),
            left: watch::Sender::new(()),
        }
    }

    /// Whether a session has not ended. Who showed the token has none that could.
    pub(crate) fn holds(&self, asker: Asker, limits: &Limits) -> bool {
        let now = self.now();
        asker.0.is_none_or(|session| self.sessions().has(session, now, limits))
    }

    /// The same for the number of a session.
    pub(crate) fn holds_number(&self, number: Option<u64>, limits: &Limits) -> bool {
        let now = self.now();
        number.is_none_or(|number| self.sessions().has_number(number, now, limits))
    }

    /// Hears whenever somebody logs out.
    pub(crate) fn departures(&self) -> watch::Receiver<()> {
        self.left.subscribe()
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
pub async fn guard(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    match admit(&app, &request) {
        Ok(Admitted::In(asker)) => {
            request.extensions_mut().insert(asker);
            next.run(request).await
        }
        Ok(Admitted::Answered(answer)) => answer,
        Err(problem) => problem.into_response(),
    }
}

fn admit(app: &Shared, request: &Request) -> Result<Admitted, Problem> {
    let (path, headers) = (request.uri().path(), request.headers());
    if !app.access.names.fit(request.uri(), headers) {
        return Err(misdirected());
    }
    let public_search = app.settings.public_search;
    match Door::of(path, public_search) {
        Door::Absent => Err(Problem::not_found("Only search is served here.")),
        Door::Open => match token_of_query(request).filter(|_| !public_search) {
            Some(token) => log_in(app, request, &token)
                .or_else(|problem| try_again(request, problem))
                .map(Admitted::Answered),
            None => Ok(Admitted::In(Asker::default())),
        },
        Door::Locked => {
            let shown = show(app, request)?;
            check_sender(&shown, request.method(), headers)?;
            Ok(Admitted::In(match shown {
                Shown::Bearer => Asker::default(),
                Shown::Session(session) => Asker(Some(session)),
            }))
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
    let known = |text: &str| access.sessions().of(text, now, limits);
    let session = cookies_of(headers, &access.cookie).find_map(known);
    session.map(Shown::Session).ok_or_else(|| unauthorised("A token is needed here."))
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
        (Shown::Bearer, _) | (Shown::Session(_), Sender::Ours) => Ok(()),
        (Shown::Session(_), Sender::Unknown) if !changes => Ok(()),
        (Shown::Session(_), _) => {
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
    let name = &access.cookie;
    let cookie = format!("{name}={session}; Path=/; HttpOnly; SameSite=Strict{secure}");
    let cookie = HeaderValue::from_str(&cookie).map_err(Problem::internal)?;
    let mut response = see_other(place_of(request.uri().path()))?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Somebody at a browser reads a page rather than a problem.
fn try_again(request: &Request, problem: Problem) -> Result<Response, Problem> {
    let accepts = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let is_browser = accepts.is_some_and(|kinds| kinds.contains("text/html"));
    match is_browser && problem.status == StatusCode::UNAUTHORIZED.as_u16() {
        true => see_other(WRONG_TOKEN),
        false => Err(problem),
    }
}

fn see_other(place: &str) -> Result<Response, Problem> {
    let place = HeaderValue::from_str(place).map_err(Problem::internal)?;
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response())
}

/// A path of this server. Two slashes would begin another host, and browsers take either for one.
fn place_of(path: &str) -> &str {
    let is_ours = path.starts_with('/') && !path[1..].starts_with(['/', '\\']);
    if is_ours { path } else { "/" }
}

/// Ends the sessions that a request shows, and gives the cookie that takes their place.
pub(crate) fn log_out(access: &Access, headers: &HeaderMap) -> String {
    cookies_of(headers, &access.cookie).for_each(|text| access.sessions().end(text));
    access.left.send_replace(());
    format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", access.cookie)
}

fn cookie_of(settings: &Settings) -> String {
    let port = settings.listen.map(|at| format!("_{}", at.port())).unwrap_or_default();
    format!("{COOKIE}{port}")
}

fn is_behind_tls(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|value| value.as_bytes() == b"https")
}

fn bearer_of(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// A browser may show several of one name.
fn cookies_of<'a>(headers: &'a HeaderMap, cookie: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs =
        lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(name, _)| *name == cookie).map(|(_, value)| value)
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
    fn nobody_is_sent_to_another_host() {
        let rows = [
            ("/crawls/x", "/crawls/x"),
            ("/", "/"),
            ("//e.test/", "/"),
            ("/\\e.test/", "/"),
            ("*", "/"),
        ];
        for (path, place) in rows {
            assert_eq!(place_of(path), place, "{path}");
        }
    }

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
