//! One host's turn. Only the frontier makes a lease, and settling takes it by value.

use std::net::IpAddr;

use larm_core::FailureClass;
use larm_core::url::CrawlUrl;
use larm_core::workbench::HostKey;

use super::item::{Errand, Item};

/// The right to send one request to one host, at one address, now.
///
/// While it exists, its host is off the bench and its address counts one connection.
#[derive(Debug)]
pub struct Lease {
    pub(super) host: HostKey,
    pub(super) url: CrawlUrl,
    pub(super) item: Item,
    pub(super) turn: Turn,
    pub(super) others: Vec<IpAddr>,
}

/// What the lease is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// To ask the server at this address.
    Ask(IpAddr),
    /// To settle a URL whose origin was given up. Nothing is sent.
    GivenUp(FailureClass),
    /// To keep an answer that an archive holds already. Nothing is sent.
    Archived,
}

impl Lease {
    /// The URL whose turn it is.
    pub fn url(&self) -> &CrawlUrl {
        &self.url
    }

    /// The host, for [`Frontier::sent`](super::Frontier::sent).
    pub fn host(&self) -> HostKey {
        self.host
    }

    /// What it is for.
    pub fn turn(&self) -> Turn {
        self.turn
    }

    /// The host's addresses beside that of the turn, the best first.
    pub fn others(&self) -> &[IpAddr] {
        &self.others
    }

    /// Forgets all other addresses but those that may be reached.
    pub fn keep_others(&mut self, mut may_reach: impl FnMut(IpAddr) -> bool) {
        self.others.retain(|address| may_reach(*address));
    }

    /// The URL as it waited: depth, parent, tries, errand.
    pub fn item(&self) -> &Item {
        &self.item
    }

    /// What it is fetched for.
    pub fn errand(&self) -> &Errand {
        &self.item.errand
    }

    /// A lease for tests of what comes after it.
    #[cfg(test)]
    pub(crate) fn for_test(url: CrawlUrl, address: IpAddr) -> Self {
        let item = Item {
            url: url.as_str().into(),
            depth: 0,
            via: larm_core::via::Via::Seed,
            parent: None,
            redirects: 0,
            tries: 0,
            errand: Errand::Page,
            place: super::item::Place::default(),
        };
        let (host, turn) = (super::host::host_key(url.host()), Turn::Ask(address));
        Self { host, url, item, turn, others: Vec::new() }
    }

    /// The same of a host with more addresses.
    #[cfg(test)]
    pub(crate) fn with_others(self, others: Vec<IpAddr>) -> Self {
        Self { others, ..self }
    }
}
