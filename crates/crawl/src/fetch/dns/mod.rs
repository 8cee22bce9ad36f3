//! Names → addresses (before step 5 of the line).
//!
//! A host enters the bench with an address, and is connected to at its addresses alone; this is where
//! they come from. Asked in this order: the user's own rules (`--resolve`), addresses written as such,
//! `localhost` (RFC 6761 section 6.3), the system's hosts file, then its name servers, through a cache
//! with bounds of our own. Names are taken as complete: no search domain is ever appended.
//!
//! Whether an address may be used is the [`Guard`](super::Guard)'s question, in which order they are tried
//! that of [`eyeballs`](super::eyeballs).

mod cache;
mod rule;
mod servers;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use larm_core::{Failure, FailureClass, Limits, Lookup};

use self::cache::Cache;
use self::servers::Servers;
use super::BoxFuture;
use super::guard::bare;
use crate::clock::Clock;

pub use rule::ResolveRule;

/// How long an answer holds that no name server gave.
const FIXED_TTL_MS: u64 = 24 * 3600 * 1000;

/// The addresses of a host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolved {
    /// At least one.
    pub addresses: Vec<IpAddr>,
    /// For how long they hold.
    pub ttl_ms: u64,
    /// They hold for the port that was asked for, and perhaps not for others.
    pub one_port: bool,
    /// A proxy is in the way: that the name is known says nothing of the way there.
    pub is_proxied: bool,
    /// The name that this name is an alias of, if it is one.
    pub alias: Option<Box<str>>,
    /// What name servers said, if they were asked for this.
    pub lookup: Option<Lookup>,
}

impl Resolved {
    /// Addresses that no name server gave.
    fn fixed(addresses: Vec<IpAddr>) -> Self {
        Self { addresses, ttl_ms: FIXED_TTL_MS, ..Self::default() }
    }
}

/// Whatever knows addresses: name servers, or a fixed table.
pub trait Resolve: Send + Sync {
    /// The addresses of `host`, as far as `port` matters to the user's rules.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<Resolved, Failure>>;
}

/// The name servers of the system, behind the user's rules.
pub struct DnsResolver {
    rules: Vec<ResolveRule>,
    /// Or why there are none; told to whoever asks for a name, since a crawl may not need any.
    servers: Result<Servers, String>,
    cache: Cache,
    clock: Clock,
}

impl DnsResolver {
    /// Reads the system's configuration. If there is none, only rules and addresses can be resolved.
    pub fn new(rules: &[ResolveRule], limits: &Limits, clock: Clock) -> Self {
        Self {
            rules: rules.to_vec(),
            servers: Servers::of_system(limits, clock),
            cache: Cache::new(limits),
            clock,
        }
    }

    /// What needs no name server.
    fn without_asking(&self, host: &str, port: u16) -> Option<Vec<IpAddr>> {
        let ruled = rule::addresses(&self.rules, host, port);
        ruled.or_else(|| written(host)).or_else(|| self.servers.as_ref().ok()?.in_hosts_file(host))
    }

    async fn ask(&self, host: &str) -> Result<Resolved, Failure> {
        let servers = self.servers.as_ref();
        let servers = servers.map_err(|why| Failure::new(FailureClass::Dns, why.clone()))?;
        let name = bare(host);
        let slot = self.cache.slot(&name, self.clock.now());
        let mut lookup = None;
        let asking = async {
            let answer = servers.ask(&name).await;
            lookup = answer.lookup;
            self.cache.bounded(answer.addresses, answer.ttl_ms, self.clock.now())
        };
        let cached = slot.get_or_init(|| asking).await;
        Ok(Resolved { lookup, ..cached.at(self.clock.now())? })
    }
}

impl Resolve for DnsResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<Resolved, Failure>> {
        Box::pin(async move {
            let resolved = match self.without_asking(host, port) {
                Some(addresses) => Resolved::fixed(addresses),
                None => self.ask(host).await?,
            };
            Ok(Resolved { one_port: rule::speak_of(&self.rules, host), ..resolved })
        })
    }
}

/// Addresses that are written as such, and `localhost`.
fn written(host: &str) -> Option<Vec<IpAddr>> {
    let host = bare(host);
    if host == "localhost" || host.ends_with(".localhost") {
        return Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    host.parse().ok().map(|address| vec![address])
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
    fn resolve<'a>(&'a self, host: &'a str, _: u16) -> BoxFuture<'a, Result<Resolved, Failure>> {
        let known = self.addresses.get(&bare(host)).cloned();
        let resolved = known
            .or_else(|| written(host))
            .map(Resolved::fixed)
            .ok_or_else(|| Failure::new(FailureClass::Dns, "there is no such name"));
        Box::pin(std::future::ready(resolved))
    }
}

#[cfg(test)]
mod tests;
