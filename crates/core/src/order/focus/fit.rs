//! Weights of a logistic regression that are fitted as well as the pages so far allow.
//!
//! Beside each weight stands how sure it is, together with every other (a Kalman filter over the weights, which is
//! the recursive form of Newton's method). So a figure that has told little yet moves fast, one that is known well
//! hardly moves, and two figures that say the same share what they explain. There is no rate to be chosen. A
//! crawl of some hundred pages has no time for less.

/// What is known of a link, words aside.
pub(super) const FIGURES: usize = 12;
/// How far a weight may be from its first guess: the variance before anything is learnt.
const VARIANCE: f32 = 0.3;
/// By how much more it may be off after each page: what a crawl meets changes, and rounding must never make a
/// weight surer than sure.
const DRIFT: f32 = 1e-5;
/// A page that was foreseen for sure, and came out otherwise, moves the weights as one of so much doubt.
const DOUBT_MIN: f32 = 0.05;

/// How sure each weight is, alone and together with each other one.
type Covariance = [[f32; FIGURES]; FIGURES];

/// The weights.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fit {
    pub weights: [f32; FIGURES],
    pub covariance: Covariance,
}

impl Fit {
    /// Before anything is learnt.
    pub fn guess(weights: [f32; FIGURES]) -> Self {
        let mut covariance = [[0.0; FIGURES]; FIGURES];
        for (number, row) in covariance.iter_mut().enumerate() {
            row[number] = VARIANCE;
        }
        Self { weights, covariance }
    }

    /// The sum of figures, weighed.
    pub fn weigh(&self, figures: &[f32; FIGURES]) -> f32 {
        dot(&self.weights, figures)
    }

    /// Learns that `expected`, from 0 to 1, was wrong by `error`.
    pub fn learn(&mut self, figures: &[f32; FIGURES], expected: f32, error: f32) {
        let doubt = (expected * (1.0 - expected)).max(DOUBT_MIN);
        let spread = self.covariance.map(|row| dot(&row, figures));
        let all = 1.0 / doubt + dot(&spread, figures);
        for (weight, spread) in self.weights.iter_mut().zip(spread) {
            *weight += spread * error / (doubt * all);
        }
        for (number, (row, one)) in self.covariance.iter_mut().zip(spread).enumerate() {
            for (cell, other) in row.iter_mut().zip(spread) {
                *cell -= one * other / all;
            }
            row[number] += DRIFT;
        }
    }
}

fn dot(one: &[f32; FIGURES], other: &[f32; FIGURES]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::focus::topic::sigmoid;

    fn figures(some: &[(usize, f32)]) -> [f32; FIGURES] {
        let mut figures = [0.0; FIGURES];
        some.iter().for_each(|(number, figure)| figures[*number] = *figure);
        figures
    }

    fn show(fit: &mut Fit, figures: &[f32; FIGURES], truth: f32) {
        let expected = sigmoid(fit.weigh(figures));
        fit.learn(figures, expected, truth - expected);
    }

    #[test]
    fn a_figure_that_tells_is_learnt_from_few_pages_and_one_that_does_not_stays() {
        let mut fit = Fit::guess([0.0; FIGURES]);
        for page in 0..20 {
            let (sign, truth) = if page % 2 == 0 { (1.0, 1.0) } else { (-1.0, 0.0) };
            let noise = if page % 4 < 2 { 1.0 } else { -1.0 };
            show(&mut fit, &figures(&[(3, sign), (5, noise)]), truth);
        }
        assert!(fit.weights[3] > 0.8, "{:?}", fit.weights);
        assert!(fit.weights[5].abs() < 0.2, "{:?}", fit.weights);
    }

    #[test]
    fn figures_that_say_the_same_share_what_they_explain() {
        let learnt = |both: &[(usize, f32)]| {
            let mut fit = Fit::guess([0.0; FIGURES]);
            (0..20).for_each(|_| show(&mut fit, &figures(both), 1.0));
            fit.weights[1]
        };
        let (alone, beside) = (learnt(&[(1, 1.0)]), learnt(&[(1, 1.0), (2, 1.0)]));
        assert!(beside < 0.8 * alone && beside > 0.3 * alone, "{alone} {beside}");
    }

    #[test]
    fn the_more_was_seen_the_less_a_page_changes() {
        let mut fit = Fit::guess([0.0; FIGURES]);
        let mut steps = Vec::new();
        for page in 0..64 {
            let before = fit.weights[1];
            show(&mut fit, &figures(&[(1, 1.0)]), (page % 2) as f32);
            steps.push((fit.weights[1] - before).abs());
        }
        assert!(steps[63] < steps[1] / 2.0, "{steps:?}");
    }
}
