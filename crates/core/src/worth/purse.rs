//! How many pages a host or a site may have: a base, and more for what it has shown to be worth.
//!
//! A page with something new pays for several others, so that a host which has something to say never runs
//! out, while one that has nothing ends at its base. And sites that others point to get more: who has links
//! from many other sites is no maze that somebody built in a corner.

use serde::{Deserialize, Serialize};

/// Pages that one page with something new pays for.
const PAGES_FOR_FRUITFUL: u64 = 4;
/// Pages for each other site that links to something here.
const PAGES_FOR_DOMAIN: u64 = 50;

/// Pages with something new that make a host rich, if they are half of its pages.
const RICH_PAGES: u64 = 100;

/// What was fetched, and what it was worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purse {
    /// Pages answered.
    pub pages: u64,
    /// Pages with something new.
    pub fruitful: u64,
    /// Other sites that link here.
    pub domains: Domains,
}

impl Purse {
    /// How many pages it may have.
    pub fn allowed(&self, base: u64) -> u64 {
        let earned = self.fruitful.saturating_mul(PAGES_FOR_FRUITFUL);
        base.saturating_add(earned).saturating_add(self.domains.count() * PAGES_FOR_DOMAIN)
    }

    /// Whether there is so much to be found that even a doubtful link is worth a fetch.
    pub fn is_rich(&self) -> bool {
        self.fruitful >= RICH_PAGES && self.fruitful >= self.pages / 2
    }

    /// Whether all of that is used up.
    pub fn is_spent(&self, base: Option<u64>) -> bool {
        base.is_some_and(|base| self.pages >= self.allowed(base))
    }
}

/// A set of sites that can be counted, roughly, up to some two hundred: a bit for each, as chance has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domains(u64);

impl Domains {
    /// Adds a site by its hash.
    pub fn add(&mut self, hash: u64) {
        self.0 |= 1 << (hash % 64);
    }

    /// Adds all of another set; whether that changed anything.
    pub fn merge(&mut self, other: Self) -> bool {
        let before = self.0;
        self.0 |= other.0;
        before != self.0
    }

    /// How many there are, by linear counting.
    pub fn count(self) -> u64 {
        let free = f64::from(self.0.count_zeros().max(1));
        (64.0 * (64.0 / free).ln()).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_with_something_to_say_never_runs_out() {
        let mut purse = Purse::default();
        for n in 0..1_000_000_u64 {
            assert!(!purse.is_spent(Some(10)), "after {n} pages");
            purse.pages += 1;
            purse.fruitful += u64::from(n % 3 == 0);
        }
    }

    #[test]
    fn a_host_is_rich_with_many_pages_that_are_worth_it_among_few_that_are_not() {
        let purse = |pages, fruitful| Purse { pages, fruitful, ..Purse::default() };
        assert!(purse(150, 100).is_rich() && purse(9_000, 4_500).is_rich());
        assert!(!purse(99, 99).is_rich() && !purse(9_000, 4_000).is_rich());
    }

    #[test]
    fn one_with_nothing_ends_at_its_base_and_links_of_others_give_it_more() {
        let mut purse = Purse { pages: 10, ..Purse::default() };
        assert!(purse.is_spent(Some(10)) && !purse.is_spent(Some(11)) && !purse.is_spent(None));
        purse.domains.add(5);
        purse.domains.add(5);
        assert_eq!(purse.allowed(10), 60);
    }

    #[test]
    fn sites_are_counted_roughly() {
        let mut domains = Domains::default();
        for n in 1..=100_u64 {
            domains.add(xxhash_rust::xxh3::xxh3_64(&n.to_le_bytes()));
            let found = domains.count();
            assert!(found.abs_diff(n) <= 5 + n / 4, "{found} for {n}");
        }
    }
}
