//! One host's turn. Only the frontier makes a lease, and settling takes it by value.

use std::net::IpAddr;

use larm_core::url::CrawlUrl;

/// The right to send one request to one host, at one address, now.
///
/// While it exists, its host is off the bench and its address counts one connection.
#[derive(Debug)]
pub struct Lease {
    pub(super) url: CrawlUrl,
    pub(super) address: IpAddr,
}

impl Lease {
    /// The URL whose turn it is.
    pub fn url(&self) -> &CrawlUrl {
        &self.url
    }

    /// The address to connect to, and no other.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// A lease for tests of what comes after it.
    #[cfg(test)]
    pub(crate) fn for_test(url: CrawlUrl, address: IpAddr) -> Self {
        Self { url, address }
    }
}
