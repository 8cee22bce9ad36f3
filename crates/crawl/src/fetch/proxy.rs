//! Proxies (step 7 of the line): HTTP with CONNECT, HTTPS, SOCKS5.
//!
//! Who looks up names decides who can be sure of an address. With `socks5://` larm does, so the guard and
//! the schedule per address hold as without a proxy, and the proxy is given an address. With `socks5h://`,
//! `http://` and `https://` the proxy does: then no name is looked up here at all, a host is paced by its
//! name alone, and the guard judges by the name (see [`Guard`](super::Guard)). Which networks such a proxy
//! reaches is for whoever runs it to say.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use data_encoding::BASE64;
use larm_core::url::CrawlUrl;
use larm_core::{Failure, FailureClass};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_socks::TargetAddr;
use tokio_socks::tcp::Socks5Stream;
use xxhash_rust::xxh3::xxh3_64;

use super::dial::{Duplex, shake_hands};
use super::failure;
use super::guard::{Cidr, bare};
use super::tls::Tls;
use super::{BoxFuture, Resolve, Resolved};

/// How long a stand-in holds: it never changes.
const STAND_IN_TTL_MS: u64 = 24 * 3600 * 1000;
/// The longest answer to a CONNECT.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// What a proxy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Http,
    Https,
    Socks5,
    Socks5h,
}

/// One proxy, as it is written: `KIND://[USER:PASSWORD@]HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    kind: Kind,
    host: String,
    port: u16,
    user: Option<(String, String)>,
}

/// Which proxy leads where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyPlan {
    /// For `http` URLs.
    pub http: Option<Proxy>,
    /// For `https` URLs.
    pub https: Option<Proxy>,
    /// What is reached without one.
    pub bypass: Vec<Bypass>,
}

impl ProxyPlan {
    /// The proxy for a URL, if one is in the way.
    pub fn route(&self, url: &CrawlUrl) -> Option<&Proxy> {
        self.route_of(url.scheme(), url.host(), url.port())
    }

    fn route_of(&self, scheme: &str, host: &str, port: u16) -> Option<&Proxy> {
        let proxy = match scheme {
            "https" => self.https.as_ref(),
            _ => self.http.as_ref(),
        }?;
        let host = bare(host);
        let direct = self.bypass.iter().any(|bypass| bypass.fits(&host, port));
        (!direct).then_some(proxy)
    }

    /// Whether a proxy is in the way to this host on this port, by any scheme.
    fn leads_to(&self, host: &str, port: u16) -> bool {
        ["http", "https"].iter().any(|scheme| self.route_of(scheme, host, port).is_some())
    }

    /// Whether a proxy looks up this host on this port, whichever scheme it is asked for by. Where one
    /// scheme goes directly, the name is looked up here.
    pub fn hides(&self, host: &str, port: u16) -> bool {
        let schemes: &[&str] = match port {
            80 => &["http"],
            443 => &["https"],
            _ => &["http", "https"],
        };
        let hidden =
            |scheme: &&str| self.route_of(scheme, host, port).is_some_and(Proxy::looks_up_names);
        schemes.iter().all(hidden)
    }
}

/// What stands for the address of a host that only a proxy knows: one of its own for each name, from the
/// block of addresses that nobody has (RFC 6666).
pub(super) fn stand_in(host: &str) -> IpAddr {
    let name = xxh3_64(bare(host).as_bytes());
    IpAddr::V6(Ipv6Addr::from_bits((0x0100_u128 << 112) | u128::from(name)))
}

/// Looks up names, except those that a proxy does.
pub struct ProxiedResolver {
    names: Arc<dyn Resolve>,
    proxies: ProxyPlan,
}

impl ProxiedResolver {
    /// Behind these proxies, with `names` for all that they do not look up.
    pub fn new(names: Arc<dyn Resolve>, proxies: ProxyPlan) -> Self {
        Self { names, proxies }
    }
}

