//! What a perfect crawler finds, computed from the plan without asking the server.
//!
//! The walk follows the generator's own links from the seeds, never a byte of HTML: robots.txt is
//! obeyed, nofollow respected, traps left alone, errors tried again. What it reaches is the truth.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use serde::Serialize;

use crate::hostile::{BELOW_BAD, Misbehaviour};
use crate::maze;
use crate::resource::{Carrier, Link, Reply, Resource, Role};
use crate::robots::{self, Rules, is_robots_path};
use crate::trap::{self, Trap};
use crate::web::{HostKind, Web};

/// Everything there is to know about a web.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Truth {
    /// Canonical URL → what to expect of it. robots.txt aside.
    pub pages: BTreeMap<String, Expect>,
    /// Linked, but closed by robots.txt.
    pub forbidden: BTreeSet<String>,
    /// Linked only by links that ask not to be followed.
    pub nofollow: BTreeSet<String>,
    /// Linked, but changing something when fetched.
    pub actions: BTreeSet<String>,
    /// Endless spaces.
    pub traps: Vec<Trap>,
    /// What the URLs of hosts begin with that answer every path.
    pub soft: Vec<String>,
    /// Every host by name.
    pub hosts: BTreeMap<String, HostTruth>,
}

/// What to expect of a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Expect {
    /// Status of the final answer; 0 when there is none to be had.
    pub status: u16,
    /// Stands for the body: equal for equal bodies, whatever the URL.
    pub content: u64,
    /// What it is.
    pub kind: Kind,
    /// How it is found first.
    pub via: Via,
    /// Whether leaving it out counts as a miss.
    pub required: bool,
}

/// What stands at a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A page of its own.
    Page,
    /// A redirect to this URL.
    Redirect(String),
    /// Gone, or never there.
    Dead,
    /// A page at the second try; the first one has this status.
    Recovers {
        /// Status of the first try.
        first: u16,
        /// The least wait that the first answer asks for.
        wait_ms: u64,
    },
    /// An error at every try.
    Fails,
    /// The same bytes as this URL of the same host.
    DuplicateOf(String),
    /// The same bytes as this URL of another host.
    MirrorOf(String),
    /// A sitemap.
    Sitemap,
    /// Embedded in pages.
    Asset,
    /// A URL of such length that a crawler may leave it out.
    TooLong,
    /// Broken in this way.
    Broken(Misbehaviour),
    /// On a host that cannot be reached.
    Unreachable,
    /// Behind a page for browsers, at every try.
    Walled,
}

/// How a URL is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// Where the crawl begins.
    Seed,
    /// A link of a page.
    Link,
    /// The target of a redirect.
    Redirect,
    /// A sitemap, or its line in robots.txt.
    Sitemap,
    /// Embedded in a page or style.
    Embed,
}

/// What to know about a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostTruth {
    /// Where it can be reached.
    pub address: IpAddr,
    /// What its robots.txt closes.
    pub rules: Rules,
    /// The delay that its robots.txt asks for.
    pub crawl_delay_ms: Option<u64>,
}

impl Truth {
    /// The truth about a web, seen from its first host.
    pub(crate) fn of(web: &Web) -> Self {
        let mut walk = Walk { web, truth: Self::default(), queue: VecDeque::new() };
        walk.meet_hosts();
        walk.visit(0, "/", Via::Seed);
        while let Some((host, path)) = walk.queue.pop_front() {
            walk.follow_links(host, &path);
        }
        let known = walk.truth.pages;
        walk.truth.nofollow.retain(|url| !known.contains_key(url));
        Self { pages: known, ..walk.truth }
    }

    /// Whether a URL is part of an endless space.
    pub fn trap_of(&self, url: &str) -> Option<&Trap> {
        self.traps.iter().find(|trap| url.starts_with(&trap.prefix))
    }
}

struct Walk<'w> {
    web: &'w Web,
    truth: Truth,
    /// Host and path of pages whose links are still to be followed.
    queue: VecDeque<(usize, String)>,
}

