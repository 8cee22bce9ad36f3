//! Link text and base → canonical URL, with host, site, SURT and fingerprint (step 1 of the line).
//!
//! Parsing and resolving follow the WHATWG URL standard ([`resolve`]). The canonical form
//! ([`canonicalise`]) then removes what cannot matter to a server and what is known not to matter.
//! A [`CrawlUrl`] is always `http` or `https`, has a host that a name server could know, carries
//! neither fragment nor user info, and stays the same when canonicalised again (URL-1).

use std::fmt;

use url::{Host, Position, Url};

mod canonical;
mod resolve;
mod surt;

#[cfg(test)]
mod outside_tests;
#[cfg(test)]
mod tests;

pub use canonical::{UrlRules, canonicalise};
pub use resolve::{resolve, seed};

/// Why a link is not a URL that larm can fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlError {
    /// Nothing there.
    Empty,
    /// Not a URL by the WHATWG rules.
    Invalid(String),
    /// A URL, but not one to fetch: `mailto:`, `javascript:`, …
    Scheme(String),
    /// No host.
    NoHost,
    /// Longer than the limit, in bytes.
    TooLong(usize),
}

impl UrlError {
    /// One stable word for logs and counters.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Invalid(_) => "invalid",
            Self::Scheme(_) => "scheme",
            Self::NoHost => "no-host",
            Self::TooLong(_) => "length",
        }
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("empty"),
            Self::Invalid(why) => write!(f, "not a URL: {why}"),
            Self::Scheme(scheme) => write!(f, "cannot fetch {scheme}: URLs"),
            Self::NoHost => f.write_str("no host"),
            Self::TooLong(bytes) => write!(f, "{bytes} bytes long"),
        }
    }
}

impl std::error::Error for UrlError {}

/// 64 bits that stand for a canonical URL, the same on every machine and in every version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// The fingerprint of a URL's canonical text.
    pub fn of(canonical: &str) -> Self {
        Self(xxhash_rust::xxh3::xxh3_64(canonical.as_bytes()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A canonical URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CrawlUrl(Url);

impl CrawlUrl {
    /// Takes text that `as_str` gave earlier, as the state on disk holds it.
    pub fn from_canonical(text: &str) -> Option<Self> {
        Url::parse(text).ok().filter(Url::has_host).map(Self)
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The same as a parsed URL, for instance as a base.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Host name in lower case and ASCII, or address (IPv6 in brackets); no port. What is paced.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port, the scheme's own where none is written.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Scheme, host and port as written: what a robots.txt speaks for.
    pub fn origin(&self) -> &str {
        &self.0[..Position::BeforePath]
    }

    /// The path, never empty.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// The query without its `?`.
    pub fn query(&self) -> Option<&str> {
        self.0.query()
    }

    /// Path and query: what is asked of the server, and what robots.txt rules are compared with.
    pub fn path_and_query(&self) -> &str {
        &self.0[Position::BeforePath..Position::AfterQuery]
    }

    /// The host as an address, where it is one.
    pub fn ip(&self) -> Option<std::net::IpAddr> {
        match self.0.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }

    /// Registrable domain by the public suffix list, private suffixes included; the host itself for
    /// addresses and for names without one. What is partitioned and budgeted.
    pub fn site(&self) -> &str {
        match self.0.host() {
            Some(Host::Domain(name)) => psl::domain_str(name).unwrap_or(name),
            _ => self.host(),
        }
    }

    /// Sort-friendly form of this URL, the key of a CDXJ line: `com,example)/path?query`.
    pub fn surt(&self) -> String {
        surt::surt(self)
    }

    /// Identity of this URL in the seen set.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.as_str())
    }
}

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
