//! The filters in force, which can be changed while the crawl runs (step 2).
//!
//! Readers take the current rules by reference count and keep them for one page; a change builds new
//! ones and puts them in place.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use larm_core::Limits;
use larm_core::scope::{Filter, FilterSpec, Filters, KnownList, ScopeInput, Subject, Verdict};
use larm_core::url::{CrawlUrl, Fingerprint, UrlRules};

use crate::change::Change;
use crate::error::{Error, Result};
use crate::plan::{Plan, Selection};

/// The rules at one moment.
#[derive(Debug)]
pub struct Rules {
    filters: Filters,
    url_rules: UrlRules,
}

impl Rules {
    /// What the filters say.
    pub fn judge(&self, subject: &Subject<'_>) -> Verdict {
        self.filters.judge(subject)
    }

    /// What those filters say that are about safety.
    pub fn judge_safety(&self, subject: &Subject<'_>) -> Verdict {
        self.filters.judge_safety(subject)
    }

    /// What those filters say that look at the URL alone.
    pub fn judge_url(&self, url: &CrawlUrl) -> Verdict {
        self.filters.judge_url(url)
    }

    /// How URLs are brought into their canonical form.
    pub fn url_rules(&self) -> &UrlRules {
        &self.url_rules
    }
}

/// The rules of a running crawl.
#[derive(Clone)]
pub struct SharedRules {
    current: Arc<RwLock<Arc<Rules>>>,
    source: Arc<Mutex<Source>>,
}

/// What the rules are made from.
struct Source {
    seeds: Vec<CrawlUrl>,
    /// Their hosts.
    seed_hosts: HashSet<Fingerprint>,
    selection: Selection,
    block_lines: Vec<String>,
    own: Vec<Arc<dyn Filter>>,
    url_rules: UrlRules,
    limits: Limits,
    year: u32,
    /// Seeds that were taken in since: where those of the plan had moved, or symbolic links led to.
    adopted: u64,
}

/// What belongs to the crawl. Behind a login, links that change something are never followed, whatever
/// filters there are.
fn selection_of(plan: &Plan) -> Selection {
    let mut selection = plan.selection.clone();
    // Which ports are not the web's is no matter of taste: a list of one's own has that filter, too.
    if !selection.filters.contains(&FilterSpec::Ports {}) {
        selection.filters.insert(0, FilterSpec::Ports {});
    }
    if !selection.targets.is_empty() {
        selection.filters.insert(0, FilterSpec::Targets { hosts: selection.targets.clone() });
    }
    if !plan.logins.is_empty() {
        let lists = vec![KnownList::Actions, KnownList::AnyActions];
        selection.filters.push(FilterSpec::KnownPaths { lists, extra: Vec::new() });
    }
    selection
}

/// A library user's filter, shared by successive sets of rules.
struct Own(Arc<dyn Filter>);

impl Filter for Own {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn is_about_safety(&self) -> bool {
        self.0.is_about_safety()
    }

    fn is_about_url(&self) -> bool {
        self.0.is_about_url()
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        self.0.judge(subject)
    }
}

impl SharedRules {
    /// The rules of a plan, with filters of the library user's own at the end.
    pub fn new(plan: &Plan, own: Vec<Arc<dyn Filter>>) -> Result<Self> {
        let seeds: Vec<CrawlUrl> = plan.seeds.iter().chain(&plan.sitemaps).cloned().collect();
        let source = Source {
            seed_hosts: seeds.iter().map(|seed| Fingerprint::of(seed.host())).collect(),
            seeds,
            selection: selection_of(plan),
            block_lines: read_block_file(plan.selection.block_file.as_ref())?,
            own,
            url_rules: plan.url_rules.clone(),
            limits: plan.limits.clone(),
            year: crate::clock::Clock::start().now().year(),
            adopted: 0,
        };
        let rules = Arc::new(source.build()?);
        Ok(Self { current: Arc::new(RwLock::new(rules)), source: Arc::new(Mutex::new(source)) })
    }

    /// The rules now.
    pub fn read(&self) -> Arc<Rules> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Holds these changes from now on, as far as they are about rules: all of them, or none if one cannot be held.
    pub fn revise<'a>(&self, changes: impl IntoIterator<Item = &'a Change>) -> Result<()> {
        let about_rules: Vec<&Change> = changes.into_iter().filter(|c| is_rule(c)).collect();
        match about_rules.is_empty() {
            true => Ok(()),
            false => self.change(|source| about_rules.iter().for_each(|c| source.revise(c))),
        }
    }

    /// Whether a pattern, as it is written, excludes URLs now; or a host is among those that were named to be left alone.
    pub fn holds(&self, rule: &Change) -> bool {
        let source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        match rule {
            Change::Exclude(text) | Change::Unexclude(text) => {
                source.selection.exclude.contains(text)
            }
            Change::Block(text) | Change::Unblock(text) => source.selection.blocked.contains(text),
            _ => false,
        }
    }

    /// Whether a seed is of this host.
    pub fn has_seed_host(&self, host: &str) -> bool {
        let source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        source.seed_hosts.contains(&Fingerprint::of(host))
    }

    /// Takes one more seed into the scope, unless `seeds_adopted_max` are there. Says whether that is news.
    pub fn adopt_seed(&self, url: &CrawlUrl) -> bool {
        let may_be_news = {
            let source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
            let is_it = |seed: &CrawlUrl| seed.host() == url.host() && seed.path() == url.path();
            source.adopted < source.limits.seeds_adopted_max && !source.seeds.iter().any(is_it)
        };
        let adopt = |source: &mut Source| {
            source.seed_hosts.insert(Fingerprint::of(url.host()));
            source.seeds.push(url.clone());
            source.adopted += 1;
        };
        may_be_news && self.change(adopt).is_ok()
    }

    /// Reads the file of blocked hosts again. Says whether it had changed.
    pub fn reread_block_file(&self) -> Result<bool> {
        let file = {
            let source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
            source.selection.block_file.clone()
        };
        let lines = read_block_file(file.as_ref())?;
        {
            let source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
            if source.block_lines == lines {
                return Ok(false);
            }
        }
        self.change(|source| source.block_lines = lines)?;
        Ok(true)
    }

    /// Builds the changed rules, and keeps the old ones if that fails.
    fn change(&self, change: impl FnOnce(&mut Source)) -> Result<()> {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let before = (source.seeds.clone(), source.selection.clone(), source.block_lines.clone());
        change(&mut source);
        match source.build() {
            Ok(rules) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
                Ok(())
            }
            Err(error) => {
                (source.seeds, source.selection, source.block_lines) = before;
                Err(error)
            }
        }
    }
}