impl Resolve for ProxiedResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<Resolved, Failure>> {
        let is_name = bare(host).parse::<IpAddr>().is_err();
        if is_name && self.proxies.hides(host, port) {
            let resolved = Resolved {
                addresses: vec![stand_in(host)],
                ttl_ms: STAND_IN_TTL_MS,
                one_port: true,
                is_proxied: true,
                ..Resolved::default()
            };
            return Box::pin(std::future::ready(Ok(resolved)));
        }
        // Which proxy there is depends on the port, and with it who looks up the name.
        Box::pin(async move {
            let resolved = self.names.resolve(host, port).await?;
            Ok(Resolved {
                one_port: true,
                is_proxied: self.proxies.leads_to(host, port),
                ..resolved
            })
        })
    }
}

/// A host, its subdomains, or a network, that is reached without a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bypass {
    /// Everything.
    All,
    /// Addresses, as they are written in URLs.
    Network(Cidr),
    /// A name and all below it, and a port where one is given.
    Name(String, Option<u16>),
}

impl Bypass {
    fn fits(&self, host: &str, port: u16) -> bool {
        match self {
            Self::All => true,
            Self::Network(network) => host.parse().is_ok_and(|ip| network.contains(ip)),
            Self::Name(name, only) => {
                let below =
                    host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'));
                (host == name || below) && only.is_none_or(|only| only == port)
            }
        }
    }

    /// The members of a list as `NO_PROXY` has them.
    pub fn list(text: &str) -> Vec<Self> {
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Self::one).collect()
    }

    fn one(text: &str) -> Self {
        if text == "*" {
            return Self::All;
        }
        if let Ok(network) = text.trim_matches(['[', ']']).parse() {
            return Self::Network(network);
        }
        let name = |text: &str| bare(text.trim_start_matches("*.").trim_start_matches('.'));
        match text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?))) {
            Some((host, port)) => Self::Name(name(host), Some(port)),
            None => Self::Name(name(text), None),
        }
    }
}

/// What a proxy is to connect us to.
pub(super) struct Tunnel<'a> {
    pub host: &'a str,
    pub peer: SocketAddr,
}

impl Proxy {
    /// Whether the proxy looks up names, so that no address is known here.
    pub fn looks_up_names(&self) -> bool {
        self.kind != Kind::Socks5
    }

    /// Whether it reads requests for plain http, instead of passing on a stream.
    pub(super) fn reads_requests(&self) -> bool {
        matches!(self.kind, Kind::Http | Kind::Https)
    }

    /// The field that tells an HTTP proxy who we are.
    pub(super) fn authorization(&self) -> Option<String> {
        let (user, password) = self.user.as_ref()?;
        Some(format!("Basic {}", BASE64.encode(format!("{user}:{password}").as_bytes())))
    }

    /// A stream through the proxy, or to it where there is no tunnel to make.
    pub(super) async fn dial(
        &self,
        tunnel: Option<Tunnel<'_>>,
        tls: &Tls,
    ) -> Result<Box<dyn Duplex>, Failure> {
        let stream = TcpStream::connect((bare(&self.host), self.port)).await;
        let stream = stream.map_err(|error| self.at_fault(&failure::connecting(&error)))?;
        let _ = stream.set_nodelay(true);
        let mut stream: Box<dyn Duplex> = match self.kind {
            Kind::Https => {
                let name = bare(&self.host).try_into().map_err(|_| {
                    Failure::new(
                        FailureClass::Proxy,
                        format!("{self}: no certificate can be for it"),
                    )
                })?;
                let shaken = shake_hands(&tls.proxies, name, stream).await;
                Box::new(shaken.map_err(|failure| self.at_fault(&failure))?)
            }
            _ => Box::new(stream),
        };
        match tunnel {
            None => Ok(stream),
            Some(tunnel) if self.reads_requests() => {
                self.connect(&mut stream, &tunnel).await?;
                Ok(stream)
            }
            Some(tunnel) => self.socks(stream, &tunnel).await,
        }
    }

