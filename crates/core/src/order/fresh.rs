//! Pages by how new sitemaps and feeds say that they are: the newest first.
//!
//! Dates are claims. A page without one is taken to be a month old, and so is one that is said to be of the future. What is
//! worth most falls with age as many things on the web do, by a power: what is twice as old is worth half. A
//! sitemap's priority decides between pages of about the same age, and no more than that.

use super::{Facts, Leads, Score, at};
use crate::Millis;
use crate::parse::Hint;

const DAY_MS: f64 = 24.0 * 60.0 * 60.0 * 1000.0;
/// A page without a date is taken to be so old, and is worth 1.
const USUAL_DAYS: f64 = 30.0;
/// A clock may be wrong by so much.
const AHEAD_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// The priority of pages of which none is told, and by how much of its worth the highest makes a page worth more.
const USUAL_PRIORITY: u8 = 50;
const PRIORITY_SHARE: f32 = 0.05;

/// What lists say of pages.
#[derive(Debug, Clone)]
pub struct Fresh {
    now: Millis,
    hints: Vec<Hint>,
}

impl Fresh {
    /// Nothing is known. Ages are those of this moment.
    pub fn new(now: Millis) -> Self {
        Self { now, hints: Vec::new() }
    }

    fn days(&self, hint: &Hint) -> f64 {
        match hint.modified {
            Some(at) if at.since(self.now) <= AHEAD_MS_MAX => self.now.since(at) as f64 / DAY_MS,
            _ => USUAL_DAYS,
        }
    }
}

impl Score for Fresh {
    fn found(&mut self, page: u32, _: &Facts<'_>) {
        *at(&mut self.hints, page, Hint::default()) = Hint::default();
    }

    fn fetched(&mut self, _: &Leads<'_>, _: &mut Vec<u32>) {}

    /// Of several dates the newest counts, and of several priorities the highest.
    fn hinted(&mut self, page: u32, hint: Hint) {
        let known = at(&mut self.hints, page, Hint::default());
        known.modified = known.modified.max(hint.modified);
        known.priority = known.priority.max(hint.priority);
    }

    fn worth(&self, page: u32) -> f32 {
        let hint = self.hints.get(page as usize).copied().unwrap_or_default();
        let worth = (1.0 + USUAL_DAYS) / (1.0 + self.days(&hint));
        let priority = hint.priority.unwrap_or(USUAL_PRIORITY).min(100);
        let above = f32::from(priority) / f32::from(USUAL_PRIORITY) - 1.0;
        worth as f32 * (1.0 + PRIORITY_SHARE * above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = DAY_MS as u64;
    const NOW: Millis = Millis(20_000 * DAY);

    /// Days ago, and priority.
    type Said = (Option<u64>, Option<u8>);

    /// What a page is worth after such hints.
    fn worth(hints: &[Said]) -> f32 {
        let mut fresh = Fresh::new(NOW);
        fresh.found(3, &Facts::default());
        for (days, priority) in hints {
            let modified = days.map(|days| Millis(NOW.0 - days * DAY));
            fresh.hinted(3, Hint { modified, priority: *priority });
        }
        fresh.worth(3)
    }

    #[test]
    fn the_newest_comes_first_and_priority_decides_between_equals() {
        let rising: [(&str, &[Said]); 9] = [
            ("fifty years", &[(Some(18_000), Some(100))]),
            ("ten years", &[(Some(3_650), None)]),
            ("a year", &[(Some(365), None)]),
            ("two months", &[(Some(60), Some(100))]),
            ("no date, and said to matter less", &[(None, Some(20))]),
            ("nothing is told", &[]),
            ("no date, and said to matter more", &[(None, Some(80))]),
            ("a week", &[(Some(7), Some(0))]),
            ("today, by one of two lists", &[(Some(0), None), (Some(900), None)]),
        ];
        for pair in rising.windows(2) {
            let [(less, before), (more, after)] = pair else { continue };
            assert!(worth(before) < worth(after), "{less} < {more}");
        }
        assert_eq!(worth(&[]), 1.0, "an average page");
        assert!(worth(&[(Some(0), Some(100))]).is_finite());
    }

    #[test]
    fn moments_of_long_ago_are_still_told_apart() {
        let of = |ms: u64| {
            let mut fresh = Fresh::new(NOW);
            fresh.hinted(0, Hint { modified: Some(Millis(ms)), priority: None });
            fresh.worth(0)
        };
        let long_ago = NOW.0 - 3_650 * DAY;
        assert!(of(long_ago + 60_000) > of(long_ago));
    }

    #[test]
    fn a_date_of_the_future_is_not_believed_and_a_number_may_get_another_page() {
        let mut fresh = Fresh::new(NOW);
        fresh.hinted(0, Hint { modified: Some(NOW.after(2 * DAY)), priority: None });
        assert_eq!(fresh.worth(0), 1.0);
        fresh.hinted(1, Hint { modified: Some(NOW), priority: None });
        assert!(fresh.worth(1) > 30.0);
        fresh.found(1, &Facts::default());
        assert_eq!(fresh.worth(1), 1.0);
    }
}