impl Walk<'_> {
    fn meet_hosts(&mut self) {
        for (i, host) in self.web.hosts.iter().enumerate() {
            let known = HostTruth {
                address: host.address,
                rules: self.web.rules(i),
                crawl_delay_ms: robots::crawl_delay_ms(self.web, host.serves),
            };
            self.truth.hosts.insert(host.name.to_string(), known);
            if host.kind == HostKind::Soft {
                self.truth.soft.push(self.web.url(i, "/"));
            }
            for (prefix, urls_max, _) in
                trap::SPACES.iter().filter(|_| trap::is_trapped(self.web, i))
            {
                let prefix = self.web.url(i, prefix);
                self.truth.traps.push(Trap { prefix, urls_max: *urls_max });
            }
            if maze::is_here(self.web, i) {
                self.truth.traps.extend(maze::MAZES.iter().map(|maze| Trap {
                    prefix: self.web.url(i, maze.prefix),
                    urls_max: maze.urls_max,
                }));
            }
            if host.is_bad_at_a_path().is_some() {
                let (prefix, urls_max) = (self.web.url(i, BELOW_BAD.0), BELOW_BAD.1);
                self.truth.traps.push(Trap { prefix, urls_max });
            }
        }
    }

    /// Takes note of a URL that was found; a page's links are followed later.
    fn visit(&mut self, host: usize, path: &str, via: Via) {
        let url = self.web.url(host, path);
        let endless =
            trap::space_of(self.web, host, path).is_some() || maze::holds(self.web, host, path);
        if self.truth.pages.contains_key(&url) || endless {
            return;
        }
        if self.web.rules(host).close(path) {
            self.truth.forbidden.insert(url);
            return;
        }
        let resource = self.web.resource(host, path);
        if resource.role == Role::Action {
            self.truth.actions.insert(url);
            return;
        }
        self.truth.pages.insert(url, expect(self.web, (host, path), &resource, via));
        if self.web.hosts[host].breaks().is_none() {
            self.queue.push_back((host, path.to_owned()));
        }
    }

    fn follow_links(&mut self, host: usize, path: &str) {
        if path == "/"
            && let Some(link) = robots::sitemap(self.web, self.web.hosts[host].serves)
        {
            self.visit(link.host, &link.path, Via::Sitemap);
        }
        let resource = self.web.resource(host, path);
        let page_nofollow = resource.nofollow();
        let links = if resource.role == Role::Wall { &[] } else { resource.reply.links() };
        for link in links {
            let target = link.host_seen_from(host);
            if page_nofollow || link.nofollow {
                self.truth.nofollow.insert(self.web.url(target, &link.path));
            } else if !is_robots_path(&link.path) {
                self.visit(target, &link.path, via(&resource, link));
            }
        }
    }
}

fn via(resource: &Resource, link: &Link) -> Via {
    match (&resource.reply, &resource.role, link.carrier) {
        (Reply::Redirect { .. }, ..) => Via::Redirect,
        (_, Role::Sitemap, _) => Via::Sitemap,
        (.., Carrier::Image | Carrier::Srcset | Carrier::Stylesheet | Carrier::Script) => {
            Via::Embed
        }
        _ => Via::Link,
    }
}

fn expect(web: &Web, (host, path): (usize, &str), resource: &Resource, via: Via) -> Expect {
    let kind = kind(web, (host, path), resource);
    let status = if kind == Kind::Unreachable { 0 } else { resource.reply.status() };
    let required = !matches!(kind, Kind::Asset | Kind::TooLong | Kind::Unreachable);
    let original = if let Role::CopyOf(original) = &resource.role { original } else { path };
    let content = xxhash_rust::xxh3::xxh3_64(web.url(web.hosts[host].serves, original).as_bytes());
    Expect { status, content, kind, via, required }
}

fn kind(web: &Web, (host, path): (usize, &str), resource: &Resource) -> Kind {
    let serves = web.hosts[host].serves;
    match (&resource.role, &resource.reply) {
        _ if web.hosts[host].breaks().is_some() => Kind::Unreachable,
        (Role::Asset, _) => Kind::Asset,
        (Role::Sitemap, _) => Kind::Sitemap,
        (Role::Overlong, _) => Kind::TooLong,
        (Role::Wall, _) => Kind::Walled,
        (_, Reply::Redirect { to, .. }) => {
            Kind::Redirect(web.url(to.host_seen_from(host), &to.path))
        }
        (_, Reply::Flaky { first, retry_after, .. }) => {
            Kind::Recovers { first: *first, wait_ms: retry_after.at_least_ms() }
        }
        (_, Reply::Status(500..)) => Kind::Fails,
        (_, Reply::Status(_)) => Kind::Dead,
        (_, Reply::Bad(bad)) => Kind::Broken(*bad),
        _ if serves != host => Kind::MirrorOf(web.url(serves, path)),
        (Role::CopyOf(original), _) => Kind::DuplicateOf(web.url(host, original)),
        _ => Kind::Page,
    }
}
