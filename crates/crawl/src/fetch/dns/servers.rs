//! Asking name servers: both families at once, and what their answers mean.
//!
//! Whose fault it is that there is no address decides what happens next. What a server says about a name
//! (there is none, it has no address, it cannot be found out now) is held against the name. That no server
//! answers, or that our machine has no file left to ask with, is not.

use std::net::IpAddr;
use std::pin::pin;
use std::time::Duration;

use hickory_resolver::config::{ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup as Answer;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use hickory_resolver::{Hosts, Resolver, TokioResolver, system_conf};
use larm_core::{Failure, FailureClass, Limits, Lookup};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::Resolved;
use crate::clock::Clock;
use crate::fetch::failure::is_out_of_files;

/// What the servers said about a name.
pub(super) struct Said {
    pub addresses: Result<Resolved, Failure>,
    /// For how long they say that it holds, where they do.
    pub ttl_ms: Option<u64>,
    /// The records, for the archive, if there were any.
    pub lookup: Option<Lookup>,
}

/// The system's name servers and its hosts file.
pub(super) struct Servers {
    resolver: TokioResolver,
    hosts: Hosts,
    /// The server, if there is one only: of several it is not known who answered.
    only: Option<IpAddr>,
    places: Semaphore,
    timeout: Duration,
    /// For so long the second family is waited for when the first is there.
    grace: Duration,
    addresses_max: usize,
    clock: Clock,
}

type Answered = Result<Answer, NetError>;

impl Servers {
    /// Those that the system names; else what to do about that.
    pub fn of_system(limits: &Limits, clock: Clock) -> Result<Self, String> {
        let found = system_conf::read_system_conf()
            .and_then(|(config, options)| Self::new(config, options, limits, clock));
        found.map_err(|error| {
            format!(
                "no name server is configured ({error}); name one in /etc/resolv.conf, \
                 or give addresses with --resolve HOST:PORT:ADDR"
            )
        })
    }

    /// These servers.
    pub fn new(
        config: ResolverConfig,
        mut options: ResolverOpts,
        limits: &Limits,
        clock: Clock,
    ) -> Result<Self, NetError> {
        let only = match config.name_servers() {
            [only] => Some(only.ip),
            _ => None,
        };
        // The cache and the hosts file are ours, so that it is known what was really asked for.
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        options.preserve_intermediates = true;
        // Each look-up asks for two kinds of address; past this the library would say "busy".
        let requests_max = limits.dns_lookups_max.saturating_mul(2);
        options.max_active_requests = usize::try_from(requests_max).unwrap_or(usize::MAX);
        let provider = TokioRuntimeProvider::default();
        let builder = Resolver::builder_with_config(config, provider).with_options(options);
        let places = usize::try_from(limits.dns_lookups_max).unwrap_or(usize::MAX);
        Ok(Self {
            resolver: builder.build()?,
            hosts: Hosts::from_system().unwrap_or_default(),
            only,
            places: Semaphore::new(places.min(Semaphore::MAX_PERMITS)),
            timeout: Duration::from_millis(limits.dns_ms_max),
            grace: Duration::from_millis(limits.connect_stagger_ms),
            addresses_max: usize::try_from(limits.dns_addresses_max).unwrap_or(usize::MAX),
            clock,
        })
    }

    /// What the system's hosts file says.
    pub fn in_hosts_file(&self, host: &str) -> Option<Vec<IpAddr>> {
        let name = complete(host)?;
        let found = [RecordType::A, RecordType::AAAA]
            .into_iter()
            .filter_map(|kind| self.hosts.lookup_static_host(&Query::query(name.clone(), kind)));
        let found: Vec<IpAddr> = found.flat_map(|answer| addresses(answer.answers())).collect();
        (!found.is_empty()).then_some(found)
    }

    /// Asks for a name.
    pub async fn ask(&self, host: &str) -> Said {
        let Some(name) = complete(host) else {
            return Said::failed(Failure::new(FailureClass::Dns, "this cannot be a name"));
        };
        let _place = self.places.acquire().await.expect("the semaphore is never closed");
        match timeout(self.timeout, self.both_families(&name)).await {
            Ok((v4, v6)) => self.said(host, &name, v4, v6),
            Err(_) => Said::failed(silent()),
        }
    }

    /// IPv4 and IPv6 at once. Servers that stay silent about IPv6 hold up nobody (RFC 8305 section 3).
    async fn both_families(&self, name: &Name) -> (Answered, Option<Answered>) {
        let mut v4 = pin!(self.resolver.lookup(name.clone(), RecordType::A));
        let mut v6 = pin!(self.resolver.lookup(name.clone(), RecordType::AAAA));
        tokio::select! {
            v4 = &mut v4 => {
                let grace = if v4.is_ok() { self.grace } else { self.timeout };
                (v4, timeout(grace, v6).await.ok())
            }
            v6 = &mut v6 => (v4.await, Some(v6)),
        }
    }

    fn said(&self, host: &str, name: &Name, v4: Answered, v6: Option<Answered>) -> Said {
        let answers: Vec<Answered> = v6.into_iter().chain([v4]).collect();
        let mut records: Vec<Record> = Vec::new();
        for record in answers.iter().flatten().flat_map(|answer| answer.answers()) {
            if !records.contains(record) {
                records.push(record.clone());
            }
        }
        let mut addresses = addresses(&records);
        if addresses.is_empty() {
            return Said::nothing(answers.into_iter().filter_map(Result::err).collect());
        }
        addresses.truncate(self.addresses_max);
        let ttl_s = records.iter().map(|record| record.ttl).min().unwrap_or_default();
        let alias = alias(&records, name);
        Said {
            addresses: Ok(Resolved { addresses, alias, ..Resolved::default() }),
            ttl_ms: Some(u64::from(ttl_s) * 1_000),
            lookup: Some(Lookup {
                host: host.into(),
                at: self.clock.now(),
                server: self.only,
                records: records.iter().map(in_master_form).collect(),
            }),
        }
    }
}

impl Said {
    fn failed(failure: Failure) -> Self {
        Self { addresses: Err(failure), ttl_ms: None, lookup: None }
    }

    /// No family has an address. Trouble comes first: then the name may have one all the same.
    fn nothing(errors: Vec<NetError>) -> Self {
        let ttl_s = errors.iter().filter_map(negative_ttl).min();
        let trouble = errors.iter().position(|error| negative_ttl(error).is_none());
        let telling = errors.get(trouble.unwrap_or_default());
        let failure = telling.map_or_else(no_address, explain);
        let ttl_ms = ttl_s.filter(|_| trouble.is_none()).map(|ttl_s| u64::from(ttl_s) * 1_000);
        Self { ttl_ms, ..Self::failed(failure) }
    }
}

/// The dot makes the name complete: `com` must not become `com.my-company.example`.
fn complete(host: &str) -> Option<Name> {
    let mut name = Name::from_ascii(super::bare(host)).ok().filter(|name| !name.is_root())?;
    name.set_fqdn(true);
    Some(name)
}

fn addresses(records: &[Record]) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for record in records {
        let address = match &record.data {
            RData::A(address) => IpAddr::V4(address.0),
            RData::AAAA(address) => IpAddr::V6(address.0),
            _ => continue,
        };
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

/// The name that the addresses belong to, if it is another.
fn alias(records: &[Record], asked: &Name) -> Option<Box<str>> {
    let owner = records.iter().find(|record| record.data.ip_addr().is_some()).map(|r| &r.name)?;
    let is_alias = owner.to_lowercase() != asked.to_lowercase();
    is_alias.then(|| super::bare(&owner.to_ascii()).into())
}

/// A line as zone files have it (RFC 1035 section 5.1).
fn in_master_form(record: &Record) -> String {
    let Record { name, ttl, .. } = record;
    let (class, kind) = (record.dns_class, record.record_type());
    format!("{}\t{ttl}\t{class}\t{kind}\t{}", name.to_ascii(), record.data)
}

/// For how long it is said that there is nothing; none if that is not what was said.
fn negative_ttl(error: &NetError) -> Option<u32> {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(nothing)) => {
            Some(nothing.negative_ttl.unwrap_or_default())
        }
        _ => None,
    }
}

fn explain(error: &NetError) -> Failure {
    let named = |detail: String| Failure::new(FailureClass::Dns, detail);
    match error {
        error if error.is_nx_domain() => named("there is no such name".to_owned()),
        error if error.is_no_records_found() => no_address(),
        // SERVFAIL and the like. It is also what a name server near us says when the way out is down.
        NetError::Dns(DnsError::ResponseCode(code)) => {
            Failure::new(FailureClass::NameServers, format!("the name server answered: {code}"))
        }
        NetError::Timeout => silent(),
        NetError::Io(error) if is_out_of_files(error) => {
            Failure::new(FailureClass::NoFiles, format!("no file left here: {error}"))
        }
        NetError::NoConnections | NetError::Io(_) | NetError::Busy => {
            let detail = format!("the name servers cannot be reached: {error}");
            Failure::new(FailureClass::NameServers, detail)
        }
        other => named(other.to_string()),
    }
}

fn no_address() -> Failure {
    Failure::new(FailureClass::Dns, "the name has no address")
}

fn silent() -> Failure {
    Failure::new(FailureClass::NameServers, "the name servers did not answer in time")
}