    async fn socks(
        &self,
        stream: Box<dyn Duplex>,
        tunnel: &Tunnel<'_>,
    ) -> Result<Box<dyn Duplex>, Failure> {
        let target = match self.looks_up_names() && bare(tunnel.host).parse::<IpAddr>().is_err() {
            true => TargetAddr::Domain(tunnel.host.into(), tunnel.peer.port()),
            false => TargetAddr::Ip(tunnel.address()),
        };
        let opened = match &self.user {
            Some((user, password)) => {
                Socks5Stream::connect_with_password_and_socket(stream, target, user, password).await
            }
            None => Socks5Stream::connect_with_socket(stream, target).await,
        };
        opened.map(|opened| opened.into_inner()).map_err(|error| self.refused(&error))
    }

    /// Asks an HTTP proxy for a tunnel (RFC 9110 section 9.3.6).
    async fn connect(
        &self,
        stream: &mut Box<dyn Duplex>,
        tunnel: &Tunnel<'_>,
    ) -> Result<(), Failure> {
        let to = format!("{}:{}", tunnel.host, tunnel.peer.port());
        let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
        if let Some(authorization) = self.authorization() {
            request.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        request.push_str("\r\n");
        let broken = |error: &std::io::Error| {
            Failure::new(FailureClass::Proxy, format!("{self} broke off: {error}"))
        };
        stream.write_all(request.as_bytes()).await.map_err(|error| broken(&error))?;
        stream.flush().await.map_err(|error| broken(&error))?;
        let status = read_status(stream).await.map_err(|error| broken(&error))?;
        match status {
            200..=299 => Ok(()),
            407 => Err(self.wants_a_user()),
            502..=504 => Err(Failure::new(
                FailureClass::Unroutable,
                format!("{self} cannot reach the host ({status})"),
            )),
            // It works, and has something against this host.
            _ => Err(Failure::new(
                FailureClass::Refused,
                format!("{self} does not connect us to {to} ({status})"),
            )),
        }
    }

    /// It does not know who asks.
    pub(super) fn wants_a_user(&self) -> Failure {
        let detail = format!("{self} wants another user or password (407)");
        Failure::new(FailureClass::Proxy, detail)
    }

    fn at_fault(&self, failure: &Failure) -> Failure {
        let detail = format!("{self} cannot be used: {}", failure.detail);
        match failure.class {
            FailureClass::NoFiles => Failure::new(FailureClass::NoFiles, detail),
            _ => Failure::new(FailureClass::Proxy, detail),
        }
    }

    /// What a SOCKS proxy says, held against it or against the host.
    fn refused(&self, error: &tokio_socks::Error) -> Failure {
        use tokio_socks::Error;
        let class = match error {
            Error::ConnectionRefused => FailureClass::Refused,
            Error::HostUnreachable | Error::NetworkUnreachable => FailureClass::Unroutable,
            Error::TtlExpired => FailureClass::ConnectTimeout,
            _ => FailureClass::Proxy,
        };
        Failure::new(class, format!("{self}: {error}"))
    }
}

impl Tunnel<'_> {
    /// The address as it is written in the URL, or the one that was looked up.
    fn address(&self) -> SocketAddr {
        let written = bare(self.host).parse().ok();
        SocketAddr::new(written.unwrap_or(self.peer.ip()), self.peer.port())
    }
}

/// Status of an HTTP answer, of which nothing is read past its head.
async fn read_status(stream: &mut (impl AsyncReadExt + Unpin)) -> std::io::Result<u16> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == ANSWER_BYTES_MAX {
            return Err(std::io::Error::other("its answer is too long"));
        }
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head);
    let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
    status.and_then(|text| text.trim().parse().ok()).ok_or_else(|| {
        std::io::Error::new(std::io::ErrorKind::InvalidData, "its answer is not HTTP")
    })
}

impl fmt::Display for Proxy {
    /// Without its password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Http => "http",
            Kind::Https => "https",
            Kind::Socks5 => "socks5",
            Kind::Socks5h => "socks5h",
        };
        write!(f, "the proxy {kind}://{}:{}", self.host, self.port)
    }
}

