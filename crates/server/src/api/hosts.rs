//! `/hosts`: what each host waits for; pausing one, and changing its delay.

use std::cmp::Reverse;
use std::path::Path as FilePath;

use axum::Json;
use axum::extract::{Path, Query, State};
use larm_crawl::change::{Change, parse_duration_ms};
use larm_crawl::control::{Request, ask_patiently};
use larm_crawl::directory::in_use;
use larm_crawl::frontier::{HostList, HostStatus, HostsAsked};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{Shared, with_launcher};
use crate::hosts::{Host, view};
use crate::input::Body;
use crate::problem::Problem;
use crate::steer::set_all;

/// Hosts that a crawl is asked for: so many can be put in order and paged through.
const HOSTS_MAX: usize = 10_000;
/// Looks at a crawl that begins or ends while it is looked at.
const LOOKS_MAX: u32 = 3;

/// Which hosts, in which order.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wish {
    /// Only hosts that stand so.
    state: Option<String>,
    /// Only hosts whose name has this in it.
    q: Option<String>,
    /// `host`, `state`, `queued`, `fetched`, `failed`, `delay_ms` or `until`; with `-` in front, the largest first.
    sort: Option<String>,
    /// At most so many.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the answer before.
    after: Option<String>,
}

/// Hosts of a crawl.
#[derive(Debug, Serialize, ToSchema)]
struct Hosts {
    hosts: Vec<Host>,
    /// How many fit, of those that could be looked at.
    total: u64,
    /// How many have such a name; hosts that a running crawl has on disk are not counted.
    all: u64,
    /// For the next page.
    next: Option<String>,
}

/// What is wished for a host.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct HostWish {
    /// Whether it is to be left alone.
    #[serde(default)]
    paused: Option<bool>,
    /// The pause between two requests to it, such as `5s`; `null` for that of the crawl.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    delay: Option<Option<String>>,
}

/// Tells `null` from absent.
fn given<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(from).map(Some)
}

pub fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(change))
}

/// What each host is doing, and what it waits for
#[utoipa::path(
    get, path = "/crawls/{id}/hosts", tag = "hosts", params(("id" = String, Path), Wish),
    responses((status = 200, body = Hosts), (status = 404, body = Problem), (status = 422, body = Problem))
)]
async fn list(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Query(wish): Query<Wish>,
) -> Result<Json<Hosts>, Problem> {
    let dir = app.dir(&id)?;
    let containing = wish.q.as_deref().unwrap_or_default().to_ascii_lowercase();
    let all = all(&app, &dir, containing).await?;
    choose(all, &wish).map(Json)
}

/// Pause a host, let it go on, or change its delay
#[utoipa::path(
    patch, path = "/crawls/{id}/hosts/{host}", tag = "hosts",
    params(("id" = String, Path), ("host" = String, Path)), request_body = HostWish,
    responses(
        (status = 200, body = Host), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem),
    )
)]
async fn change(
    State(app): State<Shared>,
    Path((id, name)): Path<(String, String)>,
    Body(wish): Body<HostWish>,
) -> Result<Json<Host>, Problem> {
    let dir = app.dir(&id)?;
    one(&app, &dir, &name).await?;
    set_all(&dir, &wish.changes(&name)?).await.map_err(in_terms_of_the_wish)?;
    Ok(Json(view(one(&app, &dir, &name).await?)))
}

impl HostWish {
    /// All that is wished, if all of it is understood.
    fn changes(&self, host: &str) -> Result<Vec<Change>, Problem> {
        let paused = self.paused.map(|is_paused| Change::HostPause(host.to_owned(), is_paused));
        let delay = match &self.delay {
            None => None,
            Some(None) => Some(Change::HostDelay(host.to_owned(), None)),
            Some(Some(text)) => {
                let ms = parse_duration_ms(text).ok_or_else(|| wrong_delay(text))?;
                Some(Change::HostDelay(host.to_owned(), Some(ms)))
            }
        };
        Ok(paused.into_iter().chain(delay).collect())
    }
}

