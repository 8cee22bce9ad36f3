//! Where an answer leads (steps 1 and 2): its redirect, its page's links, its robots.txt's sitemaps.
//!
//! Every link is resolved, brought into its canonical form and judged, and carries its verdict into the
//! link log. Candidates come out once per page, each URL once.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use larm_core::alias;
use larm_core::parse::{LinkRef, Page};
use larm_core::scope::{Reason, Subject, Verdict};
use larm_core::url::{self, CrawlUrl, Fingerprint, UrlError, UrlList, UrlRef};
use larm_core::via::Via;

use super::{Line, redirect_of};
use crate::change::Change;
use crate::error::Result;
use crate::fetch::Fetched;
use crate::frontier::{Candidate, Errand, Item, Lease};
use crate::rules::Rules;
use crate::store::{LinkFact, LinkFacts};

/// The links of an answer, judged.
#[derive(Default)]
pub struct JudgedLinks {
    /// In scope, each once.
    pub candidates: Vec<Candidate>,
    /// All of them, for the link log.
    pub facts: LinkFacts,
    /// How many each filter rejected.
    pub rejected: BTreeMap<Cow<'static, str>, u32>,
    /// How many lead to what was offered a moment ago.
    pub known: usize,
    offered: HashSet<Fingerprint>,
}

impl JudgedLinks {
    /// Adds what may be offered, unless it is there.
    pub(super) fn offer(&mut self, candidate: Candidate) {
        if self.offered.insert(candidate.url.fingerprint()) {
            self.candidates.push(candidate);
        }
    }

    /// Adds a link that leads to what was offered a moment ago. Whoever offers it again learns nothing new. Most links are of this
    /// kind, so nothing is made of them that would have to be passed on.
    #[inline]
    fn add_known(&mut self, link: &LinkRef<'_>, url: UrlRef<'_>) {
        self.known += 1;
        self.facts.push(LinkFact { to: url.as_str(), ..fact_of(link) });
    }

    /// Adds what the page says of a link, and what became of it.
    fn add(&mut self, said: LinkFact<'_>, judged: Judged) {
        match judged {
            Judged::Passed(candidate) => {
                self.facts.push(LinkFact { to: candidate.url.as_str(), ..said });
                self.offer(candidate);
            }
            Judged::Replaced { url, reason, by } => {
                self.add(said, Judged::Rejected { url: Some(url), reason });
                self.offer(by);
            }
            Judged::Rejected { url, reason } => {
                let to = url.as_ref().map_or(said.to, CrawlUrl::as_str);
                self.facts.push_rejected(LinkFact { to, ..said }, &reason);
                *self.rejected.entry(reason.filter).or_default() += 1;
            }
        }
    }

    /// Follows none of the links that `is_left` names, for a reason.
    pub fn leave(&mut self, reason: &Reason, is_left: impl Fn(Via, &str) -> bool) {
        self.candidates.retain(|candidate| !is_left(candidate.via, candidate.url.as_str()));
        let (verdict, mut left) = (reason.to_string(), 0);
        let facts = self.facts.iter().map(|fact| {
            let is_left = is_left(fact.via, fact.to) && !fact.is_rejected();
            left += u32::from(is_left);
            if is_left { LinkFact { verdict: &verdict, ..fact } } else { fact }
        });
        self.facts = facts.collect();
        *self.rejected.entry(reason.filter.clone()).or_default() += left;
    }
}

/// What is to become of a link.
enum Judged {
    /// It may be offered.
    Passed(Candidate),
    /// It may not, but another URL stands for it.
    Replaced { url: CrawlUrl, reason: Reason, by: Candidate },
    /// It may not.
    Rejected {
        /// Where it leads, if that is a URL.
        url: Option<CrawlUrl>,
        reason: Reason,
    },
}

impl From<&UrlError> for Judged {
    fn from(error: &UrlError) -> Self {
        Self::Rejected { url: None, reason: Reason::new(error.word(), error.to_string()) }
    }
}

/// What the links of one page have in common.
pub(super) struct FoundOn<'a> {
    pub lease: &'a Lease,
    base: url::Base<'a>,
    pub rules: &'a Rules,
    pub parent: Arc<str>,
    nofollow: Option<&'static str>,
    aliases: Arc<alias::Rules>,
}

