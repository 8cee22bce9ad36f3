//! The robots cache (step 6): the only maker of a [`Permit`].

use crate::frontier::Lease;
use larm_core::url::CrawlUrl;

/// Leave to send one request: made from a lease, after robots.txt was asked.
///
/// `fetch` takes nothing else, so a request that is not paced and not checked does not compile.
#[derive(Debug)]
pub struct Permit {
    lease: Lease,
    url: CrawlUrl,
}

impl Permit {
    /// What may be fetched: the lease's own URL, or the robots.txt that speaks for it.
    pub fn url(&self) -> &CrawlUrl {
        &self.url
    }

    /// The lease this permit was made from.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Gives the lease back, to be settled.
    pub fn into_lease(self) -> Lease {
        self.lease
    }

    /// A permit for tests of what comes after it.
    #[cfg(test)]
    pub(crate) fn for_test(url: CrawlUrl, address: std::net::IpAddr) -> Self {
        Self { lease: Lease::for_test(url.clone(), address), url }
    }
}
