//! A running web: listeners, threads, and the questions that tests ask.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use crate::answer::{self, Turn};
use crate::audit::Audit;
use crate::log::Request;
use crate::plan::WebPlan;
use crate::resource::Reply;
use crate::server::Server;
use crate::threads::Threads;
use crate::truth::Truth;
use crate::web::{Loopback, Web, addresses};

/// Ports to try before giving up on finding one that is free at every address.
const PORT_TRIES: usize = 32;

/// A web that is being served. Stops when dropped.
#[derive(Debug)]
pub struct TestSite {
    server: Arc<Server>,
    _threads: Threads,
}

impl TestSite {
    /// Serves a web on a free port.
    pub fn start(plan: WebPlan) -> io::Result<Self> {
        Self::start_at(plan, 0)
    }

    /// Serves a web on this port; 0 chooses a free one.
    ///
    /// All hosts share the port, each at its own address of 127.0.0.0/8. Where only 127.0.0.1 can be
    /// bound (macOS, Windows), all hosts are there and differ by name, whatever the plan says; see
    /// [`TestSite::resolve_rules`].
    pub fn start_at(plan: WebPlan, port: u16) -> io::Result<Self> {
        let several = TcpListener::bind((Ipv4Addr::new(127, 1, 0, 1), 0)).is_ok();
        Self::start_on(plan, port, if several { Loopback::Whole } else { Loopback::Single })
    }

    fn start_on(plan: WebPlan, port: u16, loopback: Loopback) -> io::Result<Self> {
        let mut plan = plan.sane();
        plan.named_hosts |= loopback == Loopback::Single;
        let listeners = bind_all(&plan, port, loopback)?;
        let port = listeners[0].local_addr()?.port();
        let threads = Threads::start()?;
        let server = Arc::new(Server::new(Web::new(plan, port, loopback)));
        let inside = threads.handle().enter();
        for listener in listeners {
            server.listen(listener, threads.handle())?;
        }
        drop(inside);
        Ok(Self { server, _threads: threads })
    }

    /// The port of all hosts.
    pub fn port(&self) -> u16 {
        self.web().port
    }

    /// The plan, as it is being served.
    pub fn plan(&self) -> &WebPlan {
        &self.web().plan
    }

    /// The URL from which everything can be reached.
    pub fn seeds(&self) -> Vec<String> {
        vec![self.web().url(0, "/")]
    }

    /// The start page of every host, those included that misbehave or refuse.
    pub fn host_seeds(&self) -> Vec<String> {
        (0..self.web().hosts.len()).map(|host| self.web().url(host, "/")).collect()
    }

    /// Name, port and address of each host with a name, as for `--resolve NAME:PORT:ADDR`.
    pub fn resolve_rules(&self) -> Vec<(String, u16, IpAddr)> {
        let named = self.web().hosts.iter().filter(|_| self.plan().named_hosts);
        named.map(|host| (host.name.to_string(), self.port(), host.address)).collect()
    }

    /// What a perfect crawler finds, computed from the plan alone.
    pub fn truth(&self) -> Truth {
        Truth::of(self.web())
    }

    /// The body that a URL has in the end, before any content coding; `None` where there is none.
    pub fn body(&self, url: &str) -> Option<Vec<u8>> {
        let (host, path) = self.web().locate(url)?;
        let resource = self.web().resource(host, path);
        let (host, status) = (self.web().hosts[host].serves, resource.reply.status());
        let bad = matches!(resource.reply, Reply::Bad(_));
        let turn = Turn { host, resource, status, tries: 0 };
        (!bad).then(|| answer::body(self.web(), path, &turn).into_owned())
    }

    /// The title of the page at a URL, whatever charset it is served in.
    pub fn title(&self, url: &str) -> Option<String> {
        let (host, path) = self.web().locate(url)?;
        match self.web().resource(host, path).reply {
            Reply::Html(page) => Some(page.title),
            _ => None,
        }
    }

    /// The requests so far, in the order of their start.
    pub fn requests(&self) -> Vec<Request> {
        self.server.log.requests()
    }

    /// Requests that are not in the log because it was full ([`crate::LOG_MAX`]).
    pub fn requests_dropped(&self) -> u64 {
        self.server.log.dropped()
    }

    /// Appends each request from now on to a file as well, as a JSON line.
    pub fn log_to(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.server.log.to_file(path.as_ref())
    }

    /// Judges the requests so far.
    pub fn audit(&self) -> Audit {
        Audit::of(&self.truth(), &self.requests())
    }

    fn web(&self) -> &Web {
        &self.server.web
    }
}

/// Listens at every address of a plan, all at one port.
fn bind_all(plan: &WebPlan, port: u16, loopback: Loopback) -> io::Result<Vec<TcpListener>> {
    let addresses: Vec<_> = addresses(plan, loopback).into_iter().collect();
    let tries = if port == 0 { PORT_TRIES } else { 1 };
    let mut outcome = Err(io::ErrorKind::AddrNotAvailable.into());
    for _ in 0..tries {
        outcome = bind_at(&addresses, port);
        if !matches!(&outcome, Err(error) if error.kind() == io::ErrorKind::AddrInUse) {
            break;
        }
    }
    outcome
}

fn bind_at(addresses: &[IpAddr], mut port: u16) -> io::Result<Vec<TcpListener>> {
    let mut listeners = Vec::with_capacity(addresses.len());
    for address in addresses {
        let listener = TcpListener::bind(SocketAddr::new(*address, port))?;
        port = listener.local_addr()?.port();
        listeners.push(listener);
    }
    Ok(listeners)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn where_there_is_one_address_hosts_are_told_apart_by_name() {
        let site = TestSite::start_on(WebPlan::default(), 0, Loopback::Single).unwrap();
        let titles: Vec<_> = site
            .resolve_rules()
            .into_iter()
            .map(|(name, port, address)| {
                assert_eq!(address, Ipv4Addr::LOCALHOST);
                let mut stream = TcpStream::connect((address, port)).unwrap();
                write!(stream, "GET / HTTP/1.0\r\nHost: {name}:{port}\r\n\r\n").unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                let title = site.title(&format!("http://{name}:{port}/")).unwrap();
                assert!(answer.contains(&format!("<title>{title}</title>")), "{answer}");
                title
            })
            .collect();
        assert_eq!(titles.len(), 3);
        assert!(titles[0] != titles[1] && titles[1] != titles[2]);
    }
}
