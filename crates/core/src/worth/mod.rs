//! What is worth fetching: whether the pages of a host still say something new, by the shape of their URLs.
//!
//! Endless calendars, sessions, filters and histories have one thing in common: page after page, nothing new
//! comes. So for each shape of a host's URLs ([`Shapes`]) it is counted how its last pages did. One that
//! brings nothing for a while is slow: its URLs come after all others. One that goes on to bring nothing is
//! cut off: its URLs wait, except for a few that are tried, ever more rarely, to see whether that has changed.
//! Endless spaces have to lead on. So pages that bring nothing and lead to nothing that is not known yet, as
//! copies and dead links do, come last but are not cut off for long: there will be an end to them.
//!
//! - WORTH-1: a shape that has proven itself, and whose pages go on to bring something new, is never slow,
//!   whatever the pages beside it do. A page brings something if it has [`NEW_LETTERS_MIN`] letters, or a
//!   picture, that its host has not shown lately; or if it leads to URLs of another shape, whose own pages
//!   bring text.
//! - WORTH-2: what is kept of a host is bounded: `host_patterns_max` shapes, `host_prints_bytes_max` bytes of
//!   prints.
//! - WORTH-3: a verdict heals. One page with something new opens a shape that was cut off.
//!
//! A finer shape that has proven itself is not judged by coarser ones, nor counted with them. That way the
//! many shapes of a maze, each met a few times, are judged together, and the good ones next to them are not.
//!
//! Nothing here is dropped, and nothing knows what waits where.

mod prints;
mod purse;
mod shape;
mod sketch;
pub mod spam;

use serde::{Deserialize, Serialize};

pub use prints::{Print, prints};
pub use purse::{Domains, Purse};
pub use shape::Shapes;

use self::sketch::Sketch;
use crate::Limits;

/// Letters that a host has not shown lately, for which a page is worth its fetch.
pub const NEW_LETTERS_MIN: u32 = 64;
/// Pages with something new that prove a shape.
const PROVEN_PAGES: u32 = 3;
/// Pages with something new after which next to nobody doubts that there is more.
const SURE_PAGES: u32 = 20;
/// Fruitless pages beyond which that proof does not count any more, and for a shape that was never proven,
/// beyond which its links are no promise.
const DOUBT_PAGES: u32 = 10;
/// The part of the pages that cut a shape off after which it is slow.
const SHARE_SLOW: u32 = 3;
/// How many times more fruitless pages cut a shape off, if most of them do not lead on.
const TIMES_FINITE: u32 = 10;
/// New URLs of a page that count for that: a table of contents leads to many, and is one page.
const LEADING_MAX: usize = 4;
/// URLs of a shape that wait before one of them is tried; twice as many after each try in vain.
const HELD_BEFORE_TRY: u32 = 32;
/// New links of a page that are looked at for what they promise.
const LINKS_LOOKED_AT: usize = 16;
/// Bytes of a shape's name that are kept.
const NAME_BYTES: usize = 96;

/// What a fetch brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Harvest {
    /// A page with text, or with pictures.
    Prints(Vec<Print>),
    /// A body that is no page, and that no other URL had.
    Body,
    /// Nothing: a copy, a page that is none, not found.
    Nothing,
    /// A redirect. It is worth what it leads to.
    Redirect,
}

/// How the pages of a shape did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Pages fetched.
    pub pages: u32,
    /// Those with something new.
    pub fruitful: u32,
    /// Pages in a row, the last ones, with nothing new.
    pub since: u32,
    /// The same, but a page with something new halves it: what cuts a shape off.
    barren: u32,
    /// URLs which were not known that those led to, counted in the same way.
    leading: u32,
    /// Pages in a row without new text, whatever they lead to.
    dry: u32,
    /// URLs that wait because the shape is cut off, since it last brought something.
    held: u32,
    /// Tries in vain since then.
    tries: u8,
}

