//! The web itself: a pure function from (plan, port) to what stands at every path of every host.
//!
//! Nothing here waits, and nothing remembers who asked. Finite extras of a host are built once
//! ([`Shelf`]); numbered pages and endless spaces are made when asked for, so that a web of millions
//! of pages costs no memory.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use crate::feature::{self, Challenge, Shelf};
use crate::hostile::{BELOW_BAD, Misbehaviour, Place, Reset};
use crate::plan::WebPlan;
use crate::prose::Prose;
use crate::resource::{Link, Resource};
use crate::robots::{self, Oddity, Rules};
use crate::{maze, page, trap};

/// Pages of a special host: enough to see whether it is crawled at all.
const SPECIAL_PAGES: usize = 4;

/// Names of the hosts of a web with prose.
pub(crate) const PROSE_NAMES: [&str; 6] =
    ["museum.test", "library.test", "newspaper.test", "shop.test", "blog.test", "archive.test"];

/// Which of them is at home to which feature.
pub(crate) mod home {
    pub const MOVED: usize = 0;
    pub const MAPPED: usize = 1;
    pub const TRAPPED: usize = 2;
    pub const ODD: usize = 3;
    pub const COPIED: usize = 4;
    pub const PRIVATE: usize = 5;
}

/// One host.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    /// As it stands in URLs.
    pub name: Arc<str>,
    pub address: IpAddr,
    /// The host whose content it shows: itself, unless it is a mirror.
    pub serves: usize,
    /// Numbered pages, start page included.
    pub pages: usize,
    pub kind: HostKind,
}

/// What a host is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostKind {
    Site,
    Mirror,
    Robots(Oddity),
    Hostile(Misbehaviour),
    /// Keeps machines out.
    Walled(Challenge),
    /// Answers every path.
    Soft,
    /// Has a few words, over and over.
    Stuffed,
    /// Has links to everybody.
    Farm,
}

impl Host {
    /// False for a host whose address nobody listens at.
    pub fn listens(&self) -> bool {
        self.kind != HostKind::Hostile(Misbehaviour::Reset(Reset::Refuses))
    }

    /// How its connections break, if they do.
    pub fn breaks(&self) -> Option<Misbehaviour> {
        match self.kind {
            HostKind::Hostile(bad) if bad.place() == Place::Connection => Some(bad),
            _ => None,
        }
    }

    /// How it misbehaves at its path for that, if it does.
    pub fn is_bad_at_a_path(&self) -> Option<Misbehaviour> {
        match self.kind {
            HostKind::Hostile(bad) if bad.place() == Place::Path => Some(bad),
            _ => None,
        }
    }
}

/// Which addresses there are to spread hosts over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loopback {
    /// All of 127.0.0.0/8, as on Linux.
    Whole,
    /// 127.0.0.1 alone: hosts then differ by name, and none can break connections.
    Single,
}

/// A web, ready to be asked.
#[derive(Debug)]
pub(crate) struct Web {
    pub plan: WebPlan,
    pub port: u16,
    pub hosts: Vec<Host>,
    pub prose: Prose,
    shelves: Vec<Shelf>,
    by_name: HashMap<Arc<str>, usize>,
    broken: HashMap<IpAddr, Misbehaviour>,
}

impl Web {
    /// Lays out the web that `plan` describes.
    pub fn new(plan: WebPlan, port: u16, loopback: Loopback) -> Self {
        let hosts = lay_out(&plan, loopback);
        let by_name = hosts.iter().enumerate().map(|(i, host)| (host.name.clone(), i)).collect();
        let broken = hosts.iter().filter_map(|host| Some((host.address, host.breaks()?))).collect();
        let prose = Prose::new(&plan);
        let mut web = Self { plan, port, hosts, prose, shelves: Vec::new(), by_name, broken };
        web.shelves = (0..web.hosts.len()).map(|host| feature::stock(&web, host)).collect();
        web
    }

    /// The host of this name.
    pub fn host_named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// How connections to this address break, if they do.
    pub fn breaks_at(&self, address: IpAddr) -> Option<Misbehaviour> {
        self.broken.get(&address).copied()
    }

