//! How new a page is said to be, as a small addition to what it promises.
//!
//! A sitemap's `lastmod`, the date of a feed's entry, the date that a page gives itself: all are
//! claims, so they decide between pages that promise about the same, and no more than that. A page without a
//! date is not held to be old, nor is one new that claims to be of the future.

use crate::Millis;

/// After so long a page is half as fresh.
const HALF_LIFE_MS: f32 = 30.0 * 24.0 * 60.0 * 60.0 * 1000.0;
/// A clock may be wrong by so much.
const AHEAD_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// How much of what is missing to a full score freshness can give.
const SHARE: f32 = 0.1;

/// From 1, new, to 0, old or without a date that can be believed.
pub fn freshness(changed: Option<Millis>, now: Millis) -> f32 {
    match changed {
        Some(changed) if changed.since(now) <= AHEAD_MS_MAX => {
            (-(now.since(changed) as f32) / HALF_LIFE_MS).exp2()
        }
        _ => 0.0,
    }
}

/// A score with what freshness adds to it: still from 0 to 1, and never less.
pub fn lifted(score: f32, freshness: f32) -> f32 {
    score + SHARE * freshness.clamp(0.0, 1.0) * (1.0 - score)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 60 * 60 * 1000;
    const NOW: Millis = Millis(20_000 * DAY);

    #[test]
    fn what_is_newer_is_fresher_and_no_date_is_no_claim() {
        let of = |days: u64| freshness(Some(Millis(NOW.0 - days * DAY)), NOW);
        assert!((of(0) - 1.0).abs() < 1e-6 && (of(30) - 0.5).abs() < 1e-3);
        assert!(of(1) > of(7) && of(7) > of(365) && of(365) > 0.0);
        assert_eq!(freshness(None, NOW), 0.0);
    }

    #[test]
    fn a_date_of_the_future_is_not_believed() {
        assert_eq!(freshness(Some(NOW.after(2 * DAY)), NOW), 0.0);
        assert_eq!(freshness(Some(NOW.after(DAY / 2)), NOW), 1.0, "a clock may be wrong");
    }

    #[test]
    fn freshness_decides_between_equals_and_not_against_relevance() {
        assert!(lifted(0.5, 1.0) > lifted(0.5, 0.0));
        assert!(lifted(0.3, 1.0) < lifted(0.5, 0.0));
        assert!(lifted(1.0, 1.0) <= 1.0 && lifted(0.0, 7.0) <= SHARE);
    }
}
