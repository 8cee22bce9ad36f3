//! Permit → [`Fetched`] | [`Failure`] (step 7 of the line).
//!
//! A fetch is one request and one response. It follows no redirect, tries nothing again and never
//! sleeps: those are leases of their own. It knows neither frontier nor parser nor store. It connects
//! to the address of the lease and to no other, without a second look-up, so that what was checked is
//! what is reached. What came over the wire is kept byte for byte. Files of this machine are fetched
//! behind the same seam, without a request.
//!
//! Beside it stand the two questions that are asked before a lease exists: which addresses a name has
//! ([`Resolve`]), and which of them may be reached ([`Guard`]).

mod access;
mod archived;
mod auth;
mod blunder;
mod body;
mod budget;
mod buffer;
mod connection;
mod cookies;
mod decode;
mod dial;
mod dns;
mod eyeballs;
mod failure;
mod fetched;
mod file;
mod frame;
#[cfg(fuzzing)]
pub mod fuzzing;
mod guard;
mod http;
mod http2;
mod plan;
mod pool;
mod proxy;
mod request;
mod retry_after;
mod schemes;
mod sign;
mod tee;
#[cfg(test)]
mod tests;
mod tls;

use std::pin::Pin;

use larm_core::{Failure, Millis};

use crate::robots::Permit;

pub use self::http::{FetchCounts, HttpFetch};
pub use access::{Credentials, HostAccess, is_harmless};
pub use archived::{ArchivedResponse, archived_body, archived_response};
pub use budget::Reservation;
pub use cookies::Cookies;
pub use decode::{Decoded, gunzip};
pub use dns::{DnsResolver, FixedResolver, Resolve, ResolveRule, Resolved};
pub use eyeballs::in_order;
pub use fetched::Fetched;
pub use file::{FileFetch, FilePlan};
pub use guard::{Cidr, Guard};
pub use plan::FetchPlan;
pub use proxy::{Bypass, ProxiedResolver, Proxy, ProxyPlan};
pub use retry_after::retry_after_ms;
pub use schemes::{LaneResolver, Schemes};
pub use sign::{SignKey, SignPlan};

/// A future behind a seam.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Whatever can carry out a permit: the network, an archive that is replayed, a fake.
pub trait Fetch: Send + Sync {
    /// Sends the one request that `permit` allows, and gives what came back.
    ///
    /// `sent` is called once, at the moment the request's last byte has been written, and not at all
    /// if it never was. Nothing goes on in the background once the future is done or dropped.
    fn fetch<'a>(
        &'a self,
        permit: &'a Permit,
        sent: &'a (dyn Fn(Millis) + Send + Sync),
    ) -> BoxFuture<'a, Result<Fetched, Failure>>;
}
