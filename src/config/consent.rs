//! What larm refuses to start: crawls that are nobody's, and impoliteness towards other people's sites.
//!
//! Loopback and private targets are one's own business, and are exempt.

use std::collections::HashSet;
use std::net::IpAddr;

use anyhow::Result;
use larm_core::scope::ScopeMode;
use larm_core::url::CrawlUrl;

use super::Config;
use crate::exit::usage;

/// Hosts that may be crawled without saying who does it.
const ANONYMOUS_HOSTS_MAX: usize = 100;

/// Says no where a crawl needs a contact or an owner and has none.
pub fn check(config: &Config) -> Result<()> {
    let settings = &config.settings;
    // Whoever links from files to the web knows no bounds but those of the scope.
    let leaves_files =
        settings.scope == Some(ScopeMode::Any) && config.seeds.all().any(CrawlUrl::is_file);
    if !leaves_files && config.seeds.all().all(|seed| is_local(seed, &settings.resolve)) {
        return Ok(());
    }
    if settings.contact.is_none() {
        needs_contact(config)?;
    }
    if settings.i_own_this_site != Some(true) {
        needs_owner(config)?;
    }
    Ok(())
}

fn needs_contact(config: &Config) -> Result<()> {
    let hosts: HashSet<&str> = config.seeds.all().map(CrawlUrl::host).collect();
    let why = if config.settings.scope == Some(ScopeMode::Any) {
        "--scope any may reach the whole web".to_owned()
    } else if hosts.len() > ANONYMOUS_HOSTS_MAX {
        format!("this crawl has {} hosts", hosts.len())
    } else {
        return Ok(());
    };
    Err(usage(format!(
        "{why}, and whoever runs those servers must be able to reach you: add --contact with a page or \
         an e-mail address, such as --contact https://example.com/bot"
    )))
}

fn needs_owner(config: &Config) -> Result<()> {
    let settings = &config.settings;
    let host_at_zero = settings.host.iter().find(|(_, host)| host.delay.is_some_and(|d| d.0 == 0));
    let what = if settings.ignore_robots == Some(true) {
        "--ignore-robots".to_owned()
    } else if settings.delay.is_some_and(|delay| delay.0 == 0) {
        "--delay 0".to_owned()
    } else if let Some((name, _)) = host_at_zero {
        format!("a delay of 0 for {name}")
    } else {
        return Ok(());
    };
    Err(usage(format!(
        "{what} is for your own sites; if all of these are yours, add --i-own-this-site"
    )))
}

/// Whether a seed is on this machine or in a private network, as far as can be told without asking DNS.
fn is_local(seed: &CrawlUrl, resolve: &[String]) -> bool {
    let host = seed.host();
    if seed.is_file() || host == "localhost" || host.ends_with(".localhost") {
        return true;
    }
    let given = || resolve.iter().find_map(|rule| address_of(rule, host, seed.port()));
    seed.ip().or_else(given).is_some_and(is_private)
}

/// The address that `HOST:PORT:ADDR` gives to this host and port.
fn address_of(rule: &str, host: &str, port: u16) -> Option<IpAddr> {
    let (name, rest) = rule.split_once(':')?;
    let (rule_port, address) = rest.split_once(':')?;
    let named = name == "*" || name.eq_ignore_ascii_case(host);
    (named && rule_port.parse() == Ok(port))
        .then(|| address.trim_matches(['[', ']']).parse().ok())
        .flatten()
}

fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}
