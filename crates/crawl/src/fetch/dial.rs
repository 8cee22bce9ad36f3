//! Opening a connection (step 7 of the line): directly or by way of a proxy; to the address of the lease, or
//! to another of the host's that is faster, which the caller must not use before the host has moved there.

use std::net::SocketAddr;
use std::time::Duration;

use data_encoding::HEXLOWER;
use larm_core::url::CrawlUrl;
use larm_core::{Fact, Failure, FailureClass, Limits, Protocol};
use rustls::pki_types::ServerName;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::eyeballs::race;
use super::failure;
use super::proxy::{Proxy, ProxyPlan, Tunnel};
use super::tls::Tls;
use crate::robots::Permit;

/// Where a permit leads.
#[derive(Debug)]
pub(super) struct Target<'a> {
    /// Scheme, host and port: what a connection can be used again for.
    pub origin: String,
    /// The lease's address with the URL's port.
    pub peer: SocketAddr,
    /// The host's other addresses, as far as they were admitted.
    others: Vec<SocketAddr>,
    /// By way of this one.
    pub proxy: Option<&'a Proxy>,
    host: String,
    tls_name: Option<ServerName<'static>>,
}

impl<'a> Target<'a> {
    pub fn of(permit: &Permit, proxies: &'a ProxyPlan) -> Result<Self, Failure> {
        let url = permit.url();
        let tls_name = match url.scheme() {
            "https" => Some(tls_name(url.host(), url.ip())?),
            _ => None,
        };
        Ok(Self {
            origin: url.origin().to_owned(),
            peer: SocketAddr::new(permit.address(), url.port()),
            others: permit.others().iter().map(|ip| SocketAddr::new(*ip, url.port())).collect(),
            proxy: proxies.route(url),
            host: url.host().to_owned(),
            tls_name,
        })
    }

    /// The server itself, where we are connected to it, or know which address a proxy connects us to.
    pub fn known_peer(&self) -> Option<SocketAddr> {
        let known = self.proxy.is_none_or(|proxy| !proxy.looks_up_names());
        known.then_some(self.peer)
    }

    /// Whether requests name the whole URL, since a proxy reads them.
    pub fn is_read_by_proxy(&self) -> bool {
        self.tls_name.is_none() && self.proxy.is_some_and(Proxy::reads_requests)
    }

    /// What an answer means that a proxy gave itself.
    pub fn refusal_of_proxy(&self, status: http::StatusCode) -> Option<Failure> {
        let proxy = self.proxy.filter(|_| self.is_read_by_proxy())?;
        (status == http::StatusCode::PROXY_AUTHENTICATION_REQUIRED).then(|| proxy.wants_a_user())
    }

    /// Shakes hands, where the URL asks for it.
    async fn greet(
        &self,
        stream: Box<dyn Duplex>,
        peer: SocketAddr,
        tls: &Tls,
    ) -> Result<Dialled, Failure> {
        let Some(name) = &self.tls_name else {
            return Ok(Dialled { stream, peer, protocol: Protocol::Http1, facts: Vec::new() });
        };
        let stream = shake_hands(&tls.servers, name.clone(), stream).await?;
        let facts = tls_facts(&stream, tls.is_verified);
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let protocol = if is_http2 { Protocol::Http2 } else { Protocol::Http1 };
        Ok(Dialled { stream: Box::new(stream), peer, protocol, facts })
    }

    fn tunnel(&self) -> Tunnel<'_> {
        Tunnel { host: &self.host, peer: self.peer }
    }
}

fn tls_name(host: &str, ip: Option<std::net::IpAddr>) -> Result<ServerName<'static>, Failure> {
    if let Some(ip) = ip {
        return Ok(ServerName::IpAddress(ip.into()));
    }
    let unfit = |_| Failure::new(FailureClass::Tls, format!("no certificate can be for `{host}`"));
    ServerName::try_from(host.to_owned()).map_err(unfit)
}

/// A byte stream, plain or encrypted.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {
    /// Tells the other side at once what came, where the system would wait a little first.
    ///
    /// A server that writes header and body separately, and does not ask for them to be sent at once, holds the
    /// body back until the header is acknowledged (RFC 1122 section 4.2.3.4). On Linux that is 40 ms a page.
    fn acknowledge(&self) {}
}

