//! Hosts behind TLS, and how they fail: before, in and after the handshake, and in HTTP/2.
//!
//! Beside the web of [`TestSite`](crate::TestSite), since nothing here has a truth to be computed: one good
//! host, which links to all others, and one host for each [`Trouble`]. Each has a few pages. All are at
//! 127.0.0.1, with a port and a certificate of their own, made when the site starts.

mod certificate;
mod frame;
mod http2;
mod page;
mod tls;

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

pub use http2::Http2;
pub use tls::Tls;

use self::certificate::Authority;
use crate::server::rest;
use crate::threads::Threads;

/// What is wrong with a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trouble {
    /// With its TLS; it speaks HTTP/1.1.
    Tls(Tls),
    /// With its HTTP/2, which it insists on.
    Http2(Http2),
}

impl Trouble {
    /// The word that names its host.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tls(tls) => tls.word(),
            Self::Http2(http2) => http2.word(),
        }
    }

    /// The name of its host.
    fn host(self) -> String {
        format!("{}.secure.test", self.word())
    }
}

/// One host, as all its connections see it.
struct Host {
    trouble: Trouble,
    acceptor: TlsAcceptor,
    /// Links of its start page to other hosts.
    others: Vec<String>,
    /// Requests so far, over HTTP/2.
    requests: AtomicUsize,
}

/// Hosts behind TLS. They stop when it is dropped.
#[derive(Debug)]
pub struct SecureSite {
    hosts: Vec<(Trouble, u16)>,
    authority_pem: String,
    _threads: Threads,
}

impl SecureSite {
    /// Serves the good host and one for each of `troubles`.
    pub fn start(troubles: &[Trouble]) -> io::Result<Self> {
        let good = [Trouble::Tls(Tls::Fine)];
        let bound = good.iter().chain(troubles).map(|trouble| Ok((*trouble, bind()?)));
        let bound: Vec<(Trouble, TcpListener)> = bound.collect::<io::Result<_>>()?;
        let ports = bound.iter().map(|(trouble, at)| Ok((*trouble, at.local_addr()?.port())));
        let hosts: Vec<(Trouble, u16)> = ports.collect::<io::Result<_>>()?;
        let (authority, threads) = (Authority::new("Good Authority"), Threads::start()?);
        let mut others: Vec<_> = hosts[1..].iter().map(|host| url(*host, "/")).collect();
        let inside = threads.handle().enter();
        for (trouble, listener) in bound {
            let (requests, others) = (AtomicUsize::new(0), std::mem::take(&mut others));
            let acceptor = certificate::acceptor(trouble, &authority);
            listen(Arc::new(Host { trouble, acceptor, others, requests }), listener)?;
        }
        drop(inside);
        Ok(Self { hosts, authority_pem: authority.pem(), _threads: threads })
    }

    /// The start page of the good host.
    pub fn seed(&self) -> String {
        url(self.hosts[0], "/")
    }

    /// A path of the host with this trouble.
    pub fn url(&self, trouble: Trouble, path: &str) -> Option<String> {
        let host = self.hosts.iter().find(|(known, _)| *known == trouble)?;
        Some(url(*host, path))
    }

    /// Name, port and address of each host, as for `--resolve NAME:PORT:ADDR`.
    pub fn resolve_rules(&self) -> Vec<(String, u16, IpAddr)> {
        let rule = |(trouble, port): &(Trouble, u16)| (trouble.host(), *port, LOCALHOST);
        self.hosts.iter().map(rule).collect()
    }

    /// The certificate of the authority that whoever crawls the site trusts.
    pub fn authority_pem(&self) -> &str {
        &self.authority_pem
    }
}

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn bind() -> io::Result<TcpListener> {
    TcpListener::bind((LOCALHOST, 0))
}

fn url((trouble, port): (Trouble, u16), path: &str) -> String {
    format!("https://{}:{port}{path}", trouble.host())
}

fn listen(host: Arc<Host>, listener: TcpListener) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let handle = tokio::runtime::Handle::current();
    let runtime = handle.clone();
    handle.spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    runtime.spawn(serve(host.clone(), stream));
                }
                Err(_) => rest(std::time::Duration::from_millis(50)).await,
            }
        }
    });
    Ok(())
}

/// A client that leaves early is no error.
async fn serve(host: Arc<Host>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let _ = match host.trouble {
        Trouble::Tls(tls) => tls::serve(&host, tls, stream).await,
        Trouble::Http2(http2) => http2::serve(&host, http2, stream).await,
    };
}
