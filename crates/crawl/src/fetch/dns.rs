//! Names → addresses (before step 5 of the line).
//!
//! A host enters the bench with an address, and is connected to at that address alone; this is where
//! it comes from. Asked in this order: the user's own rules (`--resolve`), addresses written as such,
//! `localhost` (RFC 6761 section 6.3), then the name servers of the system, through a bounded cache.
//! Names are taken as complete: no search domain is ever appended.
//!
//! Whether an address may be used is the [`Guard`]'s question; [`admit`] puts it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::time::Duration;

use hickory_resolver::config::LookupIpStrategy;
use hickory_resolver::lookup_ip::LookupIp;
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{ResolverBuilder, TokioResolver};
use larm_core::{Failure, FailureClass, Limits};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::guard::bare;
use super::{BoxFuture, Guard};

/// How long an answer holds that no name server gave.
const FIXED_TTL_MS: u64 = 24 * 3600 * 1000;

/// The addresses of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// At least one.
    pub addresses: Vec<IpAddr>,
    /// For how long they hold.
    pub ttl_ms: u64,
}

/// Whatever knows addresses: name servers, or a fixed table.
pub trait Resolve: Send + Sync {
    /// The addresses of `host`, as far as `port` matters to the user's rules.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<Resolved, Failure>>;
}

/// The first address that may be reached, IPv4 before IPv6.
pub fn admit(guard: &Guard, host: &str, port: u16, resolved: &Resolved) -> Result<IpAddr, Failure> {
    let (v4, v6): (Vec<_>, Vec<_>) = resolved.addresses.iter().partition(|ip| ip.is_ipv4());
    let mut refused = None;
    for address in v4.into_iter().chain(v6).copied() {
        match guard.check(host, port, address) {
            Ok(()) => return Ok(address),
            Err(reason) => _ = refused.get_or_insert(reason),
        }
    }
    Err(match refused {
        Some(reason) => Failure::new(FailureClass::ForbiddenAddress, reason),
        None => Failure::new(FailureClass::Dns, "the name has no address"),
    })
}

/// One `--resolve HOST:PORT:ADDR`: this host on this port is at this address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveRule {
    /// A host, or `*` for all.
    host: String,
    port: u16,
    address: IpAddr,
}

impl ResolveRule {
    fn is_for(&self, host: &str, port: u16) -> bool {
        self.port == port && (self.host == "*" || self.host == bare(host))
    }

    /// Whether this rule leads `host` on `port` to `address`.
    pub(super) fn gives(&self, host: &str, port: u16, address: IpAddr) -> bool {
        self.address == address && self.is_for(host, port)
    }
}

impl FromStr for ResolveRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not HOST:PORT:ADDR, such as example.com:443:127.0.0.1");
        let (host, port, address) = split_rule(text).ok_or_else(wrong)?;
        Ok(Self {
            host: bare(host),
            port: port.parse().map_err(|_| wrong())?,
            address: bare(address).parse().map_err(|_| wrong())?,
        })
    }
}

/// Host and address may be IPv6 in brackets; the address also without.
fn split_rule(text: &str) -> Option<(&str, &str, &str)> {
    let host_end = if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':')? };
    let (host, rest) = text.split_at(host_end);
    let (port, address) = rest.strip_prefix(':')?.split_once(':')?;
    (!host.is_empty()).then_some((host, port, address))
}

/// The name servers of the system, behind the user's rules.
pub struct DnsResolver {
    rules: Vec<ResolveRule>,
    /// Or why there is none; told to whoever asks for a name, since a crawl may not need any.
    servers: Result<TokioResolver, String>,
    places: Semaphore,
    timeout: Duration,
}

impl DnsResolver {
    /// Reads the system's configuration. If there is none, only rules and addresses can be resolved.
    pub fn new(rules: &[ResolveRule], limits: &Limits) -> Self {
        let places = usize::try_from(limits.dns_lookups_max).unwrap_or(usize::MAX);
        Self {
            rules: rules.to_vec(),
            servers: system_servers(limits),
            places: Semaphore::new(places.min(Semaphore::MAX_PERMITS)),
            timeout: Duration::from_millis(limits.dns_ms_max),
        }
    }

