//! Forward link count: the more links a page has the better.
//!
//! How many a waiting page has is not known yet. Pages that link to each other tend to be alike in it, so
//! the guess is the mean of those that link to it. A page that was fetched has its own count.

use super::{Facts, Leads, Score, at};

/// Pages by the number of links that they probably have. Twelve bytes a page.
#[derive(Debug, Clone, Default)]
pub struct Forward(Vec<Guess>);

#[derive(Debug, Clone, Copy, Default)]
struct Guess {
    links: f32,
    pages: u32,
    is_known: bool,
}

impl Score for Forward {
    fn found(&mut self, page: u32, _: &Facts<'_>) {
        *at(&mut self.0, page, Guess::default()) = Guess::default();
    }

    fn fetched(&mut self, leads: &Leads<'_>, changed: &mut Vec<u32>) {
        let links = leads.degree as f32;
        *at(&mut self.0, leads.page, Guess::default()) = Guess { links, pages: 1, is_known: true };
        for &to in leads.links {
            let guess = at(&mut self.0, to, Guess::default());
            if !guess.is_known {
                guess.links += links;
                guess.pages += 1;
                changed.push(to);
            }
        }
    }

    fn worth(&self, page: u32) -> f32 {
        let guess = self.0.get(page as usize).copied().unwrap_or_default();
        (guess.links / guess.pages.max(1) as f32).max(0.5)
    }
}
