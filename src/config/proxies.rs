//! The way to the web: `--proxy`, or the variables that other programs know.

use anyhow::Result;
use larm_crawl::fetch::{Bypass, Proxy, ProxyPlan};

use super::raw::Settings;
use super::secret::reveal;
use crate::exit::usage;

/// What goes around a proxy that nobody named for this crawl.
const LOOPBACK: &str = "localhost,127.0.0.0/8,::1";

/// The proxies in force. A flag or key counts for everything that `no-proxy` does not name; without one,
/// the environment's `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in small letters too.
pub fn proxies(settings: &Settings) -> Result<ProxyPlan> {
    let env = |name: &str| from_environment(name);
    match settings.proxy.as_deref() {
        Some("none") => Ok(ProxyPlan::default()),
        Some(text) => {
            let proxy = parse(text, "--proxy")?;
            let bypass = Bypass::list(settings.no_proxy.as_deref().unwrap_or_default());
            Ok(ProxyPlan { http: Some(proxy.clone()), https: Some(proxy), bypass })
        }
        None => {
            let all = env("all_proxy");
            let of = |name: &str| {
                let text = env(name).or_else(|| all.clone());
                text.map(|text| parse(&text, &name.to_uppercase())).transpose()
            };
            let not = settings.no_proxy.clone().or_else(|| env("no_proxy")).unwrap_or_default();
            let bypass = Bypass::list(&format!("{LOOPBACK},{not}"));
            let plan = ProxyPlan { http: of("http_proxy")?, https: of("https_proxy")?, bypass };
            let used = plan.http.is_some() || plan.https.is_some();
            Ok(if used { plan } else { ProxyPlan::default() })
        }
    }
}

/// What the environment says, for the terminal: nothing if it says nothing, or is not asked.
pub fn from_outside(settings: &Settings) -> Result<Option<String>> {
    if settings.proxy.is_some() {
        return Ok(None);
    }
    let plan = proxies(settings)?;
    Ok(match (plan.http, plan.https) {
        (Some(http), Some(https)) if http == https => Some(http.to_string()),
        (Some(http), Some(https)) => Some(format!("{http} for http and {https} for https")),
        (Some(http), None) => Some(format!("{http} for http")),
        (None, Some(https)) => Some(format!("{https} for https")),
        (None, None) => None,
    })
}

fn from_environment(name: &str) -> Option<String> {
    let value = std::env::var(name).or_else(|_| std::env::var(name.to_uppercase()));
    value.ok().filter(|value| !value.trim().is_empty())
}

fn parse(text: &str, from: &str) -> Result<Proxy> {
    reveal(text)?.parse().map_err(|why| usage(format!("{from}: {why}")))
}
