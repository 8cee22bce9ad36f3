//! Names of the same pages, as the frontier keeps them: guesses with their evidence, and rules.
//!
//! What is decided is decided when a record is made, by the limits of the day, and the record says it; in
//! recovery nothing is decided (STATE-2). Rules are read far more often than they are made, by whoever
//! judges links, without holding the frontier.

use std::sync::{Arc, PoisonError, RwLock};

use larm_core::Limits;
use larm_core::alias::{Alias, Aliases, Rules};
use larm_core::url::CrawlUrl;

use super::record::AliasNews;
use super::{Sighted, Twin};

/// The rules of a running crawl, for those who do not hold the frontier.
#[derive(Debug, Clone, Default)]
pub struct SharedAliases(Arc<RwLock<Arc<Rules>>>);

impl SharedAliases {
    /// The rules now.
    pub fn read(&self) -> Arc<Rules> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, rules: &Rules) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules.clone());
    }
}

/// Guesses and rules.
#[derive(Debug, Default)]
pub struct AliasBook {
    aliases: Aliases,
    shared: SharedAliases,
}

impl AliasBook {
    /// Takes the last checkpoint's word for it.
    pub fn restore(&mut self, aliases: Aliases) {
        self.shared.set(aliases.rules());
        self.aliases = aliases;
    }

    /// What a checkpoint writes.
    pub fn to_meta(&self) -> Aliases {
        self.aliases.clone()
    }

    /// The rules, for those who do not hold the frontier.
    pub fn shared(&self) -> SharedAliases {
        self.shared.clone()
    }

    /// The rules now.
    pub fn rules(&self) -> Arc<Rules> {
        self.shared.read()
    }

    /// Where a page would be under other names.
    pub fn twins(&self, url: &CrawlUrl) -> Vec<Twin> {
        if self.aliases.is_empty() {
            return Vec::new();
        }
        let twins = self.aliases.twins(url).into_iter();
        twins.map(|(alias, twin)| self.twin(url, alias, twin)).collect()
    }

    fn twin(&self, url: &CrawlUrl, alias: Alias, twin: CrawlUrl) -> Twin {
        let pair = [url.fingerprint(), twin.fingerprint()];
        let case = self.aliases.case(&alias);
        let may_ask = case.is_some_and(|case| case.may_ask(&alias));
        let is_awaited = case.is_some_and(|case| case.waits_for(pair));
        Twin { alias, url: twin, may_ask, is_awaited }
    }

    /// What there is to record of what a page says, and what follows from it. A page speaks once of each
    /// guess.
    pub fn weigh(&self, sightings: &[Sighted], limits: &Limits) -> Vec<AliasNews> {
        let mut news = Vec::new();
        for Sighted { sighting, stays } in sightings {
            let is_known = self.aliases.case(&sighting.alias).is_some();
            if !is_known && self.aliases.len() as u64 >= limits.alias_cases_max {
                continue;
            }
            news.push(AliasNews::Seen(sighting.clone()));
            let has_room = (self.aliases.rules().len() as u64) < limits.alias_rules_max;
            let is_seed = |origin: &str| stays.as_deref() == Some(origin);
            let ruling = self.aliases.conclude(sighting, is_seed).filter(|_| has_room);
            news.extend(ruling.map(|ruling| AliasNews::Ruled(sighting.alias.clone(), ruling)));
        }
        news
    }

    /// Applies a record.
    pub fn hear(&mut self, news: AliasNews) {
        match news {
            AliasNews::Seen(sighting) => self.aliases.note(&sighting),
            AliasNews::Ruled(alias, ruling) => {
                self.aliases.rule(&alias, ruling);
                self.shared.set(self.aliases.rules());
            }
        }
    }
}
