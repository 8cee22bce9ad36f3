//! Which fetcher carries out a permit: by the scheme of its URL (step 7 of the line).
//!
//! The web's never sees a file URL and the files' never sees a web one, so that neither has to ask.
//! Likewise for addresses: the lanes of files have made-up ones, one each, at which nobody is, so that
//! the bench paces them apart from each other and from every host.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use larm_core::url::file::LANES;
use larm_core::{Failure, Millis};

use super::{BoxFuture, Fetch, Fetched, FileFetch, HttpFetch, Resolve, Resolved};
use crate::robots::Permit;

/// How long a made-up address holds.
const LANE_TTL_MS: u64 = 24 * 3600 * 1000;

/// Fetches from the web and from this machine's files.
pub struct Schemes {
    /// http and https.
    pub web: HttpFetch,
    /// file.
    pub files: FileFetch,
}

impl Fetch for Schemes {
    fn fetch<'a>(
        &'a self,
        permit: &'a Permit,
        sent: &'a (dyn Fn(Millis) + Send + Sync),
    ) -> BoxFuture<'a, Result<Fetched, Failure>> {
        match permit.url().is_file() {
            true => self.files.fetch(permit, sent),
            false => self.web.fetch(permit, sent),
        }
    }
}

/// Knows the addresses of lanes, and whom to ask about other hosts.
pub struct LaneResolver(pub Arc<dyn Resolve>);

impl Resolve for LaneResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<Resolved, Failure>> {
        match LANES.iter().position(|lane| *lane == host) {
            Some(lane) => Box::pin(async move { Ok(made_up(lane)) }),
            None => self.0.resolve(host, port),
        }
    }
}

/// An address of the discard prefix, which leads nowhere (RFC 6666).
fn made_up(lane: usize) -> Resolved {
    let number = u16::try_from(lane).expect("there are few lanes");
    let address = IpAddr::V6(Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, number));
    Resolved { addresses: vec![address], ttl_ms: LANE_TTL_MS, ..Resolved::default() }
}