    /// What stands at `path` (with its query) of a host; a 404 where nothing does.
    pub fn resource(&self, host: usize, path: &str) -> Resource {
        let host = self.hosts[host].serves;
        let missing = || match self.hosts[host].kind {
            HostKind::Soft => feature::nothing_here(self, host),
            _ => Resource::status(404),
        };
        robots::resource(self, host, path)
            .or_else(|| self.wall(host))
            .or_else(|| self.shelves[host].get(path))
            .or_else(|| page::number(self, host, path).map(|n| page::resource(self, host, n)))
            .or_else(|| trap::resource(self, host, path))
            .or_else(|| maze::resource(self, host, path))
            .or_else(|| self.below_bad(host, path))
            .unwrap_or_else(missing)
    }

    /// What stands before every page of a host, if it keeps machines out.
    fn wall(&self, host: usize) -> Option<Resource> {
        match self.hosts[host].kind {
            HostKind::Walled(challenge) => Some(feature::challenge(challenge)),
            _ => None,
        }
    }

    fn below_bad(&self, host: usize, path: &str) -> Option<Resource> {
        let bad = self.hosts[host].is_bad_at_a_path()?;
        path.starts_with(BELOW_BAD.0).then(|| Resource::bad(bad))
    }

    /// Links that a host's start page has because of its features.
    pub fn entries(&self, host: usize) -> &[Link] {
        self.shelves.get(host).map_or(&[], |shelf| &shelf.entries)
    }

    /// Hosts that the start page of an ordinary host introduces: two ordinary ones, so that all of
    /// them hang together as a binary tree, and its share of the special ones.
    pub fn introduces(&self, host: usize) -> Vec<usize> {
        let sites = self.plan.hosts;
        if self.hosts[host].kind != HostKind::Site {
            return Vec::new();
        }
        let ordinary = [2 * host + 1, 2 * host + 2].into_iter().filter(|next| *next < sites);
        let special = (sites..self.hosts.len()).filter(|next| next % sites == host);
        ordinary.chain(special).collect()
    }

    /// The canonical URL of a path of a host.
    pub fn url(&self, host: usize, path: &str) -> String {
        format!("http://{}:{}{path}", self.hosts[host].name, self.port)
    }

    /// Host and path of a URL of this web.
    pub fn locate<'u>(&self, url: &'u str) -> Option<(usize, &'u str)> {
        let rest = url.strip_prefix("http://")?;
        let (authority, path) = rest.split_at(rest.find('/')?);
        let name = authority.strip_suffix(&format!(":{}", self.port))?;
        Some((self.host_named(name)?, path))
    }

    /// What the robots.txt of a host closes.
    pub fn rules(&self, host: usize) -> Rules {
        robots::rules(self, self.hosts[host].serves)
    }
}

/// The addresses that somebody must listen at.
pub(crate) fn addresses(plan: &WebPlan, loopback: Loopback) -> BTreeSet<IpAddr> {
    let hosts = lay_out(plan, loopback);
    hosts.iter().filter(|host| host.listens()).map(|host| host.address).collect()
}