impl FromStr for Proxy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "a proxy is written like http://HOST:PORT, https://…, socks5://… or socks5h://…, with \
             USER:PASSWORD@ before the host where it wants them"
                .to_owned()
        };
        let full = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = url::Url::parse(&full).map_err(|_| wrong())?;
        let (kind, usual_port) = match url.scheme() {
            "http" => (Kind::Http, 80),
            "https" => (Kind::Https, 443),
            "socks5" => (Kind::Socks5, 1080),
            "socks5h" | "socks" => (Kind::Socks5h, 1080),
            _ => return Err(wrong()),
        };
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
        let plain = |text: &str| percent_decoded(text);
        let user = (!url.username().is_empty())
            .then(|| (plain(url.username()), plain(url.password().unwrap_or_default())));
        Ok(Self { kind, host: host.to_owned(), port: url.port().unwrap_or(usual_port), user })
    }
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::from_canonical(text).unwrap()
    }

    #[test]
    fn proxies_are_read_as_people_write_them() {
        #[rustfmt::skip]
        let rows = [
            ("http://p:3128", Some("the proxy http://p:3128")),
            ("p:3128", Some("the proxy http://p:3128")),
            ("https://p", Some("the proxy https://p:443")),
            ("socks5://u:p%40ss@[::1]:9050", Some("the proxy socks5://[::1]:9050")),
            ("socks5h://p", Some("the proxy socks5h://p:1080")),
            ("ftp://p", None),
            ("http://", None),
        ];
        for (text, expected) in rows {
            let shown = text.parse::<Proxy>().ok().map(|proxy| proxy.to_string());
            assert_eq!(shown.as_deref(), expected, "{text}");
        }
        let proxy: Proxy = "socks5://u:p%40ss@h".parse().unwrap();
        assert_eq!(proxy.user, Some(("u".to_owned(), "p@ss".to_owned())));
    }

    #[test]
    fn what_is_on_the_list_goes_around_the_proxy() {
        let bypass = Bypass::list("localhost, .intra.example,10.0.0.0/8, api.example:8443,[::1]");
        let http: Option<Proxy> = Some("http://p:1".parse().unwrap());
        let plan = ProxyPlan { http: http.clone(), https: http, bypass };
        #[rustfmt::skip]
        let rows = [
            ("http://example.com/", true),
            ("http://localhost/", false),
            ("http://a.localhost/", false),
            ("http://intra.example/", false),
            ("https://x.intra.example/", false),
            ("http://notintra.example/", true),
            ("http://10.1.2.3/", false),
            ("http://11.1.2.3/", true),
            ("https://api.example/", true),
            ("https://api.example:8443/", false),
            ("http://[::1]/", false),
        ];
        for (text, expected) in rows {
            assert_eq!(plan.route(&url(text)).is_some(), expected, "{text}");
        }
        assert!(ProxyPlan { bypass: Bypass::list("*"), ..plan }.route(&url("http://a/")).is_none());
    }

    #[test]
    fn a_name_is_looked_up_here_if_a_scheme_goes_around_the_proxy() {
        let http: Option<Proxy> = Some("http://p:1".parse().unwrap());
        let plan = ProxyPlan { http, ..ProxyPlan::default() };
        let rows = [(80, true), (443, false), (8080, false)];
        for (port, expected) in rows {
            assert_eq!(plan.hides("h.example", port), expected, "{port}");
        }
        let socks = Some("socks5://p:1".parse().unwrap());
        assert!(!ProxyPlan { http: socks, ..ProxyPlan::default() }.hides("h.example", 80));
    }

    #[test]
    fn each_name_has_a_stand_in_of_its_own() {
        assert_eq!(stand_in("a.example"), stand_in("A.example."));
        assert_ne!(stand_in("a.example"), stand_in("b.example"));
        assert!("100::/64".parse::<Cidr>().unwrap().contains(stand_in("a.example")));
    }
}
