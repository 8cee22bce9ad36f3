//! Filter `targets`: the only hosts that may be asked at all, whatever scope and seeds say.
//!
//! It is for whoever lets others start crawls: a fence that no page, redirect or seed leads out of.

use std::net::IpAddr;
use std::str::FromStr;

use url::Host;

use super::{Filter, ScopeError, Subject, Verdict};
use crate::url::CrawlUrl;

/// Hosts that may be asked: `example.com`, `*.example.com` (it and all below it), an address, a network such
/// as `10.0.0.0/8`; each with `:PORT` behind it for that port alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    place: Place,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Name(String),
    Below(String),
    Network(IpAddr, u8),
}

impl Target {
    /// Whether a URL leads there.
    pub fn holds(&self, url: &CrawlUrl) -> bool {
        let fits = self.port.is_none_or(|port| port == url.port());
        fits && !url.is_file()
            && match &self.place {
                Place::Name(name) => url.host() == name,
                Place::Below(name) => {
                    let above = url.host().strip_suffix(name.as_str());
                    above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
                }
                Place::Network(network, bits) => {
                    url.ip().is_some_and(|address| is_in(address, *network, *bits))
                }
            }
    }

    /// Whether it names its hosts one by one, or by their addresses: no owner of a domain can add to them.
    pub fn is_exact(&self) -> bool {
        !matches!(self.place, Place::Below(_))
    }
}

impl FromStr for Target {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        let wrong = |why: &str| ScopeError::Host { entry: text.to_owned(), why: why.to_owned() };
        let text = text.trim();
        if let Some((network, bits)) = text.split_once('/') {
            let network = bare(network).parse().map_err(|_| wrong("no network"))?;
            let bits = bits.parse().ok().filter(|bits| *bits <= bits_of(network));
            let bits = bits.ok_or_else(|| wrong("no network"))?;
            return Ok(Self { place: Place::Network(network, bits), port: None });
        }
        let (host, port) = split_port(text);
        let port = port.map(|port| port.parse().map_err(|_| wrong("no port"))).transpose()?;
        if let Ok(address) = bare(host).parse::<IpAddr>() {
            return Ok(Self { place: Place::Network(address, bits_of(address)), port });
        }
        let (is_below, name) = match host.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, host),
        };
        let name =
            Host::parse(name.trim_end_matches('.')).map_err(|error| wrong(&error.to_string()))?;
        let name = name.to_string();
        let place = if is_below { Place::Below(name) } else { Place::Name(name) };
        Ok(Self { place, port })
    }
}

/// An address of IPv6 has colons of its own, and a port only behind brackets.
fn split_port(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

fn bits_of(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn is_in(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    match (address.to_canonical(), network) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            let differences = u64::from(one.to_bits() ^ other.to_bits());
            differences >> (32 - bits) == 0
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            let differences = one.to_bits() ^ other.to_bits();
            bits == 0 || differences >> (128 - bits) == 0
        }
        _ => false,
    }
}

pub(super) struct Targets {
    targets: Vec<Target>,
}

impl Targets {
    pub fn new(hosts: &[String]) -> Result<Self, ScopeError> {
        Ok(Self { targets: hosts.iter().map(|host| host.parse()).collect::<Result<_, _>>()? })
    }
}

impl Filter for Targets {
    fn name(&self) -> &'static str {
        "targets"
    }

    fn is_about_safety(&self) -> bool {
        true
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        if self.targets.iter().any(|target| target.holds(subject.url)) {
            return Verdict::Pass;
        }
        let host = subject.url.host();
        Verdict::reject("targets", format!("{host} is not among the hosts that may be asked"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, link};
    use super::*;

    #[test]
    fn a_target_holds_what_it_names_and_nothing_else() {
        #[rustfmt::skip]
        let rows = [
            ("example.com", "http://example.com/x", true),
            ("Example.COM.", "https://example.com:8443/", true),
            ("example.com", "http://www.example.com/", false),
            ("example.com", "http://example.com.evil.example/", false),
            ("*.example.com", "http://example.com/", true),
            ("*.example.com", "http://a.b.example.com/", true),
            ("*.example.com", "http://notexample.com/", false),
            ("example.com:8080", "http://example.com:8080/", true),
            ("example.com:8080", "http://example.com/", false),
            ("127.0.0.1", "http://127.0.0.1:81/", true),
            ("127.0.0.1", "http://127.0.0.2/", false),
            ("127.0.0.0/8", "http://127.9.9.9/", true),
            ("0.0.0.0/0", "http://192.0.2.1/", true),
            ("10.0.0.0/8", "http://name.example/", false),
            ("[::1]:80", "http://[::1]/", true),
            ("::1", "http://[::1]:81/", true),
            ("2001:db8::/32", "http://[2001:db8:1::1]/", true),
            ("2001:db8::/32", "http://[2001:db9::1]/", false),
            ("localhost", "file:///etc/passwd", false),
        ];
        for (text, url, holds) in rows {
            let target: Target = text.parse().unwrap();
            let url = CrawlUrl::from_canonical(url).unwrap();
            assert_eq!(target.holds(&url), holds, "{text} and {url}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in ["", "*.", "a b", "10.0.0.0/33", "::/129", "h:port", "h:70000"] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_targets_may_be_asked() {
        let targets = Targets::new(&["a.example".to_owned(), "*.b.example".to_owned()]).unwrap();
        assert_passes(&targets, link("http://a.example/"));
        assert_passes(&targets, link("http://c.b.example/"));
        assert_rejects(&targets, link("http://c.a.example/"), "targets: c.a.example is not among");
        assert!(targets.is_about_safety());
    }
}
