//! `/hosts`: what each host waits for; pausing one, and changing its delay.

use std::cmp::Reverse;
use std::path::Path as FilePath;

use axum::Json;
use axum::extract::{Path, Query, State};
use larm_crawl::control::{Request, ask};
use larm_crawl::frontier::HostList;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::hosts::{Host, view};
use crate::input::Body;
use crate::problem::Problem;
use crate::steer::set;

/// Hosts that a crawl is asked for.
const HOSTS_MAX: usize = 1_000;

/// Which hosts, in which order.
#[derive(Debug, Default, Deserialize, IntoParams)]
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
    /// How many fit.
    total: u64,
    /// How many there are in all; hosts that a running crawl has on disk are not counted.
    all: u64,
    /// For the next page.
    next: Option<String>,
}

/// What is wished for a host.
#[derive(Debug, Deserialize, ToSchema)]
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
    let all = all(&app, &dir).await?;
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
    if !all(&app, &dir).await?.hosts.iter().any(|host| host.host == name) {
        return Err(Problem::not_found(format!("This crawl has no host `{name}` at hand.")));
    }
    if let Some(is_paused) = wish.paused {
        let key = if is_paused { "host-pause" } else { "host-resume" };
        set(&dir, key, &name).await?;
    }
    if let Some(delay) = wish.delay {
        let delay = delay.unwrap_or_else(|| "default".to_owned());
        set(&dir, "host-delay", &format!("{name}:{delay}")).await?;
    }
    let after = all(&app, &dir).await?.hosts.into_iter().find(|host| host.host == name);
    after.map(|host| Json(view(host))).ok_or_else(|| Problem::not_found("The host is gone."))
}

async fn all(app: &Shared, dir: &FilePath) -> Result<HostList, Problem> {
    let answer = ask(dir, Request::Hosts { hosts: HOSTS_MAX }).await.map_err(Problem::internal)?;
    match answer {
        Some(answer) => serde_json::from_value(answer).map_err(Problem::internal),
        None => app.launcher()?.hosts(dir, HOSTS_MAX),
    }
}

fn choose(all: HostList, wish: &Wish) -> Result<Hosts, Problem> {
    let fits = |host: &Host| {
        wish.state.as_deref().is_none_or(|state| state.is_empty() || host.state.word() == state)
            && wish.q.as_deref().is_none_or(|part| host.host.contains(&part.to_ascii_lowercase()))
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