/// All hosts of a plan: the ordinary ones first, then mirror, robots oddities, misbehaviours, walls, one that
/// answers everything, and two made for search engines.
fn lay_out(plan: &WebPlan, loopback: Loopback) -> Vec<Host> {
    let mut hosts = Vec::new();
    for i in 0..plan.hosts {
        let named = plan.features.prose.then(|| PROSE_NAMES.get(i)).flatten();
        let name = named.map_or_else(|| format!("h{i:03}.site{}.test", i / 4), |n| (*n).to_owned());
        hosts.push((HostKind::Site, name, plan.pages_per_host));
    }
    let few = plan.pages_per_host.min(SPECIAL_PAGES);
    if plan.features.mirrors {
        hosts.push((HostKind::Mirror, "mirror.copy.test".to_owned(), plan.pages_per_host));
    }
    if plan.features.robots {
        let odd = Oddity::ALL
            .iter()
            .map(|(odd, word)| (HostKind::Robots(*odd), format!("{word}.robots.test"), few));
        hosts.extend(odd);
    }
    let possible =
        |bad: &&Misbehaviour| loopback == Loopback::Whole || bad.place() != Place::Connection;
    let mut met: HashMap<Misbehaviour, usize> = HashMap::new();
    for bad in plan.all_misbehaviours().iter().filter(possible) {
        let nth = met.entry(*bad).or_default();
        *nth += 1;
        let number = if *nth > 1 { format!("-{nth}") } else { String::new() };
        hosts.push((HostKind::Hostile(*bad), format!("{}{number}.hostile.test", bad.word()), few));
    }
    if plan.features.walls {
        let walled = Challenge::ALL
            .iter()
            .map(|(by, word)| (HostKind::Walled(*by), format!("{word}.walled.test"), few));
        hosts.extend(walled);
    }
    if plan.features.soft {
        hosts.push((HostKind::Soft, "soft.any.test".to_owned(), few));
    }
    if plan.features.mazes {
        hosts.push((HostKind::Stuffed, "stuffed.spam.test".to_owned(), 1));
        hosts.push((HostKind::Farm, "farm.spam.test".to_owned(), 1));
    }
    let numbered = hosts.into_iter().enumerate();
    numbered
        .map(|(i, (kind, name, pages))| {
            let address = address(plan, i, loopback);
            let bare = !plan.named_hosts && loopback == Loopback::Whole;
            let name = if bare { address.to_string() } else { name };
            // The mirror shows the last ordinary host, so that it is not the first one to be crawled.
            let serves = if kind == HostKind::Mirror { plan.hosts - 1 } else { i };
            Host { name: name.into(), address, serves, pages, kind }
        })
        .collect()
}

/// 127.1.0.1 and on. Ordinary hosts may share one; each special host has its own, so that what one
/// of them does to its address harms no other.
fn address(plan: &WebPlan, host: usize, loopback: Loopback) -> IpAddr {
    if loopback == Loopback::Single {
        return Ipv4Addr::LOCALHOST.into();
    }
    let share = plan.hosts_per_address;
    let shared = plan.hosts.div_ceil(share);
    let number = if host < plan.hosts { host / share } else { shared + host - plan.hosts };
    let octet = |value: usize| u8::try_from(value).unwrap_or(u8::MAX);
    let (block, row) = (octet(1 + number / 62_500), octet(number / 250 % 250));
    Ipv4Addr::new(127, block, row, octet(1 + number % 250)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Features;

    fn web(plan: WebPlan) -> Web {
        Web::new(plan.sane(), 8080, Loopback::Whole)
    }

    #[test]
    fn hosts_share_addresses_as_planned() {
        let plan =
            WebPlan { hosts: 5, hosts_per_address: 2, named_hosts: true, ..WebPlan::default() };
        let addresses: Vec<_> =
            web(plan).hosts.iter().map(|host| host.address.to_string()).collect();
        assert_eq!(addresses, ["127.1.0.1", "127.1.0.1", "127.1.0.2", "127.1.0.2", "127.1.0.3"]);
    }

    #[test]
    fn every_host_is_introduced_by_exactly_one_other() {
        let plan = WebPlan { hosts: 7, features: Features::all(), ..WebPlan::default() };
        let web = web(plan);
        let mut introduced: Vec<_> =
            (0..web.hosts.len()).flat_map(|host| web.introduces(host)).collect();
        introduced.sort_unstable();
        assert_eq!(introduced, (1..web.hosts.len()).collect::<Vec<_>>());
    }

    #[test]
    fn with_a_single_address_hosts_differ_by_name() {
        let plan = WebPlan { features: Features::all(), ..WebPlan::default() };
        let web = Web::new(plan.sane(), 1, Loopback::Single);
        assert!(web.hosts.iter().all(|host| host.address == Ipv4Addr::LOCALHOST && host.listens()));
        assert_eq!(web.by_name.len(), web.hosts.len());
    }

    #[test]
    fn a_url_is_found_again() {
        let web = web(WebPlan::default());
        let url = web.url(1, "/a?b=1");
        assert_eq!(web.locate(&url), Some((1, "/a?b=1")));
        assert_eq!(web.locate("http://elsewhere:8080/"), None);
    }
}
