//! What was found to be so, and what it means for URLs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{in_directory, index_file};
use crate::url::CrawlUrl;

/// A guess that became a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ruling {
    /// One origin is the mirror of another, and is not asked any more.
    Mirror {
        /// The mirror.
        from: Box<str>,
        /// Of this.
        of: Box<str>,
        /// On this evidence.
        why: String,
    },
    /// Files of this name are the directories that they are in.
    Index {
        /// At this origin.
        origin: Box<str>,
        /// The name.
        name: Box<str>,
        /// On this evidence.
        why: String,
    },
}

/// What stands for a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instead {
    /// What to ask for.
    pub url: CrawlUrl,
    /// The filter's name: `mirror` or `index-file`.
    pub rule: &'static str,
    /// In words.
    pub why: String,
}

/// The rules, and what they rest on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    mirrors: BTreeMap<Box<str>, Entry>,
    indexes: BTreeMap<Box<str>, Vec<Entry>>,
}

/// What something is an alias of, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    of: Box<str>,
    why: String,
}

impl Rules {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.mirrors.len() + self.indexes.values().map(Vec::len).sum::<usize>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.mirrors.is_empty() && self.indexes.is_empty()
    }

    /// The origins that are mirrors: each with the one that stands for it, and why.
    pub fn mirrors(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.mirrors.iter().map(|(from, entry)| (&**from, &*entry.of, &*entry.why))
    }

    /// The origin that stands for another.
    pub fn mirror_of(&self, origin: &str) -> Option<&str> {
        self.mirrors.get(origin).map(|entry| &*entry.of)
    }

    /// The host that stands for another, whichever scheme and port that was found for: they share a
    /// budget.
    pub fn host_mirror_of(&self, host: &str) -> Option<String> {
        let host_of = |origin: &str| {
            CrawlUrl::from_canonical(&format!("{origin}/")).map(|url| url.host().to_owned())
        };
        let of = |(from, of, _)| Some((host_of(from)?, host_of(of)?));
        let mut hosts = self.mirrors().filter_map(of);
        hosts.find(|(from, of)| from == host && of != host).map(|(_, of)| of)
    }

    /// What stands for a URL, if anything does.
    pub fn instead_of(&self, url: &CrawlUrl) -> Option<Instead> {
        let by_index = self.directory_of(url);
        let at = by_index.as_ref().map_or(url, |instead| &instead.url);
        self.mirrored(at).or(by_index)
    }

    fn directory_of(&self, url: &CrawlUrl) -> Option<Instead> {
        let entries = self.indexes.get(url.origin())?;
        let (name, directory) = index_file(url)?;
        let entry = entries.iter().find(|entry| &*entry.of == name)?;
        let why = format!("{directory} stands for it: in directories of this host, {}", entry.why);
        Some(Instead { url: CrawlUrl::from_canonical(&directory)?, rule: "index-file", why })
    }

    fn mirrored(&self, url: &CrawlUrl) -> Option<Instead> {
        let entry = self.mirrors.get(url.origin())?;
        let url = CrawlUrl::from_canonical(&format!("{}{}", entry.of, url.path_and_query()))?;
        let why = format!("{url} stands for it: its host is a mirror, {}", entry.why);
        Some(Instead { url, rule: "mirror", why })
    }

    /// The other names of a URL, those for which it stands.
    pub fn names_of(&self, url: &CrawlUrl) -> Vec<CrawlUrl> {
        let mirrors = self.mirrors.iter().filter(|(_, entry)| &*entry.of == url.origin());
        let mirrors = mirrors.map(|(from, _)| format!("{from}{}", url.path_and_query()));
        let indexes = self.indexes.get(url.origin()).into_iter().flatten();
        let files = indexes.filter_map(|entry| in_directory(url, &entry.of));
        mirrors.chain(files).filter_map(|text| CrawlUrl::from_canonical(&text)).collect()
    }

    /// Whether a ruling does not contradict those that are in force.
    pub(super) fn takes(&self, ruling: &Ruling) -> bool {
        match ruling {
            Ruling::Mirror { from, of, .. } => {
                !self.mirrors.contains_key(from) && self.root(of) != &**from
            }
            Ruling::Index { .. } => true,
        }
    }

    /// Adds a ruling. A mirror of a mirror is one of what that mirrors.
    pub(super) fn add(&mut self, ruling: Ruling) {
        match ruling {
            Ruling::Mirror { from, of, why } => {
                let of: Box<str> = self.root(&of).into();
                for entry in self.mirrors.values_mut().filter(|entry| entry.of == from) {
                    entry.of.clone_from(&of);
                }
                self.mirrors.insert(from, Entry { of, why });
            }
            Ruling::Index { origin, name, why } => {
                self.indexes.entry(origin).or_default().push(Entry { of: name, why });
            }
        }
    }

    fn root<'a>(&'a self, origin: &'a str) -> &'a str {
        self.mirror_of(origin).unwrap_or(origin)
    }
}
