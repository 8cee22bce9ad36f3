//! Filter `scope`: how far from the seeds the crawl goes.
//!
//! Files are not its business: see filter `files`. Several seeds are a union. Port and http/https do not split a host. With assets, what a page in
//! scope embeds is accepted wherever it is: one hop past the scope and no further.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::files::folders;
use super::{Filter, Subject, Verdict};
use crate::Via;
use crate::url::CrawlUrl;

/// What a seed stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScopeMode {
    /// The seed's host, to the letter: `www.example.com` is not `example.com`.
    #[default]
    Host,
    /// The seed's registrable domain, with everything below it.
    Domain,
    /// The seed's host and the hosts below it.
    Subdomains,
    /// The seed's host, and there what begins with the seed's path up to its last slash.
    Prefix,
    /// Everything.
    Any,
}

impl ScopeMode {
    /// Every mode, from the narrow to the wide.
    pub const ALL: [Self; 5] =
        [Self::Prefix, Self::Host, Self::Subdomains, Self::Domain, Self::Any];

    /// The word for flags and files; the same as serde writes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Domain => "domain",
            Self::Subdomains => "subdomains",
            Self::Prefix => "prefix",
            Self::Any => "any",
        }
    }
}

/// The filter.
pub(super) struct Reach {
    area: Area,
    assets: bool,
}

/// What the seeds stand for together.
enum Area {
    Hosts(BTreeSet<String>),
    Sites(BTreeSet<String>),
    Subdomains(BTreeSet<String>),
    /// Host → folders.
    Prefixes(BTreeMap<String, BTreeSet<String>>),
    Any,
}

impl Reach {
    pub fn new(mode: ScopeMode, seeds: &[CrawlUrl], assets: bool) -> Self {
        let seeds = || seeds.iter().filter(|seed| !seed.is_file());
        let hosts = || seeds().map(|seed| seed.host().to_owned()).collect();
        let area = match mode {
            ScopeMode::Host => Area::Hosts(hosts()),
            ScopeMode::Domain => Area::Sites(seeds().map(|seed| seed.site().to_owned()).collect()),
            ScopeMode::Subdomains => Area::Subdomains(hosts()),
            ScopeMode::Prefix => Area::Prefixes(prefixes(seeds())),
            ScopeMode::Any => Area::Any,
        };
        Self { area, assets }
    }
}

fn prefixes<'a>(seeds: impl Iterator<Item = &'a CrawlUrl>) -> BTreeMap<String, BTreeSet<String>> {
    let mut prefixes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for seed in seeds {
        let folder = folders(seed.path()).last().unwrap_or("/").to_owned();
        prefixes.entry(seed.host().to_owned()).or_default().insert(folder);
    }
    prefixes
}

/// `a.b.c` → `a.b.c`, `b.c`, `c`.
pub(super) fn host_and_parents(host: &str) -> impl Iterator<Item = &str> {
    let parents = host.match_indices('.').map(|(dot, _)| host.split_at(dot + 1).1);
    std::iter::once(host).chain(parents)
}

impl Area {
    fn contains(&self, url: &CrawlUrl, via: Via) -> bool {
        match self {
            Self::Any => true,
            _ if url.is_file() => true,
            Self::Hosts(hosts) => hosts.contains(url.host()),
            Self::Sites(sites) => sites.contains(url.site()),
            Self::Subdomains(hosts) => {
                host_and_parents(url.host()).any(|host| hosts.contains(host))
            }
            Self::Prefixes(prefixes) => prefixes.get(url.host()).is_some_and(|prefixes| {
                // A sitemap only names pages and lies at the root, whatever part it speaks of.
                matches!(via, Via::Robots | Via::SitemapIndex)
                    || folders(url.path()).any(|folder| prefixes.contains(folder))
            }),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Hosts(names) | Self::Sites(names) | Self::Subdomains(names) => names.is_empty(),
            Self::Prefixes(prefixes) => prefixes.is_empty(),
            Self::Any => false,
        }
    }

    /// Why the URL is not in this area.
    fn objection(&self, url: &CrawlUrl) -> String {
        let host = url.host();
        match self {
            Self::Any => String::new(),
            _ if self.is_empty() => format!("host {host} is on the web, and every seed is a file"),
            Self::Hosts(hosts) => match only(hosts) {
                Some(seed) => format!("host {host} is not host {seed} of a seed"),
                None => format!("host {host} is not one of the {} hosts of seeds", hosts.len()),
            },
            Self::Sites(sites) => match (url.site(), only(sites)) {
                (site, Some(seed)) => format!("domain {site} is not domain {seed} of a seed"),
                (site, None) => {
                    format!("domain {site} is not one of the {} domains of seeds", sites.len())
                }
            },
            Self::Subdomains(hosts) => match only(hosts) {
                Some(seed) => format!("host {host} is not {seed} of a seed, nor below it"),
                None => {
                    format!(
                        "host {host} is not one of the {} hosts of seeds, nor below",
                        hosts.len()
                    )
                }
            },
            Self::Prefixes(prefixes) => match prefixes.get(host) {
                Some(folders) => match only(folders) {
                    Some(folder) => format!("path {} is not below {folder} of a seed", url.path()),
                    None => format!(
                        "path {} is not below one of the {} folders of seeds on {host}",
                        url.path(),
                        folders.len()
                    ),
                },
                None => format!("host {host} is not the host of a seed"),
            },
        }
    }
}

fn only(names: &BTreeSet<String>) -> Option<&String> {
    names.first().filter(|_| names.len() == 1)
}

