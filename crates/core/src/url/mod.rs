//! Link text and base → canonical URL, with host, site, SURT and fingerprint (step 1 of the line).
//!
//! Parsing and resolving follow the WHATWG URL standard ([`resolve`]). The canonical form
//! ([`canonicalise`]) then removes what cannot matter to a server and what is known not to matter.
//! [`Base`] does both for the links of a page, and spares those that need neither.
//! A [`CrawlUrl`] is `http` or `https` and has a host that a name server could know, or it is a file of
//! this machine ([`mod@file`]). It carries neither fragment nor user info, and stays the same when
//! canonicalised again (URL-1).

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use url::Url;

mod base;
mod canonical;
pub mod file;
mod list;
mod resolve;
mod surt;

#[cfg(test)]
mod outside_tests;
#[cfg(test)]
mod tests;

pub use base::Base;
pub use canonical::{UrlRules, canonicalise};
pub use list::{UrlList, UrlRef};
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
    /// A file of another machine.
    OtherMachine(String),
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
            Self::OtherMachine(_) => "file-host",
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
            Self::OtherMachine(host) => {
                write!(
                    f,
                    "files of {host} cannot be read, only those of this machine: file:///path"
                )
            }
            Self::TooLong(bytes) => write!(f, "{bytes} bytes long"),
        }
    }
}

impl std::error::Error for UrlError {}

/// 64 bits that stand for a canonical URL, the same on every machine and in every version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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

/// A canonical URL: one text, and where its parts begin.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CrawlUrl {
    text: Box<str>,
    /// Behind the host: at the port's colon, or at the path.
    host_end: u32,
    /// At the first slash of the path.
    path: u32,
    /// At the `?` of the query, or at the end.
    query: u32,
}

impl CrawlUrl {
    /// Takes text that `as_str` gave earlier, as the state on disk holds it.
    ///
    /// Text whose path and query could mean something else to the URL standard is parsed.
    pub fn from_canonical(text: &str) -> Option<Self> {
        let as_it_is = Self::of_text(text.into()).filter(|url| {
            base::is_plain_path(url.path()) && url.query().is_none_or(base::is_plain_query)
        });
        as_it_is.or_else(|| Self::of_text(Url::parse(text).ok()?.as_str().into()))
    }

    /// Finds the parts of a canonical text; `None` for one that is not made of them.
    fn of_text(text: Box<str>) -> Option<Self> {
        let bytes = text.as_bytes();
        if let Some(path) = file_path_start(bytes) {
            let query = memchr::memchr(b'?', bytes).unwrap_or(bytes.len());
            return Self::of_parts(text, [path, path, query]);
        }
        let host = host_start(bytes)?;
        let path = host + memchr::memchr(b'/', &bytes[host..])?;
        // The colons of an IPv6 address stand in brackets.
        let brackets = memchr::memchr(b']', &bytes[host..path]).unwrap_or_default();
        let port = memchr::memchr(b':', &bytes[host + brackets..path]);
        let host_end = port.map_or(path, |colon| host + brackets + colon);
        let query = memchr::memchr(b'?', &bytes[path..]).map_or(bytes.len(), |at| path + at);
        let is_host = |byte: &u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
        let may_be = host < host_end && bytes[host..host_end].iter().all(is_host);
        may_be.then(|| Self::of_parts(text, [host_end, path, query]))?
    }

    fn of_parts(text: Box<str>, parts: [usize; 3]) -> Option<Self> {
        let [host_end, path, query] = parts.map(u32::try_from);
        Some(Self::of_ends(text, [host_end.ok()?, path.ok()?, query.ok()?]))
    }

