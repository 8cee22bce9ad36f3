//! Opening a connection (step 7 of the line): to the address of the lease, and to no other.

use std::net::SocketAddr;

use larm_core::{Failure, FailureClass};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::failure;
use crate::robots::Permit;

/// Where a permit leads.
#[derive(Debug)]
pub(super) struct Target {
    /// Scheme, host and port: what a connection can be used again for.
    pub origin: String,
    /// The lease's address with the URL's port.
    pub peer: SocketAddr,
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

/// Connects and, for https, shakes hands. Time is the caller's concern.
pub(super) async fn dial(target: &Target, tls: &TlsConnector) -> Result<Box<dyn Duplex>, Failure> {
    let stream =
        TcpStream::connect(target.peer).await.map_err(|error| failure::connecting(&error))?;
    // A request is one write; waiting to fill a packet would only delay it. If it cannot be set, the
    // fetch works all the same.
    let _ = stream.set_nodelay(true);
    let Some(name) = &target.tls_name else {
        return Ok(Box::new(stream));
    };
    let stream = tls.connect(name.clone(), stream).await;
    Ok(Box::new(stream.map_err(|error| failure::shaking_hands(&error))?))
}
