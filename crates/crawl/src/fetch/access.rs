//! What is told to one host and not to others: header fields and credentials (step 7 of the line). Pure.
//!
//! - ACCESS-1: a secret goes to the host that it is for, and to no other, whoever links or redirects there.
//! - ACCESS-2: over plain http it goes only where a seed says `http` with that very host and port.
//!
//! A secret is for the hosts of the seeds, or for the host in whose section of the settings it stands. A
//! header field given for the whole crawl counts as a secret, unless its name is one of a few that
//! cannot carry any.

use std::collections::{HashMap, HashSet};
use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use larm_core::url::CrawlUrl;

use super::guard::bare;
use super::plan::FetchPlan;
use crate::{Error, Result};

/// Fields that belong to the connection and would break it.
const OURS_ALONE: &[&str] = &[
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
    "expect",
    "te",
    "proxy-authorization",
];

/// Fields that say nothing which is not for everybody.
const HARMLESS: &[&str] = &[
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "dnt",
    "from",
    "pragma",
    "referer",
    "sec-gpc",
    "upgrade-insecure-requests",
    "user-agent",
];

/// How to show who asks.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// For whichever of Basic and Digest the server asks for.
    Password {
        /// Name of the user.
        user: String,
        /// Their password.
        password: String,
    },
    /// A token, sent unasked.
    Bearer(String),
}

impl fmt::Debug for Credentials {
    /// Nothing that a log could give away.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Password { .. } => "Password(…)",
            Self::Bearer(_) => "Bearer(…)",
        })
    }
}

/// What one host is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostAccess {
    /// `host`, for the usual ports, or `host:port`.
    pub host: String,
    /// More header fields.
    pub headers: Vec<(String, String)>,
    /// Who asks.
    pub credentials: Option<Credentials>,
}

/// What belongs to one host, ready to be sent.
#[derive(Debug, Default)]
pub(super) struct Grant {
    pub fields: HeaderMap,
    pub credentials: Option<Credentials>,
}

impl Grant {
    fn new(headers: &[(String, String)], credentials: Option<&Credentials>) -> Result<Self> {
        let mut fields = HeaderMap::new();
        for (name, text) in headers {
            let (name, value) = field(name, text)?;
            fields.append(name, secret(value));
        }
        if let Some(Credentials::Bearer(token)) = credentials {
            let value = value("Authorization", &format!("Bearer {token}"))?;
            fields.insert(http::header::AUTHORIZATION, secret(value));
        }
        Ok(Self { fields, credentials: credentials.cloned() })
    }

    fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.credentials.is_none()
    }
}

/// Who is told what.
#[derive(Debug, Default)]
pub(super) struct Access {
    /// Origins of seeds.
    homes: HashSet<String>,
    /// Their hosts.
    home_hosts: HashSet<String>,
    of_homes: Grant,
    by_host: HashMap<(String, Option<u16>), Grant>,
}

impl Access {
    pub fn new(plan: &FetchPlan) -> Result<Self> {
        let secret = plan.headers.iter().filter(|(name, _)| !is_harmless(name)).cloned();
        let secret: Vec<_> = secret.collect();
        let mut by_host = HashMap::new();
        for host in &plan.hosts {
            by_host.insert(
                host_key(&host.host),
                Grant::new(&host.headers, host.credentials.as_ref())?,
            );
        }
        Ok(Self {
            homes: plan.homes.iter().map(|home| home.origin().to_owned()).collect(),
            home_hosts: plan.homes.iter().map(|home| bare(home.host())).collect(),
            of_homes: Grant::new(&secret, plan.credentials.as_ref())?,
            by_host,
        })
    }

    /// What goes to `url`, the section of its host first.
    pub fn grants(&self, url: &CrawlUrl) -> impl Iterator<Item = &Grant> {
        let trusted = self.may_be_told(url);
        let own = self.of_host(url).filter(|_| trusted);
        let homes = Some(&self.of_homes).filter(|grant| !grant.is_empty());
        let homes = homes.filter(|_| trusted && self.is_home(url));
        own.into_iter().chain(homes)
    }

    fn of_host(&self, url: &CrawlUrl) -> Option<&Grant> {
        if self.by_host.is_empty() {
            return None;
        }
        let host = bare(url.host());
        let usual = matches!((url.scheme(), url.port()), ("http", 80) | ("https", 443));
        let exact = self.by_host.get(&(host.clone(), Some(url.port())));
        exact.or_else(|| self.by_host.get(&(host, None)).filter(|_| usual))
    }

    /// ACCESS-2.
    fn may_be_told(&self, url: &CrawlUrl) -> bool {
        url.scheme() == "https" || self.homes.contains(url.origin())
    }

    /// A seed's own origin, or its host on https's own port.
    fn is_home(&self, url: &CrawlUrl) -> bool {
        let upgraded = || {
            (url.scheme(), url.port()) == ("https", 443)
                && self.home_hosts.contains(&bare(url.host()))
        };
        self.homes.contains(url.origin()) || upgraded()
    }
}