    fn of_ends(text: Box<str>, [host_end, path, query]: [u32; 3]) -> Self {
        Self { text, host_end, path, query }
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same as a parsed URL, for instance as a base. Parses: once per page, not per link.
    pub fn to_url(&self) -> Url {
        Url::parse(&self.text).expect("URL-1: a canonical text is a URL")
    }

    /// `http`, `https` or `file`.
    pub fn scheme(&self) -> &str {
        match self.text.as_bytes() {
            [b'f', ..] => "file",
            [_, _, _, _, b's', ..] => "https",
            _ => "http",
        }
    }

    /// Whether it is a file of this machine, or a directory.
    pub fn is_file(&self) -> bool {
        self.text.starts_with(file::ORIGIN)
    }

    /// Host name in lower case and ASCII, or address (IPv6 in brackets); no port. What is paced. A file
    /// has one of [`file::LANES`].
    pub fn host(&self) -> &str {
        if self.is_file() {
            return file::lane(&self.text);
        }
        &self.text[self.scheme().len() + "://".len()..self.host_end as usize]
    }

    /// The port, the scheme's own where none is written; 0 for a file.
    pub fn port(&self) -> u16 {
        let own = match self.scheme() {
            "https" => 443,
            "http" => 80,
            _ => 0,
        };
        self.written_port().unwrap_or(own)
    }

    fn written_port(&self) -> Option<u16> {
        let port = &self.text[self.host_end as usize..self.path as usize];
        port.strip_prefix(':')?.parse().ok()
    }

    /// Scheme, host and port as written: what a robots.txt speaks for.
    pub fn origin(&self) -> &str {
        &self.text[..self.path as usize]
    }

    /// The path, never empty.
    pub fn path(&self) -> &str {
        &self.text[self.path as usize..self.query as usize]
    }

    /// The folders that its path is in, the nearest first: `/a/b/`, `/a/` and `/` for `/a/b/c.html`. Folders
    /// of which others stand in the same place, as in `/a//b`, are none.
    pub fn folders(&self) -> impl Iterator<Item = Self> {
        let inside = self.path().strip_suffix('/').unwrap_or(self.path());
        let slashes = inside.rmatch_indices('/').map(|(at, _)| &inside[..=at]);
        let folders = slashes.filter(|folder| !folder.ends_with("//"));
        folders.filter_map(|folder| {
            let text = [self.origin(), folder].concat().into_boxed_str();
            let end = text.len();
            Self::of_parts(text, [self.host_end as usize, self.path as usize, end])
        })
    }

    /// The query without its `?`.
    pub fn query(&self) -> Option<&str> {
        self.text[self.query as usize..].strip_prefix('?')
    }

    /// Path and query: what is asked of the server, and what robots.txt rules are compared with.
    pub fn path_and_query(&self) -> &str {
        &self.text[self.path as usize..]
    }

    /// The host as an address, where it is one.
    pub fn ip(&self) -> Option<IpAddr> {
        ip_of_host(self.host())
    }

    /// Registrable domain by the public suffix list, private suffixes included; the host itself for
    /// addresses and for names without one. What is partitioned and budgeted.
    pub fn site(&self) -> &str {
        site_of_host(self.host())
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

/// The site of a host as [`CrawlUrl::host`] gives it.
pub fn site_of_host(host: &str) -> &str {
    match ip_of_host(host) {
        Some(_) => host,
        None => psl::domain_str(host).unwrap_or(host),
    }
}

/// The host of a text that `as_str` gave earlier. Nothing else of it is looked at.
pub fn host_of_canonical(text: &str) -> Option<&str> {
    if text.starts_with(file::ORIGIN) {
        return Some(file::lane(text));
    }
    let behind = &text[host_start(text.as_bytes())?..];
    let end = behind.find('/')?;
    let brackets = behind[..end].find(']').unwrap_or_default();
    let port = behind[brackets..end].find(':').map(|colon| brackets + colon);
    Some(&behind[..port.unwrap_or(end)])
}

fn ip_of_host(host: &str) -> Option<IpAddr> {
    if let Some(v6) = host.strip_prefix('[') {
        return v6.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    }
    // No name ends in a digit's label (URL standard, "ends in a number").
    let may_be = host.ends_with(|c: char| c.is_ascii_digit());
    may_be.then(|| host.parse().ok().map(IpAddr::V4))?
}

/// Where the path of a file URL begins.
fn file_path_start(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(file::ORIGIN.as_bytes())?;
    rest.starts_with(b"/").then_some(file::ORIGIN.len())
}

/// Where the host of an `http` or `https` URL begins.
fn host_start(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"http")?;
    let rest = rest.strip_prefix(b"s").unwrap_or(rest);
    rest.starts_with(b"://").then(|| text.len() - rest.len() + 3)
}

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