fn wrong_delay(text: &str) -> Problem {
    let shown = larm_core::parse::cut(text, 200);
    let detail = format!(
        "`delay` needs a time such as 500ms, 2s or 1m, or null for that of the crawl, not `{shown}`."
    );
    Problem::invalid("delay", detail)
}

/// A crawl calls what it complains about by its own keys.
fn in_terms_of_the_wish(problem: Problem) -> Problem {
    let key = match problem.key.as_deref() {
        Some("host-delay") => Some("delay".to_owned()),
        Some("host-pause" | "host-resume") => Some("paused".to_owned()),
        _ => problem.key,
    };
    Problem { key, ..problem }
}

async fn one(app: &Shared, dir: &FilePath, name: &str) -> Result<HostStatus, Problem> {
    let mut named = all(app, dir, name.to_owned()).await?.hosts.into_iter();
    named
        .find(|host| host.host == name)
        .ok_or_else(|| Problem::not_found(format!("This crawl has no host `{name}`.")))
}

async fn all(app: &Shared, dir: &FilePath, containing: String) -> Result<HostList, Problem> {
    let asked = HostsAsked { most: HOSTS_MAX, containing };
    for _ in 0..LOOKS_MAX {
        let request = Request::Hosts(asked.clone());
        if let Some(answer) = ask_patiently(dir, request).await.map_err(Problem::internal)? {
            return serde_json::from_value(answer).map_err(Problem::internal);
        }
        let (at, asked) = (dir.to_owned(), asked.clone());
        let listed = with_launcher(app, move |launcher| launcher.hosts(&at, &asked)).await;
        // It may have begun in the meantime: then it can be asked.
        if listed.is_ok() || !in_use(dir) {
            return listed;
        }
    }
    Err(Problem::conflict("This crawl is just starting or ending.").hint("Try again."))
}

fn choose(all: HostList, wish: &Wish) -> Result<Hosts, Problem> {
    let fits = |host: &Host| {
        wish.state.as_deref().is_none_or(|state| state.is_empty() || host.state.word() == state)
    };
    let total_all = all.total;
    let mut hosts: Vec<Host> = all.hosts.into_iter().map(view).filter(fits).collect();
    if let Some(sort) = wish.sort.as_deref().filter(|sort| !sort.is_empty()) {
        order(&mut hosts, sort)?;
    }
    let from: usize = wish.after.as_deref().and_then(|after| after.parse().ok()).unwrap_or(0);
    let limit = wish.limit.unwrap_or(50).clamp(1, 1_000);
    let total = hosts.len();
    let page: Vec<Host> = hosts.into_iter().skip(from).take(limit).collect();
    let end = from.saturating_add(page.len());
    let next = (end < total && !page.is_empty()).then(|| end.to_string());
    Ok(Hosts { hosts: page, total: total as u64, all: total_all, next })
}

fn order(hosts: &mut [Host], sort: &str) -> Result<(), Problem> {
    let (key, falls) = sort.strip_prefix('-').map_or((sort, false), |key| (key, true));
    let number: fn(&Host) -> u64 = match key {
        "host" => {
            hosts.sort_by(|one, other| one.host.cmp(&other.host));
            if falls {
                hosts.reverse();
            }
            return Ok(());
        }
        "state" => |host| host.state as u64,
        "queued" => |host| host.queued,
        "fetched" => |host| host.fetched,
        "failed" => |host| u64::from(host.failed),
        "delay_ms" => |host| host.delay_ms,
        "until" => |host| host.until.unwrap_or(0),
        _ => {
            let detail = format!(
                "`{key}` is nothing to sort by; host, state, queued, fetched, failed, delay_ms and until are."
            );
            return Err(Problem::invalid("sort", detail));
        }
    };
    match falls {
        true => hosts.sort_by_key(|host| Reverse(number(host))),
        false => hosts.sort_by_key(number),
    }
    Ok(())
}
