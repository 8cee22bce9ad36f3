//! By which name we are asked, and which page asks.
//!
//! A page of another site can make a browser send requests to us. Its name may even lead to our address (DNS
//! rebinding); then `Host` gives it away. And if it sends something that changes things, its `Origin` does.

use std::net::{IpAddr, SocketAddr};

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

/// The names by which a server may be asked.
#[derive(Debug, Clone, Default)]
pub struct Names {
    listen: Option<SocketAddr>,
    names: Vec<String>,
}

impl Names {
    /// The address that is listened on, `localhost`, and these names, with any port: there may be a proxy in
    /// between.
    pub fn new(listen: Option<SocketAddr>, names: &[String]) -> Self {
        let names = names.iter().map(|name| bare(name).to_ascii_lowercase()).collect();
        Self { listen, names }
    }

    /// Whether a request is for us: the name that it has as `Host`, and as its target if that is a whole URL.
    pub fn fit(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let target_fits = uri.authority().is_none_or(|target| self.knows(target.host()));
        target_fits && host_of(headers).is_some_and(|host| self.knows(host.host()))
    }

    fn knows(&self, host: &str) -> bool {
        let host = bare(host).to_ascii_lowercase();
        host == "localhost"
            || self.names.contains(&host)
            || host.parse().is_ok_and(|address| self.is_at(address))
    }

    /// An address cannot be made to mean something else, as a name can.
    fn is_at(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let listens =
            |at: SocketAddr| at.ip().is_unspecified() || at.ip().to_canonical() == address;
        address.is_loopback() || self.listen.is_some_and(listens)
    }
}

fn bare(host: &str) -> &str {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.strip_suffix('.').unwrap_or(host)
}

/// The one `Host` of a request.
fn host_of(headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().filter(|_| hosts.next().is_none())?;
    host.to_str().ok()?.parse().ok()
}

/// Whether the page that sends a request is of this server, as far as a browser says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// A page of ours.
    Ours,
    /// A page of somebody else.
    Stranger,
    /// Nobody says: no browser, or an old one.
    Unknown,
}

impl Sender {
    /// Who sent these headers.
    pub fn of(headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(origin) = headers.get(header::ORIGIN) {
            let ours = origin.to_str().ok().zip(host_of(headers)).is_some_and(|(origin, host)| {
                let named = origin.split_once("://").map(|(_, name)| name);
                named.is_some_and(|name| name.eq_ignore_ascii_case(host.as_str()))
            });
            return if ours { Self::Ours } else { Self::Stranger };
        }
        match text("sec-fetch-site") {
            Some("same-origin") => Self::Ours,
            // Typed, or from a bookmark.
            Some("none") | None => Self::Unknown,
            Some(_) => Self::Stranger,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn only_our_own_names_are_answered_to() {
        let listen = "192.0.2.7:7878".parse().unwrap();
        let names = Names::new(Some(listen), &["Crawl.example.org".to_owned()]);
        let rows = [
            ("127.0.0.1:7878", true),
            ("localhost:7878", true),
            ("LOCALHOST", true),
            ("[::1]:7878", true),
            ("192.0.2.7:7878", true),
            ("crawl.example.org", true),
            ("crawl.example.org.:443", true),
            ("192.0.2.8:7878", false),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("evil.example:7878", false),
            ("", false),
            ("a b", false),
        ];
        for (host, fits) in rows {
            let headers = [(header::HOST, HeaderValue::from_str(host).unwrap())];
            let fit = names.fit(&Uri::from_static("/"), &headers.into_iter().collect());
            assert_eq!(fit, fits, "{host}");
        }
        assert!(!names.fit(&Uri::from_static("/"), &HeaderMap::new()));
        let target = Uri::from_static("http://evil.example/");
        assert!(!names.fit(&target, &headers(&[("host", "localhost")])));
    }

    #[test]
    fn on_all_addresses_each_address_is_ours_and_still_no_name() {
        let names = Names::new(Some("0.0.0.0:80".parse().unwrap()), &[]);
        let fit = |host| names.fit(&Uri::from_static("/"), &headers(&[("host", host)]));
        assert!(fit("192.0.2.99"));
        assert!(!fit("evil.example"));
    }

    #[test]
    fn a_page_of_another_origin_is_a_stranger() {
        let host = ("host", "127.0.0.1:7878");
        let rows = [
            (vec![host, ("origin", "http://127.0.0.1:7878")], Sender::Ours),
            (vec![host, ("origin", "http://127.0.0.1:7879")], Sender::Stranger),
            (vec![host, ("origin", "http://evil.example")], Sender::Stranger),
            (vec![host, ("origin", "null")], Sender::Stranger),
            (vec![host, ("origin", "null"), ("sec-fetch-site", "same-origin")], Sender::Stranger),
            (vec![host, ("sec-fetch-site", "same-origin")], Sender::Ours),
            (vec![host, ("sec-fetch-site", "same-site")], Sender::Stranger),
            (vec![host, ("sec-fetch-site", "cross-site")], Sender::Stranger),
            (vec![host, ("sec-fetch-site", "none")], Sender::Unknown),
            (vec![host], Sender::Unknown),
        ];
        for (pairs, sender) in rows {
            assert_eq!(Sender::of(&headers(&pairs)), sender, "{pairs:?}");
        }
    }
}
