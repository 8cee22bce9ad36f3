//! What is asked of the example: which starts, which methods, and where the plot goes.

use crate::trial::{Method, UNIVERSES};

/// The seed of the starts that docs/focus.md reports, and that settings were chosen by.
const USUAL_SEED: u64 = 7;

/// What was typed.
pub struct Options {
    /// Fixes at which pages crawls begin, and which examples they are given.
    pub seed: u64,
    /// Sets of seeds for each universe.
    pub starts: usize,
    /// As it goes live: dead links, several pages on their way, pages read late.
    pub live: bool,
    pub methods: &'static [Method],
    pub plot: Option<String>,
}

impl Options {
    /// What docs/focus.md reports.
    pub fn usual() -> Self {
        Self { seed: USUAL_SEED, starts: 8, live: false, methods: Method::ALL, plot: None }
    }

    /// `[--main|--live] [--seed N] [--starts N] [PLOT.svg]`
    pub fn read() -> Self {
        let mut options = Self::usual();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|text| text.parse().ok()).unwrap();
            match word.as_str() {
                "--main" => options.methods = Method::MAIN,
                "--live" => (options.live, options.methods) = (true, Method::LIVE),
                "--seed" => options.seed = number(),
                "--starts" => options.starts = number() as usize,
                _ => options.plot = Some(word),
            }
        }
        options
    }

    /// Where crawls may go.
    pub fn universes(&self) -> &'static [&'static str] {
        if self.live { &UNIVERSES[..2] } else { &UNIVERSES }
    }

    /// Whether these are the starts that settings were chosen by.
    pub fn is_usual(&self) -> bool {
        self.seed == USUAL_SEED
    }

    /// A number for one start that no start of another seed has.
    pub fn run(&self, start: usize) -> u64 {
        let seed = if self.is_usual() { 0 } else { self.seed << 16 };
        seed + start as u64
    }
}