/// `host` or `host:port`; an IPv6 address is in brackets.
fn host_key(text: &str) -> (String, Option<u16>) {
    let split =
        text.rsplit_once(':').filter(|(host, _)| !host.contains(':') || host.ends_with(']'));
    match split.and_then(|(host, port)| Some((host, port.parse().ok()?))) {
        Some((host, port)) => (bare(host), Some(port)),
        None => (bare(text), None),
    }
}

/// Whether a field of this name may go to every host.
pub fn is_harmless(name: &str) -> bool {
    HARMLESS.iter().any(|harmless| harmless.eq_ignore_ascii_case(name.trim()))
}

pub(super) fn field(name: &str, text: &str) -> Result<(HeaderName, HeaderValue)> {
    // What cannot be a name may be a secret that stands in its place.
    let nameless = "the name of a header has characters that it cannot hold (not shown)";
    let header = HeaderName::try_from(name).map_err(|_| Error::Plan(nameless.to_owned()))?;
    if OURS_ALONE.contains(&header.as_str()) {
        return Err(Error::Plan(format!(
            "the header `{name}` cannot be set: larm writes it itself"
        )));
    }
    Ok((header, value(name, text)?))
}

pub(super) fn value(name: &str, text: &str) -> Result<HeaderValue> {
    // The text may be a secret, so it is not repeated.
    HeaderValue::try_from(text).map_err(|_| {
        Error::Plan(format!("the value of the header `{name}` has characters that it cannot hold"))
    })
}

/// Marks a value, so that it is recognised when the request is written down.
pub(super) fn secret(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::from_canonical(text).unwrap()
    }

    fn told(access: &Access, text: &str) -> Vec<String> {
        let url = url(text);
        let fields = access.grants(&url).flat_map(|grant| grant.fields.values());
        fields.map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    fn plan(homes: &[&str], headers: &[(&str, &str)]) -> FetchPlan {
        let pair = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        FetchPlan {
            homes: homes.iter().map(|home| url(home)).collect(),
            headers: headers.iter().map(pair).collect(),
            ..FetchPlan::default()
        }
    }

    #[test]
    fn a_secret_goes_to_the_seeds_hosts_and_never_unencrypted_unless_a_seed_is() {
        let headers = [("X-Key", "k"), ("Accept-Language", "fi")];
        #[rustfmt::skip]
        let rows: &[(&str, &str, bool)] = &[
            ("https://a.example/", "https://a.example/x", true),
            ("https://a.example/", "http://a.example/x", false),
            ("https://a.example/", "https://b.a.example/", false),
            ("https://a.example/", "https://a.example:8443/", false),
            ("http://a.example/", "http://a.example/x", true),
            ("http://a.example/", "https://a.example/x", true),
            ("http://a.example:8080/", "http://a.example/", false),
            ("http://a.example:8080/", "http://a.example:8080/y", true),
            ("http://a.example/", "http://evil.example/", false),
        ];
        for (home, asked, expected) in rows {
            let access = Access::new(&plan(&[home], &headers)).unwrap();
            let told = told(&access, asked);
            assert_eq!(told == ["k"], *expected, "{home} {asked}");
            assert_eq!(told.is_empty(), !*expected, "{home} {asked}: {told:?}");
        }
    }

    #[test]
    fn a_hosts_section_is_for_that_host_alone() {
        let host = |host: &str, token: &str| HostAccess {
            host: host.to_owned(),
            credentials: Some(Credentials::Bearer(token.to_owned())),
            ..HostAccess::default()
        };
        let hosts = vec![host("A.example", "1"), host("b.example:8443", "2"), host("[::1]", "3")];
        let plan = FetchPlan { hosts, ..plan(&["http://c.example/"], &[]) };
        let access = Access::new(&plan).unwrap();
        #[rustfmt::skip]
        let rows: &[(&str, &[&str])] = &[
            ("https://a.example/", &["Bearer 1"]),
            ("http://a.example/", &[]),
            ("https://a.example:444/", &[]),
            ("https://b.example/", &[]),
            ("https://b.example:8443/", &["Bearer 2"]),
            ("https://[::1]/", &["Bearer 3"]),
            ("http://c.example/", &[]),
        ];
        for (asked, expected) in rows {
            assert_eq!(told(&access, asked), *expected, "{asked}");
        }
    }

    #[test]
    fn fields_that_are_ours_or_none_at_all_are_refused() {
        for (name, text) in [("Host", "h"), ("X-A", "b\nc"), ("Content-Length", "0")] {
            let error = field(name, text).unwrap_err().to_string();
            assert!(error.contains(name) && !error.contains("b\nc"), "{error}");
        }
        let error = field("Bearer s3cret", "x").unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "it may stand in the wrong place: {error}");
    }
}