impl Tally {
    fn is_proven(&self) -> bool {
        self.fruitful >= PROVEN_PAGES && self.barren < DOUBT_PAGES
    }

    fn is_sure(&self) -> bool {
        self.is_proven() && self.fruitful >= SURE_PAGES && self.fruitful >= self.pages / 2
    }

    /// Counts a page. Whether URLs that wait may have to be looked at again.
    fn count(&mut self, brought: Brought) -> bool {
        self.pages = self.pages.saturating_add(1);
        self.dry = if brought.text { 0 } else { self.dry.saturating_add(1) };
        if brought.fruit {
            self.fruitful = self.fruitful.saturating_add(1);
            (self.since, self.tries) = (0, 0);
            (self.barren, self.leading) = (self.barren / 2, self.leading / 2);
            return std::mem::take(&mut self.held) > 0;
        }
        self.since = self.since.saturating_add(1);
        self.barren = self.barren.saturating_add(1);
        self.leading = self.leading.saturating_add(brought.urls);
        self.tries += u8::from(self.held > 0 && self.tries < 24);
        false
    }

    fn verdict(&self, cut_at: u32) -> Option<Verdict> {
        let slow_at = (cut_at / SHARE_SLOW).max(1);
        let cut_at = if self.is_endless() { cut_at } else { cut_at.saturating_mul(TIMES_FINITE) };
        match self.barren {
            barren if barren >= cut_at && self.held >= HELD_BEFORE_TRY << self.tries => {
                Some(Verdict::Try)
            }
            barren if barren >= cut_at => Some(Verdict::Cut),
            _ if self.is_proven() => Some(Verdict::Good),
            barren if barren >= slow_at => Some(Verdict::Slow),
            _ => None,
        }
    }

    /// Whether its fruitless pages lead on to ever more: about one new URL for each of them, by and large.
    fn is_endless(&self) -> bool {
        self.leading.saturating_mul(2) >= self.barren
    }
}

/// What a page brought, as it is counted.
#[derive(Debug, Clone, Copy)]
struct Brought {
    /// Text, or pictures, that were new.
    text: bool,
    /// Something that was worth the fetch.
    fruit: bool,
    /// URLs that were not known, at most [`LEADING_MAX`].
    urls: u32,
}

/// What is to become of a URL of some shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It takes its turn.
    Good,
    /// It comes after all others of its host.
    Slow,
    /// It waits.
    Cut,
    /// It would wait, but is tried to see whether things have changed.
    Try,
}

/// A shape of a host's URLs, and how its pages did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pattern {
    key: u64,
    name: Box<str>,
    tally: Tally,
    /// Number of the host's page that was the last of this shape.
    last: u32,
}

/// A shape as it can be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The shape: `/cal/{n}/{n}`; `/**` for all of a host that has not proven itself.
    pub pattern: String,
    /// How its pages did.
    pub tally: Tally,
    /// What that means.
    pub verdict: Verdict,
}

/// What is known of the worth of a host's pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostWorth {
    seen: Sketch,
    patterns: Vec<Pattern>,
    /// Of all that no finer shape speaks for.
    whole: Tally,
    /// Pages counted.
    pages: u32,
    /// Whether there is a shape that is not simply good: else nobody need be judged.
    doubts: bool,
}

/// What noting a page came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Noted {
    /// It brought something new.
    pub fruitful: bool,
    /// A shape that was cut off has brought something: what waits may have to be looked at again.
    pub healed: bool,
}