impl Line {
    /// Steps 1 and 2 for everything that the answer leads to.
    pub fn judge_links(
        &self,
        lease: &Lease,
        fetched: &Fetched,
        page: Option<&Page>,
    ) -> Result<JudgedLinks> {
        let mut judged = JudgedLinks::default();
        if let Some(location) = redirect_of(fetched) {
            let (said, verdict) = self.judge_redirect(lease, location)?;
            judged.add(said, verdict);
        }
        let Some(page) = page else { return Ok(judged) };
        let (own, rules) = (lease.url().to_url(), self.rules.read());
        let base = page.base.as_ref().unwrap_or(&own);
        let found_on = FoundOn {
            lease,
            base: url::Base::new(base, page.encoding(), rules.url_rules()),
            rules: &rules,
            parent: lease.url().as_str().into(),
            nofollow: self.directive(fetched, page, |said| said.nofollow),
            aliases: self.alias_rules(),
        };
        let urls = UrlList::of(&found_on.base, page.links().map(|link| link.target));
        let known = self.known(&urls);
        judged.facts.reserve(urls.len());
        for ((link, url), is_known) in page.links().zip(urls.iter()).zip(known) {
            let verdict = match url {
                Ok(url) => match self.refuse(&found_on, &link) {
                    None if is_known => {
                        judged.add_known(&link, url);
                        continue;
                    }
                    None => self.judge_link(&found_on, &link, url),
                    Some(reason) => Judged::Rejected { url: Some(url.to_url()), reason },
                },
                Err(error) => error.into(),
            };
            judged.add(fact_of(&link), verdict);
        }
        self.ascend(&found_on, &mut judged);
        Ok(judged)
    }

    /// Which of them were offered a moment ago. The table is larger than the caches, and each of them lies
    /// somewhere else in it: all looked up together, they are waited for together.
    fn known(&self, urls: &UrlList) -> Vec<bool> {
        let keys = urls.iter().map(|url| url.map_or(0, |url| url.fingerprint().0));
        let keys: Vec<u64> = keys.collect();
        keys.into_iter().map(|key| self.recent.holds(key)).collect()
    }

    /// Why a link is not to be followed, wherever it leads.
    fn refuse(&self, found_on: &FoundOn<'_>, link: &LinkRef<'_>) -> Option<Reason> {
        let nesting = nesting_of(found_on.lease.item(), link.via);
        self.unfollowed(found_on, link).or_else(|| self.too_nested(nesting))
    }

    fn judge_link(&self, found_on: &FoundOn<'_>, link: &LinkRef<'_>, url: UrlRef<'_>) -> Judged {
        let lease = found_on.lease;
        let candidate = Candidate {
            depth: depth_of(lease.item(), link.via),
            via: link.via,
            parent: Some(found_on.parent.clone()),
            redirects: nesting_of(lease.item(), link.via),
            errand: errand_of(link.via),
            url: url.to_url(),
        };
        self.replace(found_on, candidate)
    }

    /// Judges a URL, or the one that stands for it. Nothing is lost by that: one that is known not to be
    /// there stands for nothing, and if it turns out so, the other is asked for after all.
    fn replace(&self, found_on: &FoundOn<'_>, candidate: Candidate) -> Judged {
        let FoundOn { lease, rules, aliases, .. } = found_on;
        let judge = |candidate| judge(rules, candidate, Some(lease.url()));
        let aliases = Some(aliases).filter(|aliases| !aliases.is_empty());
        let counts = candidate.errand.counts();
        let instead = aliases.and_then(|aliases| aliases.instead_of(&candidate.url));
        let instead = instead.filter(|instead| counts && !self.is_no_page(&instead.url));
        let Some(instead) = instead else { return judge(candidate) };
        let by = Candidate { url: instead.url, via: Via::Mirror, ..candidate.clone() };
        match judge(by) {
            Judged::Passed(by) => {
                let reason = Reason::new(instead.rule, instead.why);
                Judged::Replaced { url: candidate.url, reason, by }
            }
            _ => judge(candidate),
        }
    }

    fn too_nested(&self, nesting: u8) -> Option<Reason> {
        let too_deep = u64::from(nesting) > self.limits.sitemap_nesting_max;
        let detail = || format!("an index in an index, {nesting} deep");
        too_deep.then(|| Reason::new("sitemap-nesting", detail()))
    }

    fn unfollowed(&self, found_on: &FoundOn<'_>, link: &LinkRef<'_>) -> Option<Reason> {
        if let Some(by) = found_on.nofollow.filter(|_| !link.via.is_embed()) {
            return Some(Reason::new("nofollow", format!("the page says so ({by})")));
        }
        (link.nofollow && self.obey).then(|| Reason::new("nofollow", "the link says so (rel)"))
    }

