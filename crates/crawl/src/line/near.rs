//! Pages that say nearly the same as one before them (step 10).
//!
//! Such a page is kept and marked, and its links are not followed: they lead to copies, or to what the
//! original leads to. Care is taken not to lose pages: a page with few words is not compared; one that
//! its near-copy names as the canonical one is the original, whoever came first; and links are followed
//! all the same where a site begins, and if many of them are new, also when read as the original would
//! have them: lists in pages may differ in nothing but their links. If few are new, those are followed that lead to a
//! kind of pages, or to a host, which has something new as a rule: each class of a reference may have one more page
//! of its own.

use std::collections::HashSet;

use larm_core::near::{Simhash, Translation};
use larm_core::parse::{Kind, Page};
use larm_core::partition::{PARTITIONS, partition};
use larm_core::scope::Reason;
use larm_core::url::{self, CrawlUrl};
use larm_core::via::Via;
use larm_core::{Fact, Outcome};

use super::{Archived, JudgedLinks, Line, Read};
use crate::error::Result;
use crate::frontier::near::{Claim, Entry, PageKey};
use crate::frontier::{CANONICAL, Candidate, Lease, Likeness, NEAR_DUPLICATE, PageRow};
use crate::plan::Duplicates;

/// Links that are looked at to see whether they are new.
const SAMPLE_MAX: usize = 512;
/// New links from which on a near-duplicate is followed, if they are also one in `NEW_SHARE`.
const NEW_MIN: usize = 3;
/// See `NEW_MIN`.
const NEW_SHARE: usize = 10;
/// How the fact of a near-duplicate ends whose links are not followed.
const LEFT: &str = "its links are not followed";

/// An earlier page that says nearly the same.
struct Original {
    url: Box<str>,
    bits: u32,
    /// What is said of it.
    word: &'static str,
}

/// How many links of a page are new.
struct News {
    new: usize,
    all: usize,
    /// New ones that lead to what is sure to bring something.
    sure: HashSet<Box<str>>,
}

impl News {
    fn is_worth_it(&self) -> bool {
        self.new >= NEW_MIN && self.new * NEW_SHARE >= self.all
    }
}

impl Line {
    /// Step 10: whether a page says nearly the same as one before it.
    pub fn liken(&self, lease: &Lease, read: &mut Read, links: &mut JudgedLinks) -> Result<()> {
        let Some(page) = self.to_be_compared(lease, read) else { return Ok(()) };
        let canonical = self.canonical(lease, page);
        let simhash = self.simhash(page);
        read.facts.extend(canonical.iter().map(|url| Fact::new(CANONICAL, url.as_str())));
        let Some(simhash) = simhash else { return Ok(()) };
        if let Some(same) = &read.digest.same_as {
            read.likeness = Some(Likeness { simhash, of: Some(same.url.as_str().into()) });
            return Ok(());
        }
        let original = self.original(lease, simhash, canonical.as_ref())?;
        if let Some(original) = &original {
            let fact = self.mark(lease, original, links)?;
            read.facts.push(Fact::new(NEAR_DUPLICATE, fact));
        }
        read.likeness = Some(Likeness { simhash, of: original.map(|original| original.url) });
        Ok(())
    }

    /// The same for a page from an archive: what was found out about it then counts.
    pub fn recall_likeness(
        &self,
        lease: &Lease,
        archived: &Archived,
        read: &mut Read,
        links: &mut JudgedLinks,
    ) {
        let simhash = self.to_be_compared(lease, read).and_then(|page| self.simhash(page));
        let Some(simhash) = simhash else { return };
        let known = archived.fetched.facts.iter().find(|fact| &*fact.name == NEAR_DUPLICATE);
        let near = known.and_then(|fact| fact.value.strip_prefix("of ")?.split(", ").next());
        let same = read.digest.same_as.as_ref().map(|same| same.url.as_str());
        if let Some(url) = near.filter(|_| known.is_some_and(|fact| fact.value.ends_with(LEFT))) {
            links.leave(&reason(url), |via, _| leads_on(via));
        }
        read.likeness = Some(Likeness { simhash, of: near.or(same).map(Into::into) });
    }

