//! Two names for the same pages: what a page says of a guess, and what stands for a URL once it is known
//! (with step 10, and before step 6).

use std::sync::Arc;

use larm_core::Outcome;
use larm_core::alias::{self, Alias, Content, Instead, Says, Sighting, index_guess};
use larm_core::url::CrawlUrl;
use larm_core::via::Via;

use super::links::passed;
use super::{Line, Read};
use crate::error::Result;
use crate::frontier::{Candidate, Errand, Lease, PageRow, Sighted, Twin};
use crate::plan::Duplicates;

impl Line {
    /// The aliases that are acted upon.
    pub(super) fn alias_rules(&self) -> Arc<alias::Rules> {
        match self.duplicates {
            Duplicates::Stop => self.aliases.read(),
            Duplicates::Mark | Duplicates::Off => Arc::default(),
        }
    }

    /// The page that stands for a URL that waited. One that is not there yet stands for nothing.
    pub fn stands_for(&self, lease: &Lease) -> Result<Option<Instead>> {
        let rules = self.alias_rules();
        if rules.is_empty() || !lease.errand().counts() {
            return Ok(None);
        }
        let Some(instead) = rules.instead_of(lease.url()) else { return Ok(None) };
        let is_there = self.frontier().page(&instead.url)?.is_some_and(|row| row.is_page());
        Ok(Some(instead).filter(|_| is_there))
    }

    /// Whether a URL is settled, and is no page.
    pub(super) fn is_no_page(&self, url: &CrawlUrl) -> bool {
        let row = self.frontier().page(url).ok().flatten();
        row.is_some_and(|row| !row.is_page())
    }

    /// What is to be asked for after all, since what stood for it is not there.
    pub(super) fn other_names(&self, lease: &Lease) -> Vec<Candidate> {
        if lease.item().via != Via::Mirror || !lease.errand().counts() {
            return Vec::new();
        }
        let names = self.alias_rules().names_of(lease.url());
        let candidates = names.into_iter().map(|url| ask(lease, url, Via::Mirror));
        let rules = self.rules.read();
        candidates.filter_map(|candidate| passed(&rules, candidate, lease.url())).collect()
    }

    /// What a page says of names that may be aliases, and what has to be asked to find out.
    pub fn look_for_twins(&self, lease: &Lease, read: &mut Read) -> Result<()> {
        let url = lease.url();
        let is_compared = lease.errand().counts() && !url.is_file();
        if self.duplicates == Duplicates::Off || !is_compared {
            return Ok(());
        }
        if is_elsewhere(&read.outcome) {
            read.asks.extend(self.other_names(lease));
        }
        self.take_suggestion(lease, read);
        let guess = index_guess(url).filter(|_| is_page(read));
        let twins = self.twins(url, guess)?;
        for twin in twins {
            if read.sightings.iter().any(|seen| seen.sighting.alias == twin.alias) {
                continue;
            }
            let row = self.frontier().page(&twin.url)?;
            let says = self.compare(lease, read, &twin, row.as_ref());
            if twin.is_awaited || says != Says::Nothing {
                let sighting = sighting(twin.alias, says, url, &twin.url);
                read.sightings.push(self.sighted(sighting));
            }
        }
        Ok(())
    }

    /// The guess that a page with the same content suggests.
    fn take_suggestion(&self, lease: &Lease, read: &mut Read) {
        let same = read.digest.same_as.as_ref().map(|same| same.url.as_str());
        let near = read.likeness.as_ref().and_then(|likeness| likeness.of.as_deref());
        let Some(original) = same.or(near).and_then(CrawlUrl::from_canonical) else { return };
        let Some(alias) = Alias::suggested_by(lease.url(), &original) else { return };
        let content = content(read);
        let may_suggest = match alias {
            // Files without words stand on many hosts.
            Alias::Mirror(..) => content.simhash.is_some(),
            // Directories and their files must be alike to the byte.
            Alias::Index(..) => same.is_some(),
        };
        if !may_suggest {
            return;
        }
        let says = Says::Alike(content.mark());
        let sighting = sighting(alias, says, lease.url(), &original);
        read.sightings.push(self.sighted(sighting));
    }