impl Duplex for TcpStream {
    #[cfg(target_os = "linux")]
    fn acknowledge(&self) {
        // It is over as soon as the next request is sent. If it cannot be set, the answer comes later.
        let _ = self.set_quickack(true);
    }
}

impl<S: Duplex> Duplex for TlsStream<S> {
    fn acknowledge(&self) {
        self.get_ref().0.acknowledge();
    }
}

impl Duplex for Box<dyn Duplex> {
    fn acknowledge(&self) {
        (**self).acknowledge();
    }
}

/// A stream that leads to a server.
pub(super) struct Dialled {
    pub stream: Box<dyn Duplex>,
    /// Where it leads, as far as our own side goes: the lease's address, unless another was faster.
    pub peer: SocketAddr,
    /// What is to be spoken on it.
    pub protocol: Protocol,
    /// What there is to tell about it.
    pub facts: Vec<Fact>,
}

/// Connects and, for https, shakes hands. Time is the caller's concern.
pub(super) async fn dial(
    target: &Target<'_>,
    tls: &Tls,
    limits: &Limits,
) -> Result<Dialled, Failure> {
    let Some(proxy) = target.proxy else { return dial_directly(target, tls, limits).await };
    let tunnel = (!target.is_read_by_proxy()).then(|| target.tunnel());
    let stream = proxy.dial(tunnel, tls).await?;
    let mut dialled = target.greet(stream, target.peer, tls).await?;
    dialled.facts.insert(0, Fact::new("proxy", proxy.to_string()));
    Ok(dialled)
}

/// A server with which no hands can be shaken is one that cannot be connected to: the host's next address
/// is tried. If all fail, what counts is how the first one did.
async fn dial_directly(
    target: &Target<'_>,
    tls: &Tls,
    limits: &Limits,
) -> Result<Dialled, Failure> {
    let stagger = Duration::from_millis(limits.connect_stagger_ms);
    let mut peers = [&[target.peer], target.others.as_slice()].concat();
    let mut failed: Option<Failure> = None;
    while !peers.is_empty() {
        let (stream, peer) = match race(&peers, stagger).await {
            Ok(won) => won,
            Err(failure) => return Err(failed.unwrap_or(failure)),
        };
        match target.greet(Box::new(at_once(stream)), peer, tls).await {
            Ok(dialled) => return Ok(dialled),
            Err(failure) => failed = failed.or(Some(failure)),
        }
        peers.retain(|tried| *tried != peer);
    }
    Err(failed.expect("a lease has an address"))
}

/// A request is one write; waiting to fill a packet would only delay it. If it cannot be set, the fetch
/// works all the same.
fn at_once(stream: TcpStream) -> TcpStream {
    let _ = stream.set_nodelay(true);
    stream
}

/// Encrypts a connection.
pub(super) async fn shake_hands<S: Duplex>(
    tls: &TlsConnector,
    name: ServerName<'static>,
    stream: S,
) -> Result<TlsStream<S>, Failure> {
    tls.connect(name, stream).await.map_err(|error| failure::shaking_hands(&error))
}

/// Version, cipher and certificate, in the words of the standards.
fn tls_facts<S>(stream: &TlsStream<S>, is_verified: bool) -> Vec<Fact> {
    let session = stream.get_ref().1;
    let version = session.protocol_version().and_then(|version| version.as_str());
    let suite = session.negotiated_cipher_suite();
    let suite = suite.and_then(|suite| suite.suite().as_str().map(str::to_owned));
    let leaf = session.peer_certificates().and_then(|chain| chain.first());
    let leaf = leaf.map(|leaf| format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(leaf))));
    let rows = [
        ("tls-version", version.map(|version| version.replace('_', "."))),
        ("tls-cipher-suite", suite),
        ("tls-certificate", leaf),
        ("tls-verified", (!is_verified).then(|| "no".to_owned())),
    ];
    rows.into_iter().filter_map(|(name, value)| Some(Fact::new(name, value?))).collect()
}

/// The URL's host and port, as a `Host` field has them.
pub(super) fn authority(url: &CrawlUrl) -> &str {
    url.origin().split_once("://").map_or(url.host(), |(_, authority)| authority)
}
