//! The user's own rules about addresses: `--resolve HOST:PORT:ADDR`.

use std::net::IpAddr;
use std::str::FromStr;

use crate::fetch::guard::bare;

/// One `--resolve HOST:PORT:ADDR[,ADDR…]`: this host on this port is at these addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveRule {
    /// A host as URLs have it, or `*` for all.
    pub(super) host: String,
    pub(super) port: u16,
    /// At least one.
    pub(super) addresses: Vec<IpAddr>,
}

impl ResolveRule {
    /// Whether this rule leads `host` on `port` to `address`.
    pub(in crate::fetch) fn gives(&self, host: &str, port: u16, address: IpAddr) -> bool {
        self.port == port && self.is_of(&bare(host)) && self.addresses.contains(&address)
    }

    fn is_of(&self, bare_host: &str) -> bool {
        self.host == "*" || self.host == bare_host
    }
}

/// Where the rules lead: those that name the host, all of them, else those for every host.
pub(super) fn addresses(rules: &[ResolveRule], host: &str, port: u16) -> Option<Vec<IpAddr>> {
    let host = bare(host);
    [host.as_str(), "*"].iter().find_map(|name| {
        let fits = rules.iter().filter(|rule| rule.port == port && rule.host == *name);
        let found: Vec<IpAddr> = fits.flat_map(|rule| rule.addresses.iter().copied()).collect();
        (!found.is_empty()).then_some(found)
    })
}

/// Whether a rule has something to say about this host, on whatever port.
pub(super) fn speak_of(rules: &[ResolveRule], host: &str) -> bool {
    let host = bare(host);
    rules.iter().any(|rule| rule.is_of(&host))
}

impl FromStr for ResolveRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not HOST:PORT:ADDR[,ADDR…], such as example.com:443:127.0.0.1");
        let (host, port, addresses) = split(text).ok_or_else(wrong)?;
        let addresses = addresses.split(',').map(|address| bare(address).parse());
        Ok(Self {
            host: as_in_urls(host).ok_or_else(wrong)?,
            port: port.parse().map_err(|_| wrong())?,
            addresses: addresses.collect::<Result<_, _>>().map_err(|_| wrong())?,
        })
    }
}

/// Host and address may be IPv6 in brackets; the address also without.
fn split(text: &str) -> Option<(&str, &str, &str)> {
    let host_end = if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':')? };
    let (host, rest) = text.split_at(host_end);
    let (port, addresses) = rest.strip_prefix(':')?.split_once(':')?;
    (!host.is_empty()).then_some((host, port, addresses))
}

/// `Bücher.example` is `xn--bcher-kva.example` in every URL.
fn as_in_urls(host: &str) -> Option<String> {
    if host == "*" {
        return Some(host.to_owned());
    }
    url::Host::parse(host).ok().map(|host| bare(&host.to_string()))
}