    /// The twins that there are guesses about, and that of a file that may be its directory.
    fn twins(&self, url: &CrawlUrl, guess: Option<Alias>) -> Result<Vec<Twin>> {
        let mut twins = self.frontier().twins(url);
        if let Some(alias) = guess
            && let Some(at) = alias.twin_of(url)
            && twins.iter().all(|twin| twin.alias != alias)
        {
            twins.push(Twin { alias, url: at, may_ask: false, is_awaited: false });
        }
        Ok(twins)
    }

    fn compare(&self, lease: &Lease, read: &mut Read, twin: &Twin, row: Option<&PageRow>) -> Says {
        let Some(row) = row else { return self.ask_for(lease, read, twin) };
        match (is_page(read), row.is_page()) {
            (true, true) => match content(read).is_like(&row.content(), &twin.alias) {
                Some(true) => Says::Alike(content(read).mark()),
                Some(false) => Says::Differs,
                None => Says::Nothing,
            },
            (true, false) if is_elsewhere(&row.outcome) => Says::Differs,
            (false, true) if is_elsewhere(&read.outcome) => Says::Differs,
            _ => Says::Nothing,
        }
    }

    /// Asks for a twin that is not known yet.
    fn ask_for(&self, lease: &Lease, read: &mut Read, twin: &Twin) -> Says {
        let is_mirror = matches!(twin.alias, Alias::Mirror(..));
        if !is_mirror || !twin.may_ask || !is_page(read) {
            return Says::Nothing;
        }
        let candidate = ask(lease, twin.url.clone(), Via::Mirror);
        let candidate = passed(&self.rules.read(), candidate, lease.url());
        match candidate.filter(|candidate| !self.is_known(&candidate.url)) {
            Some(candidate) => {
                read.asks.push(candidate);
                Says::Asks
            }
            None => Says::Nothing,
        }
    }

    fn is_known(&self, url: &CrawlUrl) -> bool {
        self.frontier().knows(url).unwrap_or(true)
    }

    /// A host that a seed is of stays, if the other is not of one.
    fn sighted(&self, sighting: Sighting) -> Sighted {
        let is_seed = |origin: &str| {
            let url = CrawlUrl::from_canonical(&format!("{origin}/"));
            url.is_some_and(|url| self.rules.has_seed_host(url.host()))
        };
        let stays = match &sighting.alias {
            Alias::Mirror(one, other) => match (is_seed(one), is_seed(other)) {
                (true, false) => Some(one.clone()),
                (false, true) => Some(other.clone()),
                _ => None,
            },
            Alias::Index(..) => None,
        };
        Sighted { sighting, stays }
    }
}

fn is_page(read: &Read) -> bool {
    read.outcome == Outcome::Fetched { status: 200 } && read.page.is_some()
}

/// Whether an answer says that there is no page here.
fn is_elsewhere(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Fetched { status } => (400..500).contains(status),
        Outcome::Redirected { .. } => true,
        _ => false,
    }
}

fn content(read: &Read) -> Content {
    let simhash = read.likeness.as_ref().map(|likeness| likeness.simhash);
    Content { digest: read.digest.body, simhash }
}

fn sighting(alias: Alias, says: Says, url: &CrawlUrl, twin: &CrawlUrl) -> Sighting {
    let pair = [url.fingerprint(), twin.fingerprint()];
    Sighting { alias, says, first: twin.origin().into(), pair }
}

fn ask(lease: &Lease, url: CrawlUrl, via: Via) -> Candidate {
    let depth = lease.item().depth;
    let parent = Some(lease.url().as_str().into());
    Candidate { url, depth, via, parent, redirects: 0, errand: Errand::Page }
}
