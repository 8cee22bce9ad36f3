//! Worth and budgets of the model: who may be asked for what, and what is moved for want of worth. What pages
//! are worth is worked out by the same pure code as on disk, which has tests of its own.

use larm_core::url::CrawlUrl;
use larm_core::worth::{Harvest, HostWorth, Purse, Verdict};

use super::{MemoryFrontier, MemoryHost};
use crate::frontier::item::{HELD, Place, SLOW};
use crate::frontier::record::Moved;
use crate::frontier::sites::SiteKey;
use crate::frontier::{Budgets, Candidate};

impl MemoryFrontier {
    /// Before which place a host's URLs may be asked for.
    pub(super) fn end(&self, name: &str, host: &MemoryHost) -> Place {
        let Budgets { host_pages_max, host_base, site_base, cut_at, .. } = self.budgets;
        let site = self.sites.get(&SiteKey::of_host(name)).copied().unwrap_or_default();
        let spent = host_pages_max.is_some_and(|max| host.purse.pages >= max)
            || host.purse.is_spent(host_base)
            || site.is_spent(site_base);
        match cut_at {
            _ if spent => Place::BEHIND_ERRANDS,
            None => Place::END,
            Some(cut_at) if host.held_at > 0 && cut_at > host.held_at => Place::END,
            Some(_) => Place { priority: HELD, seq: host.review },
        }
    }

    /// Gives URLs another place, as the disk says it did, if there was a reason to.
    pub fn move_back(&mut self, moved: &Moved) {
        let cut_at = self.budgets.cut_at.expect("a shape can be cut off");
        assert_eq!(moved.cut_at, cut_at);
        let host = self.hosts.get_mut(&*moved.host).expect("it is known");
        if moved.to == HELD && cut_at > host.held_at {
            (host.review, host.held_at) = (self.next_seq, cut_at);
        }
        for (n, place) in moved.places.iter().enumerate() {
            let (_, mut item) = host.origin(&moved.origin).take(*place);
            let path = &item.url[moved.origin.len()..];
            let verdict = host.worth.judge(path, cut_at).0;
            // What goes together was judged together.
            let may_hold = verdict == Verdict::Cut || n > 0 && verdict == Verdict::Try;
            assert!(if moved.to == HELD { may_hold } else { verdict == Verdict::Slow }, "{path}");
            assert!(place.priority > 2 && (moved.to == HELD || place.priority < SLOW));
            if moved.to == HELD {
                host.worth.hold(path, cut_at);
                self.totals.held += u64::from(place.priority != HELD);
            }
            item.place = Place { priority: moved.to, seq: self.next_seq };
            self.next_seq += 1;
            host.origin(&moved.origin).items.push((None, item));
        }
    }

    /// What is known of the worth of a host.
    pub fn worth_of(&self, name: &str) -> Option<(Purse, Purse, HostWorth)> {
        let host = self.hosts.get(name)?;
        let site = self.sites.get(&SiteKey::of_host(name)).copied().unwrap_or_default();
        Some((host.purse, site, host.worth.clone()))
    }

    pub(super) fn note_harvest(
        &mut self,
        name: &str,
        url: &str,
        harvest: &Harvest,
        found: &[Candidate],
    ) {
        let host = self.hosts.get_mut(name).expect("it was leased");
        let url = CrawlUrl::from_canonical(url).expect("it was one");
        let found = found.iter().filter(|one| one.url.host() == name && one.errand.counts());
        let paths = found.map(|candidate| candidate.url.path_and_query());
        let noted = host.worth.note(url.path_and_query(), harvest, paths, &self.limits);
        if noted.healed {
            host.review = self.next_seq;
        }
        host.purse.fruitful += u64::from(noted.fruitful);
        self.sites.entry(SiteKey::of_host(name)).or_default().fruitful += u64::from(noted.fruitful);
    }
}
