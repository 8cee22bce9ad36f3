//! Opening a connection (step 7 of the line): to the address of the lease, or to another of the host's that
//! is faster, which the caller must not use before the host has moved there.

use std::net::SocketAddr;
use std::time::Duration;

use larm_core::{Failure, FailureClass, Limits};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

use super::eyeballs::race;
use super::failure;
use crate::robots::Permit;

/// Where a permit leads.
#[derive(Debug)]
pub(super) struct Target {
    /// Scheme, host and port: what a connection can be used again for.
    pub origin: String,
    /// The lease's address with the URL's port.
    pub peer: SocketAddr,
    /// The host's other addresses, as far as they were admitted.
    others: Vec<SocketAddr>,
    tls_name: Option<ServerName<'static>>,
}

impl Target {
    pub fn of(permit: &Permit) -> Result<Self, Failure> {
        let url = permit.url();
        let tls_name = match url.scheme() {
            "https" => Some(tls_name(url.host(), url.ip())?),
            _ => None,
        };
        Ok(Self {
            origin: url.origin().to_owned(),
            peer: SocketAddr::new(permit.address(), url.port()),
            others: permit.others().iter().map(|ip| SocketAddr::new(*ip, url.port())).collect(),
            tls_name,
        })
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
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// Connects and, for https, shakes hands; says with whom. Time is the caller's concern.
pub(super) async fn dial(
    target: &Target,
    tls: &TlsConnector,
    limits: &Limits,
) -> Result<(Box<dyn Duplex>, SocketAddr), Failure> {
    let peers = [&[target.peer], target.others.as_slice()].concat();
    let stagger = Duration::from_millis(limits.connect_stagger_ms);
    let (stream, peer) = race(&peers, stagger).await?;
    // A request is one write; waiting to fill a packet would only delay it. If it cannot be set, the
    // fetch works all the same.
    let _ = stream.set_nodelay(true);
    let Some(name) = &target.tls_name else {
        return Ok((Box::new(stream), peer));
    };
    let stream = tls.connect(name.clone(), stream).await;
    let stream = stream.map_err(|error| failure::shaking_hands(&error))?;
    Ok((Box::new(stream), peer))
}