    /// A redirect is a link. One that leads a seed to another name of its own site takes the scope
    /// along: whoever asks for example.com wants what www.example.com has. One of an embedded file
    /// still belongs to the page that embeds it.
    fn judge_redirect<'a>(
        &self,
        lease: &Lease,
        location: &'a str,
    ) -> Result<(LinkFact<'a>, Judged)> {
        let item = lease.item();
        let is_embed = item.via.is_embed();
        let via = if is_embed { item.via } else { Via::Redirect };
        let said = LinkFact::new(location, via);
        let target = url::resolve(location, Some(&lease.url().to_url()), None)
            .and_then(|url| url::canonicalise(url, self.rules.read().url_rules()));
        let target = match target {
            Ok(target) => target,
            Err(error) => return Ok((said, (&error).into())),
        };
        let other_name = target.host() != lease.url().host();
        if other_name && self.is_seed_chain(item) && target.site() == lease.url().site() {
            self.adopt_seed(&target)?;
        }
        let page = item.parent.as_deref().and_then(CrawlUrl::from_canonical);
        let from = page.as_ref().filter(|_| is_embed).unwrap_or(lease.url());
        let parent = if is_embed { item.parent.clone() } else { Some(lease.url().as_str().into()) };
        let candidate = Candidate {
            depth: item.depth,
            via,
            parent,
            redirects: item.redirects.saturating_add(1),
            errand: item.errand.clone(),
            url: target,
        };
        if let Judged::Rejected { .. } = judge(&self.rules.read(), candidate.clone(), Some(from))
            && is_symlink_out(lease.url(), &candidate.url)
        {
            self.adopt_seed(&candidate.url)?;
        }
        Ok((said, judge(&self.rules.read(), candidate, Some(from))))
    }

    /// The sitemaps that a robots.txt names, those in scope.
    pub(super) fn judge_sitemaps(&self, origin: &str, sitemaps: &[String]) -> Vec<Candidate> {
        let rules = self.rules.read();
        let Some(robots) = CrawlUrl::from_canonical(&format!("{origin}/robots.txt")) else {
            return Vec::new();
        };
        let candidates = sitemaps.iter().filter_map(|text| {
            let url = url::resolve(text, Some(&robots.to_url()), None).ok()?;
            let url = url::canonicalise(url, rules.url_rules()).ok()?;
            passed(&rules, sitemap(url, Some(robots.as_str().into())), &robots)
        });
        candidates.collect()
    }

    /// Where sitemaps usually are, for an origin whose robots.txt names none. It has no parent: nobody
    /// named it.
    pub(super) fn usual_sitemap(&self, origin: &str) -> Option<Candidate> {
        let rules = self.rules.read();
        let robots = CrawlUrl::from_canonical(&format!("{origin}/robots.txt"))?;
        let url = CrawlUrl::from_canonical(&format!("{origin}/sitemap.xml"))?;
        self.usual_sitemap.then(|| passed(&rules, sitemap(url, None), &robots))?
    }

    /// Whether the item is a seed, or where a seed's host was redirected to.
    fn is_seed_chain(&self, item: &Item) -> bool {
        let parent = item.parent.as_deref().and_then(CrawlUrl::from_canonical);
        let from_seed = parent.is_some_and(|parent| self.rules.has_seed_host(parent.host()));
        item.depth == 0 && (item.via == Via::Seed || (item.via == Via::Redirect && from_seed))
    }

    /// Takes a seed's new place into the scope, for this run and those to come.
    fn adopt_seed(&self, url: &CrawlUrl) -> Result<()> {
        if !self.rules.adopt_seed(url) {
            return Ok(());
        }
        let change = Change::Seed(url.to_string());
        self.frontier().changed(&change.name(), &change.value(), self.clock.now())
    }
}

/// Whether a redirect is a symbolic link to a directory outside of the tree. The fetcher answers with one
/// only where it was told to follow them.
fn is_symlink_out(from: &CrawlUrl, to: &CrawlUrl) -> bool {
    from.is_file() && to.is_file() && to.path().ends_with('/')
}

/// A sitemap that robots.txt leads to. What it lists is a hop away from a seed: the user named none of it.
fn sitemap(url: CrawlUrl, parent: Option<Arc<str>>) -> Candidate {
    Candidate { url, depth: 1, via: Via::Robots, parent, redirects: 0, errand: Errand::Sitemap }
}

pub(super) fn passed(rules: &Rules, candidate: Candidate, from: &CrawlUrl) -> Option<Candidate> {
    match judge(rules, candidate, Some(from)) {
        Judged::Passed(candidate) => Some(candidate),
        _ => None,
    }
}

fn judge(rules: &Rules, candidate: Candidate, from: Option<&CrawlUrl>) -> Judged {
    let verdict = rules.judge(&Subject {
        url: &candidate.url,
        depth: candidate.depth,
        via: candidate.via,
        from,
        redirects: u32::from(candidate.redirects),
    });
    match verdict {
        Verdict::Pass => Judged::Passed(candidate),
        Verdict::Reject(reason) => Judged::Rejected { url: Some(candidate.url), reason },
    }
}

/// What a page says of a link.
fn fact_of<'a>(link: &LinkRef<'a>) -> LinkFact<'a> {
    LinkFact { text: link.text, rel: link.rel, ..LinkFact::new(link.target, link.via) }
}

/// Redirects, embeds and lists of pages are no hops.
fn depth_of(item: &Item, via: Via) -> u32 {
    let hop = !via.is_embed() && !matches!(via, Via::Redirect | Via::Sitemap | Via::SitemapIndex);
    item.depth.saturating_add(u32::from(hop))
}

/// How many sitemap indexes led to a sitemap: counted where redirects are, as both end a chain.
fn nesting_of(item: &Item, via: Via) -> u8 {
    let nests = via == Via::SitemapIndex && item.errand == Errand::Sitemap;
    if nests { item.redirects.saturating_add(1) } else { 0 }
}

fn errand_of(via: Via) -> Errand {
    if via == Via::SitemapIndex { Errand::Sitemap } else { Errand::Page }
}
