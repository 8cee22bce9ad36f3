//! What is known of a step: the looks at it, and how far they can be trusted.

/// Of older looks, this share counts.
const FADE: f64 = 0.7;
/// So many standard errors are beyond doubt.
const DOUBT: f64 = 2.0;

/// What the looks say, taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The upper level is worth it.
    More,
    /// The lower level does as well.
    Less,
    /// Not to be told yet.
    Unsure,
}

/// Looks at one step, each with what the upper level was worth and the variance that counting gives it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evidence {
    looks: f64,
    sum: f64,
    squares: f64,
    variances: f64,
    /// Whether something was added since the others began to fade.
    fresh: bool,
}

impl Evidence {
    pub fn add(&mut self, (worth, variance): (f64, f64)) {
        self.looks += 1.0;
        self.sum += worth;
        self.squares += worth * worth;
        self.variances += variance;
        self.fresh = true;
    }

    /// As if one more look had been taken.
    pub fn with(mut self, look: (f64, f64)) -> Self {
        self.add(look);
        self
    }

    /// Looks that still count.
    pub fn looks(&self) -> u32 {
        self.looks.round() as u32
    }

    /// Older looks count half from now on.
    pub fn fade(&mut self) {
        self.looks *= FADE;
        self.sum *= FADE;
        self.squares *= FADE;
        self.variances *= FADE;
        self.fresh = false;
    }

    /// Whether the latest look still counts in full.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// What the looks say on average.
    pub fn mean(&self) -> f64 {
        self.sum / self.looks.max(0.5)
    }

    pub fn verdict(&self, worth_min: f64) -> Verdict {
        if self.looks < 0.5 {
            return Verdict::Unsure;
        }
        let mean = self.mean();
        let seen = (self.squares / self.looks - mean * mean).max(0.0);
        let variance = seen.max(self.variances / self.looks);
        let doubt = DOUBT * (variance / self.looks).sqrt();
        if mean - doubt > worth_min {
            Verdict::More
        } else if mean + doubt < worth_min {
            Verdict::Less
        } else {
            Verdict::Unsure
        }
    }
}
