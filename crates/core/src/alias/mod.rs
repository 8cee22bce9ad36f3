//! Two names for the same pages, found from evidence: mirrors, and the index files of directories.
//!
//! An [`Alias`] is a guess: that two origins (www and apex, http and https, a name and a copy under
//! another) show the same pages, or that a host's directories are the same as the file of some name in
//! them. A page that turns out to be like its twin under the other name opens a [`Case`]; from then on
//! every page of the one is compared with its twin of the other, and where that is not known yet, it is
//! asked for. The guess becomes a [`Rule`](Rules) when enough pages with contents of their own are
//! alike, none or next to none differ, and all that was asked for has been answered.
//!
//! A page that is not there under the other name counts as one that differs: hosts that share a few
//! pages and not the rest stay apart. The same content under many paths counts once. A case that was
//! refuted stays so. Numbers of cases and rules are the caller's to bound.

mod case;
mod rules;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::BodyDigest;
use crate::near::Simhash;
use crate::url::{CrawlUrl, Fingerprint};

pub use case::Case;
pub use rules::{Instead, Rules, Ruling};

/// Names under which servers keep the page of a directory.
const INDEX_NAMES: [&str; 12] = [
    "index.html",
    "index.htm",
    "index.php",
    "index.asp",
    "index.aspx",
    "index.jsp",
    "index.shtml",
    "index.xhtml",
    "index.cgi",
    "default.html",
    "default.asp",
    "default.aspx",
];
/// Bits by which the words of pages must differ to be different pages. Below that and above
/// [`BITS_MAX`](crate::near::BITS_MAX), nothing is said.
const FAR_BITS: u32 = 12;

/// A guess: these two are names of the same pages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Alias {
    /// Two origins, in the order of their texts.
    Mirror(Box<str>, Box<str>),
    /// The directories of an origin, and the files of this name in them.
    Index(Box<str>, Box<str>),
}

impl Alias {
    /// Which guess two URLs of pages with the same content suggest.
    pub fn suggested_by(one: &CrawlUrl, other: &CrawlUrl) -> Option<Self> {
        if one.is_file() || other.is_file() {
            return None;
        }
        if one.origin() != other.origin() {
            let same_path = one.path_and_query() == other.path_and_query();
            return same_path.then(|| Self::mirror(one.origin(), other.origin()));
        }
        let (file, directory) =
            if one.path().len() > other.path().len() { (one, other) } else { (other, one) };
        let (name, of) = index_file(file)?;
        (of == directory.as_str()).then(|| Self::Index(one.origin().into(), name.into()))
    }

    fn mirror(one: &str, other: &str) -> Self {
        Self::Mirror(one.min(other).into(), one.max(other).into())
    }

    /// Where the twin of a page would be, if the guess is right; `None` if it is not about the page.
    pub fn twin_of(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        let text = match self {
            Self::Mirror(one, other) if **one == *url.origin() => {
                format!("{other}{}", url.path_and_query())
            }
            Self::Mirror(one, other) if **other == *url.origin() => {
                format!("{one}{}", url.path_and_query())
            }
            Self::Index(origin, name) if **origin == *url.origin() => match index_file(url) {
                Some((found, directory)) if found == &**name => directory,
                _ => in_directory(url, name)?,
            },
            _ => return None,
        };
        CrawlUrl::from_canonical(&text)
    }

    /// The origins that it is about.
    fn origins(&self) -> impl Iterator<Item = &str> {
        let (one, other) = match self {
            Self::Mirror(one, other) => (one, Some(other)),
            Self::Index(origin, _) => (origin, None),
        };
        std::iter::once(&**one).chain(other.map(|other| &**other))
    }

    /// Whether pages of a few bits' difference count as alike.
    fn takes_near(&self) -> bool {
        matches!(self, Self::Mirror(..))
    }
}

/// The guess that a page at this URL and its directory are the same, by the name of its file.
pub fn index_guess(url: &CrawlUrl) -> Option<Alias> {
    let (name, _) = index_file(url).filter(|_| !url.is_file())?;
    Some(Alias::Index(url.origin().into(), name.into()))
}

/// The name and the directory of a URL whose file has a name that directories' pages have.
fn index_file(url: &CrawlUrl) -> Option<(&'static str, String)> {
    let (directory, file) = url.path().rsplit_once('/')?;
    let name = INDEX_NAMES.into_iter().find(|name| *name == file)?;
    let query = &url.path_and_query()[url.path().len()..];
    Some((name, format!("{}{directory}/{query}", url.origin())))
}