    async fn ask(&self, host: &str) -> Result<Resolved, Failure> {
        let servers = self.servers.as_ref().map_err(dns_failure)?;
        let _place = self.places.acquire().await.expect("the semaphore is never closed");
        // The dot makes the name complete: `com` must not become `com.my-company.example`.
        let lookup = servers.lookup_ip(format!("{}.", bare(host)));
        match timeout(self.timeout, lookup).await {
            Ok(Ok(answer)) => Ok(resolved(&answer)),
            Ok(Err(error)) => Err(dns_failure(explain(&error))),
            Err(_) => Err(dns_failure("the name servers did not answer in time")),
        }
    }
}

/// The shortest of the records' times holds; those of a cached answer have been counted down.
fn resolved(answer: &LookupIp) -> Resolved {
    let ttl_s = answer.as_lookup().answers().iter().map(|record| record.ttl).min();
    let ttl_ms = u64::from(ttl_s.unwrap_or_default()) * 1_000;
    Resolved { addresses: answer.iter().collect(), ttl_ms }
}

impl Resolve for DnsResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<Resolved, Failure>> {
        Box::pin(async move {
            match without_asking(host, port, &self.rules) {
                Some(addresses) => Ok(Resolved { addresses, ttl_ms: FIXED_TTL_MS }),
                None => self.ask(host).await,
            }
        })
    }
}

/// What needs no name server.
fn without_asking(host: &str, port: u16, rules: &[ResolveRule]) -> Option<Vec<IpAddr>> {
    if let Some(rule) = rules.iter().find(|rule| rule.is_for(host, port)) {
        return Some(vec![rule.address]);
    }
    let host = bare(host);
    if host == "localhost" || host.ends_with(".localhost") {
        return Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    host.parse().ok().map(|address| vec![address])
}

fn system_servers(limits: &Limits) -> Result<TokioResolver, String> {
    let builder = TokioResolver::builder_tokio();
    builder.and_then(|builder| servers(builder, limits)).map_err(|error| {
        format!(
            "no name server is configured ({error}); name one in /etc/resolv.conf, \
             or give addresses with --resolve HOST:PORT:ADDR"
        )
    })
}

fn servers(
    mut builder: ResolverBuilder<TokioRuntimeProvider>,
    limits: &Limits,
) -> Result<TokioResolver, NetError> {
    let options = builder.options_mut();
    options.cache_size = limits.dns_cached_max;
    options.ip_strategy = LookupIpStrategy::Ipv4thenIpv6;
    // Each look-up may ask for two kinds of address; past this the library would say "busy".
    let requests_max = limits.dns_lookups_max.saturating_mul(2);
    options.max_active_requests = usize::try_from(requests_max).unwrap_or(usize::MAX);
    builder.build()
}

fn explain(error: &NetError) -> String {
    match error {
        error if error.is_nx_domain() => "there is no such name".to_owned(),
        error if error.is_no_records_found() => "the name has no address".to_owned(),
        NetError::Timeout => "the name servers did not answer in time".to_owned(),
        NetError::NoConnections | NetError::Io(_) => {
            format!("the name servers cannot be reached: {error}")
        }
        other => other.to_string(),
    }
}

fn dns_failure(detail: impl ToString) -> Failure {
    Failure::new(FailureClass::Dns, detail.to_string())
}

/// A fixed table of names, for tests and replays.
#[derive(Debug, Clone, Default)]
pub struct FixedResolver {
    addresses: HashMap<String, Vec<IpAddr>>,
}

impl FixedResolver {
    /// A table of host and addresses. Addresses written as such and `localhost` need no row.
    pub fn new<H: AsRef<str>>(rows: impl IntoIterator<Item = (H, Vec<IpAddr>)>) -> Self {
        let rows = rows.into_iter().map(|(host, addresses)| (bare(host.as_ref()), addresses));
        Self { addresses: rows.collect() }
    }
}

impl Resolve for FixedResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<Resolved, Failure>> {
        let known = self.addresses.get(&bare(host)).cloned();
        let found = known.or_else(|| without_asking(host, port, &[]));
        let resolved = found
            .map(|addresses| Resolved { addresses, ttl_ms: FIXED_TTL_MS })
            .ok_or_else(|| dns_failure("there is no such name"));
        Box::pin(std::future::ready(resolved))
    }
}

#[cfg(test)]
mod tests;