/// Whether a change is one of the rules.
fn is_rule(change: &Change) -> bool {
    use Change::{Block, Exclude, Unblock, Unexclude};
    matches!(change, Exclude(_) | Unexclude(_) | Block(_) | Unblock(_))
}

impl Source {
    fn revise(&mut self, change: &Change) {
        let Selection { exclude, blocked, .. } = &mut self.selection;
        match change {
            Change::Exclude(text) if !exclude.contains(text) => exclude.push(text.clone()),
            Change::Unexclude(text) => exclude.retain(|pattern| pattern != text),
            Change::Block(host) if !blocked.contains(host) => blocked.push(host.clone()),
            Change::Unblock(host) => blocked.retain(|blocked| blocked != host),
            _ => {}
        }
    }

    fn build(&self) -> Result<Rules> {
        let selection = &self.selection;
        let blocked = selection.blocked.iter().chain(&self.block_lines);
        let input = ScopeInput {
            seeds: &self.seeds,
            mode: selection.scope,
            include: selection.include.clone(),
            exclude: selection.exclude.clone(),
            depth_max: Some(selection.depth_max),
            assets: selection.assets,
            accept: selection.accept.clone(),
            blocked_hosts: blocked.cloned().collect(),
            year: self.year,
            limits: self.limits.clone(),
        };
        let plan_error = |error: larm_core::scope::ScopeError| Error::Plan(error.to_string());
        let mut filters = Filters::build(&selection.filters, &input).map_err(plan_error)?;
        for own in &self.own {
            filters.push(Box::new(Own(own.clone())));
        }
        Ok(Rules { filters, url_rules: self.url_rules.clone() })
    }
}

fn read_block_file(path: Option<&PathBuf>) -> Result<Vec<String>> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
    Ok(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use larm_core::via::Via;

    use super::*;

    #[test]
    fn places_that_are_taken_in_later_have_an_end() {
        let url = |text: &str| CrawlUrl::from_canonical(text).unwrap();
        let mut plan = Plan::new("d", vec![url("file:///tree/")]);
        plan.limits.seeds_adopted_max = 2;
        let rules = SharedRules::new(&plan, Vec::new()).unwrap();
        let places = ["file:///a/", "file:///a/", "file:///b/", "file:///c/"].map(url);
        let news = places.each_ref().map(|place| rules.adopt_seed(place));
        assert_eq!(news, [true, false, true, false]);
        let passes = places.each_ref().map(|url| {
            let subject = Subject { url, depth: 1, via: Via::Redirect, from: None, redirects: 1 };
            matches!(rules.read().judge(&subject), Verdict::Pass)
        });
        assert_eq!(passes, [true, true, true, false]);
    }

    #[test]
    fn rules_are_changed_together_or_not_at_all() {
        let url = CrawlUrl::from_canonical("http://h/print/1").unwrap();
        let rules = SharedRules::new(&Plan::new("d", vec![url.clone()]), Vec::new()).unwrap();
        let is_out = || {
            let subject =
                Subject { url: &url, depth: 1, via: Via::Anchor, from: None, redirects: 0 };
            matches!(rules.read().judge(&subject), Verdict::Reject(_))
        };
        let exclude = |text: &str| Change::Exclude(text.to_owned());
        assert!(rules.revise(&[exclude("/print/"), exclude("(")]).is_err());
        assert!(!is_out(), "one of them cannot be held");
        rules.revise(&[exclude("/print/"), Change::Block("x.test".to_owned())]).unwrap();
        assert!(is_out() && rules.holds(&exclude("/print/")));
        rules.revise(&[Change::Unexclude("/print/".to_owned())]).unwrap();
        assert!(!is_out() && !rules.holds(&exclude("/print/")));
    }

    #[test]
    fn a_list_of_filters_without_ports_still_refuses_the_ports_of_other_services() {
        let url = |text: &str| CrawlUrl::from_canonical(text).unwrap();
        let mut plan = Plan::new("d", vec![url("http://h/")]);
        plan.selection.filters = vec![FilterSpec::Length {}];
        let rules = SharedRules::new(&plan, Vec::new()).unwrap().read();
        for (text, passes) in [("http://other/", true), ("http://other:25/", false)] {
            let url = url(text);
            let subject =
                Subject { url: &url, depth: 1, via: Via::Anchor, from: None, redirects: 0 };
            assert_eq!(matches!(rules.judge(&subject), Verdict::Pass), passes, "{text}");
            let is_safe = matches!(rules.judge_safety(&subject), Verdict::Pass);
            assert_eq!(is_safe, passes, "{text}");
        }
    }
}
