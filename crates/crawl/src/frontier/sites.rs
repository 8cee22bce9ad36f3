//! The budgets of sites: what all hosts of a site share.
//!
//! A farm of a million hosts costs a million times nothing if each of them is judged alone. So pages, and what
//! they were worth, are counted per site as well. The purse of a site is in memory as long as one of its
//! hosts is; a checkpoint writes those that have changed.
//!
//! - SITE-1: a site whose purse has changed since the last checkpoint has a host in memory that has, too.

use larm_core::url::{host_of_canonical, site_of_host};
use larm_core::worth::{Domains, Purse};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::keyed::KeyMap;

/// What hosts share a budget by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SiteKey(pub u64);

impl SiteKey {
    /// The key of a host: its registrable domain. This is the one place that decides who shares a budget
    /// with whom.
    pub fn of_host(name: &str) -> Self {
        Self::of_site(site_of_host(name))
    }

    /// The key of a site.
    pub fn of_site(site: &str) -> Self {
        Self(xxh3_64(site.as_bytes()))
    }
}

/// The site of the page that was asked for last: links come in pages.
#[derive(Debug, Default)]
pub struct LastSite {
    page: String,
    site: Option<SiteKey>,
}

impl LastSite {
    /// The site of a page whose URL comes in two parts.
    pub fn of_page(&mut self, begin: &str, end: &str) -> Option<SiteKey> {
        if self.page.strip_prefix(begin) != Some(end) {
            self.page.clear();
            self.page.extend([begin, end]);
            self.site = host_of_canonical(&self.page).map(SiteKey::of_host);
        }
        self.site
    }
}

/// The purse of a site with a host in memory.
#[derive(Debug)]
struct Resident {
    partition: u16,
    purse: Purse,
    hosts: u32,
    changed: bool,
}

/// A purse before it changed: whoever knows the budgets sees whether that means anything.
#[derive(Debug, Clone, Copy)]
pub struct Before {
    /// Whose.
    pub site: SiteKey,
    /// Where its hosts lie.
    pub partition: u16,
    /// What was in it.
    pub purse: Purse,
}

/// The purses of all sites with a host in memory.
#[derive(Debug, Default)]
pub struct Sites {
    resident: KeyMap<SiteKey, Resident>,
    /// Purses that have changed since this was last emptied: after each record.
    before: Vec<Before>,
}

impl Sites {
    /// A host comes into memory. Its site is read from the store if nobody of it is here yet.
    pub fn enter<E>(
        &mut self,
        site: SiteKey,
        partition: u16,
        read: impl FnOnce() -> Result<Option<Purse>, E>,
    ) -> Result<(), E> {
        if let Some(resident) = self.resident.get_mut(&site) {
            resident.hosts += 1;
            return Ok(());
        }
        let purse = read()?.unwrap_or_default();
        self.resident.insert(site, Resident { partition, purse, hosts: 1, changed: false });
        Ok(())
    }

    /// A host leaves memory.
    pub fn leave(&mut self, site: SiteKey) {
        let Some(resident) = self.resident.get_mut(&site) else { return };
        resident.hosts -= 1;
        if resident.hosts == 0 {
            debug_assert!(!resident.changed, "SITE-1: what has changed is written first");
            self.resident.remove(&site);
        }
    }

    /// The purse of a site that is here.
    pub fn get(&self, site: SiteKey) -> Option<&Purse> {
        self.resident.get(&site).map(|resident| &resident.purse)
    }

    /// Counts pages of a site, and how many of them brought something new.
    pub fn count(&mut self, site: SiteKey, pages: u64, fruitful: u64) {
        self.change(site, |purse| {
            purse.pages += pages;
            purse.fruitful += fruitful;
            pages + fruitful > 0
        });
    }

    /// Takes note of other sites that link to one of a site's hosts.
    pub fn hear(&mut self, site: SiteKey, domains: Domains) {
        self.change(site, |purse| purse.domains.merge(domains));
    }

    fn change(&mut self, site: SiteKey, change: impl FnOnce(&mut Purse) -> bool) {
        let Some(resident) = self.resident.get_mut(&site) else { return };
        let purse = resident.purse;
        if change(&mut resident.purse) {
            resident.changed = true;
            self.before.push(Before { site, partition: resident.partition, purse });
        }
    }

    /// What has changed since somebody asked, as it was before.
    pub fn take_changes(&mut self) -> Vec<Before> {
        std::mem::take(&mut self.before)
    }

    /// The purses that a checkpoint has to write.
    pub fn save(&mut self) -> Vec<(u16, SiteKey, Purse)> {
        let changed = self.resident.iter_mut().filter(|(_, resident)| resident.changed);
        let mut rows: Vec<_> = changed
            .map(|(site, resident)| {
                resident.changed = false;
                (resident.partition, *site, resident.purse)
            })
            .collect();
        rows.sort_unstable_by_key(|(partition, site, _)| (*partition, *site));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_domain_share_a_site() {
        let key = SiteKey::of_host("www.example.co.uk");
        assert_eq!(key, SiteKey::of_host("shop.example.co.uk"));
        assert_eq!(key, SiteKey::of_site("example.co.uk"));
        assert_ne!(key, SiteKey::of_host("www.example.com"));
        assert_ne!(SiteKey::of_host("10.0.0.1"), SiteKey::of_host("10.0.0.2"));
    }

    #[test]
    fn the_last_site_is_that_of_the_page_that_is_asked_for() {
        let mut last = LastSite::default();
        assert_eq!(last.of_page("", ""), None);
        for host in ["a.example.com", "b.example.com", "a.example.org", "a.example.org"] {
            let page = format!("http://{host}/");
            for at in [0, 4, 9, page.len()] {
                let site = last.of_page(&page[..at], &page[at..]);
                assert_eq!(site, Some(SiteKey::of_host(host)), "{host}");
            }
        }
    }

    #[test]
    fn a_site_is_here_as_long_as_one_of_its_hosts() {
        let (mut sites, site) = (Sites::default(), SiteKey(7));
        let read = || Ok::<_, ()>(Some(Purse { pages: 5, ..Purse::default() }));
        sites.enter(site, 1, read).unwrap();
        sites.enter(site, 1, || -> Result<_, ()> { panic!("it is here") }).unwrap();
        sites.count(site, 1, 0);
        assert_eq!(sites.take_changes().len(), 1);
        assert_eq!(sites.save(), [(1, site, Purse { pages: 6, ..Purse::default() })]);
        sites.leave(site);
        assert_eq!(sites.get(site).map(|purse| purse.pages), Some(6));
        sites.leave(site);
        assert!(sites.get(site).is_none() && sites.save().is_empty());
    }
}
