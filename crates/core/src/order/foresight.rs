//! PageRank as it will probably be: what the crawl itself has taught about pages that looked alike.
//!
//! PageRank so far judges a waiting page by the links that are known, and most are not. It thinks too much
//! of what is left of a site that is half crawled, and too little of a page behind a single link from
//! elsewhere, which may be the home of a site that nobody has seen. How far that is so differs from web to web,
//! and can be learnt: of pages that were fetched a while ago it is known what they looked like then, and
//! what rank they have now. So whenever ranks are computed, a sample of these pages is fitted by least
//! squares, and what comes out says what waiting pages will have: their rank so far, their depth, the links
//! to them, the company of these links, and how much of that company was fetched. As much as it corrects, so much
//! is left as it is: the guess and the rank so far go half and half.
//!
//! Twenty bytes a page beside those of PageRank, and nothing more for links. A page that was fetched has its rank.

use super::{Facts, Leads, PageRank, Score, Tuning, at, log2, power};
use crate::random::Random;

/// What is seen of a page, each as a logarithm: nothing (the same for all), its rank so far, its depth,
/// links to it, links beside those; and which part of what these lead to was fetched.
const FEATURES: usize = 6;
/// The rank so far among them.
const RANK: usize = 1;
/// Pages that are learnt from.
const SAMPLES: usize = 8_192;
/// How many pages the belief is worth that ranks stay as they are.
const BELIEF: f64 = 30.0;

type Sight = [f32; FEATURES];

/// Pages by the PageRank that they are expected to have.
#[derive(Debug, Clone)]
pub struct Foresight {
    rank: PageRank,
    pages: Vec<Seen>,
    samples: Vec<Sample>,
    weights: Sight,
    fetches: u32,
    random: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// As a logarithm.
    depth: f32,
    links: u32,
    /// Links on the pages that link to it.
    beside: f32,
    /// Which part of what they lead to was fetched.
    explored: f32,
    /// The number of its fetch; 0 for a page that waits.
    fetch: u32,
}

/// What a page looked like when it was fetched.
#[derive(Debug, Clone, Copy)]
struct Sample {
    page: u32,
    fetch: u32,
    sight: Sight,
}

impl Foresight {
    /// With no page.
    pub fn new(tuning: &Tuning) -> Self {
        let mut weights = [0.0; FEATURES];
        weights[RANK] = 1.0;
        Self {
            rank: PageRank::new(tuning),
            pages: Vec::new(),
            samples: Vec::new(),
            weights,
            fetches: 0,
            random: tuning.seed,
        }
    }

    fn sight(&self, page: u32) -> Sight {
        let seen = self.pages.get(page as usize).copied().unwrap_or_default();
        let beside = seen.beside / seen.links.max(1) as f32;
        let links = log2(1.0 + seen.links as f32);
        [1.0, self.rank_over_base(page), seen.depth, links, log2(1.0 + beside), seen.explored]
    }

    /// The rank so far in comparison with that of a page without links to it, as a logarithm.
    fn rank_over_base(&self, page: u32) -> f32 {
        log2(self.rank.worth(page) / self.rank.base())
    }

    /// Keeps a page to learn from; of all that were fetched, each is as likely as any other to be kept.
    fn sample(&mut self, page: u32) {
        let sample = Sample { page, fetch: self.fetches, sight: self.sight(page) };
        if self.samples.len() < SAMPLES {
            return self.samples.push(sample);
        }
        let mut random = Random(self.random);
        let place = random.below(u64::from(self.fetches)) as usize;
        self.random = random.0;
        if let Some(place) = self.samples.get_mut(place) {
            *place = sample;
        }
    }

    /// Finds out how the ranks of pages follow from what they looked like.
    fn learn(&mut self) {
        let mut sums = [[0.0; FEATURES]; FEATURES];
        let mut products = [0.0; FEATURES];
        (0..FEATURES).for_each(|at| sums[at][at] = BELIEF);
        products[RANK] = BELIEF;
        // The last ones have had no time to become what they will be, and some numbers are other pages' by now.
        let last = self.fetches - self.fetches / 4;
        let is_of_use = |sample: &&Sample| {
            sample.fetch <= last && self.pages[sample.page as usize].fetch == sample.fetch
        };
        for sample in self.samples.iter().filter(is_of_use) {
            let now = f64::from(self.rank_over_base(sample.page));
            let sight = sample.sight.map(f64::from);
            for (row, value) in sight.iter().enumerate() {
                products[row] += value * now;
                sums[row].iter_mut().zip(&sight).for_each(|(sum, other)| *sum += value * other);
            }
        }
        self.weights = solved(sums, products).map(|weight| weight as f32);
    }
}