impl HostWorth {
    /// Takes note of what a page brought. `leads_to` are paths of URLs of this host that were found on it
    /// and not known before. A redirect that leads on says nothing.
    pub fn note<'a>(
        &mut self,
        path: &str,
        harvest: &Harvest,
        leads_to: impl Iterator<Item = &'a str>,
        limits: &Limits,
    ) -> Noted {
        let shapes = Shapes::of(path);
        let leads_to: Vec<&str> = leads_to.take(LINKS_LOOKED_AT).collect();
        if *harvest == Harvest::Redirect && !leads_to.is_empty() {
            return Noted::default();
        }
        let urls = leads_to.len().min(LEADING_MAX) as u32;
        let text = self.has_new(harvest, limits);
        let fruit = text || self.is_promise(&shapes, &leads_to);
        let brought = Brought { text, fruit, urls };
        let mut noted = Noted { fruitful: fruit, healed: false };
        self.pages = self.pages.saturating_add(1);
        let mut is_proven = false;
        for (key, name) in shapes.iter() {
            let pages = self.pages;
            let pattern = self.pattern_mut(key, name, limits);
            pattern.last = pages;
            is_proven = pattern.tally.is_proven();
            noted.healed |= pattern.tally.count(brought);
            if is_proven {
                break;
            }
        }
        if !is_proven {
            noted.healed |= self.whole.count(brought);
        }
        let tallies = self.patterns.iter().map(|pattern| &pattern.tally).chain([&self.whole]);
        self.doubts = tallies.into_iter().any(|tally| tally.barren > 0);
        noted
    }

    /// What is to become of a URL, if `cut_at` pages with nothing new cut a shape off; and which shape says
    /// so, if it is not simply good.
    pub fn judge(&self, path: &str, cut_at: u32) -> (Verdict, Option<Finding>) {
        if !self.doubts {
            return (Verdict::Good, None);
        }
        let shapes = Shapes::of(path);
        match self.speaker(&shapes, cut_at) {
            Some((verdict, at)) => (verdict, Some(self.finding(at, verdict))),
            None => (Verdict::Good, None),
        }
    }

    /// Whether most pages of a URL's finest shape brought something new, and many did: so will this one.
    pub fn is_sure(&self, path: &str) -> bool {
        let shapes = Shapes::of(path);
        let finest = shapes.iter().next().and_then(|(key, _)| self.find(key));
        finest.map(|i| &self.patterns[i].tally).is_some_and(Tally::is_sure)
    }

    /// Notes that a URL waits, by the same rules as [`HostWorth::judge`].
    pub fn hold(&mut self, path: &str, cut_at: u32) {
        let Some((_, at)) = self.speaker(&Shapes::of(path), cut_at) else { return };
        let tally = match at {
            Some(i) => &mut self.patterns[i].tally,
            None => &mut self.whole,
        };
        tally.held = tally.held.saturating_add(1);
    }

    /// The shapes that are slow or cut off, those first that did worst, and at most `most` of them.
    pub fn findings(&self, cut_at: u32, most: usize) -> Vec<Finding> {
        let all = (0..self.patterns.len()).map(Some).chain([None]);
        let mut bad: Vec<Finding> = all
            .filter_map(|at| {
                let (tally, name) = self.tally(at);
                let verdict = tally.verdict(weighed(cut_at, name))?;
                (verdict != Verdict::Good).then(|| self.finding(at, verdict))
            })
            .collect();
        bad.sort_by_key(|finding| {
            (std::cmp::Reverse(finding.tally.since), is_coarse(&finding.pattern))
        });
        // A coarser shape that only repeats what a finer one says has nothing to add.
        bad.dedup_by(|next, before| {
            is_coarse(&next.pattern) && next.tally.since == before.tally.since
        });
        bad.truncate(most);
        bad
    }

    /// What it takes in memory, roughly.
    pub fn bytes(&self) -> u64 {
        let names: usize = self.patterns.iter().map(|pattern| pattern.name.len() + 64).sum();
        self.seen.bytes() + names as u64
    }

    /// The finest shape that has something to say of a URL, `None` for the host as a whole.
    fn speaker(&self, shapes: &Shapes, cut_at: u32) -> Option<(Verdict, Option<usize>)> {
        for i in shapes.iter().filter_map(|(key, _)| self.find(key)) {
            let Pattern { name, tally, .. } = &self.patterns[i];
            if let Some(verdict) = tally.verdict(weighed(cut_at, name)) {
                return Some((verdict, Some(i)));
            }
        }
        let verdict = self.whole.verdict(weighed(cut_at, WHOLE))?;
        Some((verdict, None))
    }

    fn finding(&self, at: Option<usize>, verdict: Verdict) -> Finding {
        let (tally, name) = self.tally(at);
        Finding { pattern: name.to_owned(), tally: *tally, verdict }
    }

    fn tally(&self, at: Option<usize>) -> (&Tally, &str) {
        match at.and_then(|i| self.patterns.get(i)) {
            Some(pattern) => (&pattern.tally, &pattern.name),
            None => (&self.whole, WHOLE),
        }
    }

    fn has_new(&mut self, harvest: &Harvest, limits: &Limits) -> bool {
        match harvest {
            Harvest::Prints(prints) => {
                let bytes_max = limits.host_prints_bytes_max;
                let new = prints.iter().filter(|print| self.seen.insert(print.hash, bytes_max));
                new.map(|print| u32::from(print.letters)).sum::<u32>() >= NEW_LETTERS_MIN
            }
            Harvest::Body => true,
            Harvest::Nothing | Harvest::Redirect => false,
        }
    }

    /// Whether a page leads to another kind of pages, which have shown, or may yet show, text of their own.
    /// Its own kind is no promise: that is what mazes are made of.
    fn is_promise(&self, own: &Shapes, leads_to: &[&str]) -> bool {
        let mut others = leads_to.iter().map(|path| Shapes::of(path));
        others.any(|other| other.finest() != own.finest() && self.promises(own, &other))
    }

    fn promises(&self, own: &Shapes, other: &Shapes) -> bool {
        let finest = other.iter().next().and_then(|(key, _)| self.find(key));
        match finest.map(|i| &self.patterns[i].tally).filter(|tally| tally.pages >= PROVEN_PAGES) {
            Some(tally) => tally.fruitful > 0 && tally.dry < DOUBT_PAGES,
            None => !own.is_kin_of(other) && self.whole.dry < DOUBT_PAGES,
        }
    }

    fn find(&self, key: u64) -> Option<usize> {
        self.patterns.iter().position(|pattern| pattern.key == key)
    }

    fn pattern_mut(&mut self, key: u64, name: &str, limits: &Limits) -> &mut Pattern {
        let i = self.find(key).unwrap_or_else(|| {
            let patterns_max = usize::try_from(limits.host_patterns_max).unwrap_or(usize::MAX);
            while self.patterns.len() >= patterns_max {
                self.forget_one();
            }
            let (name, tally) = (cut(name).into(), Tally::default());
            self.patterns.push(Pattern { key, name, tally, last: 0 });
            self.patterns.len() - 1
        });
        &mut self.patterns[i]
    }

    /// Forgets the shape that has least to say: one that is good, and met seldom or long ago.
    fn forget_one(&mut self) {
        let use_of = |pattern: &Pattern| {
            let tally = &pattern.tally;
            (tally.held > 0, tally.barren >= DOUBT_PAGES, tally.pages.min(8), pattern.last)
        };
        let least = (0..self.patterns.len()).min_by_key(|i| use_of(&self.patterns[*i]));
        least.map(|i| self.patterns.swap_remove(i));
    }
}

/// What stands for all of a host.
const WHOLE: &str = "/**";

/// The pages that cut a shape off: the more it takes in, the more it takes.
fn weighed(cut_at: u32, name: &str) -> u32 {
    let halves = match name {
        WHOLE => 6,
        name if is_coarse(name) => 3,
        _ => 2,
    };
    cut_at.saturating_mul(halves) / 2
}

fn is_coarse(name: &str) -> bool {
    name.ends_with("**")
}

fn cut(name: &str) -> &str {
    let end = (0..=NAME_BYTES.min(name.len())).rev().find(|at| name.is_char_boundary(*at));
    &name[..end.unwrap_or_default()]
}

#[cfg(test)]
mod tests;