    /// The page of an answer, if it is one that others may be like.
    fn to_be_compared<'a>(&self, lease: &Lease, read: &'a Read) -> Option<&'a Page> {
        let is_page = read.outcome == Outcome::Fetched { status: 200 } && lease.errand().counts();
        let page = read.page.as_ref().filter(|page| is_page && may_be_compared(page));
        page.filter(|_| self.duplicates != Duplicates::Off)
    }

    /// The words of a page's main part, or of all of it where that is not most of it.
    fn simhash(&self, page: &Page) -> Option<Simhash> {
        Simhash::of(page.substance(), self.limits.near_words_min)
    }

    /// The other URL of the same site that a page names as its canonical one.
    fn canonical(&self, lease: &Lease, page: &Page) -> Option<CrawlUrl> {
        let named = page.canonical.as_deref()?;
        let own = lease.url().to_url();
        let base = page.base.as_ref().unwrap_or(&own);
        let url = url::resolve(named, Some(base), Some(page.encoding())).ok()?;
        let url = url::canonicalise(url, self.rules.read().url_rules()).ok()?;
        (url.site() == lease.url().site() && url != *lease.url()).then_some(url)
    }

    fn original(
        &self,
        lease: &Lease,
        simhash: Simhash,
        canonical: Option<&CrawlUrl>,
    ) -> Result<Option<Original>> {
        if let Some(url) = canonical
            && let Some(row) = self.frontier().page(url)?
            && let Some(bits) = bits_from(&row, simhash)
        {
            let word = "which it names as its canonical URL";
            return Ok(Some(Original { url: row.url, bits, word }));
        }
        let url = lease.url();
        let page = key_of(url);
        let canonical = canonical.map(|url| url.as_str().into());
        let claim = Claim { simhash, url: url.as_str().into(), canonical };
        let found = self.near.find_or_claim(page, claim)?;
        if let Some(claim) = found.claimed {
            let is_canonical = claim.canonical.as_deref() == Some(url.as_str());
            let bits = claim.simhash.distance(simhash);
            let original = Original { url: claim.url, bits, word: "" };
            return Ok(Some(original).filter(|_| !is_canonical));
        }
        self.first_of(url, simhash, &found.pages)
    }

    /// The first of some pages that is still as it was, and that does not take this one for the original.
    fn first_of(
        &self,
        url: &CrawlUrl,
        simhash: Simhash,
        pages: &[Entry],
    ) -> Result<Option<Original>> {
        for entry in pages {
            let Some(row) = self.frontier().page_at(entry.page)? else { continue };
            if row.fact(CANONICAL) == Some(url.as_str()) {
                return Ok(None);
            }
            if let Some(bits) = bits_from(&row, simhash) {
                return Ok(Some(Original { url: row.url, bits, word: "" }));
            }
        }
        Ok(None)
    }

    /// Stops at a near-duplicate, unless its links speak against it; says what was found.
    fn mark(&self, lease: &Lease, original: &Original, links: &mut JudgedLinks) -> Result<String> {
        let Original { url, bits, word } = original;
        let comma = if word.is_empty() { "" } else { ", " };
        let said = format!("of {url}{comma}{word}, {bits} of 64 bits apart");
        if self.duplicates == Duplicates::Mark {
            return Ok(said);
        }
        if is_start(lease) {
            return Ok(format!("{said}; followed, since a site begins here"));
        }
        let news = self.news(lease, url, links)?;
        if news.is_worth_it() {
            return Ok(format!(
                "{said}; followed, since {} of {} links are new",
                news.new, news.all
            ));
        }
        let is_left = |via, to: &str| leads_on(via) && !news.sure.contains(to);
        links.leave(&reason(url), is_left);
        Ok(match news.sure.len() {
            0 => format!("{said}; {LEFT}"),
            sure => format!("{said}; {LEFT} but for {sure} to what brings much as a rule"),
        })
    }

    /// How many links are new, as they are and as the original would have them. Of many, some are looked
    /// at.
    fn news(&self, lease: &Lease, original: &str, links: &JudgedLinks) -> Result<News> {
        let hops: Vec<&Candidate> =
            links.candidates.iter().filter(|candidate| leads_on(candidate.via)).collect();
        let all = hops.len() + links.known;
        let step = hops.len().div_ceil(SAMPLE_MAX).max(1);
        let translation = Translation::between(lease.url().as_str(), original);
        let frontier = self.frontier();
        let (mut new, mut sure) = (0, HashSet::new());
        for candidate in hops.iter().step_by(step) {
            let url = &candidate.url;
            let other = translation.as_ref().and_then(|turn| turn.of(url.as_str()));
            let other = other.as_deref().and_then(CrawlUrl::from_canonical);
            let is_known = frontier.knows(url)?
                || other.is_some_and(|url| frontier.knows(&url).unwrap_or(false));
            new += usize::from(!is_known);
            if !is_known && frontier.is_sure(url) {
                sure.insert(url.as_str().into());
            }
        }
        Ok(News { new: (new * step).min(hops.len()), all, sure })
    }
}

/// Why links of a page are not followed.
fn reason(original: &str) -> Reason {
    Reason::new(NEAR_DUPLICATE, format!("the page says nearly the same as {original}"))
}

/// Lists for machines are read as such, and say what they say.
fn may_be_compared(page: &Page) -> bool {
    !matches!(page.kind, Kind::Css | Kind::Xml | Kind::Sitemap | Kind::SitemapIndex | Kind::Feed)
}

/// Whether a page is where a site begins: who looks no further would not know what else is there.
fn is_start(lease: &Lease) -> bool {
    lease.item().via == Via::Seed || lease.url().path_and_query() == "/"
}

/// Whether a link leads to another page; what a page needs to look right is fetched with it, and the
/// canonical URL is where the original may be.
fn leads_on(via: Via) -> bool {
    !via.is_embed() && via != Via::Canonical
}

/// How far the words of a settled page are from others, if they are near.
fn bits_from(row: &PageRow, simhash: Simhash) -> Option<u32> {
    let likeness = row.likeness.as_ref().filter(|_| row.is_page())?;
    likeness.simhash.is_near(simhash).then(|| likeness.simhash.distance(simhash))
}

fn key_of(url: &CrawlUrl) -> PageKey {
    let partition = partition(url.site(), PARTITIONS);
    PageKey { partition, fingerprint: url.fingerprint() }
}