/// Solves equations whose matrix is symmetric and has a positive diagonal: no pivot is 0.
fn solved(mut sums: [[f64; FEATURES]; FEATURES], mut right: [f64; FEATURES]) -> [f64; FEATURES] {
    for pivot in 0..FEATURES {
        let row_above = sums[pivot];
        for row in pivot + 1..FEATURES {
            let factor = sums[row][pivot] / row_above[pivot];
            sums[row].iter_mut().zip(&row_above).for_each(|(sum, above)| *sum -= factor * above);
            right[row] -= factor * right[pivot];
        }
    }
    for row in (0..FEATURES).rev() {
        let known: f64 = (row + 1..FEATURES).map(|column| sums[row][column] * right[column]).sum();
        right[row] = (right[row] - known) / sums[row][row];
    }
    right
}

impl Score for Foresight {
    fn found(&mut self, page: u32, facts: &Facts<'_>) {
        self.rank.found(page, facts);
        let depth = log2(1.0 + facts.depth as f32);
        *at(&mut self.pages, page, Seen::default()) = Seen { depth, ..Seen::default() };
    }

    fn fetched(&mut self, leads: &Leads<'_>, changed: &mut Vec<u32>) {
        self.fetches = self.fetches.saturating_add(1);
        if at(&mut self.pages, leads.page, Seen::default()).fetch == 0 {
            self.sample(leads.page);
            self.pages[leads.page as usize].fetch = self.fetches;
        }
        self.rank.fetched(leads, changed);
        for &to in leads.links {
            let seen = at(&mut self.pages, to, Seen::default());
            seen.links = seen.links.saturating_add(1);
            seen.beside += leads.degree as f32;
        }
    }

    fn worth(&self, page: u32) -> f32 {
        if self.pages.get(page as usize).is_some_and(|seen| seen.fetch > 0) {
            return self.rank.worth(page);
        }
        let sight = self.sight(page);
        let guess: f32 = sight.iter().zip(&self.weights).map(|(seen, weight)| seen * weight).sum();
        power((guess + sight[RANK]) / 2.0 + log2(self.rank.base()))
    }

    fn is_due(&self) -> bool {
        self.rank.is_due()
    }

    fn refresh(&mut self) {
        self.rank.refresh();
        for (seen, explored) in self.pages.iter_mut().zip(self.rank.explored()) {
            seen.explored = explored;
        }
        self.learn();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved() {
        let mut sums = [[1.0; FEATURES]; FEATURES];
        (0..FEATURES).for_each(|at| sums[at][at] = 3.0 + at as f64);
        let expected = [1.0, -2.0, 0.5, 4.0, 0.0, 3.0];
        let right = sums.map(|row| row.iter().zip(&expected).map(|(a, b)| a * b).sum());
        let found = solved(sums, right);
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn what_shallow_pages_came_to_is_expected_of_shallow_pages() {
        // Shallow pages are linked to by what is fetched next, deep ones by nothing.
        let limits = crate::Limits::default();
        let mut score = Foresight::new(&Tuning::new(&limits));
        let find =
            |score: &mut Foresight, page, depth| score.found(page, &Facts { depth, url: None });
        for page in 0..2_000 {
            find(&mut score, page, if page % 2 == 0 { 1 } else { 9 });
            let links: Vec<u32> = (0..page).rev().filter(|to| to % 2 == 0).take(40).collect();
            score.fetched(&Leads::new(page, &links), &mut Vec::new());
        }
        find(&mut score, 2_000, 1);
        find(&mut score, 2_001, 9);
        score.fetched(&Leads::new(0, &[2_000, 2_001]), &mut Vec::new());
        score.refresh();
        let (shallow, deep) = (score.worth(2_000), score.worth(2_001));
        assert!(shallow > 1.5 * deep, "{shallow} and {deep}");
        assert!(score.worth(0) > 2.0 * shallow, "what is known is not guessed");
    }
}