/// The file of a name in the directory that a URL is.
fn in_directory(url: &CrawlUrl, name: &str) -> Option<String> {
    let query = &url.path_and_query()[url.path().len()..];
    url.path().ends_with('/').then(|| format!("{}{}{name}{query}", url.origin(), url.path()))
}

/// What a page shows, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Content {
    /// Identity of its body.
    pub digest: Option<BodyDigest>,
    /// Its words.
    pub simhash: Option<Simhash>,
}

impl Content {
    /// Whether two pages are the same as far as a guess takes them for that; `None` if it cannot be told.
    pub fn is_like(&self, other: &Self, alias: &Alias) -> Option<bool> {
        if let Some((one, other)) = self.digest.zip(other.digest)
            && (one == other || !alias.takes_near())
        {
            return Some(one == other);
        }
        let (one, other) = self.simhash.zip(other.simhash)?;
        if one.is_near(other) {
            return alias.takes_near().then_some(true);
        }
        (one.distance(other) >= FAR_BITS).then_some(false)
    }

    /// A number by which the same content is known again.
    pub fn mark(&self) -> u64 {
        let of_body = |digest: &BodyDigest| {
            let bytes = digest.as_bytes().iter().take(8);
            bytes.fold(0, |mark, byte| mark << 8 | u64::from(*byte))
        };
        let of_words = self.simhash.map(|simhash| simhash.0);
        of_words.or(self.digest.as_ref().map(of_body)).unwrap_or_default()
    }
}

/// What one page says of a guess.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    /// Which guess.
    pub alias: Alias,
    /// What it says.
    pub says: Says,
    /// The origin of the twin that was there first.
    pub first: Box<str>,
    /// The page and its twin.
    pub pair: [Fingerprint; 2],
}

/// What a page can say of a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Says {
    /// It is like its twin; the mark of what they show.
    Alike(u64),
    /// It is not, or one of them is not there.
    Differs,
    /// Its twin is not known, and is asked for.
    Asks,
    /// Nothing: it cannot be told.
    Nothing,
}

/// All guesses, and those that became rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aliases {
    cases: BTreeMap<Alias, Case>,
    /// Which cases each origin is part of.
    of_origin: BTreeMap<Box<str>, Vec<Alias>>,
    rules: Rules,
}

impl Aliases {
    /// The guesses that are to be looked at for a page, each with the URL of its twin.
    pub fn twins(&self, url: &CrawlUrl) -> Vec<(Alias, CrawlUrl)> {
        let aliases = self.of_origin.get(url.origin()).into_iter().flatten();
        let open = aliases.filter(|alias| self.case(alias).is_some_and(Case::is_open));
        open.filter_map(|alias| Some((alias.clone(), alias.twin_of(url)?))).collect()
    }

    /// Whether there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// How many guesses there are.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// The case of a guess.
    pub fn case(&self, alias: &Alias) -> Option<&Case> {
        self.cases.get(alias)
    }

    /// What was found to be so.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Takes note of what a page says.
    pub fn note(&mut self, sighting: &Sighting) {
        let alias = &sighting.alias;
        if !self.cases.contains_key(alias) {
            for origin in alias.origins() {
                self.of_origin.entry(origin.into()).or_default().push(alias.clone());
            }
        }
        self.cases.entry(alias.clone()).or_default().note(sighting);
    }

    /// What follows for a guess from one more page, before that is noted. Of mirrors, one that is a seed
    /// stays.
    pub fn conclude(&self, seen: &Sighting, is_seed: impl Fn(&str) -> bool) -> Option<Ruling> {
        let mut case = self.cases.get(&seen.alias).cloned().unwrap_or_default();
        case.note(seen);
        if !case.is_open() || !case.holds(&seen.alias) {
            return None;
        }
        let why = case.in_words();
        let ruling = match &seen.alias {
            Alias::Mirror(one, other) => {
                let other_stays = match (is_seed(one), is_seed(other)) {
                    (true, false) => false,
                    (false, true) => true,
                    _ => case.other_is_first(),
                };
                let (from, of) = if other_stays { (one, other) } else { (other, one) };
                Ruling::Mirror { from: from.clone(), of: of.clone(), why }
            }
            Alias::Index(origin, name) => {
                Ruling::Index { origin: origin.clone(), name: name.clone(), why }
            }
        };
        self.rules.takes(&ruling).then_some(ruling)
    }

    /// Makes a rule of a guess.
    pub fn rule(&mut self, alias: &Alias, ruling: Ruling) {
        if let Some(case) = self.cases.get_mut(alias) {
            case.close();
        }
        self.rules.add(ruling);
    }
}