impl Filter for Reach {
    fn name(&self) -> &'static str {
        "scope"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let is_asset = self.assets
            && subject.via.is_embed()
            && subject.from.is_some_and(|page| self.area.contains(page, Via::Anchor));
        if is_asset || self.area.contains(subject.url, subject.via) {
            return Verdict::Pass;
        }
        Verdict::reject("scope", self.area.objection(subject.url))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, embed, link, url};
    use super::*;

    fn reach(mode: ScopeMode, seeds: &[&str]) -> Reach {
        let seeds: Vec<CrawlUrl> = seeds.iter().map(|seed| url(seed)).collect();
        Reach::new(mode, &seeds, true)
    }

    #[test]
    fn each_mode_has_its_reach() {
        use ScopeMode::{Any, Domain, Host, Prefix, Subdomains};
        let rows = [
            (Host, "http://example.com/a/b", "https://example.com:8080/", ""),
            (
                Host,
                "http://example.com/",
                "http://www.example.com/",
                "scope: host www.example.com is not host example.com of a seed",
            ),
            (
                Host,
                "http://example.com/",
                "http://other.example/",
                "scope: host other.example is not host example.com of a seed",
            ),
            (Domain, "http://www.example.co.uk/", "http://shop.example.co.uk/", ""),
            (Domain, "http://www.example.co.uk/", "http://example.co.uk/", ""),
            (
                Domain,
                "http://www.example.co.uk/",
                "http://other.co.uk/",
                "scope: domain other.co.uk is not domain example.co.uk of a seed",
            ),
            (
                Domain,
                "http://me.github.io/",
                "http://you.github.io/",
                "scope: domain you.github.io",
            ),
            (Domain, "http://10.0.0.1/", "http://10.0.0.2/", "scope: domain 10.0.0.2"),
            (Subdomains, "http://example.com/", "http://a.b.example.com/", ""),
            (Subdomains, "http://example.com/", "http://example.com/", ""),
            (
                Subdomains,
                "http://docs.example.com/",
                "http://example.com/",
                "scope: host example.com is not docs.example.com of a seed, nor below it",
            ),
            (Subdomains, "http://example.com/", "http://notexample.com/", "scope: host not"),
            (Prefix, "http://h/docs/v1/index.html", "https://h/docs/v1/a/b", ""),
            (Prefix, "http://h/docs/v1/index.html", "https://h/docs/v1/", ""),
            (
                Prefix,
                "http://h/docs/v1/index.html",
                "http://h/docs/v2/",
                "scope: path /docs/v2/ is not below /docs/v1/ of a seed",
            ),
            (Prefix, "http://h/docs/", "http://h/docs", "scope: path /docs is not below /docs/"),
            (Prefix, "http://h/docs/", "http://h/docsx/a", "scope: path /docsx/a"),
            (Prefix, "http://h/docs/", "http://g/docs/", "scope: host g is not the host of a seed"),
            (Any, "http://h/", "http://anything.example/", ""),
        ];
        for (mode, seed, target, reason) in rows {
            let filter = reach(mode, &[seed]);
            match reason {
                "" => assert_passes(&filter, link(target)),
                _ => assert_rejects(&filter, link(target), reason),
            }
        }
    }

    #[test]
    fn every_mode_has_the_word_that_serde_writes() {
        for mode in ScopeMode::ALL {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.word());
        }
    }

    #[test]
    fn a_tree_of_files_has_the_web_in_scope_only_when_asked() {
        for mode in [ScopeMode::Host, ScopeMode::Domain, ScopeMode::Subdomains, ScopeMode::Prefix] {
            let filter = reach(mode, &["file:///srv/docs/"]);
            assert_passes(&filter, link("file:///srv/docs/a"));
            assert_rejects(&filter, link("http://h/"), "scope: host h is on the web, and every");
        }
        assert_passes(&reach(ScopeMode::Any, &["file:///srv/docs/"]), link("http://h/"));
    }

    #[test]
    fn several_seeds_are_a_union() {
        let hosts = reach(ScopeMode::Host, &["http://a.example/", "http://b.example/"]);
        assert_passes(&hosts, link("http://a.example/x"));
        assert_passes(&hosts, link("http://b.example/x"));
        assert_rejects(&hosts, link("http://c.example/"), "is not one of the 2 hosts of seeds");
        let folders = reach(ScopeMode::Prefix, &["http://h/a/", "http://h/b/"]);
        assert_passes(&folders, link("http://h/b/x"));
        assert_rejects(&folders, link("http://h/c/"), "not below one of the 2 folders");
    }

    #[test]
    fn assets_are_accepted_one_hop_past_the_scope() {
        let (inside, outside) = (url("http://h/page"), url("http://cdn.example/style.css"));
        let filter = reach(ScopeMode::Host, &["http://h/"]);
        let image = embed("http://cdn.example/a.png");
        assert_passes(&filter, Subject { from: Some(&inside), ..image });
        assert_rejects(&filter, Subject { from: Some(&outside), ..image }, "scope: host cdn");
        assert_rejects(&filter, Subject { from: None, ..image }, "scope: host cdn");
        let frame = Subject { via: Via::Frame, from: Some(&inside), ..image };
        assert_rejects(&filter, frame, "scope: host cdn");
        let without = Reach { assets: false, ..filter };
        assert_rejects(&without, Subject { from: Some(&inside), ..image }, "scope: host cdn");
    }

    #[test]
    fn a_sitemap_may_lie_above_the_prefix_of_its_host() {
        let filter = reach(ScopeMode::Prefix, &["http://h/docs/"]);
        let sitemap = Subject { via: Via::Robots, ..link("http://h/sitemap.xml") };
        assert_passes(&filter, sitemap);
        assert_rejects(&filter, Subject { via: Via::Sitemap, ..sitemap }, "scope: path");
        let elsewhere = Subject { via: Via::Robots, ..link("http://g/sitemap.xml") };
        assert_rejects(&filter, elsewhere, "scope: host g");
    }
}
